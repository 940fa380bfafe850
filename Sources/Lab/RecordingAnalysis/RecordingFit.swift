internal import CMath
import SignalAnalysis

/// The position of a reference in a recording.
struct RecordingPlacement {
  /// The start of the reference in the recording, in seconds.
  var delaySeconds: Double
  /// The relative tempo deviation; positive if the recording is slower.
  var tempoDeviation: Double
  /// A Boolean value that indicates whether the tempo also stretches waveforms.
  ///
  /// It does in a resampled recording. Otherwise, it only moves the events.
  var isResampled = true

  /// The ratio of a waveform's duration in the recording to its duration in the reference.
  var timeScale: Double { isResampled ? 1 + tempoDeviation : 1 }

  /// Returns the time in the recording for a time of the reference, in seconds.
  func recordingTime(at time: Double) -> Double { delaySeconds + (1 + tempoDeviation) * time }
}

/// A model of a recording's excerpt: a reference's waveforms, hum, a DC offset, and noise.
///
/// The fit alternates two steps:
///
/// 1. `solve` computes the gain of each waveform by linear least squares, together with the
///    amplitudes of hum and the offset. Recording and waveforms pass a whitening filter first, so
///    that the residual of a true model is white noise.
/// 2. `refine` divides the result into blocks of 25 ms and computes by linearization how much each
///    block is early or late. A robust line through these shifts corrects delay and tempo
///    (Gauss–Newton).
struct RecordingFit {
  var reference: RecordingReference
  /// The samples of the recording's excerpt.
  var recordingExcerpt: [Float]
  var placement: RecordingPlacement
  /// The maximum magnitude of the tempo deviation, as a fraction.
  var maximumTempoDeviation: Double
  /// The impulse response of the filter that makes the noise white.
  var whitenerTaps: [Float] = [1]
  /// The frequencies of hum that are part of the fit, in hertz.
  private(set) var humHertz: [Double] = []
  /// The sample ranges that are not part of the fit.
  var excludedRanges: [Range<Int>] = [] {
    didSet {
      if excludedRanges != oldValue {
        setHum(hertz: humHertz)
      }
    }
  }
  /// The indices of changed waveforms, which are excluded from the alignment.
  ///
  /// They don't determine the placement if at least two other waveforms do.
  var waveformsExcludedFromAlignment: Set<Int> = []
  /// The standard error of the tempo deviation, as a fraction.
  private(set) var tempoStandardError = Double.infinity
  /// The columns of the design matrix for the DC offset and hum.
  private var nuisanceColumns: [DesignColumn] = []
  /// The inner products of the DC offset and hum columns with each other.
  ///
  /// Each row ends at the diagonal.
  private var nuisanceProducts: [[Double]] = []

  private var sampleRate: Double { reference.sampleRate }

  /// Returns the model error in the recording before whitening, at a common gain.
  func modelErrorMagnitude(commonGain: Double) -> Double {
    Self.modelErrorToPeakRatio * commonGain * reference.peakMagnitude
  }

  /// A Boolean value that indicates whether the tempo deviates by at most a clock difference.
  var isLimitedToClockDeviation: Bool { maximumTempoDeviation <= Self.maximumClockTempoDeviation }

  /// The minimum energy of a waveform with a usable gain, relative to the strongest waveform.
  private static let minimumWaveformEnergyRatio = 1e-5
  private static let whitenerTapCount = 33
  /// The model error of the best-fitting waveform, relative to the recorded reference's peak.
  private static let modelErrorToPeakRatio = 5e-4
  /// The maximum tempo deviation between two clocks, as a fraction.
  static let maximumClockTempoDeviation = 0.002

  init(
    _ reference: RecordingReference, recordingExcerpt recording: [Float],
    placement: RecordingPlacement
  ) {
    self.reference = reference
    self.recordingExcerpt = recording
    self.placement = placement
    // Only a search for another tempo may find one. Otherwise, short waveforms would be explained
    // by a wrong tempo.
    maximumTempoDeviation =
      abs(placement.tempoDeviation) > Self.maximumClockTempoDeviation
      ? 0.034 : Self.maximumClockTempoDeviation
    setHum(hertz: [])
  }

