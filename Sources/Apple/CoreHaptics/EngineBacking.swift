internal import Foundation
internal import Glibc
internal import HapticPlayback
internal import HapticRender

/// The state and behavior of a `CHHapticEngine`.
///
/// The state consists of its session, players, audio resources, and handlers.
///
/// One lock guards the state. No handler is called, and no session is opened or closed, while the
/// lock is held. Handlers run in series on a queue of the engine.
final class EngineBacking: @unchecked Sendable {
  /// The idle time until auto shutdown stops the engine, in seconds.
  static let idleTimeoutSeconds = 120.0

  /// The mutable state of an engine, which the engine's lock guards.
  struct State {
    var stoppedHandler: CHHapticEngine.StoppedHandler = { _ in }
    var resetHandler: CHHapticEngine.ResetHandler?
    var playsHapticsOnly = false
    var playsAudioOnly = false
    var isMutedForAudio = false
    var isMutedForHaptics = false
    var isAutoShutdownEnabled = false
    var session: (any EngineSession)?
    /// The session that waits for the return of its lost device.
    var sessionAwaitingLostDevice: (any EngineSession)?
    /// A Boolean value that indicates whether the application has started the engine.
    ///
    /// The value is false after the application stops the engine. Interruptions by a test's device
    /// do not change it.
    var isStartRequested = false
    /// The total duration of past sessions, in seconds.
    var totalPastSessionSeconds = 0.0
    /// The number of resets of the engine.
    ///
    /// Players that were created before the last reset are invalid.
    var resetCount = 0
    /// The number of engine starts, player starts, and player ends so far.
    ///
    /// An idle timer that was created at a lower count is obsolete.
    ///
    /// An idle timer that was created at a lower count is obsolete.
    var activityChangeCount = 0
    /// The value of `activityChangeCount` at the creation of the idle timer.
    ///
    /// There is only one timer for each value.
    var activityChangeCountAtIdleTimerStart = -1
    var finishedHandlers: [CHHapticEngine.FinishedHandler] = []
    /// The players that play, are paused, or are about to start.
    var activePlayers: [ObjectIdentifier: PlayerBacking] = [:]
    var audioResources: [Int: AudioResource] = [:]
    var nextAudioResourceID = 1
    var isEngineReleased = false
    var isMissingResetHandlerReported = false
    var lastVirtualSession: VirtualSession?
  }

  /// The backend of an engine, and the engine's number if the backend is a virtual device.
  private struct BackendRegistration: Sendable {
    var backend: any EngineBackend
    var engineNumber = 0
  }

  private let backendRegistration: Locked<BackendRegistration>
  let handlerQueue = DispatchQueue(label: "CoreHaptics.CHHapticEngine.handlers")
  private let lock = NSRecursiveLock()
  private let startStopLock = NSRecursiveLock()
  private var state = State()

  init(backend: any EngineBackend) {
    backendRegistration = Locked(BackendRegistration(backend: backend))
    register(with: backend)
  }

  deinit { virtualBackend?.unregisterEngine(engineNumber) }

  private func register(with backend: any EngineBackend) {
    let registeredNumber = (backend as? VirtualBackend)?.registerEngine(self) ?? 0
    backendRegistration.withLock {
      $0 = BackendRegistration(backend: backend, engineNumber: registeredNumber)
    }
  }

