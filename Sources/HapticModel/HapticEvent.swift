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

  /// What the event does.
  public var kind: Kind
  /// Seconds from the start of the pattern.
  public var time: Double
  /// Seconds until release begins, or nothing where none was given.
  ///
  /// For a transient it counts only towards the pattern's length. For a sound file, a shorter duration
  /// cuts it, a longer one pads it with silence, and zero or nothing plays the whole file.
  public var duration: Double?
  /// The values given; those that were not take their defaults.
  public var parameters: EventParameters
  /// The sound file of an `audioCustom` event.
  public var waveform: AudioWaveform?

  /// Makes an event; nothing is clamped or checked.
  public init(
    kind: Kind, time: Double, duration: Double? = nil,
    parameters: EventParameters = EventParameters(), waveform: AudioWaveform? = nil
  ) {
    self.kind = kind
    self.time = time
    self.duration = duration
    self.parameters = parameters
    self.waveform = waveform
  }

  /// The value of a parameter: the given one clamped to its range, else the default for this kind.
  ///
  /// What is not a number counts as not given.
  public func value(of id: EventParameterID) -> Float {
    var given = parameters[id] ?? id.defaultValue(for: kind)
    if given.isNaN { given = id.defaultValue(for: kind) }
    let range = id.range
    return min(max(given, range.lowerBound), range.upperBound)
  }
}

extension HapticEvent.Kind {
  /// Whether an event of this kind is changed by a parameter.
  ///
  /// Source: the documentation of Apple's Unity wrapper (apple/unityplugins, 4b2455f), by which
  /// transients have no envelope; haptic parameters act on haptic events, audio ones on audio.
  public func responds(to id: EventParameterID) -> Bool {
    switch id {
    case .hapticIntensity, .hapticSharpness: self == .hapticTransient || self == .hapticContinuous
    case .attackTime, .decayTime, .releaseTime, .sustained: self != .hapticTransient
    case .audioVolume, .audioPan, .audioPitch, .audioBrightness:
      self == .audioContinuous || self == .audioCustom
    }
  }
}