  // MARK: - Gains

  /// The solution of the least-squares problem at one placement.
  struct Solution {
    /// The gain of each group of indistinguishable waveforms.
    var groupGains: [Double]
    /// The standard errors of the gains for noise of unit variance.
    var standardErrors: [Double]
    /// The whitened recording minus the fitted signal.
    var whitenedResidual: [Float]
    /// The whitened waveforms.
    var whitenedColumns: [DesignColumn]
    /// The whitened recording minus hum and DC offset.
    var humFreeRecording: [Float]
    /// The energy of the whitened recording.
    var whitenedRecordingEnergy: Double

    /// The standard deviation of the noise in the whitened residual.
    var noiseDeviation: Double { RecordingFit.noiseDeviation(of: whitenedResidual) }
    /// The gain that most of the waveforms have in common.
    var commonGain: Double {
      RecordingFit.commonGain(groupGains, standardErrors: standardErrors, sigma: noiseDeviation)
    }
    /// The energy of the residual relative to that of the recording.
    var residualEnergyRatio: Double {
      Vector.energy(whitenedResidual) / max(whitenedRecordingEnergy, 1e-30)
    }
  }

  /// Adds steady tones to the fit.
  ///
  /// Each tone has a cosine and a sine, each of them constant and with a linear slope.
  mutating func setHum(hertz frequencies: [Double]) {
    humHertz = frequencies
    let sampleCount = recordingExcerpt.count
    let firstFittedSample = min(Self.whitenerTapCount, sampleCount)
    let middleSample = Double(sampleCount) / 2
    var nuisanceWaveforms = [[Float](repeating: 1, count: sampleCount)]
    for hertz in frequencies {
      let phaseIncrement = 2 * .pi * hertz / sampleRate
      let cosines = (0..<sampleCount).map { cos(phaseIncrement * Double($0)) }
      let sines = (0..<sampleCount).map { sin(phaseIncrement * Double($0)) }
      let slopes = (0..<sampleCount).map { (Double($0) - middleSample) / max(1, middleSample) }
      nuisanceWaveforms.append(cosines.map { Float($0) })
      nuisanceWaveforms.append(sines.map { Float($0) })
      nuisanceWaveforms.append(zip(cosines, slopes).map { Float($0 * $1) })
      nuisanceWaveforms.append(zip(sines, slopes).map { Float($0 * $1) })
    }
    // A filter maps the space of such columns to itself, so they need no whitening.
    nuisanceColumns = nuisanceWaveforms.map {
      var column = DesignColumn(
        firstSampleIndex: firstFittedSample, samples: Array($0[firstFittedSample...]))
      column.silence(excludedRanges)
      return column
    }
    nuisanceProducts = nuisanceColumns.indices.map { row in
      (0...row).map { nuisanceColumns[row].dotProduct(nuisanceColumns[$0]) }
    }
  }

  /// Returns the waveform with an index, at its position in the recording.
  func waveformColumn(at index: Int) -> DesignColumn { column(of: reference.waveforms[index]) }

  /// Returns a waveform at its position in the recording.
  func column(of waveform: EventWaveform) -> DesignColumn {
    waveform.designColumn(
      onset: placement.recordingTime(at: waveform.eventSeconds), timeScale: placement.timeScale,
      count: recordingExcerpt.count)
  }

  /// Returns a mask of the recording's samples that is true while the reference is silent.
  ///
  /// The reference is silent if it is more than 50 dB below its peak for 10 ms on both sides.
  func silenceMask() -> [Bool] {
    var isSilent = [Bool](repeating: true, count: recordingExcerpt.count)
    let silenceMagnitude = Float(0.003 * reference.peakMagnitude)
    let marginSamples = Int(0.01 * sampleRate)
    for index in reference.waveforms.indices {
      let column = waveformColumn(at: index)
      var previous = -marginSamples
      for (offset, sample) in column.samples.enumerated() where abs(sample) > silenceMagnitude {
        let position = column.firstSampleIndex + offset
        let first = max(0, previous + marginSamples, position - marginSamples)
        for near in first..<min(recordingExcerpt.count, position + marginSamples) {
          isSilent[near] = false
        }
        previous = position
      }
    }
    return isSilent
  }

