import HapticModel
import Reading

extension AHAPDecoder {
  /// Reads one parameter. The value is clamped.
  mutating func decodeParameter(_ value: JSONValue) {
    guard let parameter = object(value, schema: AHAPSchemas.parameter, as: "Parameter") else {
      return
    }
    let id = decodeName(
      of: parameter, keyIndex: AHAPSchemas.ParameterKey.id, in: AHAPVocabulary.dynamicParameters)
    let time = decodeTime(of: parameter, keyIndex: AHAPSchemas.ParameterKey.time)
    let number = decodeNumber(of: parameter, keyIndex: AHAPSchemas.ParameterKey.value)
    guard let id, let time, let number else { return }
    let level = clamp(
      number, to: id.range, name: id.rawValue,
      at: parameter.members[AHAPSchemas.ParameterKey.value] ?? value)
    parameterValueIndices.append(value.index)
    pattern.parameters.append(DynamicParameter(id: id, value: level, time: time))
  }

  /// Reads one curve. Its points are sorted; their times are those of the file.
  mutating func decodeCurve(_ value: JSONValue) {
    guard let curve = object(value, schema: AHAPSchemas.curve, as: "ParameterCurve") else { return }
    let id = decodeName(
      of: curve, keyIndex: AHAPSchemas.CurveKey.id, in: AHAPVocabulary.dynamicParameters)
    let time = decodeTime(of: curve, keyIndex: AHAPSchemas.CurveKey.time)
    guard let list = requiredMember(of: curve, keyIndex: AHAPSchemas.CurveKey.controlPoints) else {
      return
    }
    let points = decodeControlPoints(list, of: id)
    guard let id, let time else { return }
    curveValueIndices.append(value.index)
    pattern.curves.append(ParameterCurve(id: id, time: time, controlPoints: points))
  }

  /// Reads and sorts the control points of a curve. Values out of range are clamped.
  private mutating func decodeControlPoints(_ list: JSONValue, of id: DynamicParameterID?)
    -> [ParameterCurve.ControlPoint]
  {
    guard
      expectKind(
        .array, of: list, as: "ParameterCurveControlPoints",
        errorCode: CoreHapticsCode.badParameterEntry)
    else {
      return []
    }
    var points: [ParameterCurve.ControlPoint] = []
    var isSorted = true
    for element in list.elements {
      guard let point = object(element, schema: AHAPSchemas.point, as: "a control point") else {
        continue
      }
      let time = decodeTime(of: point, keyIndex: AHAPSchemas.PointKey.time)
      let number = decodeNumber(of: point, keyIndex: AHAPSchemas.PointKey.value)
      guard let time, let number, let id else { continue }
      if let last = points.last, time < last.time, isSorted {
        isSorted = false
        log.add(
          .curveOrder, at: element,
          "control points out of order: \(time) s after \(last.time) s; they are sorted")
      }
      let level = clamp(
        number, to: id.range, name: id.rawValue,
        at: point.members[AHAPSchemas.PointKey.value] ?? element)
      points.append(ParameterCurve.ControlPoint(time: time, value: level))
    }
    if !isSorted {
      points.sort { $0.time < $1.time }
    }
    checkPointCount(of: points, in: list)
    return points
  }

  /// Reports a curve with too many control points, or without any.
  private mutating func checkPointCount(
    of points: [ParameterCurve.ControlPoint], in list: JSONValue
  ) {
    if points.count > Self.maximumPointCount {
      log.add(
        .curvePointCount, at: list,
        """
        the curve has \(points.count) control points; older devices accept at most \
        \(Self.maximumPointCount)
        """,
        suggestion: "split it into several curves")
    } else if list.elements.isEmpty {
      log.add(.curvePointCount, at: list, "the curve has no control points; it has no effect")
    }
  }

  // MARK: - Absolute times

  /// Converts absolute times of control points to relative ones. Returns whether any were
  /// converted.
  mutating func convertAbsoluteTimes() -> Bool {
    let evidence = absoluteTimeEvidence
    let isAbsolute =
      options.curveTimes == .absolute || options.curveTimes == .automatic && evidence == .conclusive
    let laterCurves = pattern.curves.indices.filter { pattern.curves[$0].time > 0 }
    guard isAbsolute else {
      if evidence != .none, let first = laterCurves.first {
        log.add(
          .curveAbsoluteTimes, at: JSONValue(document: json, index: curveValueIndices[first]),
          "control point times look absolute, but are read as relative to the curve",
          suggestion: "if the curve starts too late, use '--curve-times absolute'")
      }
      return false
    }
    let converted = laterCurves.filter { !pattern.curves[$0].controlPoints.isEmpty }
    for index in converted {
      let start = pattern.curves[index].time
      for point in pattern.curves[index].controlPoints.indices {
        pattern.curves[index].controlPoints[point].time -= start
      }
    }
    if let first = converted.first {
      let curves =
        converted.count == 1 ? "this curve" : "this and \(converted.count - 1) more curves"
      log.add(
        .curveAbsoluteTimes, at: JSONValue(document: json, index: curveValueIndices[first]),
        "the control points of \(curves) have absolute times; they are converted",
        suggestion: "make the times relative to the start of the curve")
    }
    return true
  }

  /// The evidence for control points whose times count from the start of the pattern.
  private enum Evidence {
    case none
    case suggestive
    case conclusive
  }

  /// The evidence of all curves together for control points whose times count from the start of the
  /// pattern.
  ///
  /// - Suggestive: a control has more than one curve, and the first point of each curve that begins
  ///   after 0 is at the time of the curve.
  /// - Conclusive: in addition, the last point of each curve is at the start of the control's next
  ///   curve. Lofelt's converter and its relatives write such files.
  ///
  /// By Apple's documentation, times of control points are relative.
  private var absoluteTimeEvidence: Evidence {
    let curves = pattern.curves.sorted { ($0.id.rawValue, $0.time) < ($1.id.rawValue, $1.time) }
    var hasSuccessor = false
    var isChain = true
    for (index, curve) in curves.enumerated() {
      guard let first = curve.controlPoints.first, let last = curve.controlPoints.last else {
        return .none
      }
      if curve.time > 0, abs(first.time - curve.time) > Self.timeTolerance {
        return .none
      }
      guard index + 1 < curves.count, curves[index + 1].id == curve.id else { continue }
      hasSuccessor = true
      if abs(last.time - curves[index + 1].time) > Self.timeTolerance {
        isChain = false
      }
    }
    guard hasSuccessor else { return .none }
    return isChain ? .conclusive : .suggestive
  }
}
