package import HapticModel
package import HapticRender
package import SignalAnalysis

/// The source of a reference: a rendered pattern or a clean sound.
package struct ReferenceSource {
  /// The composition, or nil for a sound.
  package let composition: HapticComposition?
  /// The signal of the source: the rendered composition, or the sound.
  package let signal: Signal
  /// The profile with which the composition was rendered.
  package let profile: TransducerProfile

  package init(composition: HapticComposition?, signal: Signal, profile: TransducerProfile) {
    self.composition = composition
    self.signal = signal
    self.profile = profile
  }
}

/// A pattern, or a clean sound, and a recording of it.
package struct RecordingPair {
  /// The reference of the comparison: the waveforms of the pattern's events.
  package let reference: RecordingReference
  package let referenceSource: ReferenceSource
  package let recording: Signal
  /// The recording, decimated to the sample rate of the reference.
  private(set) var lowRateRecording: LowRateSignal
  /// The restoration of clipped samples, or nil if the recording is not clipped.
  private let clippedSampleRestoration: ClippedSampleRestoration?

  /// Creates a pair, or returns nil if the pattern is silent.
  package init?(_ pattern: ReferenceSource, recording: Signal) {
    self.referenceSource = pattern
    self.recording = recording
    let recordedSamples = recording.mono
    let decimatedRecording = LowRateSignal(of: recordedSamples, rate: recording.rate)
    clippedSampleRestoration = ClippedSampleRestoration(of: recordedSamples)
    lowRateRecording =
      clippedSampleRestoration?.restored(
        decimatedRecording,
        decimationFactor: Int((recording.rate / decimatedRecording.decimatedRate).rounded()))
      ?? decimatedRecording
    let lowRatePattern = LowRateSignal(of: pattern.signal.mono, rate: pattern.signal.rate)
    let patternSamples = lowRatePattern.samples
    let sortedBlockPowers = stride(from: 0, to: patternSamples.count - 79, by: 80).map {
      Vector.energy(patternSamples, $0..<$0 + 80) / 80
    }.sorted()
    let noiseFloorPower =
      sortedBlockPowers.isEmpty ? 0 : sortedBlockPowers[sortedBlockPowers.count / 10]
    let maximumPower = sortedBlockPowers.last ?? 0
    let noisePower = noiseFloorPower < 0.01 * maximumPower ? noiseFloorPower : 0
    let builtReference =
      RecordingReference(pattern) ?? RecordingReference(lowRatePattern, noise: noisePower)
    guard !builtReference.waveforms.isEmpty else { return nil }
    self.reference = builtReference
  }

  /// Returns the pair with the recording before a compressor.
  func restored(from compressor: SoftKneeCompressor) -> Self {
    var restoredPair = self
    let rate = lowRateRecording.decimatedRate
    let restored = compressor.undone(in: lowRateRecording.samples.map(Double.init), rate: rate)
    restoredPair.lowRateRecording = LowRateSignal(
      of: restored.samples.map(Float.init), rate: rate, targetRate: rate)
    return restoredPair
  }

  /// Returns the pair with the recording before a noise suppressor.
  func restored(by restoration: NoiseSuppressionRestoration) -> Self {
    var restoredPair = self
    restoredPair.lowRateRecording = restoration.restored(lowRateRecording)
    return restoredPair
  }

  /// Returns the recording at about a target sample rate, with clipped samples restored.
  func decimatedRecording(targetRate: Double) -> LowRateSignal {
    // Samples are restored more accurately at the higher rate.
    clippedSampleRestoration == nil
      ? LowRateSignal(of: recording.mono, rate: recording.rate, targetRate: targetRate)
      : LowRateSignal(
        of: lowRateRecording.samples, rate: lowRateRecording.decimatedRate,
        targetRate: targetRate)
  }
}