  /// Returns the sum of each group of indistinguishable waveforms.
  private func waveformGroupColumns() -> [DesignColumn] {
    reference.indistinguishableWaveformGroups.map { group in
      let columns = group.map { waveformColumn(at: $0) }.filter { !$0.samples.isEmpty }
      guard columns.count > 1 else {
        return columns.first ?? DesignColumn(firstSampleIndex: 0, samples: [])
      }
      let start = columns.map(\.firstSampleIndex).min() ?? 0
      let end = columns.map(\.recordingRange.upperBound).max() ?? 0
      var samples = [Float](repeating: 0, count: end - start)
      for column in columns {
        column.add(to: &samples, from: start, times: 1)
      }
      return DesignColumn(firstSampleIndex: start, samples: samples)
    }
  }

  /// Solves the least-squares problem for the gains of the waveforms, the hum, and the DC offset.
  ///
  /// - Parameter isWhitened: Pass false to leave out the whitening filter.
  func solve(isWhitened: Bool = true) -> Solution {
    let filterTaps = isWhitened ? whitenerTaps : [1]
    var whitenedRecording = whitened(recordingExcerpt, by: filterTaps)
    let design = design(filterTaps: filterTaps)
    let groupColumns = design.groupColumns
    let normalMatrix = design.factorizedMatrix
    let columnGains = normalMatrix.solution(
      of: rightSide(groupColumns, observed: whitenedRecording))

    let recordingEnergy = Vector.energy(whitenedRecording)
    let columnEnergies = groupColumns.map { Vector.energy($0.samples) }
    let minimumColumnEnergy = Self.minimumWaveformEnergyRatio * (columnEnergies.max() ?? 0)
    for (column, gain) in zip(nuisanceColumns, columnGains[groupColumns.count...]) {
      column.add(to: &whitenedRecording, times: -gain)
    }
    var whitenedResidual = whitenedRecording
    for (column, gain) in zip(groupColumns, columnGains) {
      column.add(to: &whitenedResidual, times: -gain)
    }
    return Solution(
      groupGains: Array(columnGains[..<groupColumns.count]),
      standardErrors: groupColumns.indices.map {
        columnEnergies[$0] > minimumColumnEnergy
          ? normalMatrix.rootOfInverseDiagonal(at: $0) : .infinity
      },
      whitenedResidual: whitenedResidual, whitenedColumns: groupColumns,
      humFreeRecording: whitenedRecording,
      whitenedRecordingEnergy: recordingEnergy)
  }

  /// The part of the least-squares problem that does not depend on the recording.
  struct Design {
    /// The whitened groups of indistinguishable waveforms.
    var groupColumns: [DesignColumn]
    /// The Cholesky factor of the normal matrix of groups, DC offset, and hum.
    var factorizedMatrix: SkylineMatrix
  }

  /// Returns the design of the least-squares problem with a whitening filter.
  private func design(filterTaps: [Float]) -> Design {
    let groupColumns = waveformGroupColumns().map { column in
      var column = column.whitened(by: filterTaps, count: recordingExcerpt.count)
      column.silence(excludedRanges)
      return column
    }
    var normalMatrix = normalMatrix(groupColumns)
    normalMatrix.factorize()
    return Design(groupColumns: groupColumns, factorizedMatrix: normalMatrix)
  }

  /// Returns a whitened excerpt that is zero at all samples that are not part of the fit.
  private func whitened(_ excerpt: [Float], by filterTaps: [Float]) -> [Float] {
    var whitenedExcerpt = Vector.filtered(excerpt, by: filterTaps)
    for range in unfittedRanges {
      Vector.zero(&whitenedExcerpt, in: range)
    }
    return whitenedExcerpt
  }

