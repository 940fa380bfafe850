internal import CMath

/// The level of a signal over time: the amplitude of the equivalent sine.
///
/// The envelope is the magnitude of the analytic signal, squared and averaged under a Hann window
/// of two steps. For a sine of 40 Hz or more that has lasted 50 ms, it is the amplitude within 0.05
/// dB. For a broadband sound, it is the amplitude of the sine of equal power. No value exceeds the
/// peak of the samples within 12.5 ms, so that silence next to a tap stays silent.
public struct AmplitudeEnvelope: Equatable, Sendable {
  /// The amplitudes, usually 0…1. Value k belongs to the time k · step.
  public let values: [Float]
  /// The interval between values, in seconds.
  public let step: Double

  /// Half of the window of the peak limit, in seconds: half a period of 20 Hz, the lowest tone that
  /// is followed without ripple.
  private static let peakHalfWindow = 0.0125

  /// Measures the mean of a signal's channels. Non-finite samples count as silence.
  ///
  /// - Parameters:
  ///   - signal: The signal to measure.
  ///   - step: The interval between values, in seconds; positive, and at least one frame.
  public init(of signal: Signal, step: Double = 0.001) {
    precondition(step > 0, "an envelope needs a positive step")
    let rate = signal.rate
    let step = max(step, 1 / rate)
    self.step = step
    let samples = NonFiniteSamples.replaced(in: signal.mono)
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
    let ceilings = Self.slidingMaximum(of: samples, rate: rate, step: step)
    let reach = step * rate
    values = ceilings.indices.map { index in
      let mean = Self.hannMean(of: powers, around: Double(index) * reach, halfWidth: reach)
      return min(mean.squareRoot(), ceilings[index])
    }
  }

  /// Returns the amplitude at a time in seconds, interpolated linearly; 0 before and after the
  /// signal.
  public func value(at seconds: Double) -> Float {
    let place = seconds / step
    guard place >= 0, place <= Double(values.count - 1) else { return 0 }
    let index = min(Int(place), max(0, values.count - 2))
    guard index + 1 < values.count else { return values[index] }
    let share = Float(place - Double(index))
    return values[index] * (1 - share) + values[index + 1] * share
  }

  /// The maximum of the envelope.
  public var peak: Float { values.max() ?? 0 }

  /// Returns the mean of powers under a Hann window, given its center and half width in frames.
  private static func hannMean(of powers: [Float], around center: Double, halfWidth reach: Double)
    -> Float
  {
    let first = max(0, Int((center - reach).rounded(.up)))
    let last = min(powers.count - 1, Int(center + reach))
    guard first <= last else { return 0 }
    var sum = Float(0)
    var weights = Float(0)
    // The cosine of the window follows from the two previous values: cos(n + 1)θ = 2 cos θ · cos nθ
    // − cos(n − 1)θ.
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

  /// Returns the maximum magnitude around each value, raised by 2 % for peaks between samples.
  private static func slidingMaximum(of samples: [Float], rate: Double, step: Double) -> [Float] {
    let count = Int(Double(samples.count - 1) / rate / step) + 1
    var cells = [Float](repeating: 0, count: count + 1)
    for (index, sample) in samples.enumerated() {
      let cell = min(count, Int((Double(index) / rate / step).rounded()))
      cells[cell] = max(cells[cell], abs(sample))
    }
    let reach = Int((peakHalfWindow / step).rounded(.up))
    return (0..<count).map { index in
      let range = max(0, index - reach)...min(count, index + reach)
      return (cells[range].max() ?? 0) * 1.02
    }
  }
}

/// The frequency of a low tone over time, from 30 to 600 Hz.
///
/// The frequency is the mean phase advance of the analytic signal within 12 ms to each side,
/// weighted by power. A point is a tone if the phase advance over 2 ms is coherent, which that of
/// noise is not. The frequency of a steady or gliding sine is within 0.5 %.
public struct FrequencyTrack: Equatable, Sendable {
  /// A tone at a time.
  public struct Point: Equatable, Sendable {
    /// The time from the start, in seconds.
    public var time: Double
    /// The frequency, in hertz.
    public var hertz: Double
    /// The amplitude, measured as in ``AmplitudeEnvelope``.
    public var amplitude: Float

