internal import Foundation
internal import HapticPlayback
internal import HapticRender

/// What an engine is and does: its state, its session, its handlers.
///
/// One lock guards the state; no handler is called and no session opened or closed under it. Handlers run one after
/// another on a queue of the engine's own.
final class EngineBacking: @unchecked Sendable {
  /// Seconds without playing after which auto shutdown stops the engine.
  static let idleLimit = 120.0

  /// What can be read and changed under the lock.
  struct State {
    var stoppedHandler: CHHapticEngine.StoppedHandler = { _ in }
    var resetHandler: CHHapticEngine.ResetHandler = {}
    var playsHapticsOnly = false
    var playsAudioOnly = false
    var isMutedForAudio = false
    var isMutedForHaptics = false
    var isAutoShutdownEnabled = false
    var session: (any EngineSession)?
    /// A session whose device is away: it only waits for its return.
    var lostSession: (any EngineSession)?
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
    /// The last session in memory, for a test to look at.
    var lastVirtualSession: VirtualSession?
  }

  let backend: any EngineBackend
  let queue = DispatchQueue(label: "CoreHaptics.CHHapticEngine.handlers")
  private let lock = NSRecursiveLock()
  private let transition = NSRecursiveLock()
  private var state = State()

  init(backend: any EngineBackend) {
    self.backend = backend
    (backend as? VirtualBackend)?.adopt(queue)
  }

  /// Reads or changes the state.
  func with<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&state)
  }

  /// The last session in memory.
  var lastVirtualSession: VirtualSession? { with { $0.lastVirtualSession } }

  // MARK: Start and stop

  /// Opens the output; does nothing where the engine runs.
  func start() throws {
    // Two threads that start at once must not open two outputs.
    transition.lock()
    defer { transition.unlock() }
    let (isRunning, request) = with { ($0.session != nil, self.request(of: $0)) }
    if isRunning { return }
    let session = try backend.open(request)
    let lost = with { state in
      let lost = state.lostSession
      state.lostSession = nil
      state.session = session
      state.activity += 1
      state.lastVirtualSession = session as? VirtualSession
      session.engine.setHapticsMuted(state.isMutedForHaptics)
      session.engine.setAudioMuted(state.isMutedForAudio)
      return lost
    }
    lost?.close()
    session.engine.updateHandler = { [weak self] in
      guard let self else { return }
      queue.async { self.review() }
    }
    watchForIdleness()
  }

  func startAsynchronously(_ handler: (@Sendable ((any Error)?) -> Void)?) {
    queue.async {
      do {
        try self.start()
        handler?(nil)
      } catch {
        handler?(error)
      }
    }
  }

  func stopAsynchronously(_ handler: (@Sendable ((any Error)?) -> Void)?) {
    queue.async {
      self.stop()
      handler?(nil)
    }
  }

  /// Closes the output and ends what plays: [handler queue].
  ///
  /// - Parameters:
  ///   - reason: What the stopped handler receives, or nil where the application requested the stop.
  ///   - error: What completion handlers receive.
  private func stop(_ reason: CHHapticEngine.StoppedReason? = nil, error: (any Error)? = nil) {
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
      if reason == .systemError { state.lostSession = session }
      return result
    }
    // A lost device is waited for; its session is closed by the reset.
    if reason != .systemError { session?.close() }
    transition.unlock()
    guard session != nil else { return }
    for player in active { player.complete(error) }
    for handler in finished { _ = handler(error) }
    if let reason { stopped(reason) }
  }

  private func request(of state: State) -> SessionRequest {
    SessionRequest(
      playsHapticsOnly: state.playsHapticsOnly, playsAudioOnly: state.playsAudioOnly
    ) { [weak self] event in
      guard let self else { return }
      queue.async { self.meet(event) }
    }
  }

  /// Does what an event at the output asks for: [handler queue].
  private func meet(_ event: SessionEvent) {
    switch event {
    case .deviceDisconnected, .ended:
      stop(
        .systemError,
        error: CHHapticError(.serverInterrupted, userInfo: [:]))
    case .deviceReconnected: reset()
    }
  }

  /// Stops as the system would: [any thread].
  func interrupt(_ reason: CHHapticEngine.StoppedReason) {
    queue.async { self.stop(reason, error: CHHapticError(.serverInterrupted, userInfo: [:])) }
  }

  /// Lets players and audio resources die, and tells so: [handler queue].
  func reset() {
    stop()
    let (handler, lost) = with { state in
      state.generation += 1
      state.resources.removeAll()
      let lost = state.lostSession
      state.lostSession = nil
      return (state.resetHandler, lost)
    }
    lost?.close()
    handler()
  }

  /// The application has released the engine.
  func engineIsGone() {
    let wasPlaying = with { state in
      state.isGone = true
      return state.session != nil && !state.active.isEmpty
    }
    queue.async { self.stop(wasPlaying ? .engineDestroyed : nil) }
  }

  // MARK: Clock, mutes, idleness

  var currentTime: Double {
    with { $0.elapsed + ($0.session?.engine.seconds ?? 0) }
  }

  func setMuted(audio: Bool? = nil, haptics: Bool? = nil) {
    with { state in
      if let audio {
        state.isMutedForAudio = audio
        state.session?.engine.setAudioMuted(audio)
      }
      if let haptics {
        state.isMutedForHaptics = haptics
        state.session?.engine.setHapticsMuted(haptics)
      }
    }
  }

  func setAutoShutdown(_ isEnabled: Bool) {
    with { $0.isAutoShutdownEnabled = isEnabled }
    watchForIdleness()
  }

  /// Looks again when the engine may have been idle for long enough.
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
      queue.async {
        let isIdle = self.with {
          $0.activity == activity && $0.isAutoShutdownEnabled && $0.active.isEmpty
        }
        if isIdle { self.stop(.idleTimeout) }
      }
    }
  }

  // MARK: Players

  func makePlayer(_ pattern: CHHapticPattern) throws -> PlayerBacking {
    let player = PlayerBacking(self, pattern, generation: with { $0.generation })
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
    let (session, mayStart) = with { ($0.session, $0.isAutoShutdownEnabled && !$0.isGone) }
    if let session { return session }
    if startingIfAllowed && mayStart {
      try start()
      if let session = with({ $0.session }) { return session }
    }
    throw CHHapticError(
      .engineNotRunning,
      "the engine is not running; call start() first")
  }

  /// Counts a player among those that are waited for.
  func noteStart(of player: PlayerBacking) {
    with { state in
      state.activity += 1
      state.active[ObjectIdentifier(player)] = player
    }
  }

  func notifyWhenFinished(_ handler: @escaping CHHapticEngine.FinishedHandler) {
    with { $0.finishedHandlers.append(handler) }
    queue.async { self.review() }
  }

  /// Reports what has ended since the last look: [handler queue].
  private func review() {
    for player in with({ Array($0.active.values) }) {
      let ends = player.takeEnds()
      if !player.isActive {
        with { state in
          state.active[ObjectIdentifier(player)] = nil
          state.activity += 1
        }
      }
      for _ in 0..<ends { player.complete(nil) }
    }
    let finished: [CHHapticEngine.FinishedHandler] = with { state in
      guard state.active.isEmpty else { return [] }
      let handlers = state.finishedHandlers
      state.finishedHandlers.removeAll()
      return handlers
    }
    var stops = false
    for handler in finished where handler(nil) == .stopEngine { stops = true }
    if stops { stop(.notifyWhenFinished) }
    if with({ $0.active.isEmpty }) { watchForIdleness() }
  }
}