  func withLockedState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&state) }
  }

  var backend: any EngineBackend { backendRegistration.withLock { $0.backend } }

  var engineNumber: Int { backendRegistration.withLock { $0.engineNumber } }

  var virtualBackend: VirtualBackend? { backend as? VirtualBackend }

  func logAction(_ action: HapticLogEntry.Action, player: Int? = nil) {
    let currentRegistration = backendRegistration.withLock { $0 }
    (currentRegistration.backend as? VirtualBackend)?.appendLogEntry(
      action, engine: currentRegistration.engineNumber, player: player)
  }

  /// Runs a closure on the engine's handler queue.
  ///
  /// Engines that the closure creates belong to the same device as this engine.
  func enqueueHandlerWork(_ body: @escaping @Sendable () -> Void) {
    guard let virtualBackend else { return handlerQueue.async(execute: body) }
    virtualBackend.registerHandlerWork(on: handlerQueue)
    handlerQueue.async { EngineBackends.$scopedDevice.withValue(virtualBackend, operation: body) }
  }

  /// Returns the virtual device's time at which a call takes effect, in seconds.
  func deviceSeconds(of time: PlaybackTime) -> Double {
    (withLockedState { $0.session } as? VirtualSession)?.deviceSeconds(of: time) ?? virtualBackend?
      .elapsedSeconds ?? 0
  }

  /// Calls a handler of the application. This method runs on the handler queue.
  func callHandler<Result>(_ handler: HapticLogEntry.HandlerKind, _ body: () -> Result) -> Result {
    logAction(.handlerCalled(handler))
    guard virtualBackend?.injectedFaults.detectsIsolationViolations == true else { return body() }
    let (result, isNoticed) = IsolationMonitor.detectingIsolationViolation(body)
    if isNoticed {
      logAction(.violation(.handlerOffMainActor(handler)))
    }
    return result
  }

  /// Moves the engine from an ended test's device to the current device.
  ///
  /// Throws `operationNotPermitted` if several tests run and would share the engine.
  private func moveToCurrentDevice() throws {
    guard let virtualBackend, let owner = virtualBackend.currentTest else {
      return moveFromEndedDevice()
    }
    let scopedDevice = EngineBackends.scopedDevice
    if let scopedDevice, scopedDevice !== virtualBackend, let test = scopedDevice.currentTest,
      !virtualBackend.hasTestEnded || !test.runsAlone
    {
      scopedDevice.recordForeignEngine(of: owner.name)
      throw CHHapticError(
        .operationNotPermitted,
        "the engine belongs to the test \(owner.name); \(Self.testIsolationRemedyText)")
    }
    moveFromEndedDevice()
  }

  private static let testIsolationRemedyText =
    "add .virtualHaptics(.alone) to both tests or their suites"

  private func moveFromEndedDevice() {
    guard virtualBackend?.hasTestEnded == true else { return }
    let endedSession = withLockedState { state in
      state.totalPastSessionSeconds += state.session?.playbackEngine.positionSeconds ?? 0
      state.activePlayers.removeAll()
      return exchange(&state.session, with: nil)
    }
    endedSession?.close()
    register(with: EngineBackends.currentBackend)
  }

  /// Opens the output and starts the engine, unless it is running.
  func start() throws {
    // Two threads that start at once must not open two outputs.
    startStopLock.lock()
    defer { startStopLock.unlock() }
    try moveToCurrentDevice()
    let (isRunning, request) = withLockedState { ($0.session != nil, self.sessionRequest(for: $0)) }
    if isRunning { return }
    let startDelaySeconds = virtualBackend?.popStartDelay() ?? 0
    if startDelaySeconds > 0 {
      virtualBackend?.advanceWithoutHandlers(seconds: startDelaySeconds)
    }
    let openedSession: any EngineSession
    do {
      openedSession = try backend.openSession(request)
    } catch {
      logAction(.engineStartFailed((error as? CHHapticError)?.code ?? .unknownError))
      throw error
    }
    logAction(.engineStarted)
    let lostSession = withLockedState { state in
      let lostSession = exchange(&state.sessionAwaitingLostDevice, with: nil)
      state.session = openedSession
      state.isStartRequested = true
      state.isMissingResetHandlerReported = false
      state.activityChangeCount += 1
      state.lastVirtualSession = openedSession as? VirtualSession
      // Nothing sounds yet, so these settings apply from the first frame.
      if state.isMutedForHaptics {
        openedSession.playbackEngine.setHapticsMuted(true)
      }
      if state.isMutedForAudio {
        openedSession.playbackEngine.setAudioMuted(true)
      }
      return lostSession
    }
    lostSession?.close()
    openedSession.playbackEngine.updateHandler = { [weak self] in
      guard let self else { return }
      enqueueHandlerWork { self.reportEndedPlayers() }
    }
    scheduleIdleTimeout()
  }

  func startAsynchronously(_ handler: (@Sendable ((any Error)?) -> Void)?) {
    // The caller's task identifies the test.
    do {
      try moveToCurrentDevice()
    } catch {
      handlerQueue.async { handler?(error) }
      return
    }
    enqueueHandlerWork {
      // A delayed start must not block this queue.
      if let virtual = self.virtualBackend, self.withLockedState({ $0.session == nil }) {
        let delay = virtual.popStartDelay()
        guard delay == 0 else {
          return virtual.schedule(after: delay) { self.startAsynchronously(handler) }
        }
      }
      do {
        try self.start()
        if let handler {
          self.callHandler(.start) { handler(nil) }
        }
      } catch {
        if let handler {
          self.callHandler(.start) { handler(error) }
        }
      }
    }
  }

  func stopAsynchronously(_ handler: (@Sendable ((any Error)?) -> Void)?) {
    enqueueHandlerWork {
      self.stop()
      if let handler {
        self.callHandler(.stop) { handler(nil) }
      }
    }
  }

  /// Closes the output and ends all players. Runs on the handler queue.
  ///
  /// - Parameters:
  ///   - reason: The reason for the stopped handler; nil if the application requested the stop, or
  ///     for a reset.
  ///   - error: The error for completion handlers.
  ///   - isReset: A Boolean value that indicates whether the stop is part of a reset.
  private func stop(
    _ reason: CHHapticEngine.StoppedReason? = nil, error: (any Error)? = nil, isReset: Bool = false
  ) {
    startStopLock.lock()
    let (session, active, finished, stopped) = withLockedState { state in
      let session = state.session
      let result = (
        session, Array(state.activePlayers.values), state.finishedHandlers, state.stoppedHandler
      )
      state.totalPastSessionSeconds += session?.playbackEngine.positionSeconds ?? 0
      state.session = nil
      state.activePlayers.removeAll()
      state.finishedHandlers.removeAll()
      if reason == .systemError {
        state.sessionAwaitingLostDevice = session
      }
      if !isReset, reason == nil || reason == .engineDestroyed {
        state.isStartRequested = false
      }
      return result
    }
    // After a device was lost, the session waits for its return; the reset closes it.
    if reason != .systemError {
      session?.close()
    } else {
      (session as? VirtualSession)?.endRecording()
    }
    startStopLock.unlock()
    guard session != nil else { return }
    logAction(.engineStopped(reason))
    for player in active {
      player.callCompletionHandler(error)
    }
    for handler in finished {
      _ = callHandler(.finished) { handler(error) }
    }
    if let reason {
      callHandler(.stopped) { stopped(reason) }
    }
  }

  private func sessionRequest(for state: State) -> SessionRequest {
    let playsAllBuses = state.playsHapticsOnly == state.playsAudioOnly
    let singleBus = state.playsHapticsOnly ? RenderSettings.AudibleBuses.haptics : .audio
    return SessionRequest(audibleBuses: playsAllBuses ? .all : singleBus) { [weak self] isPresent in
      guard let self else { return }
      if isPresent {
        requestReset()
      } else {
        interrupt(.systemError)
      }
    }
  }

  /// Stops the engine as the system would. Any thread may call.
  func interrupt(_ reason: CHHapticEngine.StoppedReason) {
    enqueueHandlerWork {
      self.stop(reason, error: CHHapticError(.serverInterrupted, userInfo: [:]))
    }
  }

  /// Resets the engine as the system would. Any thread may call.
  func requestReset() { enqueueHandlerWork { self.resetEngine() } }

  /// Invalidates players and audio resources, and calls the reset handler.
  ///
  /// Runs on the handler queue.
  private func resetEngine() {
    if withLockedState({ $0.session != nil }) {
      reportMissingResetHandler()
    }
    stop(isReset: true)
    let (handler, lost) = withLockedState { state in
      state.resetCount += 1
      state.audioResources.removeAll()
      return (state.resetHandler, exchange(&state.sessionAwaitingLostDevice, with: nil))
    }
    lost?.close()
    logAction(.engineReset)
    callHandler(.reset) { handler?() }
  }

  /// Logs a violation, once after each start, if the engine has no reset handler.
  ///
  /// Applications may set the handler after they start the engine, so a start is too early for this
  /// check.
  private func reportMissingResetHandler() {
    let isNewlyReported = withLockedState { state in
      guard state.resetHandler == nil, !state.isMissingResetHandlerReported else { return false }
      state.isMissingResetHandlerReported = true
      return true
    }
    if isNewlyReported {
      logAction(.violation(.noResetHandler))
    }
  }

  func handleEngineRelease() {
    let wasPlaying = withLockedState { state in
      state.isEngineReleased = true
      return state.session != nil && !state.activePlayers.isEmpty
    }
    if wasPlaying {
      logAction(.violation(.engineReleased))
    }
    enqueueHandlerWork { self.stop(wasPlaying ? .engineDestroyed : nil) }
  }

  var currentSeconds: Double {
    withLockedState {
      $0.totalPastSessionSeconds + ($0.session?.playbackEngine.positionSeconds ?? 0)
    }
  }

  func setMuted(audio: Bool? = nil, haptics: Bool? = nil) {
    withLockedState { state in
      if let audio {
        state.isMutedForAudio = audio
        state.session?.playbackEngine.setAudioMuted(audio)
        logAction(.audioMuted(audio))
      }
      if let haptics {
        state.isMutedForHaptics = haptics
        state.session?.playbackEngine.setHapticsMuted(haptics)
        logAction(.hapticsMuted(haptics))
      }
    }
  }

  func setAutoShutdown(_ isEnabled: Bool) {
    withLockedState { $0.isAutoShutdownEnabled = isEnabled }
    scheduleIdleTimeout()
  }

  private func scheduleIdleTimeout() {
    let changeCount: Int? = withLockedState { state in
      guard state.isAutoShutdownEnabled, state.session != nil, state.activePlayers.isEmpty,
        state.activityChangeCountAtIdleTimerStart != state.activityChangeCount
      else { return nil }
      state.activityChangeCountAtIdleTimerStart = state.activityChangeCount
      return state.activityChangeCount
    }
    guard let changeCount else { return }
    backend.schedule(after: Self.idleTimeoutSeconds) { [weak self] in
      guard let self else { return }
      enqueueHandlerWork {
        let isIdle = self.withLockedState {
          $0.activityChangeCount == changeCount && $0.isAutoShutdownEnabled
            && $0.activePlayers.isEmpty
        }
        if isIdle {
          self.stop(.idleTimeout)
        }
      }
    }
  }

  func makePlayer(_ pattern: CHHapticPattern) throws -> PlayerBacking {
    if virtualBackend?.hasTestEnded == false {
      try moveToCurrentDevice()
    }
    let player = try PlayerBacking(
      self, pattern, engineGeneration: withLockedState { $0.resetCount })
    // A pattern that cannot be played is reported now instead of at its start.
    try player.validatePattern()
    return player
  }

  func playOnce(_ pattern: CHHapticPattern) throws {
    let player = try makePlayer(pattern)
    try start()
    try player.start(atEngineSeconds: 0)
  }

  /// Returns the running session for a player.
  ///
  /// If auto shutdown is enabled, starts a session if necessary.
  func runningSession(startingIfAllowed: Bool) throws -> any EngineSession {
    if virtualBackend?.hasTestEnded == true, withLockedState({ $0.isStartRequested }) {
      try start()
    } else {
      try moveToCurrentDevice()
    }
    let (session, mayStart) = withLockedState {
      ($0.session, $0.isAutoShutdownEnabled && !$0.isEngineReleased)
    }
    if let session { return session }
    if startingIfAllowed && mayStart {
      try start()
      if let session = withLockedState({ $0.session }) { return session }
    }
    throw CHHapticError(.engineNotRunning, "the engine is not running; call start() first")
  }

  func registerPlayerStart(_ player: PlayerBacking) {
    withLockedState { state in
      state.activityChangeCount += 1
      state.activePlayers[ObjectIdentifier(player)] = player
      state.session?.updatePlayerActivity(true)
    }
    reportMissingResetHandler()
  }

  func addFinishedHandler(_ handler: @escaping CHHapticEngine.FinishedHandler) {
    withLockedState { $0.finishedHandlers.append(handler) }
    enqueueHandlerWork { self.reportEndedPlayers() }
  }

  /// Calls the completion handlers of players that have ended since the last call.
  ///
  /// Runs on the handler queue.
  private func reportEndedPlayers() {
    for player in withLockedState({ Array($0.activePlayers.values) }) {
      let previousChangeCount = withLockedState { $0.activityChangeCount }
      let endCount = player.drainPlaybackEndCount()
      if !player.isActive {
        withLockedState { state in
          // A player was started in the meantime, perhaps this one; its update will be reported.
          guard state.activityChangeCount == previousChangeCount else { return }
          state.activePlayers[ObjectIdentifier(player)] = nil
          state.activityChangeCount += 1
          if state.activePlayers.isEmpty {
            state.session?.updatePlayerActivity(false)
          }
        }
      }
      for _ in 0..<endCount {
        player.callCompletionHandler(nil)
      }
    }
    let finishedHandlers: [CHHapticEngine.FinishedHandler] = withLockedState { state in
      state.activePlayers.isEmpty ? exchange(&state.finishedHandlers, with: []) : []
    }
    var stopsEngine = false
    for handler in finishedHandlers where callHandler(.finished, { handler(nil) }) == .stopEngine {
      stopsEngine = true
    }
    if stopsEngine {
      stop(.notifyWhenFinished)
    }
    if withLockedState({ $0.activePlayers.isEmpty }) {
      scheduleIdleTimeout()
    }
  }
}

