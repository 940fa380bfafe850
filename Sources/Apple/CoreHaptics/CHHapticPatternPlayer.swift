internal import HapticModel
internal import HapticPlayback
internal import HapticRender
public import Foundation

/// A player that can play one pattern any number of times.
///
/// Times refer to the engine's clock. 0 and times in the past mean now.
public protocol CHHapticPatternPlayer: NSObjectProtocol {
  /// Plays the pattern from its beginning. If the player is active, it restarts.
  func start(atTime time: TimeInterval) throws
  /// Stops the player at a time on the engine's clock, in seconds.
  func stop(atTime time: TimeInterval) throws
  /// Applies dynamic parameters, whose relative times count from `time`.
  func sendParameters(_ parameters: [CHHapticDynamicParameter], atTime time: TimeInterval) throws
  /// Applies a parameter curve that begins at a time. The relative time of the curve is ignored.
  func scheduleParameterCurve(_ parameterCurve: CHHapticParameterCurve, atTime time: TimeInterval)
    throws
  /// Stops the player immediately and discards pending commands.
  func cancel() throws
  /// A Boolean value that indicates whether the player is muted.
  ///
  /// A muted player continues to play silently.
  var isMuted: Bool { get set }
}

/// A player that can also be paused, sought, looped, and played at other rates.
public protocol CHHapticAdvancedPatternPlayer: CHHapticPatternPlayer {
  /// Pauses the player at a time on the engine's clock, in seconds.
  func pause(atTime time: TimeInterval) throws
  /// Resumes the player at a time on the engine's clock, in seconds.
  func resume(atTime time: TimeInterval) throws
  /// Moves the playback position to a time in the pattern, in seconds.
  func seek(toOffset offsetTime: TimeInterval) throws
  /// A Boolean value that indicates whether the pattern repeats.
  var loopEnabled: Bool { get set }
  /// The loop end as a time in the pattern, in seconds; 0 for the end of the pattern.
  ///
  /// At the loop end, a loop returns to the start.
  var loopEnd: TimeInterval { get set }
  /// The playback rate, 1 by default. Values that are not positive are ignored.
  var playbackRate: Float { get set }
  /// The handler that is called when the player has ended.
  var completionHandler: CHHapticAdvancedPatternPlayerCompletionHandler { get set }
}

/// A handler that an advanced player calls when it has ended, with an error if it could not play.
public typealias CHHapticAdvancedPatternPlayerCompletionHandler = ((any Error)?) -> Void

/// The time 0, which makes a command of a player take effect immediately.
public var CHHapticTimeImmediate: TimeInterval { 0 }

/// The pattern player object that an application receives and retains.
class PatternPlayerObject: NSObject, CHHapticPatternPlayer {
  let backing: PlayerBacking

  init(_ backing: PlayerBacking) { self.backing = backing }

  deinit { backing.handlePlayerObjectRelease() }

  func start(atTime time: TimeInterval) throws { try backing.start(atEngineSeconds: time) }

  func stop(atTime time: TimeInterval) throws { try backing.stop(atEngineSeconds: time) }

  func sendParameters(_ parameters: [CHHapticDynamicParameter], atTime time: TimeInterval) throws {
    try backing.send(parameters, atEngineSeconds: time)
  }

  func scheduleParameterCurve(_ parameterCurve: CHHapticParameterCurve, atTime time: TimeInterval)
    throws
  {
    try backing.schedule(parameterCurve, atEngineSeconds: time)
  }

  func cancel() throws { try backing.cancel() }

  var isMuted: Bool {
    get { backing.settings.isMuted }
    set { backing.changeSettings { $0.isMuted = newValue } }
  }
}

/// The advanced pattern player object that an application receives and retains.
final class AdvancedPatternPlayerObject: PatternPlayerObject, CHHapticAdvancedPatternPlayer {
  func pause(atTime time: TimeInterval) throws { try backing.pause(atEngineSeconds: time) }

  func resume(atTime time: TimeInterval) throws { try backing.resume(atEngineSeconds: time) }

  func seek(toOffset offsetTime: TimeInterval) throws {
    try backing.seek(toPatternSeconds: offsetTime)
  }

