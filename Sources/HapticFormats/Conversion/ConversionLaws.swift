internal import CMath

/// How the amplitude of a vibration, 0…1, and the intensity that Core Haptics gives it follow from
/// each other.
public enum AmplitudeLaw: String, CaseIterable, Sendable {
  /// Intensity is the square root of amplitude.
  ///
  /// Source: both converters of the Haptics SDK (facebook/meta-haptics-sdk, 41c9dcb, `ahap.rs`;
  /// Lofelt/NiceVibrations, 5e58663), the only published law.
  case root
  /// Intensity is amplitude, for profiles whose amplitude is in proportion to intensity.
  case linear

  /// The intensity of an amplitude that is not negative.
  public func intensity(ofAmplitude amplitude: Double) -> Double { self == .root ? amplitude.squareRoot() : amplitude }

  /// The amplitude of an intensity.
  public func amplitude(ofIntensity intensity: Double) -> Double { self == .root ? intensity * intensity : intensity }
}

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
