public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The signal to measure a transducer: two sweeps, then tones and bursts to feel.
///
///     margin │ quiet sweep │ pause │ loud sweep │ pause │ 6 tones │ 6 bursts │ margin
///
/// The sweeps are exponential sines. Their different levels show nonlinearity. The signal is a
/// function of its parameters at any sample rate, so that a recording can be measured without the
/// file that was played.
///
/// Source: A. Farina, "Simultaneous measurement of impulse response and distortion with a
/// swept-sine technique", AES 108th convention, 2000.
public struct SweepSignal: Equatable, Sendable {
  /// The frequencies of a sweep, in hertz.
  public let band: ClosedRange<Double>
  /// The duration of a sweep, in seconds.
  public let sweepDuration: Double
  /// The peak level of the loud sweep, in dBFS.
  public let level: Double
  /// The frequencies of the tones and bursts, in hertz.
  public let toneBand: ClosedRange<Double>
  /// A Boolean value that indicates whether tones and bursts follow the sweeps.
  public let hasTones: Bool

  /// The default frequencies of a sweep: an octave beyond those of tactile transducers.
  public static let defaultBand = 10.0...1_000.0
  /// The default duration of a sweep in seconds: enough to measure a resonance in noise of equal
  /// level.
  public static let defaultDuration = 6.0
  /// The default level in dBFS: a quarter of full scale, a sixteenth of full power.
  public static let defaultLevel = -12.0
  /// The accepted levels, in dBFS.
  public static let levelRange = -40.0 ... -3.0
  /// The accepted durations, in seconds.
  public static let durationRange = 0.5...30.0
  /// The accepted frequencies, in hertz.
  public static let frequencyRange = 1.0...10_000.0
  /// The accepted ratios of the last to the first frequency.
  private static let bandRatioRange = 4.0...1_000.0
  /// The minimum duration of a sweep, in periods of its lowest frequency.
  private static let minimumPeriodCount = 5.0

  // MARK: - Creation

  /// Creates a signal.
  ///
  /// - Parameters:
  ///   - band: The frequencies of a sweep, in hertz.
  ///   - sweepDuration: The duration of each sweep in seconds, 0.5…30.
  ///   - level: The peak level in dBFS, −40…−3.
  ///   - toneBand: The frequencies of the tones, which are clamped to the band.
  ///   - hasTones: Pass true for tones and bursts after the sweeps.
  /// - Throws: `unsuitableSignal` for values out of range.
  public init(
    band: ClosedRange<Double> = defaultBand, sweepDuration: Double = defaultDuration,
    level: Double = defaultLevel, toneBand: ClosedRange<Double>? = nil, hasTones: Bool = true
  ) throws(CalibrationError) {
    guard Self.frequencyRange.contains(band.lowerBound),
      Self.frequencyRange.contains(band.upperBound)
    else { throw Self.signalError("sweep frequencies must be 1 to 10000 Hz") }
    guard Self.bandRatioRange.contains(band.upperBound / band.lowerBound) else {
      throw Self.signalError("the end frequency must be 4 to 1000 times the start frequency")
    }
    guard Self.durationRange.contains(sweepDuration) else {
      throw Self.signalError("the sweep duration must be 0.5 to 30 s")
    }
    guard sweepDuration * band.lowerBound >= Self.minimumPeriodCount else {
      throw Self.signalError("the sweep must last at least five periods of its lowest frequency")
    }
    guard Self.levelRange.contains(level) else {
      throw Self.signalError("the sweep level must be -40 to -3 dBFS")
    }
    self.band = band
    self.sweepDuration = sweepDuration
    self.level = level
    self.toneBand = (toneBand ?? band).clamped(to: band)
    self.hasTones = hasTones
  }

  /// The duration of the signal of a quick check, in seconds.
  public static let quickCheckDuration = 5.0
  /// The ratio of the highest frequency of a quick check to the resonance.
  private static let quickCheckRatio = 4.0
  /// The minimum frequency of a quick check, in hertz.
  private static let quickCheckMinimumHertz = 7.0

