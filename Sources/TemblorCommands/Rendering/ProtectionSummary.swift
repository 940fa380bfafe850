import HapticRender
import Reading
import SystemSupport

/// What protection did for a transducer, for people and for programs.
struct ProtectionSummary: Equatable, Sendable {
  enum Cause: String, Sendable {
    case excursion
    case power
  }

  /// Frames in which the movement was held back.
  var excursionLimitedFrameCount: Int64
  /// Frames in which the power was.
  var powerLimitedFrameCount: Int64
  /// The least factor on the drive.
  var leastGain: Float
  /// The greatest temperature rise, as a fraction of the limit.
  var temperatureRise: Double
  /// The greatest movement, as a fraction of the limit; 0 where none is followed.
  var peakExcursion = 0.0

  /// What held the drive back longer; nothing where it was not.
  var cause: Cause? {
    if excursionLimitedFrameCount == 0 && powerLimitedFrameCount == 0 { return nil }
    return powerLimitedFrameCount > excursionLimitedFrameCount ? .power : .excursion
  }

  /// `excursion 41 %, heat 63 %`, and `gain -1.8 dB (power)` where the drive was held back.
  var text: String {
    func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
    let excursion = peakExcursion > 0 ? "excursion \(percent(peakExcursion)), " : ""
    let heat = excursion + "heat \(percent(temperatureRise))"
    guard let cause else { return heat }
    let gain = NumberFormatting.rounded(NumberFormatting.decibels(leastGain), places: 1)
    return "\(heat), gain \(gain) dB (\(cause.rawValue))"
  }

  var fields: JSONFields {
    [
      "excursionLimitedFrames": excursionLimitedFrameCount, "powerLimitedFrames": powerLimitedFrameCount,
      "gainReductionDecibels": NumberFormatting.decibels(leastGain), "temperatureRise": temperatureRise,
      "peakExcursion": peakExcursion,
    ]
  }
}

extension ProtectionSummary {
  /// The figures of rendering; nothing where no transducer was moved or warmed.
  init?(_ statistics: RenderStatistics) {
    guard statistics.peakTemperatureRise > 0 || statistics.peakExcursion > 0 else { return nil }
    excursionLimitedFrameCount = statistics.excursionLimitedFrameCount
    powerLimitedFrameCount = statistics.powerLimitedFrameCount
    leastGain = statistics.minimumProtectionGain
    temperatureRise = Double(statistics.peakTemperatureRise)
    peakExcursion = Double(statistics.peakExcursion)
  }
}
