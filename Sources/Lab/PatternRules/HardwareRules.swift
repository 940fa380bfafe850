public import HapticModel
public import HapticRender
public import Reading
internal import SystemSupport

extension PatternRules {
  /// The rules about the hardware of a profile, which require a selected profile.
  public static let hardwareRules: [Rule] = [
    .frequencyOutsideBand, .excursionAboveLimit, .powerAboveLimit, .driveAboveCeiling,
    .uncheckedHardwareDuration,
  ]

  /// Compares the demands of a composition with the hardware of a profile.
  ///
  /// The first ten minutes of the plan are rendered twice, which takes a few milliseconds per
  /// second.
  ///
  /// - Parameters:
  ///   - composition: The composition that was compiled.
  ///   - profile: The profile that it was compiled for. Without hardware, only the ceiling is
  ///     checked.
  ///   - plan: The compiled plan, with the samples of its sound files.
  ///   - location: Returns the location of a part.
  /// - Returns: At most one finding for each rule of ``hardwareRules``, but two for frequencies if
  ///   some layers state hertz.
  public static func hardwareFindings(
    in composition: HapticComposition, profile: TransducerProfile, plan: RenderPlan,
    location: (CompositionElement) -> FileLocation
  ) -> [Finding] {
    let hardwareCheck = HardwareCheck(
      composition: composition, profile: profile, sampleRate: plan.rate,
      durationSeconds: plan.durationSeconds,
      hardwareLoad: HardwareLoad(plan, profile: profile))
    return hardwareCheck.violations.map { violation in
      let element = violation.event.map { CompositionElement.event($0) } ?? .composition
      return Finding(
        violation.rule, severity: violation.severity, location: location(element),
        violation.message, suggestion: violation.suggestion)
    }
  }
}

extension PatternRules {
  /// Returns the finding about stated frequencies that a profile does not reproduce.
  ///
  /// The composition states the frequencies in hertz. Returns nil if the profile reproduces them.
  ///
  /// - Parameters:
  ///   - composition: The composition.
  ///   - profile: The profile.
  ///   - rate: The sample rate, in hertz.
  ///   - location: The location of the finding.
  package static func unreproducedFrequencyFinding(
    of composition: HapticComposition, on profile: TransducerProfile, rate: Double,
    at location: FileLocation
  ) -> Finding? {
    unreproducedFrequenciesText(of: composition, on: profile, rate: rate).map {
      Finding(
        .frequencyOutsideBand, location: location, $0,
        suggestion: "use '--pitch sharpness' to map them to its band")
    }
  }

  /// Returns the message about stated frequencies that a profile does not reproduce, or nil.
  fileprivate static func unreproducedFrequenciesText(
    of composition: HapticComposition, on profile: TransducerProfile, rate: Double
  ) -> String? {
    guard let statedHertz = composition.statedHertzRange else { return nil }
    let bandHertz = profile.reproducibleHertz(rate: rate)
    guard statedHertz.isNoticeablyDifferent(from: statedHertz.clamped(to: bandHertz)) else {
      return nil
    }
    let distanceHertz = max(
      bandHertz.lowerBound - statedHertz.lowerBound, statedHertz.upperBound - bandHertz.upperBound)
    return """
      \(statedHertz.hertzText) is partly outside the band of \(profile.name), \
      \(bandHertz.hertzText): \
      frequencies are shifted by up to \(NumberFormatting.roundedText(distanceHertz, places: 1)) Hz
      """
  }
}

/// A check of a composition's demands on the hardware of a profile, rule by rule.
private struct HardwareCheck {
  /// A violation of a rule by an event, or by the whole composition.
  struct Violation {
    var rule: Rule
    var event: EventReference?
    var severity: Severity?
    var message: String
    var suggestion: String?
  }

  let composition: HapticComposition
  let profile: TransducerProfile
  let sampleRate: Double
  /// The duration of the composition's plan, in seconds.
  let durationSeconds: Double
  let hardwareLoad: HardwareLoad

