internal import CMath
import SignalAnalysis

/// The search for possible delays and tempos of a reference in a recording.
///
/// 1. Halve the rate of both signals, and weight each frequency by the inverse of the noise.
/// 2. Divide the reference into blocks of 100 ms, and correlate the strongest blocks with the
///    recording. The analytic correlation has a magnitude that is independent of phase.
/// 3. For each tempo, shift the squared magnitudes of the blocks against each other and add them,
///    with a resolution of 8 ms.
/// 4. Refine the best delays with the signed correlations, with a resolution of 0.25 ms.
/// 5. Add the delays at which the envelopes agree best. They also find tones at other frequencies.
///
/// `tempoCandidates()` searches for other tempos by the envelopes.
struct RecordingAlignment {
  /// A possible delay and tempo of the reference in the recording.
  struct Candidate {
    /// The start of the reference in the recording, in seconds.
    var delaySeconds: Double
    /// The relative tempo deviation; positive if the recording is slower.
    var tempoDeviation: Double
    /// The polarity of the recording: 1, or -1 if it is inverted.
    var polaritySign: Double
    /// The correlation of the reference with the recording.
    ///
    /// Scores are comparable only within one search.
    var correlationScore: Double
    /// A Boolean value that indicates whether the candidate was found by correlating envelopes.
    var isEnvelopeBased = false
  }

  /// The candidates of the search.
  ///
  /// Candidates without a tempo deviation precede the others.
  private(set) var candidates: [Candidate] = []

  /// The minimum delay of the reference, in seconds; negative if it starts before the recording.
  static let minimumDelaySeconds = -1.0
  /// The maximum tempo deviation in the search, as a fraction.
  static let maximumTempoDeviation = 0.032
  /// The frequencies that the search analyzes, in hertz.
  private static let analyzedBandHertz = 20.0...800.0
  /// The duration of a block of the reference, in seconds.
  private static let blockSeconds = 0.1
  private static let maximumBlockCount = 64
  /// The number of adjacent lags that share one pooled correlation value: 8 ms at 2 kHz.
  private static let pooledLagCount = 16
  /// The interval between candidate delays in the refined search, in seconds.
  private static let refinedDelayStepSeconds = 0.000_25

  /// The sample rate of the search, in hertz: half the rate of the reference.
  let alignmentSampleRate: Double
  private let firstLagInSamples: Int
  private let lagCount: Int
  private(set) var weightedReference: [Float] = []
  private(set) var weightedRecording: [Float] = []
  private let noiseDensity: NoiseSpectralDensity
  private let inputSampleRate: Double
  /// The centers of the blocks, in seconds from the start of the reference.
  private var blockCenterSeconds: [Double] = []
  /// The correlation of each block of the reference with the recording, at each lag.
  private var realCorrelations: [[Float]] = []
  /// The Hilbert transform of the correlation of each block, at each lag.
  private var imaginaryCorrelations: [[Float]] = []
  private var blockEnergies: [Double] = []

