/// A pattern of haptic and audio events with the parameters and curves that control them.
///
/// Events, parameters, and curves can be in any order. Times are in seconds from the start of the
/// pattern. A pattern is not validated when created: readers clamp values, and compilation rejects
/// patterns that cannot be rendered.
public struct HapticPattern: Equatable, Sendable {
  /// The haptic and audio events of the pattern.
  public var events: [HapticEvent]
  /// The dynamic parameters, each of which sets a control to a value from a time on.
  public var parameters: [DynamicParameter]
  /// The parameter curves, each of which moves a control linearly between control points.
  public var curves: [ParameterCurve]

  /// Creates a pattern from events, parameters, and curves.
  ///
  /// - Parameters:
  ///   - events: The haptic and audio events.
  ///   - parameters: The parameters, which step to a value.
  ///   - curves: The curves, which move between control points.
  public init(
    events: [HapticEvent] = [], parameters: [DynamicParameter] = [], curves: [ParameterCurve] = []
  ) {
    self.events = events
    self.parameters = parameters
    self.curves = curves
  }

  /// The end of the last event or the start of the last parameter or curve, in seconds.
  ///
  /// The duration is the later of both times.
  ///
  /// A loop returns to the beginning at this time. Envelope releases, the length of a transient's
  /// burst, and control points after the start of a curve don't count.
  /// Source: Apple's header for `CHHapticPattern.duration`.
  public var durationSeconds: Double {
    var latestEndSeconds = 0.0
    for event in events {
      latestEndSeconds = max(latestEndSeconds, event.time + (event.duration ?? 0))
    }
    for parameter in parameters {
      latestEndSeconds = max(latestEndSeconds, parameter.time)
    }
    for curve in curves {
      latestEndSeconds = max(latestEndSeconds, curve.time)
    }
    return latestEndSeconds
  }
}

/// A haptic or audio event of a pattern, with its start, duration, and parameters.
public struct HapticEvent: Equatable, Sendable {
  /// The kind of an event; the raw value is its name in AHAP.
  public enum Kind: String, CaseIterable, Sendable {
    /// A short haptic impulse.
    case hapticTransient = "HapticTransient"
    /// A vibration that lasts for the duration of the event.
    case hapticContinuous = "HapticContinuous"
    /// A synthetic tone that lasts for the duration of the event.
    case audioContinuous = "AudioContinuous"
    /// An event that plays a sound file.
    case audioCustom = "AudioCustom"
  }

  /// The duration of a continuous event that doesn't specify one, in seconds: the maximum that
  /// Apple documents.
  public static let defaultDurationSeconds = 30.0

  /// The start time of the event, in seconds from the start of the pattern.
  public var time: Double
  /// The time from the start to the release, in seconds, or nil if the event specifies none.
  ///
  /// The duration of a transient only extends the pattern. A sound file is cut to a shorter
  /// duration and padded with silence to a longer one; zero or nil plays the whole file.
  public var duration: Double?
  // The kind follows the duration, where it occupies padding: long patterns consist mostly of
  // events.
  /// The kind of the event.
  public var kind: Kind
  /// The values of the event's parameters; an absent parameter has its default value.
  public var parameters: EventParameters
  /// The sound file that an `audioCustom` event plays, or nil for other kinds.
  public var waveform: AudioWaveform?

  /// Creates an event without clamping or validating its values.
  ///
  /// - Parameters:
  ///   - kind: The kind of the event.
  ///   - time: The start, in seconds from the start of the pattern.
  ///   - duration: The time from the start to the release, in seconds, or nil.
  ///   - parameters: The parameter values.
  ///   - waveform: The sound file of an `audioCustom` event.
  public init(
    kind: Kind, time: Double, duration: Double? = nil,
    parameters: EventParameters = EventParameters(),
    waveform: AudioWaveform? = nil
  ) {
    self.kind = kind
    self.time = time
    self.duration = duration
    self.parameters = parameters
    self.waveform = waveform
  }

  /// The time from the start to the release, in seconds: 0 for a transient, nil if the length of a
  /// sound file determines it.
  public var secondsUntilRelease: Double? {
    switch kind.traits.durationSource {
    case .impulse: 0
    case .duration: duration ?? Self.defaultDurationSeconds
    case .file: duration.flatMap { $0 > 0 ? $0 : nil }
    }
  }

  /// Returns the value of a parameter, clamped to its range.
  ///
  /// A value that is absent or NaN is replaced by the default for the kind.
  public func value(of id: EventParameterID) -> Float {
    let defaultValue = id.defaultValue(for: kind)
    var parameterValue = parameters[id] ?? defaultValue
    if parameterValue.isNaN {
      parameterValue = defaultValue
    }
    let validValueRange = id.range
    return min(max(parameterValue, validValueRange.lowerBound), validValueRange.upperBound)
  }
}

extension HapticEvent.Kind {
  /// The source of an event's duration: an impulse has no duration, and otherwise the event or its
  /// sound file determines it.
  public enum DurationSource: Sendable { case impulse, duration, file }

