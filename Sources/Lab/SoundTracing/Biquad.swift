internal import CMath

/// A Butterworth filter of second order, by the bilinear transform, in transposed direct form II.
///
/// Source: R. Bristow-Johnson, "Audio EQ Cookbook".
struct Biquad {
  private let b0: Float
  private let b1: Float
  private let b2: Float
  private let a1: Float
  private let a2: Float

  /// Creates a filter.
  ///
  /// - Parameters:
  ///   - hertz: The corner frequency, below half of the rate.
  ///   - isHighPass: Pass true for a high-pass, false for a low-pass.
  ///   - rate: The sample rate, in hertz.
  init(hertz: Double, isHighPass: Bool, rate: Double) {
    let angle = 2 * .pi * min(hertz, 0.49 * rate) / rate
    let cosine = cos(angle)
    let alpha = sin(angle) / 2.0.squareRoot()
    let gain = (isHighPass ? 1 + cosine : 1 - cosine) / 2 / (1 + alpha)
    b0 = Float(gain)
    b1 = Float(isHighPass ? -2 * gain : 2 * gain)
    b2 = Float(gain)
    a1 = Float(-2 * cosine / (1 + alpha))
    a2 = Float((1 - alpha) / (1 + alpha))
  }

  /// Returns the filtered samples, with silence before them.
  func filtered(_ samples: [Float]) -> [Float] {
    var firstState = Float(0)
    var secondState = Float(0)
    return samples.map { sample in
      let output = b0 * sample + firstState
      firstState = b1 * sample - a1 * output + secondState
      secondState = b2 * sample - a2 * output
      return output
    }
  }

  /// Returns the samples filtered forward and backward, without a delay.
  func zeroPhaseFiltered(_ samples: [Float]) -> [Float] {
    filtered(filtered(samples).reversed()).reversed()
  }
}
