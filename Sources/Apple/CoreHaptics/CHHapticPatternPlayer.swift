internal import HapticModel
internal import HapticPlayback
internal import HapticRender
public import Foundation

/// Plays one pattern, any number of times.
///
/// Times refer to the engine's clock. 0 and times in the past mean now.
public protocol CHHapticPatternPlayer: NSObjectProtocol {
  /// Plays from the beginning. An active player restarts.
  func start(atTime time: TimeInterval) throws
  /// Stops playing.
  func stop(atTime time: TimeInterval) throws
  /// Applies dynamic parameters, whose own times are relative to `time`.
  func sendParameters(_ parameters: [CHHapticDynamicParameter], atTime time: TimeInterval) throws
  /// Applies a parameter curve from a time on. The relative time of the curve is ignored.
  func scheduleParameterCurve(_ parameterCurve: CHHapticParameterCurve, atTime time: TimeInterval)
    throws
  /// Stops immediately and discards pending commands.
  func cancel() throws
  /// A Boolean value that indicates whether the player is silent while it continues.
  var isMuted: Bool { get set }
}

/// Plays one pattern, and can be paused, sought, looped, and played at other rates.
public protocol CHHapticAdvancedPatternPlayer: CHHapticPatternPlayer {
  /// Pauses the pattern.
  func pause(atTime time: TimeInterval) throws
  /// Resumes the pattern.
  func resume(atTime time: TimeInterval) throws
  /// Continues at a time of the pattern, in seconds.
  func seek(toOffset offsetTime: TimeInterval) throws
  /// A Boolean value that indicates whether the pattern repeats.
  var loopEnabled: Bool { get set }
  /// The time of the pattern at which a loop returns to the start, in seconds; 0 is the pattern's
  /// end.
  var loopEnd: TimeInterval { get set }
  /// The playback rate. Values that are not positive are ignored.
  var playbackRate: Float { get set }
  /// The handler that is called when the player ends.
  var completionHandler: CHHapticAdvancedPatternPlayerCompletionHandler { get set }
}

/// A handler that an advanced player calls when it has ended, with an error if it could not play.
public typealias CHHapticAdvancedPatternPlayerCompletionHandler = ((any Error)?) -> Void

/// The time that means now wherever a player accepts a time: 0.
public var CHHapticTimeImmediate: TimeInterval { 0 }

/// The player that an application holds.
class PatternPlayerObject: NSObject, CHHapticPatternPlayer {
  let backing: PlayerBacking

  init(_ backing: PlayerBacking) { self.backing = backing }

  deinit { backing.objectWasReleased() }

  func start(atTime time: TimeInterval) throws { try backing.start(at: time) }

  func stop(atTime time: TimeInterval) throws { try backing.stop(at: time) }

  func sendParameters(_ parameters: [CHHapticDynamicParameter], atTime time: TimeInterval) throws {
    try backing.send(parameters, at: time)
  }

  func scheduleParameterCurve(_ parameterCurve: CHHapticParameterCurve, atTime time: TimeInterval)
    throws
  {
    try backing.schedule(parameterCurve, at: time)
  }

  func cancel() throws { try backing.cancel() }

  var isMuted: Bool {
    get { backing.settings.isMuted }
    set { backing.change { $0.isMuted = newValue } }
  }
}

/// The advanced player that an application holds.
final class AdvancedPatternPlayerObject: PatternPlayerObject, CHHapticAdvancedPatternPlayer {
  func pause(atTime time: TimeInterval) throws { try backing.pause(at: time) }

  func resume(atTime time: TimeInterval) throws { try backing.resume(at: time) }

  func seek(toOffset offsetTime: TimeInterval) throws { try backing.seek(to: offsetTime) }

  var loopEnabled: Bool {
    get { backing.settings.isLooping }
    set { backing.change { $0.isLooping = newValue } }
  }

  var loopEnd: TimeInterval {
    get { backing.settings.loopEnd ?? backing.pattern.duration }
    set { backing.change { $0.loopEnd = newValue > 0 ? newValue : nil } }
  }

  var playbackRate: Float {
    get { backing.settings.rate }
    set {
      if newValue > 0, newValue.isFinite {
        backing.change { $0.rate = newValue }
      }
    }
  }

  var completionHandler: CHHapticAdvancedPatternPlayerCompletionHandler {
    get { backing.completionHandler }
    set { backing.completionHandler = newValue }
  }
}

