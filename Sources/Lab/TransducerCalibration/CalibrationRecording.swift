internal import SystemSupport

/// A recording of one channel, made with a sensor on the transducer while the signal was played.
public struct CalibrationRecording: Equatable, Sendable {
  /// The recorded samples, in −1…1.
  public let samples: [Float]
  /// The sample rate of the recording, in hertz.
  public let sampleRate: Double

  /// Creates a recording from its samples and their sample rate in hertz.
  public init(samples: [Float], sampleRate rate: Double) {
    self.samples = samples
    self.sampleRate = rate
  }

  /// The duration of the recording, in seconds.
  public var durationSeconds: Double { sampleRate > 0 ? Double(samples.count) / sampleRate : 0 }

  /// The maximum length of a recording, in seconds.
  public static let maximumDurationSeconds = 180.0
  /// The supported sample rates, in hertz.
  public static let supportedSampleRates = 4_000.0...384_000.0

  /// Checks that the recording is suitable for a measurement, and long enough for a signal.
  ///
  /// - Throws: `unsuitableRecording` for an unsuitable rate or length, and for samples that are
  ///   silent or not finite.
  func check(for signal: SweepSignal) throws(CalibrationError) {
    guard !samples.isEmpty else { throw Self.recordingError("is empty") }
    try checkRate(for: signal)
    try checkDuration(for: signal)
    // The negated comparison is true for NaN.
    if let invalidFrame = samples.firstIndex(where: { !(abs($0) < 1e6) }) {
      throw Self.recordingError("contains NaN or infinity at \(timeText(ofFrame: invalidFrame)) s")
    }
    if samples.allSatisfy({ $0 == samples[0] }) {
      throw Self.recordingError("contains only silence")
    }
  }

  private func checkRate(for signal: SweepSignal) throws(CalibrationError) {
    guard Self.supportedSampleRates.contains(sampleRate) else {
      throw Self.recordingError(
        "has a sample rate of \(sampleRate.text(places: 0)) Hz; supported: 4000 to 384000 Hz")
    }
    guard sampleRate >= 2.5 * signal.bandHertz.upperBound else {
      let maximumHertz = signal.bandHertz.upperBound.text(places: 1)
      let required = (2.5 * signal.bandHertz.upperBound).text(places: 0)
      throw Self.recordingError(
        """
        has a sample rate of \(sampleRate.text(places: 0)) Hz; a sweep up to \(maximumHertz) Hz \
        requires \
        \(required) Hz
        """)
    }
  }

  private func checkDuration(for signal: SweepSignal) throws(CalibrationError) {
    let requiredSeconds =
      signal.requiredMeasurementSeconds - SweepSignal.outerSilenceSeconds
      - SweepSignal.silenceAfterSweepSeconds
    guard durationSeconds >= requiredSeconds else {
      throw Self.recordingError(
        """
        lasts \(durationSeconds.text(places: 1)) s, but the two sweeps last \
        \(requiredSeconds.text(places: 1)) s
        """)
    }
    guard durationSeconds <= Self.maximumDurationSeconds else {
      let maximum = Self.maximumDurationSeconds.text(places: 0)
      throw Self.recordingError(
        "lasts \(durationSeconds.text(places: 1)) s; trim it to the signal, at most \(maximum) s")
    }
  }

  private static func recordingError(_ text: String) -> CalibrationError {
    CalibrationError(.unsuitableRecording, text)
  }

  /// Returns the time of a frame as the text of a number of seconds, for messages.
  func timeText(ofFrame frame: Int) -> String { (Double(frame) / sampleRate).text(places: 2) }
}
