/// A value an event can be given; the raw value is its name in AHAP.
public enum EventParameterID: String, CaseIterable, Sendable {
  /// Strength, 0…1.
  case hapticIntensity = "HapticIntensity"
  /// From round, 0, to crisp, 1.
  case hapticSharpness = "HapticSharpness"
  /// Rise at the start, normalised 0…1.
  case attackTime = "AttackTime"
  /// Fall of an event that is not sustained, normalised 0…1.
  case decayTime = "DecayTime"
  /// Fall behind the end, normalised 0…1.
  case releaseTime = "ReleaseTime"
  /// Whether the event holds for its duration, 1, or decays, 0.
  case sustained = "Sustained"
  /// Loudness, 0…1.
  case audioVolume = "AudioVolume"
  /// From left, −1, to right, 1.
  case audioPan = "AudioPan"
  /// From low, −1, to high, 1.
  case audioPitch = "AudioPitch"
  /// High-frequency content, 0…1.
  case audioBrightness = "AudioBrightness"

  /// The values Core Haptics accepts; others are clamped to the nearest bound.
  public var range: ClosedRange<Float> {
    switch self {
    case .audioPan, .audioPitch: -1...1
    default: 0...1
    }
  }

  /// The value of an event that was given none.
  ///
  /// Source: the constant table of Apple's Unity wrapper (apple/unityplugins, 4b2455f); `Sustained`
  /// follows Apple's header, which says 1 where that table says 0.
  public func defaultValue(for kind: HapticEvent.Kind) -> Float {
    switch self {
    case .hapticIntensity: kind == .hapticTransient ? 0.75 : 0.6
    case .hapticSharpness: kind == .hapticTransient ? 0.5 : 0.422601
    case .sustained, .audioVolume, .audioBrightness: 1
    case .attackTime, .decayTime, .releaseTime, .audioPan, .audioPitch: 0
    }
  }

  /// The place in declaration order.
  var index: Int {
    switch self {
    case .hapticIntensity: 0
    case .hapticSharpness: 1
    case .attackTime: 2
    case .decayTime: 3
    case .releaseTime: 4
    case .sustained: 5
    case .audioVolume: 6
    case .audioPan: 7
    case .audioPitch: 8
    case .audioBrightness: 9
    }
  }

  /// The place as a bit of a mask.
  var bit: UInt16 { 1 << UInt16(index) }
}
