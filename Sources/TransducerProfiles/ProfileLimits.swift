internal import HapticRender

/// The ranges of a profile's figures: wide enough for any transducer, narrow enough to catch a slip.
public enum ProfileLimits {
  /// Frequencies that are rendered, in hertz.
  public static let hertz = 0.1...20_000.0
  /// Frequencies that makers publish, in hertz.
  static let publishedHertz = 0.1...100_000.0
  /// Amplitudes of one event; the greatest lies just below the ceiling of the output, −1 dBFS.
  static let level = 0.001...Renderer.maximumLevel
  /// Exponents of intensity.
  static let exponent = 0.1...10.0
  /// How far intensity 1 can lie above threshold, in decibels.
  static let sensation = 1.0...120.0
  /// Thresholds in decibels relative to 1 g.
  static let threshold = -200.0...100.0
  /// Frequencies of partials, and what they glide to, as multiples.
  static let ratio = 0.01...100.0
  /// Amplitudes of partials; below 0 the partial is inverted.
  static let gain = -10.0...10.0
  /// Lengths of partials as multiples of the burst's.
  static let durationRatio = 0.01...10.0
  /// How many partials an event may have: each is a voice.
  static let partialCount = 1...16
  /// Cycles of a burst.
  static let cycles = 0.25...100.0
  /// Lengths of bursts in seconds.
  static let seconds = 0.001...1.0
  /// Rise and fall of bursts in seconds; 0 is the next frame.
  static let edge = 0.0...1.0
  /// Shares: floor, squareness, duck.
  static let share = 0.0...1.0
  /// Quality factors.
  static let qualityFactor = 0.1...1_000.0
  static let modeGain = -100.0...100.0
  /// Impedances in ohms.
  static let impedance = 0.1...10_000.0
  /// Powers in watts.
  static let power = 0.001...100_000.0
  /// Accelerations of hardware in g.
  static let acceleration = 0.001...10_000.0
  /// Movements to one side in millimetres.
  static let excursion = 0.001...1_000.0
  /// Levels of a measured response in decibels.
  static let response = -200.0...100.0
  /// How many points a curve may have: two make a line.
  static let pointCount = 2...1_000
  /// Time constants of coils in seconds.
  static let coil = 0.1...600.0
  /// Time constants of magnets and cases in seconds.
  static let magnet = 10.0...36_000.0
  /// What a fit may leave unexplained, in decibels of the power.
  static let residual = -120.0...0.0
  /// Decibels below the best frequency that are still used.
  static let reach = 1.0...40.0
  /// Decibels by which the drive may rise.
  static let boost = 0.0...12.0
  /// How many times as damped hardware may appear.
  static let damping = 1.0...20.0
  /// Seconds from a sample to its movement.
  static let latency = 0.0...1.0
  /// How far a resonance may be off, as a fraction of it.
  static let resonanceUncertainty = 0.0...0.5
  /// The factor within which a quality factor lies, either way.
  static let qualityUncertainty = 1.0...4.0
}