  var violations: [Violation] {
    [
      sharpnessBandViolation, statedHertzViolation, excursionViolation, powerViolation,
      ceilingViolation,
      durationViolation,
    ].compactMap { $0 }
  }

  /// The violation for a pattern that is longer than the rendered part, or nil.
  private var durationViolation: Violation? {
    guard durationSeconds > HardwareLoad.maximumRenderedSeconds else { return nil }
    return Violation(
      rule: .uncheckedHardwareDuration,
      message: """
        the pattern lasts \(NumberFormatting.roundedText(durationSeconds, places: 1)) s; \
        excursion, \
        power, and level are checked in the first \(Int(HardwareLoad.maximumRenderedSeconds)) s
        """)
  }

  /// The violation for stated frequencies that the transducer does not reproduce, or nil.
  ///
  /// The composition states the frequencies in hertz.
  private var statedHertzViolation: Violation? {
    PatternRules.unreproducedFrequenciesText(of: composition, on: profile, rate: sampleRate).map {
      let firstLayer = composition.layers.firstIndex { $0.sharpnessScale != nil }
      let first = composition.referencedEvents.first {
        $0.reference.layerIndex == firstLayer && $0.event.kind.isHaptic
      }
      return Violation(rule: .frequencyOutsideBand, event: first?.reference, message: $0)
    }
  }

  /// The violation for a noticeable change of the frequencies of sharpness, or nil.
  ///
  /// The profile changes the frequencies to which sharpness is mapped.
  private var sharpnessBandViolation: Violation? {
    var sharpnessComposition = composition
    sharpnessComposition.layers.removeAll { $0.sharpnessScale != nil }
    let mappedProfile = profile.limitedToUsableBand(rate: sampleRate)
    guard let demandedHertz = profile.frequencyRange(of: sharpnessComposition),
      let playedHertz = mappedProfile.frequencyRange(of: sharpnessComposition),
      demandedHertz.isNoticeablyDifferent(from: playedHertz)
    else { return nil }
    let firstHapticEvent = self.composition.referencedEvents.first {
      $0.event.kind.isHaptic
        && self.composition.layers[$0.reference.layerIndex].sharpnessScale == nil
    }
    let publishedBandHertz = profile.hardware?.bandHertz
    let isInPublishedBand = publishedBandHertz.map {
      $0.lowerBound <= demandedHertz.lowerBound && demandedHertz.upperBound <= $0.upperBound
    }
    let message =
      if isInPublishedBand ?? true {
        """
        \(profile.name) plays \(mappedProfile.frequency.frequencyRange.rangeText) of \
        \(profile.frequency.frequencyRange.hertzText): \(demandedHertz.hertzText) is mapped to \
        \(playedHertz.hertzText)
        """
      } else {
        """
        \(demandedHertz.hertzText) is outside the band of \(profile.name), \
        \(publishedBandHertz?.hertzText ?? ""): mapped to \(playedHertz.hertzText)
        """
      }
    return Violation(
      rule: .frequencyOutsideBand, event: firstHapticEvent?.reference, message: message)
  }

  /// The violation for an excursion above the limit, or nil.
  private var excursionViolation: Violation? {
    guard let excursionProtection = hardwareLoad.excursionProtection,
      let (fraction, frame) = hardwareLoad.peakExcursion
    else { return nil }
    let excursionPercentText = NumberFormatting.roundedText(fraction * 100, places: 0)
    return Violation(
      rule: .excursionAboveLimit, event: lastEvent(before: frame),
      message: """
        the excursion of \(profile.name) would reach \(excursionPercentText) % of its limit at \
        \(secondsText(frame)) with the stated values, and more within their uncertainty; gain is \
        reduced by up to \(decibelsText(excursionProtection))
        """,
      suggestion: "reduce the intensity at this time")
  }

