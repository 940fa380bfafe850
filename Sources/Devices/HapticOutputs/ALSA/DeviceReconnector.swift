internal import HapticPlayback
internal import Synchronization

/// A reconnector that reopens a device and closes lost devices on separate threads.
/// Either operation may take seconds or never return. With an interception, as in tests, both
/// happen immediately on the caller's thread.
final class DeviceReconnector: Sendable {
  typealias OpenedDevice = (pcm: PCM, configuration: PCMConfiguration)

  private struct OpeningOutcome: @unchecked Sendable {
    var result: Result<OpenedDevice, OutputError>
  }

  private enum State {
    case idle, running
    case done(OpeningOutcome)
  }

  /// The maximum number of devices whose closing hangs. At the maximum, no more devices are opened.
  private static let maximumHangingCloseCount = 8

  private let interception: PCMInterception?
  private let state = Mutex(State.idle)
  private let closingDeviceCount = Atomic<Int>(0)

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

  var isClosing: Bool { closingDeviceCount.load(ordering: .acquiring) > 0 }

  /// Begins an attempt to open the device, unless another attempt is in progress.
  ///
  /// - Parameter request: The requested properties.
  func beginOpening(_ request: PCMRequest) {
    guard !isOpening, closingDeviceCount.load(ordering: .relaxed) < Self.maximumHangingCloseCount
    else {
      return
    }
    state.withLock { $0 = .running }
    if let interception { return interception.letsCallReturn(.open) ? open(request) : () }
    // If no thread can be started, a later attempt follows.
    if (try? BackgroundThread { self.open(request) }) == nil {
      state.withLock { $0 = .idle }
    }
  }

  private func open(_ request: PCMRequest) {
    let openingOutcome = OpeningOutcome(
      result: Result { () throws(OutputError) in
        try PCMNegotiation(request: request).open(interception: interception)
      }
    )
    state.withLock { $0 = .done(openingOutcome) }
  }

  func popOpeningResult() -> Result<OpenedDevice, OutputError>? {
    state.withLock { state -> OpeningOutcome? in
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
    closingDeviceCount.add(1, ordering: .relaxed)
    let closeDevice: @Sendable () -> Void = { [self] in
      unsafe pcm.close()
      closingDeviceCount.subtract(1, ordering: .releasing)
    }
    if let interception { return interception.letsCallReturn(.close) ? closeDevice() : () }
    if (try? BackgroundThread(closeDevice)) == nil {
      unsafe pcm.abandon()
      closingDeviceCount.subtract(1, ordering: .releasing)
    }
  }
}
