/// A control that acts on every event of its bus; the raw value is its name in AHAP.
public enum DynamicParameterID: String, CaseIterable, Sendable {
  /// Multiplies `HapticIntensity`.
  case hapticIntensityControl = "HapticIntensityControl"
  /// Is added to `HapticSharpness`.
  case hapticSharpnessControl = "HapticSharpnessControl"
  /// Is added to `AttackTime` of haptic events that start later.
  case hapticAttackTimeControl = "HapticAttackTimeControl"
  /// Is added to `DecayTime` of haptic events that start later.
  case hapticDecayTimeControl = "HapticDecayTimeControl"
  /// Is added to `ReleaseTime` of haptic events that start later.
  case hapticReleaseTimeControl = "HapticReleaseTimeControl"
  /// Multiplies `AudioVolume`.
  case audioVolumeControl = "AudioVolumeControl"
  /// Is added to `AudioPan`.
  case audioPanControl = "AudioPanControl"
  /// Is added to `AudioPitch`.
  case audioPitchControl = "AudioPitchControl"
  /// Is added to `AudioBrightness`.
  case audioBrightnessControl = "AudioBrightnessControl"
  /// Is added to `AttackTime` of audio events that start later.
  case audioAttackTimeControl = "AudioAttackTimeControl"
  /// Is added to `DecayTime` of audio events that start later.
  case audioDecayTimeControl = "AudioDecayTimeControl"
  /// Is added to `ReleaseTime` of audio events that start later.
  case audioReleaseTimeControl = "AudioReleaseTimeControl"

  /// Whether the control multiplies the event's value; otherwise it is added to it.
  public var isMultiplier: Bool {
    self == .hapticIntensityControl || self == .audioVolumeControl
  }

  /// The values Core Haptics accepts; others are clamped to the nearest bound.
  public var range: ClosedRange<Float> { isMultiplier ? 0...1 : -1...1 }

  /// The value in force until a parameter or curve says otherwise: 1 for multipliers, else 0.
  public var neutralValue: Float { isMultiplier ? 1 : 0 }

  /// The event parameter the control acts on.
  public var target: EventParameterID {
    switch self {
    case .hapticIntensityControl: .hapticIntensity
    case .hapticSharpnessControl: .hapticSharpness
    case .hapticAttackTimeControl, .audioAttackTimeControl: .attackTime
    case .hapticDecayTimeControl, .audioDecayTimeControl: .decayTime
    case .hapticReleaseTimeControl, .audioReleaseTimeControl: .releaseTime
    case .audioVolumeControl: .audioVolume
    case .audioPanControl: .audioPan
    case .audioPitchControl: .audioPitch
    case .audioBrightnessControl: .audioBrightness
    }
  }
}
