import HapticModel
import Reading

extension AHAPDecoder {
  /// Reads a dynamic parameter, and clamps its value to the valid range.
  mutating func decodeParameter(_ value: JSONValue) {
    guard
      let parameter = decodeObject(
        value, schema: AHAPSchemas.dynamicParameterSchema, as: "Parameter")
    else {
      return
    }
    let parameterID = decodeName(
      of: parameter, keyIndex: AHAPSchemas.ParameterKey.idKeyIndex, in: AHAPNames.dynamicParameters)
    let timeSeconds = decodeTime(of: parameter, keyIndex: AHAPSchemas.ParameterKey.timeKeyIndex)
    let statedValue = decodeNumber(of: parameter, keyIndex: AHAPSchemas.ParameterKey.valueKeyIndex)
    guard let parameterID, let timeSeconds, let statedValue else { return }
    let clampedValue = clampReportingExcess(
      statedValue, to: parameterID.range, name: parameterID.rawValue,
      at: parameter.indexedMembers[AHAPSchemas.ParameterKey.valueKeyIndex] ?? value)
    parameterValueIndices.append(value.nodeIndex)
    pattern.parameters.append(
      DynamicParameter(id: parameterID, value: clampedValue, time: timeSeconds))
  }

  /// Decodes a parameter curve. Control points are sorted by time but keep the times in the file.
  mutating func decodeCurve(_ value: JSONValue) {
    guard let curve = decodeObject(value, schema: AHAPSchemas.curveSchema, as: "ParameterCurve")
    else { return }
    let parameterID = decodeName(
      of: curve, keyIndex: AHAPSchemas.CurveKey.idKeyIndex, in: AHAPNames.dynamicParameters)
    let startSeconds = decodeTime(of: curve, keyIndex: AHAPSchemas.CurveKey.timeKeyIndex)
    guard
      let controlPointList = readRequiredMember(
        of: curve, keyIndex: AHAPSchemas.CurveKey.controlPointsKeyIndex)
    else {
      return
    }
    let controlPoints = decodeControlPoints(controlPointList, of: parameterID)
    guard let parameterID, let startSeconds else { return }
    curveValueIndices.append(value.nodeIndex)
    pattern.curves.append(
      ParameterCurve(id: parameterID, time: startSeconds, controlPoints: controlPoints))
  }

  /// Reads and sorts the control points of a curve. Out-of-range values are clamped.
  private mutating func decodeControlPoints(_ list: JSONValue, of id: DynamicParameterID?)
    -> [ParameterCurve.ControlPoint]
  {
    guard
      expectKind(
        .array, of: list, as: "ParameterCurveControlPoints",
        errorCode: CoreHapticsErrorCode.badParameterEntry)
    else {
      return []
    }
    var controlPoints: [ParameterCurve.ControlPoint] = []
    var arePointsSorted = true
    for element in list.elements {
      guard
        let point = decodeObject(
          element, schema: AHAPSchemas.controlPointSchema, as: "a control point")
      else {
        continue
      }
      let time = decodeTime(of: point, keyIndex: AHAPSchemas.PointKey.timeKeyIndex)
      let number = decodeNumber(of: point, keyIndex: AHAPSchemas.PointKey.valueKeyIndex)
      guard let time, let number, let id else { continue }
      if let last = controlPoints.last, time < last.time, arePointsSorted {
        arePointsSorted = false
        findingLog.add(
          .unsortedCurvePoints, at: element,
          "control points out of order: \(time) s after \(last.time) s; they are sorted")
      }
      let level = clampReportingExcess(
        number, to: id.range, name: id.rawValue,
        at: point.indexedMembers[AHAPSchemas.PointKey.valueKeyIndex] ?? element)
      controlPoints.append(ParameterCurve.ControlPoint(time: time, value: level))
    }
    if !arePointsSorted {
      controlPoints.sort { $0.time < $1.time }
    }
    checkControlPointCount(of: controlPoints, in: list)
    return controlPoints
  }