/// The state and behavior of a player, independent of the object that the application holds. Each
/// session of the engine gets its own renderer player with the settings of this player.
final class PlayerBacking: @unchecked Sendable {
  /// The settings that outlive a session.
  struct Settings {
    var isMuted = false
    var isLooping = false
    /// The end of the loop in seconds, or nil for the end of the pattern.
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
  private var reportedEndCount = 0
  /// The number of starts that have been registered with the engine but not yet sent to the player.
  private var startingCount = 0
  /// The virtual device that the player is registered with, or nil in real time.
  private let virtual: VirtualBackend?
  private let number: Int

  /// Creates a player of an engine. A virtual device may limit the number of players.
  init(_ engine: EngineBacking, _ pattern: CHHapticPattern, generation: Int) throws {
    self.engine = engine
    self.pattern = pattern
    self.generation = generation
    virtual = engine.virtual
    number = try virtual?.registerPlayer() ?? 0
  }

  deinit { virtual?.unregisterPlayer() }

  var settings: Settings { lock.withLock { storedSettings } }

  /// Changes the settings, immediately if the player is in a session.
  func change(_ body: (inout Settings) -> Void) {
    lock.withLock {
      let previous = storedSettings
      body(&storedSettings)
      logChanges(from: previous)
      guard let player else { return }
      // If the command queue is full, the next start applies the settings.
      try? applySettings(to: player, previous: previous)
    }
  }

  var completionHandler: CHHapticAdvancedPatternPlayerCompletionHandler {
    get { lock.withLock { storedHandler } }
    set { lock.withLock { storedHandler = newValue } }
  }

  func objectWasReleased() {
    lock.withLock {
      // Nobody can end the loop any more, so the current pass is the last.
      guard storedSettings.isLooping else { return }
      try? player?.loop(passCount: 1)
      log(.looping(false))
    }
  }

  var isActive: Bool {
    lock.withLock {
      guard let player else { return false }
      return startingCount > 0 || player.isWaitingToStart || player.phase != .idle
    }
  }

  /// Returns the number of ends since the last call.
  func drainEndCount() -> Int {
    lock.withLock {
      guard let player else { return 0 }
      let count = player.endCount - reportedEndCount
      reportedEndCount = player.endCount
      if count > 0, let session = session as? VirtualSession {
        log(.ended(at: roundedToNanosecond(session.deviceTime(ofFrame: player.endFrame))))
      }
      return count
    }
  }

  /// Notifies the application that the player has ended: [handler queue].
  func callCompletionHandler(_ error: (any Error)?) {
    let handler = completionHandler
    engine.call(.completion) { handler(error) }
  }

  /// Checks that the pattern can be played, so that errors are reported before the start.
  func validate() throws {
    _ = try pattern.samples(at: 48_000, resources: engine.withState { $0.resources })
    let events = pattern.composition.layers.flatMap(\.pattern.events)
    log(.playerMade(eventCount: events.count))
    let maximumDuration = events.filter(\.kind.isVibration).compactMap(\.duration).max() ?? 0
    if maximumDuration > HapticEvent.defaultDuration {
      log(.violation(.longEvent(seconds: maximumDuration)))
    }
  }

  func start(at time: TimeInterval) throws {
    let player = try sessionPlayer(startingIfAllowed: true)
    lock.withLock { startingCount += 1 }
    defer { lock.withLock { startingCount -= 1 } }
    engine.playerWillStart(self)
    let moment = playbackTime(time)
    try command(.started(at: deviceTime(of: moment))) { try player.start(at: moment) }
  }

  func stop(at time: TimeInterval) throws {
    try command(at: time, HapticLogEntry.Action.stopped) { try $0.stop(at: $1) }
  }

  func pause(at time: TimeInterval) throws {
    try command(at: time, HapticLogEntry.Action.paused) { try $0.pause(at: $1) }
  }

  func resume(at time: TimeInterval) throws {
    try command(at: time, HapticLogEntry.Action.resumed) { try $0.resume(at: $1) }
  }

  private func command(
    at time: TimeInterval, _ action: (Double) -> HapticLogEntry.Action,
    _ body: (PatternPlayer, PlaybackTime) throws -> Void
  ) throws {
    let player = try sessionPlayer()
    let moment = playbackTime(time)
    try command(action(deviceTime(of: moment))) { try body(player, moment) }
  }

  func cancel() throws {
    let player = try sessionPlayer()
    try command(.cancelled) { try player.cancel() }
    // The cancellation also discarded pending settings.
    try translatingErrors { try lock.withLock { try applySettings(to: player, previous: nil) } }
  }

