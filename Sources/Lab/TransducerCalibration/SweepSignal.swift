public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The signal that a transducer is measured with: a sweep at half of the level, one at the level,
/// then tones and bursts to feel.
///
/// The sweeps are exponential sines after Farina, "Simultaneous measurement of impulse response and
/// distortion with a swept-sine technique", AES 108th convention, 2000. Two levels show what is not
/// linear. The signal follows from its figures alone, at any rate, so that a recording is
/// understood without the file that was played.
public struct SweepSignal: Equatable, Sendable {
  /// The frequencies a sweep goes through, in hertz.
  public let band: ClosedRange<Double>
  /// Seconds of one sweep, and its peak in decibels relative to full scale.
  public let sweepDuration, level: Double
  /// Between which frequencies the tones and bursts lie.
  public let toneBand: ClosedRange<Double>
  /// Whether tones and bursts follow the sweeps.
  public let hasTones: Bool

  /// The default frequencies of a sweep: one octave beyond what shakers are made for.
  public static let defaultBand = 10.0...1_000.0
  /// Its seconds: long enough to lift a resonance out of noise as strong as itself.
  public static let defaultDuration = 6.0
  /// Its level: a quarter of full scale, a sixteenth of full power.
  public static let defaultLevel = -12.0
  /// The accepted levels, in dBFS.
  public static let levelRange = -40.0 ... -3.0
  /// The accepted durations, in seconds.
  public static let durationRange = 0.5...30.0
  /// The accepted frequencies, in hertz.
  public static let frequencyRange = 1.0...10_000.0

  /// Makes a signal.
  ///
  /// - Parameters:
  ///   - band: Hertz from and to.
  ///   - duration: Seconds of each sweep, 0.5…30.
  ///   - level: Peak in dBFS, −40…−3.
  ///   - toneBand: Cut to the sweep's own band.
  ///   - hasTones: Whether tones and bursts follow the sweeps.
  /// - Throws: `unsuitableSignal` for figures outside their limits.
  public init(
    band: ClosedRange<Double> = defaultBand, sweepDuration duration: Double = defaultDuration,
    level: Double = defaultLevel,
    toneBand: ClosedRange<Double>? = nil, hasTones: Bool = true
  ) throws(CalibrationError) {
    func refusal(_ text: String) -> CalibrationError { CalibrationError(.unsuitableSignal, text) }
    guard Self.frequencyRange.contains(band.lowerBound),
      Self.frequencyRange.contains(band.upperBound)
    else {
      throw refusal("sweep frequencies must be 1 to 10000 Hz")
    }
    let ratio = band.upperBound / band.lowerBound
    guard (4...1_000).contains(ratio) else {
      throw refusal("the end frequency must be 4 to 1000 times the start frequency")
    }
    guard Self.durationRange.contains(duration) else {
      throw refusal("the sweep duration must be 0.5 to 30 s")
    }
    guard duration * band.lowerBound >= 5 else {
      throw refusal("the sweep must last at least five periods of its lowest frequency")
    }
    guard Self.levelRange.contains(level) else {
      throw refusal("the sweep level must be -40 to -3 dBFS")
    }
    self.band = band
    self.sweepDuration = duration
    self.level = level
    self.toneBand = (toneBand ?? band).clamped(to: band)
    self.hasTones = hasTones
  }

  /// Seconds of the signal of a quick check.
  public static let quickCheckDuration = 5.0
  /// How far its sweeps reach around the resonance, as a factor, and their lowest frequency in
  /// hertz.
  private static let quickCheckRatio = 4.0
  private static let quickCheckMinimumHertz = 7.0

  /// The signal of a quick check: short sweeps two octaves around the resonance of a profile, 5 s
  /// in all.
  ///
  /// - Throws: `unsuitableSignal` where the profile has no resonance, or one that such sweeps
  ///   cannot reach.
  public init(checking profile: TransducerProfile, level: Double = defaultLevel)
    throws(CalibrationError)
  {
    guard let model = profile.hardware?.model else {
      throw CalibrationError(
        .unsuitableSignal,
        "\(profile.name) has no resonance and quality to check; calibrate it first")
    }
    let low = max(Self.quickCheckMinimumHertz, model.resonance / Self.quickCheckRatio)
    let duration = (Self.quickCheckDuration - Self.margin) / 2 - Self.pause
    try self.init(
      band: low...max(4 * low, model.resonance * Self.quickCheckRatio), sweepDuration: duration,
      level: level,
      hasTones: false)
  }

