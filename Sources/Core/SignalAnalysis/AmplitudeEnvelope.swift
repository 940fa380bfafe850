internal import CMath

/// The level of a signal over time: the amplitude of the equivalent sine.
///
/// The envelope is the magnitude of the analytic signal, squared and averaged under a Hann window
/// of two steps. For a sine of 40 Hz or more that has lasted 50 ms, it is the amplitude within 0.05
/// dB. For a broadband sound, it is the amplitude of the sine of equal power. No value exceeds the
/// peak of the samples within 12.5 ms, so that silence next to a tap stays silent.
public struct AmplitudeEnvelope: Equatable, Sendable {
  /// The amplitudes, usually 0…1. Value k belongs to the time k · step.
  public let amplitudes: [Float]
  /// The interval between values, in seconds.
  public let stepSeconds: Double

  /// Half the length of the window for limiting the envelope by the peak, in seconds.
  ///
  /// It is a quarter of a period at 20 Hz, the lowest tone that is tracked without ripple.
  private static let peakHalfWindowSeconds = 0.0125

  /// Measures the envelope of the mean of a signal's channels. Non-finite samples count as silence.
  ///
  /// - Parameters:
  ///   - signal: The signal to measure.
  ///   - step: The interval between values, in seconds; positive, and at least one frame.
  public init(of signal: Signal, step: Double = 0.001) {
    precondition(step > 0, "an envelope needs a positive step")
    let sampleRate = signal.rate
    let stepSeconds = max(step, 1 / sampleRate)
    self.stepSeconds = stepSeconds
    let validSamples = NonFiniteSamples.zeroingInvalidSamples(in: signal.mono)
    guard !validSamples.isEmpty else {
      amplitudes = []
      return
    }
    var framePowers = [Float](repeating: 0, count: validSamples.count)
    var analyticFilter = AnalyticFilter(rate: sampleRate, count: validSamples.count)
    analyticFilter.filter(validSamples) { start, real, imaginary in
      for index in real.indices {
        framePowers[start + index] = real[index] * real[index] + imaginary[index] * imaginary[index]
      }
    }
    let windowMaxima = Self.slidingMaximum(of: validSamples, rate: sampleRate, step: stepSeconds)
    let windowHalfWidthFrames = stepSeconds * sampleRate
    amplitudes = windowMaxima.indices.map { index in
      let mean = Self.hannMean(
        of: framePowers, around: Double(index) * windowHalfWidthFrames,
        halfWidth: windowHalfWidthFrames)
      return min(mean.squareRoot(), windowMaxima[index])
    }
  }

  /// Returns the amplitude at a time in seconds, interpolated linearly.
  ///
  /// Returns 0 before and after the signal.
  public func amplitude(atSeconds seconds: Double) -> Float {
    let stepPosition = seconds / stepSeconds
    guard stepPosition >= 0, stepPosition <= Double(amplitudes.count - 1) else { return 0 }
    let precedingStepIndex = min(Int(stepPosition), max(0, amplitudes.count - 2))
    guard precedingStepIndex + 1 < amplitudes.count else { return amplitudes[precedingStepIndex] }
    let stepFraction = Float(stepPosition - Double(precedingStepIndex))
    return amplitudes[precedingStepIndex] * (1 - stepFraction)
      + amplitudes[precedingStepIndex + 1] * stepFraction
  }

  /// The maximum amplitude of the envelope.
  public var peakAmplitude: Float { amplitudes.max() ?? 0 }

