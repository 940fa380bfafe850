internal import CMath
import SignalAnalysis

/// The changes that turn a felt reference pattern into the candidate pattern.
///
/// 1. Find a delay or a tempo of the whole, and pair transients.
/// 2. Move vibrations, or their ends.
/// 3. Find transients that the other pattern has as short vibrations.
/// 4. Find differences of level, and then of frequency, of the summed vibrations.
/// 5. Find differences of the paired transients, and missing and added ones.
/// 6. Join differences that are equal for all transients and vibrations.
///
/// Every step changes the reference, so that no difference is found twice.
struct FeltExplanation {
  /// The overall delay or tempo change, or nil if there is none.
  private let overallTimeChange: FeltTimeChange?
  /// The differences other than the overall time change, in the time of the candidate.
  private var differences: [FeltDifference] = []
  /// The transients of one pattern that the other pattern plays as short vibrations.
  private(set) var pulses: [FeltPulse] = []

  private var reference: SampledFeltPattern
  private var candidate: SampledFeltPattern
  private let comparisonContext: FeltComparisonContext
  private var transientPairs: [(Int, Int)] = []
  private var missingTransientIndices: [Int] = []
  private var addedTransientIndices: [Int] = []
  private var isPointMasked: [Bool]

  init(_ side: SampledFeltPattern, _ candidate: SampledFeltPattern, context: FeltComparisonContext)
  {
    self.reference = side
    self.candidate = candidate
    self.comparisonContext = context
    isPointMasked = [Bool](repeating: false, count: context.grid.totalPointCount)
    overallTimeChange = FeltTimeChange(side, candidate, context: context)
    if let overallTimeChange {
      self.reference = side.warped(by: overallTimeChange.timeWarp, grid: context.grid)
    }
    let alignedAmplitudes = self.reference.summedAmplitudes
    pairTransients()
    let shiftSearch = FeltShiftSearch(self.reference, candidate, context: context)
    self.reference = shiftSearch.reference
    differences += shiftSearch.differences
    findPulses()
    let levelSearch = FeltLevelSearch(
      self.reference, self.candidate, isMasked: isPointMasked, context: context)
    self.reference = levelSearch.reference
    self.candidate = levelSearch.candidate
    differences += levelSearch.differences
    differences += FeltFrequencySearch(self.reference, self.candidate, context: context).differences
    findTransientChanges()
    joinOverallChanges(amplitudes: alignedAmplitudes)
  }

  /// The mapping of the reference's times to the candidate's.
  var timeWarp: TimeWarp { overallTimeChange?.timeWarp ?? TimeWarp(sources: [], targets: []) }

  /// All differences, with time ranges in the time of the reference.
  var differencesInReferenceTime: [FeltDifference] {
    guard let overallTimeChange else { return differences }
    let timeWarp = overallTimeChange.timeWarp
    return [overallTimeChange.difference]
      + differences.map { $0.mappingTimeRange(timeWarp.source(of:)) }
  }

  /// All differences, with time ranges in the time of the candidate.
  var differencesInCandidateTime: [FeltDifference] {
    guard let overallTimeChange else { return differences }
    let timeWarp = overallTimeChange.timeWarp
    return [overallTimeChange.difference.mappingTimeRange(timeWarp.target(of:))] + differences
  }

  private mutating func pairTransients() {
    transientPairs = FeltPairing.transientPairs(reference.transients, candidate.transients)
    let pairedReferenceIndices = Set(transientPairs.map(\.0))
    let pairedCandidateIndices = Set(transientPairs.map(\.1))
    missingTransientIndices = reference.transients.indices.filter {
      !pairedReferenceIndices.contains($0)
    }
    addedTransientIndices = candidate.transients.indices.filter {
      !pairedCandidateIndices.contains($0)
    }
  }

  // MARK: - Pulses

  /// Pairs unpaired transients with short vibrations of the other pattern.
  private mutating func findPulses() {
    var unmatchedIndices: [Int] = []
    for index in missingTransientIndices {
      let transient = reference.transients[index]
      if !findPulse(transient, from: reference, in: candidate, isInReference: true) {
        unmatchedIndices.append(index)
      }
    }
    missingTransientIndices = unmatchedIndices
    unmatchedIndices = []
    for index in addedTransientIndices {
      let transient = candidate.transients[index]
      if !findPulse(transient, from: candidate, in: reference, isInReference: false) {
        unmatchedIndices.append(index)
      }
    }
    addedTransientIndices = unmatchedIndices
  }

