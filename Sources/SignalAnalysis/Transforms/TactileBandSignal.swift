internal import CMath

/// The part of a signal that a body feels, at a rate of a few kilohertz, so that it is quick to study.
///
/// A linear-phase Kaiser filter passes up to 0.36 of the new rate within 0.01 dB and takes away what
/// lies above half of it by 70 dB.
struct TactileBandSignal {
  /// What is left of the signal; sample k is at time k / rate.
  let samples: [Float]
  /// Frames per second.
  let rate: Double

  /// Lowers the rate of a signal by a whole number.
  ///
  /// - Parameter least: The new rate is at least so many frames per second, where the old one is.
  init(of signal: [Float], rate: Double, least: Double = 2_000) {
    let factor = max(1, Int(rate / least))
    self.rate = rate / Double(factor)
    guard factor > 1 else {
      samples = signal
      return
    }
    let taps = Self.taps(factor: factor)
    let half = taps.count / 2
    // Zeros around the signal spare the loop the question where it ends.
    var padded = [Float](repeating: 0, count: half)
    padded.reserveCapacity(signal.count + 2 * half + factor)
    padded += signal
    padded += [Float](repeating: 0, count: half + factor)
    let count = (signal.count + factor - 1) / factor
    var output = [Float](repeating: 0, count: count)
    let source = padded.span
    let kernel = taps.span
    for index in 0..<count { output[index] = DotProduct.of(source, from: index * factor, kernel) }
    samples = output
  }

  /// Output samples that the filter reaches to each side.
  private static let reach = 16

  /// The filter's cut-off as a share of the new rate; its transition is 0.07 to each side.
  private static let cutOff = 0.43

  /// The window's shape: side lobes 70 dB down.
  private static let beta = 6.76

  private static func taps(factor: Int) -> [Float] {
    let half = reach * factor
    let taps = (-half...half).map { offset -> Double in
      let place = Double(offset) / Double(half)
      let window = KaiserWindow.value(at: place, beta: beta)
      let angle = 2 * .pi * cutOff * Double(offset) / Double(factor)
      return window * (offset == 0 ? 1 : sin(angle) / angle)
    }
    let sum = taps.reduce(0, +)
    return taps.map { Float($0 / sum) }
  }
}

/// Windows made of the modified Bessel function.
enum KaiserWindow {
  /// The Kaiser window at a place from −1 to 1, where it is 1 in the middle.
  static func value(at place: Double, beta: Double) -> Double {
    bessel(beta * max(0, 1 - place * place).squareRoot()) / bessel(beta)
  }

  /// The Kaiser–Bessel-derived window: two of them half a length apart have squares that add up to 1.
  static func derived(length: Int, beta: Double) -> [Float] {
    let half = length / 2
    var sums = [0.0]
    for index in 0...half {
      let place = 2 * Double(index) / Double(half) - 1
      sums.append(sums[index] + value(at: place, beta: beta))
    }
    let rising = (0..<half).map { Float((sums[$0 + 1] / sums[half + 1]).squareRoot()) }
    return rising + rising.reversed()
  }

  /// The modified Bessel function of the first kind and order zero.
  private static func bessel(_ x: Double) -> Double {
    var term = 1.0
    var sum = 1.0
    var index = 1.0
    while term > sum * 1e-12 {
      term *= (x / 2 / index) * (x / 2 / index)
      sum += term
      index += 1
    }
    return sum
  }
}

/// The sum of products, eight at a time.
enum DotProduct {
  /// `Σ samples[start + n] · taps[n]` over all taps.
  static func of(_ samples: Span<Float>, from start: Int, _ taps: Span<Float>) -> Float {
    precondition(start >= 0 && start + taps.count <= samples.count, "the taps must fit")
    var sums = SIMD8<Float>.zero
    var index = 0
    while index + 8 <= taps.count {
      var left = SIMD8<Float>.zero
      var right = SIMD8<Float>.zero
      for lane in 0..<8 {
        left[lane] = unsafe samples[unchecked: start + index + lane]
        right[lane] = unsafe taps[unchecked: index + lane]
      }
      sums += left * right
      index += 8
    }
    var sum = sums.sum()
    while index < taps.count {
      sum += samples[start + index] * taps[index]
      index += 1
    }
    return sum
  }
}