  /// The sample ranges that are not part of the fit, including the start of the filter's output.
  private var unfittedRanges: [Range<Int>] { [0..<Self.whitenerTapCount] + excludedRanges }

  /// The design of the least-squares problem with the whitening filter of the fit.
  var whitenedDesign: Design { design(filterTaps: whitenerTaps) }

  /// Returns the log likelihood of a recording that a gain has changed.
  ///
  /// Each group of waveforms has its own gain in the fit, and the power of the noise is unknown.
  /// The likelihood is a density of the recording. The restoration divides samples by their gains,
  /// so the sum of the logarithms of the gains is subtracted.
  ///
  /// - Parameters:
  ///   - restoredExcerpt: The excerpt before the gain.
  ///   - design: The whitened design of this fit.
  func logLikelihood(
    of restoredExcerpt: RestoredRecording, design: Design
  ) -> Double {
    var residual = whitened(restoredExcerpt.samples.map(Float.init), by: whitenerTaps)
    let columnGains = design.factorizedMatrix.solution(
      of: rightSide(design.groupColumns, observed: residual))
    for (column, gain) in zip(design.groupColumns + nuisanceColumns, columnGains) {
      column.add(to: &residual, times: -gain)
    }
    var isFitted = [Bool](repeating: true, count: residual.count)
    for index in unfittedRanges.joined() where isFitted.indices.contains(index) {
      isFitted[index] = false
    }
    let logGainSum = zip(restoredExcerpt.logGains, isFitted).reduce(0) { $1.1 ? $0 + $1.0 : $0 }
    let fittedCount = Double(isFitted.count { $0 })
    return -0.5 * fittedCount * log(max(1e-30, Vector.energy(residual))) - logGainSum
  }

  /// Returns the normal matrix of the least-squares problem.
  ///
  /// Waveforms that don't overlap are orthogonal, so the rows of the matrix begin at the first
  /// overlapping waveform.
  private func normalMatrix(_ columns: [DesignColumn]) -> SkylineMatrix {
    var normalMatrix = SkylineMatrix()
    for (index, column) in columns.enumerated() {
      let firstOverlap = (0..<index).first {
        columns[$0].recordingRange.overlaps(column.recordingRange) && !column.samples.isEmpty
      }
      let first = firstOverlap ?? index
      normalMatrix.appendRow(
        (first...index).map { column.dotProduct(columns[$0]) }, startingAt: first)
    }
    for (index, nuisance) in nuisanceColumns.enumerated() {
      normalMatrix.appendRow(
        columns.map { nuisance.dotProduct($0) } + nuisanceProducts[index], startingAt: 0)
    }
    return normalMatrix
  }

  /// Returns the right side of the normal equations.
  private func rightSide(_ columns: [DesignColumn], observed: [Float]) -> [Double] {
    (columns + nuisanceColumns).map { $0.dotProduct(observed) }
  }

  /// Returns the gain that most of the reference's waveforms share.
  ///
  /// It is the mean of the largest set of gains that agree.
  private static func commonGain(
    _ gains: [Double], standardErrors: [Double], sigma: Double
  ) -> Double {
    let inverseVariances = standardErrors.map { 1 / max($0 * $0, 1e-24) }
    let maximumWeight = 4 * Statistics.median(of: inverseVariances)
    var bestGain = (score: 0.0, gain: 0.0)
    for (gain, error) in zip(gains, standardErrors) where gain > 0 {
      var votes = 0.0
      var totalWeight = 0.0
      var sum = 0.0
      for index in gains.indices {
        let tolerance = 0.05 * gain + 3 * sigma * (error + standardErrors[index])
        guard abs(gains[index] - gain) < min(tolerance, 0.3 * gain) else { continue }
        // One event does not outvote two others, however strong it is.
        let clarity =
          gain / max(1e-30, 2 * RecordingThreshold.minimumZScore * sigma * standardErrors[index])
        votes += min(1, clarity * clarity)
        let weight = min(inverseVariances[index], maximumWeight)
        totalWeight += weight
        sum += weight * gains[index]
      }
      // Any change but one of level lowers the gain of an event, so prefer higher gains.
      let score = votes * pow(gain, 0.25)
      if score > bestGain.score * 1.001 {
        bestGain = (score, sum / totalWeight)
      }
    }
    return bestGain.gain
  }

