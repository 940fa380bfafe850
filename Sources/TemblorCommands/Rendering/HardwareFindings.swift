import Diagnostics
import HapticFormats
import HapticModel
import HapticRender
import JSONText
import PatternWorkflows
import SystemSupport

/// What `check` says of a pattern on the hardware of a profile, before it is played there.
struct HardwareFindings {
  let composition: HapticComposition
  let places: any SourcePlaces
  let profile: TransducerProfile
  let plan: RenderPlan

  /// All that is to be said.
  func all() -> [Finding] {
    let demand = HardwareLoad(plan, profile: profile)
    return [band, excursion(demand), power(demand), ceiling(demand)].compactMap { $0 }
  }

  /// Frequencies that are played at others.
  private var band: Finding? {
    let placed = profile.placed(rate: plan.rate)
    guard let asked = PatternSummary.frequencies(of: composition, profile: profile),
      let played = PatternSummary.frequencies(of: composition, profile: placed)
    else { return nil }
    let (before, after) = (asked.bandText, played.bandText)
    guard before != after else { return nil }
    let first = composition.events.first {
      $0.event.kind == .hapticContinuous || $0.event.kind == .hapticTransient
    }?.reference
    return finding(
      .transducerBand, at: first,
      "\(before) is outside the band of \(profile.name) and is mapped to \(after)")
  }

  private func excursion(_ demand: HardwareLoad) -> Finding? {
    guard let held = demand.heldForExcursion, let (share, frame) = demand.excursion else {
      return nil
    }
    let percent = NumberFormatting.rounded(share * 100, places: 0)
    return finding(
      .transducerExcursion, at: event(before: frame),
      "excursion of \(profile.name) reaches \(percent) % of its limit at \(seconds(frame)); gain is reduced by up to "
        + decibels(held),
      hint: "lower the intensity there")
  }

  private func power(_ demand: HardwareLoad) -> Finding? {
    if let held = demand.heldForPower {
      return finding(
        .transducerPower, at: event(before: held.frame),
        "\(profile.name) exceeds its thermal limit from \(seconds(held.frame)); gain is reduced by up to "
          + decibels(held),
        hint: "lower the intensity or add pauses")
    }
    guard let time = demand.secondsToWarmth(of: TransducerLimits.powerAim) else { return nil }
    let text =
      time < 120
      ? NumberFormatting.rounded(time, places: 0) + " s"
      : NumberFormatting.rounded(time / 60, places: 0) + " min"
    return finding(
      .transducerPower, at: nil, severity: .note,
      "when looped, \(profile.name) reaches its thermal limit after \(text) and gain is reduced")
  }

  private func ceiling(_ demand: HardwareLoad) -> Finding? {
    guard let (frame, count) = demand.limited else { return nil }
    return finding(
      .transducerCeiling, at: event(before: frame),
      "the signal exceeds the output ceiling at \(seconds(frame)); the limiter acts for \(seconds(count)) in total"
    )
  }

  /// The latest event that has begun at a frame.
  private func event(before frame: Int64) -> EventReference? {
    let begun = composition.events.filter {
      FrameConversion.frame(seconds: $0.event.time, rate: plan.rate) <= frame
    }
    return begun.max { ($0.event.time, $0.reference) < ($1.event.time, $1.reference) }?.reference
  }

  /// A finding at an event, or about the whole.
  private func finding(
    _ rule: Rule, at event: EventReference?, severity: Severity? = nil, _ message: String,
    hint: String? = nil
  ) -> Finding {
    let element = event.map { CompositionElement.event($0) } ?? .composition
    return Finding(
      rule, severity: severity, place: places.place(of: element), message, suggestion: hint)
  }

  private func seconds(_ frame: Int64) -> String {
    NumberFormatting.rounded(Double(frame) / plan.rate, places: 2) + " s"
  }

  private func decibels(_ held: HardwareLoad.ProtectionEvent) -> String {
    NumberFormatting.rounded(held.decibels, places: 1) + " dB"
  }
}

extension ClosedRange<Double> {
  /// `20–80 Hz`, or `175 Hz` for one frequency, to a tenth.
  fileprivate var bandText: String {
    FrequencyMapping(low: lowerBound, high: upperBound).text
  }
}

extension HapticComposition {
  /// The events of all layers with their numbers, layer by layer.
  fileprivate var events: [(reference: EventReference, event: HapticEvent)] {
    layers.enumerated().flatMap { layer, content in
      content.pattern.events.enumerated().map { index, event in
        (EventReference(layer: layer, event: index), event)
      }
    }
  }
}

extension Rule {
  /// What the hardware of a profile can do; checked where a profile is named.
  static let hardware = [
    transducerBand, transducerExcursion, transducerPower, transducerCeiling,
  ]

  fileprivate static let transducerBand = Rule(
    "transducer-band", group: "transducer", .note,
    "Frequencies should be within the band of the profile's hardware; others are mapped into it.")
  fileprivate static let transducerExcursion = Rule(
    "transducer-excursion", group: "transducer", .warning,
    "A pattern should not exceed the excursion limit of the profile's hardware; beyond it, gain is reduced.")
  fileprivate static let transducerPower = Rule(
    "transducer-power", group: "transducer", .warning,
    "A pattern should not exceed the thermal limit of the profile's hardware; beyond it, gain is reduced.")
  fileprivate static let transducerCeiling = Rule(
    "transducer-ceiling", group: "transducer", .note,
    "The drive signal should stay below the output ceiling; beyond it, the limiter acts.")
}