  /// Searches a recording for the candidates.
  ///
  /// - Parameters:
  ///   - reference: The reference.
  ///   - recording: The samples of the recording, at the rate of the reference.
  ///   - searchSeconds: The maximum time from the start of the recording to that of the reference.
  init(_ reference: RecordingReference, _ recording: [Float], searchSeconds: Double) {
    alignmentSampleRate = reference.sampleRate / 2
    let recordingSeconds = Double(recording.count) / reference.sampleRate
    firstLagInSamples = Int(Self.minimumDelaySeconds * alignmentSampleRate)
    let endLagSamples =
      Int(min(searchSeconds, recordingSeconds) * alignmentSampleRate) + Self.pooledLagCount
    lagCount = (endLagSamples - firstLagInSamples) / Self.pooledLagCount * Self.pooledLagCount
    var recordingNoise = NoiseSpectralDensity(of: recording, quantile: 0.1)
    let maximumPower = NoiseSpectralDensity(of: recording, quantile: nil).binPowers.max() ?? 0
    for bin in recordingNoise.binPowers.indices {
      recordingNoise.binPowers[bin] =
        max(recordingNoise.binPowers[bin], 1e-3 * maximumPower) + 1e-16
    }
    self.noiseDensity = recordingNoise
    inputSampleRate = reference.sampleRate
    let maximumSampleCount = max(recording.count, reference.mixedSignal.count)
    let transformLength = FourierTransform.fastLength(atLeast: maximumSampleCount / 4 + 1_024) * 4
    let paddedRecording = Self.noiseWeighted(
      recording, by: recordingNoise, rate: inputSampleRate, length: transformLength)
    let paddedReference = Self.noiseWeighted(
      reference.mixedSignal, by: recordingNoise, rate: inputSampleRate, length: transformLength)
    weightedReference = Array(paddedReference.prefix(reference.mixedSignal.count / 2 + 100))
    weightedRecording = Array(paddedRecording.prefix(recording.count / 2))
    correlateBlocks(of: weightedReference, with: paddedRecording)
    guard !blockCenterSeconds.isEmpty else { return }
    findCandidates()
  }

  /// The range of delays of the search's lags, in seconds.
  var delayRangeSeconds: ClosedRange<Double> {
    Double(firstLagInSamples) / alignmentSampleRate...Double(firstLagInSamples + lagCount)
      / alignmentSampleRate
  }

  // MARK: - Weighting

  /// Returns samples at half the rate, with each frequency divided by the noise amplitude.
  func noiseWeighted(_ samples: [Float]) -> [Float] {
    let transformLength = FourierTransform.fastLength(atLeast: samples.count / 4 + 100) * 4
    let weightedSamples = Self.noiseWeighted(
      samples, by: noiseDensity, rate: inputSampleRate, length: transformLength)
    return Array(weightedSamples.prefix(samples.count / 2 + 100))
  }

  private static func noiseWeighted(
    _ samples: [Float], by noise: NoiseSpectralDensity, rate: Double, length: Int
  ) -> [Float] {
    var transform = FourierTransform(length: length)
    var halfRateTransform = FourierTransform(length: length / 2)
    var halfRateBins = Array(transform.forward(samples)[0..<halfRateTransform.binCount])
    for bin in halfRateBins.indices {
      let hertz = Double(bin) * rate / Double(length)
      var weight: Float = 0
      if analyzedBandHertz.contains(hertz) {
        let power = noise.power(atNormalizedFrequency: 2 * Double(bin) / Double(length))
        weight = Float(0.5 / power.squareRoot())
      }
      halfRateBins[bin].real *= weight
      halfRateBins[bin].imaginary *= weight
    }
    return halfRateTransform.backward(halfRateBins)
  }

  // MARK: - Correlation