  /// Returns the standard deviation of the noise in a whitened residual.
  ///
  /// It is the root of the median power of blocks of 25 ms.
  static func noiseDeviation(of residual: [Float]) -> Double {
    let blockPowers = stride(from: 0, to: residual.count - 99, by: 100).map {
      Vector.energy(residual, $0..<$0 + 100) / 100
    }
    return max(1e-12, (Statistics.median(of: blockPowers) * 1.007).squareRoot())
  }

  // MARK: - Placement

  /// Refines delay and tempo by a robust line through the time shifts of 25 ms blocks.
  mutating func refinePlacement(rounds: Int = 3) {
    for _ in 0..<rounds {
      let solution = solve()
      let gain = max(1e-9, solution.commonGain)
      var fitted = [Float](repeating: 0, count: recordingExcerpt.count)
      for (column, columnGain) in zip(solution.whitenedColumns, solution.groupGains) {
        column.add(to: &fitted, times: min(max(columnGain, 0.3 * gain), 3 * gain))
      }
      updatePlacement(from: blockShifts(of: fitted, solution, sigma: solution.noiseDeviation))
    }
  }

  /// The time shift between a 25 ms block of the fitted signal and the recording.
  private struct BlockShift {
    /// The center of the block, in seconds from the start of the reference.
    var centerSeconds: Double
    /// The time shift, in seconds; positive if the recording is late.
    var shiftSeconds: Double
    /// The weight of the shift in the regression: its inverse variance.
    var inverseVariance: Double
    /// The index of the waveform group with most of the block's energy.
    ///
    /// The index is -1 if no waveform overlaps the block.
    var columnIndex: Int
    /// The reciprocal of the number of blocks with the same `columnIndex`.
    ///
    /// With this weight, long and short events have equal influence.
    var eventWeight = 1.0
  }

  /// Returns the time shifts of the blocks that determine the placement.
  private func blockShifts(
    of fitted: [Float], _ solution: Solution, sigma: Double
  ) -> [BlockShift] {
    var significantShifts = estimatedBlockShifts(of: fitted, solution)
    let minimumInverseVariance = 1e-4 * (significantShifts.map(\.inverseVariance).max() ?? 0)
    significantShifts.removeAll { $0.inverseVariance <= minimumInverseVariance }
    if !waveformsExcludedFromAlignment.isEmpty {
      let determining = significantShifts.filter { shift in
        guard shift.columnIndex >= 0 else { return false }
        let group = reference.indistinguishableWaveformGroups[shift.columnIndex]
        return !group.contains { waveformsExcludedFromAlignment.contains($0) }
      }
      if Set(determining.map(\.columnIndex)).count > 1 {
        significantShifts = determining
      }
    }
    // The model is accurate to 10 µs at best.
    for index in significantShifts.indices {
      significantShifts[index].inverseVariance = min(
        significantShifts[index].inverseVariance / (sigma * sigma), 1e10)
    }
    let maximumInverseVariance = 9 * Statistics.median(of: significantShifts.map(\.inverseVariance))
    let blockCountsByColumn = significantShifts.reduce(into: [:]) {
      $0[$1.columnIndex, default: 0.0] += 1
    }
    for index in significantShifts.indices {
      significantShifts[index].inverseVariance = min(
        significantShifts[index].inverseVariance, maximumInverseVariance)
      significantShifts[index].eventWeight =
        1 / (blockCountsByColumn[significantShifts[index].columnIndex] ?? 1)
    }
    return significantShifts
  }

