/// An onset or an end within one vibration.
///
/// A vibration is divided at silences, and at jumps of its level. A clip with one long event and a
/// pattern with ten short events therefore have the same anchors.
struct FeltAnchor {
  /// The index of the track.
  let trackIndex: Int
  /// The times at which the level crosses a tenth, a quarter, and half of the peak, in seconds.
  let crossingTimes: [Double]
  /// The amplitude of the vibration's peak, or for a jump, the change of the amplitude.
  let amplitudeChange: Double

  /// The median of `times`, in seconds.
  var medianCrossingTime: Double { crossingTimes.sorted()[1] }

  /// Returns the error in the time of a crossing that an error in the amplitude causes, in seconds.
  func uncertainty(amplitudeError: Double) -> Double {
    amplitudeError / (0.4 * amplitudeChange) * abs(crossingTimes[2] - crossingTimes[0])
  }

  /// Returns the times by which the crossings of another anchor are later than these, in seconds.
  func shifts(to other: FeltAnchor) -> [Double] {
    zip(crossingTimes, other.crossingTimes).map { $1 - $0 }
  }
}

/// The onsets and ends of all vibrations of a pattern, each sorted by time.
struct FeltAnchors {
  private(set) var onsets: [FeltAnchor] = []
  private(set) var ends: [FeltAnchor] = []

  /// The fractions of the peak at which slopes are measured.
  private static let crossingPeakFractions = [0.1, 0.25, 0.5]
  /// The duration of a jump, in seconds.
  private static let jumpSeconds = 0.0025
  /// The minimum height of a jump as a fraction of the peak.
  private static let minimumJumpFraction = 0.2

  init(_ side: SampledFeltPattern, context: FeltComparisonContext) {
    for (index, track) in side.tracks.enumerated()
    where track.peakAmplitude > context.amplitudeFloor {
      findAnchors(in: track, index: index, context: context)
    }
    onsets.sort { $0.medianCrossingTime < $1.medianCrossingTime }
    ends.sort { $0.medianCrossingTime < $1.medianCrossingTime }
  }

  private mutating func findAnchors(in track: FeltTrack, index: Int, context: FeltComparisonContext)
  {
    let amplitudes = track.amplitudes
    let threshold = max(context.amplitudeFloor, FeltTrack.silentFraction * track.peakAmplitude)
    let count = amplitudes.count
    var position = 0
    while position < count {
      guard amplitudes[position] > threshold else {
        position += 1
        continue
      }
      var last = position
      while last < count, amplitudes[last] > threshold {
        last += 1
      }
      addAnchors(part: position..<last, of: track, index: index, context: context)
      position = last
    }
  }

  /// Adds the anchors of a part of a track between two silences.
  private mutating func addAnchors(
    part: Range<Int>, of track: FeltTrack, index: Int, context: FeltComparisonContext
  ) {
    let amplitudes = track.amplitudes
    let peak = amplitudes[part].max() ?? 0
    guard part.count >= 3 else { return }
    // A slow ramp is measured down to where it begins, not to the threshold.
    var start = part.lowerBound
    while start > 0, amplitudes[start - 1] > 0, amplitudes[start - 1] < amplitudes[start] {
      start -= 1
    }
    var end = part.upperBound
    while end < amplitudes.count, amplitudes[end] > 0, amplitudes[end] < amplitudes[end - 1] {
      end += 1
    }
    let slice = amplitudes[start..<end]
    var risingTimes: [Double] = []
    var fallingTimes: [Double] = []
    for fraction in Self.crossingPeakFractions {
      let level = fraction * peak
      let first = slice.firstIndex { $0 >= level } ?? start
      let last = slice.lastIndex { $0 >= level } ?? end - 1
      risingTimes.append(context.grid.time(track.firstPointIndex + first))
      fallingTimes.append(context.grid.time(track.firstPointIndex + last + 1))
    }
    onsets.append(FeltAnchor(trackIndex: index, crossingTimes: risingTimes, amplitudeChange: peak))
    ends.append(FeltAnchor(trackIndex: index, crossingTimes: fallingTimes, amplitudeChange: peak))
    addJumps(in: part, peak: peak, of: track, index: index, grid: context.grid)
  }