  /// Creates the signal of a quick check: short sweeps two octaves around the resonance of a
  /// profile, 5 s in total.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - level: The peak level, in dBFS.
  /// - Throws: `unsuitableSignal` if the profile has no resonance, or one that such sweeps cannot
  ///   measure.
  public init(checking profile: TransducerProfile, level: Double = defaultLevel)
    throws(CalibrationError)
  {
    guard let model = profile.hardware?.model else {
      throw Self.signalError(
        "\(profile.name) has no resonance and no Q factor to check; calibrate it first")
    }
    let low = max(Self.quickCheckMinimumHertz, model.resonance / Self.quickCheckRatio)
    let high = max(4 * low, model.resonance * Self.quickCheckRatio)
    let duration = (Self.quickCheckDuration - Self.marginSeconds) / 2 - Self.pauseSeconds
    try self.init(band: low...high, sweepDuration: duration, level: level, hasTones: false)
  }

  private static func signalError(_ text: String) -> CalibrationError {
    CalibrationError(.unsuitableSignal, text)
  }

  // MARK: - Timing

  /// The peak, relative to full scale.
  public var amplitude: Double { Decibels.amplitudeFactor(level) }

  /// The ratio of the quiet to the loud sweep's amplitude.
  static let quietRatio = 0.5
  /// The duration of the silence at both ends, in seconds.
  static let marginSeconds = 0.5
  /// The duration of the silence after a sweep, in which the transducer stops, in seconds.
  static let pauseSeconds = 1.5
  /// The number of tones, and of bursts.
  static let toneCount = 6
  /// The interval between tones and between bursts, in seconds.
  static let toneSpacing = 0.5

  /// The start of the first sweep, in seconds.
  var firstSweepTime: Double { Self.marginSeconds }
  /// The interval between the starts of both sweeps, in seconds.
  public var sweepSpacing: Double { sweepDuration + Self.pauseSeconds }
  /// The duration of the part that a measurement requires, in seconds.
  public var measuredDuration: Double { Self.marginSeconds + 2 * sweepSpacing }
  /// The duration of the whole signal, in seconds.
  public var totalDuration: Double {
    guard hasTones else { return measuredDuration }
    return measuredDuration + 2 * Double(Self.toneCount) * Self.toneSpacing + Self.marginSeconds
  }

  /// The fade-in of a sweep, in periods of the lowest frequency. A shorter one makes the high-pass
  /// overshoot.
  private static let attackPeriods = 1.5
  /// The fade-out of sweeps and tones, in seconds.
  private static let fadeOutSeconds = 0.01
  /// The time after a sweep until the high-pass has settled, in seconds.
  private static let settlingSeconds = 0.25
  /// The duration of a burst, in periods.
  private static let burstPeriods = 3.0

  // MARK: - Samples

  /// Returns the samples of the signal.
  ///
  /// - Parameters:
  ///   - rate: The sample rate in hertz, at least 2.5 times the highest frequency.
  ///   - includesTones: Pass false to omit the tones and bursts, which a measurement does not
  ///     require.
  /// - Throws: `unsuitableSignal` for a rate that is too low.
  public func samples(rate: Double, includesTones: Bool = true) throws(CalibrationError)
    -> [Float]
  {
    try check(rate: rate)
    let includesTones = includesTones && hasTones
    let duration = includesTones ? totalDuration : measuredDuration
    var signal = [Double](repeating: 0, count: Int((duration * rate).rounded(.up)))

    func add(_ samples: [Double], at seconds: Double) {
      let start = Int((seconds * rate).rounded())
      for index in samples.indices where start + index < signal.count {
        signal[start + index] += samples[index]
      }
    }

    let sweep = unfilteredSweep(rate: rate)
    add(sweep.map { Self.quietRatio * $0 }, at: firstSweepTime)
    add(sweep, at: firstSweepTime + sweepSpacing)
    if includesTones {
      for index in 0..<Self.toneCount {
        let toneTime = measuredDuration + Double(index) * Self.toneSpacing
        add(steadyTone(index, rate: rate), at: toneTime)
        add(burst(rate: rate), at: toneTime + Double(Self.toneCount) * Self.toneSpacing)
      }
    }
    return filtered(signal, rate: rate)
  }