  var loopEnabled: Bool {
    get { backing.settings.isLooping }
    set { backing.changeSettings { $0.isLooping = newValue } }
  }

  var loopEnd: TimeInterval {
    get { backing.settings.loopEndSeconds ?? backing.pattern.duration }
    set { backing.changeSettings { $0.loopEndSeconds = newValue > 0 ? newValue : nil } }
  }

  var playbackRate: Float {
    get { backing.settings.playbackRate }
    set {
      if newValue > 0, newValue.isFinite {
        backing.changeSettings { $0.playbackRate = newValue }
      }
    }
  }

  var completionHandler: CHHapticAdvancedPatternPlayerCompletionHandler {
    get { backing.completionHandler }
    set { backing.completionHandler = newValue }
  }
}

/// The state and behavior of a player, independent of the application's player object.
///
/// Each session of the engine gets its own renderer player with the settings of this player.
final class PlayerBacking: @unchecked Sendable {
  /// The settings of a player that remain when a session of the engine ends.
  struct Settings {
    var isMuted = false
    var isLooping = false
    /// The end of the loop as a time in the pattern, in seconds; nil for the end of the pattern.
    var loopEndSeconds: Double?
    var playbackRate: Float = 1
  }

  let pattern: CHHapticPattern
  private let engineBacking: EngineBacking
  private let engineGeneration: Int
  private let lock = NSRecursiveLock()
  private var storedSettings = Settings()
  private var storedCompletionHandler: CHHapticAdvancedPatternPlayerCompletionHandler = { _ in }
  private var session: (any EngineSession)?
  private var sessionPlayer: PatternPlayer?
  private var drainedPlaybackEndCount = 0
  /// The number of starts that have not been sent to the session's player.
  ///
  /// The starts have been registered with the engine.
  private var pendingStartCount = 0
  /// The virtual device that the player is registered with, or nil in real time.
  private let virtualBackend: VirtualBackend?
  private let playerNumber: Int

  /// Creates a player for an engine. A virtual device may limit the number of players.
  init(_ engine: EngineBacking, _ pattern: CHHapticPattern, engineGeneration: Int) throws {
    self.engineBacking = engine
    self.pattern = pattern
    self.engineGeneration = engineGeneration
    virtualBackend = engine.virtualBackend
    playerNumber = try virtualBackend?.registerPlayer() ?? 0
  }

  deinit { virtualBackend?.unregisterPlayer() }

  var settings: Settings { lock.withLock { storedSettings } }

  /// Changes the settings. If the player is in a session, the change takes effect immediately.
  func changeSettings(_ body: (inout Settings) -> Void) {
    lock.withLock {
      let previous = storedSettings
      body(&storedSettings)
      logSettingChanges(from: previous)
      guard let sessionPlayer else { return }
      // If the command queue is full, the next start applies the settings.
      try? applySettings(to: sessionPlayer, previous: previous)
    }
  }

  var completionHandler: CHHapticAdvancedPatternPlayerCompletionHandler {
    get { lock.withLock { storedCompletionHandler } }
    set { lock.withLock { storedCompletionHandler = newValue } }
  }

  func handlePlayerObjectRelease() {
    lock.withLock {
      // Nobody can end the loop any more, so the current pass is the last.
      guard storedSettings.isLooping else { return }
      try? sessionPlayer?.loop(passCount: 1)
      logAction(.looping(false))
    }
  }

  var isActive: Bool {
    lock.withLock {
      guard let sessionPlayer else { return false }
      return pendingStartCount > 0 || sessionPlayer.isWaitingToStart || sessionPlayer.phase != .idle
    }
  }

  /// Returns the number of playback ends since the last call of this method.
  func drainPlaybackEndCount() -> Int {
    lock.withLock {
      guard let sessionPlayer else { return 0 }
      let count = sessionPlayer.endCount - drainedPlaybackEndCount
      drainedPlaybackEndCount = sessionPlayer.endCount
      if count > 0, let session = session as? VirtualSession {
        logAction(
          .ended(at: roundedToNanosecond(session.deviceSeconds(ofFrame: sessionPlayer.endFrame))))
      }
      return count
    }
  }

