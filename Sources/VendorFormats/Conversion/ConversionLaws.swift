internal import HapticFormats
internal import CMath
internal import HapticModel

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

/// Times and levels on the grid of a format, with the greatest error of each.
struct Quantizer {
  /// What rounding of floating-point numbers may do without being a loss.
  static let exactness = 1e-6

  /// In milliseconds, and of full scale.
  private var errors = (time: 0.0, level: 0.0)

  mutating func milliseconds(_ seconds: Double) -> Int {
    let exact = min(max(seconds, 0), FrameConversion.longest) * 1000
    errors.time = max(errors.time, abs(exact.rounded() - exact))
    return FrameConversion.integer(exact)
  }

  mutating func percent(_ share: Double) -> Int {
    let exact = PercentLaw.percent(ofShare: share)
    errors.level = max(errors.level, abs(exact.rounded() - exact) / 100)
    return FrameConversion.integer(exact)
  }

  func note(in losses: inout LossLog) {
    if errors.time > Self.exactness * 1000 {
      losses.add(.approximated, .composition, "times are rounded to milliseconds, by up to # ms", size: errors.time)
    }
    if errors.level > Self.exactness {
      losses.add(
        .approximated, .composition, "levels are rounded to percent, by up to # of full scale", size: errors.level)
    }
  }
}

extension LossLog {
  /// Adds what became of events that sound together.
  mutating func add(_ merged: MergedEnvelope) {
    for event in merged.overlapping.sorted() {
      add(.approximated, .event(event), "events that sound together are merged into one envelope")
    }
    for event in merged.dropped { add(.dropped, .event(event), "too many events sound at once") }
  }
}