  /// Returns the loud sweep as it is in the signal, including the decay of the high-pass.
  ///
  /// - Parameter rate: The sample rate in hertz, not necessarily whole, so that it can include the
  ///   error of a clock.
  func sweep(rate: Double) -> [Float] {
    let silence = [Double](repeating: 0, count: Int(Self.settlingSeconds * rate))
    return filtered(unfilteredSweep(rate: rate) + silence, rate: rate)
  }

  /// Checks that a sample rate is high enough.
  func check(rate: Double) throws(CalibrationError) {
    guard rate >= 2.5 * band.upperBound else {
      let required = (2.5 * band.upperBound).text(places: 0)
      throw Self.signalError(
        """
        a sweep up to \(band.upperBound.text(places: 1)) Hz requires \(required) frames per \
        second, not \(rate.text(places: 0))
        """)
    }
  }

  private func filtered(_ signal: [Double], rate: Double) -> [Float] {
    var filter = SweepHighPass(hertz: band.lowerBound / 2, rate: rate)
    return signal.map { Float(filter.process($0)) }
  }

  /// Returns an exponential sine: its frequency grows by e in each time constant.
  private func unfilteredSweep(rate: Double) -> [Double] {
    let timeConstant = sweepDuration / log(band.upperBound / band.lowerBound)
    let phaseScale = 2 * Double.pi * band.lowerBound * timeConstant
    return sampled(rate: rate, duration: sweepDuration) { time in
      let phase = phaseScale * expm1(time / timeConstant)
      return amplitude * fadeGain(at: time, of: sweepDuration) * sin(phase)
    }
  }

  private func steadyTone(_ index: Int, rate: Double) -> [Double] {
    let position = Double(index) / Double(Self.toneCount - 1)
    let hertz = toneBand.lowerBound * pow(toneBand.upperBound / toneBand.lowerBound, position)
    let duration = 0.9 * Self.toneSpacing
    return sampled(rate: rate, duration: duration) { time in
      amplitude * fadeGain(at: time, of: duration) * sin(2 * .pi * hertz * time)
    }
  }

  private func burst(rate: Double) -> [Double] {
    let hertz = (toneBand.lowerBound * toneBand.upperBound).squareRoot()
    let duration = min(Self.burstPeriods / hertz, 0.9 * Self.toneSpacing)
    return sampled(rate: rate, duration: duration) { time in
      let window = sin(.pi * time / duration)
      return amplitude * window * window * sin(2 * .pi * hertz * time)
    }
  }

  private func sampled(
    rate: Double, duration: Double, _ value: (Double) -> Double
  ) -> [Double] {
    (0..<Int(duration * rate)).map { value(Double($0) / rate) }
  }

  /// Returns the gain of the raised-cosine fade-in and fade-out.
  private func fadeGain(at time: Double, of duration: Double) -> Double {
    let attack = min(Self.attackPeriods / band.lowerBound, duration / 8)
    if time < attack { return 0.5 - 0.5 * cos(.pi * time / attack) }
    let remaining = duration - time
    guard remaining < Self.fadeOutSeconds else { return 1 }
    return 0.5 - 0.5 * cos(.pi * remaining / Self.fadeOutSeconds)
  }
}

/// A Butterworth high-pass of second order, which removes movement below the sweep that the fades
/// would cause.
///
/// The filter is a bilinear transform with a prewarped corner, in direct form II.
struct SweepHighPass {
  private let gain: Double
  private let firstFeedback: Double
  private let secondFeedback: Double
  /// The two previous values of the recursion, the latest first.
  private var state = (0.0, 0.0)

  init(hertz: Double, rate: Double) {
    let corner = tan(.pi * hertz / rate)
    gain = 1 / (1 + 2.squareRoot() * corner + corner * corner)
    firstFeedback = 2 * (corner * corner - 1) * gain
    secondFeedback = (1 - 2.squareRoot() * corner + corner * corner) * gain
  }

  mutating func process(_ input: Double) -> Double {
    let value = input - firstFeedback * state.0 - secondFeedback * state.1
    let output = gain * (value - 2 * state.0 + state.1)
    state = (value, state.0)
    return output
  }
}