/// A detector of handlers that are isolated to the main actor but called on a different executor.
///
/// Code that was compiled with `-enable-actor-data-race-checks` asks the runtime to check the
/// executor, and the runtime ends the process if the check fails. A hook of the runtime records the
/// failure instead, for the duration of a call.
package enum IsolationMonitor {
  private typealias OriginalExecutorCheck = @convention(thin) (UnownedSerialExecutor) -> Void
  private typealias ExecutorCheckHook =
    @convention(thin) (UnownedSerialExecutor, OriginalExecutorCheck) -> Void

  /// The threads that are calling a handler, by their identifiers.
  ///
  /// The value indicates whether a violation was detected on the thread.
  private static let hasViolationByThread = Locked<[UInt: Bool]>([:])

  private static var currentThreadID: UInt { UInt(pthread_self()) }

  /// A Boolean value that indicates whether the runtime offers a hook for executor checks.
  ///
  /// The hook is installed on first use.
  package static let isExecutorCheckHookAvailable: Bool = {
    guard
      let hookAddress = unsafe dlsym(unsafe dlopen(nil, RTLD_LAZY), "swift_task_checkIsolated_hook")
    else { return false }
    let checkHook: ExecutorCheckHook = { executor, original in
      if !IsolationMonitor.recordViolationIfMonitored() {
        unsafe original(executor)
      }
    }
    unsafe hookAddress.assumingMemoryBound(to: ExecutorCheckHook?.self).pointee = checkHook
    return true
  }()

  /// Records that this thread is on the wrong executor.
  ///
  /// Returns true if the thread is calling a monitored handler.
  private static func recordViolationIfMonitored() -> Bool {
    hasViolationByThread.withLock { calls in
      guard calls[currentThreadID] != nil else { return false }
      calls[currentThreadID] = true
      return true
    }
  }

  /// Calls a handler, and detects a call on the wrong executor.
  ///
  /// Returns the handler's result, with a Boolean value that indicates whether it ran on the wrong
  /// executor.
  static func detectingIsolationViolation<Result>(
    _ body: () -> Result
  ) -> (result: Result, isNoticed: Bool) {
    guard isExecutorCheckHookAvailable else { return (body(), false) }
    hasViolationByThread.withLock { $0[currentThreadID] = false }
    let handlerResult = body()
    return (
      handlerResult,
      hasViolationByThread.withLock { $0.removeValue(forKey: currentThreadID) } ?? false
    )
  }
}