  /// Finds a short vibration at the time of a transient, and returns true on success.
  private mutating func findPulse(
    _ transient: FeltTransient, from owner: SampledFeltPattern, in other: SampledFeltPattern,
    isInReference: Bool
  ) -> Bool {
    guard transient.amplitude >= comparisonContext.amplitudeFloor,
      let pulse = FeltPulse(
        transient, of: owner, in: other, isInReference, context: comparisonContext)
    else { return false }
    pulses.append(pulse)
    for index in pulse.measuredPointRange {
      isPointMasked[index] = true
    }
    differences += pulse.differences(context: comparisonContext)
    return true
  }

  // MARK: - Transients

  private mutating func findTransientChanges() {
    for (index, other) in transientPairs {
      compareTransients(reference.transients[index], candidate.transients[other])
    }
    for index in missingTransientIndices
    where reference.transients[index].amplitude >= comparisonContext.amplitudeFloor {
      let transient = reference.transients[index]
      var difference = FeltDifference(
        kind: .missing, subject: .transient, timeRange: transient.timeRange,
        amount: FeltComparisonContext.decibels(ofAmplitude: transient.amplitude),
        referenceEventIndices: [transient.eventIndex])
      difference.amountWithVibration = vibrationMask(around: transient).levelChangeDecibels(
        from: transient.energy, to: 0)
      differences.append(difference)
    }
    for index in addedTransientIndices
    where candidate.transients[index].amplitude >= comparisonContext.amplitudeFloor {
      let transient = candidate.transients[index]
      var difference = FeltDifference(
        kind: .added, subject: .transient, timeRange: transient.timeRange,
        amount: FeltComparisonContext.decibels(ofAmplitude: transient.amplitude),
        candidateEventIndices: [transient.eventIndex])
      difference.amountWithVibration = vibrationMask(around: transient).levelChangeDecibels(
        from: 0, to: transient.energy)
      differences.append(difference)
    }
  }

  /// Returns the vibration of the candidate that masks changes of a transient.
  private func vibrationMask(around transient: FeltTransient) -> TransientMask {
    TransientMask(
      vibrationEnergy: candidate.vibrationEnergy(
        in: transient.maskingRange, grid: comparisonContext.grid))
  }

  private mutating func compareTransients(_ transient: FeltTransient, _ other: FeltTransient) {
    guard max(transient.amplitude, other.amplitude) >= comparisonContext.amplitudeFloor else {
      return
    }
    var transientDifference = FeltDifference(
      kind: .time, subject: .transient, timeRange: transient.timeRange,
      amount: other.time - transient.time,
      maximumRoundingError: comparisonContext.resolution.maximumTimeErrorSeconds,
      referenceEventIndices: [transient.eventIndex], candidateEventIndices: [other.eventIndex])
    if abs(transientDifference.amount) > comparisonContext.minimumShiftSeconds {
      differences.append(transientDifference)
    }
    transientDifference.kind = .level
    transientDifference.amount =
      FeltComparisonContext.decibels(ofAmplitude: other.amplitude)
      - FeltComparisonContext.decibels(ofAmplitude: transient.amplitude)
    transientDifference.maximumRoundingError = comparisonContext.maximumLevelErrorDecibels(
      at: transient.amplitude)
    let transientMask = vibrationMask(around: transient)
    transientDifference.amountWithVibration = transientMask.levelChangeDecibels(
      from: transient.energy, to: other.energy)
    if abs(transientDifference.amount) > FeltDifference.ReportingMinimum.decibels
      + transientDifference.maximumRoundingError
    {
      differences.append(transientDifference)
    }
    transientDifference.kind = .frequency
    transientDifference.amount = other.log2Hertz - transient.log2Hertz
    transientDifference.maximumRoundingError =
      comparisonContext.resolution.maximumFrequencyErrorOctaves
    transientDifference.amountWithVibration = transientMask.frequencyChangeOctaves(
      transientDifference.amount, of: transient)
    if abs(transientDifference.amount) > comparisonContext.minimumFrequencyChangeOctaves {
      differences.append(transientDifference)
    }
  }

