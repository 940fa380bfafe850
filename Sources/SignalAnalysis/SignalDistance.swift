internal import CMath

/// How far two signals are apart, and how one must be moved to fit the other.
public enum SignalDistance {
  /// How one signal lies against another.
  public struct Alignment: Equatable, Sendable {
    /// Seconds by which the second comes later than the first; negative where it comes earlier.
    public var lag: Double
    /// How well they fit there: 1 for equal shapes, 0 for nothing in common, −1 for opposites.
    public var correlation: Double

    /// Makes an alignment.
    public init(lag: Double, correlation: Double) { (self.lag, self.correlation) = (lag, correlation) }
  }

  /// The lag at which two signals fit best, to a small part of a frame.
  ///
  /// The peak of the cross-correlation, on the parabola through its neighbours. Nothing where one is
  /// silent.
  ///
  /// - Parameters:
  ///   - first: One signal.
  ///   - second: The other, of any length.
  ///   - rate: Frames per second of both.
  ///   - maximumLag: Seconds that are searched to each side.
  public static func alignment(_ first: [Float], _ second: [Float], rate: Double, maximumLag: Double = 0.5)
    -> Alignment?
  {
    precondition(rate > 0 && maximumLag >= 0, "an alignment needs a positive rate")
    let first = NonFiniteSamples.of(first)
    let second = NonFiniteSamples.of(second)
    let scale = (energy(first) * energy(second)).squareRoot()
    guard scale > 0 else { return nil }
    let reach = max(1, Int((maximumLag * rate).rounded()))
    let products = CrossCorrelation.of(first, second, reach: reach)
    var best = 0
    for index in products.indices where products[index] > products[best] { best = index }
    var offset = 0.0
    var peak = Double(products[best])
    if best > 0, best < products.count - 1 {
      let (left, middle, right) = (Double(products[best - 1]), peak, Double(products[best + 1]))
      let bend = left - 2 * middle + right
      if bend < 0 {
        offset = 0.5 * (left - right) / bend
        peak = middle - 0.25 * (left - right) * offset
      }
    }
    return Alignment(lag: (Double(best - reach) + offset) / rate, correlation: max(-1, min(1, peak / scale)))
  }

  /// What is left of the first signal when the second, moved back by a lag, is taken away.
  ///
  /// - Returns: dB re the first signal's energy: −200 for equal ones, 0 for a silent second.
  public static func residual(_ first: [Float], _ second: [Float], rate: Double, lag: Double) -> Double {
    let first = NonFiniteSamples.of(first)
    let moved = FractionalDelay.moved(NonFiniteSamples.of(second), earlierBy: lag * rate)
    var left = 0.0
    for index in 0..<max(first.count, moved.count) {
      let difference =
        (index < first.count ? Double(first[index]) : 0) - (index < moved.count ? Double(moved[index]) : 0)
      left += difference * difference
    }
    let power = energy(first)
    guard power > 0 else { return left > 0 ? .infinity : Decibels.silence }
    return Decibels.of(power: left / power)
  }

  /// The RMS difference of two envelopes in dB, where either is within 50 dB of the greater's peak.
  ///
  /// What lies below that floor counts as if it were on it.
  public static func envelope(_ first: AmplitudeEnvelope, _ second: AmplitudeEnvelope, lag: Double = 0) -> Double {
    let peak = max(first.peak, second.peak)
    guard peak > 0 else { return 0 }
    let floor = peak * 0.003_162
    let count = max(first.values.count, Int((Double(second.values.count) * second.step - lag) / first.step))
    var sum = 0.0
    var weight = 0.0
    for index in 0..<max(0, count) {
      let time = Double(index) * first.step
      let left = first.value(at: time)
      let right = second.value(at: time + lag)
      guard max(left, right) > floor else { continue }
      let difference = 20 * log10(Double(max(left, floor)) / Double(max(right, floor)))
      sum += difference * difference
      weight += 1
    }
    return weight > 0 ? (sum / weight).squareRoot() : 0
  }

  /// The RMS difference of two spectrograms in dB, where either is within 50 dB of the greatest level.
  ///
  /// Both must have been made with the same measures; the shorter ends in silence.
  public static func logSpectral(_ first: Spectrogram, _ second: Spectrogram) -> Double {
    let peak = (first.decibels + second.decibels).reduce(Spectrogram.floor) { max($0, $1.max() ?? Spectrogram.floor) }
    let floor = max(Spectrogram.floor, peak - 50)
    var sum = 0.0
    var weight = 0.0
    for frame in 0..<max(first.decibels.count, second.decibels.count) {
      let left = frame < first.decibels.count ? first.decibels[frame] : []
      let right = frame < second.decibels.count ? second.decibels[frame] : []
      for bin in 0..<max(left.count, right.count) {
        let one = bin < left.count ? max(left[bin], floor) : floor
        let other = bin < right.count ? max(right[bin], floor) : floor
        guard max(one, other) > floor else { continue }
        sum += Double((one - other) * (one - other))
        weight += 1
      }
    }
    return weight > 0 ? (sum / weight).squareRoot() : 0
  }

  private static func energy(_ samples: [Float]) -> Double { samples.reduce(0) { $0 + Double($1) * Double($1) } }
}

/// The sums of products of two signals at each lag, block by block by Fourier transforms.
package enum CrossCorrelation {
  /// `Σ first[n] · second[n + lag]` for lags from −reach to reach.
  package static func of(_ first: [Float], _ second: [Float], reach: Int) -> [Float] {
    let shortest = max(1, min(first.count, second.count + reach))
    let blockLength = min(shortest, max(2 * reach, 8_192))
    var transform = FourierTransform(length: FourierTransform.fastLength(atLeast: blockLength + 2 * reach))
    var sums = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var left = [Float](repeating: 0, count: transform.length)
    var right = left
    var leftBins = sums
    var rightBins = sums
    for start in stride(from: 0, to: first.count, by: blockLength) {
      for index in left.indices {
        left[index] = index < blockLength && start + index < first.count ? first[start + index] : 0
        let place = start - reach + index
        right[index] = index < blockLength + 2 * reach && place >= 0 && place < second.count ? second[place] : 0
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

/// Moves a signal by a part of a frame.
enum FractionalDelay {
  /// Taps to each side of the interpolating sinc: exact to −70 dB up to 0.45 of the rate.
  private static let reach = 16

  /// The signal earlier by some frames, or later where negative; silence comes in.
  static func moved(_ samples: [Float], earlierBy frames: Double) -> [Float] {
    let integer = Int(frames.rounded())
    let part = frames - Double(integer)
    let count = max(0, samples.count - integer)
    var output = [Float](repeating: 0, count: count)
    guard abs(part) > 1e-9 else {
      for index in max(0, -integer)..<max(count, max(0, -integer)) { output[index] = samples[index + integer] }
      return output
    }
    let taps = (1 - reach...reach).map { tap -> Float in
      let distance = Double(tap) - part
      let window = 0.5 + 0.5 * cos(.pi * distance / Double(reach + 1))
      return Float(window * (distance == 0 ? 1 : sin(.pi * distance) / (.pi * distance)))
    }
    for index in output.indices {
      var sum = Float(0)
      for (tap, factor) in taps.enumerated() {
        let place = index + integer + tap + 1 - reach
        if place >= 0, place < samples.count { sum += samples[place] * factor }
      }
      output[index] = sum
    }
    return output
  }
}
