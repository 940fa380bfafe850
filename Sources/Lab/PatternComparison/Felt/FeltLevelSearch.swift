internal import CMath

/// A search for level differences in the summed vibrations.
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
  /// A mask of the grid points that other differences explain, which are ignored.
  private var isPointMasked: [Bool]
  /// The moving averages of the reference's squared amplitudes.
  private var referenceEnergies: [Double]
  /// The moving averages of the candidate's squared amplitudes.
  private var candidateEnergies: [Double]
  /// The mean square of the noise floor; weaker sounds count as noise.
  private let noiseFloorMeanSquare: Double
  /// The half width of the moving average, in grid points.
  private let windowHalfWidthPoints: Int
  /// The regions with an unexplained level difference.
  private var regions: [Region] = []
  /// The number of grid points in all trials of explanations so far.
  private var trialPointCount = 0

  /// The window of the moving average, in seconds.
  private static let windowSeconds = 0.012
  /// The minimum duration of a region with a level difference, in seconds.
  private static let minimumRegionSeconds = 0.012
  /// The minimum duration of a region with a large level difference, in seconds.
  private static let minimumLargeChangeSeconds = 0.0015
  /// The minimum of a large level difference, in decibels.
  private static let minimumLargeChangeDecibels = 6.0
  /// The maximum fraction of the difference that an explanation may leave unexplained.
  private static let maximumRemainingDifferenceFraction = 0.3
  /// The minimum gain of an event that does not count as missing.
  private static let minimumPresentEventGain = 0.1
  /// The maximum number of grid points in all trials of explanations by events.
  ///
  /// Afterward, the remaining regions are reported as differences without an event.
  private static let maximumTrialPointCount = 60_000_000
  /// The maximum gap between a region and a neighboring vibration, in seconds.
  ///
  /// The region can lengthen or shorten the vibration.
  private static let maximumNeighborGapSeconds = 0.02

  /// A range of grid points in which one pattern is stronger than the other.
  private struct Region {
    var pointRange: Range<Int>
    /// The sum of the level differences, weighted by amplitude.
    var weightedDifferenceSum = 0.0
    /// The mean level difference in decibels, weighted by amplitude.
    var meanDifferenceDecibels = 0.0
    /// The mean level error due to rounding in decibels, weighted by amplitude.
    var meanRoundingErrorDecibels = 0.0
  }

  /// A change of one event that may explain the level difference in a region.
  private struct EventExplanation {
    var remainingCostFraction: Double
    var isEventAdded: Bool
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
    noiseFloorMeanSquare = (context.amplitudeFloor * 0.3) * (context.amplitudeFloor * 0.3)
    windowHalfWidthPoints = max(1, context.grid.pointCount(Self.windowSeconds) / 2)
    referenceEnergies = []
    candidateEnergies = []
    let allIndices = context.grid.indices
    referenceEnergies = meanSquares(side.summedAmplitudes[...], in: allIndices)
    candidateEnergies = meanSquares(candidate.summedAmplitudes[...], in: allIndices)
    regions = regions(in: allIndices)
    while let region = largestRegion {
      updateRegions(near: explain(region))
    }
  }

  // MARK: - Regions

  /// Returns the moving average of squared amplitudes at each point of a range.
  private func meanSquares(_ amplitudes: ArraySlice<Double>, in range: Range<Int>) -> [Double] {
    func squaredAmplitude(_ index: Int) -> Double {
      guard amplitudes.indices.contains(index) else { return 0 }
      return amplitudes[index] * amplitudes[index]
    }
    guard !range.isEmpty else { return [] }
    var windowEnergy = 0.0
    for index
      in (range.lowerBound - windowHalfWidthPoints)..<(range.lowerBound + windowHalfWidthPoints)
    {
      windowEnergy += squaredAmplitude(index)
    }
    var windowMeans: [Double] = []
    windowMeans.reserveCapacity(range.count)
    for index in range {
      windowMeans.append(max(0, windowEnergy) / Double(2 * windowHalfWidthPoints))
      windowEnergy +=
        squaredAmplitude(index + windowHalfWidthPoints)
        - squaredAmplitude(index - windowHalfWidthPoints)
    }
    return windowMeans
  }

  private func decibels(ofEnergy energy: Double) -> Double {
    10 * log10(energy + noiseFloorMeanSquare)
  }

  /// Returns the level of the candidate relative to the reference at a point, in decibels.
  private func levelChange(atPoint index: Int) -> Double {
    decibels(ofEnergy: candidateEnergies[index]) - decibels(ofEnergy: referenceEnergies[index])
  }

  private func maximumRoundingError(atPoint index: Int) -> Double {
    let quieterEnergy = min(referenceEnergies[index], candidateEnergies[index])
    return comparisonContext.resolution.maximumLevelErrorDecibels(
      atDecibels: 10 * log10(max(quieterEnergy, noiseFloorMeanSquare)))
  }

  /// Returns the larger amplitude of the two patterns at a point, or 0 for a masked point.
  private func largerAmplitude(atPoint index: Int) -> Double {
    if isPointMasked[index] { return 0 }
    let louderAmplitude = max(referenceEnergies[index], candidateEnergies[index]).squareRoot()
    return louderAmplitude > comparisonContext.amplitudeFloor ? louderAmplitude : 0
  }

  /// Returns the maximum level change due to rounding of the reference's times, in decibels.
  private func levelChangeByShift(atPoint index: Int) -> Double {
    let shiftPointCount = comparisonContext.maximumJumpShiftPoints
    let levelDecibels = decibels(ofEnergy: referenceEnergies[index])
    let earlierDecibels = decibels(ofEnergy: referenceEnergies[max(0, index - shiftPointCount)])
    let laterDecibels = decibels(
      ofEnergy: referenceEnergies[min(referenceEnergies.count - 1, index + shiftPointCount)])
    return max(abs(earlierDecibels - levelDecibels), abs(laterDecibels - levelDecibels))
  }

  /// Returns the sign of the level difference at a point, or 0 if rounding explains it.
  private func levelChangeSign(atPoint index: Int) -> Int {
    guard largerAmplitude(atPoint: index) > 0 else { return 0 }
    let changeDecibels = levelChange(atPoint: index)
    let minimumDecibels = FeltDifference.ReportingMinimum.decibels
    guard abs(changeDecibels) > minimumDecibels,
      abs(changeDecibels) > maximumRoundingError(atPoint: index) + minimumDecibels,
      abs(changeDecibels) > levelChangeByShift(atPoint: index) + minimumDecibels
    else { return 0 }
    return changeDecibels > 0 ? 1 : -1
  }

  /// The maximum gap between two points of the same region, in grid points.
  private var maximumGapPoints: Int { comparisonContext.grid.pointCount(Self.minimumRegionSeconds) }

  /// The region with the highest score, or nil if all regions are too short.
  private var largestRegion: Region? {
    var strongestRegion: Region?
    for region in regions
    where region.weightedDifferenceSum > strongestRegion?.weightedDifferenceSum ?? 0 {
      strongestRegion = region
    }
    return strongestRegion
  }

  /// Updates the regions near a range with changed levels.
  private mutating func updateRegions(near changed: Range<Int>) {
    let shiftPointCount = comparisonContext.maximumJumpShiftPoints
    var startPoint = changed.lowerBound - shiftPointCount
    var endPoint = changed.upperBound + shiftPointCount
    let affectedPoints = (startPoint - maximumGapPoints - 1)..<(endPoint + maximumGapPoints + 1)
    for region in regions where region.pointRange.overlaps(affectedPoints) {
      startPoint = min(startPoint, region.pointRange.lowerBound)
      endPoint = max(endPoint, region.pointRange.upperBound)
    }
    regions.removeAll { $0.pointRange.overlaps(affectedPoints) }
    regions += regions(in: (startPoint..<endPoint).clamped(to: comparisonContext.grid.indices))
  }

  /// Returns the regions with a level difference in a range.
  private func regions(in range: Range<Int>) -> [Region] {
    var openRanges: [Int: Range<Int>] = [:]
    var regions: [Region] = []
    func closeRange(_ sign: Int) {
      guard let range = openRanges.removeValue(forKey: sign) else { return }
      regions.append(scoredRegion(range))
    }
    for index in range {
      let sign = levelChangeSign(atPoint: index)
      guard sign != 0 else { continue }
      if let range = openRanges[sign], index - range.upperBound <= maximumGapPoints {
        openRanges[sign] = range.lowerBound..<(index + 1)
      } else {
        closeRange(sign)
        openRanges[sign] = index..<(index + 1)
      }
    }
    closeRange(1)
    closeRange(-1)
    return regions
  }

  /// Creates a region with its score, which is 0 for a region that is too short.
  private func scoredRegion(_ range: Range<Int>) -> Region {
    var scoredRegion = Region(pointRange: range)
    var maximumChangeDecibels = 0.0
    var weightSum = 0.0
    for index in range {
      let changeDecibels = levelChange(atPoint: index)
      let changeWeight = max(largerAmplitude(atPoint: index), 1e-12)
      maximumChangeDecibels = max(maximumChangeDecibels, abs(changeDecibels))
      scoredRegion.weightedDifferenceSum += changeWeight * abs(changeDecibels)
      scoredRegion.meanDifferenceDecibels += changeWeight * changeDecibels
      scoredRegion.meanRoundingErrorDecibels += changeWeight * maximumRoundingError(atPoint: index)
      weightSum += changeWeight
    }
    scoredRegion.meanDifferenceDecibels /= weightSum
    scoredRegion.meanRoundingErrorDecibels /= weightSum
    let minimumSeconds =
      maximumChangeDecibels >= Self.minimumLargeChangeDecibels
      ? Self.minimumLargeChangeSeconds : Self.minimumRegionSeconds
    if Double(range.count) * comparisonContext.grid.stepSeconds < minimumSeconds {
      scoredRegion.weightedDifferenceSum = 0
    }
    return scoredRegion
  }

  // MARK: - Explanations

  /// Explains the level difference of a region by an event or as a separate difference.
  ///
  /// Returns the range of grid points with changed levels or masked points.
  private mutating func explain(_ region: Region) -> Range<Int> {
    var explanations: [EventExplanation] = []
    if trialPointCount < Self.maximumTrialPointCount {
      for (index, track) in reference.tracks.enumerated()
      where isPerceptible(track, in: region.pointRange) {
        trialPointCount += affectedPointRange(of: track).count
        explanations.append(gainExplanation(index, track))
      }
      for (index, track) in candidate.tracks.enumerated()
      where isPerceptible(track, in: region.pointRange) {
        trialPointCount += affectedPointRange(of: track).count
        explanations.append(additionExplanation(index, track))
      }
    }
    let bestExplanation = explanations.min { $0.remainingCostFraction < $1.remainingCostFraction }
    if let bestExplanation,
      bestExplanation.remainingCostFraction < Self.maximumRemainingDifferenceFraction
    {
      return applyExplanation(bestExplanation)
    }
    return addUnexplainedRegion(region)
  }

  /// Returns true if a track is perceptible in a range.
  ///
  /// Explanations only change the track's sounding range.
  private func isPerceptible(_ track: FeltTrack, in range: Range<Int>) -> Bool {
    track.soundingRange.clamped(to: range).contains {
      track.amplitude(atPoint: $0) > comparisonContext.amplitudeFloor
    }
  }

  /// Returns the range of grid points that a track affects.
  private func affectedPointRange(of track: FeltTrack) -> Range<Int> {
    let soundingRange = track.soundingRange
    let marginPoints = 2 * windowHalfWidthPoints
    return max(
      0, soundingRange.lowerBound - marginPoints)..<min(
        comparisonContext.grid.totalPointCount, soundingRange.upperBound + marginPoints)
  }

  /// Returns the explanation that an event of the reference has another gain in the candidate.
  ///
  /// The gain is the one that explains the level difference best.
  ///
  /// - Parameters:
  ///   - index: The index of the event's track in the reference.
  ///   - track: The track of the event.
  private func gainExplanation(_ index: Int, _ track: FeltTrack) -> EventExplanation {
    let affectedRange = affectedPointRange(of: track)
    var crossEnergy = 0.0
    var trackEnergy = 0.0
    for point in affectedRange {
      let amplitude = track.amplitude(atPoint: point)
      let remainingAmplitude = reference.summedAmplitudes[point] - amplitude
      crossEnergy += amplitude * (candidate.summedAmplitudes[point] - remainingAmplitude)
      trackEnergy += amplitude * amplitude
    }
    var fittedGain = max(0, crossEnergy / max(trackEnergy, 1e-12))
    if fittedGain < Self.minimumPresentEventGain {
      fittedGain = 0
    }
    let initialCost = levelDifferenceCost(
      reference.summedAmplitudes[...], candidate.summedAmplitudes[...], in: affectedRange)
    let scaledAmplitudes = changedAmplitudes(
      of: reference, track, by: fittedGain - 1, around: affectedRange)
    let remainingCost = levelDifferenceCost(
      scaledAmplitudes, candidate.summedAmplitudes[...], in: affectedRange)
    return EventExplanation(
      remainingCostFraction: Self.remainingCostFraction(remainingCost, of: initialCost),
      isEventAdded: false,
      trackIndex: index,
      gain: fittedGain)
  }

  /// Returns the explanation that the candidate has an event that the reference lacks.
  ///
  /// - Parameters:
  ///   - index: The index of the event's track in the candidate.
  ///   - track: The track of the event.
  private func additionExplanation(_ index: Int, _ track: FeltTrack) -> EventExplanation {
    let affectedRange = affectedPointRange(of: track)
    let initialCost = levelDifferenceCost(
      reference.summedAmplitudes[...], candidate.summedAmplitudes[...], in: affectedRange)
    let reducedAmplitudes = changedAmplitudes(of: candidate, track, by: -1, around: affectedRange)
    let remainingCost = levelDifferenceCost(
      reference.summedAmplitudes[...], reducedAmplitudes, in: affectedRange)
    return EventExplanation(
      remainingCostFraction: Self.remainingCostFraction(remainingCost, of: initialCost),
      isEventAdded: true,
      trackIndex: index,
      gain: 0)
  }

  /// Returns the ratio of the remaining cost to the original cost, or 1 without a cost.
  private static func remainingCostFraction(_ remaining: Double, of cost: Double) -> Double {
    cost > 1e-9 ? remaining / cost : 1
  }

  /// Returns the summed amplitudes of a pattern near a range after adding a scaled track.
  private func changedAmplitudes(
    of side: SampledFeltPattern, _ track: FeltTrack, by factor: Double, around span: Range<Int>
  ) -> ArraySlice<Double> {
    let startIndex = max(0, span.lowerBound - windowHalfWidthPoints)
    let endIndex = min(
      comparisonContext.grid.totalPointCount, span.upperBound + windowHalfWidthPoints)
    var scaledAmplitudes = side.summedAmplitudes[startIndex..<endIndex]
    for index in track.pointRange.clamped(to: startIndex..<endIndex) {
      scaledAmplitudes[index] = max(
        0, scaledAmplitudes[index] + factor * track.amplitude(atPoint: index))
    }
    return scaledAmplitudes
  }

  /// Returns the cost of a range: the sum of level differences, weighted by amplitude.
  private func levelDifferenceCost(
    _ amplitudes: ArraySlice<Double>, _ candidateAmplitudes: ArraySlice<Double>,
    in range: Range<Int>
  ) -> Double {
    let meanEnergies = meanSquares(amplitudes, in: range)
    let candidateMeanEnergies = meanSquares(candidateAmplitudes, in: range)
    var weightedCost = 0.0
    for (offset, index) in range.enumerated() where !isPointMasked[index] {
      let louder = max(meanEnergies[offset], candidateMeanEnergies[offset]).squareRoot()
      guard louder > comparisonContext.amplitudeFloor else { continue }
      let changeDecibels =
        decibels(ofEnergy: candidateMeanEnergies[offset]) - decibels(ofEnergy: meanEnergies[offset])
      weightedCost += abs(changeDecibels) * louder
    }
    return weightedCost
  }

  private func timeRange(_ range: Range<Int>) -> ClosedRange<Double> {
    comparisonContext.grid.time(range.lowerBound)...comparisonContext.grid.time(range.upperBound)
  }

  /// Applies an explanation, and returns the range of grid points with changed levels.
  private mutating func applyExplanation(_ explanation: EventExplanation) -> Range<Int> {
    if explanation.isEventAdded {
      let track = candidate.tracks[explanation.trackIndex]
      candidate.replaceTrack(at: explanation.trackIndex, by: track.scaled(by: 0))
      let affectedRange = affectedPointRange(of: track)
      candidateEnergies.replaceSubrange(
        affectedRange, with: meanSquares(candidate.summedAmplitudes[...], in: affectedRange))
      differences.append(
        FeltDifference(
          kind: .added, timeRange: timeRange(track.soundingRange),
          amount: FeltComparisonContext.decibels(ofAmplitude: track.peakAmplitude),
          candidateEventIndices: [track.eventIndex]))
      return affectedRange
    }
    let track = reference.tracks[explanation.trackIndex]
    reference.replaceTrack(at: explanation.trackIndex, by: track.scaled(by: explanation.gain))
    let affectedRange = affectedPointRange(of: track)
    referenceEnergies.replaceSubrange(
      affectedRange, with: meanSquares(reference.summedAmplitudes[...], in: affectedRange))
    var trackDifference = FeltDifference(
      kind: .missing, timeRange: timeRange(track.soundingRange),
      amount: FeltComparisonContext.decibels(ofAmplitude: track.peakAmplitude),
      referenceEventIndices: [track.eventIndex])
    if explanation.gain > 0 {
      let soundingRange = track.soundingRange
      let energySum = soundingRange.reduce(0.0) { sum, index in
        sum + track.amplitude(atPoint: index) * track.amplitude(atPoint: index)
      }
      let rmsAmplitude = (energySum / Double(max(1, soundingRange.count))).squareRoot()
      trackDifference.kind = .level
      trackDifference.amount = FeltComparisonContext.decibels(ofAmplitude: explanation.gain)
      trackDifference.maximumRoundingError = comparisonContext.maximumLevelErrorDecibels(
        at: rmsAmplitude)
    }
    differences.append(trackDifference)
    return affectedRange
  }

  /// Adds a difference for a region that no event explains, and masks the region.
  ///
  /// - Returns: The masked range.
  private mutating func addUnexplainedRegion(_ region: Region) -> Range<Int> {
    let regionRange = region.pointRange
    var regionDifference = FeltDifference(
      kind: .level, timeRange: timeRange(regionRange), amount: region.meanDifferenceDecibels,
      maximumRoundingError: region.meanRoundingErrorDecibels)
    let maximumAmplitude = regionRange.reduce(0.0) { max($0, referenceEnergies[$1]) }.squareRoot()
    let candidateMaximumAmplitude = regionRange.reduce(0.0) { max($0, candidateEnergies[$1]) }
      .squareRoot()
    if candidateMaximumAmplitude < comparisonContext.amplitudeFloor
      || maximumAmplitude < comparisonContext.amplitudeFloor
    {
      regionDifference.kind =
        candidateMaximumAmplitude < comparisonContext.amplitudeFloor ? .missing : .added
      regionDifference.amount = FeltComparisonContext.decibels(
        ofAmplitude: max(maximumAmplitude, candidateMaximumAmplitude))
      let seconds = Double(regionRange.count) * comparisonContext.grid.stepSeconds
      let length = regionDifference.kind == .added ? seconds : -seconds
      // Next to a vibration of both sides, that vibration is longer or shorter.
      if bothPatternsSound(
        in: (regionRange.lowerBound - neighborReachPoints)..<regionRange.lowerBound)
      {
        regionDifference.kind = .duration
        regionDifference.amount = length
        regionDifference.maximumRoundingError = comparisonContext.resolution.maximumTimeErrorSeconds
      } else if bothPatternsSound(
        in: regionRange.upperBound..<(regionRange.upperBound + neighborReachPoints))
      {
        regionDifference.kind = .time
        regionDifference.amount = -length
        regionDifference.maximumRoundingError = comparisonContext.resolution.maximumTimeErrorSeconds
      }
    }
    regionDifference.referenceEventIndices = coveredEventIndices(by: regionRange, of: reference)
    regionDifference.candidateEventIndices = coveredEventIndices(by: regionRange, of: candidate)
    differences.append(regionDifference)
    let maskedStart = regionRange.lowerBound - windowHalfWidthPoints
    let maskedRange = maskedStart..<(regionRange.upperBound + windowHalfWidthPoints)
    for index in maskedRange.clamped(to: isPointMasked.indices) {
      isPointMasked[index] = true
    }
    return maskedRange
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

  /// Returns the event with most of the energy in a region, as an array.
  ///
  /// The array is empty if there is no such event, or if the event is not mostly within the region.
  private func coveredEventIndices(by range: Range<Int>, of side: SampledFeltPattern) -> [Int] {
    guard let eventIndex = side.dominantEventIndex(in: range),
      let track = side.tracks.first(where: { $0.eventIndex == eventIndex })
    else { return [] }
    let soundingRange = track.soundingRange
    let commonRange = soundingRange.clamped(to: range)
    return Double(commonRange.count) >= 0.8 * Double(soundingRange.count) ? [eventIndex] : []
  }
}
