/// A haptic and audio pattern: events, the parameters that change them, and the curves that bend
/// them.
///
/// Plain values in any order, as an author wrote them. Times are seconds from the start of the
/// pattern. Building a pattern checks nothing: readers clamp what they read, and compilation
/// refuses what cannot be rendered.
public struct HapticPattern: Equatable, Sendable {
  /// What is felt or heard.
  public var events: [HapticEvent]
  /// Values that step at a time and hold.
  public var parameters: [DynamicParameter]
  /// Values that move along straight lines between control points.
  public var curves: [ParameterCurve]

  /// Makes a pattern from its three parts, each of which may be empty.
  public init(
    events: [HapticEvent] = [], parameters: [DynamicParameter] = [], curves: [ParameterCurve] = []
  ) {
    self.events = events
    self.parameters = parameters
    self.curves = curves
  }

  /// The time, in seconds, at which the last event ends or the last parameter or curve begins.
  ///
  /// Envelope releases and the length of a transient's burst are not counted, nor are control
  /// points behind a curve's start. The point where a loop returns to the beginning.
  /// Source: Apple's header for `CHHapticPattern.duration`.
  public var duration: Double {
    var end = 0.0
    for event in events {
      end = max(end, event.time + (event.duration ?? 0))
    }
    for parameter in parameters {
      end = max(end, parameter.time)
    }
    for curve in curves {
      end = max(end, curve.time)
    }
    return end
  }
}

/// One thing that is felt or heard, at a time.
public struct HapticEvent: Equatable, Sendable {
  /// What an event does; the raw value is its name in AHAP.
  public enum Kind: String, CaseIterable, Sendable {
    /// One short impulse that ends by itself.
    case hapticTransient = "HapticTransient"
    /// A vibration that lasts for the event's duration.
    case hapticContinuous = "HapticContinuous"
    /// A synthetic tone that lasts for the event's duration.
    case audioContinuous = "AudioContinuous"
    /// A sound file.
    case audioCustom = "AudioCustom"
  }

  /// Seconds a continuous event without a duration lasts: the longest that Apple documents.
  public static let defaultDuration = 30.0

  /// Seconds from the start of the pattern.
  public var time: Double
  /// Seconds until release begins, or nothing where none was given.
  ///
  /// For a transient it counts only towards the pattern's length. For a sound file, a shorter
  /// duration cuts it, a longer one pads it with silence, and zero or nothing plays the whole file.
  public var duration: Double?
  // Behind the duration it takes no memory of its own, and long patterns are mostly events.
  /// What the event does.
  public var kind: Kind
  /// The values given; those that were not take their defaults.
  public var parameters: EventParameters
  /// The sound file of an `audioCustom` event.
  public var waveform: AudioWaveform?

  /// Makes an event; nothing is clamped or checked.
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

  /// Seconds until release begins: 0 for a transient, nil where the length of a sound file decides.
  public var holdDuration: Double? {
    switch kind.traits.durationSource {
    case .impulse: 0
    case .duration: duration ?? Self.defaultDuration
    case .file: duration.flatMap { $0 > 0 ? $0 : nil }
    }
  }

  /// The value of a parameter: the given one clamped to its range, else the default for this kind.
  ///
  /// What is not a number counts as not given.
  public func value(of id: EventParameterID) -> Float {
    var given = parameters[id] ?? id.defaultValue(for: kind)
    if given.isNaN {
      given = id.defaultValue(for: kind)
    }
    let range = id.range
    return min(max(given, range.lowerBound), range.upperBound)
  }
}

extension HapticEvent.Kind {
  /// What decides how long an event lasts: nothing of its own, its duration, or its sound file.
  public enum DurationSource: Sendable { case impulse, duration, file }

  /// What is known of a kind beside how it is rendered and what it is called: numbers, which cost
  /// nothing to ask for.
  struct Traits {
    var isHaptic: Bool
    var durationSource: DurationSource
    /// What an event has that was given none.
    var defaultIntensity: Float = 0.6
    var defaultSharpness: Float = 0.422601
  }

