internal import CMath

/// A search for differences of level in the summed vibrations.
///
/// The squares of both sums are averaged over 12 ms. In each round, the region with the largest
/// difference is explained by the event that lowers the difference over its own extent most:
/// an event of the reference with another gain, or missing, or an event of the candidate that was
/// added. If no event explains it, the region itself is the difference. Every round changes or
/// masks a range, and only the regions there are found again. The search ends without a region.
struct FeltLevelSearch {
  private(set) var differences: [FeltDifference] = []
  private(set) var reference: SampledFeltPattern
  private(set) var candidate: SampledFeltPattern
  private let comparisonContext: FeltComparisonContext
  /// The grid points that are ignored because another difference explains them.
  private var isPointMasked: [Bool]
  /// The moving averages of the reference's squared amplitudes.
  private var referenceEnergies: [Double]
  /// The moving averages of the candidate's squared amplitudes.
  private var candidateEnergies: [Double]
  /// The mean square below which a sound is noise.
  private let noiseMeanSquare: Double
  /// Half the width of the moving average, in grid points.
  private let windowHalfWidth: Int
  /// The regions that are not explained yet.
  private var regions: [Region] = []
  /// The total number of grid points on which explanations were tried.
  private var trialPointCount = 0

  /// The duration of the moving average, in seconds.
  private static let windowSeconds = 0.012
  /// The minimum duration of a region, in seconds.
  private static let minimumRegionSeconds = 0.012
  /// The minimum duration of a region with a large difference, in seconds.
  private static let minimumLargeRegionSeconds = 0.0015
  /// The minimum level difference that counts as large, in decibels.
  private static let minimumLargeDecibels = 6.0
  /// The maximum fraction of the difference that an explanation may leave.
  private static let maximumRemainingFraction = 0.3
  /// The gain below which an event counts as missing.
  private static let minimumPresentGain = 0.1
  /// The total number of grid points after which no further explanations by events are tried. The
  /// remaining regions are reported as differences without an event.
  private static let maximumTrialPointCount = 60_000_000
  /// The maximum gap between a region and a vibration that it lengthens or shortens, in seconds.
  private static let maximumNeighborGapSeconds = 0.02

  /// A range of grid points in which one pattern is stronger.
  private struct Region {
    var range: Range<Int>
    /// The sum of the differences, weighted by amplitude.
    var score = 0.0
    /// The mean difference in decibels, weighted by amplitude.
    var meanDifferenceDecibels = 0.0
    /// The mean difference that rounding can explain, in decibels, weighted by amplitude.
    var maximumRoundingError = 0.0
  }

  /// An event that may explain a region.
  private struct Explanation {
    var remainingFraction: Double
    var isAdded: Bool
    var trackIndex: Int
    var gain: Double
  }

  init(
    _ side: SampledFeltPattern, _ candidate: SampledFeltPattern, isMasked: [Bool],
    context: FeltComparisonContext
  ) {
    self.reference = side
    self.candidate = candidate
    self.isPointMasked = isMasked
    self.comparisonContext = context
    noiseMeanSquare = (context.amplitudeFloor * 0.3) * (context.amplitudeFloor * 0.3)
    windowHalfWidth = max(1, context.grid.pointCount(Self.windowSeconds) / 2)
    referenceEnergies = []
    candidateEnergies = []
    let all = context.grid.indices
    referenceEnergies = meanSquares(side.summedAmplitudes[...], in: all)
    candidateEnergies = meanSquares(candidate.summedAmplitudes[...], in: all)
    regions = regions(in: all)
    while let region = largestRegion {
      updateRegions(near: explain(region))
    }
  }

  // MARK: - Regions

  /// Returns the moving averages of squared amplitudes at each point of a range.
  private func meanSquares(_ amplitudes: ArraySlice<Double>, in range: Range<Int>) -> [Double] {
    func square(_ index: Int) -> Double {
      guard amplitudes.indices.contains(index) else { return 0 }
      return amplitudes[index] * amplitudes[index]
    }
    guard !range.isEmpty else { return [] }
    var sum = 0.0
    for index in (range.lowerBound - windowHalfWidth)..<(range.lowerBound + windowHalfWidth) {
      sum += square(index)
    }
    var means: [Double] = []
    means.reserveCapacity(range.count)
    for index in range {
      means.append(max(0, sum) / Double(2 * windowHalfWidth))
      sum += square(index + windowHalfWidth) - square(index - windowHalfWidth)
    }
    return means
  }

  private func decibels(_ energy: Double) -> Double { 10 * log10(energy + noiseMeanSquare) }

  /// Returns the difference of levels at a point, in decibels.
  private func levelChange(at index: Int) -> Double {
    decibels(candidateEnergies[index]) - decibels(referenceEnergies[index])
  }

