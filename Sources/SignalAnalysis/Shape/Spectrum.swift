internal import Glibc

/// How the power of a signal is spread over frequency.
///
/// Welch's method: frames under a Hann window, each a third of its length after the one before, with
/// silence around the signal. The windows' squares add up to a constant, so that all bins together
/// hold exactly the signal's mean square.
public struct Spectrum: Equatable, Sendable {
  /// The middle of each bin in hertz.
  public let frequencies: [Double]
  /// The part of the mean square in each bin, in full scale squared; a full-scale sine has 0.5.
  public let powers: [Double]
  /// Seconds that were measured.
  public let duration: Double

  /// Measures a signal; infinite and undefined samples count as silence.
  ///
  /// - Parameters:
  ///   - rate: Frames per second.
  ///   - window: Seconds of a frame; bins are its inverse apart, or somewhat closer.
  public init(of samples: [Float], rate: Double, window: Double = 0.25) {
    precondition(rate > 0 && window > 0, "a spectrum needs a positive rate and window")
    let samples = FiniteSamples.of(samples)
    // Divisible by 3 as well, so that the windows add up.
    let hop = FourierTransform.fastLength(
      atLeast: Int((min(window, 16) * rate / 3).rounded(.up)))
    let length = 3 * hop
    var transform = FourierTransform(length: length)
    let shape = (0..<length).map { index in
      Float(0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(length)))
    }
    var frame = [Float](repeating: 0, count: length)
    var bins = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var sums = [Double](repeating: 0, count: bins.count)
    var start = hop - length
    while start < samples.count {
      let known = max(0, start)..<min(samples.count, start + length)
      for index in frame.indices { frame[index] = 0 }
      for index in known { frame[index - start] = samples[index] * shape[index - start] }
      transform.forward(frame, into: &bins)
      for bin in sums.indices { sums[bin] += Double(bins[bin].power) }
      start += hop
    }
    // The squares of three windows a third apart add up to 9/8; negative frequencies are the same
    // once more, but for those of 0 Hz and half the rate.
    let scale = 8.0 / 9 / Double(length) / Double(max(1, samples.count))
    powers = sums.indices.map { bin in
      sums[bin] * scale * (bin == 0 || bin == sums.count - 1 ? 1 : 2)
    }
    frequencies = sums.indices.map { Double($0) * rate / Double(length) }
    duration = Double(samples.count) / rate
  }

  /// The mean square of the signal.
  public var power: Double { powers.reduce(0, +) }

  /// The mean frequency, weighted by power; nothing for silence.
  public var centroid: Double? {
    let power = power
    guard power > 0 else { return nil }
    return zip(frequencies, powers).reduce(0) { $0 + $1.0 * $1.1 } / power
  }

  /// The part of the mean square between two frequencies; a bin on the edge counts by its share.
  public func power(in band: ClosedRange<Double>) -> Double {
    guard frequencies.count > 1 else { return 0 }
    let width = frequencies[1]
    var sum = 0.0
    for (frequency, power) in zip(frequencies, powers) {
      let low = max(band.lowerBound, frequency - width / 2)
      let high = min(band.upperBound, frequency + width / 2)
      if high > low { sum += power * (high - low) / width }
    }
    return sum
  }

  /// The energy between two frequencies: power times seconds.
  public func energy(in band: ClosedRange<Double>) -> Double { power(in: band) * duration }
}
