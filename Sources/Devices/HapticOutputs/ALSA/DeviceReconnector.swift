internal import HapticPlayback
internal import Synchronization

/// A reconnector that reopens a device and closes lost devices on separate threads.
/// Either operation may take seconds or never return. With an interception, as in tests, both
/// happen immediately on the caller's thread.
final class DeviceReconnector: Sendable {
  typealias OpenedDevice = (pcm: PCM, configuration: PCMConfiguration)

  private struct Outcome: @unchecked Sendable { var result: Result<OpenedDevice, OutputError> }

  private enum State {
    case idle, running
    case done(Outcome)
  }

  /// The maximum number of devices whose closing hangs. At the maximum, no more devices are opened.
  private static let maximumClosingCount = 8

  private let interception: PCMInterception?
  private let state = Mutex(State.idle)
  private let closingCount = Atomic<Int>(0)

  init(interception: PCMInterception?) {
    self.interception = interception
  }

  /// A Boolean value that indicates whether an attempt to open the device has begun and its result
  /// has not been received.
  var isOpening: Bool {
    state.withLock {
      if case .idle = $0 {
        false
      } else {
        true
      }
    }
  }

  var isClosing: Bool { closingCount.load(ordering: .acquiring) > 0 }

  /// Begins an attempt to open the device, unless another attempt is in progress.
  ///
  /// - Parameter request: The requested properties.
  func beginOpening(_ request: PCMRequest) {
    guard !isOpening, closingCount.load(ordering: .relaxed) < Self.maximumClosingCount else {
      return
    }
    state.withLock { $0 = .running }
    if let interception { return interception.callReturns(.open) ? open(request) : () }
    // If no thread can be started, a later attempt follows.
    if (try? BackgroundThread { self.open(request) }) == nil {
      state.withLock { $0 = .idle }
    }
  }

  private func open(_ request: PCMRequest) {
    let openingOutcome = Outcome(
      result: Result { () throws(OutputError) in
        try PCMNegotiation(request: request).open(interception: interception)
      }
    )
    state.withLock { $0 = .done(openingOutcome) }
  }

  func popResult() -> Result<OpenedDevice, OutputError>? {
    state.withLock { state -> Outcome? in
      guard case .done(let outcome) = state else { return nil }
      state = .idle
      return outcome
    }?.result
  }

  /// Closes a device that is no longer used.
  ///
  /// An explicit call closes it, not the release of the last reference: the thread's reference may
  /// outlive its work, and libjack frees a client twice if another one is opened in the meantime.
  func close(_ pcm: PCM) {
    nonisolated(unsafe) let pcm = pcm
    closingCount.add(1, ordering: .relaxed)
    let closeDevice: @Sendable () -> Void = { [self] in
      unsafe pcm.close()
      closingCount.subtract(1, ordering: .releasing)
    }
    if let interception { return interception.callReturns(.close) ? closeDevice() : () }
    if (try? BackgroundThread(closeDevice)) == nil {
      unsafe pcm.abandon()
      closingCount.subtract(1, ordering: .releasing)
    }
  }
}