  private func maximumRoundingError(at index: Int) -> Double {
    let quieter = min(referenceEnergies[index], candidateEnergies[index])
    return comparisonContext.resolution.maximumLevelError(
      atDecibels: 10 * log10(max(quieter, noiseMeanSquare)))
  }

  /// Returns the greater of both patterns' amplitudes, or 0 if the point is ignored.
  private func amplitudeWeight(at index: Int) -> Double {
    if isPointMasked[index] { return 0 }
    let louder = max(referenceEnergies[index], candidateEnergies[index]).squareRoot()
    return louder > comparisonContext.amplitudeFloor ? louder : 0
  }

  /// Returns the maximum level change that shifting the reference within its time rounding causes,
  /// in decibels.
  private func changeByShift(at index: Int) -> Double {
    let reach = comparisonContext.maximumJumpShiftPoints
    let level = decibels(referenceEnergies[index])
    let earlier = decibels(referenceEnergies[max(0, index - reach)])
    let later = decibels(referenceEnergies[min(referenceEnergies.count - 1, index + reach)])
    return max(abs(earlier - level), abs(later - level))
  }

  /// Returns the sign of the difference at a point, or 0 if rounding explains it.
  private func levelChangeSign(at index: Int) -> Int {
    guard amplitudeWeight(at: index) > 0 else { return 0 }
    let change = levelChange(at: index)
    let minimum = FeltDifference.Minimum.decibels
    guard abs(change) > minimum, abs(change) > maximumRoundingError(at: index) + minimum,
      abs(change) > changeByShift(at: index) + minimum
    else { return 0 }
    return change > 0 ? 1 : -1
  }

  /// The maximum gap between two points of the same region, in grid points.
  private var maximumGapPoints: Int { comparisonContext.grid.pointCount(Self.minimumRegionSeconds) }

  /// The region with the highest score, or nil if all regions are too short.
  private var largestRegion: Region? {
    var best: Region?
    for region in regions where region.score > best?.score ?? 0 {
      best = region
    }
    return best
  }

  /// Updates the regions in and near a range in which levels changed.
  private mutating func updateRegions(near changed: Range<Int>) {
    let reach = comparisonContext.maximumJumpShiftPoints
    var lower = changed.lowerBound - reach
    var upper = changed.upperBound + reach
    let affected = (lower - maximumGapPoints - 1)..<(upper + maximumGapPoints + 1)
    for region in regions where region.range.overlaps(affected) {
      lower = min(lower, region.range.lowerBound)
      upper = max(upper, region.range.upperBound)
    }
    regions.removeAll { $0.range.overlaps(affected) }
    regions += regions(in: (lower..<upper).clamped(to: comparisonContext.grid.indices))
  }

  /// Returns the regions in a range.
  private func regions(in range: Range<Int>) -> [Region] {
    var open: [Int: Range<Int>] = [:]
    var regions: [Region] = []
    func close(_ sign: Int) {
      guard let range = open.removeValue(forKey: sign) else { return }
      regions.append(scoredRegion(range))
    }
    for index in range {
      let sign = levelChangeSign(at: index)
      guard sign != 0 else { continue }
      if let range = open[sign], index - range.upperBound <= maximumGapPoints {
        open[sign] = range.lowerBound..<(index + 1)
      } else {
        close(sign)
        open[sign] = index..<(index + 1)
      }
    }
    close(1)
    close(-1)
    return regions
  }

  /// Creates a region and computes its score, which is 0 if the region is too short.
  private func scoredRegion(_ range: Range<Int>) -> Region {
    var region = Region(range: range)
    var maximum = 0.0
    var total = 0.0
    for index in range {
      let change = levelChange(at: index)
      let weight = max(amplitudeWeight(at: index), 1e-12)
      maximum = max(maximum, abs(change))
      region.score += weight * abs(change)
      region.meanDifferenceDecibels += weight * change
      region.maximumRoundingError += weight * maximumRoundingError(at: index)
      total += weight
    }
    region.meanDifferenceDecibels /= total
    region.maximumRoundingError /= total
    let minimum =
      maximum >= Self.minimumLargeDecibels
      ? Self.minimumLargeRegionSeconds : Self.minimumRegionSeconds
    if Double(range.count) * comparisonContext.grid.stepSeconds < minimum {
      region.score = 0
    }
    return region
  }

  // MARK: - Explanations

