internal import HapticPlayback
internal import Synchronization

/// Opens a device again and closes what was lost, beside the thread that renders: either may take seconds,
/// or never return.
///
/// With an interception, as tests have, both happen at once on the caller's thread.
final class DeviceReopening: Sendable {
  /// A device that was opened.
  struct Opened {
    var pcm: PCMBindings
    var granted: PCMConfiguration
  }

  /// What an attempt led to, passed from one thread to another.
  private struct Outcome: @unchecked Sendable { var result: Result<Opened, ALSAError> }

  /// A device on its way to be closed.
  private struct Lost: @unchecked Sendable { let pcm: PCMBindings }

  private enum State {
    case idle, running
    case done(Outcome)
  }

  /// Closing calls that may hang at once; beyond, nothing is opened any more.
  private static let closingLimit = 8

  private let request: PCMRequest
  private let interception: PCMInterception?
  private let state = Mutex(State.idle)
  private let closing = Atomic<Int>(0)

  /// What opens a device by the request it was first opened with.
  init(_ request: PCMRequest, interception: PCMInterception?) {
    self.request = request
    self.interception = interception
  }

  /// Whether an attempt has begun and its result was not taken.
  var isRunning: Bool { state.withLock { if case .idle = $0 { false } else { true } } }

  /// Whether a device is being closed.
  var isClosing: Bool { closing.load(ordering: .acquiring) > 0 }

  /// Begins an attempt; one at a time.
  func begin() {
    guard !isRunning, closing.load(ordering: .relaxed) < Self.closingLimit else { return }
    state.withLock { $0 = .running }
    if interception != nil { return attempt() }
    _ = BackgroundThread { self.attempt() }
  }

  private func attempt() {
    let outcome: Outcome
    do throws(ALSAError) {
      let (pcm, granted) = try PCMNegotiation(request).open(interception: interception)
      outcome = Outcome(result: .success(Opened(pcm: pcm, granted: granted)))
    } catch { outcome = Outcome(result: .failure(error)) }
    state.withLock { $0 = .done(outcome) }
  }

  /// The result of an attempt that is done, once.
  func take() -> Result<Opened, ALSAError>? {
    state.withLock { state -> Outcome? in
      guard case .done(let outcome) = state else { return nil }
      state = .idle
      return outcome
    }?.result
  }

  /// Closes a device that can no longer be used; the caller has no other use for it.
  ///
  /// Closed by a call of its own, not with its last reference: the thread's own may outlive the thread's
  /// work, and libjack frees a client twice where another is opened meanwhile.
  func close(_ pcm: PCMBindings) {
    guard interception == nil else { return }
    let lost = Lost(pcm: pcm)
    closing.add(1, ordering: .relaxed)
    _ = BackgroundThread { [self] in
      lost.pcm.close()
      closing.subtract(1, ordering: .releasing)
    }
  }
}
