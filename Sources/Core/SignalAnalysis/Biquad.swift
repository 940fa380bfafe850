internal import CMath

/// A second-order filter in transposed direct form II.
///
/// y[n] = b₀ x[n] + b₁ x[n − 1] + b₂ x[n − 2] − a₁ y[n − 1] − a₂ y[n − 2]
///
/// Source: J. O. Smith, "Introduction to Digital Filters", Transposed Direct-Forms.
package struct Biquad<Value: BinaryFloatingPoint> {
  private let b0: Value
  private let b1: Value
  private let b2: Value
  private let a1: Value
  private let a2: Value
  private var firstState = Value.zero
  private var secondState = Value.zero

  /// Creates a filter with the coefficients of its numerator and denominator.
  package init(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) {
    self.b0 = Value(b0)
    self.b1 = Value(b1)
    self.b2 = Value(b2)
    self.a1 = Value(a1)
    self.a2 = Value(a2)
  }

  /// Creates a low-pass or a high-pass by the bilinear transform.
  ///
  /// Source: R. Bristow-Johnson, "Audio EQ Cookbook".
  ///
  /// - Parameters:
  ///   - band: The pass band.
  ///   - hertz: The corner frequency, below half of the rate.
  ///   - quality: The quality factor; 1/√2 for a Butterworth filter.
  ///   - rate: The sample rate, in hertz.
  package init(_ band: PassBand, hertz: Double, quality: Double, rate: Double) {
    let angularFrequency = 2 * .pi * hertz / rate
    let cosine = cos(angularFrequency)
    let alpha = sin(angularFrequency) / (2 * quality)
    let gain = (band == .lowPass ? 1 - cosine : 1 + cosine) / 2 / (1 + alpha)
    self.init(
      b0: gain, b1: band == .lowPass ? 2 * gain : -2 * gain, b2: gain,
      a1: -2 * cosine / (1 + alpha), a2: (1 - alpha) / (1 + alpha))
  }

  /// Returns the output for the next sample.
  @inline(__always) package mutating func process(_ sample: Value) -> Value {
    let output = b0 * sample + firstState
    firstState = b1 * sample - a1 * output + secondState
    secondState = b2 * sample - a2 * output
    return output
  }
}

/// The frequencies that a filter passes.
package enum PassBand {
  case lowPass
  case highPass
}

extension Biquad<Float> {
  /// Creates a Butterworth filter. The corner frequency is limited to 0.49 of the rate.
  ///
  /// - Parameters:
  ///   - band: The pass band.
  ///   - hertz: The corner frequency.
  ///   - rate: The sample rate, in hertz.
  package init(_ band: PassBand, hertz: Double, rate: Double) {
    self.init(
      band, hertz: min(hertz, 0.49 * rate), quality: 2.0.squareRoot() / 2, rate: rate)
  }

  /// Returns the filtered samples, starting from the state of preceding silence.
  package func filtered(_ samples: [Float]) -> [Float] {
    var filter = self
    return samples.map { filter.process($0) }
  }

  /// Returns the samples filtered forward and backward, without a delay.
  package func zeroPhaseFiltered(_ samples: [Float]) -> [Float] {
    filtered(filtered(samples).reversed()).reversed()
  }
}

/// Second-order filters in series.
package struct BiquadCascade {
  private var sections: [Biquad<Double>]

  /// Creates a Butterworth filter. The corner frequency is limited to 0.45 of the rate.
  ///
  /// - Parameters:
  ///   - band: The pass band.
  ///   - order: 1, or an even number.
  ///   - hertz: The corner frequency, at −3 dB.
  ///   - rate: The sample rate, in hertz.
  package init(_ band: PassBand, order: Int, hertz: Double, rate: Double) {
    let clampedCornerHertz = min(hertz, 0.45 * rate)
    if order == 1 {
      let angle = 2 * .pi * clampedCornerHertz / rate
      let pole = (1 - sin(angle)) / cos(angle)
      let gain = band == .lowPass ? (1 - pole) / 2 : (1 + pole) / 2
      let b1 = band == .lowPass ? gain : -gain
      sections = [Biquad(b0: gain, b1: b1, b2: 0, a1: -pole, a2: 0)]
      return
    }
    sections = (0..<order / 2).map { index in
      let quality = 0.5 / cos(.pi * (2 * Double(index) + 1) / Double(2 * order))
      return Biquad(band, hertz: clampedCornerHertz, quality: quality, rate: rate)
    }
  }

  /// Creates a section with the given coefficients of numerator and denominator.
  package init(_ b0: Double, _ b1: Double, _ b2: Double, _ a1: Double, _ a2: Double) {
    sections = [Biquad(b0: b0, b1: b1, b2: b2, a1: a1, a2: a2)]
  }

  /// Returns the output for the next sample.
  package mutating func process(_ sample: Double) -> Double {
    var sample = sample
    for index in sections.indices {
      let output = sections[index].process(sample)
      // Denormal numbers would be slow.
      sample = abs(output) < 1e-30 ? 0 : output
    }
    return sample
  }
}
