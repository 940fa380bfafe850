import Diagnostics
import HapticModel
import JSONText

extension PatternDecoder {
  /// The most control points that older systems are known to take.
  ///
  /// Source: the exporter of Lofelt/NiceVibrations (5e58663) and the editor of apple/unityplugins.
  private static let pointLimit = 16

  /// How far apart, in seconds, two times may be that a tool wrote as the same.
  private static let timeTolerance = 1e-6

  /// Reads one curve; its points are sorted, their times as the file has them.
  mutating func decodeCurve(_ value: JSONValue) {
    guard expect(.object, value, as: "ParameterCurve", code: AHAPScope.curve.badEntryCode) else {
      return
    }
    var id: JSONValue?
    var time: JSONValue?
    var list: JSONValue?
    for member in value.members {
      switch Vocabulary.keys.name(ofKey: member) {
      case .parameterID: id = member
      case .time: time = member
      case .parameterCurveControlPoints: list = member
      default: noteUnknownKey(member, in: .curve)
      }
    }
    let name = dynamicParameter(id, of: value, scope: .curve)
    let start = self.time(time, of: value, scope: .curve)
    list = require(list, .parameterCurveControlPoints, of: value, scope: .curve)
    guard let list else { return }
    let points = controlPoints(list, of: name)
    guard let name, let start else { return }
    curveValues.append(value.index)
    pattern.curves.append(ParameterCurve(id: name, time: start, controlPoints: points))
  }

  private mutating func controlPoints(
    _ list: JSONValue, of id: DynamicParameterID?
  ) -> [ParameterCurve.ControlPoint] {
    let code = AHAPScope.controlPoints.badEntryCode
    guard expect(.array, list, as: "ParameterCurveControlPoints", code: code) else { return [] }
    var points: [ParameterCurve.ControlPoint] = []
    var isSorted = true
    for element in list.elements {
      guard expect(.object, element, as: "a control point", code: code) else { continue }
      var time: JSONValue?
      var amount: JSONValue?
      for member in element.members {
        switch Vocabulary.keys.name(ofKey: member) {
        case .time: time = member
        case .parameterValue: amount = member
        default: noteUnknownKey(member, in: .controlPoint)
        }
      }
      let start = self.time(time, of: element, scope: .controlPoint)
      let number = parameterValue(amount, of: element, scope: .controlPoint)
      guard let start, let number, let amount, let id else { continue }
      if let last = points.last, start < last.time, isSorted {
        isSorted = false
        log.add(
          .curveOrder, at: element,
          "control points out of order: \(start) s after \(last.time) s; they are sorted")
      }
      let level = clamp(number, to: id.range, id.rawValue, at: amount)
      points.append(ParameterCurve.ControlPoint(time: start, value: level))
    }
    if !isSorted { points.sort { $0.time < $1.time } }
    if points.count > Self.pointLimit {
      log.add(
        .curvePointCount, at: list,
        "the curve has \(points.count) control points; older devices accept at most \(Self.pointLimit)",
        hint: "split it into several curves")
    } else if list.elements.isEmpty {
      log.add(.curvePointCount, at: list, "the curve has no control points and no effect")
    }
    return points
  }

  // MARK: - Times

  /// Makes control points relative that count from the start of the pattern; whether any did.
  mutating func rebaseCurves() -> Bool {
    let evidence = evidenceOfAbsoluteTimes
    guard options.curveTimes == .absolute || options.curveTimes == .automatic && evidence == .proof
    else {
      if evidence != .none, let first = pattern.curves.firstIndex(where: { $0.time > 0 }) {
        log.add(
          .curveAbsoluteTimes, at: JSONValue(document: json, index: curveValues[first]),
          "times of control points look absolute; they are read as relative to the curve",
          hint: "if the curve comes too late, use --curve-times absolute")
      }
      return false
    }
    var moved: [Int] = []
    for index in pattern.curves.indices {
      let start = pattern.curves[index].time
      guard start > 0, !pattern.curves[index].controlPoints.isEmpty else { continue }
      moved.append(index)
      for point in pattern.curves[index].controlPoints.indices {
        pattern.curves[index].controlPoints[point].time -= start
      }
    }
    if let first = moved.first {
      let curves = moved.count == 1 ? "this curve" : "this and \(moved.count - 1) more curves"
      log.add(
        .curveAbsoluteTimes, at: JSONValue(document: json, index: curveValues[first]),
        "the control points of \(curves) have absolute times; they are converted",
        hint: "make the times relative to the start of the curve")
    }
    return true
  }

  /// How much speaks for control points that count from the start of the pattern.
  private enum Evidence {
    case none, appearance, proof
  }

  /// How much all curves together speak for control points that count from the start of the
  /// pattern.
  ///
  /// They seem to if a control has more than one curve and each curve that begins after 0 has its
  /// first point at its own time. It is taken as proven if, besides, each curve's last point is
  /// where the next of its control begins: so Lofelt's converter and its relatives write. By
  /// Apple's documentation such points are relative.
  private var evidenceOfAbsoluteTimes: Evidence {
    var curves = pattern.curves
    curves.sort { ($0.id.rawValue, $0.time) < ($1.id.rawValue, $1.time) }
    var hasSequel = false
    var isChain = true
    for (index, curve) in curves.enumerated() {
      guard let first = curve.controlPoints.first, let last = curve.controlPoints.last else {
        return .none
      }
      if curve.time > 0, abs(first.time - curve.time) > Self.timeTolerance { return .none }
      guard index + 1 < curves.count, curves[index + 1].id == curve.id else { continue }
      hasSequel = true
      if abs(last.time - curves[index + 1].time) > Self.timeTolerance { isChain = false }
    }
    return !hasSequel ? .none : isChain ? .proof : .appearance
  }

  /// Notes curves that begin before another of the same control has ended.
  mutating func checkOverlaps() {
    var ends: [DynamicParameterID: Double] = [:]
    let order = pattern.curves.indices.sorted { pattern.curves[$0].time < pattern.curves[$1].time }
    for index in order {
      let curve = pattern.curves[index]
      if let end = ends[curve.id], curve.time < end - Self.timeTolerance {
        log.add(
          .curveOverlap, at: JSONValue(document: json, index: curveValues[index]),
          "overlaps another curve of \(curve.id.rawValue) that ends at \(end.secondsText); this one takes precedence"
        )
      }
      let end = curve.time + (curve.controlPoints.last?.time ?? 0)
      ends[curve.id] = max(ends[curve.id] ?? 0, end)
    }
  }
}
