import HapticModel

extension PatternContent {
  /// The pattern as nested dictionaries: events first, then parameters, then curves.
  func exportDictionary() throws -> [CHHapticPattern.Key: Any] {
    guard let pattern else {
      throw CHHapticError(
        .operationNotPermitted,
        "a pattern of several layers with parameters or curves cannot be exported as a dictionary")
    }
    var entries: [[CHHapticPattern.Key: Any]] = []
    for (index, event) in pattern.events.enumerated() {
      if let path = event.waveform?.path, let id = AudioResourcePath.id(of: path) {
        throw CHHapticError(
          .operationNotPermitted,
          "events[\(index)] plays the registered resource \(id), which cannot be exported")
      }
      entries.append([.event: event.exported])
    }
    for parameter in pattern.parameters { entries.append([.parameter: parameter.exported]) }
    for curve in pattern.curves { entries.append([.parameterCurve: curve.exported]) }
    return [.version: 1.0, .pattern: entries]
  }
}

extension HapticEvent {
  /// The event as its entry holds it.
  fileprivate var exported: [CHHapticPattern.Key: Any] {
    var event: [CHHapticPattern.Key: Any] = [.time: time, .eventType: kind.rawValue]
    if let duration { event[.eventDuration] = duration }
    if let waveform {
      event[.eventWaveformPath] = waveform.path
      event[.eventWaveformUseVolumeEnvelope] = waveform.usesVolumeEnvelope
      event[.eventWaveformLoopEnabled] = waveform.isLooping
    }
    let values = parameters.identifiers.map { id -> [CHHapticPattern.Key: Any] in
      [.parameterID: id.rawValue, .parameterValue: (parameters[id] ?? 0).shortest]
    }
    if !values.isEmpty { event[.eventParameters] = values }
    return event
  }
}

extension DynamicParameter {
  /// The parameter as its entry holds it.
  fileprivate var exported: [CHHapticPattern.Key: Any] {
    [.parameterID: id.rawValue, .time: time, .parameterValue: value.shortest]
  }
}

extension ParameterCurve {
  /// The curve as its entry holds it.
  fileprivate var exported: [CHHapticPattern.Key: Any] {
    let points = controlPoints.map { point -> [CHHapticPattern.Key: Any] in
      [.time: point.time, .parameterValue: point.value.shortest]
    }
    return [.parameterID: id.rawValue, .time: time, .parameterCurveControlPoints: points]
  }
}

extension Float {
  /// The number with the fewest digits that becomes this one again: 0.8, not 0.800000011920929.
  fileprivate var shortest: Double { Double(description) ?? Double(self) }
}