  @inline(__always) var traits: Traits {
    switch self {
    case .hapticTransient:
      Traits(
        isHaptic: true, durationSource: .impulse, defaultIntensity: 0.75, defaultSharpness: 0.5)
    case .hapticContinuous: Traits(isHaptic: true, durationSource: .duration)
    case .audioContinuous: Traits(isHaptic: false, durationSource: .duration)
    case .audioCustom: Traits(isHaptic: false, durationSource: .file)
    }
  }

  var names: (noun: String, label: String) {
    switch self {
    case .hapticTransient: ("transient", "transient")
    case .hapticContinuous: ("continuous event", "continuous")
    case .audioContinuous: ("audio tone", "tone")
    case .audioCustom: ("sound file", "sound file")
    }
  }

  /// What sentences call an event of this kind; several with an `s`.
  public var noun: String { names.noun }
  /// What tables and the data of pages call an event of this kind.
  public var label: String { names.label }
  /// Whether events of this kind are felt; the others are heard.
  public var isHaptic: Bool { traits.isHaptic }
  /// Whether events of this kind end by themselves at once, without an envelope.
  public var isTransient: Bool { traits.durationSource == .impulse }
  /// Whether events of this kind hold for their duration, or 30 s where none was given.
  public var isContinuous: Bool { traits.durationSource == .duration }
  /// Whether events of this kind are felt for their duration.
  public var isVibration: Bool { isHaptic && isContinuous }
  /// Whether events of this kind play a sound file, whole unless they have a duration.
  public var playsFile: Bool { traits.durationSource == .file }

  /// Whether an event of this kind is changed by a parameter.
  ///
  /// Source: the documentation of Apple's Unity wrapper (apple/unityplugins, 4b2455f), by which
  /// transients have no envelope; haptic parameters act on haptic events, audio ones on audio.
  public func responds(to id: EventParameterID) -> Bool {
    switch id {
    case .hapticIntensity, .hapticSharpness: isHaptic
    case .attackTime, .decayTime, .releaseTime, .sustained: !isTransient
    case .audioVolume, .audioPan, .audioPitch, .audioBrightness: !isHaptic
    }
  }
}

/// The sound file an `audioCustom` event plays, and how.
public struct AudioWaveform: Equatable, Sendable {
  /// The file's path as the pattern gives it, relative to the pattern's folder.
  public var path: String
  /// Whether the sound is ramped in and out; true unless the pattern says otherwise.
  public var usesVolumeEnvelope: Bool
  /// Whether the whole file repeats for the event's duration; false unless the pattern says
  /// otherwise.
  public var isLooping: Bool

  /// Makes a reference to a file; nothing is opened.
  public init(path: String, usesVolumeEnvelope: Bool = true, isLooping: Bool = false) {
    self.path = path
    self.usesVolumeEnvelope = usesVolumeEnvelope
    self.isLooping = isLooping
  }
}

/// The one place where seconds become frames.
public enum FrameConversion {
  /// The longest time a pattern can be rendered to, in seconds: one day.
  public static let maximumSeconds = 86_400.0

  /// The frame nearest to a time: `round(seconds · rate)`, halves away from zero.
  ///
  /// Times outside ± one day are clamped to it, so that any number gives a frame; not-a-number is
  /// 0.
  public static func frame(seconds: Double, rate: Double) -> Int64 {
    guard !seconds.isNaN else { return 0 }
    let bounded = min(max(seconds, -maximumSeconds), maximumSeconds)
    return Int64((bounded * rate).rounded())
  }

  /// The whole number nearest to a value, halves away from zero, within a range; its lower bound
  /// for what is not a number. The one place where formats make whole numbers of computed values.
  public static func integer(
    _ value: Double, in range: ClosedRange<Int> = -maximumInteger...maximumInteger
  ) -> Int {
    // In this order not-a-number becomes the lower bound.
    Int(min(max(Double(range.lowerBound), value), Double(range.upperBound)).rounded())
  }

  /// The greatest magnitude of a whole number that is computed, which a `Double` and an `Int` hold
  /// exactly.
  public static let maximumInteger = Int(clamping: 1_000_000_000_000_000 as Int64)
}
