/// A resampler with a variable rate for low-frequency signals, such as vibration.
///
/// The frequencies are far below both Nyquist frequencies.
///
/// A cubic Hermite polynomial through four samples interpolates between the middle two, with the
/// slopes of the Catmull–Rom spline.
public struct VariableRateResampler {
  /// The most recent four input samples.
  private var latestSamples = SIMD4<Float>()
  /// The position 0…1 of the next output sample between the second and the third input sample.
  private var outputPositionFraction = 0.0

  /// Creates a resampler whose history is silence.
  public init() {}

  /// Returns the output samples for the next input samples.
  ///
  /// - Parameters:
  ///   - samples: The next samples.
  ///   - step: The number of input samples for each output sample, above 0. It may change from call
  ///     to call.
  public mutating func resample(_ samples: [Float], step: Double) -> [Float] {
    var outputSamples: [Float] = []
    outputSamples.reserveCapacity(Int(Double(samples.count) / step) + 2)
    for sample in samples {
      latestSamples = SIMD4(latestSamples[1], latestSamples[2], latestSamples[3], sample)
      while outputPositionFraction < 1 {
        outputSamples.append(interpolatedSample(atFraction: Float(outputPositionFraction)))
        outputPositionFraction += step
      }
      outputPositionFraction -= 1
    }
    return outputSamples
  }

  /// Interpolates between the middle two of the latest four samples.
  ///
  /// The interpolation is a cubic Hermite spline.
  private func interpolatedSample(atFraction fraction: Float) -> Float {
    let startSlope = (latestSamples[2] - latestSamples[0]) / 2
    let endSlope = (latestSamples[3] - latestSamples[1]) / 2
    let levelChange = latestSamples[2] - latestSamples[1]
    let cubicCoefficient = startSlope + endSlope - 2 * levelChange
    let quadraticCoefficient = 3 * levelChange - 2 * startSlope - endSlope
    return latestSamples[1] + fraction
      * (startSlope + fraction * (quadraticCoefficient + fraction * cubicCoefficient))
  }
}