  /// Calls the completion handler of the application after the player has ended.
  ///
  /// Runs on the handler queue.
  func callCompletionHandler(_ error: (any Error)?) {
    let storedHandler = completionHandler
    engineBacking.callHandler(.completion) { storedHandler(error) }
  }

  /// Checks that the pattern can be played, so that errors are reported before the start.
  func validatePattern() throws {
    _ = try pattern.loadSamples(
      atRate: 48_000, resources: engineBacking.withLockedState { $0.audioResources })
    let patternEvents = pattern.composition.layers.flatMap(\.pattern.events)
    logAction(.playerMade(eventCount: patternEvents.count))
    let maximumDurationSeconds =
      patternEvents.filter(\.kind.isVibration).compactMap(\.duration).max() ?? 0
    if maximumDurationSeconds > HapticEvent.defaultDurationSeconds {
      logAction(.violation(.longEvent(seconds: maximumDurationSeconds)))
    }
  }

  func start(atEngineSeconds time: TimeInterval) throws {
    let sessionPlayer = try makeSessionPlayer(startingIfAllowed: true)
    lock.withLock { pendingStartCount += 1 }
    defer { lock.withLock { pendingStartCount -= 1 } }
    engineBacking.registerPlayerStart(self)
    let startTime = sessionTime(ofEngineSeconds: time)
    try performAndLog(.started(at: deviceSeconds(of: startTime))) {
      try sessionPlayer.start(at: startTime)
    }
  }

  func stop(atEngineSeconds time: TimeInterval) throws {
    try sendCommand(at: time, HapticLogEntry.Action.stopped) { try $0.stop(at: $1) }
  }

  func pause(atEngineSeconds time: TimeInterval) throws {
    try sendCommand(at: time, HapticLogEntry.Action.paused) { try $0.pause(at: $1) }
  }

  func resume(atEngineSeconds time: TimeInterval) throws {
    try sendCommand(at: time, HapticLogEntry.Action.resumed) { try $0.resume(at: $1) }
  }

  private func sendCommand(
    at time: TimeInterval, _ action: (Double) -> HapticLogEntry.Action,
    _ body: (PatternPlayer, PlaybackTime) throws -> Void
  ) throws {
    let sessionPlayer = try makeSessionPlayer()
    let commandTime = sessionTime(ofEngineSeconds: time)
    try performAndLog(action(deviceSeconds(of: commandTime))) {
      try body(sessionPlayer, commandTime)
    }
  }

  func cancel() throws {
    let sessionPlayer = try makeSessionPlayer()
    try performAndLog(.cancelled) { try sessionPlayer.cancel() }
    // The cancellation also discarded pending settings.
    try convertingPlaybackErrors {
      try lock.withLock { try applySettings(to: sessionPlayer, previous: nil) }
    }
  }

  func seek(toPatternSeconds offset: TimeInterval) throws {
    guard offset.isFinite else { throw CHHapticError(.invalidTime, userInfo: [:]) }
    let sessionPlayer = try makeSessionPlayer(startingIfAllowed: true)
    try performAndLog(.sought(to: max(0, offset))) { try sessionPlayer.seek(to: max(0, offset)) }
  }

  func send(_ parameters: [CHHapticDynamicParameter], atEngineSeconds time: TimeInterval) throws {
    let sessionPlayer = try makeSessionPlayer()
    let baseEngineSeconds = max(time, engineBacking.currentSeconds)
    for parameter in parameters {
      let id = try DynamicParameterID(parameter.parameterID)
      let isNow = time <= engineBacking.currentSeconds && parameter.relativeTime <= 0
      let moment =
        isNow
        ? .now : sessionTime(ofEngineSeconds: baseEngineSeconds + max(0, parameter.relativeTime))
      try performAndLog(
        .sent(parameter.parameterID, parameter.value, at: deviceSeconds(of: moment))
      ) {
        try sessionPlayer.set(id, to: parameter.value, at: moment)
      }
    }
  }

