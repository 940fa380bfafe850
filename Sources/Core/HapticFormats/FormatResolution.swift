/// The steps to which the files of a format round values.
///
/// A comparison between two formats accepts differences that rounding explains. A step of 0 stands
/// for values that are not rounded.
public struct FormatResolution: Equatable, Sendable {
  /// The step of intensities, of 1.
  public var intensityStep: Double
  /// The step of amplitudes, which are read as the squares of intensities, of 1.
  public var amplitudeStep: Double
  /// The step of times, in seconds.
  public var timeStepSeconds: Double
  /// The step of sharpness, of 1.
  public var sharpnessStep: Double
  /// The step of frequencies, in hertz.
  public var frequencyStepHertz: Double
  /// The interval of sampled levels, in seconds; 0 for levels that are lines.
  public var samplingIntervalSeconds: Double

  /// The resolution of a format that does not round.
  public static let exact = FormatResolution()

  /// Creates a resolution. A step that is omitted is 0.
  ///
  /// - Parameters:
  ///   - intensity: The step of intensities.
  ///   - amplitude: The step of amplitudes.
  ///   - seconds: The step of times, in seconds.
  ///   - sharpness: The step of sharpness.
  ///   - hertz: The step of frequencies, in hertz.
  ///   - samplingSeconds: The interval of sampled levels, in seconds.
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

  /// The maximum error of a time, in seconds: half a step, or half a sampling interval.
  public var maximumTimeError: Double { max(timeStepSeconds, samplingIntervalSeconds) / 2 }
}
