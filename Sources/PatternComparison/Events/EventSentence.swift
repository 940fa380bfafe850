import HapticModel
import HapticRender

/// What is said of a quality that differs in one event, or alike in several.
struct EventSentence {
  let quality: EventAttribute
  let profile: TransducerProfile

  /// The predicate for a subject: `is 1 dB weaker`.
  func predicate(
    _ subject: EventNames.Subject, kind: HapticEvent.Kind, amount: Double
  ) -> String {
    let isMore = amount > 0
    switch quality {
    case .level:
      return subject.verb("is", "are") + " " + SentenceFormatting.strength(amount)
    case .frequency:
      let word =
        kind == .hapticTransient
        ? (isMore ? "sharper" : "duller") : (isMore ? "higher" : "lower")
      return subject.verb("is", "are") + " \(SentenceFormatting.percent(amount)) \(word)"
    case .duration:
      return subject.verb("is", "are")
        + " \(SentenceFormatting.span(amount)) \(isMore ? "longer" : "shorter")"
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
      return subject.verb("is", "are") + " \(SentenceFormatting.percent(amount)) "
        + (isMore ? "brighter" : "darker")
    }
  }

  /// The values behind it: `intensity 0.71 instead of 0.75`.
  func values(_ before: Double, _ after: Double, kind: HapticEvent.Kind) -> String {
    let written = SentenceFormatting.value(after, insteadOf: before)
    switch quality {
    case .level: return (isHaptic(kind) ? "intensity " : "volume ") + written
    case .frequency:
      guard kind != .audioCustom else { return "pitch " + written }
      let hertz = SentenceFormatting.hertz(
        EventAttribute.hertz(after, of: kind, profile),
        insteadOf: EventAttribute.hertz(before, of: kind, profile))
      return "\(hertz) (\(isHaptic(kind) ? "sharpness" : "pitch") \(written))"
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
      switch quality {
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
      switch quality.unit {
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

  private func isHaptic(_ kind: HapticEvent.Kind) -> Bool {
    kind == .hapticTransient || kind == .hapticContinuous
  }
}
