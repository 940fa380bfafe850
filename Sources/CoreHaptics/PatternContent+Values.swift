import HapticModel
import Reading

// Values are taken at the time a pattern is made; changing an event or parameter later changes no
// pattern. What is read from AHAP and what is made of values follows the same rules.

extension PatternContent {
  /// Takes the values of events, parameters and curves, or refuses the first that cannot be played.
  init(events: [CHHapticEvent], parameters: [CHHapticDynamicParameter] = [], curves: [CHHapticParameterCurve] = [])
    throws
  {
    var pattern = HapticPattern()
    for (index, event) in events.enumerated() {
      pattern.events.append(try HapticEvent(event, place: "events[\(index)]"))
    }
    for (index, parameter) in parameters.enumerated() {
      pattern.parameters.append(try DynamicParameter(parameter, place: "parameters[\(index)]"))
    }
    for (index, curve) in curves.enumerated() {
      pattern.curves.append(try ParameterCurve(curve, place: "parameterCurves[\(index)]"))
    }
    self.init(pattern: pattern)
  }
}

extension HapticEvent {
  /// Takes the values of an event; the place is what errors call it.
  init(_ event: CHHapticEvent, place: String) throws {
    let kind = try Kind(event.type, place: place)
    try Self.check(event.relativeTime, "\(place).relativeTime", .invalidEventTime)
    if let duration = event.givenDuration { try Self.check(duration, "\(place).duration", .invalidEventDuration) }
    var waveform: AudioWaveform?
    if let id = event.audioResourceID {
      waveform = AudioWaveform(path: AudioResourcePath.path(for: id))
    } else if kind.playsFile {
      throw CHHapticError(.invalidAudioResource, "\(place): an \(kind.rawValue) event requires an audioResourceID")
    }
    var parameters = EventParameters()
    for (index, parameter) in event.eventParameters.enumerated() {
      let place = "\(place).eventParameters[\(index)]"
      let id = try EventParameterID(parameter.parameterID, place: place)
      parameters[id] = try Self.clamp(parameter.value, to: id.range, "\(place).value")
    }
    self.init(
      kind: kind, time: event.relativeTime, duration: event.givenDuration, parameters: parameters, waveform: waveform)
  }

  /// Refuses a time that is negative or no finite number.
  fileprivate static func check(_ seconds: Double, _ place: String, _ code: CHHapticError.Code) throws {
    guard seconds.isFinite, seconds >= 0 else {
      throw CHHapticError(code, "\(place) is \(seconds); it must be 0 s or later")
    }
  }

  /// A value moved to the nearest bound of a range; refuses NaN.
  fileprivate static func clamp(_ value: Float, to range: ClosedRange<Float>, _ place: String) throws -> Float {
    guard !value.isNaN else { throw CHHapticError(.badParameterEntry, "\(place) is NaN") }
    return min(max(value, range.lowerBound), range.upperBound)
  }
}

extension DynamicParameter {
  /// Takes the values of a parameter; the place is what errors call it.
  init(_ parameter: CHHapticDynamicParameter, place: String) throws {
    let id = try DynamicParameterID(parameter.parameterID, place: place)
    try HapticEvent.check(parameter.relativeTime, "\(place).relativeTime", .invalidTime)
    let value = try HapticEvent.clamp(parameter.value, to: id.range, "\(place).value")
    self.init(id: id, value: value, time: parameter.relativeTime)
  }
}

extension ParameterCurve {
  /// Takes the values of a curve, its points sorted; the place is what errors call it.
  init(_ curve: CHHapticParameterCurve, place: String) throws {
    let id = try DynamicParameterID(curve.parameterID, place: place)
    try HapticEvent.check(curve.relativeTime, "\(place).relativeTime", .invalidTime)
    var points: [ControlPoint] = []
    for (index, point) in curve.controlPoints.enumerated() {
      let place = "\(place).controlPoints[\(index)]"
      try HapticEvent.check(point.relativeTime, "\(place).relativeTime", .invalidTime)
      let value = try HapticEvent.clamp(point.value, to: id.range, "\(place).value")
      points.append(ControlPoint(time: point.relativeTime, value: value))
    }
    points.sort { $0.time < $1.time }
    self.init(id: id, time: curve.relativeTime, controlPoints: points)
  }
}

extension HapticEvent.Kind {
  /// The kind that an event type names, or `invalidEventType`.
  init(_ type: CHHapticEvent.EventType, place: String? = nil) throws {
    guard let kind = Self(rawValue: type.rawValue) else {
      throw CHHapticError(unknown: type.rawValue, "event type", place, .invalidEventType)
    }
    self = kind
  }
}

extension EventParameterID {
  /// The parameter that an identifier names, or `invalidParameterType`.
  init(_ id: CHHapticEvent.ParameterID, place: String? = nil) throws {
    guard let known = Self(rawValue: id.rawValue) else {
      throw CHHapticError(unknown: id.rawValue, "event parameter", place, .invalidParameterType)
    }
    self = known
  }
}

extension DynamicParameterID {
  /// The control that an identifier names, or `invalidParameterType`.
  init(_ id: CHHapticDynamicParameter.ID, place: String? = nil) throws {
    guard let known = Self(rawValue: id.rawValue) else {
      throw CHHapticError(unknown: id.rawValue, "dynamic parameter", place, .invalidParameterType)
    }
    self = known
  }
}

extension CHHapticError {
  /// Makes the error of a name that is in no list.
  fileprivate init(unknown name: String, _ noun: String, _ place: String?, _ code: Code) {
    self.init(code, (place.map { "\($0): " } ?? "") + "unknown \(noun) \(name.quoted())")
  }
}
