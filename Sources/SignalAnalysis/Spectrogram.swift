internal import CMath

/// The level of a signal over time and frequency.
public struct Spectrogram: Equatable, Sendable {
  /// Less than this is shown as this.
  public static let floor = Float(-140)

  /// The middle of each frame in seconds.
  public let frameTimes: [Double]
  /// The middle of each bin in hertz.
  public let frequencies: [Double]
  /// Levels by frame and bin, in dB re a full-scale sine.
  public let decibels: [[Float]]

  /// Measures the mean of a signal's channels under Hann windows; non-finite samples count as silence.
  ///
  /// - Parameters:
  ///   - signal: The signal.
  ///   - window: Seconds that one frame looks at: longer frames resolve frequency, shorter ones time.
  ///   - step: Seconds between frames.
  ///   - hertz: The highest frequency of interest.
  public init(of signal: Signal, window: Double = 0.05, step: Double = 0.005, upTo hertz: Double = 500) {
    precondition(window > 0 && step > 0, "a spectrogram needs a positive window and step")
    let (samples, rate) = (signal.mono, signal.rate)
    // 0.36 of the lower rate passes unharmed.
    let low = TactileBandSignal(of: NonFiniteSamples.of(samples), rate: rate, least: hertz / 0.36)
    let length = max(4, Int((window * low.rate).rounded()))
    // Twice the length puts a bin next to every tone.
    var transform = FourierTransform(length: FourierTransform.fastLength(atLeast: 2 * length))
    let shape = (0..<length).map { index in Float(0.5 - 0.5 * cos(2 * .pi * (Double(index) + 0.5) / Double(length))) }
    let width = low.rate / Double(transform.length)
    let binCount = min(transform.binCount, Int(hertz / width) + 1)
    frequencies = (0..<binCount).map { Double($0) * width }
    let frameCount = samples.isEmpty ? 0 : Int(Double(samples.count - 1) / rate / step) + 1
    frameTimes = (0..<frameCount).map { Double($0) * step }
    let scale = 2 / shape.reduce(0, +)
    var frame = [Float](repeating: 0, count: transform.length)
    var bins = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var levels: [[Float]] = []
    levels.reserveCapacity(frameCount)
    let least = powf(10, Self.floor / 10)
    for time in frameTimes {
      let start = Int((time * low.rate - Double(length - 1) / 2).rounded())
      for index in 0..<length {
        let place = start + index
        frame[index] = low.samples.indices.contains(place) ? low.samples[place] * shape[index] : 0
      }
      transform.forward(frame, into: &bins)
      levels.append(
        (0..<binCount).map { bin in
          // An offset has no negative frequency to be counted with.
          let factor = bin == 0 ? scale / 2 : scale
          return 10 * log10f(max(least, bins[bin].power * factor * factor))
        })
    }
    decibels = levels
  }
}