  /// Returns the index of the waveform column with most of the energy, for each block.
  ///
  /// The index is -1 if no column overlaps the block.
  private func dominantColumns(_ columns: [DesignColumn], blockLength: Int, count: Int) -> [Int] {
    var dominantColumnsByBlock = [(energy: Double, column: Int)](repeating: (0, -1), count: count)
    for (index, column) in columns.enumerated() where !column.samples.isEmpty {
      let firstBlock = max(0, column.firstSampleIndex - 1) / blockLength
      let lastBlock = max(0, column.recordingRange.upperBound - 1) / blockLength
      for block in firstBlock...lastBlock where block < dominantColumnsByBlock.count {
        let samples = 1 + block * blockLength..<1 + (block + 1) * blockLength
        let overlap = samples.clamped(to: column.recordingRange)
        guard !overlap.isEmpty else { continue }
        let energy = Vector.energy(
          column.samples,
          overlap.lowerBound - column.firstSampleIndex..<overlap.upperBound
            - column.firstSampleIndex)
        if energy > dominantColumnsByBlock[block].energy {
          dominantColumnsByBlock[block] = (energy, index)
        }
      }
    }
    return dominantColumnsByBlock.map(\.column)
  }

  /// Returns the time shift of each block, estimated by linearizing the fitted signal.
  ///
  /// With the fitted signal x, its derivative d, and the residual r, the model r = a x − s d has
  /// the shift s = −(⟨r, d⟩ − ⟨r, x⟩ ⟨d, x⟩ / ⟨x, x⟩) / (⟨d, d⟩ − ⟨d, x⟩² / ⟨x, x⟩): the part of
  /// the derivative that is not a change of level.
  private func estimatedBlockShifts(of fitted: [Float], _ solution: Solution) -> [BlockShift] {
    let blockSampleCount = Int(sampleRate / 40)
    let dominantColumnIndices = dominantColumns(
      solution.whitenedColumns, blockLength: blockSampleCount,
      count: fitted.count / blockSampleCount + 1)
    let halfSampleRate = Float(sampleRate / 2)
    var blockShifts: [BlockShift] = []
    for start in stride(from: 1, to: fitted.count - blockSampleCount, by: blockSampleCount) {
      var xx = Float(1e-30)
      var dx = Float(0)
      var dd = Float(0)
      var rx = Float(0)
      var rd = Float(0)
      unsafe fitted.withUnsafeBufferPointer { x in
        unsafe solution.whitenedResidual.withUnsafeBufferPointer { r in
          for i in start..<start + blockSampleCount {
            let d = unsafe (x[i + 1] - x[i - 1]) * halfSampleRate
            unsafe xx += x[i] * x[i]
            unsafe dx += d * x[i]
            dd += d * d
            unsafe rx += r[i] * x[i]
            unsafe rd += r[i] * d
          }
        }
      }
      let levelRatio = dx / xx
      let weight = Double(dd - levelRatio * dx)
      guard weight > 0 else { continue }
      blockShifts.append(
        BlockShift(
          centerSeconds: (Double(start) + Double(blockSampleCount) / 2) / sampleRate
            - placement.delaySeconds,
          shiftSeconds: -Double(rd - levelRatio * rx) / weight,
          inverseVariance: weight, columnIndex: dominantColumnIndices[start / blockSampleCount]))
    }
    return blockShifts
  }

  /// A line through the time shifts of blocks: offset + slope · (time − center).
  private struct ShiftLine {
    var offsetSeconds = 0.0
    var shiftPerSecond = 0.0
    var centerSeconds = 0.0
    /// The weighted sum of the squared differences between block times and `centerSeconds`.
    var weightedTimeSquareSum = 0.0

    func residual(of shift: BlockShift) -> Double {
      shift.shiftSeconds - offsetSeconds - shiftPerSecond * (shift.centerSeconds - centerSeconds)
    }
  }

