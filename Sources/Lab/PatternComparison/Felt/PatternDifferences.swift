internal import CMath
import HapticFormats
import HapticModel
import HapticRender
import RecordingAnalysis
import SignalAnalysis

/// The differences between two patterns.
///
/// 1. `FeltComparison` finds the differences between how the patterns feel at each body location,
///    regardless of the events that cause them.
/// 2. `EventDifferences` and `ControlDifferences` find the differences of the values in the files.
/// 3. If the values explain what is felt, and nothing else, they are reported, because they have
///    exact amounts and the names of parameters. Otherwise, the differences of what is felt are
///    reported, and the values are a matter of notation.
///
/// Audio events and body locations are always compared by the values in the files.
struct PatternDifferences {
  /// The differences between the patterns.
  private(set) var differences: [Difference] = []
  /// Sentences about differences in the notation of the patterns.
  private(set) var notationDifferences: [String] = []

  /// Compares two patterns, or returns nil if their sounds must be compared instead.
  ///
  /// The result is nil if a take is a recording, or if the profiles or sampled signals differ.
  ///
  /// - Parameters:
  ///   - reference: The reference.
  ///   - candidate: The take to compare with the reference.
  ///   - options: The options of the comparison.
  ///   - isIdentical: Pass true if both takes have the same samples.
  init?(_ reference: Take, _ candidate: Take, options: ComparisonOptions, isIdentical: Bool) {
    guard let composition = reference.composition,
      let candidateComposition = candidate.composition,
      reference.profile == candidate.profile,
      isIdentical || composition.signals == candidateComposition.signals
    else { return nil }
    let feltMapping = FeltMapping(reference.profile, rate: reference.signal.rate)
    let formatsDiffer = reference.format != candidate.format
    let formatResolutions =
      formatsDiffer ? [reference, candidate].compactMap { $0.format?.resolution } : []
    let writtenDifferences = WrittenDifferences(
      composition, candidateComposition, profile: feltMapping.profile, options: options)
    let feltComparison = LocatedComparison(
      composition, candidateComposition, mapping: feltMapping, formats: formatResolutions,
      separatesLocations: !writtenDifferences.alwaysReportedDifferences.contains {
        $0.kind == .channels
      })
    let hasEqualHaptics = isIdentical || feltComparison.isExactlyEqual
    let feltDifferences = hasEqualHaptics ? [] : feltComparison.differences
    let explanation = WrittenExplanation(
      writtenDifferences, of: feltDifferences, areEqual: hasEqualHaptics,
      mayNameControls: !formatsDiffer && (reference.format?.resolution ?? .exact) == .exact,
      context: feltComparison.strongestLocationContext)
    differences = writtenDifferences.alwaysReportedDifferences
    if let explainedDifferences = explanation.differences {
      differences += explainedDifferences
    } else {
      let builder = FeltSentences(
        composition, candidateComposition, options: options,
        range: writtenDifferences.differenceList.overallRange)
      differences += builder.differences(
        for: feltDifferences, clock: feltComparison.overallTimeWarp(of:))
      differences += writtenDifferences.hapticDifferences.filter {
        writtenDifferences.alsoConcernsAudio($0)
      }
    }
    let notationBuilder = NotationDifferences(
      reference, candidate, composition, candidateComposition, options: options)
    if explanation.differences == nil || differences.isEmpty {
      notationDifferences = notationBuilder.sentences(
        pulses: hasEqualHaptics ? [] : feltComparison.pulses,
        written: explanation.unexplainedDifferences,
        list: writtenDifferences.differenceList)
    }
  }
}

extension HapticComposition {
  /// The sampled signals of all layers.
  fileprivate var signals: [SampledSignal] { layers.flatMap(\.signals) }
}

/// The differences between the values in two pattern files.
struct WrittenDifferences {
  /// The differences of haptic events and their controls.
  private(set) var hapticDifferences: [Difference] = []
  /// The differences of audio events, their controls, and body locations.
  ///
  /// These differences are always reported, because no tracks are available for a comparison.
  private(set) var alwaysReportedDifferences: [Difference] = []
  /// A Boolean value that indicates whether enough events of both patterns match.
  let hasEnoughCommonEvents: Bool
  /// A Boolean value that indicates whether a pattern states frequencies in hertz.
  ///
  /// Other patterns have sharpness values, which the profile maps to frequencies.
  let statesFrequenciesInHertz: Bool
  /// The list of event differences, with the names of events and the overall time range.
  let differenceList: DifferenceList
  private let events: [IndexedEvent]
  private let candidateEvents: [IndexedEvent]

