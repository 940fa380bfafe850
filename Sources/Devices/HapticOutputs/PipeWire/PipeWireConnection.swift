internal import HapticPlayback
internal import Synchronization

/// Runs the state machine of a PipeWire stream on a separate thread, or step by step in tests.
final class PipeWireConnection: Sendable {
  /// The timeout for the session manager to connect a stream.
  private static let connectTimeout = Duration.seconds(3)

  /// The signal that wakes the owner of the stream when the state machine has changed.
  let changeSignal: WakeSignal
  private let machine: Locked<PipeWireStateMachine>
  private let client: any PipeWireClient
  private let clock: any TimeSource
  private let callbacksReference: CallbacksReference
  private let sharedState: SharedState

  /// The state that the connection shares with the client's handler, so that the client does not
  /// retain the connection.
  private final class SharedState: Sendable {
    let stateMachineStepSignal: WakeSignal
    let isConnectionEnding = Atomic<Bool>(false)
    let thread = Locked<BackgroundThread?>(nil)

    init() throws(PlaybackError) { stateMachineStepSignal = try WakeSignal() }
  }

  /// The callbacks of the sink or recorder that owns the stream. Any thread may call them.
  struct StreamCallbacks: Sendable {
    /// Opens or closes the gate that permits the stream to be heard or recorded.
    var setStreamGateOpen: @Sendable (Bool) -> Void
    /// Prepares for the process cycles of a new stream.
    var prepareForStream: @Sendable () -> Void
    /// Plays or records the frames of a process cycle on the real-time thread.
    var process: @Sendable (inout MutableSpan<Float>, PipeWireCycle) -> Void

    /// An owner that ignores all calls.
    static let none = StreamCallbacks(
      setStreamGateOpen: { _ in }, prepareForStream: {}, process: { _, _ in })
  }

  /// The owner, which is set before the stream is requested, and therefore before the stream's
  /// real-time thread reads it.
  private final class CallbacksReference: @unchecked Sendable {
    var callbacks: StreamCallbacks

    init(_ owner: StreamCallbacks) { self.callbacks = owner }
  }

  /// Creates a connection.
  ///
  /// - Parameters:
  ///   - machine: The machine, which has not yet taken an action.
  ///   - clock: The clock.
  ///   - changeSignal: The signal of the owner.
  ///   - owner: The owner of the stream; `none` if it is set later.
  ///   - makeClient: The closure that creates the client.
  /// - Returns: Nil if there is no client.
  init?(
    _ machine: PipeWireStateMachine, clock: any TimeSource, changeSignal: WakeSignal,
    owner: StreamCallbacks,
    makeClient: (PipeWireHandler) -> (any PipeWireClient)?
  ) throws(PlaybackError) {
    let lockedMachine = Locked(machine)
    let sharedState = try SharedState()
    let ownerReference = CallbacksReference(owner)
    let handler = PipeWireHandler(
      receive: { event in
        // The gate changes under the lock, so that the last event decides.
        lockedMachine.withLock { machine in
          machine.receive(event)
          ownerReference.callbacks.setStreamGateOpen(machine.isRouteVerified)
        }
        sharedState.stateMachineStepSignal.raise()
        changeSignal.raise()
      }, process: { ownerReference.callbacks.process(&$0, $1) })
    guard let client = makeClient(handler) else { return nil }
    self.machine = lockedMachine
    self.sharedState = sharedState
    self.callbacksReference = ownerReference
    self.client = client
    self.clock = clock
    self.changeSignal = changeSignal
  }

  /// Reads or changes the state machine while holding its lock.
  func withMachine<Result>(_ body: (inout PipeWireStateMachine) -> Result) -> Result {
    machine.withLock { body(&$0) }
  }

  /// Sets the owner and requests its stream. Call this method before the thread starts.
  func requestStream(_ request: PipeWireStreamRequest, for owner: StreamCallbacks) {
    machine.withLock { machine in
      callbacksReference.callbacks = owner
      machine.requestStream(request)
    }
  }

  /// Performs all actions of the state machine that are due. Only one thread may call this method.
  func performDueActions() {
    while true {
      let now = clock.now
      let action = machine.withLock { machine -> PipeWireStateMachine.Action? in
        let action = machine.nextAction(at: now)
        if let action {
          machine.beginAction(action, at: now)
          callbacksReference.callbacks.setStreamGateOpen(machine.isRouteVerified)
        }
        return action
      }
      guard let action else { break }
      // The client's events need the machine, so no lock is held during its calls.
      let succeeds: Bool
      switch action {
      case .connect: succeeds = client.connect()
      case .openStream(let request):
        callbacksReference.callbacks.prepareForStream()
        succeeds = client.openStream(request)
      case .disconnect:
        client.disconnect()
        succeeds = true
      case .closeStream:
        client.closeStream()
        succeeds = true
      }
      if !succeeds {
        machine.withLock { $0.recordActionFailure(action, at: clock.now) }
      }
    }
    changeSignal.raise()
  }

  /// The time until the next step is due if no event arrives; nil if none is due.
  var timeUntilNextAction: Duration? {
    let now = clock.now
    return machine.withLock { $0.timeUntilNextAction(at: now) }
  }

  /// Starts the thread that performs the actions of the state machine. `close` ends the thread.
  func start() throws(PlaybackError) {
    let thread = try BackgroundThread { [self] in
      var watched = [PollDescriptor(sharedState.stateMachineStepSignal.descriptor)]
      while !sharedState.isConnectionEnding.load(ordering: .acquiring) {
        performDueActions()
        clock.wait(for: &watched, timeout: timeUntilNextAction)
        sharedState.stateMachineStepSignal.lower()
      }
    }
    sharedState.thread.withLock { $0 = thread }
  }

  /// Starts the thread, and waits until the requested stream is connected.
  ///
  /// - Parameters:
  ///   - device: The name of the device, for errors.
  ///   - nodeKind: The kind of the stream's node, `sink` or `source`, for errors.
  func startStream(of device: String, to nodeKind: String) throws(OutputError) {
    do throws(PlaybackError) {
      try start()
    } catch {
      throw OutputError(.other, output: device, error.description)
    }
    guard waitForMachine(within: Self.connectTimeout, until: \.isRouteVerified) else {
      throw OutputError(
        .unresponsive, output: device,
        """
        PipeWire did not connect the stream to this \(nodeKind); check that its session manager, \
        such as WirePlumber, is running
        """)
    }
  }

  /// Pauses or resumes the stream.
  func setActive(_ isActive: Bool) {
    machine.withLock { $0.setPaused(!isActive, at: clock.now) }
    client.setActive(isActive)
    sharedState.stateMachineStepSignal.raise()
  }

  /// Waits until the state machine satisfies a condition.
  ///
  /// - Returns: False after the timeout.
  func waitForMachine(within limit: Duration, until isTrue: (PipeWireStateMachine) -> Bool) -> Bool
  {
    let deadline = clock.now + limit
    var watchedDescriptors = [PollDescriptor(changeSignal.descriptor)]
    while !machine.withLock({ isTrue($0) }) {
      let remaining = deadline - clock.now
      guard remaining > .zero else { return false }
      clock.wait(for: &watchedDescriptors, timeout: remaining)
      changeSignal.lower()
    }
    return true
  }

  /// Ends the thread and the connection. Any thread except the connection's own may call this
  /// method.
  func close() {
    sharedState.isConnectionEnding.store(true, ordering: .releasing)
    sharedState.stateMachineStepSignal.raise()
    let thread = sharedState.thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    thread?.wait(within: .seconds(2))
    client.free()
  }
}
