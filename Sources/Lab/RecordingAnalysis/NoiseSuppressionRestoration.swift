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

  /// A block of the predicted signal.
  private struct Block {
    /// The range of samples of the block.
    var samples: Range<Int>
    /// The energy of the predicted signal in the block.
    var energy: Double
  }

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
    let blocks = Self.overlappingBlocks(of: predicted, hopSampleCount: hopSampleCount)
    let maximumBlockEnergy = blocks.map(\.energy).max() ?? 0
    let subtractedEnergy = Self.maximumSubtractedPowerRatio * maximumBlockEnergy
    let missing = Self.missingSignal(
      in: recorded, predicted: predicted, blocks: blocks, subtractedEnergy: subtractedEnergy)
    let polaritySign = Float(modelFit.fittedPlacement.polaritySign)
    missingSignal = missing.map { polaritySign * $0 }
    firstSampleIndex = modelFit.fittedPlacement.firstSampleIndex

    // At twice the subtracted energy, the minimum gain is −3 dB.
    let removableBlocks = blocks.filter { $0.energy < 2 * subtractedEnergy }
    // The central halves of the overlapping blocks are adjacent.
    let removableRanges = removableBlocks.map { block in
      let firstCentralSample = block.samples.lowerBound + hopSampleCount / 2
      return firstCentralSample..<firstCentralSample + hopSampleCount
    }
    let removableIndices = columns.indices.filter { index in
      let removableEnergy = removableRanges.reduce(0) { $0 + columns[index].energy(in: $1) }
      return removableEnergy > 0.5 * Vector.energy(columns[index].samples)
    }
    removableWaveformIndices = Set(removableIndices)
  }

  /// Divides a predicted signal into blocks that overlap by half.
  private static func overlappingBlocks(
    of predicted: [Float], hopSampleCount: Int
  ) -> [Block] {
    let lastStart = predicted.count - 2 * hopSampleCount
    return stride(from: 0, through: lastStart, by: hopSampleCount).map { start in
      let samples = start..<start + 2 * hopSampleCount
      return Block(samples: samples, energy: Vector.energy(predicted, samples))
    }
  }

  /// Returns the part of the predicted signal that a recording lacks.
  ///
  /// - Parameters:
  ///   - recorded: The recording.
  ///   - predicted: The predicted signal of the unchanged recording.
  ///   - blocks: The overlapping blocks of the predicted signal.
  ///   - subtractedEnergy: The maximum energy that the suppressor subtracts from a block.
  private static func missingSignal(
    in recorded: [Float], predicted: [Float], blocks: [Block], subtractedEnergy: Double
  ) -> [Float] {
    let blockSampleCount = blocks.first?.samples.count ?? 0
    let window = (0..<blockSampleCount).map {
      0.5 - 0.5 * cos(2 * .pi * (Double($0) + 0.5) / Double(blockSampleCount))
    }
    var missing = [Float](repeating: 0, count: predicted.count)
    for block in blocks where block.energy > 0 {
      let start = block.samples.lowerBound
      let product = Vector.dot(
        predicted, from: start, recorded, from: start, count: block.samples.count)
      let minimumGain = max(0, 1 - subtractedEnergy / block.energy).squareRoot()
      let gain = min(1, max(minimumGain, product / block.energy))
      for (index, weight) in zip(block.samples, window) {
        missing[index] += Float((1 - gain) * weight) * predicted[index]
      }
    }
    return missing
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
