internal import Foundation
internal import HapticModel
internal import HapticPlayback
internal import HapticRender

/// What a player is and does, behind the object the application holds.
///
/// It belongs to its engine's sessions: each new one gets its own player with the settings of this.
final class PlayerBacking: @unchecked Sendable {
  /// What was set, and holds in every session.
  struct Settings {
    var isMuted = false
    var isLooping = false
    /// Seconds, or nothing for the pattern's own end.
    var loopEnd: Double?
    var rate: Float = 1
  }

  let pattern: CHHapticPattern
  private let engine: EngineBacking
  private let generation: Int
  private let lock = NSRecursiveLock()
  private var storedSettings = Settings()
  private var storedHandler: CHHapticAdvancedPatternPlayerCompletionHandler = { _ in }
  private var session: (any EngineSession)?
  private var player: PatternPlayer?
  private var toldEndCount = 0

  init(_ engine: EngineBacking, _ pattern: CHHapticPattern, generation: Int) {
    self.engine = engine
    self.pattern = pattern
    self.generation = generation
  }

  // MARK: State

  var settings: Settings { locked { storedSettings } }

  /// Changes settings, at once where the player is in a session.
  func change(_ body: (inout Settings) -> Void) {
    locked {
      let before = storedSettings
      body(&storedSettings)
      guard let player else { return }
      // No space for a command means that the next start applies it.
      try? apply(to: player, before: before)
    }
  }

  var completionHandler: CHHapticAdvancedPatternPlayerCompletionHandler {
    get { locked { storedHandler } }
    set { locked { storedHandler = newValue } }
  }

  /// The application has released the player.
  func objectIsGone() {
    locked {
      // Nobody could end a loop any more, so the running pass is the last.
      if storedSettings.isLooping { try? player?.loop(passCount: 1) }
    }
  }

  /// Whether it plays, is paused, or is about to start.
  var isActive: Bool {
    locked {
      guard let player else { return false }
      return player.isWaitingToStart || player.phase != .idle
    }
  }

  /// How often it has ended since this was last asked.
  func takeEnds() -> Int {
    locked {
      guard let player else { return 0 }
      let count = player.endCount - toldEndCount
      toldEndCount = player.endCount
      return count
    }
  }

  /// Notifies the application that the player has ended: [handler queue].
  func complete(_ error: (any Error)?) { completionHandler(error) }

  // MARK: Transport

  /// Compiles the pattern for the output that is there, so that errors are reported.
  func prepare() throws {
    _ = try pattern.samples(at: 48_000, resources: engine.with { $0.resources })
  }

  func start(at time: TimeInterval) throws {
    let player = try live(startingIfAllowed: true)
    engine.noteStart(of: self)
    try command { try player.start(at: moment(time)) }
  }

  func stop(at time: TimeInterval) throws {
    let player = try live()
    try command { try player.stop(at: moment(time)) }
  }

  func pause(at time: TimeInterval) throws {
    let player = try live()
    try command { try player.pause(at: moment(time)) }
  }

  func resume(at time: TimeInterval) throws {
    let player = try live()
    try command { try player.resume(at: moment(time)) }
  }

  func cancel() throws {
    let player = try live()
    try command { try player.cancel() }
  }

  func seek(to offset: TimeInterval) throws {
    guard offset.isFinite else { throw CHHapticError(.invalidTime, userInfo: [:]) }
    let player = try live(startingIfAllowed: true)
    try command { try player.seek(to: max(0, offset)) }
  }

  func send(_ parameters: [CHHapticDynamicParameter], at time: TimeInterval) throws {
    let player = try live()
    let base = max(time, engine.currentTime)
    for parameter in parameters {
      let id = try DynamicParameterID(parameter.parameterID)
      // Attack, decay and release act on events to come, which are planned already.
      guard id.isLive else { continue }
      let isNow = time <= engine.currentTime && parameter.relativeTime <= 0
      try command {
        try player.set(
          id, to: parameter.value,
          at: isNow ? .now : moment(base + max(0, parameter.relativeTime)))
      }
    }
  }

  func schedule(_ curve: CHHapticParameterCurve, at time: TimeInterval) throws {
    let player = try live()
    let id = try DynamicParameterID(curve.parameterID)
    guard id.isLive else { return }
    let points = curve.controlPoints.map {
      ParameterCurve.ControlPoint(time: $0.relativeTime, value: $0.value)
    }
    try command {
      try player.schedule(
        ParameterCurve(id: id, time: 0, controlPoints: points), at: moment(time))
    }
  }

  // MARK: -

  /// The player in the running session, made where there is none.
  private func live(startingIfAllowed: Bool = false) throws -> PatternPlayer {
    guard engine.with({ $0.generation }) == generation else {
      throw CHHapticError(
        .invalidPatternPlayer,
        "the engine was reset; create a new player")
    }
    let session = try engine.runningSession(startingIfAllowed: startingIfAllowed)
    return try locked {
      if let player, self.session === session { return player }
      let plans = try pattern.plans(
        for: session.engine, resources: engine.with { $0.resources })
      let made = try session.engine.player(for: plans, duration: pattern.duration)
      self.session = session
      player = made
      toldEndCount = 0
      try apply(to: made, before: Settings())
      return made
    }
  }

  /// Sends what differs from other settings.
  private func apply(to player: PatternPlayer, before: Settings) throws {
    let now = storedSettings
    if now.isLooping != before.isLooping || now.loopEnd != before.loopEnd {
      try player.loop(passCount: now.isLooping ? nil : 1, end: now.loopEnd)
    }
    if now.rate != before.rate { try player.setPlaybackRate(Double(now.rate)) }
    if now.isMuted != before.isMuted { try player.setMuted(now.isMuted) }
  }

  /// A time of the application on the clock of the session.
  private func moment(_ time: TimeInterval) -> PlaybackTime {
    guard time > 0, time.isFinite else { return .now }
    let elapsed = engine.with { $0.elapsed }
    return time > elapsed ? .seconds(time - elapsed) : .now
  }

  private func command(_ body: () throws -> Void) throws {
    do { try body() } catch let error as PlaybackError {
      throw CHHapticError(
        .resourceNotAvailable, error.description)
    }
  }

  private func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }
}

extension DynamicParameterID {
  /// Whether it can be changed while a pattern plays.
  var isLive: Bool { ![.attackTime, .decayTime, .releaseTime].contains(target) }
}
