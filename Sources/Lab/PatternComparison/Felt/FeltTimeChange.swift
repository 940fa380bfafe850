import SignalAnalysis

/// A delay or tempo change of the whole candidate with which the times of all paired events agree.
struct FeltTimeChange {
  /// The duration in the candidate of one second of the reference, in seconds.
  private let durationRatio: Double
  /// The candidate's time for time 0 of the reference, in seconds.
  private let delaySeconds: Double
  /// The difference between the patterns that is reported for the delay or the tempo.
  private(set) var difference: FeltDifference

  /// The minimum fraction of anchors and transients that must be paired.
  private static let minimumPairedFraction = 0.9
  /// The minimum fraction of anchors that must be paired to accept another tempo. Two pairs are
  /// consistent with any tempo.
  private static let minimumTempoAnchorFraction = 0.8
  /// The maximum deviation of a pair's shift from the common delay, in seconds.
  private static let maximumShiftResidualSeconds = 0.0015

  /// Finds a common delay or tempo change. Returns nil if the times do not agree with one or do not
  /// differ.
  ///
  /// Times are paired as they are. If they do not agree, they are paired with the first sounds
  /// aligned, and then with the first and the last sounds aligned.
  init?(_ side: SampledFeltPattern, _ candidate: SampledFeltPattern, context: FeltComparisonContext)
  {
    let anchors = FeltAnchors(side, context: context)
    let candidateAnchors = FeltAnchors(candidate, context: context)
    var warps = [TimeWarp(sources: [], targets: [])]
    if let times = Self.extremeTimes(side, anchors),
      let candidateTimes = Self.extremeTimes(candidate, candidateAnchors)
    {
      warps.append(TimeWarp(sources: [times[0]], targets: [candidateTimes[0]]))
      if times[1] > times[0], candidateTimes[1] > candidateTimes[0] {
        warps.append(TimeWarp(sources: times, targets: candidateTimes, extrapolating: true))
      }
    }
    for warp in warps {
      let times = PairedTimes(
        side, candidate, candidateAnchors: candidateAnchors, warp: warp, context: context)
      if let clock = FeltTimeChange(times, context: context) {
        self = clock
        return
      }
    }
    return nil
  }

  /// Returns the onsets of the first and of the last sound, or nil for silence.
  private static func extremeTimes(_ side: SampledFeltPattern, _ anchors: FeltAnchors) -> [Double]?
  {
    let times = side.transients.map(\.time) + anchors.onsets.map(\.medianCrossingTime)
    guard let first = times.min(), let last = times.max() else { return nil }
    return [first, last]
  }

  private init?(_ paired: PairedTimes, context: FeltComparisonContext) {
    let times = paired.timePairs
    guard times.count >= 2,
      Double(2 * times.count) >= Self.minimumPairedFraction * Double(paired.elementCount)
    else { return nil }
    let slack = context.resolution.maximumTimeErrorSeconds
    let shifts = times.map(\.shift)
    let largest = shifts.max { abs($0) < abs($1) } ?? 0
    guard abs(largest) > context.minimumShiftSeconds else { return nil }
    let range = times[0].referenceTime...times[times.count - 1].referenceTime
    let median = Statistics.median(of: shifts)
    if shifts.allSatisfy({ abs($0 - median) <= Self.maximumShiftResidualSeconds + slack }) {
      delaySeconds = paired.medianTransientShift ?? median
      durationRatio = 1
      difference = FeltDifference(
        kind: .time, subject: .whole, range: range, amount: delaySeconds,
        maximumRoundingError: slack)
      return
    }
    guard times.count >= 3, range.upperBound > range.lowerBound,
      Double(2 * paired.pairedAnchorCount)
        >= Self.minimumTempoAnchorFraction * Double(paired.anchorCount)
    else { return nil }
    let line = paired.regressionLine
    let margin = min(Self.maximumShiftResidualSeconds + slack, 0.2 * abs(largest))
    // Another tempo moves most times; one event that is longer moves one.
    let movedCount = shifts.count { abs($0) > FeltDifference.Minimum.seconds }
    guard abs(line.scale - 1) >= 0.002, movedCount * 2 > times.count,
      times.allSatisfy({
        abs($0.candidateTime - line.scale * $0.referenceTime - line.delay) <= margin
      })
    else { return nil }
    durationRatio = line.scale
    delaySeconds = line.delay
    difference = FeltDifference(
      kind: .tempo, subject: .whole, range: range, amount: largest, maximumRoundingError: slack)
    difference.tempoPercent = 100 * (durationRatio - 1)
  }

