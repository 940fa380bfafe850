internal import Foundation
internal import Glibc
internal import HapticPlayback
internal import HapticRender

/// What an engine is and does: its state, its session, its handlers. One lock guards the state; no
/// handler is called and no session opened or closed under it. Handlers run one after another on a
/// queue of the engine's own.
final class EngineBacking: @unchecked Sendable {
  /// Seconds without playing after which auto shutdown stops the engine.
  static let idleLimit = 120.0

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
    var isWanted = false
    /// Seconds of sessions that have ended.
    var elapsed = 0.0
    /// Grows at every reset; players of an older generation are dead.
    var generation = 0
    /// Grows at every start of playing, so that an idle timer can tell whether it is stale.
    var activity = 0
    /// The activity after which an idle timer runs, so that there is no second one.
    var watchedActivity = -1
    var finishedHandlers: [CHHapticEngine.FinishedHandler] = []
    /// Players that play, are paused, or are about to start.
    var active: [ObjectIdentifier: PlayerBacking] = [:]
    var resources: [Int: AudioResource] = [:]
    var nextResource = 1
    var isGone = false
    var lastVirtualSession: VirtualSession?
  }

  /// Where an engine plays, and its number there where that is a virtual device.
  private struct Home: Sendable {
    var backend: any EngineBackend
    var number = 0
  }

  private let home: Locked<Home>
  let queue = DispatchQueue(label: "CoreHaptics.CHHapticEngine.handlers")
  private let lock = NSRecursiveLock()
  private let transition = NSRecursiveLock()
  private var state = State()

  init(backend: any EngineBackend) {
    home = Locked(Home(backend: backend))
    adopt(backend)
  }

  deinit { virtual?.leave(number) }

  private func adopt(_ backend: any EngineBackend) {
    let number = (backend as? VirtualBackend)?.adopt(self) ?? 0
    home.withLock { $0 = Home(backend: backend, number: number) }
  }

  func with<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try lock.withLock { try body(&state) }
  }

  var backend: any EngineBackend { home.withLock { $0.backend } }

  var number: Int { home.withLock { $0.number } }

  var virtual: VirtualBackend? { backend as? VirtualBackend }

  func note(_ action: EngineNote.Action, player: Int? = nil) {
    let home = home.withLock { $0 }
    (home.backend as? VirtualBackend)?.note(action, engine: home.number, player: player)
  }

  /// Does something on the handler queue; what is made there belongs to the engine's device.
  func enqueue(_ body: @escaping @Sendable () -> Void) {
    guard let virtual else { return queue.async(execute: body) }
    virtual.noteWork(on: queue)
    queue.async { EngineBackends.$scoped.withValue(virtual, operation: body) }
  }

  /// The virtual device's time at which a call takes effect, in seconds.
  func deviceTime(of time: PlaybackTime) -> Double {
    (with { $0.session } as? VirtualSession)?.deviceTime(of: time) ?? virtual?.now ?? 0
  }

  /// Calls a handler of the application: [handler queue].
  func call<Result>(_ handler: EngineNote.Handler, _ body: () -> Result) -> Result {
    note(.handlerCalled(handler))
    guard virtual?.faults.watchesIsolation == true else { return body() }
    let (result, isNoticed) = IsolationWatch.notices(body)
    if isNoticed {
      note(.breach(.handlerOffMainActor(handler)))
    }
    return result
  }

  /// Leaves the device of a test that has ended, for the one that is in place now; throws
  /// `operationNotPermitted` to a test that runs beside others and would share the engine with
  /// another test.
  private func takePlace() throws {
    guard let virtual, let owner = virtual.test else { return moveIfEnded() }
    let scoped = EngineBackends.scoped
    if let scoped, scoped !== virtual, let test = scoped.test, !virtual.hasEnded || !test.isAlone {
      scoped.noteForeignEngine(of: owner.name)
      throw CHHapticError(
        .operationNotPermitted, "the engine belongs to the test \(owner.name); \(Self.remedy)")
    }
    moveIfEnded()
  }

  private static let remedy = "give both tests, or their suites, .virtualHaptics(.alone)"

  private func moveIfEnded() {
    guard virtual?.hasEnded == true else { return }
    let ended = with { state in
      state.elapsed += state.session?.engine.seconds ?? 0
      state.active.removeAll()
      return exchange(&state.session, with: nil)
    }
    ended?.close()
    adopt(EngineBackends.current)
  }

  /// Opens the output; does nothing where the engine runs.
  func start() throws {
    // Two threads that start at once must not open two outputs.
    transition.lock()
    defer { transition.unlock() }
    try takePlace()
    let (isRunning, request) = with { ($0.session != nil, self.request(of: $0)) }
    if isRunning { return }
    let delay = virtual?.takeStartDelay() ?? 0
    if delay > 0 {
      virtual?.pass(seconds: delay)
    }
    let session: any EngineSession
    do {
      session = try backend.open(request)
    } catch {
      note(.engineStartFailed((error as? CHHapticError)?.code ?? .unknownError))
      throw error
    }
    note(.engineStarted)
    let (lost, hasResetHandler) = with { state in
      let lost = exchange(&state.lostSession, with: nil)
      state.session = session
      state.isWanted = true
      state.activity += 1
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
      note(.breach(.noResetHandler))
    }
    lost?.close()
    session.engine.updateHandler = { [weak self] in
      guard let self else { return }
      enqueue { self.review() }
    }
    watchForIdleness()
  }

  func startAsynchronously(_ handler: (@Sendable ((any Error)?) -> Void)?) {
    // Here the task of the caller says which test it is.
    do {
      try takePlace()
    } catch {
      queue.async { handler?(error) }
      return
    }
    enqueue {
      // A start that takes its time keeps nobody waiting here.
      if let virtual = self.virtual, self.with({ $0.session == nil }) {
        let delay = virtual.takeStartDelay()
        guard delay == 0 else { return virtual.after(delay) { self.startAsynchronously(handler) } }
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
    transition.lock()
    let (session, active, finished, stopped) = with { state in
      let session = state.session
      let result = (
        session, Array(state.active.values), state.finishedHandlers, state.stoppedHandler
      )
      state.elapsed += session?.engine.seconds ?? 0
      state.session = nil
      state.active.removeAll()
      state.finishedHandlers.removeAll()
      if reason == .systemError {
        state.lostSession = session
      }
      if !isReset, reason == nil || reason == .engineDestroyed {
        state.isWanted = false
      }
      return result
    }
    // A lost device is waited for; its session is closed by the reset.
    if reason != .systemError {
      session?.close()
    } else {
      (session as? VirtualSession)?.endRecord()
    }
    transition.unlock()
    guard session != nil else { return }
    note(.engineStopped(reason))
    for player in active {
      player.complete(error)
    }
    for handler in finished {
      _ = call(.finished) { handler(error) }
    }
    if let reason {
      call(.stopped) { stopped(reason) }
    }
  }

  private func request(of state: State) -> SessionRequest {
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
    let (handler, lost) = with { state in
      state.generation += 1
      state.resources.removeAll()
      return (state.resetHandler, exchange(&state.lostSession, with: nil))
    }
    lost?.close()
    note(.engineReset)
    call(.reset) { handler?() }
  }

  func engineIsGone() {
    let wasPlaying = with { state in
      state.isGone = true
      return state.session != nil && !state.active.isEmpty
    }
    if wasPlaying {
      note(.breach(.engineReleased))
    }
    enqueue { self.stop(wasPlaying ? .engineDestroyed : nil) }
  }

  var currentTime: Double { with { $0.elapsed + ($0.session?.engine.seconds ?? 0) } }

  func setMuted(audio: Bool? = nil, haptics: Bool? = nil) {
    with { state in
      if let audio {
        state.isMutedForAudio = audio
        state.session?.engine.setAudioMuted(audio)
        note(.audioMuted(audio))
      }
      if let haptics {
        state.isMutedForHaptics = haptics
        state.session?.engine.setHapticsMuted(haptics)
        note(.hapticsMuted(haptics))
      }
    }
  }

  func setAutoShutdown(_ isEnabled: Bool) {
    with { $0.isAutoShutdownEnabled = isEnabled }
    watchForIdleness()
  }

  private func watchForIdleness() {
    let activity: Int? = with { state in
      guard state.isAutoShutdownEnabled, state.session != nil, state.active.isEmpty,
        state.watchedActivity != state.activity
      else { return nil }
      state.watchedActivity = state.activity
      return state.activity
    }
    guard let activity else { return }
    backend.after(Self.idleLimit) { [weak self] in
      guard let self else { return }
      enqueue {
        let isIdle = self.with {
          $0.activity == activity && $0.isAutoShutdownEnabled && $0.active.isEmpty
        }
        if isIdle {
          self.stop(.idleTimeout)
        }
      }
    }
  }

  func makePlayer(_ pattern: CHHapticPattern) throws -> PlayerBacking {
    if virtual?.hasEnded == false {
      try takePlace()
    }
    let player = try PlayerBacking(self, pattern, generation: with { $0.generation })
    // A pattern that cannot be played is reported now and not at its start.
    try player.prepare()
    return player
  }

  func playOnce(_ pattern: CHHapticPattern) throws {
    let player = try makePlayer(pattern)
    try start()
    try player.start(at: 0)
  }

  /// The session a player may use, which auto shutdown starts where there is none.
  func runningSession(startingIfAllowed: Bool) throws -> any EngineSession {
    if virtual?.hasEnded == true, with({ $0.isWanted }) {
      try start()
    } else {
      try takePlace()
    }
    let (session, mayStart) = with { ($0.session, $0.isAutoShutdownEnabled && !$0.isGone) }
    if let session { return session }
    if startingIfAllowed && mayStart {
      try start()
      if let session = with({ $0.session }) { return session }
    }
    throw CHHapticError(.engineNotRunning, "the engine is not running; call start() first")
  }

  func noteStart(of player: PlayerBacking) {
    with { state in
      state.activity += 1
      state.active[ObjectIdentifier(player)] = player
      state.session?.noteActivity(true)
    }
  }

  func notifyWhenFinished(_ handler: @escaping CHHapticEngine.FinishedHandler) {
    with { $0.finishedHandlers.append(handler) }
    enqueue { self.review() }
  }

  /// Reports what has ended since the last look: [handler queue].
  private func review() {
    for player in with({ Array($0.active.values) }) {
      let seen = with { $0.activity }
      let ends = player.takeEnds()
      if !player.isActive {
        with { state in
          // A player was started meanwhile, perhaps this one; there will be another look.
          guard state.activity == seen else { return }
          state.active[ObjectIdentifier(player)] = nil
          state.activity += 1
          if state.active.isEmpty {
            state.session?.noteActivity(false)
          }
        }
      }
      for _ in 0..<ends {
        player.complete(nil)
      }
    }
    let finished: [CHHapticEngine.FinishedHandler] = with { state in
      state.active.isEmpty ? exchange(&state.finishedHandlers, with: []) : []
    }
    var stops = false
    for handler in finished where call(.finished, { handler(nil) }) == .stopEngine {
      stops = true
    }
    if stops {
      stop(.notifyWhenFinished)
    }
    if with({ $0.active.isEmpty }) {
      watchForIdleness()
    }
  }
}

/// Notices handlers that belong to the main actor and are called off it. Code that was compiled
/// with
/// `-enable-actor-data-race-checks` asks the runtime where it runs, and the runtime ends the
/// process where that is wrong. Its hook makes a report of it, for the time of a call.
package enum IsolationWatch {
  private typealias Original = @convention(thin) (UnownedSerialExecutor) -> Void
  private typealias Hook = @convention(thin) (UnownedSerialExecutor, Original) -> Void

  /// Threads that call a handler, and whether it has been noticed.
  private static let calls = Locked<[UInt: Bool]>([:])

  private static var thread: UInt { UInt(pthread_self()) }

  /// Whether the runtime has the hook; looked for once, and in place from then on.
  package static let isAvailable: Bool = {
    guard let place = unsafe dlsym(unsafe dlopen(nil, RTLD_LAZY), "swift_task_checkIsolated_hook")
    else { return false }
    let hook: Hook = { executor, original in
      if !IsolationWatch.noteMistake() {
        unsafe original(executor)
      }
    }
    unsafe place.assumingMemoryBound(to: Hook?.self).pointee = hook
    return true
  }()

  /// Notes that this thread is on the wrong executor; returns whether it calls a handler that is
  /// watched.
  private static func noteMistake() -> Bool {
    calls.withLock { calls in
      guard calls[thread] != nil else { return false }
      calls[thread] = true
      return true
    }
  }

  /// Calls a handler; returns whether it found itself on the wrong executor.
  static func notices<Result>(_ body: () -> Result) -> (result: Result, isNoticed: Bool) {
    guard isAvailable else { return (body(), false) }
    calls.withLock { $0[thread] = false }
    let result = body()
    return (result, calls.withLock { $0.removeValue(forKey: thread) } ?? false)
  }
}
