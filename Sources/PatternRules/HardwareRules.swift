public import Reading
public import HapticModel
public import HapticRender
internal import SystemSupport

extension PatternRules {
  /// What the hardware of a profile can do; checked where a profile is named.
  public static let hardware: [Rule] = [.transducerBand, .transducerExcursion, .transducerPower, .transducerCeiling]

  /// Checks what a composition asks of the hardware of a profile, before it is played there.
  ///
  /// The plan is rendered twice, which takes a few milliseconds a second of the pattern.
  ///
  /// - Parameters:
  ///   - composition: What was compiled.
  ///   - profile: The profile it was compiled for; without hardware only the ceiling is checked.
  ///   - plan: The plan, with the samples of its sound files.
  ///   - places: Where a part stands.
  public static func hardwareFindings(
    in composition: HapticComposition, profile: TransducerProfile, plan: RenderPlan,
    places: (CompositionElement) -> SourcePlace
  ) -> [Finding] {
    let load = HardwareLoad(plan, profile: profile)
    func finding(
      _ rule: Rule, at event: EventReference?, severity: Severity? = nil, _ message: String, hint: String? = nil
    ) -> Finding {
      let element = event.map { CompositionElement.event($0) } ?? .composition
      return Finding(rule, severity: severity, place: places(element), message, suggestion: hint)
    }
    /// The latest event that has begun at a frame.
    func event(before frame: Int64) -> EventReference? {
      let begun = composition.events.filter { FrameConversion.frame(seconds: $0.event.time, rate: plan.rate) <= frame }
      return begun.max { ($0.event.time, $0.reference) < ($1.event.time, $1.reference) }?.reference
    }
    func seconds(_ frame: Int64) -> String { NumberFormatting.rounded(Double(frame) / plan.rate, places: 2) + " s" }
    func decibels(_ held: HardwareLoad.ProtectionEvent) -> String {
      NumberFormatting.rounded(held.decibels, places: 1) + " dB"
    }

    var findings: [Finding] = []
    let mapped = profile.bandMapped(rate: plan.rate)
    if let before = profile.frequencies(of: composition), let after = mapped.frequencies(of: composition),
      before.isNoticeablyMoved(to: after)
    {
      let first = composition.events.first { $0.event.kind.isHaptic }
      let published = profile.hardware?.band
      let isInside = published.map { $0.lowerBound <= before.lowerBound && before.upperBound <= $0.upperBound } ?? true
      let reason =
        isInside
        ? "\(profile.name) plays \(mapped.frequency.band.text) of \(profile.frequency.band.hertzText): "
          + "\(before.hertzText) is moved to \(after.hertzText)"
        : "\(before.hertzText) reaches outside the band of \(profile.name), \(published?.hertzText ?? ""): moved to "
          + after.hertzText
      findings.append(finding(.transducerBand, at: first?.reference, reason))
    }
    if let held = load.heldForExcursion, let (share, frame) = load.excursion {
      let percent = NumberFormatting.rounded(share * 100, places: 0)
      findings.append(
        finding(
          .transducerExcursion, at: event(before: frame),
          "excursion of \(profile.name) would reach \(percent) % of its limit at \(seconds(frame)) by its stated figures, and more within their uncertainty; gain is reduced by up to "
            + decibels(held), hint: "lower the intensity there"))
    }
    if let held = load.heldForPower {
      findings.append(
        finding(
          .transducerPower, at: event(before: held.frame),
          "\(profile.name) exceeds its thermal limit from \(seconds(held.frame)); gain is reduced by up to "
            + decibels(held), hint: "lower the intensity or add pauses"))
    } else if let time = load.secondsToThermalLimit {
      let text =
        time < 120
        ? NumberFormatting.rounded(time, places: 0) + " s" : NumberFormatting.rounded(time / 60, places: 0) + " min"
      findings.append(
        finding(
          .transducerPower, at: nil, severity: .note,
          "when looped, \(profile.name) reaches its thermal limit after \(text) and gain is reduced"))
    }
    if let (frame, count) = load.limited {
      findings.append(
        finding(
          .transducerCeiling, at: event(before: frame),
          "the signal exceeds the output ceiling at \(seconds(frame)); the limiter acts for \(seconds(count)) in total")
      )
    }
    return findings
  }
}