  /// Returns the mean of powers, weighted by a Hann window.
  ///
  /// The center and the half width of the window are in frames.
  private static func hannMean(
    of powers: [Float], around center: Double, halfWidth: Double
  ) -> Float {
    let firstFrame = max(0, Int((center - halfWidth).rounded(.up)))
    let lastFrame = min(powers.count - 1, Int(center + halfWidth))
    guard firstFrame <= lastFrame else { return 0 }
    var weightedPowerSum = Float(0)
    var weightSum = Float(0)
    // The window's cosine by recurrence: cos(n + 1)θ = 2 cos θ · cos nθ − cos(n − 1)θ.
    let cosineRecurrence = Float(2 * cos(.pi / halfWidth))
    var previousCosine = Float(cos(.pi * (Double(firstFrame) - center - 1) / halfWidth))
    var currentCosine = Float(cos(.pi * (Double(firstFrame) - center) / halfWidth))
    for index in firstFrame...lastFrame {
      let weight = 1 + currentCosine
      weightedPowerSum += weight * powers[index]
      weightSum += weight
      let next = cosineRecurrence * currentCosine - previousCosine
      previousCosine = currentCosine
      currentCosine = next
    }
    return weightSum > 0
      ? max(0, weightedPowerSum / weightSum) : powers[min(firstFrame, powers.count - 1)]
  }

  /// Returns the maximum sample magnitude around the time of each envelope value.
  ///
  /// The magnitude is raised by 2 % to allow for peaks between samples.
  private static func slidingMaximum(of samples: [Float], rate: Double, step: Double) -> [Float] {
    let maximaCount = Int(Double(samples.count - 1) / rate / step) + 1
    var stepMaxima = [Float](repeating: 0, count: maximaCount + 1)
    for (index, sample) in samples.enumerated() {
      let position = min(maximaCount, Int((Double(index) / rate / step).rounded()))
      stepMaxima[position] = max(stepMaxima[position], abs(sample))
    }
    let windowHalfWidthSteps = Int((peakHalfWindowSeconds / step).rounded(.up))
    return SlidingExtremum.maximum(of: stepMaxima, radius: windowHalfWidthSteps).dropLast().map {
      $0 * 1.02
    }
  }
}

/// The frequency over time of a low-frequency tone, from 30 to 600 Hz.
///
/// The frequency is the mean phase advance of the analytic signal within 12 ms to each side,
/// weighted by power. A point is a tone if the phase advance over 2 ms is coherent, which that of
/// noise is not. The frequency of a steady or gliding sine is within 0.5 %.
public struct FrequencyTrack: Equatable, Sendable {
  /// The frequency and amplitude of a tone at one time.
  public struct Point: Equatable, Sendable {
    /// The time from the start of the signal, in seconds.
    public var seconds: Double
    /// The frequency of the tone, in hertz.
    public var hertz: Double
    /// The amplitude, measured as in ``AmplitudeEnvelope``.
    public var amplitude: Float

    /// Creates a point from a time in seconds, a frequency in hertz, and an amplitude.
    public init(seconds time: Double, hertz: Double, amplitude: Float) {
      self.seconds = time
      self.hertz = hertz
      self.amplitude = amplitude
    }
  }

  /// The points of all tones, sorted by time. Points of a tone are one step apart; there are no
  /// points between tones.
  public let points: [Point]
  /// The interval between points of one tone, in seconds.
  public let stepSeconds: Double

  /// Half of the window over which the frequency is averaged, in seconds: a period of 80 Hz.
  private static let averagingHalfWindowSeconds = 0.012
  /// The interval over which a tone must remain coherent, in seconds.
  private static let coherenceLagSeconds = 0.002
  /// The minimum coherence of a tone. Noise of 700 Hz bandwidth reaches about 0.25.
  private static let minimumToneCoherence = 0.9
  /// The minimum amplitude of a tone: −80 dB.
  private static let minimumToneAmplitude = Float(1e-4)

