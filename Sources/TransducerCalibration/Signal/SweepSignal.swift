internal import SignalAnalysis

/// The signal that a transducer is measured with: two equal sweeps, then tones and bursts to feel.
///
/// The sweeps are exponential sines after Farina, "Simultaneous measurement of impulse response and distortion
/// with a swept-sine technique", AES 108th convention, 2000. The signal follows from its figures alone, at any
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
  /// - Parameter toneBand: Cut to the sweep's own band.
  /// - Throws: `unsuitableSignal` for figures outside their limits.
  public init(
    band: ClosedRange<Double> = defaultBand, duration: Double = defaultDuration,
    level: Double = defaultLevel, toneBand: ClosedRange<Double>? = nil
  ) throws(CalibrationError) {
    func refusal(_ text: String) -> CalibrationError {
      CalibrationError(kind: .unsuitableSignal, description: text)
    }
    guard Self.frequencies.contains(band.lowerBound), Self.frequencies.contains(band.upperBound)
    else { throw refusal("sweep frequencies must be 1 to 10000 Hz") }
    let ratio = band.upperBound / band.lowerBound
    guard (4...1_000).contains(ratio) else {
      throw refusal("the end frequency must be 4 to 1000 times the start frequency")
    }
    guard Self.durations.contains(duration) else {
      throw refusal("the sweep duration must be 0.5 to 30 s")
    }
    guard duration * band.lowerBound >= 5 else {
      throw refusal("the sweep must last at least five periods of its lowest frequency")
    }
    guard Self.levels.contains(level) else {
      throw refusal("the sweep level must be -40 to -3 dBFS")
    }
    self.band = band
    self.duration = duration
    self.level = level
    self.toneBand = (toneBand ?? band).clamped(to: band)
  }

  /// The peak as a factor of full scale.
  public var amplitude: Double { Decibels.factor(level) }

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
    measuredLength + 2 * Double(Self.toneCount) * Self.toneSpacing + Self.margin
  }
}