    /// Creates a point.
    public init(time: Double, hertz: Double, amplitude: Float) {
      self.time = time
      self.hertz = hertz
      self.amplitude = amplitude
    }
  }

  /// The tones by time. Points of one tone are one step apart; there are none without a tone.
  public let points: [Point]
  /// The interval between points of one tone, in seconds.
  public let step: Double

  /// Half of the averaging window, in seconds: a period of 80 Hz.
  private static let halfWindow = 0.012
  /// The interval over which a tone must remain coherent, in seconds.
  private static let coherenceLag = 0.002
  /// The minimum coherence of a tone. Noise of 700 Hz bandwidth reaches about 0.25.
  private static let minimumCoherence = 0.9
  /// The minimum amplitude of a tone: −80 dB.
  private static let minimumAmplitude = Float(1e-4)

  /// Tracks the tone in the mean of a signal's channels. Non-finite samples count as silence.
  ///
  /// - Parameters:
  ///   - signal: The signal to measure.
  ///   - step: The interval between points, in seconds; positive, and at least half a millisecond.
  public init(of signal: Signal, step: Double = 0.005) {
    precondition(step > 0, "a track needs a positive step")
    let low = TactileBandSignal(of: NonFiniteSamples.replaced(in: signal.mono), rate: signal.rate)
    var track = [ComplexNumber](repeating: ComplexNumber(), count: low.samples.count)
    if !track.isEmpty {
      var filter = AnalyticFilter(rate: low.rate, count: track.count)
      filter.filter(low.samples) { start, real, imaginary in
        for index in real.indices {
          track[start + index] = ComplexNumber(real[index], imaginary[index])
        }
      }
    }
    let step = max(step, 0.000_5)
    self.step = step
    let count = track.isEmpty ? 0 : Int(Double(track.count - 1) / low.rate / step) + 1
    points = (0..<count).compactMap { index in
      Self.point(at: Double(index) * step, of: track, rate: low.rate)
    }
  }

  private static func point(at time: Double, of track: [ComplexNumber], rate: Double) -> Point? {
    let center = time * rate
    let amplitude = track[min(track.count - 1, Int(center.rounded()))].power.squareRoot()
    guard amplitude > minimumAmplitude else { return nil }
    let reach = Self.halfWindow * rate
    let lag = max(1, Int((Self.coherenceLag * rate).rounded()))
    // The two samples of each product are symmetric about the center.
    let near = phaseAdvance(of: track, around: center, halfWidth: reach, lag: 1)
    let far = phaseAdvance(of: track, around: center, halfWidth: reach, lag: lag)
    guard near.power > 0, far.agreement > minimumCoherence else { return nil }
    let hertz = near.angle * rate / (2 * .pi)
    guard hertz > 10 else { return nil }
    return Point(time: time, hertz: hertz, amplitude: amplitude)
  }

  private static func phaseAdvance(
    of track: [ComplexNumber], around center: Double, halfWidth reach: Double, lag: Int
  ) -> (
    angle: Double, agreement: Double, power: Double
  ) {
    let first = max(0, Int((center - reach - Double(lag) / 2).rounded(.up)))
    let last = min(track.count - 1 - lag, Int(center + reach - Double(lag) / 2))
    guard first <= last else { return (0, 0, 0) }
    var real = 0.0
    var imaginary = 0.0
    var power = 0.0
    for index in first...last {
      let offset = Double(index) + Double(lag) / 2 - center
      let weight = 1 + cos(.pi * offset / reach)
      let turn = track[index + lag] * track[index].conjugate
      real += weight * Double(turn.real)
      imaginary += weight * Double(turn.imaginary)
      power += weight * Double((track[index + lag].power * track[index].power).squareRoot())
    }
    let length = (real * real + imaginary * imaginary).squareRoot()
    return (atan2(imaginary, real), power > 0 ? length / power : 0, power)
  }
}
