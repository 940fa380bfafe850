/// When the signal itself was on its way, from a channel that recorded it without the transducer.
public struct ReferenceDelay: Equatable, Sendable {
  /// Seconds of the recording at which the signal's first sample was there, to a part of a frame.
  public let offset: Double

  /// The least part of the channel that has to agree on one delay.
  private static let leastAgreement = 0.8

  /// Measures.
  ///
  /// - Throws: Why it cannot; `noResonance` where the channel holds something else than the signal.
  public init(
    measuring recording: CalibrationRecording, of signal: SweepSignal
  ) throws(CalibrationError) {
    let pair = try SweepTake(recording, signal: signal).pair
    let response = pair.response(without: SweepPair.preRoll)
    let terms = response.groups.map { (hertz: $0.hertz, value: $0.gain * $0.weight) }
    let reach = 0.5 / signal.band.lowerBound
    let delay = DelaySearch.delay(of: terms, within: reach, ignoresSign: true)
    let agreeing = abs(DelaySearch.sum(of: terms, at: delay))
    let whole = terms.reduce(0) { $0 + $1.value.magnitude }
    guard agreeing >= Self.leastAgreement * whole else {
      throw CalibrationError(
        kind: .noResonance,
        description: "the reference channel does not contain the signal")
    }
    offset = pair.start + SweepPair.preRoll + delay - signal.firstSweep
  }
}
