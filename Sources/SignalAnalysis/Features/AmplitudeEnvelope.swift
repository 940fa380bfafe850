internal import CMath

/// How strong a signal is at each time: the amplitude of the sine in it.
///
/// The magnitude of the analytic signal, squared and averaged under a Hann window of two steps. For
/// a sine of 40 Hz or more that has lasted 50 ms it is the amplitude within 0.05 dB; a sound of many
/// frequencies has the amplitude of the sine that is as powerful. No value exceeds what the samples
/// within 12.5 ms reach, so that silence next to a tap is silent.
public struct AmplitudeEnvelope: Equatable, Sendable {
  /// Amplitudes, usually 0…1; value k is at time k · step.
  public let values: [Float]
  /// Seconds between values.
  public let step: Double

  /// Half a period of the lowest tone that is followed without a ripple, 20 Hz is 25 ms.
  private static let peakReach = 0.0125

  /// Measures the mean of a signal's channels; non-finite samples count as silence.
  ///
  /// - Parameters:
  ///   - signal: The signal.
  ///   - step: Seconds between values, positive; at least one frame.
  public init(of signal: Signal, step: Double = 0.001) {
    precondition(step > 0, "an envelope needs a positive step")
    let rate = signal.rate
    let step = max(step, 1 / rate)
    self.step = step
    let samples = NonFiniteSamples.of(signal.mono)
    guard !samples.isEmpty else {
      values = []
      return
    }
    var powers = [Float](repeating: 0, count: samples.count)
    var filter = AnalyticFilter(rate: rate, count: samples.count)
    filter.filter(samples) { start, real, imaginary in
      for index in real.indices {
        powers[start + index] = real[index] * real[index] + imaginary[index] * imaginary[index]
      }
    }
    let ceilings = Self.ceilings(samples, rate: rate, step: step)
    let reach = step * rate
    values = ceilings.indices.map { index in
      let mean = Self.mean(of: powers, around: Double(index) * reach, reach: reach)
      return min(mean.squareRoot(), ceilings[index])
    }
  }

  /// The amplitude at a time, on a line between values; 0 before and behind the signal.
  public func value(at seconds: Double) -> Float {
    let place = seconds / step
    guard place >= 0, place <= Double(values.count - 1) else { return 0 }
    let index = min(Int(place), max(0, values.count - 2))
    guard index + 1 < values.count else { return values[index] }
    let share = Float(place - Double(index))
    return values[index] * (1 - share) + values[index + 1] * share
  }

  /// The greatest amplitude.
  public var peak: Float { values.max() ?? 0 }

  /// The mean under a Hann window of so many frames to each side.
  private static func mean(of powers: [Float], around center: Double, reach: Double) -> Float {
    let first = max(0, Int((center - reach).rounded(.up)))
    let last = min(powers.count - 1, Int(center + reach))
    guard first <= last else { return 0 }
    var sum = Float(0)
    var weights = Float(0)
    // The window's cosine, turned from one frame to the next.
    let turn = Float(2 * cos(.pi / reach))
    var older = Float(cos(.pi * (Double(first) - center - 1) / reach))
    var newer = Float(cos(.pi * (Double(first) - center) / reach))
    for index in first...last {
      let weight = 1 + newer
      sum += weight * powers[index]
      weights += weight
      (older, newer) = (newer, turn * newer - older)
    }
    return weights > 0 ? max(0, sum / weights) : powers[min(first, powers.count - 1)]
  }

  /// The greatest magnitude around each value, with 2 % for what lies between samples.
  private static func ceilings(_ samples: [Float], rate: Double, step: Double) -> [Float] {
    let count = Int(Double(samples.count - 1) / rate / step) + 1
    var cells = [Float](repeating: 0, count: count + 1)
    for (index, sample) in samples.enumerated() {
      let cell = min(count, Int((Double(index) / rate / step).rounded()))
      cells[cell] = max(cells[cell], abs(sample))
    }
    let reach = Int((peakReach / step).rounded(.up))
    return (0..<count).map { index in
      let range = max(0, index - reach)...min(count, index + reach)
      return (cells[range].max() ?? 0) * 1.02
    }
  }
}
