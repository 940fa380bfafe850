extension CHHapticPattern {
  /// A key of the dictionaries that patterns are made of and exported as.
  ///
  /// On Apple's systems keys and strings become each other in casts. Here that needs a type that
  /// strings already become: so a key is the name itself, and
  /// `jsonObject as? [CHHapticPattern.Key: Any]` gives what it gives there.
  public typealias Key = AnyHashable
}

extension CHHapticPattern.Key {
  /// What a key is written as.
  public typealias RawValue = String

  /// Makes a key of its name, known or not.
  public init(rawValue: String) { self.init(rawValue) }

  /// The name of the key; of what is no key, its description.
  public var rawValue: String { base as? String ?? String(describing: base) }

  /// The version of Core Haptics a pattern needs: a number.
  public static var version: CHHapticPattern.Key { .init(rawValue: "Version") }
  /// The entries of a pattern: an array of dictionaries.
  public static var pattern: CHHapticPattern.Key { .init(rawValue: "Pattern") }
  /// An entry that is an event: a dictionary.
  public static var event: CHHapticPattern.Key { .init(rawValue: "Event") }
  /// What an event does: an `EventType` or its name.
  public static var eventType: CHHapticPattern.Key { .init(rawValue: "EventType") }
  /// Seconds from the start of the pattern, or of the curve for a control point.
  public static var time: CHHapticPattern.Key { .init(rawValue: "Time") }
  /// Seconds until release begins.
  public static var eventDuration: CHHapticPattern.Key { .init(rawValue: "EventDuration") }
  /// The values of an event: an array of dictionaries.
  public static var eventParameters: CHHapticPattern.Key { .init(rawValue: "EventParameters") }
  /// The path of a sound file, relative to the pattern's folder.
  public static var eventWaveformPath: CHHapticPattern.Key { .init(rawValue: "EventWaveformPath") }
  /// Whether a sound is ramped in and out: a Boolean.
  public static var eventWaveformUseVolumeEnvelope: CHHapticPattern.Key {
    .init(rawValue: "EventWaveformUseVolumeEnvelope")
  }
  /// Whether a sound repeats for the event's duration: a Boolean.
  public static var eventWaveformLoopEnabled: CHHapticPattern.Key {
    .init(rawValue: "EventWaveformLoopEnabled")
  }
  /// An entry that is a dynamic parameter: a dictionary.
  public static var parameter: CHHapticPattern.Key { .init(rawValue: "Parameter") }
  /// What a value is of: a `ParameterID`, an `ID` or its name.
  public static var parameterID: CHHapticPattern.Key { .init(rawValue: "ParameterID") }
  /// A value: a number.
  public static var parameterValue: CHHapticPattern.Key { .init(rawValue: "ParameterValue") }
  /// An entry that is a curve: a dictionary.
  public static var parameterCurve: CHHapticPattern.Key { .init(rawValue: "ParameterCurve") }
  /// The corners of a curve: an array of dictionaries.
  public static var parameterCurveControlPoints: CHHapticPattern.Key {
    .init(rawValue: "ParameterCurveControlPoints")
  }
}
