import HapticRender
import JSONText

/// What protection did for a transducer, for people and for programs.
struct ProtectionFigures: Equatable, Sendable {
  /// What a drive is held back for.
  enum Cause: String, Sendable {
    case excursion
    case power
  }

  /// Frames in which the movement was held back.
  var excursionFrameCount: Int64
  /// Frames in which the power was.
  var powerFrameCount: Int64
  /// The least factor on the drive.
  var leastGain: Float
  /// The greatest warmth, as a share of the limit.
  var warmth: Double

  /// What rendering tells; nothing where no transducer was moved or warmed.
  init?(_ statistics: RenderStatistics) {
    guard statistics.greatestWarmth > 0 || statistics.greatestExcursion > 0 else { return nil }
    excursionFrameCount = statistics.excursionFrameCount
    powerFrameCount = statistics.powerFrameCount
    leastGain = statistics.leastGuardGain
    warmth = Double(statistics.greatestWarmth)
  }

  /// Figures of playing.
  init(excursionFrameCount: Int64, powerFrameCount: Int64, leastGain: Float, warmth: Double) {
    self.excursionFrameCount = excursionFrameCount
    self.powerFrameCount = powerFrameCount
    self.leastGain = leastGain
    self.warmth = warmth
  }

  /// What held the drive back longer; nothing where it was not.
  var cause: Cause? {
    if excursionFrameCount == 0 && powerFrameCount == 0 { return nil }
    return powerFrameCount > excursionFrameCount ? .power : .excursion
  }

  /// `warm 63 %`, and `held -1.8 dB (power)` where it was.
  var text: String {
    let warm = "warm \(Int((warmth * 100).rounded())) %"
    guard let cause else { return warm }
    let held = Figures.rounded(Figures.decibels(leastGain), places: 1)
    return "\(warm), held \(held) dB (\(cause.rawValue))"
  }

  /// Writes the figures into an object.
  func write(to entry: inout JSONObjectWriter) {
    entry.member("excursionFrames", Int(excursionFrameCount))
    entry.member("powerFrames", Int(powerFrameCount))
    entry.member("heldDecibels", Figures.decibels(leastGain))
    entry.member("warmth", warmth)
  }
}