  /// The peak as a factor of full scale.
  public var amplitude: Double { Decibels.factor(level) }

  /// What the first sweep's amplitude is of the second's.
  static let quietRatio = 0.5
  /// Seconds of silence at both ends, and behind each sweep, in which the transducer stops.
  static let margin = 0.5
  static let pause = 1.5
  /// How many tones there are, and bursts, and seconds from one to the next.
  static let toneCount = 6
  static let toneSpacing = 0.5

  /// Seconds from the beginning to that of the first sweep.
  var firstSweepTime: Double { Self.margin }
  /// Seconds from the beginning of one sweep to that of the other.
  public var sweepSpacing: Double { sweepDuration + Self.pause }
  /// Seconds from the beginning to the end of all that a measurement needs.
  public var measuredDuration: Double { Self.margin + 2 * sweepSpacing }
  /// Seconds of the whole signal.
  public var totalDuration: Double {
    hasTones
      ? measuredDuration + 2 * Double(Self.toneCount) * Self.toneSpacing + Self.margin
      : measuredDuration
  }

  /// Periods of the lowest frequency in which a sweep comes up, so that the high-pass does not
  /// overshoot.
  private static let attackPeriods = 1.5
  /// Seconds in which sweeps and tones end, and behind a sweep until the high-pass has settled.
  private static let release = 0.01
  private static let settling = 0.25
  /// Periods of a burst.
  private static let burstPeriods = 3.0

  /// The whole signal.
  ///
  /// - Parameter rate: Frames per second, at least 2.5 times the highest frequency.
  /// - Parameter isWhole: Whether the tones and bursts are there too, which a measurement does not
  ///   need.
  /// - Throws: `unsuitableSignal` where the rate is too low.
  public func samples(rate: Double, includesTones isWhole: Bool = true) throws(CalibrationError)
    -> [Float]
  {
    try check(rate: rate)
    let isWhole = isWhole && hasTones
    let seconds = isWhole ? totalDuration : measuredDuration
    var signal = [Double](repeating: 0, count: Int((seconds * rate).rounded(.up)))
    let sweep = rawSweep(rate: rate)
    Self.add(
      sweep.map { Self.quietRatio * $0 }, at: Int((firstSweepTime * rate).rounded()), to: &signal)
    Self.add(sweep, at: Int(((firstSweepTime + sweepSpacing) * rate).rounded()), to: &signal)
    if isWhole {
      for index in 0..<Self.toneCount {
        let tone = measuredDuration + Double(index) * Self.toneSpacing
        Self.add(steadyTone(index, rate: rate), at: Int((tone * rate).rounded()), to: &signal)
        let burst = tone + Double(Self.toneCount) * Self.toneSpacing
        Self.add(self.burst(rate: rate), at: Int((burst * rate).rounded()), to: &signal)
      }
    }
    return filtered(signal, rate: rate)
  }

  /// The louder sweep as it is in the signal, and what the high-pass adds behind it.
  /// - Parameter rate: Frames per second; need not be whole, so that a clock's error can be
  ///   followed.
  func sweep(rate: Double) -> [Float] {
    let silence = [Double](repeating: 0, count: Int(Self.settling * rate))
    return filtered(rawSweep(rate: rate) + silence, rate: rate)
  }

  func check(rate: Double) throws(CalibrationError) {
    guard rate >= 2.5 * band.upperBound else {
      let needed = (2.5 * band.upperBound).text(places: 0)
      throw CalibrationError(
        .unsuitableSignal,
        """
        a sweep up to \(band.upperBound.text(places: 1)) Hz needs \(needed) frames per second, not \
        \(rate.text(places: 0))
        """
      )
    }
  }

  private static func add(_ part: [Double], at start: Int, to signal: inout [Double]) {
    for index in part.indices where start + index < signal.count {
      signal[start + index] += part[index]
    }
  }

  private func filtered(_ signal: [Double], rate: Double) -> [Float] {
    var filter = SweepHighPass(hertz: band.lowerBound / 2, rate: rate)
    return signal.map { Float(filter.process($0)) }
  }

  private func rawSweep(rate: Double) -> [Double] {
    let pace = sweepDuration / log(band.upperBound / band.lowerBound)
    let turn = 2 * Double.pi * band.lowerBound * pace
    return sampled(rate: rate, duration: sweepDuration) {
      amplitude * fadeGain(at: $0, of: sweepDuration) * sin(turn * expm1($0 / pace))
    }
  }