  /// Computes the correlation of each strong block with the recording, and its Hilbert transform.
  private mutating func correlateBlocks(of reference: [Float], with recording: [Float]) {
    let blockSampleCount = Int(Self.blockSeconds * alignmentSampleRate)
    var referenceBlocks = stride(from: 0, to: reference.count, by: blockSampleCount).map { start in
      let end = min(reference.count, start + blockSampleCount)
      return (start: start, energy: Vector.energy(reference, start..<end))
    }
    let maximumBlockEnergy = referenceBlocks.map(\.energy).max() ?? 0
    referenceBlocks = referenceBlocks.filter {
      $0.energy > 1e-3 * maximumBlockEnergy && $0.energy > 0
    }
    let strongestBlocks = referenceBlocks.sorted { $0.energy > $1.energy }.prefix(
      Self.maximumBlockCount)
    referenceBlocks = strongestBlocks.sorted { $0.start < $1.start }

    let transformLength = FourierTransform.fastLength(atLeast: lagCount + blockSampleCount)
    var transform = FourierTransform(length: transformLength)
    var paddedSamples = [Float](repeating: 0, count: transformLength)
    for (start, energy) in referenceBlocks {
      for index in paddedSamples.indices {
        let isInBlock = index < blockSampleCount && start + index < reference.count
        paddedSamples[index] = isInBlock ? reference[start + index] : 0
      }
      let blockBins = transform.forward(paddedSamples)
      for index in paddedSamples.indices {
        let position = start + firstLagInSamples + index
        let isInRecording = position >= 0 && position < recording.count
        paddedSamples[index] = isInRecording ? recording[position] : 0
      }
      var bins = transform.forward(paddedSamples)
      for bin in bins.indices {
        bins[bin] = bins[bin] * blockBins[bin].conjugate
      }
      realCorrelations.append(Array(transform.backward(bins).prefix(lagCount)))
      // Multiplication by −i yields the Hilbert transform.
      for bin in bins.indices {
        bins[bin] = ComplexNumber(bins[bin].imaginary, -bins[bin].real)
      }
      imaginaryCorrelations.append(Array(transform.backward(bins).prefix(lagCount)))
      blockEnergies.append(energy)
      blockCenterSeconds.append(Double(start) / alignmentSampleRate + Self.blockSeconds / 2)
    }
  }

  /// Returns the maximum correlation power of each block in intervals of 8 ms.
  ///
  /// Each maximum includes the interval before it, and is relative to the energy of the block.
  private func pooledCorrelationPowers() -> [[Float]] {
    realCorrelations.indices.map { block in
      let scale = Float(1 / blockEnergies[block])
      var pooled = [Float](repeating: 0, count: lagCount / Self.pooledLagCount)
      unsafe realCorrelations[block].withUnsafeBufferPointer { real in
        unsafe imaginaryCorrelations[block].withUnsafeBufferPointer { imaginary in
          for index in pooled.indices {
            var maximum = Float(0)
            for lag in index * Self.pooledLagCount..<(index + 1) * Self.pooledLagCount {
              maximum = unsafe max(
                maximum, real[lag] * real[lag] + imaginary[lag] * imaginary[lag])
            }
            pooled[index] = maximum * scale
          }
        }
      }
      for index in pooled.indices.dropFirst().reversed() {
        pooled[index] = max(pooled[index], pooled[index - 1])
      }
      return pooled
    }
  }

  // MARK: - Candidates

  private mutating func findCandidates() {
    let blockSpanSeconds = (blockCenterSeconds.last ?? 0) - blockCenterSeconds[0]
    let coarsePeaks = coarseCorrelationPeaks(span: blockSpanSeconds)
    let clockTempoDeviations = blockSpanSeconds > 2 ? (-2...2).map { Double($0) * 1.5e-4 } : [0]
    func lagSeconds(_ lagIndex: Int) -> Double {
      (Double(lagIndex * Self.pooledLagCount) + Double(Self.pooledLagCount) / 2)
        / alignmentSampleRate
    }
    for index in coarsePeaks.lagIndicesAtOriginalTempo {
      addCandidates(near: lagSeconds(index), tempos: clockTempoDeviations, reach: 0.014)
    }
    if blockSpanSeconds >= 0.1 {
      let step = 0.008 / blockSpanSeconds
      let tempos = (-16...16).map { coarsePeaks.bestTempoDeviation + Double($0) * step / 8 }
      addCandidates(
        near: lagSeconds(coarsePeaks.bestLagIndex),
        tempos: tempos.filter { abs($0) <= Self.maximumTempoDeviation },
        reach: 0.014)
    }
    for lag in bestEnvelopeLagSeconds() {
      addCandidates(near: lag, tempos: clockTempoDeviations, reach: 0.006, isEnvelopeBased: true)
    }
  }

  /// The lags with the highest pooled powers.
  private struct CoarsePeaks {
    /// The indices of the best lags without a tempo deviation.
    var lagIndicesAtOriginalTempo: [Int] = []
    /// The index of the best lag at any tempo.
    var bestLagIndex = 0
    /// The tempo deviation at the best lag.
    var bestTempoDeviation = 0.0
  }