  /// Tracks the frequency of the tone in the mean of a signal's channels. Non-finite samples count
  /// as silence.
  ///
  /// - Parameters:
  ///   - signal: The signal to measure.
  ///   - step: The interval between points, in seconds; positive, and at least half a millisecond.
  public init(of signal: Signal, step: Double = 0.005) {
    precondition(step > 0, "a track needs a positive step")
    let bandSignal = TactileBandSignal(
      of: NonFiniteSamples.zeroingInvalidSamples(in: signal.mono), rate: signal.rate)
    var analyticSignal = [ComplexNumber](
      repeating: ComplexNumber(), count: bandSignal.samples.count)
    if !analyticSignal.isEmpty {
      var filter = AnalyticFilter(rate: bandSignal.decimatedRate, count: analyticSignal.count)
      filter.filter(bandSignal.samples) { start, real, imaginary in
        for index in real.indices {
          analyticSignal[start + index] = ComplexNumber(real[index], imaginary[index])
        }
      }
    }
    let stepSeconds = max(step, 0.000_5)
    self.stepSeconds = stepSeconds
    let pointCount =
      analyticSignal.isEmpty
      ? 0 : Int(Double(analyticSignal.count - 1) / bandSignal.decimatedRate / stepSeconds) + 1
    points = (0..<pointCount).compactMap { index in
      Self.tonePoint(
        at: Double(index) * stepSeconds, in: analyticSignal, rate: bandSignal.decimatedRate)
    }
  }

  /// Returns the tone at a time in an analytic signal, or nil if there is none.
  private static func tonePoint(
    at time: Double, in analytic: [ComplexNumber], rate: Double
  ) -> Point? {
    let centerFrame = time * rate
    let amplitude = analytic[min(analytic.count - 1, Int(centerFrame.rounded()))].power.squareRoot()
    guard amplitude > minimumToneAmplitude else { return nil }
    let windowHalfWidthFrames = Self.averagingHalfWindowSeconds * rate
    let coherenceLagFrames = max(1, Int((Self.coherenceLagSeconds * rate).rounded()))
    // The two samples of each product are symmetric about the center.
    let adjacentAdvance = phaseAdvance(
      of: analytic, around: centerFrame, halfWidth: windowHalfWidthFrames, lag: 1)
    let distantAdvance = phaseAdvance(
      of: analytic, around: centerFrame, halfWidth: windowHalfWidthFrames, lag: coherenceLagFrames)
    guard adjacentAdvance.power > 0, distantAdvance.coherence > minimumToneCoherence else {
      return nil
    }
    let toneHertz = adjacentAdvance.angle * rate / (2 * .pi)
    guard toneHertz > 10 else { return nil }
    return Point(seconds: time, hertz: toneHertz, amplitude: amplitude)
  }

  /// Returns the mean phase advance of an analytic signal over a lag.
  ///
  /// The mean is weighted by power and a Hann window.
  ///
  /// - Parameters:
  ///   - analytic: The analytic signal.
  ///   - center: The center of the window, in frames.
  ///   - halfWidth: Half of the window, in frames.
  ///   - lag: The lag, in frames.
  /// - Returns: The phase advance in radians, its coherence 0…1, and the weighted power.
  private static func phaseAdvance(
    of analytic: [ComplexNumber], around center: Double, halfWidth: Double, lag: Int
  ) -> (angle: Double, coherence: Double, power: Double) {
    let firstFrame = max(0, Int((center - halfWidth - Double(lag) / 2).rounded(.up)))
    let lastFrame = min(analytic.count - 1 - lag, Int(center + halfWidth - Double(lag) / 2))
    guard firstFrame <= lastFrame else { return (0, 0, 0) }
    var realSum = 0.0
    var imaginarySum = 0.0
    var powerSum = 0.0
    for index in firstFrame...lastFrame {
      let offset = Double(index) + Double(lag) / 2 - center
      let weight = 1 + cos(.pi * offset / halfWidth)
      let product = analytic[index + lag] * analytic[index].conjugate
      realSum += weight * Double(product.real)
      imaginarySum += weight * Double(product.imaginary)
      powerSum +=
        weight * Double((analytic[index + lag].power * analytic[index].power).squareRoot())
    }
    let sumMagnitude = (realSum * realSum + imaginarySum * imaginarySum).squareRoot()
    return (atan2(imaginarySum, realSum), powerSum > 0 ? sumMagnitude / powerSum : 0, powerSum)
  }
}