  /// The violation for a power above the thermal limit, or nil.
  ///
  /// The power may exceed the limit in one pass or when the pattern is looped.
  private var powerViolation: Violation? {
    if let powerProtection = hardwareLoad.powerProtection {
      return Violation(
        rule: .powerAboveLimit, event: lastEvent(before: powerProtection.frame),
        message: """
          \(profile.name) exceeds its thermal limit from \(secondsText(powerProtection.frame)); \
          gain is reduced by up to \(decibelsText(powerProtection))
          """,
        suggestion: "reduce the intensity or add pauses")
    }
    guard let thermalLimitSeconds = hardwareLoad.secondsToThermalLimit else { return nil }
    let timeText =
      thermalLimitSeconds < 120
      ? NumberFormatting.roundedText(thermalLimitSeconds, places: 0) + " s"
      : NumberFormatting.roundedText(thermalLimitSeconds / 60, places: 0) + " min"
    return Violation(
      rule: .powerAboveLimit, severity: .note,
      message: """
        in a loop, \(profile.name) reaches its thermal limit after \(timeText), and the gain is \
        reduced
        """)
  }

  /// The violation for a signal above the output ceiling, or nil.
  private var ceilingViolation: Violation? {
    guard let (frame, count) = hardwareLoad.outputLimiterReduction else { return nil }
    return Violation(
      rule: .driveAboveCeiling, event: lastEvent(before: frame),
      message: """
        the signal exceeds the output ceiling at \(secondsText(frame)); the limiter is active for \
        \(secondsText(count)) in total
        """)
  }

  /// Returns the last event that begins at or before a frame.
  private func lastEvent(before frame: Int64) -> EventReference? {
    let earlierEvents = composition.referencedEvents.filter {
      FrameConversion.frame(seconds: $0.event.time, rate: sampleRate) <= frame
    }
    return earlierEvents.max { ($0.event.time, $0.reference) < ($1.event.time, $1.reference) }?
      .reference
  }

  private func secondsText(_ frame: Int64) -> String {
    NumberFormatting.roundedText(Double(frame) / sampleRate, places: 2) + " s"
  }

  private func decibelsText(_ protection: HardwareLoad.ProtectionEvent) -> String {
    NumberFormatting.roundedText(protection.gainReductionDecibels, places: 1) + " dB"
  }
}

extension TransducerProfile {
  /// Returns the frequency range of the haptic events of a composition.
  ///
  /// The range includes the effect of the layers' sharpness controls. It is nil without haptic
  /// events.
  ///
  /// Layers that state hertz count with these frequencies.
  public func frequencyRange(of composition: HapticComposition) -> ClosedRange<Double>? {
    sharpnessFrequencyRange(of: composition).union(composition.statedHertzRange)
  }

  /// Returns the frequency range that the transducer plays for a composition's haptic events.
  ///
  /// The range is nil without haptic events.
  ///
  /// - Parameters:
  ///   - composition: The composition.
  ///   - rate: The sample rate, in hertz.
  public func playedFrequencyRange(
    of composition: HapticComposition, rate: Double
  ) -> ClosedRange<Double>? {
    let statedHertz = composition.statedHertzRange?.clamped(to: reproducibleHertz(rate: rate))
    return limitedToUsableBand(rate: rate).sharpnessFrequencyRange(of: composition).union(
      statedHertz)
  }

