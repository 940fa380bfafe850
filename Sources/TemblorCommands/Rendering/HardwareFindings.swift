import AHAP
import Diagnostics
import HapticModel
import HapticRender
import JSONText
import PatternWorkflows
import SystemSupport

/// What `check` says of a pattern on the hardware of a profile, before it is played there.
struct HardwareFindings {
  let document: AHAPDocument
  let pattern: HapticPattern
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
    guard let asked = PatternSummary.frequencies(of: pattern, profile: profile),
      let played = PatternSummary.frequencies(of: pattern, profile: placed)
    else { return nil }
    let (before, after) = (asked.bandText, played.bandText)
    guard before != after else { return nil }
    let first = pattern.events.firstIndex {
      $0.kind == .hapticContinuous || $0.kind == .hapticTransient
    }
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
  private func event(before frame: Int64) -> Int? {
    let begun = pattern.events.indices.filter {
      FrameConversion.frame(seconds: pattern.events[$0].time, rate: plan.rate) <= frame
    }
    return begun.max { (pattern.events[$0].time, $0) < (pattern.events[$1].time, $1) }
  }

  /// A finding, which the file may allow as it may others.
  private func finding(
    _ rule: Rule, at event: Int?, severity: Severity? = nil, _ message: String,
    hint: String? = nil
  ) -> Finding {
    let value = document.event(at: event)
    let allowed = document.json.root["Metadata"]?["AllowedRules"]?[rule.id.text]?.string
    return Finding(
      rule, severity: allowed == nil ? severity : .note, place: value.place,
      message + (allowed.map { " (allowed: \($0.prefix(200)))" } ?? ""),
      suggestion: allowed == nil ? hint : nil)
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
