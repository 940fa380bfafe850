import HapticPlayback
import HapticRender

/// Something to play: a pattern compiled for every haptic bus of an engine.
struct CompiledPattern: Sendable {
  /// What messages call it.
  var name: String
  /// One plan for each haptic bus.
  var plans: [RenderPlan]
  /// The pattern's duration in seconds.
  var duration: Double
}

/// Plays one piece at a time: starts it, lets it stand still, starts it anew.
///
/// Every start has a player of its own, so that what played before fades out beside it.
final class SingleTrackPlayer {
  private let engine: PlaybackEngine
  private let wake: WakeSignal
  private let passCount: Int?
  private let shares: [SendAutomation]
  private var player: PatternPlayer?
  private var piece: CompiledPattern?
  private(set) var isPaused = false

  /// A turntable.
  ///
  /// - Parameters:
  ///   - passCount: How often each piece is played, or nothing for endlessly.
  ///   - wake: Raised when a piece ends.
  ///   - shares: What each haptic bus gets of every piece; none for all of it.
  init(_ engine: PlaybackEngine, passCount: Int?, wake: WakeSignal, shares: [SendAutomation] = []) {
    self.engine = engine
    self.passCount = passCount
    self.wake = wake
    self.shares = shares
  }

  /// The frame at which the piece ended, or nothing while it plays or is still to come.
  var endFrame: Int64? {
    guard let player, player.endCount > 0 else { return nil }
    return player.endFrame
  }

  /// What the sound does.
  var state: PlaybackStatus.State {
    if isPaused { return .paused }
    return player?.phase == .playing ? .playing : .idle
  }

  /// Seconds of the piece that have run, and its duration.
  var place: (position: Double, duration: Double?) {
    guard let player, let piece else { return (0, nil) }
    return (min(player.place, piece.duration), piece.duration)
  }

  /// Plays a piece in the place of what plays.
  func play(_ piece: CompiledPattern, at time: PlaybackTime = .now) throws {
    try stop()
    let player = try engine.player(for: piece.plans, duration: piece.duration, shares: shares)
    let wake = wake
    player.endHandler = { wake.raise() }
    try player.loop(passCount: passCount)
    try player.start(at: time)
    self.player = player
    self.piece = piece
  }

  /// Ends what plays, or is to come.
  func stop() throws {
    player?.endHandler = nil
    try player?.cancel()
    player = nil
    isPaused = false
  }

  /// Plays the piece from its beginning, at once.
  func restart() throws {
    if let piece { try play(piece) }
  }

  /// Lets the piece stand still, or go on; one that was still to come begins when it goes on.
  func togglePause() throws {
    guard let player, let piece, endFrame == nil else { return }
    if isPaused {
      isPaused = false
      if player.startFrame == nil { try play(piece) } else { try player.resume() }
    } else {
      if player.startFrame == nil { try player.cancel() } else { try player.pause() }
      isPaused = true
    }
  }
}
