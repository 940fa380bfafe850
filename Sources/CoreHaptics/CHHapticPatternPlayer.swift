public import Foundation

/// Plays one pattern, any number of times.
///
/// Times are those of the engine's clock; 0 and times that have passed mean now.
public protocol CHHapticPatternPlayer: NSObjectProtocol {
  /// Plays from the beginning; a player that plays restarts.
  func start(atTime time: TimeInterval) throws
  /// Ends playing.
  func stop(atTime time: TimeInterval) throws
  /// Puts dynamic parameters in force; their own times count from `time`.
  func sendParameters(_ parameters: [CHHapticDynamicParameter], atTime time: TimeInterval) throws
  /// Runs a parameter curve from a time on; its own time is not regarded.
  func scheduleParameterCurve(_ parameterCurve: CHHapticParameterCurve, atTime time: TimeInterval) throws
  /// Stops at once and forgets what was to come.
  func cancel() throws
  /// Whether the player is silent while it goes on.
  var isMuted: Bool { get set }
}

/// Plays one pattern, and can be paused, sought, looped and slowed.
public protocol CHHapticAdvancedPatternPlayer: CHHapticPatternPlayer {
  /// Pauses the pattern.
  func pause(atTime time: TimeInterval) throws
  /// Resumes the pattern.
  func resume(atTime time: TimeInterval) throws
  /// Goes on at seconds of the pattern.
  func seek(toOffset offsetTime: TimeInterval) throws
  /// Whether the pattern repeats.
  var loopEnabled: Bool { get set }
  /// Seconds of the pattern at which a loop returns; 0 is the pattern's end.
  var loopEnd: TimeInterval { get set }
  /// How fast the pattern runs; values that are not positive are ignored.
  var playbackRate: Float { get set }
  /// Is called when the player ends.
  var completionHandler: CHHapticAdvancedPatternPlayerCompletionHandler { get set }
}

/// What an advanced player calls when it has ended; the error says why it could not play.
public typealias CHHapticAdvancedPatternPlayerCompletionHandler = ((any Error)?) -> Void

/// The time that means now, wherever a player is given a time: 0.
public var CHHapticTimeImmediate: TimeInterval { 0 }

class PatternPlayerObject: NSObject, CHHapticPatternPlayer {
  let backing: PlayerBacking

  init(_ backing: PlayerBacking) { self.backing = backing }

  deinit { backing.objectIsGone() }

  func start(atTime time: TimeInterval) throws { try backing.start(at: time) }

  func stop(atTime time: TimeInterval) throws { try backing.stop(at: time) }

  func sendParameters(_ parameters: [CHHapticDynamicParameter], atTime time: TimeInterval) throws {
    try backing.send(parameters, at: time)
  }

  func scheduleParameterCurve(_ parameterCurve: CHHapticParameterCurve, atTime time: TimeInterval) throws {
    try backing.schedule(parameterCurve, at: time)
  }

  func cancel() throws { try backing.cancel() }

  var isMuted: Bool {
    get { backing.settings.isMuted }
    set { backing.change { $0.isMuted = newValue } }
  }
}

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
    set { if newValue > 0, newValue.isFinite { backing.change { $0.rate = newValue } } }
  }

  var completionHandler: CHHapticAdvancedPatternPlayerCompletionHandler {
    get { backing.completionHandler }
    set { backing.completionHandler = newValue }
  }
}
