import Reading
import HapticModel

extension PatternDecoder {
  /// Reads one event.
  mutating func decodeEvent(_ value: JSONValue) {
    guard expect(.object, value, as: "Event", code: AHAPScope.event.badEntryCode) else { return }
    let members = Vocabulary.keys.fields(of: value)
    noteUnknownKeys(of: value, members, in: .event)
    let kind = name(
      members[.eventType], .eventType, of: value, scope: .event, in: Vocabulary.eventTypes,
      otherwise: .unknownEventType, "event type", code: CoreHapticsCode.invalidEventType)
    let time = time(members[.time], of: value, scope: .event)
    let duration = members[.eventDuration].flatMap { present($0) }.flatMap { self.duration($0) }
    let parameters = members[.eventParameters].flatMap { present($0) }.map { eventParameters($0, kind: kind) }
    let waveform = waveform(members, of: value, kind: kind)
    guard let kind, let time else { return }
    checkLength(kind, duration: duration, members[.eventDuration], of: value)
    eventValues.append(value.index)
    pattern.events.append(
      HapticEvent(
        kind: kind, time: time, duration: duration, parameters: parameters ?? EventParameters(), waveform: waveform))
  }

  private mutating func duration(_ value: JSONValue) -> Double? {
    let code = CoreHapticsCode.invalidEventDuration
    guard let seconds = number(of: value, as: "EventDuration", code: code) else { return nil }
    guard seconds >= 0 else {
      log.add(.negativeDuration, at: value, "EventDuration is \(seconds); it must not be negative", code: code)
      return nil
    }
    noteUnit(of: seconds, value)
    return seconds
  }

  private mutating func checkLength(
    _ kind: HapticEvent.Kind, duration: Double?, _ value: JSONValue?, of event: JSONValue
  ) {
    guard kind.isContinuous else { return }
    guard let value, value.kind != .null else {
      log.add(
        .missingDuration, at: event, "a continuous event should have the key \"EventDuration\"",
        hint: Self.misspelling(of: .eventDuration, in: event, scope: .event))
      return
    }
    if let duration, duration > HapticEvent.unlimitedDuration {
      log.add(
        .eventLength, at: value, "the event lasts \(duration) s; devices may cut it off at 30 s",
        hint: "split it into several events")
    }
  }

  // MARK: - Parameters

  private mutating func eventParameters(_ list: JSONValue, kind: HapticEvent.Kind?) -> EventParameters {
    var parameters = EventParameters()
    let code = AHAPScope.eventParameters.badEntryCode
    guard expect(.array, list, as: "EventParameters", code: code) else { return parameters }
    for element in list.elements {
      guard expect(.object, element, as: "an event parameter", code: code) else { continue }
      let members = Vocabulary.keys.fields(of: element)
      noteUnknownKeys(of: element, members, in: .eventParameter)
      let (id, amount) = (members[.parameterID], members[.parameterValue])
      let name = name(
        id, .parameterID, of: element, scope: .eventParameter, in: Vocabulary.eventParameters,
        otherwise: .unknownParameter, "event parameter", code: CoreHapticsCode.invalidParameterType)
      let number =
        name == .sustained && amount?.kind == .boolean
        ? amount?.boolean.map { $0 ? 1 : 0 } : parameterValue(amount, of: element, scope: .eventParameter)
      guard let name, let id, let amount, let number else { continue }
      if parameters[name] != nil {
        log.add(.duplicateParameter, at: id, "\(name.rawValue) is given again; this value is used, not the one before")
      }
      parameters[name] = clamp(number, to: name.range, name.rawValue, at: amount)
      if let kind, !kind.responds(to: name) {
        log.add(.parameterNotApplicable, at: id, "\(name.rawValue) has no effect on \(kind.text)")
      }
    }
    return parameters
  }

  // MARK: - Sound files

