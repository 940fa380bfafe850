public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The signal for the measurement of a transducer.
///
/// It consists of two sweeps, followed by tones and bursts for a person to feel.
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
  public let bandHertz: ClosedRange<Double>
  /// The duration of a sweep, in seconds.
  public let sweepSeconds: Double
  /// The peak level of the loud sweep, in dBFS.
  public let levelDecibels: Double
  /// The frequencies of the tones and bursts, in hertz.
  public let toneBandHertz: ClosedRange<Double>
  /// A Boolean value that indicates whether tones and bursts follow the sweeps.
  public let hasTones: Bool

  /// The default band of a sweep, in hertz.
  ///
  /// It extends an octave beyond the band of tactile transducers.
  public static let defaultBandHertz = 10.0...1_000.0
  /// The default duration of a sweep, in seconds.
  ///
  /// It is enough to measure a resonance in noise of equal level.
  public static let defaultSweepSeconds = 6.0
  /// The default level, in dBFS.
  ///
  /// It is a quarter of full scale, or a sixteenth of full power.
  public static let defaultLevelDecibels = -12.0
  /// The supported peak levels of the loud sweep, in dBFS.
  public static let supportedLevelDecibels = -40.0 ... -3.0
  /// The supported durations of a sweep, in seconds.
  public static let supportedSweepSeconds = 0.5...30.0
  /// The supported frequencies of a sweep, in hertz.
  public static let supportedHertz = 1.0...10_000.0
  /// The supported ratios of the last to the first frequency of a sweep.
  private static let supportedBandEdgeRatios = 4.0...1_000.0
  /// The minimum duration of a sweep, in periods of its lowest frequency.
  private static let minimumPeriodsPerSweep = 5.0

  // MARK: - Creation

  /// Creates a measurement signal with a band, a duration, and a level.
  ///
  /// - Parameters:
  ///   - band: The frequencies of a sweep, in hertz.
  ///   - sweepDuration: The duration of each sweep in seconds, 0.5…30.
  ///   - level: The peak level in dBFS, −40…−3.
  ///   - toneBand: The frequencies of the tones, which are clamped to the band.
  ///   - hasTones: Pass true for tones and bursts after the sweeps.
  /// - Throws: `unsuitableSignal` for values out of range.
  public init(
    bandHertz band: ClosedRange<Double> = defaultBandHertz,
    sweepSeconds sweepDuration: Double = defaultSweepSeconds,
    levelDecibels level: Double = defaultLevelDecibels,
    toneBandHertz toneBand: ClosedRange<Double>? = nil, hasTones: Bool = true
  ) throws(CalibrationError) {
    guard Self.supportedHertz.contains(band.lowerBound),
      Self.supportedHertz.contains(band.upperBound)
    else { throw Self.signalError("sweep frequencies must be 1 to 10000 Hz") }
    guard Self.supportedBandEdgeRatios.contains(band.upperBound / band.lowerBound) else {
      throw Self.signalError("the end frequency must be 4 to 1000 times the start frequency")
    }
    guard Self.supportedSweepSeconds.contains(sweepDuration) else {
      throw Self.signalError("the sweep duration must be 0.5 to 30 s")
    }
    guard sweepDuration * band.lowerBound >= Self.minimumPeriodsPerSweep else {
      throw Self.signalError("the sweep must last at least five periods of its lowest frequency")
    }
    guard Self.supportedLevelDecibels.contains(level) else {
      throw Self.signalError("the sweep level must be -40 to -3 dBFS")
    }
    self.bandHertz = band
    self.sweepSeconds = sweepDuration
    self.levelDecibels = level
    self.toneBandHertz = (toneBand ?? band).clamped(to: band)
    self.hasTones = hasTones
  }

  /// The duration of the signal of a quick check, in seconds.
  public static let quickCheckSeconds = 5.0
  /// The ratio of the highest frequency of a quick check to the resonance.
  private static let quickCheckMaximumToResonanceRatio = 4.0
  /// The minimum frequency of a quick check, in hertz.
  private static let quickCheckMinimumHertz = 7.0

  /// Creates the signal of a quick check: sweeps around a profile's resonance, 5 s in total.
  ///
  /// The sweeps are short and extend two octaves to each side of the resonance.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - level: The peak level, in dBFS.
  /// - Throws: `unsuitableSignal` if the profile has no resonance, or one that such sweeps cannot
  ///   measure.
  public init(
    checking profile: TransducerProfile, levelDecibels level: Double = defaultLevelDecibels
  )
    throws(CalibrationError)
  {
    guard let model = profile.hardware?.model else {
      throw Self.signalError(
        "\(profile.name) has no resonance and no Q factor to check; calibrate it first")
    }
    let minimumHertz = max(
      Self.quickCheckMinimumHertz, model.resonanceHertz / Self.quickCheckMaximumToResonanceRatio)
    let maximumHertz = max(
      4 * minimumHertz, model.resonanceHertz * Self.quickCheckMaximumToResonanceRatio)
    let sweepDuration =
      (Self.quickCheckSeconds - Self.outerSilenceSeconds) / 2 - Self.silenceAfterSweepSeconds
    try self.init(
      bandHertz: minimumHertz...maximumHertz, sweepSeconds: sweepDuration, levelDecibels: level,
      hasTones: false)
  }

  private static func signalError(_ text: String) -> CalibrationError {
    CalibrationError(.unsuitableSignal, text)
  }

  // MARK: - Timing

  /// The peak amplitude of the loud sweep, relative to full scale.
  public var peakAmplitude: Double { Decibels.amplitudeFactor(levelDecibels) }

  /// The ratio of the quiet to the loud sweep's amplitude.
  static let quietToLoudAmplitudeRatio = 0.5
  /// The duration of the silence at each end of the signal, in seconds.
  static let outerSilenceSeconds = 0.5
  /// The duration of the silence after a sweep, in seconds.
  ///
  /// The transducer comes to rest during this silence.
  static let silenceAfterSweepSeconds = 1.5
  /// The number of tones, which is also the number of bursts.
  static let toneCount = 6
  /// The interval between the starts of successive tones or bursts, in seconds.
  static let toneSpacingSeconds = 0.5

  /// The start of the first sweep, in seconds.
  var firstSweepStartSeconds: Double { Self.outerSilenceSeconds }
  /// The interval between the starts of both sweeps, in seconds.
  public var sweepSpacingSeconds: Double { sweepSeconds + Self.silenceAfterSweepSeconds }
  /// The duration of the required part of the signal, in seconds: both sweeps without the tones.
  public var requiredMeasurementSeconds: Double {
    Self.outerSilenceSeconds + 2 * sweepSpacingSeconds
  }
  /// The duration of the whole signal, in seconds.
  public var totalSeconds: Double {
    guard hasTones else { return requiredMeasurementSeconds }
    return requiredMeasurementSeconds + 2 * Double(Self.toneCount) * Self.toneSpacingSeconds
      + Self.outerSilenceSeconds
  }

  /// The fade-in of a sweep, in periods of the lowest frequency.
  ///
  /// A shorter fade-in makes the high-pass overshoot.
  private static let fadeInPeriods = 1.5
  /// The fade-out of sweeps and tones, in seconds.
  private static let fadeOutSeconds = 0.01
  /// The time after a sweep until the high-pass has settled, in seconds.
  private static let highPassSettlingSeconds = 0.25
  /// The duration of a burst, in periods of its frequency.
  private static let burstDurationPeriods = 3.0

  // MARK: - Samples

  /// Returns the samples of the whole signal.
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
    let addsTones = includesTones && hasTones
    let signalSeconds = addsTones ? totalSeconds : requiredMeasurementSeconds
    var unfilteredSignal = [Double](repeating: 0, count: Int((signalSeconds * rate).rounded(.up)))

    func addSamples(_ samples: [Double], at seconds: Double) {
      let start = Int((seconds * rate).rounded())
      for index in samples.indices where start + index < unfilteredSignal.count {
        unfilteredSignal[start + index] += samples[index]
      }
    }

    let fullLevelSweep = unfilteredSweep(rate: rate)
    addSamples(
      fullLevelSweep.map { Self.quietToLoudAmplitudeRatio * $0 }, at: firstSweepStartSeconds)
    addSamples(fullLevelSweep, at: firstSweepStartSeconds + sweepSpacingSeconds)
    if addsTones {
      for index in 0..<Self.toneCount {
        let toneTime = requiredMeasurementSeconds + Double(index) * Self.toneSpacingSeconds
        addSamples(steadyTone(index, rate: rate), at: toneTime)
        addSamples(
          burst(rate: rate), at: toneTime + Double(Self.toneCount) * Self.toneSpacingSeconds)
      }
    }
    return filtered(unfilteredSignal, rate: rate)
  }

  /// Returns the samples of the loud sweep in the signal, including the decay of the high-pass.
  ///
  /// - Parameter rate: The sample rate in hertz, not necessarily whole, so that it can include the
  ///   error of a clock.
  func sweep(rate: Double) -> [Float] {
    let settlingSilence = [Double](repeating: 0, count: Int(Self.highPassSettlingSeconds * rate))
    return filtered(unfilteredSweep(rate: rate) + settlingSilence, rate: rate)
  }

  /// Checks that a sample rate is high enough.
  func check(rate: Double) throws(CalibrationError) {
    guard rate >= 2.5 * bandHertz.upperBound else {
      let required = (2.5 * bandHertz.upperBound).text(places: 0)
      throw Self.signalError(
        """
        a sweep up to \(bandHertz.upperBound.text(places: 1)) Hz requires \(required) frames per \
        second, not \(rate.text(places: 0))
        """)
    }
  }

  private func filtered(_ signal: [Double], rate: Double) -> [Float] {
    var highPassFilter = SweepHighPass(hertz: bandHertz.lowerBound / 2, rate: rate)
    return signal.map { Float(highPassFilter.process($0)) }
  }

  /// Returns an exponential sine sweep.
  ///
  /// Its frequency grows by a factor of e per time constant.
  private func unfilteredSweep(rate: Double) -> [Double] {
    let timeConstant = sweepSeconds / log(bandHertz.upperBound / bandHertz.lowerBound)
    let phaseScale = 2 * Double.pi * bandHertz.lowerBound * timeConstant
    return sampledFunction(rate: rate, duration: sweepSeconds) { time in
      let phase = phaseScale * expm1(time / timeConstant)
      return peakAmplitude * fadeGain(at: time, of: sweepSeconds) * sin(phase)
    }
  }

  private func steadyTone(_ index: Int, rate: Double) -> [Double] {
    let tonePosition = Double(index) / Double(Self.toneCount - 1)
    let toneHertz =
      toneBandHertz.lowerBound
      * pow(toneBandHertz.upperBound / toneBandHertz.lowerBound, tonePosition)
    let toneSeconds = 0.9 * Self.toneSpacingSeconds
    return sampledFunction(rate: rate, duration: toneSeconds) { time in
      peakAmplitude * fadeGain(at: time, of: toneSeconds) * sin(2 * .pi * toneHertz * time)
    }
  }

  private func burst(rate: Double) -> [Double] {
    let burstHertz = (toneBandHertz.lowerBound * toneBandHertz.upperBound).squareRoot()
    let burstSeconds = min(Self.burstDurationPeriods / burstHertz, 0.9 * Self.toneSpacingSeconds)
    return sampledFunction(rate: rate, duration: burstSeconds) { time in
      let window = sin(.pi * time / burstSeconds)
      return peakAmplitude * window * window * sin(2 * .pi * burstHertz * time)
    }
  }

  private func sampledFunction(
    rate: Double, duration: Double, _ value: (Double) -> Double
  ) -> [Double] {
    (0..<Int(duration * rate)).map { value(Double($0) / rate) }
  }

  /// Returns the gain of the raised-cosine fade-in and fade-out at a time within a sweep or tone.
  private func fadeGain(at time: Double, of duration: Double) -> Double {
    let fadeInSeconds = min(Self.fadeInPeriods / bandHertz.lowerBound, duration / 8)
    if time < fadeInSeconds { return 0.5 - 0.5 * cos(.pi * time / fadeInSeconds) }
    let remainingSeconds = duration - time
    guard remainingSeconds < Self.fadeOutSeconds else { return 1 }
    return 0.5 - 0.5 * cos(.pi * remainingSeconds / Self.fadeOutSeconds)
  }
}

