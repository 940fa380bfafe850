internal import CMath
import SignalAnalysis

/// A hypothesis about the origin of a recording.
///
/// It consists of the delay of the reference, the linear response of the playback and recording
/// chain, an optional automatic gain control, and changes of individual events.
struct RecordingModel {
  /// A changed event, or an added transient.
  struct Change: Hashable {
    var kind: RecordingChange.Kind
    /// The index of the event's waveform, or nil for an added transient.
    var waveformIndex: Int?
    /// The amount of change: decibels, seconds, or the logarithm of a frequency ratio.
    ///
    /// For an added transient, the amount is its gain.
    var signedAmount = 0.0
    /// The time of an added transient, in seconds from the start of the reference.
    var transientSeconds = 0.0
    /// The index of an added transient in the transient bank.
    var transientBankIndex = 0
    /// The log evidence gained by including the change.
    var logEvidenceGain = 0.0
  }

  /// The minimum gain in log evidence of an accepted change.
  static let minimumLogEvidenceGain = 25.0

  /// The start of the reference in the recording, in samples.
  var delaySamples: Int
  /// The relative tempo deviation; positive if the recording is slower.
  var tempoDeviation = 0.0
  var response: RecordingResponse
  /// The regression of the recording on the reference through the response.
  var responseFit = RecordingResponse.Fit(
    logEvidence: -.infinity, coefficients: [], residualEnergy: .infinity)
  /// The taps of the filter that whitens noise and model error.
  var whitenerTaps: [Double] = [1]
  /// The energy of the whitened excerpt of the recording.
  var excerptEnergy = 0.0
  var changes: [Change] = []
  /// The gain to invert before the fit, or nil for a constant gain.
  var automaticGain: LevelDependentGain?
  /// The residual before any change was added, in decibels relative to the recording.
  var residualDecibelsWithoutChanges = Double.infinity

  /// The log evidence of the model, including the cost of all selected parameters.
  var logEvidence = -Double.infinity
  /// The score for comparing models: the log evidence minus a penalty for each change.
  ///
  /// The penalty is `minimumLogEvidenceGain`.
  var comparisonScore: Double { logEvidence - Self.minimumLogEvidenceGain * Double(changes.count) }
  /// Returns true if the model is more probable than another model.
  ///
  /// A score that is not a number is never better.
  ///
  /// - Parameter best: The most probable model so far, or nil if there is none.
  func isBetter(than best: RecordingModel?) -> Bool {
    guard let best else { return true }
    return comparisonScore > best.comparisonScore
      || best.comparisonScore.isNaN && !comparisonScore.isNaN
  }
  /// The energy of the model's residual, in decibels relative to the recording.
  var residualDecibels: Double {
    10 * log10(max(1e-9, responseFit.residualEnergy / max(excerptEnergy, 1e-30)))
  }
}

/// A downsampled recording and its noise spectrum.
struct RecordingObservation {
  /// The length of an excerpt in samples, including the margins around the reference.
  let excerptSampleCount: Int
  /// The margin before the reference, in samples.
  let leadSampleCount: Int
  /// The sample rate of the observation, in hertz.
  let sampleRate: Double
  /// The recording with its mean removed.
  var samples: [Double]
  private let noiseDensity: NoiseSpectralDensity

  /// The fraction of an event's power that even the best model cannot explain.
  private static let modelErrorPowerFraction = 1e-3
  /// The order of the filters that whiten noise and model error.
  static let whitenerOrder = 24

  init(
    _ recording: LowRateSignal, leadSampleCount: Int, excerptSampleCount: Int
  ) {
    sampleRate = recording.decimatedRate
    self.leadSampleCount = leadSampleCount
    self.excerptSampleCount = excerptSampleCount
    let medianSample = Statistics.median(of: recording.samples.map(Double.init))
    samples = recording.samples.map { Double($0) - medianSample }
    noiseDensity = NoiseSpectralDensity(of: recording.samples, quantile: 0.1)
  }

  /// Returns the excerpt of the recording for a delay.
  ///
  /// The excerpt is padded with silence beyond the ends of the recording.
  func excerpt(at delay: Int) -> [Double] { excerpt(of: samples, at: delay) }

  /// Returns the excerpt of a signal for a delay. The signal must be as long as the recording.
  func excerpt(of signal: [Double], at delay: Int) -> [Double] {
    let firstExcerptSample = delay - leadSampleCount
    let firstCopiedSample = max(0, firstExcerptSample)
    let endCopiedSample = max(
      firstCopiedSample, min(signal.count, firstExcerptSample + excerptSampleCount))
    var excerptSamples = [Double](repeating: 0, count: excerptSampleCount)
    excerptSamples.replaceSubrange(
      firstCopiedSample - firstExcerptSample..<endCopiedSample - firstExcerptSample,
      with: signal[firstCopiedSample..<endCopiedSample])
    return excerptSamples
  }

  /// Returns a filter that whitens the noise and the expected model error at a delay.
  func whitener(at delay: Int) -> [Double] {
    let excerptSpectrum = NoiseSpectralDensity(
      of: excerpt(at: delay).map(Float.init), quantile: nil)
    let powerFloor =
      1e-4 * (excerptSpectrum.binPowers.max() ?? 0) * Self.modelErrorPowerFraction + 1e-20
    var noiseSpectrum = noiseDensity
    for bin in noiseSpectrum.binPowers.indices {
      noiseSpectrum.binPowers[bin] +=
        Self.modelErrorPowerFraction * excerptSpectrum.binPowers[bin] + powerFloor
    }
    return noiseSpectrum.whiteningFilter(order: Self.whitenerOrder).map(Double.init)
  }
}

extension RecordingResponse.Kind {
  static let anyResonance = Self.resonance([])
  static let anyRoom = Self.room(decaySeconds: 0, reflectionGain: 0)

  /// A Boolean value that indicates whether the response has decaying oscillations.
  var isResonance: Bool { parameterFreeKind == .anyResonance }
  /// A Boolean value that indicates whether the response has reflections.
  var isRoom: Bool { parameterFreeKind == .anyRoom }

  /// The kind of response, without its parameters.
  var parameterFreeKind: Self {
    switch self {
    case .resonance: .anyResonance
    case .room: .anyRoom
    case .filter, .unconstrained: self
    }
  }
}