  /// Returns the best lags, from the sum of all blocks' pooled powers at each tempo.
  ///
  /// - Parameter span: The time from the first block to the last one, in seconds.
  private func coarseCorrelationPeaks(span: Double) -> CoarsePeaks {
    let correlationPowers = pooledCorrelationPowers()
    // A step of tempo shifts the first and the last block by 8 ms against each other.
    let tempoStep = max(2e-4, 0.008 / span)
    let tempoStepCount =
      span < 0.1 ? 0 : min(400, Int((Self.maximumTempoDeviation / tempoStep).rounded(.up)))
    var coarsePeaks = CoarsePeaks()
    var maximumPowerSum = Float(-1)
    for step in (-tempoStepCount...tempoStepCount).sorted(by: { abs($0) < abs($1) }) {
      let tempo =
        tempoStepCount == 0 ? 0 : Double(step) * Self.maximumTempoDeviation / Double(tempoStepCount)
      let sums = summedCorrelationPowers(correlationPowers, tempo: tempo)
      let index = sums.indices.max { sums[$0] < sums[$1] } ?? 0
      if step == 0 {
        let count = blockCenterSeconds.count < 8 ? 3 : 1
        let originalTempoPeaks = Self.peaks(in: [sums], count: count, spacing: 3)
        coarsePeaks.lagIndicesAtOriginalTempo = originalTempoPeaks.map(\.columnIndex)
      }
      if sums[index] > maximumPowerSum * 1.01 {
        maximumPowerSum = sums[index]
        coarsePeaks.bestLagIndex = index
        coarsePeaks.bestTempoDeviation = tempo
      }
    }
    return coarsePeaks
  }

  /// Returns the sum of all blocks' pooled powers at each lag.
  ///
  /// The blocks are shifted according to a tempo.
  private func summedCorrelationPowers(_ powers: [[Float]], tempo: Double) -> [Float] {
    var powerSums = [Float](repeating: 0, count: powers[0].count)
    for (blockPowers, time) in zip(powers, blockCenterSeconds) {
      let seconds = tempo * (time - blockCenterSeconds[0])
      let shift = Int((seconds * alignmentSampleRate / Double(Self.pooledLagCount)).rounded())
      unsafe powerSums.withUnsafeMutableBufferPointer { powerSums in
        unsafe blockPowers.withUnsafeBufferPointer { block in
          for index in max(0, -shift)..<max(0, -shift, min(block.count, block.count - shift)) {
            unsafe powerSums[index] += block[index &+ shift]
          }
        }
      }
    }
    return powerSums
  }

  /// A local maximum of a table.
  private struct Peak<Value: BinaryFloatingPoint> {
    var rowIndex = -1
    var columnIndex = 0
    var tableValue = Value(0)
  }

  /// Returns the highest peaks of a table, with a minimum spacing between their columns.
  ///
  /// Peaks that are closer together come from the periods of the same tone.
  private static func peaks<Value: BinaryFloatingPoint>(
    in rows: [[Value]], count: Int, spacing: Int
  ) -> [Peak<Value>] {
    var remainingRows = rows
    return (0..<count).compactMap { _ in
      var peak = Peak<Value>()
      for (row, values) in remainingRows.enumerated() {
        for (index, value) in values.enumerated() where value > peak.tableValue {
          peak = Peak(rowIndex: row, columnIndex: index, tableValue: value)
        }
      }
      guard peak.rowIndex >= 0 else { return nil }
      for row in remainingRows.indices {
        let last = min(remainingRows[row].count - 1, peak.columnIndex + spacing)
        for index in max(0, peak.columnIndex - spacing)...last {
          remainingRows[row][index] = 0
        }
      }
      return peak
    }
  }

