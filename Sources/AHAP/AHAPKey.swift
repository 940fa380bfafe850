import JSONText

/// The keys of AHAP.
enum AHAPKey: String, CaseIterable {
  case version = "Version"
  case metadata = "Metadata"
  case pattern = "Pattern"

  case event = "Event"
  case parameter = "Parameter"
  case parameterCurve = "ParameterCurve"

  case parameterID = "ParameterID"
  case time = "Time"
  case eventType = "EventType"
  case eventDuration = "EventDuration"
  case eventWaveformPath = "EventWaveformPath"
  case eventWaveformUseVolumeEnvelope = "EventWaveformUseVolumeEnvelope"
  case eventWaveformLoopEnabled = "EventWaveformLoopEnabled"
  case eventParameters = "EventParameters"
  case parameterValue = "ParameterValue"
  case parameterCurveControlPoints = "ParameterCurveControlPoints"
}

/// A place in the grammar: what an object or array stands for.
enum AHAPScope {
  case file, entries, entry
  case event, eventParameters, eventParameter
  case parameter
  case curve, controlPoints, controlPoint
  /// Contents that AHAP says nothing about.
  case unknown

  /// The keys that objects of this scope can have, in the order of canonical text.
  var keys: [AHAPKey] {
    switch self {
    case .file: [.version, .metadata, .pattern]
    case .entry: [.event, .parameter, .parameterCurve]
    case .event:
      [
        .time, .eventType, .eventDuration, .eventWaveformPath, .eventWaveformUseVolumeEnvelope,
        .eventWaveformLoopEnabled, .eventParameters,
      ]
    case .eventParameter: [.parameterID, .parameterValue]
    case .parameter: [.parameterID, .time, .parameterValue]
    case .curve: [.parameterID, .time, .parameterCurveControlPoints]
    case .controlPoint: [.time, .parameterValue]
    case .entries, .eventParameters, .controlPoints, .unknown: []
    }
  }

  /// What an object of this scope is called in messages.
  var name: String {
    switch self {
    case .file: "a pattern file"
    case .entry: "an entry"
    case .event: "an event"
    case .eventParameter: "an event parameter"
    case .parameter: "a parameter"
    case .curve: "a curve"
    case .controlPoint: "a control point"
    case .entries, .eventParameters, .controlPoints, .unknown: "a list"
    }
  }

  /// What a wrong entry of this scope is called by Core Haptics.
  var badEntryCode: Int {
    switch self {
    case .event: CoreHapticsCode.badEventEntry
    case .eventParameter, .eventParameters, .parameter, .curve, .controlPoints, .controlPoint:
      CoreHapticsCode.badParameterEntry
    case .file, .entries, .entry, .unknown: CoreHapticsCode.invalidPatternDictionary
    }
  }
}