  /// Explains a region, and returns the range in which levels changed or are now ignored.
  private mutating func explain(_ region: Region) -> Range<Int> {
    var explanations: [Explanation] = []
    if trialPointCount < Self.maximumTrialPointCount {
      for (index, track) in reference.tracks.enumerated()
      where isPerceptible(track, in: region.range) {
        trialPointCount += affectedPointRange(of: track).count
        explanations.append(gainExplanation(index, track))
      }
      for (index, track) in candidate.tracks.enumerated()
      where isPerceptible(track, in: region.range) {
        trialPointCount += affectedPointRange(of: track).count
        explanations.append(additionExplanation(index, track))
      }
    }
    let best = explanations.min { $0.remainingFraction < $1.remainingFraction }
    if let best, best.remainingFraction < Self.maximumRemainingFraction {
      return applyExplanation(best)
    }
    return addUnexplainedRegion(region)
  }

  /// Returns true if a track can be felt in a range. Explanations only change the track's sounding
  /// range.
  private func isPerceptible(_ track: FeltTrack, in range: Range<Int>) -> Bool {
    track.soundingRange.clamped(to: range).contains {
      track.amplitude(at: $0) > comparisonContext.amplitudeFloor
    }
  }

  /// Returns the part of the grid that a track affects.
  private func affectedPointRange(of track: FeltTrack) -> Range<Int> {
    let range = track.soundingRange
    let margin = 2 * windowHalfWidth
    return max(
      0, range.lowerBound - margin)..<min(
        comparisonContext.grid.count, range.upperBound + margin)
  }

  /// Returns the gain of a track of the reference that explains the difference best.
  private func gainExplanation(_ index: Int, _ track: FeltTrack) -> Explanation {
    let span = affectedPointRange(of: track)
    var product = 0.0
    var square = 0.0
    for point in span {
      let amplitude = track.amplitude(at: point)
      let remaining = reference.summedAmplitudes[point] - amplitude
      product += amplitude * (candidate.summedAmplitudes[point] - remaining)
      square += amplitude * amplitude
    }
    var gain = max(0, product / max(square, 1e-12))
    if gain < Self.minimumPresentGain {
      gain = 0
    }
    let before = levelDifferenceCost(
      reference.summedAmplitudes[...], candidate.summedAmplitudes[...], in: span)
    let changed = changedAmplitudes(of: reference, track, by: gain - 1, around: span)
    let after = levelDifferenceCost(changed, candidate.summedAmplitudes[...], in: span)
    return Explanation(
      remainingFraction: Self.remainingFraction(after, of: before), isAdded: false,
      trackIndex: index,
      gain: gain)
  }

  /// Returns the explanation that a track of the candidate is missing in the reference.
  private func additionExplanation(_ index: Int, _ track: FeltTrack) -> Explanation {
    let span = affectedPointRange(of: track)
    let before = levelDifferenceCost(
      reference.summedAmplitudes[...], candidate.summedAmplitudes[...], in: span)
    let changed = changedAmplitudes(of: candidate, track, by: -1, around: span)
    let after = levelDifferenceCost(reference.summedAmplitudes[...], changed, in: span)
    return Explanation(
      remainingFraction: Self.remainingFraction(after, of: before), isAdded: true,
      trackIndex: index,
      gain: 0)
  }

  /// Returns the ratio of the remaining cost to the original cost, or 1 if the original cost is
  /// zero.
  private static func remainingFraction(_ remaining: Double, of cost: Double) -> Double {
    cost > 1e-9 ? remaining / cost : 1
  }

  /// Returns the summed amplitudes of a pattern near a span after a multiple of a track is added.
  private func changedAmplitudes(
    of side: SampledFeltPattern, _ track: FeltTrack, by factor: Double, around span: Range<Int>
  ) -> ArraySlice<Double> {
    let lower = max(0, span.lowerBound - windowHalfWidth)
    let upper = min(comparisonContext.grid.count, span.upperBound + windowHalfWidth)
    var changed = side.summedAmplitudes[lower..<upper]
    for index in track.pointRange.clamped(to: lower..<upper) {
      changed[index] = max(0, changed[index] + factor * track.amplitude(at: index))
    }
    return changed
  }

  /// Returns the sum of the level differences in a range, weighted by amplitude.
  private func levelDifferenceCost(
    _ amplitudes: ArraySlice<Double>, _ candidateAmplitudes: ArraySlice<Double>,
    in range: Range<Int>
  ) -> Double {
    let energies = meanSquares(amplitudes, in: range)
    let candidateEnergies = meanSquares(candidateAmplitudes, in: range)
    var cost = 0.0
    for (offset, index) in range.enumerated() where !isPointMasked[index] {
      let louder = max(energies[offset], candidateEnergies[offset]).squareRoot()
      guard louder > comparisonContext.amplitudeFloor else { continue }
      let change = decibels(candidateEnergies[offset]) - decibels(energies[offset])
      cost += abs(change) * louder
    }
    return cost
  }

  private func timeRange(_ range: Range<Int>) -> ClosedRange<Double> {
    comparisonContext.grid.time(range.lowerBound)...comparisonContext.grid.time(range.upperBound)
  }

