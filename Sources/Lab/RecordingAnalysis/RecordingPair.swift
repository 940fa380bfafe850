package import HapticModel
package import HapticRender
package import SignalAnalysis

/// The source of a reference: a rendered pattern, or a clean sound.
package struct ReferenceSource {
  /// The composition, or nil for a sound.
  package let composition: HapticComposition?
  /// The rendering of the composition, or the sound.
  package let signal: Signal
  /// The profile of the rendering.
  package let profile: TransducerProfile

  package init(composition: HapticComposition?, signal: Signal, profile: TransducerProfile) {
    self.composition = composition
    self.signal = signal
    self.profile = profile
  }
}

/// A pattern, or a clean sound, and a recording of it.
package struct RecordingPair {
  /// The pattern's waveforms.
  package let reference: RecordingReference
  package let pattern: ReferenceSource
  package let recording: Signal
  /// The recording at the rate of the reference.
  let lowRateRecording: LowRateSignal

  /// Creates a pair, or returns nil if the pattern is silent.
  package init?(_ pattern: ReferenceSource, recording: Signal) {
    self.pattern = pattern
    self.recording = recording
    lowRateRecording = LowRateSignal(of: recording.mono, rate: recording.rate)
    let lowRatePattern = LowRateSignal(of: pattern.signal.mono, rate: pattern.signal.rate)
    let samples = lowRatePattern.samples
    let powers = stride(from: 0, to: samples.count - 79, by: 80).map {
      Vector.energy(samples, $0..<$0 + 80) / 80
    }.sorted()
    let floor = powers.isEmpty ? 0 : powers[powers.count / 10]
    let maximum = powers.last ?? 0
    let noise = floor < 0.01 * maximum ? floor : 0
    let built =
      RecordingReference(pattern) ?? RecordingReference(lowRatePattern, noise: noise)
    guard !built.waveforms.isEmpty else { return nil }
    self.reference = built
  }
}
