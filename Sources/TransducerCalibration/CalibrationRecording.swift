internal import SystemSupport

/// What a sensor on the transducer gave while the signal was played: one channel, to be judged and measured.
public struct CalibrationRecording: Equatable, Sendable {
  /// The samples, in −1…1.
  public let samples: [Float]
  /// Frames per second.
  public let rate: Double

  /// Makes a recording.
  public init(samples: [Float], rate: Double) {
    self.samples = samples
    self.rate = rate
  }

  /// Seconds.
  public var duration: Double { rate > 0 ? Double(samples.count) / rate : 0 }

  /// The most seconds that are looked through.
  public static let longest = 180.0
  /// The rates that are understood.
  public static let rates = 4_000.0...384_000.0

  /// Refuses what cannot hold the signal, before any work is done.
  func check(for signal: SweepSignal) throws(CalibrationError) {
    func refusal(_ text: String) -> CalibrationError { CalibrationError(kind: .unsuitableRecording, description: text) }
    guard !samples.isEmpty else { throw refusal("is empty") }
    guard Self.rates.contains(rate) else {
      throw refusal("is at \(NumberFormatting.rounded(rate, places: 0)) Hz; supported: 4000 to 384000 Hz")
    }
    guard rate >= 2.5 * signal.band.upperBound else {
      throw refusal(
        "is at \(NumberFormatting.rounded(rate, places: 0)) Hz; a sweep up to "
          + "\(NumberFormatting.rounded(signal.band.upperBound, places: 1)) Hz needs "
          + "\(NumberFormatting.rounded(2.5 * signal.band.upperBound, places: 0)) Hz")
    }
    let needed = signal.measuredLength - SweepSignal.margin - SweepSignal.pause
    guard duration >= needed else {
      throw refusal(
        "lasts \(NumberFormatting.rounded(duration, places: 1)) s; the two sweeps take "
          + "\(NumberFormatting.rounded(needed, places: 1)) s")
    }
    guard duration <= Self.longest else {
      throw refusal(
        "lasts \(NumberFormatting.rounded(duration, places: 1)) s; cut it to the signal, at most "
          + "\(NumberFormatting.rounded(Self.longest, places: 0)) s")
    }
    // No comparison holds for a sample that is undefined.
    if let frame = samples.firstIndex(where: { !(abs($0) < 1e6) }) {
      throw refusal("contains NaN or infinity at \(place(of: frame)) s")
    }
    if samples.allSatisfy({ $0 == samples[0] }) { throw refusal("contains only silence") }
  }

  /// Seconds of a frame, as sentences have them.
  func place(of frame: Int) -> String { NumberFormatting.rounded(Double(frame) / rate, places: 2) }
}
