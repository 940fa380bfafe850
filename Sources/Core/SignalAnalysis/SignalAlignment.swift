/// Alignment of one signal with another in time.
public enum SignalAlignment {
  /// The lag at which two signals match best.
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

  /// Returns the lag at which two signals match best, to a fraction of a frame.
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
    let first = NonFiniteSamples.zeroingInvalidSamples(in: first)
    let second = NonFiniteSamples.zeroingInvalidSamples(in: second)
    let energyProductRoot = (Statistics.energy(of: first) * Statistics.energy(of: second))
      .squareRoot()
    guard energyProductRoot > 0 else { return nil }
    let maximumLagFrames = max(1, Int((maximumLag * rate).rounded()))
    let products = CrossCorrelation.of(first, second, maximumLag: maximumLagFrames)
    var bestIndex = 0
    for index in products.indices where products[index] > products[bestIndex] {
      bestIndex = index
    }
    var fractionalOffset = 0.0
    var correlationPeak = Double(products[bestIndex])
    if bestIndex > 0, bestIndex < products.count - 1 {
      let vertex = ParabolicPeak(
        Double(products[bestIndex - 1]), Double(products[bestIndex]),
        Double(products[bestIndex + 1]))
      fractionalOffset = vertex.peakOffset
      correlationPeak = vertex.peakHeight
    }
    return Match(
      lag: (Double(bestIndex - maximumLagFrames) + fractionalOffset) / rate,
      correlation: max(-1, min(1, correlationPeak / energyProductRoot)))
  }
}

/// The cross-correlation of two signals, block by block by Fourier transforms.
package enum CrossCorrelation {
  /// Returns the cross-correlation `Σ first[n] · second[n + lag]` for all lags from −maximumLag to
  /// maximumLag, in frames.
  package static func of(_ first: [Float], _ second: [Float], maximumLag: Int) -> [Float] {
    let usefulCount = max(1, min(first.count, second.count + maximumLag))
    let blockLength = min(usefulCount, max(2 * maximumLag, 8_192))
    var transform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: blockLength + 2 * maximumLag))
    var crossSpectrumSums = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var firstBlock = [Float](repeating: 0, count: transform.length)
    var secondBlock = firstBlock
    var firstBins = crossSpectrumSums
    var secondBins = crossSpectrumSums
    for start in stride(from: 0, to: first.count, by: blockLength) {
      for index in firstBlock.indices {
        firstBlock[index] =
          index < blockLength && start + index < first.count ? first[start + index] : 0
        let position = start - maximumLag + index
        secondBlock[index] =
          index < blockLength + 2 * maximumLag && position >= 0 && position < second.count
          ? second[position] : 0
      }
      transform.forward(firstBlock, into: &firstBins)
      transform.forward(secondBlock, into: &secondBins)
      for bin in crossSpectrumSums.indices {
        let product = firstBins[bin].conjugate * secondBins[bin]
        crossSpectrumSums[bin].real += product.real
        crossSpectrumSums[bin].imaginary += product.imaginary
      }
    }
    return Array(transform.backward(crossSpectrumSums).prefix(2 * maximumLag + 1))
  }
}
