/// One thing the control side asks of the render thread, to be done at a frame.
///
/// What a command points to belongs to the control side, which keeps it alive until the render thread has
/// let go of it. A frame that has been rendered already means now.
@safe
public struct RenderCommand: BitwiseCopyable, @unchecked Sendable {
  enum Action: UInt8, BitwiseCopyable, Sendable {
    case none, add, remove, start, stop, pause, resume, seek, loop, rate, gain, share, control,
      cancel
    case strength, hapticGain, audioGain
  }

  var action: Action
  /// The output's frame.
  var time: Int64
  /// The order among commands of one frame, given by the schedule.
  var order: UInt64 = 0
  var player: UnsafeMutablePointer<Player>?
  var entry: UnsafeMutablePointer<PlanEntry>?
  var value = 0.0
  var slope = 0.0
  var frame: Int64 = 0
  var track = 0

  /// Whether this is the last command for its player.
  var isRemoval: Bool {
    @_noLocks
    get {
      switch action {
      case .remove: true
      case .none, .add, .start, .stop, .pause, .resume, .seek, .loop, .rate, .gain, .share,
        .control,
        .cancel, .strength, .hapticGain, .audioGain:
        false
      }
    }
  }

  private init(_ action: Action, _ player: RenderPlayer?, at time: Int64) {
    self.action = action
    self.time = time
    unsafe self.player = player?.player
  }

  /// A place for a command.
  static var nothing: RenderCommand {
    @_noLocks get { RenderCommand() }
  }

  @_noLocks
  private init() {
    action = .none
    time = 0
    unsafe player = nil
  }

  /// Takes a player in; the first command for any player.
  public static func add(_ player: RenderPlayer) -> RenderCommand {
    RenderCommand(.add, player, at: 0)
  }

  /// Fades a player out, drops its commands and lets go of it; the last command for any player.
  public static func remove(_ player: RenderPlayer) -> RenderCommand {
    RenderCommand(.remove, player, at: 0)
  }

  /// Plays from the beginning, or from an entry; a player that plays starts anew.
  public static func start(_ player: RenderPlayer, at time: Int64, from entry: SharedEntry? = nil)
    -> RenderCommand
  {
    var command = RenderCommand(.start, player, at: time)
    unsafe command.entry = entry?.entry
    return command
  }

  /// Ends playing.
  public static func stop(_ player: RenderPlayer, at time: Int64) -> RenderCommand {
    RenderCommand(.stop, player, at: time)
  }

  /// Lets the pattern stand still.
  public static func pause(_ player: RenderPlayer, at time: Int64) -> RenderCommand {
    RenderCommand(.pause, player, at: time)
  }

  /// Lets a pattern that stands still go on.
  public static func resume(_ player: RenderPlayer, at time: Int64) -> RenderCommand {
    RenderCommand(.resume, player, at: time)
  }

  /// Goes on at an entry; a player that does not play starts there next.
  public static func seek(_ player: RenderPlayer, to entry: SharedEntry, at time: Int64)
    -> RenderCommand
  {
    var command = RenderCommand(.seek, player, at: time)
    unsafe command.entry = entry.entry
    return command
  }

  /// Sets how many passes follow, the running one included, and where each ends.
  ///
  /// - Parameters:
  ///   - passCount: At least 1, or nothing for endlessly.
  ///   - entry: Where every further pass begins, before the end, or nothing for the pattern's beginning.
  ///   - end: The frame of the pattern at which a pass ends, or 0 for the pattern's own end.
  public static func loop(
    _ player: RenderPlayer, passCount: Int?, from entry: SharedEntry? = nil, end: Int64,
    at time: Int64
  ) -> RenderCommand {
    var command = RenderCommand(.loop, player, at: time)
    unsafe command.entry = entry?.entry
    command.track = max(1, passCount ?? .max)
    command.frame = max(0, end)
    return command
  }

  /// Sets how fast the pattern runs, 1/64 to 64.
  public static func rate(_ player: RenderPlayer, _ rate: Double, at time: Int64) -> RenderCommand {
    var command = RenderCommand(.rate, player, at: time)
    command.value = rate
    return command
  }

  /// Moves a player's gain, smoothly over some frames, or, where none are given, over the usual fade.
  public static func gain(
    _ player: RenderPlayer, _ gain: Double, over frameCount: Int? = nil, at time: Int64
  ) -> RenderCommand {
    var command = RenderCommand(.gain, player, at: time)
    command.value = gain
    command.track = frameCount.map { max(0, $0) } ?? -1
    return command
  }

  /// Moves what a player's bus gets of its haptics, smoothly over some frames; audio stays.
  ///
  /// - Parameter serial: At least 1, and greater with each order; moves of an older order are ignored once a newer
  ///   one has begun.
  public static func share(
    _ player: RenderPlayer, _ share: Double, over frameCount: Int, serial: Int64, at time: Int64
  ) -> RenderCommand {
    var command = RenderCommand(.share, player, at: time)
    command.value = share
    command.track = max(0, frameCount)
    command.frame = serial
    return command
  }

  /// Puts a value of one dynamic parameter in force, growing by a slope with each frame.
  public static func control(
    _ player: RenderPlayer, _ track: ControlTrackID, value: Double, slope: Double = 0,
    at time: Int64
  ) -> RenderCommand {
    var command = RenderCommand(.control, player, at: time)
    command.track = track.rawValue
    command.value = value
    command.slope = slope
    return command
  }

  /// Stops a player at once and drops its commands.
  public static func cancel(_ player: RenderPlayer) -> RenderCommand {
    RenderCommand(.cancel, player, at: 0)
  }

  /// Moves the gain on all haptics, smoothly over some frames.
  public static func hapticGain(_ gain: Double, over frameCount: Int, at time: Int64)
    -> RenderCommand
  {
    var command = RenderCommand(.hapticGain, nil, at: time)
    command.value = gain
    command.track = frameCount
    return command
  }

  /// Moves the gain on all audio, smoothly over some frames.
  public static func audioGain(_ gain: Double, over frameCount: Int, at time: Int64)
    -> RenderCommand
  {
    var command = RenderCommand(.audioGain, nil, at: time)
    command.value = gain
    command.track = frameCount
    return command
  }

  /// Moves the gain on everything, smoothly over some frames.
  public static func strength(_ gain: Double, over frameCount: Int, at time: Int64) -> RenderCommand
  {
    var command = RenderCommand(.strength, nil, at: time)
    command.value = gain
    command.track = frameCount
    return command
  }
}

/// The dynamic parameters that act while a voice sounds.
public enum ControlTrackID: Int, CaseIterable, Sendable {
  /// A factor on intensity, 0…1.
  case hapticIntensity
  /// Added to sharpness, −1…1.
  case hapticSharpness
  /// A factor on volume, 0…1.
  case audioVolume
  /// Added to pitch, −1…1.
  case audioPitch
  /// Added to brightness, −1…1.
  case audioBrightness
  /// Added to pan, −1…1.
  case audioPan
}
