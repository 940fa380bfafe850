internal import CMath
import SignalAnalysis

/// Finds sounds in a recording that are not in its reference.
struct AddedSoundEstimator {
  let residual: RecordingResidual
  /// The peak magnitude of the reference.
  let referencePeakMagnitude: Double

  private var sampleRate: Double { residual.fit.reference.sampleRate }
  private var residualSamples: [Float] { residual.whitenedSamples }

  /// Returns the most significant perceptible burst in the residual, or nil if there is none.
  func strongestBurst(of detector: BurstDetector) -> BurstDetector.Burst? {
    detector.strongestBurst(
      in: residualSamples, sigma: residual.noiseDeviation, maskingThreshold: maskingAmplitudes())
  }

  /// Returns an added sound as a change: the sound around a burst of the residual.
  ///
  /// The sound extends as long as blocks of 12 ms are loud.
  func addedSound(from burst: BurstDetector.Burst) -> RecordingChange {
    let soundSampleRange = soundRange(around: burst.paddedSampleRange)
    let firstSoundSample =
      soundSampleRange.lowerBound == burst.paddedSampleRange.lowerBound
      ? burst.firstSampleIndex : soundSampleRange.lowerBound
    let placement = residual.fit.placement
    let soundStartSeconds =
      (Double(firstSoundSample) / sampleRate - placement.delaySeconds)
      / (1 + placement.tempoDeviation)
    let soundDurationSeconds = Double(soundSampleRange.count) / sampleRate
    let marginSamples = Int(0.02 * sampleRate)
    let excludedEndSample = min(residualSamples.count, soundSampleRange.upperBound + marginSamples)
    return RecordingChange(
      kind: .added,
      indexedEvent: ActiveRegion.event(start: soundStartSeconds, duration: soundDurationSeconds),
      secondsRange: soundStartSeconds...soundStartSeconds + soundDurationSeconds,
      signedAmount: 20 * log10(burst.peakAmplitude),
      excludedRange: max(0, soundSampleRange.lowerBound - marginSamples)..<excludedEndSample,
      explainedRange: soundSampleRange,
      explainedEnergyRatio: burst.detectionScore,
      ambiguityPenalty: ambiguityPenalty(of: soundSampleRange))
  }

  private func soundRange(around burst: Range<Int>) -> Range<Int> {
    let blockSampleCount = Int(0.012 * sampleRate)
    var soundSampleRange = burst
    // A much weaker block is part of the residual of nearby events.
    let clampedBurstRange = soundSampleRange.clamped(to: residualSamples.indices)
    let meanPower =
      Vector.energy(residualSamples, clampedBurstRange) / Double(soundSampleRange.count)
    let minimumBlockPower = max(
      6 * residual.noiseDeviation * residual.noiseDeviation, 0.03 * meanPower)
    let minimumBlockEnergy = minimumBlockPower * Double(blockSampleCount)
    func isLoudBlock(_ candidate: Range<Int>) -> Bool {
      let candidate = candidate.clamped(to: residualSamples.indices)
      return candidate.count == blockSampleCount
        && Vector.energy(residualSamples, candidate) > minimumBlockEnergy
    }
    while isLoudBlock(soundSampleRange.upperBound..<soundSampleRange.upperBound + blockSampleCount)
    {
      soundSampleRange =
        soundSampleRange.lowerBound..<soundSampleRange.upperBound + blockSampleCount
    }
    while soundSampleRange.lowerBound >= blockSampleCount,
      isLoudBlock(soundSampleRange.lowerBound - blockSampleCount..<soundSampleRange.lowerBound)
    {
      soundSampleRange =
        soundSampleRange.lowerBound - blockSampleCount..<soundSampleRange.upperBound
    }
    return soundSampleRange
  }

  /// Returns true if most of an event's energy lies in a range of samples.
  func isMasked(_ index: Int, by range: Range<Int>) -> Bool {
    let eventColumn = residual.whitenedColumns[index]
    return eventColumn.energy(in: range) > 0.5 * Vector.energy(eventColumn.samples)
  }

  /// Returns the penalty for an added sound that changes of existing events could also explain.
  private func ambiguityPenalty(of range: Range<Int>) -> Double {
    func eventEnergy(in range: Range<Int>) -> Double {
      residual.whitenedColumns.reduce(0) {
        $0 + residual.commonGain * residual.commonGain * $1.energy(in: range)
      }
    }
    let rangeEnergy = Vector.energy(residualSamples, range)
    var neighborhoodPenalty = 0.0
    // The sound begins during an event.
    if eventEnergy(in: range) > 0.01 * rangeEnergy {
      neighborhoodPenalty += 0.5
    }
    // The sound is much stronger than the nearby events.
    let neighborhoodSamples = Int(0.025 * sampleRate)
    let nearbyEventEnergy = eventEnergy(
      in: range.lowerBound - neighborhoodSamples..<range.upperBound + neighborhoodSamples)
    if nearbyEventEnergy > 0.000_1 * rangeEnergy, nearbyEventEnergy < 0.25 * rangeEnergy,
      range.count > Int(0.015 * sampleRate)
    {
      neighborhoodPenalty += 1.5
    }
    // The sound masks an event. It would explain any change of that event.
    let maskedEventCount = residual.whitenedColumns.indices.count { isMasked($0, by: range) }
    return neighborhoodPenalty + 1.5 * Double(maskedEventCount)
  }

  /// Returns the minimum perceptible amplitude of a burst at each sample.
  ///
  /// The amplitude is a tenth of the level within 50 ms, or a fiftieth of the peak.
  private func maskingAmplitudes() -> [Float] {
    let fit = residual.fit
    var maskingLevels = [Float](repeating: 0, count: residualSamples.count)
    for index in fit.reference.waveforms.indices {
      let column = fit.waveformColumn(at: index)
      for (offset, sample) in column.samples.enumerated() {
        maskingLevels[column.firstSampleIndex + offset] += abs(sample)
      }
    }
    let blockSampleCount = Int(sampleRate / 80)
    let blockPeaks = stride(from: 0, to: maskingLevels.count, by: blockSampleCount).map {
      Statistics.peak(of: maskingLevels[$0..<min(maskingLevels.count, $0 + blockSampleCount)])
    }
    let nearbyPeaks = SlidingExtremum.maximum(of: blockPeaks, radius: 4)
    let minimumMaskingAmplitude = Float(0.02 * referencePeakMagnitude)
    let maskingRatio = Float(0.1)
    return maskingLevels.indices.map { index in
      Float(residual.commonGain)
        * max(maskingRatio * nearbyPeaks[index / blockSampleCount], minimumMaskingAmplitude)
    }
  }
}