  /// The mapping of the reference's times to the candidate's.
  var timeWarp: TimeWarp {
    TimeWarp(
      sources: [0, 1], targets: [delaySeconds, durationRatio + delaySeconds], extrapolating: true)
  }
}

/// The times of the reference's transients and anchors, with their counterparts in the candidate.
private struct PairedTimes {
  struct Pair {
    var referenceTime: Double
    var candidateTime: Double

    var shift: Double { candidateTime - referenceTime }
  }

  /// The pairs, sorted by the time in the reference.
  private(set) var timePairs: [Pair]
  /// The number of transients and anchors that should be paired.
  private(set) var elementCount: Int
  /// The total number of anchors in both patterns.
  private(set) var anchorCount: Int
  /// The number of anchors of the reference that have a counterpart.
  private(set) var pairedAnchorCount: Int
  /// The median shift of the transients, which have exact times, or nil.
  private(set) var medianTransientShift: Double?

  /// The maximum spread of the shifts of an anchor's level crossings, in seconds. Other anchors are
  /// ignored.
  private static let maximumShiftSpread = 0.004

  /// Pairs transients and anchors after mapping the times of the reference.
  init(
    _ side: SampledFeltPattern, _ candidate: SampledFeltPattern, candidateAnchors: FeltAnchors,
    warp: TimeWarp,
    context: FeltComparisonContext
  ) {
    let moved = side.warped(by: warp, grid: context.grid)
    let pairs = FeltPairing.transientPairs(moved.transients, candidate.transients)
    timePairs = pairs.map {
      Pair(
        referenceTime: side.transients[$0.0].time, candidateTime: candidate.transients[$0.1].time)
    }
    if !timePairs.isEmpty {
      medianTransientShift = Statistics.median(of: timePairs.map(\.shift))
    }
    let anchors = FeltAnchors(moved, context: context)
    let anchorPairs = FeltPairing.anchorPairs(anchors, candidateAnchors)
    anchorCount =
      anchors.onsets.count + anchors.ends.count + candidateAnchors.onsets.count
      + candidateAnchors.ends.count
    pairedAnchorCount = anchorPairs.count
    elementCount =
      side.transients.count + candidate.transients.count + 2 * anchorPairs.count
    timePairs += anchorPairs.filter { $0.shiftSpread <= Self.maximumShiftSpread }.map {
      Pair(
        referenceTime: warp.source(of: $0.anchor.medianCrossingTime),
        candidateTime: $0.counterpart.medianCrossingTime)
    }
    timePairs.sort { $0.referenceTime < $1.referenceTime }
  }

  /// The least-squares line that maps the reference's times to the candidate's.
  var regressionLine: (scale: Double, delay: Double) {
    let count = Double(timePairs.count)
    let meanBefore = timePairs.reduce(0) { $0 + $1.referenceTime } / count
    let meanAfter = timePairs.reduce(0) { $0 + $1.candidateTime } / count
    var covariance = 0.0
    var variance = 0.0
    for pair in timePairs {
      covariance += (pair.referenceTime - meanBefore) * (pair.candidateTime - meanAfter)
      variance += (pair.referenceTime - meanBefore) * (pair.referenceTime - meanBefore)
    }
    let scale = variance > 0 ? covariance / variance : 1
    return (scale, meanAfter - scale * meanBefore)
  }
}