  func schedule(_ curve: CHHapticParameterCurve, atEngineSeconds time: TimeInterval) throws {
    let sessionPlayer = try makeSessionPlayer()
    let parameterID = try DynamicParameterID(curve.parameterID)
    let controlPoints = curve.controlPoints.map {
      ParameterCurve.ControlPoint(time: $0.relativeTime, value: $0.value)
    }
    let convertedCurve = ParameterCurve(id: parameterID, time: 0, controlPoints: controlPoints)
    let startTime = sessionTime(ofEngineSeconds: time)
    try performAndLog(
      .scheduledCurve(.init(rawValue: parameterID.rawValue), at: deviceSeconds(of: startTime))
    ) {
      try sessionPlayer.schedule(convertedCurve, at: startTime)
    }
  }

  /// Returns the player's counterpart in the running session, and creates it if necessary.
  private func makeSessionPlayer(startingIfAllowed: Bool = false) throws -> PatternPlayer {
    guard engineBacking.withLockedState({ $0.resetCount }) == engineGeneration else {
      logAction(.violation(.playerUsedAfterReset))
      throw CHHapticError(.invalidPatternPlayer, "the engine was reset; create a new player")
    }
    let session = try engineBacking.runningSession(startingIfAllowed: startingIfAllowed)
    return try lock.withLock {
      if let sessionPlayer, self.session === session { return sessionPlayer }
      let plans = try pattern.renderPlans(
        for: session.playbackEngine, resources: engineBacking.withLockedState { $0.audioResources })
      return try convertingPlaybackErrors {
        let recorder = session as? VirtualSession
        let newPlayer = try session.playbackEngine.player(
          for: plans, duration: pattern.duration, recordsChanges: recorder != nil)
        recorder?.recordPlayer(newPlayer, of: pattern.composition)
        try applySettings(to: newPlayer, previous: Settings())
        self.session = session
        sessionPlayer = newPlayer
        drainedPlaybackEndCount = 0
        return newPlayer
      }
    }
  }

  private func applySettings(to player: PatternPlayer, previous: Settings?) throws {
    let currentSettings = storedSettings
    if currentSettings.isLooping != previous?.isLooping
      || currentSettings.loopEndSeconds != previous?.loopEndSeconds
    {
      try player.loop(
        passCount: currentSettings.isLooping ? nil : 1, end: currentSettings.loopEndSeconds)
    }
    if currentSettings.playbackRate != previous?.playbackRate {
      try player.setPlaybackRate(Double(currentSettings.playbackRate))
    }
    if currentSettings.isMuted != previous?.isMuted {
      try player.setMuted(currentSettings.isMuted)
    }
  }

  /// Converts a time on the engine's clock to the clock of the session.
  private func sessionTime(ofEngineSeconds time: TimeInterval) -> PlaybackTime {
    guard time > 0, time.isFinite else { return .now }
    let pastSessionSeconds = engineBacking.withLockedState { $0.totalPastSessionSeconds }
    return time > pastSessionSeconds ? .seconds(time - pastSessionSeconds) : .now
  }

  private func performAndLog(_ action: HapticLogEntry.Action, _ body: () throws -> Void) throws {
    try convertingPlaybackErrors(body)
    logAction(action)
  }

  private func convertingPlaybackErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PlaybackError {
      throw CHHapticError(.resourceNotAvailable, error.description)
    }
  }

  private func logAction(_ action: HapticLogEntry.Action) {
    engineBacking.logAction(action, player: playerNumber)
  }

  private func logSettingChanges(from previous: Settings) {
    let currentSettings = storedSettings
    if currentSettings.isLooping != previous.isLooping
      || currentSettings.loopEndSeconds != previous.loopEndSeconds
    {
      logAction(.looping(currentSettings.isLooping))
    }
    if currentSettings.playbackRate != previous.playbackRate {
      logAction(.rate(Double(currentSettings.playbackRate)))
    }
    if currentSettings.isMuted != previous.isMuted {
      logAction(.muted(currentSettings.isMuted))
    }
  }

  /// Returns the virtual device's time at which a command takes effect, in seconds.
  private func deviceSeconds(of time: PlaybackTime) -> Double {
    virtualBackend == nil ? 0 : roundedToNanosecond(engineBacking.deviceSeconds(of: time))
  }
}