  /// Adds the best candidates near a lag, for each polarity.
  ///
  /// - Parameters:
  ///   - lag: The lag, in seconds from the first lag.
  ///   - tempos: The tempos to try.
  ///   - reach: The maximum distance from the lag, in seconds.
  ///   - isEnvelopeBased: Pass true if the lag was found by the envelopes.
  private mutating func addCandidates(
    near lag: Double, tempos: [Double], reach: Double, isEnvelopeBased: Bool = false
  ) {
    let delayStepSeconds = Self.refinedDelayStepSeconds
    let delayStepCount = Int(reach / delayStepSeconds)
    let correlationSums = tempos.map { tempo in
      var row = [Double](repeating: 0, count: 2 * delayStepCount + 1)
      for (correlations, time) in zip(realCorrelations, blockCenterSeconds) {
        for index in row.indices {
          let seconds =
            lag + Double(index - delayStepCount) * delayStepSeconds + tempo
            * (time - blockCenterSeconds[0])
          let position = seconds * alignmentSampleRate
          let lower = min(max(0, Int(position.rounded(.down))), correlations.count - 2)
          let fraction = Float(min(1, max(0, position - Double(lower))))
          row[index] += Double(
            correlations[lower] * (1 - fraction) + correlations[lower + 1] * fraction)
        }
      }
      return row
    }
    for polarity in [1.0, -1] {
      let signedSums = correlationSums.map { Self.scaledValues($0, by: polarity) }
      candidates += Self.peaks(in: signedSums, count: 3, spacing: 12).map { peak in
        let tempo = tempos[peak.rowIndex]
        return Candidate(
          delaySeconds: lag + Double(peak.columnIndex - delayStepCount) * delayStepSeconds + Double(
            firstLagInSamples) / alignmentSampleRate - tempo
            * blockCenterSeconds[0],
          tempoDeviation: tempo, polaritySign: polarity, correlationScore: peak.tableValue,
          isEnvelopeBased: isEnvelopeBased)
      }
    }
  }

  private static func scaledValues(_ values: [Double], by factor: Double) -> [Double] {
    values.map { $0 * factor }
  }

  /// Returns the two lags with the best correlation of the envelopes.
  ///
  /// The lags are in seconds from the first lag.
  ///
  /// A steady tone correlates at every lag within its duration. Its envelope does not.
  private func bestEnvelopeLagSeconds() -> [Double] {
    let envelopeCorrelation = EnvelopeCorrelation(self)
    guard !envelopeCorrelation.isReferenceOrRecordingSilent else { return [] }
    return Self.peaks(in: [envelopeCorrelation.correlations(tempo: 0)], count: 2, spacing: 4).map {
      envelopeCorrelation.delaySeconds(atIndex: $0.columnIndex) - Double(firstLagInSamples)
        / alignmentSampleRate
    }
  }

  // MARK: - Tempo

  /// The step between tempos in the search by envelopes, in seconds.
  ///
  /// The step is the change of the reference's duration.
  private static let coarseTempoShiftSeconds = 0.008
  /// The step between tempos in the search by samples, in seconds.
  ///
  /// The step is the change of the reference's duration.
  private static let fineTempoShiftSeconds = 0.001
  /// The maximum distance of a lag from the delay that the envelopes indicate, in samples.
  private static let maximumLagOffsetSamples = 16

