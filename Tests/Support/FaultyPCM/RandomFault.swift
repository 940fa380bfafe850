import Glibc

extension Fault {
  /// A fault that a random schedule can contain.
  public enum RandomKind: Sendable {
    case underrun, suspension, disconnection, stall
    case shortTransfers, failedTransfers, failedStarts
    case wrongDelay, falseReadiness
  }

  /// Returns a fault of a random kind with random values.
  ///
  /// - Parameter kinds: The kinds. A kind that is listed more than once is more probable.
  public static func random(
    of kinds: [RandomKind], using generator: inout some RandomNumberGenerator
  ) -> Fault {
    switch kinds.randomElement(using: &generator) ?? .underrun {
    case .underrun:
      .underrun
    case .suspension:
      .suspend(canResume: Bool.random(using: &generator))
    case .disconnection:
      .disconnect(
        duration: .milliseconds(Int.random(in: 0...1_500, using: &generator)),
        code: Bool.random(using: &generator) ? ENODEV : EBUSY)
    case .stall:
      .stall(duration: .milliseconds(Int.random(in: 1...900, using: &generator)))
    case .shortTransfers:
      .shortTransfers(
        frameCount: Int.random(in: 1...300, using: &generator),
        count: Int.random(in: 1...50, using: &generator))
    case .failedTransfers:
      .failTransfers(
        code: [EPIPE, EAGAIN, EINTR, ESTRPIPE, EIO].randomElement(using: &generator) ?? EIO,
        count: Int.random(in: 1...4, using: &generator))
    case .failedStarts:
      .failStarts(code: EPIPE, count: Int.random(in: 1...4, using: &generator))
    case .wrongDelay:
      .addDelay(frameCount: Int.random(in: -2_000...100_000, using: &generator))
    case .falseReadiness:
      .reportFalseReadiness(duration: .milliseconds(Int.random(in: 1...300, using: &generator)))
    }
  }
}