  /// Returns the frequency range of the haptic events with frequencies from sharpness.
  private func sharpnessFrequencyRange(of composition: HapticComposition) -> ClosedRange<Double>? {
    var minimumHertz = Double.infinity
    var maximumHertz = 0.0
    // After this number of segments, only the values at onsets count. No pattern from a person or a
    // tool has as many.
    var segmentBudget = 4_000_000
    for layer in composition.layers where layer.sharpnessScale == nil {
      let sharpnessControl = ControlTimeline(of: .hapticSharpnessControl, in: layer.pattern)
      for event in layer.pattern.events {
        guard event.kind.isHaptic, let duration = event.secondsUntilRelease else { continue }
        let frequencyMapping = frequencyAndLevel(of: event.kind).frequency
        let endTime = event.time + max(0, duration)
        let sharpnessOffsets = sharpnessControl.valueRange(
          in: event.time...max(event.time, endTime), budget: &segmentBudget)
        for offset in [sharpnessOffsets.lowerBound, sharpnessOffsets.upperBound] {
          let sharpness = Double(event.value(of: .hapticSharpness)) + offset
          let hertz = frequencyMapping.hertz(atSharpness: min(max(sharpness, 0), 1))
          minimumHertz = min(minimumHertz, hertz)
          maximumHertz = max(maximumHertz, hertz)
        }
      }
    }
    return minimumHertz <= maximumHertz ? minimumHertz...maximumHertz : nil
  }
}

extension HapticComposition {
  /// The events of all layers with their references.
  var referencedEvents: [(reference: EventReference, event: HapticEvent)] {
    layers.enumerated().flatMap { layer, content in
      content.pattern.events.enumerated().map { index, event in
        (EventReference(layerIndex: layer, eventIndex: index), event)
      }
    }
  }
}

extension FrequencyMapping {
  /// The range of the frequencies for sharpness from 0 to 1.
  fileprivate var frequencyRange: ClosedRange<Double> { lowHertz...max(lowHertz, highHertz) }
}

extension ClosedRange<Double>? {
  /// Returns the smallest range that contains both ranges. A nil range is empty.
  fileprivate func union(_ other: ClosedRange<Double>?) -> ClosedRange<Double>? {
    guard let ownRange = self, let other else { return self ?? other }
    return min(ownRange.lowerBound, other.lowerBound)...max(ownRange.upperBound, other.upperBound)
  }
}

extension ClosedRange<Double> {
  /// The range as text, such as `20–80`, or `175` for a single frequency.
  ///
  /// Numbers have at most one decimal place.
  fileprivate var rangeText: String {
    let lowerText = NumberFormatting.roundedText(lowerBound, places: 1)
    let upperText = NumberFormatting.roundedText(upperBound, places: 1)
    return lowerBound == upperBound ? lowerText : "\(lowerText)–\(upperText)"
  }

  /// The range as text with its unit, such as `20–80 Hz`.
  fileprivate var hertzText: String { rangeText + " Hz" }

  /// Returns whether a bound differs noticeably from that of another range.
  ///
  /// The difference is at least the just noticeable difference of frequency.
  fileprivate func isNoticeablyDifferent(from other: ClosedRange<Double>) -> Bool {
    [(lowerBound, other.lowerBound), (upperBound, other.upperBound)].contains { before, after in
      100 * abs(after / before - 1) >= JustNoticeableDifference.frequencyPercent
    }
  }
}

extension Rule {
  static let frequencyOutsideBand = note(
    "transducer-band", "transducer",
    """
    Frequencies should be within the band of the profile's hardware. Other frequencies are mapped \
    into it.
    """
  )
  static let excursionAboveLimit = warning(
    "transducer-excursion", "transducer",
    """
    A pattern should not exceed the excursion limit of the profile's hardware. Above the limit, \
    the gain is reduced.
    """
  )
  static let powerAboveLimit = warning(
    "transducer-power", "transducer",
    """
    A pattern should not exceed the thermal limit of the profile's hardware. Above the limit, the \
    gain is reduced.
    """
  )
  static let driveAboveCeiling = note(
    "transducer-ceiling", "transducer",
    """
    The drive signal should stay below the output ceiling. Above the ceiling, the limiter is active.
    """)
  static let uncheckedHardwareDuration = note(
    "transducer-duration", "transducer",
    "The hardware is checked only in the first 10 minutes of a pattern.")
}