  private mutating func waveform(_ members: borrowing JSONFields, of event: JSONValue, kind: HapticEvent.Kind?)
    -> AudioWaveform?
  {
    let code = CoreHapticsCode.invalidAudioResource
    if members.names & AHAPKey.waveformBits == 0, kind?.playsFile != true { return nil }
    if let kind, !kind.playsFile {
      // Nothing depends on them, whatever they hold: editors write null.
      for member in [
        members[.eventWaveformPath], members[.eventWaveformUseVolumeEnvelope], members[.eventWaveformLoopEnabled],
      ] {
        guard let member, let key = member.key else { continue }
        log.add(.parameterNotApplicable, at: member, "\(key) has no effect on \(kind.text)")
      }
      return nil
    }
    let envelope = members[.eventWaveformUseVolumeEnvelope].flatMap { present($0) }.flatMap {
      flag(of: $0, as: AHAPKey.eventWaveformUseVolumeEnvelope.rawValue, code: code)
    }
    let loop = members[.eventWaveformLoopEnabled].flatMap { present($0) }.flatMap {
      flag(of: $0, as: AHAPKey.eventWaveformLoopEnabled.rawValue, code: code)
    }
    guard let path = members[.eventWaveformPath].flatMap({ present($0) }) else {
      if let kind {
        log.add(
          .waveformPath, at: event, "\(kind.text) must have the key \"EventWaveformPath\"",
          hint: Self.misspelling(of: .eventWaveformPath, in: event, scope: .event), code: code)
      }
      return nil
    }
    guard expect(.string, path, as: "EventWaveformPath", code: code), let text = path.string else { return nil }
    if let unsupportedReason = Self.unsupportedReason(to: text) {
      log.add(.waveformPath, at: path, "EventWaveformPath \(unsupportedReason)", code: code)
      return nil
    }
    waveforms.append(path)
    return AudioWaveform(path: text, usesVolumeEnvelope: envelope ?? true, isLooping: loop ?? false)
  }

  /// What is wrong with a path that must stay inside the pattern's folder, or nothing.
  private static func unsupportedReason(to path: String) -> String? {
    if path.isEmpty { return "is empty" }
    if path.utf8.contains(0) { return "has a NUL character" }
    if path.utf8.contains(UInt8(ascii: "\\")) { return "contains a backslash; use / between folders" }
    if path.hasPrefix("/") { return "is absolute; it must begin in the pattern's folder" }
    if path.split(separator: "/").contains("..") { return "leaves the pattern's folder by \"..\"" }
    return nil
  }
}

extension HapticEvent.Kind {
  /// The kind with its article.
  var text: String { "\(rawValue.utf8.first == UInt8(ascii: "A") ? "an" : "a") \(rawValue) event" }
}

extension PatternDecoder {
  /// The most control points that older systems are known to take.
  ///
  /// Source: the exporter of Lofelt/NiceVibrations (5e58663) and the editor of apple/unityplugins.
  private static let pointLimit = 16

  /// How far apart, in seconds, two times may be that a tool wrote as the same.
  private static let timeTolerance = 1e-6

  /// Reads one curve; its points are sorted, their times as the file has them.
  mutating func decodeCurve(_ value: JSONValue) {
    guard expect(.object, value, as: "ParameterCurve", code: AHAPScope.curve.badEntryCode) else { return }
    let members = Vocabulary.keys.fields(of: value)
    noteUnknownKeys(of: value, members, in: .curve)
    let name = dynamicParameter(members[.parameterID], of: value, scope: .curve)
    let start = self.time(members[.time], of: value, scope: .curve)
    let list = require(members[.parameterCurveControlPoints], .parameterCurveControlPoints, of: value, scope: .curve)
    guard let list else { return }
    let points = controlPoints(list, of: name)
    guard let name, let start else { return }
    curveValues.append(value.index)
    pattern.curves.append(ParameterCurve(id: name, time: start, controlPoints: points))
  }

  private mutating func controlPoints(_ list: JSONValue, of id: DynamicParameterID?) -> [ParameterCurve.ControlPoint] {
    let code = AHAPScope.controlPoints.badEntryCode
    guard expect(.array, list, as: "ParameterCurveControlPoints", code: code) else { return [] }
    var points: [ParameterCurve.ControlPoint] = []
    var isSorted = true
    for element in list.elements {
      guard expect(.object, element, as: "a control point", code: code) else { continue }
      let members = Vocabulary.keys.fields(of: element)
      noteUnknownKeys(of: element, members, in: .controlPoint)
      let amount = members[.parameterValue]
      let start = self.time(members[.time], of: element, scope: .controlPoint)
      let number = parameterValue(amount, of: element, scope: .controlPoint)
      guard let start, let number, let amount, let id else { continue }
      if let last = points.last, start < last.time, isSorted {
        isSorted = false
        log.add(
          .curveOrder, at: element, "control points out of order: \(start) s after \(last.time) s; they are sorted")
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
    guard options.curveTimes == .absolute || options.curveTimes == .automatic && evidence == .proof else {
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
  private enum Evidence { case none, appearance, proof }

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
      guard let first = curve.controlPoints.first, let last = curve.controlPoints.last else { return .none }
      if curve.time > 0, abs(first.time - curve.time) > Self.timeTolerance { return .none }
      guard index + 1 < curves.count, curves[index + 1].id == curve.id else { continue }
      hasSequel = true
      if abs(last.time - curves[index + 1].time) > Self.timeTolerance { isChain = false }
    }
    return !hasSequel ? .none : isChain ? .proof : .appearance
  }
}
