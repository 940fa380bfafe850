internal import CMath
import SignalAnalysis

/// Restores the quiet parts of a recording that a noise suppressor attenuated.
///
/// Spectral subtraction multiplies a band with the power P by the gain √(1 − αN/P), where N is the
/// estimated power of the noise, and α is the oversubtraction factor (M. Berouti, R. Schwartz, J.
/// Makhoul, "Enhancement of speech corrupted by acoustic noise", ICASSP 1979). The gain is 0 for
/// αN ≥ P. The noise estimate includes steady vibrations, so quiet continuous events lose several
/// decibels.
///
/// The restoration treats each block of the pattern as one band, because vibration is narrowband.
///
/// 1. Divide the predicted signal of an explanation into overlapping blocks.
/// 2. Project each block of the recording onto the predicted block. The coefficient is the gain. A
///    suppressor causes only gains from √(1 − αN/P) to 1, with αN at most 24 dB below the loudest
///    block, so limit the gain to this range.
/// 3. Add the part of the predicted signal that the recording lacks. The remainder of the block,
///    which includes noise and added sounds, is unchanged.
struct NoiseSuppressionRestoration {
  /// The indices of the waveforms with most energy in blocks that may have lost more than 3 dB.
  let removableWaveformIndices: Set<Int>
  /// The part of the predicted signal that the recording lacks.
  private let missingSignal: [Float]
  /// The index of the missing signal's first sample in the recording.
  private let firstSampleIndex: Int

  /// The duration of a block, in seconds. The blocks overlap by half.
  private static let blockSeconds = 0.02
  /// The maximum subtracted power, αN, relative to the power of the loudest block: −24 dB.
  private static let maximumSubtractedPowerRatio = 0.004

  /// Computes the part of a reference that a recording lacks.
  ///
  /// - Parameter modelFit: The best explanation of the recording without a suppressor.
  init(explaining modelFit: RecordingModelFit) {
    let fit = modelFit.fitWithoutChanges
    let recorded = fit.solve(isWhitened: false).humFreeRecording
    let columns = fit.reference.waveforms.indices.map { fit.waveformColumn(at: $0) }
    var predicted = [Float](repeating: 0, count: recorded.count)
    for column in columns {
      column.add(to: &predicted, times: modelFit.commonGain)
    }

    let hopSampleCount = max(1, Int(Self.blockSeconds / 2 * fit.reference.sampleRate))
    let blocks = stride(from: 0, through: predicted.count - 2 * hopSampleCount, by: hopSampleCount)
      .map {
        $0..<$0 + 2 * hopSampleCount
      }
    let blockEnergies = blocks.map { Vector.energy(predicted, $0) }
    let subtractedEnergy = Self.maximumSubtractedPowerRatio * (blockEnergies.max() ?? 0)
    let window = (0..<2 * hopSampleCount).map {
      0.5 - 0.5 * cos(.pi * (Double($0) + 0.5) / Double(hopSampleCount))
    }
    var missing = [Float](repeating: 0, count: predicted.count)
    for (block, energy) in zip(blocks, blockEnergies) where energy > 0 {
      let product = Vector.dot(
        predicted, from: block.lowerBound, recorded, from: block.lowerBound, count: block.count)
      let minimumGain = max(0, 1 - subtractedEnergy / energy).squareRoot()
      let gain = min(1, max(minimumGain, product / energy))
      for (index, weight) in zip(block, window) {
        missing[index] += Float((1 - gain) * weight) * predicted[index]
      }
    }
    firstSampleIndex = modelFit.fittedPlacement.firstSampleIndex
    let polaritySign = Float(modelFit.fittedPlacement.polaritySign)
    missingSignal = missing.map { polaritySign * $0 }

    // The central halves of the overlapping blocks are adjacent. At twice the subtracted energy,
    // the minimum gain is −3 dB.
    let removableRanges = zip(blocks, blockEnergies).filter { _, energy in
      energy < 2 * subtractedEnergy
    }.map { block, _ in
      let firstCentralSample = block.lowerBound + hopSampleCount / 2
      return firstCentralSample..<firstCentralSample + hopSampleCount
    }
    let removableIndices = columns.indices.filter { index in
      let removableEnergy = removableRanges.reduce(0) { $0 + columns[index].energy(in: $1) }
      return removableEnergy > 0.5 * Vector.energy(columns[index].samples)
    }
    removableWaveformIndices = Set(removableIndices)
  }

  /// Returns the recording with its quiet parts restored.
  ///
  /// - Parameter recording: The recording at the sample rate of the reference.
  func restored(_ recording: LowRateSignal) -> LowRateSignal {
    var samples = recording.samples
    let count = min(missingSignal.count, samples.count - firstSampleIndex)
    for index in 0..<max(0, count) {
      samples[firstSampleIndex + index] += missingSignal[index]
    }
    return LowRateSignal(
      of: samples, rate: recording.decimatedRate, targetRate: recording.decimatedRate)
  }
}
