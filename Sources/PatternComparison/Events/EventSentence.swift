internal import CMath
import HapticModel
import HapticRender

/// What is said of a quality that differs in one event, or alike in several.
struct EventSentence {
  let attribute: EventAttribute
  let profile: TransducerProfile

  /// The predicate for a subject: `is 1 dB weaker`.
  func predicate(_ subject: EventNames.Subject, kind: HapticEvent.Kind, amount: Double) -> String {
    let isMore = amount > 0
    switch attribute {
    case .level: return subject.verb("is", "are") + " " + SentenceFormatting.strength(amount)
    case .frequency:
      let word = kind.isTransient ? (isMore ? "sharper" : "duller") : (isMore ? "higher" : "lower")
      return subject.verb("is", "are") + " \(SentenceFormatting.percent(amount)) \(word)"
    case .duration:
      return subject.verb("is", "are") + " \(SentenceFormatting.span(amount)) \(isMore ? "longer" : "shorter")"
    case .attack:
      return subject.verb("takes", "take") + " \(SentenceFormatting.span(amount)) "
        + "\(isMore ? "longer" : "less time") to rise"
    case .decay:
      return subject.verb("takes", "take") + " \(SentenceFormatting.span(amount)) "
        + "\(isMore ? "longer" : "less time") to decay"
    case .release:
      return subject.verb("has", "have") + " a \(SentenceFormatting.span(amount)) "
        + "\(isMore ? "longer" : "shorter") release"
    case .sustain:
      return isMore
        ? subject.verb("sustains", "sustain") + " instead of decaying"
        : subject.verb("decays", "decay") + " instead of sustaining"
    case .pan:
      return subject.verb("is", "are") + " \(SentenceFormatting.percent(amount)) further to the "
        + (isMore ? "right" : "left")
    case .brightness:
      return subject.verb("is", "are") + " \(SentenceFormatting.percent(amount)) " + (isMore ? "brighter" : "darker")
    }
  }

  /// The values behind it: `intensity 0.71 instead of 0.75`.
  func values(_ before: Double, _ after: Double, kind: HapticEvent.Kind) -> String {
    let written = SentenceFormatting.value(after, insteadOf: before)
    switch attribute {
    case .level: return (kind.isHaptic ? "intensity " : "volume ") + written
    case .frequency:
      guard !kind.playsFile else { return "pitch " + written }
      let hertz = SentenceFormatting.hertz(
        EventAttribute.hertz(after, of: kind, profile), insteadOf: EventAttribute.hertz(before, of: kind, profile))
      return "\(hertz) (\(kind.isHaptic ? "sharpness" : "pitch") \(written))"
    case .duration: return written + " s"
    case .attack: return "attack " + written
    case .decay: return "decay " + written
    case .release: return "release " + written
    case .sustain: return ""
    case .pan: return "pan " + written
    case .brightness: return "brightness " + written
    }
  }

  /// What is said where amounts differ from event to event: `B's level differs`.
  func spread(owner: String, count: Int, of all: Int, from low: Double, to high: Double) -> String {
    let name =
      switch attribute {
      case .level: "level"
      case .frequency: "sharpness"
      case .duration: "length"
      case .attack: "attack"
      case .decay: "decay"
      case .release: "release"
      case .sustain: "sustain"
      case .pan: "pan position"
      case .brightness: "brightness"
      }
    let range =
      switch attribute.unit {
      case .decibels: "\(signed(low, places: 1)) to \(signed(high, places: 1)) dB"
      case .percent: "\(signed(low, places: 0)) to \(signed(high, places: 0)) %"
      default: "\(signed(low * 1_000, places: 0)) to \(signed(high * 1_000, places: 0)) ms"
      }
    return "\(owner)'s \(name) differs in \(count) of \(all) events, by \(range)."
  }

  private func signed(_ value: Double, places: Int) -> String {
    let text = SentenceFormatting.number(value, places: places)
    return value > 0 && text != "0" ? "+" + text : text
  }
}

/// A quality of an event that can differ, and how much a difference is.
enum EventAttribute: CaseIterable {
  case level
  case frequency
  case duration
  case attack
  case decay
  case release
  case sustain
  case pan
  case brightness

  /// Levels further apart than this, in decibels, count as this far: one of them is silence.
  static let greatestDecibels = 60.0

  /// What a difference of it is called.
  var kind: Difference.Kind {
    switch self {
    case .level: .level
    case .frequency: .frequency
    case .duration: .duration
    case .attack: .attack
    case .decay: .decay
    case .release: .release
    case .sustain: .sustain
    case .pan: .pan
    case .brightness: .brightness
    }
  }

  /// What amounts of it count.
  var unit: Difference.Unit {
    switch self {
    case .level: .decibels
    case .frequency, .pan, .brightness: .percent
    case .duration, .attack, .decay, .release: .seconds
    case .sustain: .none
    }
  }

  /// The parameter it is read from for a kind of event; nothing for the duration.
  func parameter(of kind: HapticEvent.Kind) -> EventParameterID? {
    switch self {
    case .level: kind.isHaptic ? .hapticIntensity : .audioVolume
    case .frequency: kind.isHaptic ? .hapticSharpness : .audioPitch
    case .duration: nil
    case .attack: .attackTime
    case .decay: .decayTime
    case .release: .releaseTime
    case .sustain: .sustained
    case .pan: .audioPan
    case .brightness: .audioBrightness
    }
  }

  /// The value an event has, or nil where its kind has none.
  func value(of event: ListedEvent) -> Double? {
    if self == .duration { return event.duration }
    guard let id = parameter(of: event.kind), event.kind.responds(to: id) else { return nil }
    return event.value(id)
  }

  /// How far a value is from another, in `unit`, as a profile renders them.
  func amount(_ before: Double, _ after: Double, of kind: HapticEvent.Kind, _ profile: TransducerProfile) -> Double {
    switch self {
    case .level:
      guard kind.isHaptic else { return Self.decibels(before, after) }
      let law = profile.intensity
      return Self.decibels(law.amplitude(atIntensity: before), law.amplitude(atIntensity: after))
    case .frequency:
      let hertz = Self.hertz(before, of: kind, profile)
      return 100 * (Self.hertz(after, of: kind, profile) / hertz - 1)
    case .duration: return after - before
    case .attack, .decay, .release: return Self.seconds(after) - Self.seconds(before)
    case .sustain: return after - before
    case .pan, .brightness: return 100 * (after - before)
    }
  }

  /// The ratio of two amplitudes, with silence at −60 dB.
  static func decibels(_ before: Double, _ after: Double) -> Double {
    if before == after { return 0 }
    guard after > 0 else { return -greatestDecibels }
    guard before > 0 else { return greatestDecibels }
    return min(max(20 * log10(after / before), -greatestDecibels), greatestDecibels)
  }

  /// The frequency of a sharpness or pitch; that of a sound file is its speed.
  static func hertz(_ value: Double, of kind: HapticEvent.Kind, _ profile: TransducerProfile) -> Double {
    if kind.isHaptic { return profile.scale(of: kind).frequency.hertz(atSharpness: value) }
    // An octave to each side of twice the band's end, as the rendering model has it.
    return (kind.playsFile ? 1 : 2 * profile.frequency.high) * pow(2, value)
  }

  private static func seconds(_ normalised: Double) -> Double { EnvelopeTimes.seconds(normalised: Float(normalised)) }

  /// The least difference of values that is one: what remains of a decimal in single precision.
  var least: Double { self == .duration ? EventMatch.leastTime : 1e-5 }
}
