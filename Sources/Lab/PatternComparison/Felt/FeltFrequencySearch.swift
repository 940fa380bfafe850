/// A search for frequency differences in the summed vibrations.
///
/// The frequency of a sum is the mean of the logarithms of its frequencies, weighted by amplitude.
///
/// 1. Where events overlap, another frequency of one event changes the mean only in part. The event
///    whose shift removes most of the difference over its own extent explains the difference.
/// 2. The remaining regions in which the means differ are differences themselves. Such a difference
///    is outside the range that the reference's frequency has within the time tolerance.
struct FeltFrequencySearch {
  private(set) var differences: [FeltDifference] = []
  private var reference: SampledFeltPattern
  private let candidate: SampledFeltPattern
  private let comparisonContext: FeltComparisonContext
  /// The minimum amplitude for comparing frequencies.
  private let amplitudeFloor: Double

  /// The minimum duration of a region with a frequency difference, in seconds.
  private static let minimumRegionSeconds = 0.010
  /// The minimum jump of the frequency difference between two regions, in octaves.
  private static let minimumJumpOctaves = 0.05
  /// The minimum amplitude for comparing frequencies, as a fraction of the peak.
  private static let floorToPeakAmplitudeRatio = 0.03
  /// The minimum fraction of the summed amplitude for a track without overlap.
  ///
  /// A track with a smaller fraction overlaps other tracks.
  private static let minimumUnoverlappedFraction = 0.97
  /// The maximum fraction of the difference that a frequency shift may leave unexplained.
  private static let maximumRemainingDifferenceFraction = 0.3
  /// The maximum number of grid points in all trials of frequency shifts.
  private static let maximumTrialPointCount = 60_000_000

  init(_ side: SampledFeltPattern, _ candidate: SampledFeltPattern, context: FeltComparisonContext)
  {
    self.reference = side
    self.candidate = candidate
    self.comparisonContext = context
    amplitudeFloor = max(
      context.amplitudeFloor, Self.floorToPeakAmplitudeRatio * (side.summedAmplitudes.max() ?? 0))
    explainByOverlappingEvents()
    let minimumPointCount = context.grid.pointCount(Self.minimumRegionSeconds)
    for sign in [1, -1] {
      for region in regions(sign: sign, gap: minimumPointCount)
      where region.count >= minimumPointCount {
        for part in partsDividedAtJumps(of: region, minimumCount: minimumPointCount) {
          addDifference(part)
        }
      }
    }
  }

  // MARK: - Overlapping events

  /// A frequency shift of one event that explains a difference.
  private struct FrequencyShift {
    var trackIndex: Int
    /// The change of the event's frequency, in octaves.
    var shiftOctaves: Double
    /// The part of the difference that the shift removes, in octaves weighted by amplitude.
    var removedDifferenceCost: Double
  }

  /// Explains frequency differences by events that overlap other events.
  private mutating func explainByOverlappingEvents() {
    var overlappingTrackIndices = reference.tracks.indices.filter {
      overlapsOthers(reference.tracks[$0])
    }
    var trialPointCount = 0
    while trialPointCount < Self.maximumTrialPointCount {
      let shifts = overlappingTrackIndices.compactMap { explainingShift(ofTrack: $0) }
      guard let bestShift = shifts.max(by: { $0.removedDifferenceCost < $1.removedDifferenceCost })
      else { return }
      trialPointCount += overlappingTrackIndices.reduce(0) {
        $0 + reference.tracks[$1].amplitudes.count
      }
      applyShift(bestShift)
      overlappingTrackIndices.removeAll { $0 == bestShift.trackIndex }
    }
  }

  /// Returns whether another event is perceptible while a track sounds.
  private func overlapsOthers(_ track: FeltTrack) -> Bool {
    track.soundingRange.contains { index in
      track.amplitude(atPoint: index) > amplitudeFloor
        && track.amplitude(atPoint: index) < Self.minimumUnoverlappedFraction
          * reference.summedAmplitudes[index]
    }
  }

  /// Returns the frequency shift of a track that best explains the difference, by least squares.
  ///
  /// Returns nil if the shift is too small or does not explain the difference.
  ///
  /// A shift by *s* octaves changes the mean by *s · a / A*, where *a* is the amplitude of the
  /// track and *A* the sum.
  private func explainingShift(ofTrack index: Int) -> FrequencyShift? {
    let track = reference.tracks[index]
    let judgedPoints = track.soundingRange.filter { quieterAmplitude(atPoint: $0) > amplitudeFloor }
    var weightedProduct = 0.0
    var weightedSquare = 0.0
    for point in judgedPoints {
      let trackFraction = track.amplitude(atPoint: point) / reference.summedAmplitudes[point]
      let energyWeight = quieterAmplitude(atPoint: point) * quieterAmplitude(atPoint: point)
      weightedProduct += energyWeight * trackFraction * frequencyChange(atPoint: point)
      weightedSquare += energyWeight * trackFraction * trackFraction
    }
    let shiftOctaves = weightedProduct / max(weightedSquare, 1e-15)
    guard abs(shiftOctaves) > comparisonContext.minimumFrequencyChangeOctaves else { return nil }
    var initialCost = 0.0
    var remainingCost = 0.0
    for point in judgedPoints {
      let trackFraction = track.amplitude(atPoint: point) / reference.summedAmplitudes[point]
      initialCost += quieterAmplitude(atPoint: point) * abs(frequencyChange(atPoint: point))
      remainingCost +=
        quieterAmplitude(atPoint: point)
        * abs(frequencyChange(atPoint: point) - shiftOctaves * trackFraction)
    }
    guard remainingCost < Self.maximumRemainingDifferenceFraction * initialCost else { return nil }
    return FrequencyShift(
      trackIndex: index, shiftOctaves: shiftOctaves,
      removedDifferenceCost: initialCost - remainingCost)
  }