  init(
    _ composition: HapticComposition, _ candidate: HapticComposition, profile: TransducerProfile,
    options: ComparisonOptions
  ) {
    let eventMatch = EventMatch(composition, candidate)
    statesFrequenciesInHertz = composition.hasStatedHertz || candidate.hasStatedHertz
    events = eventMatch.referenceEvents
    candidateEvents = eventMatch.candidateEvents
    hasEnoughCommonEvents =
      eventMatch.pairedEventIndices.count * 2 >= min(events.count, candidateEvents.count)
    let eventDifferences = EventDifferences(
      eventMatch, of: composition, profile: profile, options: options)
    differenceList = eventDifferences.differenceList
    for difference in eventDifferences.differenceList.differences {
      if difference.kind == .channels || !concernsHaptics(difference) {
        alwaysReportedDifferences.append(difference)
      } else {
        hapticDifferences.append(difference)
      }
    }
    for areHaptic in [true, false] {
      let controls = ControlDifferences(
        composition, candidate, areHaptic: areHaptic, match: eventMatch, profile: profile,
        options: options)
      if areHaptic {
        hapticDifferences += controls.differences
      } else {
        alwaysReportedDifferences += controls.differences
      }
    }
  }

  private func concernsHaptics(_ difference: Difference) -> Bool {
    !hapticEvents(of: difference).isEmpty
  }

  /// Returns whether a difference of haptic events also affects audio events, which are not felt.
  func alsoConcernsAudio(_ difference: Difference) -> Bool {
    let referenceIndices = Set(difference.referenceEventIndices)
    let candidateIndices = Set(difference.candidateEventIndices)
    return !difference.isOverall
      && (events.contains { !$0.isHaptic && referenceIndices.contains($0.compositionIndex) }
        || candidateEvents.contains {
          !$0.isHaptic && candidateIndices.contains($0.compositionIndex)
        })
  }

  /// Returns the haptic events of both patterns that a difference concerns.
  func hapticEvents(of difference: Difference) -> [IndexedEvent] {
    let referenceIndices = Set(difference.referenceEventIndices)
    let candidateIndices = Set(difference.candidateEventIndices)
    return events.filter { $0.isHaptic && referenceIndices.contains($0.compositionIndex) }
      + candidateEvents.filter { $0.isHaptic && candidateIndices.contains($0.compositionIndex) }
  }
}

/// The differences in values that explain the differences in feeling.
struct WrittenExplanation {
  /// The values that explain all differences in feeling, or nil without such an explanation.
  private(set) var differences: [Difference]?
  /// The differences in values that do not explain the perceived differences.
  private(set) var unexplainedDifferences: [Difference] = []

  private let writtenDifferences: WrittenDifferences
  private let mayNameControls: Bool
  private let comparisonContext: FeltComparisonContext

  /// The maximum gap between the times of a difference in values and its effect, in seconds.
  private static let maximumTimeRangeGapSeconds = 0.07
  /// The minimum number of differences in feeling for each difference in values.
  ///
  /// At this ratio, the differences in values are the better explanation.
  private static let minimumFeltToWrittenCountRatio = 4