  // MARK: - The whole

  /// The tolerances for joining changes into one change of the whole pattern.
  ///
  /// A tolerance is the maximum deviation of a change from the median, in decibels or octaves.
  private static let overallChangeTolerances: [(kind: Difference.Kind, tolerance: Double)] = [
    (.level, 0.3), (.frequency, 0.03),
  ]
  /// The maximum unchanged fraction of the vibration in an overall change.
  private static let maximumUnchangedVibrationFraction = 0.05

  /// Joins equal changes of all transients and vibrations into one overall change.
  ///
  /// - Parameter amplitudes: The amplitudes of the reference in the time of the candidate.
  private mutating func joinOverallChanges(amplitudes: [Double]) {
    let perceptibleTransientCount = reference.transients.count {
      $0.amplitude >= comparisonContext.amplitudeFloor
    }
    for (kind, tolerance) in Self.overallChangeTolerances {
      let changes = differences.filter { $0.kind == kind }
      let amounts = changes.map(\.amount).sorted()
      guard changes.count >= 2, let minimumAmount = amounts.first, let maximumAmount = amounts.last,
        maximumAmount - minimumAmount <= 2 * tolerance,
        changes.count(where: { $0.subject == .transient }) == perceptibleTransientCount
      else { continue }
      guard changesCoverVibration(changes.filter { $0.subject != .transient }, amplitudes) else {
        continue
      }
      differences.removeAll { $0.kind == kind }
      let startTime = changes.map(\.timeRange.lowerBound).min() ?? 0
      let endTime = changes.map(\.timeRange.upperBound).max() ?? startTime
      differences.append(
        FeltDifference(
          kind: kind, subject: .whole, timeRange: startTime...endTime,
          amount: Statistics.median(of: amounts),
          maximumRoundingError: changes.map(\.maximumRoundingError).max() ?? 0))
    }
  }

  /// Returns whether changes affect nearly all of the vibration.
  private func changesCoverVibration(_ changes: [FeltDifference], _ amplitudes: [Double]) -> Bool {
    var isPointCovered = [Bool](repeating: false, count: comparisonContext.grid.totalPointCount)
    for change in changes {
      let firstPoint = comparisonContext.grid.index(before: change.timeRange.lowerBound - 0.01)
      let endPoint = comparisonContext.grid.index(before: change.timeRange.upperBound + 0.01)
      for index in firstPoint..<max(firstPoint, endPoint) {
        isPointCovered[index] = true
      }
    }
    var totalAmplitude = 0.0
    var uncoveredAmplitude = 0.0
    for (index, amplitude) in amplitudes.enumerated() {
      totalAmplitude += amplitude
      if !isPointCovered[index] {
        uncoveredAmplitude += amplitude
      }
    }
    return uncoveredAmplitude <= Self.maximumUnchangedVibrationFraction * totalAmplitude
  }
}

/// The vibration around a transient, which hides a part of the transient's changes.
private struct TransientMask {
  /// The integral of the squared amplitude of the vibration around the transient.
  let vibrationEnergy: Double

  /// Returns the change in the combined level of transient and vibration, in decibels.
  ///
  /// - Parameters:
  ///   - before: The energy of the transient in the reference.
  ///   - after: The energy of the transient in the candidate.
  func levelChangeDecibels(from before: Double, to after: Double) -> Double {
    10 * log10((vibrationEnergy + after + 1e-12) / (vibrationEnergy + before + 1e-12))
  }

  /// Returns the change in the mean frequency of transient and vibration, in octaves.
  ///
  /// The result is the change of the transient, weighted by its fraction of the energy.
  func frequencyChangeOctaves(_ change: Double, of transient: FeltTransient) -> Double {
    change * transient.energy / max(transient.energy + vibrationEnergy, 1e-12)
  }
}

/// A transient of one pattern that the other pattern plays as a short vibration.
struct FeltPulse {
  let transient: FeltTransient
  /// A Boolean value that indicates whether the transient belongs to the reference.
  ///
  /// Otherwise, the transient belongs to the candidate.
  let isInReference: Bool
  /// The range of grid points for measuring the vibration.
  let measuredPointRange: Range<Int>
  /// The level of the vibration relative to the transient, in decibels.
  private let vibrationRelativeLevelDecibels: Double
  /// The frequency of the vibration relative to the transient, in octaves.
  private let vibrationRelativeOctaves: Double
  /// The vibration that surrounds the transient in both patterns.
  private let transientMask: TransientMask