  /// Applies an explanation, and returns the range in which levels changed.
  private mutating func applyExplanation(_ explanation: Explanation) -> Range<Int> {
    if explanation.isAdded {
      let track = candidate.tracks[explanation.trackIndex]
      candidate.replaceTrack(at: explanation.trackIndex, by: track.scaled(by: 0))
      let span = affectedPointRange(of: track)
      candidateEnergies.replaceSubrange(
        span, with: meanSquares(candidate.summedAmplitudes[...], in: span))
      differences.append(
        FeltDifference(
          kind: .added, range: timeRange(track.soundingRange),
          amount: FeltComparisonContext.decibels(track.peakAmplitude),
          candidateEvents: [track.eventIndex]))
      return span
    }
    let track = reference.tracks[explanation.trackIndex]
    reference.replaceTrack(at: explanation.trackIndex, by: track.scaled(by: explanation.gain))
    let span = affectedPointRange(of: track)
    referenceEnergies.replaceSubrange(
      span, with: meanSquares(reference.summedAmplitudes[...], in: span))
    var difference = FeltDifference(
      kind: .missing, range: timeRange(track.soundingRange),
      amount: FeltComparisonContext.decibels(track.peakAmplitude),
      referenceEvents: [track.eventIndex])
    if explanation.gain > 0 {
      let sounding = track.soundingRange
      let square = sounding.reduce(0.0) { sum, index in
        sum + track.amplitude(at: index) * track.amplitude(at: index)
      }
      let level = (square / Double(max(1, sounding.count))).squareRoot()
      difference.kind = .level
      difference.amount = FeltComparisonContext.decibels(explanation.gain)
      difference.maximumRoundingError = comparisonContext.maximumLevelError(at: level)
    }
    differences.append(difference)
    return span
  }

  /// Adds a difference for a region that no event explains, and masks the region.
  ///
  /// - Returns: The masked range.
  private mutating func addUnexplainedRegion(_ region: Region) -> Range<Int> {
    let range = region.range
    var difference = FeltDifference(
      kind: .level, range: timeRange(range), amount: region.meanDifferenceDecibels,
      maximumRoundingError: region.maximumRoundingError)
    let maximum = range.reduce(0.0) { max($0, referenceEnergies[$1]) }.squareRoot()
    let candidateMaximum = range.reduce(0.0) { max($0, candidateEnergies[$1]) }.squareRoot()
    if candidateMaximum < comparisonContext.amplitudeFloor
      || maximum < comparisonContext.amplitudeFloor
    {
      difference.kind = candidateMaximum < comparisonContext.amplitudeFloor ? .missing : .added
      difference.amount = FeltComparisonContext.decibels(max(maximum, candidateMaximum))
      let seconds = Double(range.count) * comparisonContext.grid.stepSeconds
      let length = difference.kind == .added ? seconds : -seconds
      // Next to a vibration of both sides, that vibration is longer or shorter.
      if bothPatternsSound(in: (range.lowerBound - neighborReachPoints)..<range.lowerBound) {
        difference.kind = .duration
        difference.amount = length
        difference.maximumRoundingError = comparisonContext.resolution.maximumTimeErrorSeconds
      } else if bothPatternsSound(in: range.upperBound..<(range.upperBound + neighborReachPoints)) {
        difference.kind = .time
        difference.amount = -length
        difference.maximumRoundingError = comparisonContext.resolution.maximumTimeErrorSeconds
      }
    }
    difference.referenceEvents = coveredEventIndices(by: range, of: reference)
    difference.candidateEvents = coveredEventIndices(by: range, of: candidate)
    differences.append(difference)
    let masked = (range.lowerBound - windowHalfWidth)..<(range.upperBound + windowHalfWidth)
    for index in masked.clamped(to: isPointMasked.indices) {
      isPointMasked[index] = true
    }
    return masked
  }

  private var neighborReachPoints: Int {
    comparisonContext.grid.pointCount(Self.maximumNeighborGapSeconds)
  }

  private func bothPatternsSound(in range: Range<Int>) -> Bool {
    range.clamped(to: comparisonContext.grid.indices).contains { index in
      min(reference.summedAmplitudes[index], candidate.summedAmplitudes[index])
        > comparisonContext.amplitudeFloor
    }
  }

  /// Returns the event that has most of the energy in a region and lies mostly within it, or an
  /// empty array if there is none.
  private func coveredEventIndices(by range: Range<Int>, of side: SampledFeltPattern) -> [Int] {
    guard let event = side.dominantEvent(in: range),
      let track = side.tracks.first(where: { $0.eventIndex == event })
    else { return [] }
    let sounding = track.soundingRange
    let common = sounding.clamped(to: range)
    return Double(common.count) >= 0.8 * Double(sounding.count) ? [event] : []
  }
}