  /// Finds the differences in values that explain the differences in feeling.
  ///
  /// - Parameters:
  ///   - written: The differences in values.
  ///   - felt: The differences of what is felt.
  ///   - areEqual: Pass true if both patterns feel exactly equal.
  ///   - mayNameControls: Pass true if the author wrote the curves and parameters. In other
  ///     formats, they are part of the events.
  ///   - context: The context of the comparison.
  init(
    _ written: WrittenDifferences, of felt: [FeltDifference], areEqual: Bool,
    mayNameControls: Bool, context: FeltComparisonContext
  ) {
    self.writtenDifferences = written
    self.mayNameControls = mayNameControls
    self.comparisonContext = context
    if areEqual {
      differences = []
      unexplainedDifferences = written.hapticDifferences
      return
    }
    var explainedDifferences: [Difference] = []
    for difference in written.hapticDifferences {
      let causes = felt.filter { agrees(difference, with: $0) }
      if causes.isEmpty, !isBelowDetection(difference) {
        unexplainedDifferences.append(difference)
        continue
      }
      var difference = difference
      difference.maximumRoundingError =
        causes.map { maximumRoundingError($0, unit: difference.unit) }.max() ?? 0
      if causes.count == 1 {
        difference.limitSignificance(to: causes[0])
      }
      explainedDifferences.append(difference)
    }
    let isExplanationComplete = felt.allSatisfy { cause in
      explainedDifferences.contains { agrees($0, with: cause) }
    }
    // The values of one format are a complete explanation, although pairs of events may differ.
    let isWrittenMuchShorter =
      context.resolution.isExact && !written.hapticDifferences.isEmpty
      && written.hapticDifferences.count * Self.minimumFeltToWrittenCountRatio <= felt.count
    if written.hasEnoughCommonEvents,
      unexplainedDifferences.isEmpty && isExplanationComplete || isWrittenMuchShorter
    {
      differences = isWrittenMuchShorter ? written.hapticDifferences : explainedDifferences
      unexplainedDifferences = []
    } else {
      unexplainedDifferences = written.hapticDifferences
    }
  }

  private func maximumRoundingError(_ difference: FeltDifference, unit: Difference.Unit) -> Double {
    switch (difference.kind, unit) {
    case (.level, .decibels): difference.maximumRoundingError
    case (.frequency, .percent): FeltDifference.percent(ofOctaves: difference.maximumRoundingError)
    case (.time, .seconds), (.duration, .seconds), (.tempo, .percent):
      difference.maximumRoundingError
    default: 0
    }
  }

  // MARK: - Agreement

  /// Returns whether a difference in values explains a difference in feeling.
  private func agrees(_ difference: Difference, with felt: FeltDifference) -> Bool {
    let concernsWhole = difference.isOverall || felt.subject == .whole
    let marginSeconds =
      Self.maximumTimeRangeGapSeconds + (difference.unit == .seconds ? abs(difference.amount) : 0)
    guard
      concernsWhole
        || felt.timeRange.lowerBound <= difference.timeRange.upperBound + marginSeconds
          && felt.timeRange.upperBound >= difference.timeRange.lowerBound - marginSeconds
    else { return false }
    switch difference.kind {
    case .level:
      return agreesInLevel(difference, with: felt)
    case .frequency:
      return felt.kind == .frequency && !writtenDifferences.statesFrequenciesInHertz
        && matchesAmount(felt.frequencyChangePercent, of: difference, minimum: 3)
    case .time:
      return agreesInTime(difference, with: felt)
    case .duration:
      return agreesInDuration(difference, with: felt)
    case .tempo:
      let maximumShiftSeconds = abs(difference.maximumShiftSeconds ?? 0)
      return felt.kind == .tempo
        || [.time, .duration].contains(felt.kind)
          && abs(felt.amount) <= 1.2 * maximumShiftSeconds + 0.001
    case .missing:
      return felt.kind == .missing || felt.kind == .level && felt.amount < 0
    case .added:
      return felt.kind == .added || felt.kind == .level && felt.amount > 0
    case .order:
      return true
    case .curve, .parameter:
      return agreesInControl(difference, with: felt)
    default:
      // An envelope changes levels, and the times at which they are reached.
      return felt.kind != .frequency && felt.kind != .tempo
    }
  }

  private func agreesInLevel(_ difference: Difference, with felt: FeltDifference) -> Bool {
    let minimumAmount = difference.amountRange?.lowerBound ?? difference.amount
    let maximumAmount = difference.amountRange?.upperBound ?? difference.amount
    return switch felt.kind {
    case .missing: minimumAmount <= -comparisonContext.minimumPresenceDecibels
    case .added: maximumAmount >= comparisonContext.minimumPresenceDecibels
    case .level: matchesAmount(felt.amount, of: difference, minimum: 0.6)
    default: false
    }
  }

