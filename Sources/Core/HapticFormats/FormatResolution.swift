/// The rounding steps of the values in a file format.
///
/// A comparison between two formats ignores differences that rounding explains. A step of 0 means
/// that values are not rounded.
public struct FormatResolution: Equatable, Sendable {
  /// The rounding step of intensities, as a fraction of full scale.
  public var intensityStep: Double
  /// The rounding step of amplitudes, as a fraction of full scale. Amplitudes are squared
  /// intensities.
  public var amplitudeStep: Double
  /// The rounding step of times, in seconds.
  public var timeStepSeconds: Double
  /// The rounding step of sharpness, as a fraction of full scale.
  public var sharpnessStep: Double
  /// The rounding step of frequencies, in hertz.
  public var frequencyStepHertz: Double
  /// The sampling interval of levels, in seconds, or 0 for levels stored as line segments.
  public var samplingIntervalSeconds: Double

  /// The resolution of a format that stores values without rounding.
  public static let exact = FormatResolution()

  /// Creates a resolution. Omitted steps are 0.
  ///
  /// - Parameters:
  ///   - intensity: The rounding step of intensities.
  ///   - amplitude: The rounding step of amplitudes.
  ///   - seconds: The rounding step of times, in seconds.
  ///   - sharpness: The rounding step of sharpness.
  ///   - hertz: The rounding step of frequencies, in hertz.
  ///   - samplingSeconds: The sampling interval of levels, in seconds.
  public init(
    intensityStep intensity: Double = 0, amplitudeStep amplitude: Double = 0,
    timeStepSeconds seconds: Double = 0, sharpnessStep sharpness: Double = 0,
    frequencyStepHertz hertz: Double = 0, samplingIntervalSeconds samplingSeconds: Double = 0
  ) {
    self.intensityStep = intensity
    self.amplitudeStep = amplitude
    self.timeStepSeconds = seconds
    self.sharpnessStep = sharpness
    self.frequencyStepHertz = hertz
    self.samplingIntervalSeconds = samplingSeconds
  }

  /// The maximum time error, in seconds: half a rounding step or half a sampling interval.
  public var maximumTimeErrorSeconds: Double { max(timeStepSeconds, samplingIntervalSeconds) / 2 }
}