extension TransducerProfile {
  /// The lowest and highest frequency of haptic events under the sharpness controls of their layers; nil
  /// where there are none.
  public func frequencies(of composition: HapticComposition) -> ClosedRange<Double>? {
    var low = Double.infinity
    var high = 0.0
    // Beyond this only the values at onsets count: no pattern that a person or tool has made comes near.
    var budget = 4_000_000
    for layer in composition.layers {
      let control = ControlTimeline(of: .hapticSharpnessControl, in: layer.pattern)
      for event in layer.pattern.events {
        guard event.kind.isHaptic, let length = event.length else { continue }
        let law = scale(of: event.kind).frequency
        let end = event.time + max(0, length)
        let offsets = control.extremes(in: event.time...max(event.time, end), budget: &budget)
        for offset in [offsets.lowerBound, offsets.upperBound] {
          let sharpness = Double(event.value(of: .hapticSharpness)) + offset
          let hertz = law.hertz(atSharpness: min(max(sharpness, 0), 1))
          (low, high) = (min(low, hertz), max(high, hertz))
        }
      }
    }
    return low <= high ? low...high : nil
  }
}

extension ControlTimeline {
  /// The least and the greatest value in a range of times.
  ///
  /// The budget is how many segments may still be looked at.
  fileprivate func extremes(in range: ClosedRange<Double>, budget: inout Int) -> ClosedRange<Double> {
    let first = value(at: range.lowerBound)
    var (low, high) = (first, first)
    var index = index(at: range.lowerBound)
    while index < segments.count, segments[index].start < range.upperBound, budget > 0 {
      let segment = segments[index]
      index += 1
      budget -= 1
      let end = min(index < segments.count ? segments[index].start : .infinity, range.upperBound)
      let start = segment.value(at: max(segment.start, range.lowerBound))
      // A flat segment may reach to a time that is not finite.
      let last = segment.slope == 0 ? start : segment.value(at: end)
      (low, high) = (min(low, start, last), max(high, start, last))
    }
    return low...high
  }
}

extension HapticComposition {
  /// The events of all layers with their numbers, layer by layer.
  fileprivate var events: [(reference: EventReference, event: HapticEvent)] {
    layers.enumerated().flatMap { layer, content in
      content.pattern.events.enumerated().map { index, event in (EventReference(layer: layer, event: index), event) }
    }
  }
}

extension FrequencyMapping {
  fileprivate var band: ClosedRange<Double> { low...max(low, high) }
}

extension ClosedRange<Double> {
  /// `20–80`, or `175` for one frequency, to a tenth.
  fileprivate var text: String {
    let (low, high) = (NumberFormatting.rounded(lowerBound, places: 1), NumberFormatting.rounded(upperBound, places: 1))
    return lowerBound == upperBound ? low : "\(low)–\(high)"
  }

  fileprivate var hertzText: String { text + " Hz" }

  /// Whether one end of a band becomes another frequency to the skin.
  fileprivate func isNoticeablyMoved(to other: ClosedRange<Double>) -> Bool {
    [(lowerBound, other.lowerBound), (upperBound, other.upperBound)].contains { before, after in
      100 * abs(after / before - 1) >= JustNoticeableDifference.percent
    }
  }
}

extension Rule {
  static let transducerBand = note(
    "transducer-band", "transducer",
    "Frequencies should be within the band of the profile's hardware; others are moved into it noticeably.")
  static let transducerExcursion = warning(
    "transducer-excursion", "transducer",
    "A pattern should not exceed the excursion limit of the profile's hardware; beyond it, gain is reduced.")
  static let transducerPower = warning(
    "transducer-power", "transducer",
    "A pattern should not exceed the thermal limit of the profile's hardware; beyond it, gain is reduced.")
  static let transducerCeiling = note(
    "transducer-ceiling", "transducer",
    "The drive signal should stay below the output ceiling; beyond it, the limiter acts.")
}
