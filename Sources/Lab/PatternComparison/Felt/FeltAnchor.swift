/// An onset or an end within a vibration.
///
/// A vibration is divided at silences, and at jumps of its level. A clip with one long event and a
/// pattern with ten short events therefore have the same anchors.
struct FeltAnchor {
  /// The index of the vibration's track.
  let trackIndex: Int
  /// The times at which the level crosses three thresholds, in seconds.
  ///
  /// The thresholds are a tenth, a quarter, and half of the peak.
  let crossingTimes: [Double]
  /// The peak amplitude of the vibration, or the amplitude change of a jump.
  let amplitudeChange: Double

  /// The median of the three crossing times, in seconds.
  var medianCrossingTime: Double { crossingTimes.sorted()[1] }

  /// Returns the error of a crossing time due to an amplitude error, in seconds.
  func crossingTimeError(amplitudeError: Double) -> Double {
    amplitudeError / (0.4 * amplitudeChange) * abs(crossingTimes[2] - crossingTimes[0])
  }

  /// Returns the delays of another anchor's level crossings relative to this anchor, in seconds.
  func shifts(to other: FeltAnchor) -> [Double] {
    zip(crossingTimes, other.crossingTimes).map { $1 - $0 }
  }
}

/// The onsets and ends of all vibrations in a pattern, sorted by time.
struct FeltAnchors {
  private(set) var onsets: [FeltAnchor] = []
  private(set) var ends: [FeltAnchor] = []

  /// The level thresholds of the crossings, as fractions of the peak.
  private static let crossingPeakFractions = [0.1, 0.25, 0.5]
  /// The duration of a level jump, in seconds.
  private static let jumpDurationSeconds = 0.0025
  /// The minimum height of a level jump, as a fraction of the peak.
  private static let minimumJumpToPeakRatio = 0.2

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
    let amplitudeThreshold = max(
      context.amplitudeFloor, FeltTrack.silenceToPeakAmplitudeRatio * track.peakAmplitude)
    let pointCount = amplitudes.count
    var pointIndex = 0
    while pointIndex < pointCount {
      guard amplitudes[pointIndex] > amplitudeThreshold else {
        pointIndex += 1
        continue
      }
      var endIndex = pointIndex
      while endIndex < pointCount, amplitudes[endIndex] > amplitudeThreshold {
        endIndex += 1
      }
      addAnchors(part: pointIndex..<endIndex, of: track, index: index, context: context)
      pointIndex = endIndex
    }
  }

  /// Adds the anchors of the vibration between two silences in a track.
  private mutating func addAnchors(
    part: Range<Int>, of track: FeltTrack, index: Int, context: FeltComparisonContext
  ) {
    let amplitudes = track.amplitudes
    let peakAmplitude = amplitudes[part].max() ?? 0
    guard part.count >= 3 else { return }
    // A slow ramp is measured down to where it begins, not to the threshold.
    var startIndex = part.lowerBound
    while startIndex > 0, amplitudes[startIndex - 1] > 0,
      amplitudes[startIndex - 1] < amplitudes[startIndex]
    {
      startIndex -= 1
    }
    var endIndex = part.upperBound
    while endIndex < amplitudes.count, amplitudes[endIndex] > 0,
      amplitudes[endIndex] < amplitudes[endIndex - 1]
    {
      endIndex += 1
    }
    let extendedAmplitudes = amplitudes[startIndex..<endIndex]
    var risingTimes: [Double] = []
    var fallingTimes: [Double] = []
    for fraction in Self.crossingPeakFractions {
      let crossingAmplitude = fraction * peakAmplitude
      let firstCrossingIndex =
        extendedAmplitudes.firstIndex { $0 >= crossingAmplitude } ?? startIndex
      let lastCrossingIndex =
        extendedAmplitudes.lastIndex { $0 >= crossingAmplitude } ?? endIndex - 1
      risingTimes.append(context.grid.time(track.firstPointIndex + firstCrossingIndex))
      fallingTimes.append(context.grid.time(track.firstPointIndex + lastCrossingIndex + 1))
    }
    onsets.append(
      FeltAnchor(trackIndex: index, crossingTimes: risingTimes, amplitudeChange: peakAmplitude))
    ends.append(
      FeltAnchor(trackIndex: index, crossingTimes: fallingTimes, amplitudeChange: peakAmplitude))
    addJumps(in: part, peak: peakAmplitude, of: track, index: index, grid: context.grid)
  }

  /// Adds an anchor for each level jump within a part of a track.
  private mutating func addJumps(
    in part: Range<Int>, peak: Double, of track: FeltTrack, index: Int, grid: FeltGrid
  ) {
    let amplitudes = track.amplitudes
    let jumpPointCount = grid.pointCount(Self.jumpDurationSeconds)
    let minimumAmplitudeChange = Self.minimumJumpToPeakRatio * peak
    func amplitudeChange(_ position: Int) -> Double {
      amplitudes[position] - amplitudes[position - jumpPointCount]
    }
    var pointIndex = part.lowerBound + 2 * jumpPointCount
    let endIndex = part.upperBound - jumpPointCount
    while pointIndex < endIndex {
      guard abs(amplitudeChange(pointIndex)) > minimumAmplitudeChange else {
        pointIndex += 1
        continue
      }
      let groupEnd = min(endIndex, pointIndex + 2 * jumpPointCount)
      let steepestIndex =
        (pointIndex..<groupEnd).max { abs(amplitudeChange($0)) < abs(amplitudeChange($1)) }
        ?? pointIndex
      var slopeMoment = 0.0
      var slopeSum = 0.0
      for step in (steepestIndex - jumpPointCount)..<steepestIndex {
        let absoluteSlope = abs(amplitudes[step + 1] - amplitudes[step])
        slopeMoment += (Double(step) + 0.5) * absoluteSlope
        slopeSum += absoluteSlope
      }
      let jumpCenter = slopeSum > 0 ? slopeMoment / slopeSum : Double(steepestIndex)
      let jumpTime = (Double(track.firstPointIndex) + jumpCenter) * grid.stepSeconds
      let anchor = FeltAnchor(
        trackIndex: index, crossingTimes: [jumpTime, jumpTime, jumpTime],
        amplitudeChange: abs(amplitudeChange(steepestIndex)))
      if amplitudeChange(steepestIndex) > 0 {
        onsets.append(anchor)
      } else {
        ends.append(anchor)
      }
      pointIndex = groupEnd
    }
  }
}

