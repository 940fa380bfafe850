import SignalAnalysis

extension FourierTransform {
  /// Returns the cross-correlation of a signal with a shape by FFT, with negative lags at the end.
  ///
  /// - Parameters:
  ///   - bins: The transform of the signal.
  ///   - shape: The samples of the shape.
  mutating func correlation(_ bins: [ComplexNumber], _ shape: [Float]) -> [Float] {
    let shapeBins = forward(shape)
    return backward(bins.indices.map { bins[$0] * shapeBins[$0].conjugate })
  }
}
