public import HapticRender
internal import CMath
internal import SignalAnalysis
internal import SystemSupport

/// The signal that a transducer is measured with: a sweep at half of the level, one at the level, then tones and
/// bursts to feel.
///
/// The sweeps are exponential sines after Farina, "Simultaneous measurement of impulse response and distortion
/// with a swept-sine technique", AES 108th convention, 2000. Two levels show what is not linear. The signal follows from its figures alone, at any
/// rate, so that a recording is understood without the file that was played.
public struct SweepSignal: Equatable, Sendable {
  /// The frequencies a sweep goes through, in hertz.
  public let band: ClosedRange<Double>
  /// Seconds of one sweep.
  public let duration: Double
  /// The peak in decibels relative to full scale.
  public let level: Double
  /// Between which frequencies the tones and bursts lie.
  public let toneBand: ClosedRange<Double>
  /// Whether tones and bursts follow the sweeps.
  public let hasTones: Bool

  /// The frequencies of a sweep that is not told otherwise: one octave beyond what shakers are made for.
  public static let defaultBand = 10.0...1_000.0
  /// Its seconds: long enough to lift a resonance out of noise as strong as itself.
  public static let defaultDuration = 6.0
  /// Its level: a quarter of full scale, a sixteenth of full power.
  public static let defaultLevel = -12.0
  /// The levels that can be asked for.
  public static let levels = -40.0 ... -3.0
  /// The lengths that can be asked for, in seconds.
  public static let durations = 0.5...30.0
  /// The frequencies that can be asked for.
  public static let frequencies = 1.0...10_000.0

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
    band: ClosedRange<Double> = defaultBand, duration: Double = defaultDuration, level: Double = defaultLevel,
    toneBand: ClosedRange<Double>? = nil, hasTones: Bool = true
  ) throws(CalibrationError) {
    func refusal(_ text: String) -> CalibrationError { CalibrationError(kind: .unsuitableSignal, description: text) }
    guard Self.frequencies.contains(band.lowerBound), Self.frequencies.contains(band.upperBound) else {
      throw refusal("sweep frequencies must be 1 to 10000 Hz")
    }
    let ratio = band.upperBound / band.lowerBound
    guard (4...1_000).contains(ratio) else {
      throw refusal("the end frequency must be 4 to 1000 times the start frequency")
    }
    guard Self.durations.contains(duration) else { throw refusal("the sweep duration must be 0.5 to 30 s") }
    guard duration * band.lowerBound >= 5 else {
      throw refusal("the sweep must last at least five periods of its lowest frequency")
    }
    guard Self.levels.contains(level) else { throw refusal("the sweep level must be -40 to -3 dBFS") }
    self.band = band
    self.duration = duration
    self.level = level
    self.toneBand = (toneBand ?? band).clamped(to: band)
    self.hasTones = hasTones
  }

  /// Seconds of the signal of a quick check.
  public static let checkLength = 5.0
  /// How far its sweeps reach around the resonance, as a factor, and their lowest frequency in hertz.
  private static let checkReach = 4.0
  private static let checkLowest = 7.0

  /// The signal of a quick check: short sweeps two octaves around the resonance of a profile, 5 s in all.
  ///
  /// - Throws: `unsuitableSignal` where the profile has no resonance, or one that such sweeps cannot reach.
  public init(checking profile: TransducerProfile, level: Double = defaultLevel) throws(CalibrationError) {
    guard let model = profile.hardware?.model else {
      throw CalibrationError(
        kind: .unsuitableSignal,
        description: "\(profile.name) has no resonance and quality to check; calibrate it first")
    }
    let low = max(Self.checkLowest, model.resonance / Self.checkReach)
    let duration = (Self.checkLength - Self.margin) / 2 - Self.pause
    try self.init(
      band: low...max(4 * low, model.resonance * Self.checkReach), duration: duration, level: level, hasTones: false)
  }

  /// The peak as a factor of full scale.
  public var amplitude: Double { Decibels.factor(level) }

  /// What the first sweep's amplitude is of the second's.
  static let quietShare = 0.5
  /// Seconds of silence at both ends.
  static let margin = 0.5
  /// Seconds of silence behind each sweep, in which the transducer comes to rest.
  static let pause = 1.5
  /// How many tones there are, and bursts.
  static let toneCount = 6
  /// Seconds from one tone or burst to the next.
  static let toneSpacing = 0.5

  /// Seconds from the beginning to that of the first sweep.
  public var firstSweep: Double { Self.margin }
  /// Seconds from the beginning of one sweep to that of the other.
  public var sweepSpacing: Double { duration + Self.pause }
  /// Seconds from the beginning to the end of all that a measurement needs.
  public var measuredLength: Double { Self.margin + 2 * sweepSpacing }
  /// Seconds of the whole signal.
  public var length: Double {
    hasTones ? measuredLength + 2 * Double(Self.toneCount) * Self.toneSpacing + Self.margin : measuredLength
  }

  /// Periods of the lowest frequency in which a sweep comes up, so that the high-pass does not overshoot.
  private static let attackPeriods = 1.5
  /// Seconds in which sweeps and tones end.
  private static let release = 0.01
  /// Seconds behind a sweep until the high-pass is at rest.
  private static let settling = 0.25
  /// Periods of a burst.
  private static let burstPeriods = 3.0

  /// The whole signal.
  ///
  /// - Parameter rate: Frames per second, at least 2.5 times the highest frequency.
  /// - Parameter isWhole: Whether the tones and bursts are there too, which a measurement does not need.
  /// - Throws: `unsuitableSignal` where the rate is too low.
  public func samples(rate: Double, isWhole: Bool = true) throws(CalibrationError) -> [Float] {
    try check(rate: rate)
    let isWhole = isWhole && hasTones
    let seconds = isWhole ? length : measuredLength
    var signal = [Double](repeating: 0, count: Int((seconds * rate).rounded(.up)))
    let sweep = rawSweep(rate: rate)
    Self.lay(sweep.map { Self.quietShare * $0 }, at: Int((firstSweep * rate).rounded()), in: &signal)
    Self.lay(sweep, at: Int(((firstSweep + sweepSpacing) * rate).rounded()), in: &signal)
    if isWhole {
      for index in 0..<Self.toneCount {
        let tone = measuredLength + Double(index) * Self.toneSpacing
        Self.lay(steadyTone(index, rate: rate), at: Int((tone * rate).rounded()), in: &signal)
        let burst = tone + Double(Self.toneCount) * Self.toneSpacing
        Self.lay(self.burst(rate: rate), at: Int((burst * rate).rounded()), in: &signal)
      }
    }
    return filtered(signal, rate: rate)
  }

  /// The louder sweep as it is in the signal, and what the high-pass adds behind it.
  ///
  /// - Parameter rate: Frames per second; need not be whole, so that a clock's error can be followed.
  func sweep(rate: Double) -> [Float] {
    let rest = [Double](repeating: 0, count: Int(Self.settling * rate))
    return filtered(rawSweep(rate: rate) + rest, rate: rate)
  }

  /// Refuses a rate that cannot hold the sweep.
  func check(rate: Double) throws(CalibrationError) {
    guard rate >= 2.5 * band.upperBound else {
      throw CalibrationError(
        kind: .unsuitableSignal,
        description: "a sweep up to \(NumberFormatting.rounded(band.upperBound, places: 1)) Hz needs "
          + "\(NumberFormatting.rounded(2.5 * band.upperBound, places: 0)) frames per second, not "
          + NumberFormatting.rounded(rate, places: 0))
    }
  }

  private static func lay(_ part: [Double], at start: Int, in signal: inout [Double]) {
    for index in part.indices where start + index < signal.count { signal[start + index] += part[index] }
  }

  private func filtered(_ signal: [Double], rate: Double) -> [Float] {
    var filter = SweepHighPass(hertz: band.lowerBound / 2, rate: rate)
    return signal.map { Float(filter.step($0)) }
  }

  private func rawSweep(rate: Double) -> [Double] {
    let count = Int(duration * rate)
    let pace = duration / log(band.upperBound / band.lowerBound)
    let turn = 2 * Double.pi * band.lowerBound * pace
    return (0..<count).map { frame in
      let time = Double(frame) / rate
      return amplitude * fade(time, of: duration) * sin(turn * expm1(time / pace))
    }
  }

  private func steadyTone(_ index: Int, rate: Double) -> [Double] {
    let place = Double(index) / Double(Self.toneCount - 1)
    let hertz = toneBand.lowerBound * pow(toneBand.upperBound / toneBand.lowerBound, place)
    let seconds = 0.9 * Self.toneSpacing
    return (0..<Int(seconds * rate)).map { frame in
      let time = Double(frame) / rate
      return amplitude * fade(time, of: seconds) * sin(2 * .pi * hertz * time)
    }
  }

  private func burst(rate: Double) -> [Double] {
    let hertz = (toneBand.lowerBound * toneBand.upperBound).squareRoot()
    let seconds = min(Self.burstPeriods / hertz, 0.9 * Self.toneSpacing)
    return (0..<Int(seconds * rate)).map { frame in
      let time = Double(frame) / rate
      let swell = sin(.pi * time / seconds)
      return amplitude * swell * swell * sin(2 * .pi * hertz * time)
    }
  }

  /// Raised cosines at both ends.
  private func fade(_ time: Double, of seconds: Double) -> Double {
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
  private let gain: Double
  private let first: Double
  private let second: Double
  private var memory = (0.0, 0.0)

  /// A filter at rest.
  init(hertz: Double, rate: Double) {
    let corner = tan(.pi * hertz / rate)
    let scale = 1 / (1 + 2.squareRoot() * corner + corner * corner)
    gain = scale
    first = 2 * (corner * corner - 1) * scale
    second = (1 - 2.squareRoot() * corner + corner * corner) * scale
  }

  /// The next sample.
  mutating func step(_ input: Double) -> Double {
    let inner = input - first * memory.0 - second * memory.1
    let output = gain * (inner - 2 * memory.0 + memory.1)
    memory = (inner, memory.0)
    return output
  }
}