  /// The maximum time from the start of the vibration to the start of the transient, in seconds.
  private static let maximumVibrationLeadSeconds = 0.004
  /// The maximum time from the start of the transient to the end of the vibration, in seconds.
  private static let maximumPulseSeconds = 0.045
  /// The range of energy ratios, vibration to transient, of possible counterparts.
  private static let vibrationToTransientEnergyRatios = 0.1...10.0
  /// The tolerance for the level of a vibration relative to the transient, in decibels.
  ///
  /// Within the tolerance, a vibration of a different length still feels the same as the transient.
  private static let levelToleranceDecibels = 1.0

  /// Finds the excess vibration of one pattern at a transient of the other pattern.
  ///
  /// Returns nil if the energy of the excess does not match the transient's.
  init?(
    _ transient: FeltTransient, of owner: SampledFeltPattern, in other: SampledFeltPattern,
    _ isInReference: Bool,
    context: FeltComparisonContext
  ) {
    let firstPointIndex = context.grid.index(
      before: transient.time - Self.maximumVibrationLeadSeconds)
    let endPointIndex = context.grid.index(before: transient.time + Self.maximumPulseSeconds)
    measuredPointRange = firstPointIndex..<max(firstPointIndex, endPointIndex)
    var surplusEnergy = 0.0
    var frequencyMoment = 0.0
    for index in measuredPointRange {
      let ownEnergy = owner.summedAmplitudes[index] * owner.summedAmplitudes[index]
      let excessEnergy = max(
        0, other.summedAmplitudes[index] * other.summedAmplitudes[index] - ownEnergy)
      surplusEnergy += excessEnergy
      frequencyMoment += excessEnergy > 0 ? excessEnergy * other.meanLog2Hertz(atPoint: index) : 0
    }
    let energyRatio = surplusEnergy * context.grid.stepSeconds / max(transient.energy, 1e-12)
    guard Self.vibrationToTransientEnergyRatios.contains(energyRatio) else { return nil }
    self.transient = transient
    self.isInReference = isInReference
    vibrationRelativeLevelDecibels = 10 * log10(energyRatio)
    transientMask = TransientMask(
      vibrationEnergy: owner.vibrationEnergy(in: transient.maskingRange, grid: context.grid))
    vibrationRelativeOctaves = frequencyMoment / surplusEnergy - transient.log2Hertz
  }

  /// Returns the differences of level and frequency between transient and vibration.
  func differences(context: FeltComparisonContext) -> [FeltDifference] {
    let directionSign = isInReference ? 1.0 : -1.0
    var pulseDifference = FeltDifference(
      kind: .level, subject: .transient, timeRange: transient.timeRange,
      amount: directionSign * vibrationRelativeLevelDecibels,
      maximumRoundingError: Self.levelToleranceDecibels,
      referenceEventIndices: isInReference ? [transient.eventIndex] : [],
      candidateEventIndices: isInReference ? [] : [transient.eventIndex])
    let pulseEnergy = transient.energy * pow(10, vibrationRelativeLevelDecibels / 10)
    pulseDifference.amountWithVibration =
      directionSign * transientMask.levelChangeDecibels(from: transient.energy, to: pulseEnergy)
    var differences: [FeltDifference] = []
    if abs(vibrationRelativeLevelDecibels) > FeltDifference.ReportingMinimum.decibels
      + Self.levelToleranceDecibels
    {
      differences.append(pulseDifference)
    }
    pulseDifference.kind = .frequency
    pulseDifference.amount = directionSign * vibrationRelativeOctaves
    pulseDifference.amountWithVibration = transientMask.frequencyChangeOctaves(
      pulseDifference.amount, of: transient)
    pulseDifference.maximumRoundingError = context.resolution.maximumFrequencyErrorOctaves
    if abs(vibrationRelativeOctaves) > context.minimumFrequencyChangeOctaves {
      differences.append(pulseDifference)
    }
    return differences
  }
}
