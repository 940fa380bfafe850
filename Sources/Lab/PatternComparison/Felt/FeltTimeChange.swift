import SignalAnalysis

/// A delay or tempo change of the whole candidate relative to the reference.
struct FeltTimeChange {
  /// The tempo factor: the duration in the candidate of one second of the reference.
  private let candidateToReferenceDurationRatio: Double
  /// The delay: the candidate's time for time 0 of the reference, in seconds.
  private let delaySeconds: Double
  /// The difference to report for the delay or the tempo.
  private(set) var difference: FeltDifference

  /// The minimum fraction of anchors and transients with a counterpart.
  private static let minimumPairedFraction = 0.9
  /// The minimum fraction of anchors with a counterpart for a tempo change.
  ///
  /// Fewer pairs are no evidence, because two pairs are consistent with any tempo.
  private static let minimumTempoAnchorFraction = 0.8
  /// The maximum deviation of a pair's shift from the common delay, in seconds.
  private static let maximumShiftResidualSeconds = 0.0015

  /// Finds a delay or tempo change of the whole candidate.
  ///
  /// Returns nil if the times do not agree with any such change, or if they do not differ.
  ///
  /// Times are paired as they are. If they do not agree, they are paired with the first sounds
  /// aligned, and then with the first and the last sounds aligned.
  init?(_ side: SampledFeltPattern, _ candidate: SampledFeltPattern, context: FeltComparisonContext)
  {
    let referenceAnchors = FeltAnchors(side, context: context)
    let candidateAnchors = FeltAnchors(candidate, context: context)
    var trialWarps = [TimeWarp(sources: [], targets: [])]
    if let referenceTimes = Self.extremeTimes(side, referenceAnchors),
      let candidateTimes = Self.extremeTimes(candidate, candidateAnchors)
    {
      trialWarps.append(TimeWarp(sources: [referenceTimes[0]], targets: [candidateTimes[0]]))
      if referenceTimes[1] > referenceTimes[0], candidateTimes[1] > candidateTimes[0] {
        trialWarps.append(
          TimeWarp(sources: referenceTimes, targets: candidateTimes, extrapolating: true))
      }
    }
    for warp in trialWarps {
      let pairedTimes = PairedTimes(
        side, candidate, candidateAnchors: candidateAnchors, warp: warp, context: context)
      if let timeChange = FeltTimeChange(pairedTimes, context: context) {
        self = timeChange
        return
      }
    }
    return nil
  }

  /// Returns the onsets of the first and of the last sound, or nil for silence.
  private static func extremeTimes(_ side: SampledFeltPattern, _ anchors: FeltAnchors) -> [Double]?
  {
    let elementTimes = side.transients.map(\.time) + anchors.onsets.map(\.medianCrossingTime)
    guard let firstTime = elementTimes.min(), let lastTime = elementTimes.max() else { return nil }
    return [firstTime, lastTime]
  }

  private init?(_ paired: PairedTimes, context: FeltComparisonContext) {
    let timePairs = paired.timePairs
    guard timePairs.count >= 2,
      Double(2 * timePairs.count) >= Self.minimumPairedFraction
        * Double(paired.pairableElementCount)
    else { return nil }
    let timeErrorSeconds = context.resolution.maximumTimeErrorSeconds
    let pairShifts = timePairs.map(\.shift)
    let largestShift = pairShifts.max { abs($0) < abs($1) } ?? 0
    guard abs(largestShift) > context.minimumShiftSeconds else { return nil }
    let timeRange = timePairs[0].referenceTime...timePairs[timePairs.count - 1].referenceTime
    let medianShift = Statistics.median(of: pairShifts)
    if pairShifts.allSatisfy({
      abs($0 - medianShift) <= Self.maximumShiftResidualSeconds + timeErrorSeconds
    }) {
      delaySeconds = paired.medianTransientShift ?? medianShift
      candidateToReferenceDurationRatio = 1
      difference = FeltDifference(
        kind: .time, subject: .whole, timeRange: timeRange, amount: delaySeconds,
        maximumRoundingError: timeErrorSeconds)
      return
    }
    guard timePairs.count >= 3, timeRange.upperBound > timeRange.lowerBound,
      Double(2 * paired.pairedAnchorCount)
        >= Self.minimumTempoAnchorFraction * Double(paired.anchorCount)
    else { return nil }
    let regressionLine = paired.regressionLine
    let maximumResidualSeconds = min(
      Self.maximumShiftResidualSeconds + timeErrorSeconds, 0.2 * abs(largestShift))
    // Another tempo moves most times; one event that is longer moves one.
    let movedPairCount = pairShifts.count { abs($0) > FeltDifference.ReportingMinimum.seconds }
    guard abs(regressionLine.scale - 1) >= 0.002, movedPairCount * 2 > timePairs.count,
      timePairs.allSatisfy({
        abs($0.candidateTime - regressionLine.scale * $0.referenceTime - regressionLine.delay)
          <= maximumResidualSeconds
      })
    else { return nil }
    candidateToReferenceDurationRatio = regressionLine.scale
    delaySeconds = regressionLine.delay
    difference = FeltDifference(
      kind: .tempo, subject: .whole, timeRange: timeRange, amount: largestShift,
      maximumRoundingError: timeErrorSeconds)
    difference.tempoPercent = 100 * (candidateToReferenceDurationRatio - 1)
  }

