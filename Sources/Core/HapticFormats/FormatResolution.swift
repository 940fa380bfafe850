/// The steps to which the files of a format round values.
///
/// A comparison between two formats accepts differences that rounding explains. A step of 0 stands
/// for values that are not rounded.
public struct FormatResolution: Equatable, Sendable {
  /// The step of intensities, of 1.
  public var intensity: Double
  /// The step of amplitudes, which are read as the squares of intensities, of 1.
  public var amplitude: Double
  /// The step of times, in seconds.
  public var seconds: Double
  /// The step of sharpness, of 1.
  public var sharpness: Double
  /// The step of frequencies, in hertz.
  public var hertz: Double
  /// The interval of sampled levels, in seconds; 0 for levels that are lines.
  public var samplingSeconds: Double

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
    intensity: Double = 0, amplitude: Double = 0, seconds: Double = 0, sharpness: Double = 0,
    hertz: Double = 0, samplingSeconds: Double = 0
  ) {
    self.intensity = intensity
    self.amplitude = amplitude
    self.seconds = seconds
    self.sharpness = sharpness
    self.hertz = hertz
    self.samplingSeconds = samplingSeconds
  }

  /// The maximum error of a time, in seconds: half a step, or half a sampling interval.
  public var timeError: Double { max(seconds, samplingSeconds) / 2 }
}