  /// Adds an anchor for each jump of the level within a part of a track.
  private mutating func addJumps(
    in part: Range<Int>, peak: Double, of track: FeltTrack, index: Int, grid: FeltGrid
  ) {
    let amplitudes = track.amplitudes
    let reach = grid.pointCount(Self.jumpSeconds)
    let minimum = Self.minimumJumpFraction * peak
    func change(_ position: Int) -> Double { amplitudes[position] - amplitudes[position - reach] }
    var position = part.lowerBound + 2 * reach
    let end = part.upperBound - reach
    while position < end {
      guard abs(change(position)) > minimum else {
        position += 1
        continue
      }
      let groupEnd = min(end, position + 2 * reach)
      let best = (position..<groupEnd).max { abs(change($0)) < abs(change($1)) } ?? position
      var moment = 0.0
      var total = 0.0
      for step in (best - reach)..<best {
        let slope = abs(amplitudes[step + 1] - amplitudes[step])
        moment += (Double(step) + 0.5) * slope
        total += slope
      }
      let center = total > 0 ? moment / total : Double(best)
      let time = (Double(track.firstPointIndex) + center) * grid.stepSeconds
      let anchor = FeltAnchor(
        trackIndex: index, crossingTimes: [time, time, time], amplitudeChange: abs(change(best)))
      if change(best) > 0 {
        onsets.append(anchor)
      } else {
        ends.append(anchor)
      }
      position = groupEnd
    }
  }
}

/// An onset or end of the reference, and its counterpart.
struct FeltAnchorPair {
  let anchor: FeltAnchor
  let counterpart: FeltAnchor
  let isEnd: Bool

  /// The difference between the largest and the smallest shift of the three level crossings, in
  /// seconds.
  var shiftSpread: Double {
    let shifts = anchor.shifts(to: counterpart)
    return (shifts.max() ?? 0) - (shifts.min() ?? 0)
  }

  /// The median shift of the three level crossings, in seconds.
  var medianShift: Double { anchor.shifts(to: counterpart).sorted()[1] }
}

/// Pairs the transients and anchors of two patterns at the minimum total cost.
enum FeltPairing {
  /// The maximum time between the two elements of a pair, in seconds.
  private static let maximumPairDistanceSeconds = 0.25
  /// The time between two elements at which their pair costs as much as an element without a
  /// counterpart, in seconds.
  private static let unitCostDistanceSeconds = 0.08

  /// Returns the indices of paired transients.
  static func transientPairs(_ transients: [FeltTransient], _ candidates: [FeltTransient]) -> [(
    Int, Int
  )] {
    SequenceAlignment.pairs(transients.map(\.time), candidates.map(\.time)) { index, other in
      let transient = transients[index]
      let candidate = candidates[other]
      let distance = abs(transient.time - candidate.time)
      if distance > maximumPairDistanceSeconds { return .infinity }
      let decibels = abs(
        FeltComparisonContext.decibels(transient.amplitude)
          - FeltComparisonContext.decibels(candidate.amplitude))
      let octaves = abs(transient.log2Hertz - candidate.log2Hertz)
      let cost = distance / unitCostDistanceSeconds + min(decibels, 24) / 24 + 0.3 * octaves
      return cost * SequenceAlignment.gapCost
    }
  }

  /// Pairs the onsets of both patterns, and their ends.
  static func anchorPairs(
    _ anchors: FeltAnchors, _ candidates: FeltAnchors
  ) -> [FeltAnchorPair] {
    anchorPairs(anchors.onsets, candidates.onsets, areEnds: false)
      + anchorPairs(anchors.ends, candidates.ends, areEnds: true)
  }

  private static func anchorPairs(
    _ anchors: [FeltAnchor], _ candidates: [FeltAnchor], areEnds: Bool
  ) -> [FeltAnchorPair] {
    let times = anchors.map(\.medianCrossingTime)
    let candidateTimes = candidates.map(\.medianCrossingTime)
    let levels = anchors.map { FeltComparisonContext.decibels($0.amplitudeChange) }
    let candidateLevels = candidates.map { FeltComparisonContext.decibels($0.amplitudeChange) }
    let pairs = SequenceAlignment.pairs(times, candidateTimes) { index, other in
      let distance = abs(times[index] - candidateTimes[other])
      if distance > maximumPairDistanceSeconds { return .infinity }
      let decibels = abs(levels[index] - candidateLevels[other])
      return (distance / unitCostDistanceSeconds + min(decibels, 12) / 12)
        * SequenceAlignment.gapCost
    }
    return pairs.map {
      FeltAnchorPair(anchor: anchors[$0.0], counterpart: candidates[$0.1], isEnd: areEnds)
    }
  }
}
