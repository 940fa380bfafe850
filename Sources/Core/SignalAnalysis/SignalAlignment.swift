/// Alignment of one signal with another in time.
public enum SignalAlignment {
  /// The lag at which two signals match best.
  public struct Match: Equatable, Sendable {
    /// The delay of the second signal relative to the first, in seconds; negative if it is earlier.
    public var lag: Double
    /// The normalized correlation at the lag: 1 for equal shapes, 0 for unrelated signals, −1 for
    /// opposite polarity.
    public var correlation: Double

    /// Creates a match.
    public init(lag: Double, correlation: Double) {
      self.lag = lag
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
    let first = NonFiniteSamples.replaced(in: first)
    let second = NonFiniteSamples.replaced(in: second)
    let scale = (Statistics.energy(of: first) * Statistics.energy(of: second)).squareRoot()
    guard scale > 0 else { return nil }
    let maximumFrames = max(1, Int((maximumLag * rate).rounded()))
    let products = CrossCorrelation.of(first, second, maximumLag: maximumFrames)
    var best = 0
    for index in products.indices where products[index] > products[best] {
      best = index
    }
    var offset = 0.0
    var peak = Double(products[best])
    if best > 0, best < products.count - 1 {
      let vertex = ParabolicPeak(
        Double(products[best - 1]), Double(products[best]), Double(products[best + 1]))
      offset = vertex.offset
      peak = vertex.height
    }
    return Match(
      lag: (Double(best - maximumFrames) + offset) / rate,
      correlation: max(-1, min(1, peak / scale)))
  }
}

/// The cross-correlation of two signals, block by block by Fourier transforms.
package enum CrossCorrelation {
  /// Returns `Σ first[n] · second[n + lag]` for all lags from −maximumLag to maximumLag, in frames.
  package static func of(_ first: [Float], _ second: [Float], maximumLag: Int) -> [Float] {
    let usefulCount = max(1, min(first.count, second.count + maximumLag))
    let blockLength = min(usefulCount, max(2 * maximumLag, 8_192))
    var transform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: blockLength + 2 * maximumLag))
    var sums = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var firstBlock = [Float](repeating: 0, count: transform.length)
    var secondBlock = firstBlock
    var firstBins = sums
    var secondBins = sums
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
      for bin in sums.indices {
        let product = firstBins[bin].conjugate * secondBins[bin]
        sums[bin].real += product.real
        sums[bin].imaginary += product.imaginary
      }
    }
    return Array(transform.backward(sums).prefix(2 * maximumLag + 1))
  }
}
