internal import Foundation
internal import Glibc
internal import HapticPlayback
internal import HapticRender

/// What an engine is and does: its state, its session, its handlers. One lock guards the state; no
/// handler is called and no session opened or closed under it. Handlers run one after another on a
/// queue of the engine's own.
final class EngineBacking: @unchecked Sendable {
  /// Seconds without playing after which auto shutdown stops the engine.
  static let idleTimeout = 120.0

  struct State {
    var stoppedHandler: CHHapticEngine.StoppedHandler = { _ in }
    var resetHandler: CHHapticEngine.ResetHandler?
    var playsHapticsOnly = false
    var playsAudioOnly = false
    var isMutedForAudio = false
    var isMutedForHaptics = false
    var isAutoShutdownEnabled = false
    var session: (any EngineSession)?
    /// A session whose device is away: it only waits for its return.
    var lostSession: (any EngineSession)?
    /// Started, and not stopped by the application since: what a device of a test did to it ends
    /// with that device.
    var isStartRequested = false
    /// Seconds of sessions that have ended.
    var elapsedSeconds = 0.0
    /// Grows at every reset; players of an older generation are dead.
    var generation = 0
    /// Grows at every start of playing, so that an idle timer can tell whether it is stale.
    var activityNumber = 0
    /// The activity after which an idle timer runs, so that there is no second one.
    var watchedActivity = -1
    var finishedHandlers: [CHHapticEngine.FinishedHandler] = []
    /// Players that play, are paused, or are about to start.
    var activePlayers: [ObjectIdentifier: PlayerBacking] = [:]
    var resources: [Int: AudioResource] = [:]
    var nextResourceID = 1
    var isEngineReleased = false
    var lastVirtualSession: VirtualSession?
  }

  /// Where an engine plays, and its number there where that is a virtual device.
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

  /// Does something on the handler queue; what is made there belongs to the engine's device.
  func enqueue(_ body: @escaping @Sendable () -> Void) {
    guard let virtual else { return handlerQueue.async(execute: body) }
    virtual.recordWork(on: handlerQueue)
    handlerQueue.async { EngineBackends.$scoped.withValue(virtual, operation: body) }
  }

  /// The virtual device's time at which a call takes effect, in seconds.
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

  /// Leaves the device of a test that has ended, for the one that is in place now; throws
  /// `operationNotPermitted` to a test that runs beside others and would share the engine with
  /// another test.
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

  private static let isolationRemedy = "give both tests, or their suites, .virtualHaptics(.alone)"

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

  /// Opens the output; does nothing where the engine runs.
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
      // Nothing sounds yet, so that these hold from the first frame.
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
    // Here the task of the caller says which test it is.
    do {
      try claimDevice()
    } catch {
      handlerQueue.async { handler?(error) }
      return
    }
    enqueue {
      // A start that takes its time keeps nobody waiting here.
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

  /// Closes the output and ends what plays: [handler queue]. The stopped handler receives the
  /// reason, nil where the application requested the stop, completion handlers the error; a reset
  /// is the device's doing, without a reason.
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
    // A lost device is waited for; its session is closed by the reset.
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
    return SessionRequest(buses: isAll ? .all : state.playsHapticsOnly ? .haptics : .audio) {
      [weak self] isPresent in
      guard let self else { return }
      if isPresent {
        requestReset()
      } else {
        interrupt(.systemError)
      }
    }
  }

  /// Stops as the system would: [any thread].
  func interrupt(_ reason: CHHapticEngine.StoppedReason) {
    enqueue { self.stop(reason, error: CHHapticError(.serverInterrupted, userInfo: [:])) }
  }

  /// Resets as the system would: [any thread].
  func requestReset() { enqueue { self.reset() } }

  /// Lets players and audio resources die, and calls the reset handler: [handler queue].
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
    // A pattern that cannot be played is reported now and not at its start.
    try player.validate()
    return player
  }

  func playOnce(_ pattern: CHHapticPattern) throws {
    let player = try makePlayer(pattern)
    try start()
    try player.start(at: 0)
  }

  /// The session a player may use, which auto shutdown starts where there is none.
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

  /// Reports what has ended since the last look: [handler queue].
  private func reportEnds() {
    for player in withState({ Array($0.activePlayers.values) }) {
      let seen = withState { $0.activityNumber }
      let ends = player.drainEndCount()
      if !player.isActive {
        withState { state in
          // A player was started meanwhile, perhaps this one; there will be another look.
          guard state.activityNumber == seen else { return }
          state.activePlayers[ObjectIdentifier(player)] = nil
          state.activityNumber += 1
          if state.activePlayers.isEmpty {
            state.session?.updateActivity(false)
          }
        }
      }
      for _ in 0..<ends {
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

/// Notices handlers that belong to the main actor and are called off it. Code that was compiled
/// with
/// `-enable-actor-data-race-checks` asks the runtime where it runs, and the runtime ends the
/// process where that is wrong. Its hook makes a report of it, for the time of a call.
package enum IsolationMonitor {
  private typealias Original = @convention(thin) (UnownedSerialExecutor) -> Void
  private typealias Hook = @convention(thin) (UnownedSerialExecutor, Original) -> Void

  /// Threads that call a handler, and whether it has been noticed.
  private static let violationsByThread = Locked<[UInt: Bool]>([:])

  private static var currentThread: UInt { UInt(pthread_self()) }

  /// Whether the runtime has the hook; looked for once, and in place from then on.
  package static let isAvailable: Bool = {
    guard let place = unsafe dlsym(unsafe dlopen(nil, RTLD_LAZY), "swift_task_checkIsolated_hook")
    else { return false }
    let hook: Hook = { executor, original in
      if !IsolationMonitor.recordViolation() {
        unsafe original(executor)
      }
    }
    unsafe place.assumingMemoryBound(to: Hook?.self).pointee = hook
    return true
  }()

  /// Notes that this thread is on the wrong executor; returns whether it calls a handler that is
  /// watched.
  private static func recordViolation() -> Bool {
    violationsByThread.withLock { calls in
      guard calls[currentThread] != nil else { return false }
      calls[currentThread] = true
      return true
    }
  }

  /// Calls a handler; returns whether it found itself on the wrong executor.
  static func detectingViolation<Result>(_ body: () -> Result) -> (result: Result, isNoticed: Bool)
  {
    guard isAvailable else { return (body(), false) }
    violationsByThread.withLock { $0[currentThread] = false }
    let result = body()
    return (result, violationsByThread.withLock { $0.removeValue(forKey: currentThread) } ?? false)
  }
}