  /// Reports a curve that has no control points or more than older systems accept.
  private mutating func checkControlPointCount(
    of points: [ParameterCurve.ControlPoint], in list: JSONValue
  ) {
    if points.count > Self.maximumCurvePointCount {
      findingLog.add(
        .wrongCurvePointCount, at: list,
        """
        the curve has \(points.count) control points; older devices accept at most \
        \(Self.maximumCurvePointCount)
        """,
        suggestion: "split it into several curves")
    } else if list.elements.isEmpty {
      findingLog.add(
        .wrongCurvePointCount, at: list, "the curve has no control points; it has no effect")
    }
  }

  // MARK: - Absolute times

  /// Converts absolute control point times to relative times. Returns true if any were converted.
  mutating func convertAbsoluteTimes() -> Bool {
    let timeEvidence = evidenceOfAbsolutePointTimes
    let convertsTimes =
      options.curveTimeReference == .absolute
      || options.curveTimeReference == .automatic && timeEvidence == .conclusive
    let laterCurveIndices = pattern.curves.indices.filter { pattern.curves[$0].time > 0 }
    guard convertsTimes else {
      if timeEvidence != .none, let first = laterCurveIndices.first {
        findingLog.add(
          .absoluteCurveTimes,
          at: JSONValue(document: jsonDocument, index: curveValueIndices[first]),
          "control point times look absolute, but are read as relative to the curve",
          suggestion: "if the curve starts too late, use '--curve-times absolute'")
      }
      return false
    }
    let convertedCurveIndices = laterCurveIndices.filter {
      !pattern.curves[$0].controlPoints.isEmpty
    }
    for index in convertedCurveIndices {
      let start = pattern.curves[index].time
      for point in pattern.curves[index].controlPoints.indices {
        pattern.curves[index].controlPoints[point].time -= start
      }
    }
    if let firstConvertedIndex = convertedCurveIndices.first {
      let curves =
        convertedCurveIndices.count == 1
        ? "this curve" : "this and \(convertedCurveIndices.count - 1) more curves"
      findingLog.add(
        .absoluteCurveTimes,
        at: JSONValue(document: jsonDocument, index: curveValueIndices[firstConvertedIndex]),
        "the control points of \(curves) have absolute times; they are converted",
        suggestion: "make the times relative to the start of the curve")
    }
    return true
  }

  /// The strength of the evidence that control point times count from the start of the pattern.
  private enum AbsolutePointTimeEvidence {
    case none
    case suggestive
    case conclusive
  }

  /// The evidence in all curves that control point times count from the start of the pattern.
  ///
  /// - Suggestive: a parameter has more than one curve, and in each curve that begins after time 0,
  ///   the first point has the same time as the curve.
  /// - Conclusive: in addition, the last point of each curve has the start time of the parameter's
  ///   next curve. Lofelt's converter and related tools write such files.
  ///
  /// Apple documents control point times as relative to the start of the curve.
  private var evidenceOfAbsolutePointTimes: AbsolutePointTimeEvidence {
    let sortedCurves = pattern.curves.sorted {
      ($0.id.rawValue, $0.time) < ($1.id.rawValue, $1.time)
    }
    var hasFollowingCurve = false
    var areCurvesChained = true
    for (index, curve) in sortedCurves.enumerated() {
      guard let first = curve.controlPoints.first, let last = curve.controlPoints.last else {
        return .none
      }
      if curve.time > 0, abs(first.time - curve.time) > Self.simultaneityToleranceSeconds {
        return .none
      }
      guard index + 1 < sortedCurves.count, sortedCurves[index + 1].id == curve.id else { continue }
      hasFollowingCurve = true
      if abs(last.time - sortedCurves[index + 1].time) > Self.simultaneityToleranceSeconds {
        areCurvesChained = false
      }
    }
    guard hasFollowingCurve else { return .none }
    return areCurvesChained ? .conclusive : .suggestive
  }
}
