internal import Foundation
internal import Glibc
internal import HapticPlayback
internal import HapticRender

/// The state and behavior of an engine: its session, players, resources, and handlers.
///
/// One lock guards the state. No handler is called, and no session is opened or closed, while the
/// lock is held. Handlers run in series on a queue of the engine.
final class EngineBacking: @unchecked Sendable {
  /// The idle time after which auto shutdown stops the engine, in seconds.
  static let idleTimeout = 120.0

  /// The state of an engine, guarded by its lock.
  struct State {
    var stoppedHandler: CHHapticEngine.StoppedHandler = { _ in }
    var resetHandler: CHHapticEngine.ResetHandler?
    var playsHapticsOnly = false
    var playsAudioOnly = false
    var isMutedForAudio = false
    var isMutedForHaptics = false
    var isAutoShutdownEnabled = false
    var session: (any EngineSession)?
    /// A session whose device was lost, and which waits for its return.
    var lostSession: (any EngineSession)?
    /// A Boolean value that indicates whether the application has started the engine and not
    /// stopped it since. Interruptions by a test's device do not change it.
    var isStartRequested = false
    /// The total duration of past sessions, in seconds.
    var elapsedSeconds = 0.0
    /// The number of resets. Players of an earlier generation are invalid.
    var generation = 0
    /// A number that increases with every start of a player, so that an idle timer can detect that
    /// it is obsolete.
    var activityNumber = 0
    /// The activity number for which an idle timer is running, so that there is only one.
    var watchedActivity = -1
    var finishedHandlers: [CHHapticEngine.FinishedHandler] = []
    /// The players that play, are paused, or are about to start.
    var activePlayers: [ObjectIdentifier: PlayerBacking] = [:]
    var resources: [Int: AudioResource] = [:]
    var nextResourceID = 1
    var isEngineReleased = false
    var lastVirtualSession: VirtualSession?
  }

  /// The backend of an engine, and the engine's number if the backend is a virtual device.
  private struct Registration: Sendable {
    var backend: any EngineBackend
    var number = 0
  }

  private let registration: Locked<Registration>
  let handlerQueue = DispatchQueue(label: "CoreHaptics.CHHapticEngine.handlers")
  private let lock = NSRecursiveLock()
  private let transitionLock = NSRecursiveLock()
  private var state = State()

  init(backend: any EngineBackend) {
    registration = Locked(Registration(backend: backend))
    register(with: backend)
  }

  deinit { virtual?.unregister(number) }

  private func register(with backend: any EngineBackend) {
    let number = (backend as? VirtualBackend)?.register(self) ?? 0
    registration.withLock { $0 = Registration(backend: backend, number: number) }
  }

