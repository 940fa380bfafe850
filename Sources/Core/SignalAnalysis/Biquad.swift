internal import CMath

/// A second-order filter in transposed direct form II.
///
/// y[n] = b₀ x[n] + b₁ x[n − 1] + b₂ x[n − 2] − a₁ y[n − 1] − a₂ y[n − 2]
///
/// Source: J. O. Smith, "Introduction to Digital Filters", Transposed Direct-Forms.
package struct Biquad<Value: BinaryFloatingPoint> {
  private let numeratorB0: Value
  private let numeratorB1: Value
  private let numeratorB2: Value
  private let denominatorA1: Value
  private let denominatorA2: Value
  private var firstDelayState = Value.zero
  private var secondDelayState = Value.zero

  /// Creates a filter from the coefficients of its transfer function's numerator and denominator.
  package init(
    numeratorB0 b0: Double, numeratorB1 b1: Double, numeratorB2 b2: Double,
    denominatorA1 a1: Double, denominatorA2 a2: Double
  ) {
    self.numeratorB0 = Value(b0)
    self.numeratorB1 = Value(b1)
    self.numeratorB2 = Value(b2)
    self.denominatorA1 = Value(a1)
    self.denominatorA2 = Value(a2)
  }

  /// Creates a low-pass or high-pass filter by the bilinear transform.
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
      numeratorB0: gain, numeratorB1: band == .lowPass ? 2 * gain : -2 * gain, numeratorB2: gain,
      denominatorA1: -2 * cosine / (1 + alpha), denominatorA2: (1 - alpha) / (1 + alpha))
  }

  /// Filters the next sample, and returns the output sample.
  @inline(__always) package mutating func process(_ sample: Value) -> Value {
    let output = numeratorB0 * sample + firstDelayState
    firstDelayState = numeratorB1 * sample - denominatorA1 * output + secondDelayState
    secondDelayState = numeratorB2 * sample - denominatorA2 * output
    return output
  }
}

/// The range of frequencies that a filter passes: below or above its corner frequency.
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

  /// Returns the filtered samples, as if silence preceded them.
  package func filtered(_ samples: [Float]) -> [Float] {
    var runningFilter = self
    return samples.map { runningFilter.process($0) }
  }

  /// Returns the samples filtered forward and then backward, so that they are not delayed.
  package func zeroPhaseFiltered(_ samples: [Float]) -> [Float] {
    filtered(filtered(samples).reversed()).reversed()
  }
}

/// A filter of higher order, which consists of second-order sections in series.
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
      sections = [
        Biquad(
          numeratorB0: gain, numeratorB1: b1, numeratorB2: 0, denominatorA1: -pole, denominatorA2: 0
        )
      ]
      return
    }
    sections = (0..<order / 2).map { index in
      let quality = 0.5 / cos(.pi * (2 * Double(index) + 1) / Double(2 * order))
      return Biquad(band, hertz: clampedCornerHertz, quality: quality, rate: rate)
    }
  }

  /// Creates a second-order section from the coefficients of its numerator and denominator.
  package init(_ b0: Double, _ b1: Double, _ b2: Double, _ a1: Double, _ a2: Double) {
    sections = [
      Biquad(
        numeratorB0: b0, numeratorB1: b1, numeratorB2: b2, denominatorA1: a1, denominatorA2: a2)
    ]
  }

  /// Filters the next sample, and returns the output sample.
  package mutating func process(_ sample: Double) -> Double {
    var filteredSample = sample
    for index in sections.indices {
      let output = sections[index].process(filteredSample)
      // Denormal numbers would be slow.
      filteredSample = abs(output) < 1e-30 ? 0 : output
    }
    return filteredSample
  }
}