  private mutating func applyShift(_ shift: FrequencyShift) {
    let track = reference.tracks[shift.trackIndex]
    reference.replaceTrack(at: shift.trackIndex, by: track.shifted(byOctaves: shift.shiftOctaves))
    let soundingRange = track.soundingRange
    let startTime = comparisonContext.grid.time(soundingRange.lowerBound)
    differences.append(
      FeltDifference(
        kind: .frequency,
        timeRange: startTime...comparisonContext.grid.time(soundingRange.upperBound),
        amount: shift.shiftOctaves,
        maximumRoundingError: comparisonContext.resolution.maximumFrequencyErrorOctaves,
        referenceEventIndices: [track.eventIndex]))
  }

  // MARK: - Regions

  private func quieterAmplitude(atPoint index: Int) -> Double {
    min(reference.summedAmplitudes[index], candidate.summedAmplitudes[index])
  }

  private func frequencyChange(atPoint index: Int) -> Double {
    candidate.meanLog2Hertz(atPoint: index) - reference.meanLog2Hertz(atPoint: index)
  }

  /// Returns the sign of the frequency difference at a point, or 0 if rounding explains it.
  private func frequencyChangeSign(atPoint index: Int) -> Int {
    guard quieterAmplitude(atPoint: index) > amplitudeFloor else { return 0 }
    let changeOctaves = frequencyChange(atPoint: index)
    guard abs(changeOctaves) > comparisonContext.minimumFrequencyChangeOctaves else { return 0 }
    let shiftPointCount = comparisonContext.maximumJumpShiftPoints
    var minimumLog2Hertz = reference.meanLog2Hertz(atPoint: index)
    var maximumLog2Hertz = minimumLog2Hertz
    for near in (index - shiftPointCount)...(index + shiftPointCount)
    where comparisonContext.grid.indices.contains(near)
      && quieterAmplitude(atPoint: near) > amplitudeFloor
    {
      minimumLog2Hertz = min(minimumLog2Hertz, reference.meanLog2Hertz(atPoint: near))
      maximumLog2Hertz = max(maximumLog2Hertz, reference.meanLog2Hertz(atPoint: near))
    }
    let candidateLog2Hertz = candidate.meanLog2Hertz(atPoint: index)
    let excessOctaves =
      changeOctaves > 0
      ? candidateLog2Hertz - maximumLog2Hertz : minimumLog2Hertz - candidateLog2Hertz
    let minimumExcessOctaves =
      FeltDifference.ReportingMinimum.octaves / 2
      + comparisonContext.resolution.maximumFrequencyErrorOctaves
    guard excessOctaves > minimumExcessOctaves else { return 0 }
    return changeOctaves > 0 ? 1 : -1
  }

  private func regions(sign: Int, gap: Int) -> [Range<Int>] {
    var regions: [Range<Int>] = []
    for index in comparisonContext.grid.indices
    where self.frequencyChangeSign(atPoint: index) == sign {
      if let last = regions.last, index - last.upperBound <= gap {
        regions[regions.count - 1] = last.lowerBound..<(index + 1)
      } else {
        regions.append(index..<(index + 1))
      }
    }
    return regions
  }

  /// Divides a region at jumps of the frequency difference.
  ///
  /// Jumps occur between two events whose frequencies changed by different intervals.
  private func partsDividedAtJumps(of region: Range<Int>, minimumCount: Int) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var partStart = region.lowerBound
    for index in region.dropFirst()
    where abs(frequencyChange(atPoint: index) - frequencyChange(atPoint: index - 1))
      > Self.minimumJumpOctaves
    {
      parts.append(partStart..<index)
      partStart = index
    }
    parts.append(partStart..<region.upperBound)
    let longParts = parts.filter { $0.count >= minimumCount }
    return longParts.isEmpty ? [region] : longParts
  }

  private mutating func addDifference(_ range: Range<Int>) {
    var weightedChangeSum = 0.0
    var weightSum = 0.0
    for index in range {
      let energyWeight = quieterAmplitude(atPoint: index) * quieterAmplitude(atPoint: index) + 1e-15
      weightedChangeSum += energyWeight * frequencyChange(atPoint: index)
      weightSum += energyWeight
    }
    let startTime = comparisonContext.grid.time(range.lowerBound)
    differences.append(
      FeltDifference(
        kind: .frequency, timeRange: startTime...comparisonContext.grid.time(range.upperBound),
        amount: weightedChangeSum / weightSum,
        maximumRoundingError: comparisonContext.resolution.maximumFrequencyErrorOctaves,
        referenceEventIndices: reference.dominantEventIndex(in: range).map { [$0] } ?? [],
        candidateEventIndices: candidate.dominantEventIndex(in: range).map { [$0] } ?? []))
  }
}
