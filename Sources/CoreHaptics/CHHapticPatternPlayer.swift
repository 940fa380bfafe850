public import Foundation

/// Plays one pattern, any number of times.
///
/// Times are those of the engine's clock; 0 and times that have passed mean now.
public protocol CHHapticPatternPlayer: NSObjectProtocol {
  /// Plays from the beginning; a player that plays starts anew.
  func start(atTime time: TimeInterval) throws
  /// Ends playing.
  func stop(atTime time: TimeInterval) throws
  /// Puts dynamic parameters in force; their own times count from `time`.
  func sendParameters(_ parameters: [CHHapticDynamicParameter], atTime time: TimeInterval) throws
  /// Runs a parameter curve from a time on; its own time is not regarded.
  func scheduleParameterCurve(_ parameterCurve: CHHapticParameterCurve, atTime time: TimeInterval)
    throws
  /// Stops at once and forgets what was to come.
  func cancel() throws
  /// Whether the player is silent while it goes on.
  var isMuted: Bool { get set }
}

/// Plays one pattern, and can be paused, sought, looped and slowed.
public protocol CHHapticAdvancedPatternPlayer: CHHapticPatternPlayer {
  /// Lets the pattern stand still.
  func pause(atTime time: TimeInterval) throws
  /// Lets the pattern go on.
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
