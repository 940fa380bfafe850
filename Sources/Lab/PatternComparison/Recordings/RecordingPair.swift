import SignalAnalysis

/// A pattern, or a clean sound, and a recording of it.
struct RecordingPair {
  /// The pattern's waveforms.
  let reference: RecordingReference
  let pattern: Take
  let recording: Take
  /// The recording at the rate of the reference.
  let lowRateRecording: LowRateSignal
  /// A Boolean value that indicates whether the reference of the comparison is the recording.
  let isSwapped: Bool

  /// Creates a pair, or returns nil if no take is a sound or if the pattern is silent.
  init?(_ reference: Take, _ candidate: Take) {
    isSwapped = reference.composition == nil && candidate.composition != nil
    pattern = isSwapped ? candidate : reference
    recording = isSwapped ? reference : candidate
    guard recording.composition == nil else { return nil }
    lowRateRecording = LowRateSignal(of: recording.signal.mono, rate: recording.signal.rate)
    let lowRatePattern = LowRateSignal(of: pattern.signal.mono, rate: pattern.signal.rate)
    let samples = lowRatePattern.samples
    let powers = stride(from: 0, to: samples.count - 79, by: 80).map {
      Samples.energy(samples, $0..<$0 + 80) / 80
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
