/// Alignment of one signal with another in time.
public enum SignalAlignment {
  /// The best lag between two signals.
  public struct Match: Equatable, Sendable {
    /// The delay of the second signal relative to the first, in seconds; negative if it is earlier.
    public var lagSeconds: Double
    /// The normalized correlation at the lag: 1 for equal shapes, 0 for unrelated signals, −1 for
    /// opposite polarity.
    public var correlation: Double

    /// Creates a match from a lag in seconds and a correlation.
    public init(lag: Double, correlation: Double) {
      self.lagSeconds = lag
      self.correlation = correlation
    }
  }

  /// Returns the best lag between two signals, to a fraction of a frame.
  ///
  /// The lag is that of the cross-correlation's peak, refined by a parabola through its neighbors.
  ///
  /// - Parameters:
  ///   - first: The reference.
  ///   - second: The signal to align, of any length.
  ///   - rate: The sample rate of both signals, in hertz.
  ///   - maximumLag: The maximum lag to each side, in seconds.
  /// - Returns: The best match, or nil if a signal is silent.
  public static func bestMatch(
    _ first: [Float], _ second: [Float], rate: Double, maximumLag: Double = 0.5
  )
    -> Match?
  {
    precondition(rate > 0 && maximumLag >= 0, "an alignment needs a positive rate")
    let firstValidSamples = NonFiniteSamples.zeroingInvalidSamples(in: first)
    let secondValidSamples = NonFiniteSamples.zeroingInvalidSamples(in: second)
    let energyProductRoot =
      (Statistics.energy(of: firstValidSamples) * Statistics.energy(of: secondValidSamples))
      .squareRoot()
    guard energyProductRoot > 0 else { return nil }
    let maximumLagFrames = max(1, Int((maximumLag * rate).rounded()))
    let lagProducts = CrossCorrelation.of(
      firstValidSamples, secondValidSamples, maximumLag: maximumLagFrames)
    var peakLagIndex = 0
    for index in lagProducts.indices where lagProducts[index] > lagProducts[peakLagIndex] {
      peakLagIndex = index
    }
    var fractionalLagFrames = 0.0
    var correlationPeak = Double(lagProducts[peakLagIndex])
    if peakLagIndex > 0, peakLagIndex < lagProducts.count - 1 {
      let vertex = ParabolicPeak(
        Double(lagProducts[peakLagIndex - 1]), Double(lagProducts[peakLagIndex]),
        Double(lagProducts[peakLagIndex + 1]))
      fractionalLagFrames = vertex.peakOffset
      correlationPeak = vertex.peakHeight
    }
    return Match(
      lag: (Double(peakLagIndex - maximumLagFrames) + fractionalLagFrames) / rate,
      correlation: max(-1, min(1, correlationPeak / energyProductRoot)))
  }
}

/// The cross-correlation of two signals, block by block by Fourier transforms.
package enum CrossCorrelation {
  /// Returns the cross-correlation `Σ first[n] · second[n + lag]` for all lags.
  ///
  /// The lags are from −maximumLag to maximumLag, in frames.
  package static func of(_ first: [Float], _ second: [Float], maximumLag: Int) -> [Float] {
    let overlappingSampleCount = max(1, min(first.count, second.count + maximumLag))
    let blockSampleCount = min(overlappingSampleCount, max(2 * maximumLag, 8_192))
    var transform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: blockSampleCount + 2 * maximumLag))
    var crossSpectrumSums = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var firstPaddedBlock = [Float](repeating: 0, count: transform.length)
    var secondPaddedBlock = firstPaddedBlock
    var firstBins = crossSpectrumSums
    var secondBins = crossSpectrumSums
    for start in stride(from: 0, to: first.count, by: blockSampleCount) {
      for index in firstPaddedBlock.indices {
        firstPaddedBlock[index] =
          index < blockSampleCount && start + index < first.count ? first[start + index] : 0
        let position = start - maximumLag + index
        secondPaddedBlock[index] =
          index < blockSampleCount + 2 * maximumLag && position >= 0 && position < second.count
          ? second[position] : 0
      }
      transform.forward(firstPaddedBlock, into: &firstBins)
      transform.forward(secondPaddedBlock, into: &secondBins)
      for bin in crossSpectrumSums.indices {
        let product = firstBins[bin].conjugate * secondBins[bin]
        crossSpectrumSums[bin].real += product.real
        crossSpectrumSums[bin].imaginary += product.imaginary
      }
    }
    return Array(transform.backward(crossSpectrumSums).prefix(2 * maximumLag + 1))
  }
}
