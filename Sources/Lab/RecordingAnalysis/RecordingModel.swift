internal import CMath
import SignalAnalysis

/// A hypothesis about the making of a recording: the delay of the reference, the linear response of
/// the playback and recording chain, an optional automatic gain control, and changes to individual
/// events.
struct RecordingModel {
  /// A changed event, or an added transient.
  struct Change {
    var kind: RecordingChange.Kind
    /// The index of the event's waveform, or nil for an added transient.
    var waveformIndex: Int?
    /// The amount of change: decibels, seconds, or the logarithm of a frequency ratio. For an added
    /// transient, its gain.
    var amount = 0.0
    /// The time of an added transient, in seconds from the start of the reference.
    var time = 0.0
    /// The index of an added transient in the transient bank.
    var bankIndex = 0
    /// The log evidence gained by including the change.
    var evidenceGain = 0.0
  }

  /// The minimum log evidence that a change must gain to be accepted.
  static let minimumEvidenceGain = 25.0

  /// The start of the reference in the recording, in samples.
  var delay: Int
  /// The relative tempo deviation; positive if the recording is slower.
  var tempo = 0.0
  var response: RecordingResponse
  /// The regression of the recording on the reference through the response.
  var fit = RecordingResponse.Fit(evidence: -.infinity, coefficients: [], residualEnergy: .infinity)
  /// The filter that whitens noise and model error.
  var whitener: [Double] = [1]
  /// The energy of the whitened excerpt.
  var energy = 0.0
  var changes: [Change] = []
  /// The automatic gain control that is inverted before fitting, or nil for a constant gain.
  var automaticGain: AutomaticGainControl?

  /// The log evidence, including the cost of all selected parameters.
  var logEvidence = -Double.infinity
  /// The score by which models are compared: the log evidence minus the minimum gain of each
  /// change.
  var score: Double { logEvidence - Self.minimumEvidenceGain * Double(changes.count) }
  /// Returns whether a model is more probable than the best model so far. A score that is not a
  /// number is never better.
  func isBetter(than best: RecordingModel?) -> Bool {
    guard let best else { return true }
    return score > best.score || best.score.isNaN && !score.isNaN
  }
  /// The energy of the residual, in decibels relative to the recording.
  var residualDecibels: Double { 10 * log10(max(1e-9, fit.residualEnergy / max(energy, 1e-30))) }
}

/// A downsampled recording and its noise spectrum.
struct RecordingObservation {
  /// The length of an excerpt in samples, including the margins around the reference.
  let excerptLength: Int
  /// The margin before the reference, in samples.
  let leadLength: Int
  /// The sample rate, in hertz.
  let rate: Double
  /// The recording with its mean removed.
  var samples: [Double]
  private let noise: NoiseSpectralDensity

  /// The fraction of an event's power that even the best model cannot explain.
  private static let modelError = 1e-3
  /// The order of whitening filters.
  static let whitenerOrder = 24

  init(_ recording: LowRateSignal, leadLength: Int, excerptLength: Int) {
    rate = recording.rate
    self.leadLength = leadLength
    self.excerptLength = excerptLength
    let median = Statistics.median(of: recording.samples.map(Double.init))
    samples = recording.samples.map { Double($0) - median }
    noise = NoiseSpectralDensity(of: recording.samples, quantile: 0.1)
  }

  /// Returns the excerpt for a delay, padded with silence beyond the ends of the recording.
  func excerpt(at delay: Int) -> [Double] { excerpt(of: samples, at: delay) }

  /// Returns the excerpt of another signal of the same length as the recording.
  func excerpt(of signal: [Double], at delay: Int) -> [Double] {
    let first = delay - leadLength
    let lowerBound = max(0, first)
    let upperBound = max(lowerBound, min(signal.count, first + excerptLength))
    var excerpt = [Double](repeating: 0, count: excerptLength)
    excerpt.replaceSubrange(
      lowerBound - first..<upperBound - first, with: signal[lowerBound..<upperBound])
    return excerpt
  }

  /// Returns a filter that whitens the noise and the expected model error for a delay.
  func whitener(at delay: Int) -> [Double] {
    let excerptSpectrum = NoiseSpectralDensity(
      of: excerpt(at: delay).map(Float.init), quantile: nil)
    let floor = 1e-4 * (excerptSpectrum.powers.max() ?? 0) * Self.modelError + 1e-20
    var spectrum = noise
    for bin in spectrum.powers.indices {
      spectrum.powers[bin] += Self.modelError * excerptSpectrum.powers[bin] + floor
    }
    return spectrum.whiteningFilter(order: Self.whitenerOrder).map(Double.init)
  }
}

extension RecordingResponse.Kind {
  static let anyResonance = Self.resonance([])
  static let anyRoom = Self.room(decaySeconds: 0, reflectionGain: 0)

  /// The kind of response, without its parameters.
  var withoutParameters: Self {
    switch self {
    case .resonance: .anyResonance
    case .room: .anyRoom
    case .filter, .unconstrained: self
    }
  }
}
