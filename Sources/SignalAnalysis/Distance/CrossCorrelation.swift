/// The sums of products of two signals at each lag, block by block by Fourier transforms.
enum CrossCorrelation {
  /// `Σ first[n] · second[n + lag]` for lags from −reach to reach.
  static func of(_ first: [Float], _ second: [Float], reach: Int) -> [Float] {
    let shortest = max(1, min(first.count, second.count + reach))
    let blockLength = min(shortest, max(2 * reach, 8_192))
    var transform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: blockLength + 2 * reach))
    var sums = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var left = [Float](repeating: 0, count: transform.length)
    var right = left
    var leftBins = sums
    var rightBins = sums
    for start in stride(from: 0, to: first.count, by: blockLength) {
      for index in left.indices {
        left[index] =
          index < blockLength && start + index < first.count ? first[start + index] : 0
        let place = start - reach + index
        right[index] =
          index < blockLength + 2 * reach && place >= 0 && place < second.count
          ? second[place] : 0
      }
      transform.forward(left, into: &leftBins)
      transform.forward(right, into: &rightBins)
      for bin in sums.indices {
        let product = leftBins[bin].conjugate * rightBins[bin]
        sums[bin].real += product.real
        sums[bin].imaginary += product.imaginary
      }
    }
    return Array(transform.backward(sums).prefix(2 * reach + 1))
  }
}