  private func agreesInDuration(_ difference: Difference, with felt: FeltDifference) -> Bool {
    let toleranceSeconds = max(0.005, 0.15 * abs(difference.amount))
    switch felt.kind {
    case .duration, .time:
      return abs(abs(felt.amount) - abs(difference.amount)) <= toleranceSeconds
    case .level:
      // The tail of a release hides the new end.
      let shortenedEndTime = difference.timeRange.upperBound + min(0, difference.amount)
      return felt.amount * difference.amount > 0
        && abs(felt.timeRange.lowerBound - shortenedEndTime) <= Self.maximumTimeRangeGapSeconds
    default:
      return false
    }
  }

  private func agreesInTime(_ difference: Difference, with felt: FeltDifference) -> Bool {
    switch felt.kind {
    case .time, .duration: matchesAmount(felt.amount, of: difference, minimum: 0.004)
    case .tempo: difference.isOverall
    // A sound that moved far is missing at one time and added at another.
    case .missing, .added: abs(difference.amount) > 0.2
    default: false
    }
  }

  private func agreesInControl(_ difference: Difference, with felt: FeltDifference) -> Bool {
    guard mayNameControls else { return false }
    return switch difference.unit {
    case .percent: felt.kind == .frequency && felt.amount * difference.amount > 0
    case .decibels where felt.kind == .level: felt.amount * difference.amount > 0
    case .decibels: felt.kind != .frequency && felt.kind != .tempo
    default: felt.kind != .tempo
    }
  }

  /// Returns whether an amount is within the tolerance of a difference's amount or range.
  private func matchesAmount(_ amount: Double, of difference: Difference, minimum: Double) -> Bool {
    let amountSpread = difference.amountRange ?? difference.amount...difference.amount
    let amountTolerance = max(minimum, 0.15 * abs(difference.amount))
    guard amount >= amountSpread.lowerBound - amountTolerance,
      amount <= amountSpread.upperBound + amountTolerance
    else {
      return false
    }
    return amountSpread.lowerBound * amountSpread.upperBound <= 0 || amount * difference.amount > 0
  }

  // MARK: - Small differences

  /// Returns whether `FeltComparison` cannot detect a difference between unrounded values.
  ///
  /// Such a difference is too small, too weak, or too short.
  private func isBelowDetection(_ difference: Difference) -> Bool {
    guard comparisonContext.resolution.isExact, writtenDifferences.hasEnoughCommonEvents else {
      return false
    }
    let hapticEvents = writtenDifferences.hapticEvents(of: difference)
    let feltMapping = comparisonContext.resolution.mapping
    if !hapticEvents.isEmpty,
      hapticEvents.allSatisfy({
        feltMapping.amplitude(atIntensity: $0.intensityOrVolume) < 1.2
          * comparisonContext.amplitudeFloor
      })
    {
      return true
    }
    switch difference.unit {
    case .decibels:
      return abs(difference.amount) < FeltDifference.ReportingMinimum.decibels + 0.1
    case .percent:
      let isShort =
        !hapticEvents.isEmpty
        && hapticEvents.allSatisfy { !$0.kind.isTransient && $0.isTooShortForFrequency }
      return isShort || abs(difference.amount) < 3
    case .seconds:
      return abs(difference.amount) < 0.005
    default:
      return false
    }
  }
}

extension IndexedEvent {
  /// A Boolean value that indicates whether the event is too short for a frequency comparison.
  fileprivate var isTooShortForFrequency: Bool { (durationSeconds ?? 0) + tailSeconds < 0.015 }
}

extension FeltDifference {
  /// The change of frequency, in percent.
  var frequencyChangePercent: Double { Self.percent(ofOctaves: amount) }
}

extension Difference {
  /// Limits the significance to that of the transient and its surrounding vibration.
  mutating func limitSignificance(to felt: FeltDifference) {
    guard let amountWithVibration = felt.amountWithVibration, felt.kind == kind else { return }
    let isFrequency = felt.kind == .frequency
    let noticeableStepCount = JustNoticeableDifference.count(
      in: isFrequency
        ? FeltDifference.percent(ofOctaves: amountWithVibration) : amountWithVibration,
      unit: isFrequency ? .percent : .decibels)
    significance = min(significance, noticeableStepCount)
  }
}

extension FeltComparisonContext {
  /// The minimum level change of a missing or added event, in decibels.
  fileprivate var minimumPresenceDecibels: Double { 15 }
}