/// An onset or end of the reference, and its counterpart in the candidate.
struct FeltAnchorPair {
  let anchor: FeltAnchor
  let counterpart: FeltAnchor
  let isEnd: Bool

  /// The spread of the shifts of the three level crossings, in seconds.
  ///
  /// The spread is the difference between the largest and the smallest shift.
  var shiftSpread: Double {
    let crossingShifts = anchor.shifts(to: counterpart)
    return (crossingShifts.max() ?? 0) - (crossingShifts.min() ?? 0)
  }

  /// The median shift of the three level crossings, in seconds.
  var medianShift: Double { anchor.shifts(to: counterpart).sorted()[1] }
}

/// Pairs the transients and anchors of two patterns at the minimum total cost.
enum FeltPairing {
  /// The maximum time between the two elements of a pair, in seconds.
  private static let maximumPairDistanceSeconds = 0.25
  /// The time distance of two elements whose pair costs as much as no pair, in seconds.
  private static let unitCostDistanceSeconds = 0.08

  /// Returns the index pairs of corresponding transients in two patterns.
  static func transientPairs(
    _ transients: [FeltTransient], _ candidates: [FeltTransient]
  ) -> [(Int, Int)] {
    SequenceAlignment.pairs(transients.map(\.time), candidates.map(\.time)) { index, other in
      let transient = transients[index]
      let candidate = candidates[other]
      let distanceSeconds = abs(transient.time - candidate.time)
      if distanceSeconds > maximumPairDistanceSeconds { return .infinity }
      let differenceDecibels = abs(
        FeltComparisonContext.decibels(ofAmplitude: transient.amplitude)
          - FeltComparisonContext.decibels(ofAmplitude: candidate.amplitude))
      let octaves = abs(transient.log2Hertz - candidate.log2Hertz)
      let cost =
        distanceSeconds / unitCostDistanceSeconds + min(differenceDecibels, 24) / 24 + 0.3 * octaves
      return cost * SequenceAlignment.gapCost
    }
  }

  /// Pairs the onsets of two patterns, and the ends of two patterns.
  static func anchorPairs(
    _ anchors: FeltAnchors, _ candidates: FeltAnchors
  ) -> [FeltAnchorPair] {
    anchorPairs(anchors.onsets, candidates.onsets, areEnds: false)
      + anchorPairs(anchors.ends, candidates.ends, areEnds: true)
  }

  private static func anchorPairs(
    _ anchors: [FeltAnchor], _ candidates: [FeltAnchor], areEnds: Bool
  ) -> [FeltAnchorPair] {
    let anchorTimes = anchors.map(\.medianCrossingTime)
    let candidateTimes = candidates.map(\.medianCrossingTime)
    let levelsDecibels = anchors.map {
      FeltComparisonContext.decibels(ofAmplitude: $0.amplitudeChange)
    }
    let candidateLevelsDecibels = candidates.map {
      FeltComparisonContext.decibels(ofAmplitude: $0.amplitudeChange)
    }
    let indexPairs = SequenceAlignment.pairs(anchorTimes, candidateTimes) { index, other in
      let distanceSeconds = abs(anchorTimes[index] - candidateTimes[other])
      if distanceSeconds > maximumPairDistanceSeconds { return .infinity }
      let differenceDecibels = abs(levelsDecibels[index] - candidateLevelsDecibels[other])
      return (distanceSeconds / unitCostDistanceSeconds + min(differenceDecibels, 12) / 12)
        * SequenceAlignment.gapCost
    }
    return indexPairs.map {
      FeltAnchorPair(anchor: anchors[$0.0], counterpart: candidates[$0.1], isEnd: areEnds)
    }
  }
}
