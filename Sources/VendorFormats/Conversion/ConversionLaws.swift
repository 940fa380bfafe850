internal import HapticFormats
internal import CMath

/// How frequency in hertz and sharpness follow from each other in formats that hold hertz.
public struct SharpnessScale: Equatable, Sendable {
  /// Hertz at sharpness 0.
  public var low: Double
  /// Hertz at sharpness 1.
  public var high: Double
  /// Whether equal steps of sharpness are equal intervals, rather than equal differences.
  public var isLogarithmic: Bool

  /// Makes a scale between two positive frequencies.
  public init(low: Double, high: Double, isLogarithmic: Bool) {
    self.low = low
    self.high = high
    self.isLogarithmic = isLogarithmic
  }

  /// 80–230 Hz in equal intervals, as the profile `phone`: the one for formats that say nothing else.
  public static let phone = SharpnessScale(low: 80, high: 230, isLogarithmic: true)
  /// 65–300 Hz in equal differences.
  ///
  /// Source: MPEGGroup/HapticReferenceSoftware, 2de9ff1, the AHAP input of its encoder.
  public static let mpeg = SharpnessScale(low: 65, high: 300, isLogarithmic: false)

  /// The hertz of a sharpness, which is not clamped.
  public func hertz(ofSharpness sharpness: Double) -> Double {
    isLogarithmic ? low * pow(high / low, sharpness) : low + (high - low) * sharpness
  }

  /// The sharpness of a positive frequency, not clamped: outside 0…1 where the scale does not reach.
  public func sharpness(ofHertz hertz: Double) -> Double {
    isLogarithmic ? log(hertz / low) / log(high / low) : (hertz - low) / (high - low)
  }
}

/// How `.haptic` files and the frequency of their envelopes stand to sharpness: sharpness is the
/// square root of frequency.
///
/// Source: as ``AmplitudeLaw/root``. The frequency of an emphasis is its sharpness.
enum FrequencyLaw {
  static func sharpness(ofFrequency frequency: Double) -> Double { frequency.squareRoot() }
  static func frequency(ofSharpness sharpness: Double) -> Double { sharpness * sharpness }
}

/// Levels in percent.
enum PercentLaw {
  static func share(ofPercent percent: Double) -> Double { percent / 100 }
  static func percent(ofShare share: Double) -> Double { share * 100 }
}