  /// Returns candidates with a tempo deviation from the reference.
  ///
  /// A tone at another tempo has another frequency, so its samples don't correlate with those of
  /// the reference. The envelopes find the tempo; then the stretched reference is correlated.
  func tempoCandidates() -> [Candidate] {
    let referenceSeconds = Double(weightedReference.count) / alignmentSampleRate
    let envelopeCorrelation = EnvelopeCorrelation(self)
    guard referenceSeconds > 0.2, !envelopeCorrelation.isReferenceOrRecordingSilent else {
      return []
    }
    let tempoStep = min(0.008, Self.coarseTempoShiftSeconds / referenceSeconds)
    let tempoStepCount = Int((Self.maximumTempoDeviation / tempoStep).rounded(.up))
    var tempoPeaks: [(value: Float, delay: Double, tempo: Double)] = []
    for number in -tempoStepCount...tempoStepCount {
      let tempo = Double(number) * Self.maximumTempoDeviation / Double(tempoStepCount)
      let correlations = envelopeCorrelation.correlations(tempo: tempo)
      guard let best = correlations.indices.max(by: { correlations[$0] < correlations[$1] }) else {
        continue
      }
      tempoPeaks.append(
        (correlations[best], envelopeCorrelation.delaySeconds(atIndex: best), tempo))
    }
    tempoPeaks.sort { $0.value > $1.value }
    var distinctPeaks: [(value: Float, delay: Double, tempo: Double)] = []
    // Adjacent tempos belong to the same peak.
    for peak in tempoPeaks where distinctPeaks.count < 2 {
      if distinctPeaks.allSatisfy({ abs($0.tempo - peak.tempo) > 2.5 * tempoStep }) {
        distinctPeaks.append(peak)
      }
    }
    let refinedPeakCandidates = distinctPeaks.flatMap {
      refinedCandidates(
        near: $0.delay, tempo: $0.tempo, step: Self.fineTempoShiftSeconds / referenceSeconds)
    }
    return refinedPeakCandidates.filter {
      abs($0.tempoDeviation) > RecordingFit.maximumClockTempoDeviation
    }
  }

  /// Returns the best candidates near a delay and a tempo.
  ///
  /// The stretched reference is correlated with the recording.
  private func refinedCandidates(
    near delay: Double, tempo centerTempo: Double, step: Double
  ) -> [Candidate] {
    let centerSeconds = energyCenterSeconds
    let referenceEvent = ActiveRegion.event(
      start: 0, duration: Double(weightedReference.count) / alignmentSampleRate)
    let referenceWaveform = EventWaveform(
      referenceEvent, eventSeconds: 0, firstSampleOffsetSeconds: 0, samples: weightedReference,
      sampleRate: alignmentSampleRate)
    let tempoDeviations = (-12...12).map { centerTempo + Double($0) * step }.filter {
      abs($0) <= Self.maximumTempoDeviation + 0.001
    }
    let lagOffsets = -Self.maximumLagOffsetSamples...Self.maximumLagOffsetSamples
    let correlationRows = tempoDeviations.map { tempo in
      // Another tempo stretches the reference about its center of energy.
      let onset = delay + (centerTempo - tempo) * centerSeconds
      let column = referenceWaveform.designColumn(
        onset: onset, timeScale: 1 + tempo, count: weightedRecording.count)
      return lagOffsets.map { offset in
        DesignColumn(
          firstSampleIndex: max(0, column.firstSampleIndex + offset), samples: column.samples
        )
        .dotProduct(weightedRecording)
      }
    }
    return [1.0, -1].flatMap { polarity in
      let signedRows = correlationRows.map { Self.scaledValues($0, by: polarity) }
      return Self.peaks(in: signedRows, count: 3, spacing: 3).map { peak in
        let tempo = tempoDeviations[peak.rowIndex]
        let offset = Double(peak.columnIndex - Self.maximumLagOffsetSamples) / alignmentSampleRate
        return Candidate(
          delaySeconds: delay + (centerTempo - tempo) * centerSeconds + offset,
          tempoDeviation: tempo,
          polaritySign: polarity, correlationScore: peak.tableValue)
      }
    }
  }

  /// The energy-weighted mean time of the reference, in seconds from its start.
  private var energyCenterSeconds: Double {
    var energySum = 1e-30
    var timeWeightedEnergySum = 0.0
    for (index, sample) in weightedReference.enumerated() {
      let power = Double(sample * sample)
      energySum += power
      timeWeightedEnergySum += power * Double(index)
    }
    return timeWeightedEnergySum / energySum / alignmentSampleRate
  }
}
