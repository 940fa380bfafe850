/// Resamples signals far below both Nyquist frequencies, such as vibration, at a variable rate.
///
/// A cubic Hermite polynomial through four samples interpolates between the middle two, with the
/// slopes of the Catmull–Rom spline.
public struct VariableRateResampler {
  /// The latest four samples.
  private var history = SIMD4<Float>()
  /// The position of the next output sample between the second and the third sample.
  private var fraction = 0.0

  /// Creates a resampler whose history is silence.
  public init() {}

  /// Resamples the next samples.
  ///
  /// - Parameters:
  ///   - samples: The next samples.
  ///   - step: The number of input samples for each output sample, above 0. It may change from call
  ///     to call.
  public mutating func resample(_ samples: [Float], step: Double) -> [Float] {
    var output: [Float] = []
    output.reserveCapacity(Int(Double(samples.count) / step) + 2)
    for sample in samples {
      history = SIMD4(history[1], history[2], history[3], sample)
      while fraction < 1 {
        output.append(interpolated(at: Float(fraction)))
        fraction += step
      }
      fraction -= 1
    }
    return output
  }

  private func interpolated(at time: Float) -> Float {
    let slope = (history[2] - history[0]) / 2
    let nextSlope = (history[3] - history[1]) / 2
    let levelChange = history[2] - history[1]
    let cubic = slope + nextSlope - 2 * levelChange
    let quadratic = 3 * levelChange - 2 * slope - nextSlope
    return history[1] + time * (slope + time * (quadratic + time * cubic))
  }
}