  /// The mapping of the reference's times to the candidate's times.
  var timeWarp: TimeWarp {
    TimeWarp(
      sources: [0, 1], targets: [delaySeconds, candidateToReferenceDurationRatio + delaySeconds],
      extrapolating: true)
  }
}

/// The times of the reference's transients and anchors with their candidate counterparts.
private struct PairedTimes {
  struct Pair {
    var referenceTime: Double
    var candidateTime: Double

    var shift: Double { candidateTime - referenceTime }
  }

  /// The paired times, sorted by the time in the reference.
  private(set) var timePairs: [Pair]
  /// The number of transients and anchors that should have a counterpart.
  private(set) var pairableElementCount: Int
  /// The total number of anchors in the reference and the candidate.
  private(set) var anchorCount: Int
  /// The number of the reference's anchors with a counterpart in the candidate.
  private(set) var pairedAnchorCount: Int
  /// The median time shift of the transients, in seconds; nil without paired transients.
  ///
  /// Transients have exact times.
  private(set) var medianTransientShift: Double?

  /// The maximum spread of an anchor's level-crossing shifts, in seconds.
  ///
  /// Anchors with a larger spread are ignored.
  private static let maximumShiftSpreadSeconds = 0.004

  /// Pairs transients and anchors after mapping the times of the reference.
  init(
    _ side: SampledFeltPattern, _ candidate: SampledFeltPattern, candidateAnchors: FeltAnchors,
    warp: TimeWarp,
    context: FeltComparisonContext
  ) {
    let movedReference = side.warped(by: warp, grid: context.grid)
    let transientPairs = FeltPairing.transientPairs(movedReference.transients, candidate.transients)
    timePairs = transientPairs.map {
      Pair(
        referenceTime: side.transients[$0.0].time, candidateTime: candidate.transients[$0.1].time)
    }
    if !timePairs.isEmpty {
      medianTransientShift = Statistics.median(of: timePairs.map(\.shift))
    }
    let movedAnchors = FeltAnchors(movedReference, context: context)
    let anchorPairs = FeltPairing.anchorPairs(movedAnchors, candidateAnchors)
    anchorCount =
      movedAnchors.onsets.count + movedAnchors.ends.count + candidateAnchors.onsets.count
      + candidateAnchors.ends.count
    pairedAnchorCount = anchorPairs.count
    pairableElementCount =
      side.transients.count + candidate.transients.count + 2 * anchorPairs.count
    timePairs += anchorPairs.filter { $0.shiftSpread <= Self.maximumShiftSpreadSeconds }.map {
      Pair(
        referenceTime: warp.source(of: $0.anchor.medianCrossingTime),
        candidateTime: $0.counterpart.medianCrossingTime)
    }
    timePairs.sort { $0.referenceTime < $1.referenceTime }
  }

  /// The least-squares line from the reference's times to the candidate's times.
  var regressionLine: (scale: Double, delay: Double) {
    let pairCount = Double(timePairs.count)
    let meanReferenceTime = timePairs.reduce(0) { $0 + $1.referenceTime } / pairCount
    let meanCandidateTime = timePairs.reduce(0) { $0 + $1.candidateTime } / pairCount
    var covariance = 0.0
    var referenceVariance = 0.0
    for pair in timePairs {
      covariance +=
        (pair.referenceTime - meanReferenceTime) * (pair.candidateTime - meanCandidateTime)
      referenceVariance +=
        (pair.referenceTime - meanReferenceTime) * (pair.referenceTime - meanReferenceTime)
    }
    let timeScale = referenceVariance > 0 ? covariance / referenceVariance : 1
    return (timeScale, meanCandidateTime - timeScale * meanReferenceTime)
  }
}
