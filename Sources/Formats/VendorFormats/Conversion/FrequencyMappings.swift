internal import HapticFormats
public import HapticModel

extension SharpnessScale {
  /// The sharpness scale of MPEG-I haptics: linear from 65 to 300 Hz.
  ///
  /// Source: MPEGGroup/HapticReferenceSoftware, 2de9ff1, the AHAP input of its encoder.
  public static let mpeg = SharpnessScale(minimumHertz: 65, maximumHertz: 300, isLogarithmic: false)
}

/// The mapping between sharpness and the frequency envelope of `.haptic` files: sharpness is the
/// square root of frequency. The frequency of an emphasis equals its sharpness.
///
/// Source: as for ``AmplitudeMapping/root``.
enum ClipFrequencyMapping {
  static func sharpness(ofFrequency frequency: Double) -> Double { frequency.squareRoot() }
  static func frequency(ofSharpness sharpness: Double) -> Double { sharpness * sharpness }
}

/// Conversions between fractions and percent.
enum PercentConversion {
  static func fraction(ofPercent percent: Double) -> Double { percent / 100 }
  static func percent(ofFraction fraction: Double) -> Double { fraction * 100 }
}

/// Rounds times and levels to the precision of a file, and records the maximum errors.
struct TimeAndLevelQuantizer {
  /// The maximum floating-point rounding error that is not reported as a loss.
  static let maximumUnreportedError = 1e-6

  /// The maximum rounding errors of times and levels.
  ///
  /// Times are in milliseconds, and levels are a fraction of full scale.
  private var maximumRoundingErrors = (time: 0.0, level: 0.0)

  mutating func quantizeToMilliseconds(_ seconds: Double) -> Int {
    let exactMilliseconds = min(max(seconds, 0), FrameConversion.maximumSeconds) * 1000
    maximumRoundingErrors.time = max(
      maximumRoundingErrors.time, abs(exactMilliseconds.rounded() - exactMilliseconds))
    return FrameConversion.clampedInteger(exactMilliseconds)
  }

  mutating func quantizeToPercent(_ share: Double) -> Int {
    let exactPercent = PercentConversion.percent(ofFraction: share)
    maximumRoundingErrors.level = max(
      maximumRoundingErrors.level, abs(exactPercent.rounded() - exactPercent) / 100)
    return FrameConversion.clampedInteger(exactPercent)
  }

  func reportErrors(to losses: inout LossLog) {
    if maximumRoundingErrors.time > Self.maximumUnreportedError * 1000 {
      losses.add(
        .approximated, .composition, "times are rounded to milliseconds, by up to # ms",
        size: maximumRoundingErrors.time)
    }
    if maximumRoundingErrors.level > Self.maximumUnreportedError {
      losses.add(
        .approximated, .composition, "levels are rounded to percent, by up to # of full scale",
        size: maximumRoundingErrors.level)
    }
  }
}
