internal import CMath
import HapticModel
import HapticRender

/// What a dynamic parameter does, and how far two of its values are apart.
struct ControlAttribute {
  let id: DynamicParameterID

  init(_ id: DynamicParameterID) { self.id = id }

  /// What a sentence calls the parameter.
  var word: String {
    switch id {
    case .hapticIntensityControl: "intensity"
    case .hapticSharpnessControl: "sharpness"
    case .hapticAttackTimeControl: "attack"
    case .hapticDecayTimeControl: "decay"
    case .hapticReleaseTimeControl: "release"
    case .audioVolumeControl: "volume"
    case .audioPanControl: "pan"
    case .audioPitchControl: "pitch"
    case .audioBrightnessControl: "brightness"
    case .audioAttackTimeControl: "audio attack"
    case .audioDecayTimeControl: "audio decay"
    case .audioReleaseTimeControl: "audio release"
    }
  }

  /// What amounts count.
  var unit: Difference.Unit {
    switch id.target {
    case .hapticIntensity, .audioVolume: .decibels
    case .attackTime, .decayTime, .releaseTime: .seconds
    default: .percent
    }
  }

  /// How far a value is from another, in `unit`, as a profile renders them.
  ///
  /// Sharpness is taken about its middle where the law is not logarithmic; a time is added to none.
  func amount(_ before: Double, _ after: Double, _ profile: TransducerProfile) -> Double {
    switch id.target {
    case .hapticIntensity:
      EventAttribute.decibels(
        profile.intensity.amplitude(atIntensity: before), profile.intensity.amplitude(atIntensity: after))
    case .audioVolume: EventAttribute.decibels(before, after)
    case .hapticSharpness: Self.percent(before, after, profile.frequency)
    case .audioPitch: 100 * (pow(2, after - before) - 1)
    case .attackTime, .decayTime, .releaseTime:
      EnvelopeTimes.seconds(normalised: Float(after)) - EnvelopeTimes.seconds(normalised: Float(before))
    default: 100 * (after - before)
    }
  }

  private static func percent(_ before: Double, _ after: Double, _ law: FrequencyMapping) -> Double {
    switch law.scale {
    case .logarithmic: return 100 * (pow(law.high / law.low, after - before) - 1)
    case .linear:
      let middle = (law.low + law.high) / 2
      return 100 * (law.high - law.low) * (after - before) / middle
    }
  }

  /// What an amount makes of the sound: `3.9 dB weaker`, `11 % higher`.
  func effect(_ amount: Double) -> String {
    switch id.target {
    case .hapticIntensity, .audioVolume: SentenceFormatting.strength(amount)
    case .hapticSharpness, .audioPitch: "\(SentenceFormatting.percent(amount)) \(amount > 0 ? "higher" : "lower")"
    case .attackTime, .decayTime, .releaseTime:
      "\(SentenceFormatting.span(amount)) \(amount > 0 ? "longer" : "shorter")"
    case .audioPan: "\(SentenceFormatting.percent(amount)) further to the \(amount > 0 ? "right" : "left")"
    default: "\(SentenceFormatting.percent(amount)) \(amount > 0 ? "brighter" : "darker")"
    }
  }

  /// How far the effect of a line goes: `up to 3.9 dB weaker`, `down to silence`.
  func extent(_ amount: Double) -> String {
    if unit == .decibels, abs(amount) >= EventAttribute.greatestDecibels {
      return amount < 0 ? "down to silence" : "up from silence"
    }
    return "up to " + effect(amount)
  }

  /// How far two lines that cross are apart: `2 dB apart`.
  func distance(_ amount: Double) -> String {
    switch unit {
    case .decibels: "\(SentenceFormatting.decibels(abs(amount))) apart"
    case .seconds: "\(SentenceFormatting.span(amount)) apart"
    default: "\(SentenceFormatting.percent(amount)) apart"
    }
  }
}
