internal import SignalAnalysis

/// An analytic signal of a tone, with complex values.
///
/// The magnitude of each value is the tone's amplitude, and its angle is the tone's phase.
struct AnalyticSignal {
  var complexSamples: [ComplexNumber]

  /// Computes the imaginary part by a Hilbert transform of the whole signal.
  ///
  /// - Parameters:
  ///   - samples: The signal.
  ///   - padding: The number of samples of silence after the signal.
  init(of samples: [Float], padding: Int) {
    let transformLength = FourierTransform.fastLength(atLeast: samples.count + padding)
    var transform = FourierTransform(length: transformLength)
    var spectrumBins = transform.forward(samples)
    for index in spectrumBins.indices {
      spectrumBins[index] = ComplexNumber(spectrumBins[index].imaginary, -spectrumBins[index].real)
    }
    spectrumBins[0] = ComplexNumber()
    let imaginarySamples = transform.backward(spectrumBins)
    complexSamples = samples.indices.map { ComplexNumber(samples[$0], imaginarySamples[$0]) }
  }

  /// The magnitude of each complex sample.
  var magnitudes: [Float] { complexSamples.map { $0.power.squareRoot() } }
}

/// A sound prepared for analysis.
///
/// The sound is resampled, padded with silence, high-pass filtered below the lowest tone, and
/// restored to the signal before the hardware's filters (`DriveInverse`).
struct AnalysisSignal {
  private(set) var samples: [Float]
  /// The sample rate of the analysis, in hertz.
  let sampleRate: Double
  /// The number of samples of silence before the sound.
  let leadSampleCount: Int

  /// The duration of the silence before and after the sound, in seconds.
  private static let leadSeconds = 0.15

  /// Returns the sample rate for the analysis of a sound.
  ///
  /// The rate is at least 2,000 Hz and eight times the highest frequency, unless the sound's rate
  /// is lower.
  ///
  /// - Parameters:
  ///   - rate: The sample rate of the sound, in hertz.
  ///   - maximumHertz: The highest frequency of the profile.
  static func analysisRate(for rate: Double, maximumHertz: Double) -> Double {
    let minimumAnalysisRate = min(48_000, max(2_000, 8 * maximumHertz))
    return rate / max(1, (rate / minimumAnalysisRate).rounded(.down))
  }

  /// Creates an analysis signal by decimating and filtering a sound.
  ///
  /// - Parameters:
  ///   - sound: The samples of the sound.
  ///   - rate: The sample rate of the sound, in hertz.
  ///   - targetRate: The sample rate of the analysis, in hertz.
  ///   - minimumHertz: The lowest frequency of the profile.
  ///   - driveInverse: The inverse of the profile's drive filters, or nil without hardware.
  init(
    _ sound: [Float], sampleRate rate: Double, targetRate: Double, minimumHertz: Double,
    driveInverse: DriveInverse?
  ) {
    let leadPadding = [Float](repeating: 0, count: Int(Self.leadSeconds * rate))
    let decimatedSignal = TactileBandSignal(
      of: leadPadding + sound + leadPadding, rate: rate, minimumRate: targetRate * 0.99)
    self.sampleRate = decimatedSignal.decimatedRate
    leadSampleCount = Int(
      (Double(leadPadding.count) / rate * decimatedSignal.decimatedRate).rounded())
    let highPass = Self.highPass(minimumHertz: minimumHertz, rate: decimatedSignal.decimatedRate)
    let filteredSamples = highPass.zeroPhaseFiltered(decimatedSignal.samples)
    samples = driveInverse?.restored(filteredSamples, sampleRate: sampleRate) ?? filteredSamples
  }

  /// Returns the signal without other samples, for example without reflections.
  func subtracting(_ other: [Float]) -> AnalysisSignal {
    var differenceSignal = self
    differenceSignal.samples = zip(samples, other).map { $0 - $1 }
    return differenceSignal
  }

  /// Returns the high-pass filter for frequencies below the lowest tone.
  ///
  /// A corner above a fifth of the lowest frequency would make the filter ring before onsets.
  static func highPass(minimumHertz: Double, rate: Double) -> Biquad<Float> {
    Biquad<Float>(.highPass, hertz: max(6, 0.2 * minimumHertz), rate: rate)
  }
}