  func seek(to offset: TimeInterval) throws {
    guard offset.isFinite else { throw CHHapticError(.invalidTime, userInfo: [:]) }
    let player = try sessionPlayer(startingIfAllowed: true)
    try command(.sought(to: max(0, offset))) { try player.seek(to: max(0, offset)) }
  }

  func send(_ parameters: [CHHapticDynamicParameter], at time: TimeInterval) throws {
    let player = try sessionPlayer()
    let baseTime = max(time, engine.currentTime)
    for parameter in parameters {
      let id = try DynamicParameterID(parameter.parameterID)
      let isNow = time <= engine.currentTime && parameter.relativeTime <= 0
      let moment = isNow ? .now : playbackTime(baseTime + max(0, parameter.relativeTime))
      try command(.sent(parameter.parameterID, parameter.value, at: deviceTime(of: moment))) {
        try player.set(id, to: parameter.value, at: moment)
      }
    }
  }

  func schedule(_ curve: CHHapticParameterCurve, at time: TimeInterval) throws {
    let player = try sessionPlayer()
    let id = try DynamicParameterID(curve.parameterID)
    let points = curve.controlPoints.map {
      ParameterCurve.ControlPoint(time: $0.relativeTime, value: $0.value)
    }
    let curve = ParameterCurve(id: id, time: 0, controlPoints: points)
    let moment = playbackTime(time)
    try command(.scheduledCurve(.init(rawValue: id.rawValue), at: deviceTime(of: moment))) {
      try player.schedule(curve, at: moment)
    }
  }

  /// Returns the player in the running session, and creates it if necessary.
  private func sessionPlayer(startingIfAllowed: Bool = false) throws -> PatternPlayer {
    guard engine.withState({ $0.generation }) == generation else {
      log(.violation(.playerUsedAfterReset))
      throw CHHapticError(.invalidPatternPlayer, "the engine was reset; create a new player")
    }
    let session = try engine.runningSession(startingIfAllowed: startingIfAllowed)
    return try lock.withLock {
      if let player, self.session === session { return player }
      let plans = try pattern.plans(
        for: session.engine, resources: engine.withState { $0.resources })
      return try translatingErrors {
        let recorder = session as? VirtualSession
        let newPlayer = try session.engine.player(
          for: plans, duration: pattern.duration, recordsChanges: recorder != nil)
        recorder?.record(newPlayer, of: pattern.composition)
        try applySettings(to: newPlayer, previous: Settings())
        self.session = session
        player = newPlayer
        reportedEndCount = 0
        return newPlayer
      }
    }
  }

  private func applySettings(to player: PatternPlayer, previous: Settings?) throws {
    let settings = storedSettings
    if settings.isLooping != previous?.isLooping || settings.loopEnd != previous?.loopEnd {
      try player.loop(passCount: settings.isLooping ? nil : 1, end: settings.loopEnd)
    }
    if settings.rate != previous?.rate {
      try player.setPlaybackRate(Double(settings.rate))
    }
    if settings.isMuted != previous?.isMuted {
      try player.setMuted(settings.isMuted)
    }
  }

  /// Converts a time of the application to the clock of the session.
  private func playbackTime(_ time: TimeInterval) -> PlaybackTime {
    guard time > 0, time.isFinite else { return .now }
    let elapsed = engine.withState { $0.elapsedSeconds }
    return time > elapsed ? .seconds(time - elapsed) : .now
  }

  private func command(_ action: HapticLogEntry.Action, _ body: () throws -> Void) throws {
    try translatingErrors(body)
    log(action)
  }

  private func translatingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PlaybackError {
      throw CHHapticError(.resourceNotAvailable, error.description)
    }
  }

  private func log(_ action: HapticLogEntry.Action) { engine.log(action, player: number) }

  private func logChanges(from previous: Settings) {
    let settings = storedSettings
    if settings.isLooping != previous.isLooping || settings.loopEnd != previous.loopEnd {
      log(.looping(settings.isLooping))
    }
    if settings.rate != previous.rate {
      log(.rate(Double(settings.rate)))
    }
    if settings.isMuted != previous.isMuted {
      log(.muted(settings.isMuted))
    }
  }

  /// Returns the virtual device's time at which a command takes effect, in seconds.
  private func deviceTime(of time: PlaybackTime) -> Double {
    virtual == nil ? 0 : roundedToNanosecond(engine.deviceTime(of: time))
  }
}