/// A second-order Butterworth high-pass for a sweep.
///
/// It removes the movement below the sweep's frequencies that the fades would otherwise cause.
///
/// The filter is a bilinear transform with a prewarped corner, in direct form II.
struct SweepHighPass {
  private let inputGain: Double
  private let firstFeedbackCoefficient: Double
  private let secondFeedbackCoefficient: Double
  /// The two previous values of the filter's recursion, the latest first.
  private var recursionState = (0.0, 0.0)

  init(hertz: Double, rate: Double) {
    let prewarpedCorner = tan(.pi * hertz / rate)
    inputGain = 1 / (1 + 2.squareRoot() * prewarpedCorner + prewarpedCorner * prewarpedCorner)
    firstFeedbackCoefficient = 2 * (prewarpedCorner * prewarpedCorner - 1) * inputGain
    secondFeedbackCoefficient =
      (1 - 2.squareRoot() * prewarpedCorner + prewarpedCorner * prewarpedCorner) * inputGain
  }

  mutating func process(_ input: Double) -> Double {
    let stateValue =
      input - firstFeedbackCoefficient * recursionState.0 - secondFeedbackCoefficient
      * recursionState.1
    let outputSample = inputGain * (stateValue - 2 * recursionState.0 + recursionState.1)
    recursionState = (stateValue, recursionState.0)
    return outputSample
  }
}
