internal import HapticModel
internal import HapticRender
internal import SignalAnalysis

/// The inverse of the filters between a profile's synthesis and its transducer.
///
/// The equalizer of a resonance makes a burst up to three times as long, so that bursts overlap
/// each other and the start of a tone resembles a burst. The inverse restores the synthesized
/// signal by Wiener deconvolution. With the response H of the filters, each frequency
/// is multiplied by
///
///     H* / (|H|² + ε²),
///
/// which is 1 / H except where the filters remove nearly everything, so that noise there is not
/// amplified.
struct DriveInverse {
  /// The sample rate of the inverted filters, in hertz.
  ///
  /// Their response to frequencies of vibration hardly depends on the rate.
  private static let filterRate = 48_000.0
  /// ε: the minimum response that the inverse restores, relative to the maximum.
  private static let minimumRelativeResponse = 0.1
  /// The duration of silence after the signal for the decay of the inverse, in seconds.
  private static let decaySeconds = 0.5

  private let settings: TransducerSettings

  /// Creates the inverse for a profile, or returns nil if the profile has no hardware.
  init?(_ profile: TransducerProfile) {
    guard let settings = profile.transducerSettings(rate: Self.filterRate) else { return nil }
    self.settings = settings
  }

  /// Returns the samples of a signal before the drive filters.
  ///
  /// - Parameters:
  ///   - samples: The filtered samples.
  ///   - rate: The sample rate, in hertz.
  func restored(_ samples: [Float], sampleRate rate: Double) -> [Float] {
    let length = FourierTransform.fastLength(
      atLeast: samples.count + Int(Self.decaySeconds * rate))
    var transform = FourierTransform(length: length)
    var bins = transform.forward(samples)
    let responses = bins.indices.map { index in
      settings.driveFrequencyResponse(atHertz: Double(index) * rate / Double(length))
    }
    let powers = responses.map { ($0 * $0).sum() }
    let regularization =
      (powers.max() ?? 0) * Self.minimumRelativeResponse * Self.minimumRelativeResponse
    for index in bins.indices {
      let inverse = responses[index] / (powers[index] + regularization)
      bins[index] = bins[index] * ComplexNumber(Float(inverse.x), Float(-inverse.y))
    }
    return Array(transform.backward(bins).prefix(samples.count))
  }
}
