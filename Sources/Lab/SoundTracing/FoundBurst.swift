/// A transient found in a signal: an atom of the dictionary with its position and amplitudes.
struct FoundBurst {
  /// The index of the atom in the dictionary.
  var atomIndex: Int
  /// The index of the atom's first sample.
  var startSample: Int
  /// The additional delay of the atom in samples, −½…½.
  var fractionalSampleDelay: Double
  /// The amplitude of the in-phase atom.
  var inPhaseAmplitude: Float
  /// The amplitude of the atom's quadrature.
  var quadratureAmplitude: Float
  /// The energy that the burst explains.
  var explainedEnergy: Float

  /// Returns the onset of the transient, in samples.
  func onsetInSamples(in dictionary: AtomDictionary) -> Double {
    Double(startSample) + dictionary.atoms[atomIndex].onsetInSamples + fractionalSampleDelay
  }

  /// Returns the burst delayed by a number of samples.
  func delayed(bySamples count: Int) -> FoundBurst {
    var delayedBurst = self
    delayedBurst.startSample += count
    return delayedBurst
  }

  /// Returns the level of the burst relative to a transient at full intensity.
  func relativeLevel(in dictionary: AtomDictionary) -> Double {
    let burstAmplitude =
      (inPhaseAmplitude * inPhaseAmplitude + quadratureAmplitude * quadratureAmplitude).squareRoot()
    return Double(burstAmplitude / dictionary.atoms[atomIndex].waveformNorm)
  }
}
