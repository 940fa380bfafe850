internal import Glibc
internal import SignalAnalysis

/// How far a recording's sweeps stand above its noise, in the band of the sweep.
enum NoiseMeasurement {
  /// Seconds of the pause that are taken for noise, and by how many they end before the next sweep.
  private static let length = 0.5
  private static let distance = 0.1

  /// Decibels between the power of a sweep and that of the pause behind it.
  ///
  /// - Parameters:
  ///   - first: Frame at which the first sweep begins.
  ///   - second: Frame at which the second does.
  static func signalToNoise(
    of samples: [Float], rate: Double, signal: SweepSignal, first: Int, second: Int
  ) -> Double {
    let end = second - Int(distance * rate)
    let noise = power(samples, from: end - Int(length * rate), to: end, rate: rate, signal)
    let sweep = power(
      samples, from: first, to: first + Int(signal.duration * rate), rate: rate, signal)
    // The sweep's part holds noise as well.
    return Decibels.of(power: max(0, sweep - noise) / max(noise, 1e-30))
  }

  /// The mean power in the band, through a window of Hann.
  private static func power(
    _ samples: [Float], from start: Int, to end: Int, rate: Double, _ signal: SweepSignal
  ) -> Double {
    let range = max(0, min(start, samples.count))..<max(0, min(end, samples.count))
    guard range.count > 1 else { return 0 }
    let mean = samples[range].reduce(0) { $0 + Double($1) } / Double(range.count)
    var energy = 0.0
    let windowed = range.map { frame -> Float in
      let place = (Double(frame - range.lowerBound) + 0.5) / Double(range.count)
      let weight = 0.5 - 0.5 * cos(2 * .pi * place)
      energy += weight * weight
      return Float((Double(samples[frame]) - mean) * weight)
    }
    var transform = FourierTransform(
      length: FourierTransform.fastLength(atLeast: range.count))
    let bins = transform.forward(windowed)
    let spacing = rate / Double(transform.length)
    var total = 0.0
    for index in bins.indices where signal.band.contains(Double(index) * spacing) {
      total += Double(bins[index].power)
    }
    return 2 * total / (Double(transform.length) * energy)
  }
}