  /// Fits a line by iteratively reweighted least squares.
  ///
  /// Returns nil without valid shifts.
  ///
  /// Each weight is multiplied by 1 / (1 + (residual / scale)²)², the weight of a heavy-tailed
  /// distribution. Long and short events have the same weight in the scale.
  private static func robustLine(through shifts: [BlockShift]) -> ShiftLine? {
    let eventWeights = shifts.map(\.eventWeight)
    func robustnessWeights(_ residuals: [Double]) -> [Double] {
      let scale = 1e-4 + 2 * Statistics.median(of: residuals, weights: eventWeights)
      return residuals.map {
        1 / ((1 + ($0 / scale) * ($0 / scale)) * (1 + ($0 / scale) * ($0 / scale)))
      }
    }
    let medianShiftSeconds = Statistics.median(
      of: shifts.map(\.shiftSeconds), weights: eventWeights)
    var shiftWeights = robustnessWeights(shifts.map { abs($0.shiftSeconds - medianShiftSeconds) })
    var shiftLine = ShiftLine()
    for _ in 0..<8 {
      var sum = 0.0
      var times = 0.0
      for (shift, factor) in zip(shifts, shiftWeights) {
        sum += shift.inverseVariance * factor
        times += shift.inverseVariance * factor * shift.centerSeconds
      }
      guard sum > 0 else { return nil }
      shiftLine.centerSeconds = times / sum
      shiftLine.weightedTimeSquareSum = 0
      var product = 0.0
      var seconds = 0.0
      for (shift, factor) in zip(shifts, shiftWeights) {
        let weight = shift.inverseVariance * factor
        let time = shift.centerSeconds - shiftLine.centerSeconds
        shiftLine.weightedTimeSquareSum += weight * time * time
        product += weight * time * shift.shiftSeconds
        seconds += weight * shift.shiftSeconds
      }
      shiftLine.shiftPerSecond =
        shiftLine.weightedTimeSquareSum > 0 ? product / shiftLine.weightedTimeSquareSum : 0
      shiftLine.offsetSeconds = seconds / sum
      shiftWeights = robustnessWeights(shifts.map { abs(shiftLine.residual(of: $0)) })
    }
    return shiftLine
  }

  /// Corrects the placement's delay and tempo by a robust line through the time shifts.
  private mutating func updatePlacement(from shifts: [BlockShift]) {
    guard let shiftLine = Self.robustLine(through: shifts) else { return }
    // If shifts scatter more than noise explains, the accuracy of the model limits them. The median
    // of a squared standard normal variable is 0.455.
    let medianWeightedSquare = Statistics.median(
      of: shifts.map {
        let residual = shiftLine.residual(of: $0)
        return residual * residual * $0.inverseVariance
      })
    let excessVarianceFactor = max(1, medianWeightedSquare / 0.455)
    tempoStandardError =
      shiftLine.weightedTimeSquareSum > 0
      ? (excessVarianceFactor / shiftLine.weightedTimeSquareSum).squareRoot() : .infinity
    // A normal prior about zero: other tempos are rare, and misfits are no evidence of one.
    let priorInverseVariance =
      excessVarianceFactor / (Self.maximumClockTempoDeviation * Self.maximumClockTempoDeviation)
    var tempoCorrection =
      (shiftLine.shiftPerSecond * shiftLine.weightedTimeSquareSum - priorInverseVariance
        * placement.tempoDeviation)
      / max(1e-30, shiftLine.weightedTimeSquareSum + priorInverseVariance)
    if tempoStandardError > 0.01 {
      tempoCorrection = -placement.tempoDeviation
    }
    tempoCorrection = min(max(tempoCorrection, -0.01), 0.01)
    let delayCorrectionSeconds = min(max(shiftLine.offsetSeconds, -0.003), 0.003)
    let correctedTempo = min(
      max(placement.tempoDeviation + tempoCorrection, -maximumTempoDeviation), maximumTempoDeviation
    )
    placement.delaySeconds +=
      delayCorrectionSeconds - (correctedTempo - placement.tempoDeviation) * shiftLine.centerSeconds
    placement.tempoDeviation = correctedTempo
  }
}