  /// The properties of an event kind on which rendering depends, in one place for all kinds.
  struct KindTraits {
    var isHaptic: Bool
    var durationSource: DurationSource
    /// The intensity of an event that doesn't specify one.
    var defaultIntensity: Float = 0.6
    /// The sharpness of an event that doesn't specify one.
    var defaultSharpness: Float = 0.422601
  }

  @inline(__always) var traits: KindTraits {
    switch self {
    case .hapticTransient:
      KindTraits(
        isHaptic: true, durationSource: .impulse, defaultIntensity: 0.75, defaultSharpness: 0.5)
    case .hapticContinuous: KindTraits(isHaptic: true, durationSource: .duration)
    case .audioContinuous: KindTraits(isHaptic: false, durationSource: .duration)
    case .audioCustom: KindTraits(isHaptic: false, durationSource: .file)
    }
  }

  /// The names of an event kind in messages, tables, and reports, in one place for all kinds.
  private var displayNames: (noun: String, label: String, countKey: String) {
    switch self {
    case .hapticTransient: ("transient", "transient", "transients")
    case .hapticContinuous: ("continuous event", "continuous", "continuous")
    case .audioContinuous: ("audio tone", "tone", "audioContinuous")
    case .audioCustom: ("sound file", "sound file", "audioCustom")
    }
  }

  /// The singular noun for an event of this kind in messages.
  public var noun: String { displayNames.noun }
  /// The label for an event of this kind in tables and in the data of web pages.
  public var label: String { displayNames.label }
  /// The JSON key for the number of events of this kind in reports.
  public var countKey: String { displayNames.countKey }
  /// A Boolean value that indicates whether events of this kind are haptic; the others are audio.
  public var isHaptic: Bool { traits.isHaptic }
  /// A Boolean value that indicates whether events of this kind are impulses without an envelope.
  public var isTransient: Bool { traits.durationSource == .impulse }
  /// A Boolean value that indicates whether events of this kind last for a specified duration.
  ///
  /// The default duration is 30 s.
  public var isContinuous: Bool { traits.durationSource == .duration }
  /// A Boolean value that indicates whether events of this kind are continuous vibrations.
  public var isVibration: Bool { isHaptic && isContinuous }
  /// A Boolean value that indicates whether events of this kind play a sound file.
  public var playsFile: Bool { traits.durationSource == .file }

  /// Returns true if a parameter affects events of this kind.
  ///
  /// Haptic parameters affect haptic events, audio parameters affect audio events, and transients
  /// have no envelope.
  /// Source: the documentation of Apple's Unity wrapper (apple/unityplugins, 4b2455f).
  public func responds(to id: EventParameterID) -> Bool {
    switch id {
    case .hapticIntensity, .hapticSharpness: isHaptic
    case .attackTime, .decayTime, .releaseTime, .sustained: !isTransient
    case .audioVolume, .audioPan, .audioPitch, .audioBrightness: !isHaptic
    }
  }
}

/// The sound file of an `audioCustom` event and its playback options.
public struct AudioWaveform: Equatable, Sendable {
  /// The path of the file, relative to the folder of the pattern.
  public var path: String
  /// A Boolean value that indicates whether the sound fades in and out; true by default.
  public var usesVolumeEnvelope: Bool
  /// A Boolean value that indicates whether the file repeats for the duration of the event.
  ///
  /// The default is false.
  public var isLooping: Bool

  /// Creates a reference to a file without opening it.
  ///
  /// - Parameters:
  ///   - path: The path, relative to the folder of the pattern.
  ///   - usesVolumeEnvelope: Whether the sound fades in and out.
  ///   - isLooping: Whether the file repeats for the duration of the event.
  public init(path: String, usesVolumeEnvelope: Bool = true, isLooping: Bool = false) {
    self.path = path
    self.usesVolumeEnvelope = usesVolumeEnvelope
    self.isLooping = isLooping
  }
}

/// The conversion of times to frames and of computed values to integers.
public enum FrameConversion {
  /// The maximum time that can be rendered, in seconds: one day.
  public static let maximumSeconds = 86_400.0

  /// Returns the frame nearest to a time: `round(seconds · rate)`, with halves away from zero.
  ///
  /// Times are clamped to ± one day, so that every number yields a frame. NaN yields 0.
  public static func frame(seconds: Double, rate: Double) -> Int64 {
    guard !seconds.isNaN else { return 0 }
    let clampedSeconds = min(max(seconds, -maximumSeconds), maximumSeconds)
    return Int64((clampedSeconds * rate).rounded())
  }

  /// Returns the integer nearest to a value, clamped to a range, with halves away from zero.
  ///
  /// NaN yields the lower bound. Every format converts computed values by this function.
  public static func clampedInteger(
    _ value: Double, in range: ClosedRange<Int> = -maximumIntegerMagnitude...maximumIntegerMagnitude
  ) -> Int {
    // This order of the arguments turns NaN into the lower bound.
    Int(min(max(Double(range.lowerBound), value), Double(range.upperBound)).rounded())
  }

  /// The maximum magnitude of a computed integer, which both `Double` and `Int` represent exactly.
  public static let maximumIntegerMagnitude = Int(clamping: 1_000_000_000_000_000 as Int64)
}
