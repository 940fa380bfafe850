internal import CMath

/// A signal at a rate of about 4 kHz: its spectrum up to 1.4 kHz, in phase.
///
/// Blocks are transformed, cut and transformed back at the lower rate; the cut is a raised cosine
/// from 0.36 to 0.46 of the new rate. Time O(n log n) of a block of 16,384 new samples.
package struct LowRateSignal {
  /// Sample k is at time k / rate.
  package let samples: [Float]
  /// Frames per second: the old rate over a whole number.
  package let rate: Double

  /// New samples of one block, and of what the cut reaches to each side of it.
  private static let block = 16_384
  private static let margin = 192

  /// Lowers the rate of a signal by a whole number.
  ///
  /// - Parameter target: Frames per second that the new rate is near; slower signals stay as they are.
  package init(of signal: [Float], rate: Double, target: Double = 4_000) {
    let factor = max(1, Int((rate / target).rounded()))
    self.rate = rate / Double(factor)
    guard factor > 1 else {
      samples = signal
      return
    }
    let count = (signal.count + factor - 1) / factor
    let length = FourierTransform.fastLength(atLeast: min(count, Self.block) + 2 * Self.margin)
    var wide = FourierTransform(length: length * factor)
    var narrow = FourierTransform(length: length)
    let taper = (0..<narrow.binCount).map { bin -> Float in
      let place = (Double(bin) / Double(length) - 0.36) / 0.1
      return Float(0.5 + 0.5 * cos(.pi * min(1, max(0, place)))) / Float(factor)
    }
    var output = [Float](repeating: 0, count: count)
    var input = [Float](repeating: 0, count: wide.length)
    var wideBins = [ComplexNumber](repeating: ComplexNumber(), count: wide.binCount)
    var start = 0
    while start < count {
      let first = (start - Self.margin) * factor
      let known = max(0, first)..<max(0, min(signal.count, first + input.count))
      for index in input.indices { input[index] = 0 }
      input.replaceSubrange(known.lowerBound - first..<known.upperBound - first, with: signal[known])
      wide.forward(input, into: &wideBins)
      var bins = Array(wideBins[0..<narrow.binCount])
      for bin in bins.indices {
        bins[bin].real *= taper[bin]
        bins[bin].imaginary *= taper[bin]
      }
      let part = narrow.backward(bins)
      let advance = min(length - 2 * Self.margin, count - start)
      output.replaceSubrange(start..<start + advance, with: part[Self.margin..<Self.margin + advance])
      start += advance
    }
    samples = output
  }
}