  private func sampled(rate: Double, duration seconds: Double, _ value: (Double) -> Double)
    -> [Double]
  {
    (0..<Int(seconds * rate)).map { value(Double($0) / rate) }
  }

  private func steadyTone(_ index: Int, rate: Double) -> [Double] {
    let place = Double(index) / Double(Self.toneCount - 1)
    let hertz = toneBand.lowerBound * pow(toneBand.upperBound / toneBand.lowerBound, place)
    let seconds = 0.9 * Self.toneSpacing
    return sampled(rate: rate, duration: seconds) {
      amplitude * fadeGain(at: $0, of: seconds) * sin(2 * .pi * hertz * $0)
    }
  }

  private func burst(rate: Double) -> [Double] {
    let hertz = (toneBand.lowerBound * toneBand.upperBound).squareRoot()
    let seconds = min(Self.burstPeriods / hertz, 0.9 * Self.toneSpacing)
    return sampled(rate: rate, duration: seconds) { time in
      let swell = sin(.pi * time / seconds)
      return amplitude * swell * swell * sin(2 * .pi * hertz * time)
    }
  }

  private func fadeGain(at time: Double, of seconds: Double) -> Double {
    let attack = min(Self.attackPeriods / band.lowerBound, seconds / 8)
    if time < attack { return 0.5 - 0.5 * cos(.pi * time / attack) }
    let left = seconds - time
    return left < Self.release ? 0.5 - 0.5 * cos(.pi * left / Self.release) : 1
  }
}

/// A Butterworth high-pass of second order, so that ramps move nothing below the sweep.
///
/// By the bilinear transform, its corner kept in place.
struct SweepHighPass {
  private let gain, firstFeedback, secondFeedback: Double
  private var state = (0.0, 0.0)

  init(hertz: Double, rate: Double) {
    let corner = tan(.pi * hertz / rate)
    gain = 1 / (1 + 2.squareRoot() * corner + corner * corner)
    firstFeedback = 2 * (corner * corner - 1) * gain
    secondFeedback = (1 - 2.squareRoot() * corner + corner * corner) * gain
  }

  mutating func process(_ input: Double) -> Double {
    let inner = input - firstFeedback * state.0 - secondFeedback * state.1
    let output = gain * (inner - 2 * state.0 + state.1)
    state = (inner, state.0)
    return output
  }
}

/// What of a signal a profile's transducer can take, by what is known of it.
///
/// Sweeps pass so slowly that the model's steady movement is what they reach.
public struct SweepLimits: Equatable, Sendable {
  private let name: String
  private let limits: TransducerLimits?
  private let model: TransducerModel?

  /// Decibels that are kept to the limits.
  private static let headroom = 1.0

  /// Takes the limits from a profile; one without hardware has none. The rate decides nothing that
  /// is asked here.
  public init(_ profile: TransducerProfile, rate: Double = 48_000) {
    let settings = profile.transducerSettings(rate: rate)
    name = profile.name
    limits = settings?.limits
    model = settings?.model
  }

  /// Whether anything is known that a signal could be held to.
  public var hasLimits: Bool { limits?.excursion != nil || limits?.power != nil }

  /// By how many decibels a signal is too strong; below zero is what it could be stronger.
  public func excess(of signal: SweepSignal) -> Double {
    excess(ofAmplitude: signal.amplitude, within: signal.band)
  }

  func excess(ofAmplitude amplitude: Double, within band: ClosedRange<Double>) -> Double {
    var excess = -Double.infinity
    if let excursion = limits?.excursion, let model {
      let moved = amplitude * model.maximumDisplacement(in: band)
      excess = max(excess, Decibels.of(amplitude: moved / excursion) + Self.headroom)
    }
    if let power = limits?.power {
      excess = max(excess, Decibels.of(power: amplitude * amplitude * power) + Self.headroom)
    }
    return excess
  }

  /// Refuses a signal that is beyond the limits.
  public func check(_ signal: SweepSignal) throws(CalibrationError) {
    let excess = self.excess(of: signal)
    guard excess > 0 else { return }
    let level = ((signal.level - excess) * 10).rounded(.down) / 10
    throw CalibrationError(
      .tooStrong,
      "a sweep at \(signal.level.text(places: 1)) dBFS is \(excess.text(places: 1)) dB too strong for \(name); "
        + (level >= SweepSignal.levelRange.lowerBound
          ? "use '--level \(level.text(places: 1))'"
          : "lower the amplifier gain and set amplifier.power in the profile"))
  }
}