  func withState<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&state) }
  }

  var backend: any EngineBackend { registration.withLock { $0.backend } }

  var number: Int { registration.withLock { $0.number } }

  var virtual: VirtualBackend? { backend as? VirtualBackend }

  func log(_ action: HapticLogEntry.Action, player: Int? = nil) {
    let home = registration.withLock { $0 }
    (home.backend as? VirtualBackend)?.append(action, engine: home.number, player: player)
  }

  /// Runs a closure on the handler queue. Engines that it creates belong to the engine's device.
  func enqueue(_ body: @escaping @Sendable () -> Void) {
    guard let virtual else { return handlerQueue.async(execute: body) }
    virtual.recordWork(on: handlerQueue)
    handlerQueue.async { EngineBackends.$scoped.withValue(virtual, operation: body) }
  }

  /// Returns the virtual device's time at which a call takes effect, in seconds.
  func deviceTime(of time: PlaybackTime) -> Double {
    (withState { $0.session } as? VirtualSession)?.deviceTime(of: time) ?? virtual?.now ?? 0
  }

  /// Calls a handler of the application: [handler queue].
  func call<Result>(_ handler: HapticLogEntry.Handler, _ body: () -> Result) -> Result {
    log(.handlerCalled(handler))
    guard virtual?.faults.detectsIsolationViolations == true else { return body() }
    let (result, isNoticed) = IsolationMonitor.detectingViolation(body)
    if isNoticed {
      log(.violation(.handlerOffMainActor(handler)))
    }
    return result
  }

  /// Moves the engine from the device of a test that has ended to the current device. Throws
  /// `operationNotPermitted` if several tests run and would share the engine.
  private func claimDevice() throws {
    guard let virtual, let owner = virtual.test else { return moveFromEndedDevice() }
    let scoped = EngineBackends.scoped
    if let scoped, scoped !== virtual, let test = scoped.test, !virtual.hasEnded || !test.runsAlone
    {
      scoped.recordForeignEngine(of: owner.name)
      throw CHHapticError(
        .operationNotPermitted,
        "the engine belongs to the test \(owner.name); \(Self.isolationRemedy)")
    }
    moveFromEndedDevice()
  }

  private static let isolationRemedy = "add .virtualHaptics(.alone) to both tests or their suites"

  private func moveFromEndedDevice() {
    guard virtual?.hasEnded == true else { return }
    let ended = withState { state in
      state.elapsedSeconds += state.session?.engine.seconds ?? 0
      state.activePlayers.removeAll()
      return exchange(&state.session, with: nil)
    }
    ended?.close()
    register(with: EngineBackends.current)
  }

  /// Opens the output, unless the engine is running.
  func start() throws {
    // Two threads that start at once must not open two outputs.
    transitionLock.lock()
    defer { transitionLock.unlock() }
    try claimDevice()
    let (isRunning, request) = withState { ($0.session != nil, self.sessionRequest(for: $0)) }
    if isRunning { return }
    let delay = virtual?.popStartDelay() ?? 0
    if delay > 0 {
      virtual?.advanceBlocked(seconds: delay)
    }
    let session: any EngineSession
    do {
      session = try backend.open(request)
    } catch {
      log(.engineStartFailed((error as? CHHapticError)?.code ?? .unknownError))
      throw error
    }
    log(.engineStarted)
    let (lost, hasResetHandler) = withState { state in
      let lost = exchange(&state.lostSession, with: nil)
      state.session = session
      state.isStartRequested = true
      state.activityNumber += 1
      state.lastVirtualSession = session as? VirtualSession
      // Nothing sounds yet, so these settings apply from the first frame.
      if state.isMutedForHaptics {
        session.engine.setHapticsMuted(true)
      }
      if state.isMutedForAudio {
        session.engine.setAudioMuted(true)
      }
      return (lost, state.resetHandler != nil)
    }
    if !hasResetHandler {
      log(.violation(.noResetHandler))
    }
    lost?.close()
    session.engine.updateHandler = { [weak self] in
      guard let self else { return }
      enqueue { self.reportEnds() }
    }
    scheduleIdleTimeout()
  }

  func startAsynchronously(_ handler: (@Sendable ((any Error)?) -> Void)?) {
    // The caller's task identifies the test.
    do {
      try claimDevice()
    } catch {
      handlerQueue.async { handler?(error) }
      return
    }
    enqueue {
      // A delayed start must not block this queue.
      if let virtual = self.virtual, self.withState({ $0.session == nil }) {
        let delay = virtual.popStartDelay()
        guard delay == 0 else {
          return virtual.schedule(after: delay) { self.startAsynchronously(handler) }
        }
      }
      do {
        try self.start()
        if let handler {
          self.call(.start) { handler(nil) }
        }
      } catch {
        if let handler {
          self.call(.start) { handler(error) }
        }
      }
    }
  }

  func stopAsynchronously(_ handler: (@Sendable ((any Error)?) -> Void)?) {
    enqueue {
      self.stop()
      if let handler {
        self.call(.stop) { handler(nil) }
      }
    }
  }

  /// Closes the output and ends all players: [handler queue].
  ///
  /// - Parameters:
  ///   - reason: The reason for the stopped handler; nil if the application requested the stop, or
  ///     for a reset.
  ///   - error: The error for completion handlers.
  ///   - isReset: A Boolean value that indicates whether the stop is part of a reset.
  private func stop(
    _ reason: CHHapticEngine.StoppedReason? = nil, error: (any Error)? = nil, isReset: Bool = false
  ) {
    transitionLock.lock()
    let (session, active, finished, stopped) = withState { state in
      let session = state.session
      let result = (
        session, Array(state.activePlayers.values), state.finishedHandlers, state.stoppedHandler
      )
      state.elapsedSeconds += session?.engine.seconds ?? 0
      state.session = nil
      state.activePlayers.removeAll()
      state.finishedHandlers.removeAll()
      if reason == .systemError {
        state.lostSession = session
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
      (session as? VirtualSession)?.endRecord()
    }
    transitionLock.unlock()
    guard session != nil else { return }
    log(.engineStopped(reason))
    for player in active {
      player.callCompletionHandler(error)
    }
    for handler in finished {
      _ = call(.finished) { handler(error) }
    }
    if let reason {
      call(.stopped) { stopped(reason) }
    }
  }

  private func sessionRequest(for state: State) -> SessionRequest {
    let isAll = state.playsHapticsOnly == state.playsAudioOnly
    let singleBus = state.playsHapticsOnly ? RenderSettings.AudibleBuses.haptics : .audio
    return SessionRequest(buses: isAll ? .all : singleBus) { [weak self] isPresent in
      guard let self else { return }
      if isPresent {
        requestReset()
      } else {
        interrupt(.systemError)
      }
    }
  }

  /// Stops the engine as the system would: [any thread].
  func interrupt(_ reason: CHHapticEngine.StoppedReason) {
    enqueue { self.stop(reason, error: CHHapticError(.serverInterrupted, userInfo: [:])) }
  }

  /// Resets the engine as the system would: [any thread].
  func requestReset() { enqueue { self.reset() } }

  /// Invalidates players and audio resources, and calls the reset handler: [handler queue].
  private func reset() {
    stop(isReset: true)
    let (handler, lost) = withState { state in
      state.generation += 1
      state.resources.removeAll()
      return (state.resetHandler, exchange(&state.lostSession, with: nil))
    }
    lost?.close()
    log(.engineReset)
    call(.reset) { handler?() }
  }

  func engineWasReleased() {
    let wasPlaying = withState { state in
      state.isEngineReleased = true
      return state.session != nil && !state.activePlayers.isEmpty
    }
    if wasPlaying {
      log(.violation(.engineReleased))
    }
    enqueue { self.stop(wasPlaying ? .engineDestroyed : nil) }
  }

  var currentTime: Double { withState { $0.elapsedSeconds + ($0.session?.engine.seconds ?? 0) } }

  func setMuted(audio: Bool? = nil, haptics: Bool? = nil) {
    withState { state in
      if let audio {
        state.isMutedForAudio = audio
        state.session?.engine.setAudioMuted(audio)
        log(.audioMuted(audio))
      }
      if let haptics {
        state.isMutedForHaptics = haptics
        state.session?.engine.setHapticsMuted(haptics)
        log(.hapticsMuted(haptics))
      }
    }
  }

  func setAutoShutdown(_ isEnabled: Bool) {
    withState { $0.isAutoShutdownEnabled = isEnabled }
    scheduleIdleTimeout()
  }

  private func scheduleIdleTimeout() {
    let activity: Int? = withState { state in
      guard state.isAutoShutdownEnabled, state.session != nil, state.activePlayers.isEmpty,
        state.watchedActivity != state.activityNumber
      else { return nil }
      state.watchedActivity = state.activityNumber
      return state.activityNumber
    }
    guard let activity else { return }
    backend.schedule(after: Self.idleTimeout) { [weak self] in
      guard let self else { return }
      enqueue {
        let isIdle = self.withState {
          $0.activityNumber == activity && $0.isAutoShutdownEnabled && $0.activePlayers.isEmpty
        }
        if isIdle {
          self.stop(.idleTimeout)
        }
      }
    }
  }

  func makePlayer(_ pattern: CHHapticPattern) throws -> PlayerBacking {
    if virtual?.hasEnded == false {
      try claimDevice()
    }
    let player = try PlayerBacking(self, pattern, generation: withState { $0.generation })
    // A pattern that cannot be played is reported now instead of at its start.
    try player.validate()
    return player
  }

  func playOnce(_ pattern: CHHapticPattern) throws {
    let player = try makePlayer(pattern)
    try start()
    try player.start(at: 0)
  }

  /// Returns the session for a player. Auto shutdown starts one if necessary.
  func runningSession(startingIfAllowed: Bool) throws -> any EngineSession {
    if virtual?.hasEnded == true, withState({ $0.isStartRequested }) {
      try start()
    } else {
      try claimDevice()
    }
    let (session, mayStart) = withState {
      ($0.session, $0.isAutoShutdownEnabled && !$0.isEngineReleased)
    }
    if let session { return session }
    if startingIfAllowed && mayStart {
      try start()
      if let session = withState({ $0.session }) { return session }
    }
    throw CHHapticError(.engineNotRunning, "the engine is not running; call start() first")
  }

  func playerWillStart(_ player: PlayerBacking) {
    withState { state in
      state.activityNumber += 1
      state.activePlayers[ObjectIdentifier(player)] = player
      state.session?.updateActivity(true)
    }
  }

  func notifyWhenFinished(_ handler: @escaping CHHapticEngine.FinishedHandler) {
    withState { $0.finishedHandlers.append(handler) }
    enqueue { self.reportEnds() }
  }

  /// Reports the players that have ended since the last call: [handler queue].
  private func reportEnds() {
    for player in withState({ Array($0.activePlayers.values) }) {
      let previousActivity = withState { $0.activityNumber }
      let endCount = player.drainEndCount()
      if !player.isActive {
        withState { state in
          // A player was started in the meantime, perhaps this one; its update will be reported.
          guard state.activityNumber == previousActivity else { return }
          state.activePlayers[ObjectIdentifier(player)] = nil
          state.activityNumber += 1
          if state.activePlayers.isEmpty {
            state.session?.updateActivity(false)
          }
        }
      }
      for _ in 0..<endCount {
        player.callCompletionHandler(nil)
      }
    }
    let finished: [CHHapticEngine.FinishedHandler] = withState { state in
      state.activePlayers.isEmpty ? exchange(&state.finishedHandlers, with: []) : []
    }
    var stops = false
    for handler in finished where call(.finished, { handler(nil) }) == .stopEngine {
      stops = true
    }
    if stops {
      stop(.notifyWhenFinished)
    }
    if withState({ $0.activePlayers.isEmpty }) {
      scheduleIdleTimeout()
    }
  }
}

