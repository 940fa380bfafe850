internal import SystemSupport

/// A recording of one channel, made with a sensor on the transducer while the signal was played.
public struct CalibrationRecording: Equatable, Sendable {
  /// The recorded samples, in −1…1.
  public let samples: [Float]
  /// The sample rate, in hertz.
  public let rate: Double

  /// Creates a recording.
  public init(samples: [Float], rate: Double) {
    self.samples = samples
    self.rate = rate
  }

  /// The duration, in seconds.
  public var duration: Double { rate > 0 ? Double(samples.count) / rate : 0 }

  /// The maximum length of a recording, in seconds.
  public static let maximumDuration = 180.0
  /// The supported sample rates, in hertz.
  public static let supportedRates = 4_000.0...384_000.0

  /// Checks that the recording can contain a signal.
  ///
  /// - Throws: `unsuitableRecording` for an unsuitable rate or length, and for samples that are
  ///   silent or not finite.
  func check(for signal: SweepSignal) throws(CalibrationError) {
    guard !samples.isEmpty else { throw Self.recordingError("is empty") }
    try checkRate(for: signal)
    try checkDuration(for: signal)
    // The negated comparison is true for NaN.
    if let frame = samples.firstIndex(where: { !(abs($0) < 1e6) }) {
      throw Self.recordingError("contains NaN or infinity at \(timeText(ofFrame: frame)) s")
    }
    if samples.allSatisfy({ $0 == samples[0] }) {
      throw Self.recordingError("contains only silence")
    }
  }

  private func checkRate(for signal: SweepSignal) throws(CalibrationError) {
    guard Self.supportedRates.contains(rate) else {
      throw Self.recordingError(
        "has a sample rate of \(rate.text(places: 0)) Hz; supported: 4000 to 384000 Hz")
    }
    guard rate >= 2.5 * signal.band.upperBound else {
      let maximumHertz = signal.band.upperBound.text(places: 1)
      let required = (2.5 * signal.band.upperBound).text(places: 0)
      throw Self.recordingError(
        """
        has a sample rate of \(rate.text(places: 0)) Hz; a sweep up to \(maximumHertz) Hz requires \
        \(required) Hz
        """)
    }
  }

  private func checkDuration(for signal: SweepSignal) throws(CalibrationError) {
    let required = signal.measuredDuration - SweepSignal.marginSeconds - SweepSignal.pauseSeconds
    guard duration >= required else {
      throw Self.recordingError(
        """
        lasts \(duration.text(places: 1)) s, but the two sweeps last \(required.text(places: 1)) s
        """)
    }
    guard duration <= Self.maximumDuration else {
      let maximum = Self.maximumDuration.text(places: 0)
      throw Self.recordingError(
        "lasts \(duration.text(places: 1)) s; trim it to the signal, at most \(maximum) s")
    }
  }

  private static func recordingError(_ text: String) -> CalibrationError {
    CalibrationError(.unsuitableRecording, text)
  }

  /// Returns the time of a frame in seconds, as messages state it.
  func timeText(ofFrame frame: Int) -> String { (Double(frame) / rate).text(places: 2) }
}
