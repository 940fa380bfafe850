internal import CMath

/// Turns a real signal into a complex one whose magnitude is the amplitude of the tone in it.
///
/// A linear-phase filter of ±50 ms: its real part takes the local mean away, its imaginary part is
/// a Hilbert transformer under a Hann window. Both are exact to 0.05 dB from 40 Hz to 40 Hz below
/// half the rate; below 20 Hz they fade out. Sound further away than 50 ms has no influence.
struct AnalyticFilter: ~Copyable {
  /// How far the filter looks to each side; the main lobe of its window then ends at 20 Hz.
  static let reach = 0.05

  private let half: Int
  private var transform: FourierTransform
  private let realResponse: [Float]
  private let imaginaryResponse: [Float]

  /// Prepares the filter for signals of a rate and about a length.
  init(rate: Double, count: Int) {
    half = max(1, Int((Self.reach * rate).rounded()))
    // A block four times as long as the filter wastes little on the overlap.
    let length = FourierTransform.fastLength(atLeast: min(count + 2 * half, 8 * half))
    transform = FourierTransform(length: max(length, 4 * half))
    var real = [Float](repeating: 0, count: transform.length)
    var imaginary = real
    var sum = 0.0
    for offset in 1 - half..<half {
      let window = 0.5 + 0.5 * cos(.pi * Double(offset) / Double(half))
      let index = offset < 0 ? offset + real.count : offset
      real[index] = Float(-window)
      sum += window
      if offset % 2 != 0 { imaginary[index] = Float(window * 2 / (.pi * Double(offset))) }
    }
    for index in real.indices { real[index] /= Float(sum) }
    real[0] += 1
    // An even response has a real spectrum, an odd one an imaginary one.
    realResponse = transform.forward(real).map(\.real)
    imaginaryResponse = transform.forward(imaginary).map(\.imaginary)
  }

  /// Filters a signal with silence around it, block by block.
  ///
  /// - Parameter body: Takes the index of the first sample of a block and both parts of the block.
  mutating func filter(_ samples: [Float], _ body: (Int, _ real: Span<Float>, _ imaginary: Span<Float>) -> Void) {
    let advance = transform.length - 2 * half
    var input = [Float](repeating: 0, count: transform.length)
    var bins = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var turned = bins
    var real = input
    var imaginary = input
    var start = 0
    while start < samples.count {
      let first = start - half
      let known = max(0, first)..<min(samples.count, first + input.count)
      for index in input.indices { input[index] = 0 }
      for index in known { input[index - first] = samples[index] }
      transform.forward(input, into: &bins)
      for bin in bins.indices {
        let value = bins[bin]
        let turn = imaginaryResponse[bin]
        turned[bin] = ComplexNumber(-value.imaginary * turn, value.real * turn)
        bins[bin] = ComplexNumber(value.real * realResponse[bin], value.imaginary * realResponse[bin])
      }
      transform.backward(bins, into: &real)
      transform.backward(turned, into: &imaginary)
      let count = min(advance, samples.count - start)
      body(start, real.span.extracting(half..<half + count), imaginary.span.extracting(half..<half + count))
      start += count
    }
  }
}

extension FourierTransform {
  /// `forward` between arrays that are long enough already.
  mutating func forward(_ samples: [Float], into bins: inout [ComplexNumber]) {
    var span = bins.mutableSpan
    forward(samples.span, into: &span)
  }

  /// `backward` between arrays that are long enough already.
  mutating func backward(_ bins: [ComplexNumber], into samples: inout [Float]) {
    var span = samples.mutableSpan
    backward(bins.span, into: &span)
  }
}