/// Detects handlers that belong to the main actor and are called on another executor.
///
/// Code that was compiled with `-enable-actor-data-race-checks` asks the runtime to check the
/// executor, and the runtime ends the process if the check fails. A hook of the runtime records the
/// failure instead, for the duration of a call.
package enum IsolationMonitor {
  private typealias Original = @convention(thin) (UnownedSerialExecutor) -> Void
  private typealias Hook = @convention(thin) (UnownedSerialExecutor, Original) -> Void

  /// The threads that are calling a handler, and whether a violation was detected.
  private static let violationsByThread = Locked<[UInt: Bool]>([:])

  private static var currentThread: UInt { UInt(pthread_self()) }

  /// A Boolean value that indicates whether the runtime has the hook. The hook is installed on
  /// first use.
  package static let isAvailable: Bool = {
    guard let address = unsafe dlsym(unsafe dlopen(nil, RTLD_LAZY), "swift_task_checkIsolated_hook")
    else { return false }
    let hook: Hook = { executor, original in
      if !IsolationMonitor.recordViolation() {
        unsafe original(executor)
      }
    }
    unsafe address.assumingMemoryBound(to: Hook?.self).pointee = hook
    return true
  }()

  /// Records that this thread is on the wrong executor, and returns whether it is calling a
  /// monitored handler.
  private static func recordViolation() -> Bool {
    violationsByThread.withLock { calls in
      guard calls[currentThread] != nil else { return false }
      calls[currentThread] = true
      return true
    }
  }

  /// Calls a handler, and returns whether it ran on the wrong executor.
  static func detectingViolation<Result>(_ body: () -> Result) -> (result: Result, isNoticed: Bool)
  {
    guard isAvailable else { return (body(), false) }
    violationsByThread.withLock { $0[currentThread] = false }
    let result = body()
    return (result, violationsByThread.withLock { $0.removeValue(forKey: currentThread) } ?? false)
  }
}
