package import HapticPlayback
package import HapticRender

/// A player of one pattern at a time. Each start uses a new player, so that the previous pattern
/// fades out in parallel.
package final class SingleTrackPlayer {
  /// The duration of the silence before the first pattern, in seconds. It is longer than the
  /// initial fade-in.
  package static let leadInSeconds = 0.003

  private let engine: PlaybackEngine
  private let wake: WakeSignal
  private let passCount: Int?
  private let sendGains: [SendAutomation]
  private var player: PatternPlayer?
  private var pattern: CompiledPattern?
  package private(set) var isPaused = false

  /// - Parameter passCount: The number of passes of each pattern; nil for an endless loop.
  package init(
    _ engine: PlaybackEngine, passCount: Int?, wake: WakeSignal,
    sendGains: [SendAutomation] = []
  ) {
    self.engine = engine
    self.passCount = passCount
    self.wake = wake
    self.sendGains = sendGains
  }

  /// The frame at which the pattern ended, or nil before and during playback.
  package var endFrame: Int64? {
    guard let player, player.endCount > 0 else { return nil }
    return player.endFrame
  }

  package var state: PlaybackState {
    if isPaused { return .paused }
    return player?.phase == .playing ? .playing : .idle
  }

  /// The elapsed time of the pattern and its duration, in seconds.
  package var progress: (position: Double, duration: Double?) {
    guard let player, let pattern else { return (0, nil) }
    return (min(player.position, pattern.duration), pattern.duration)
  }

  package func play(_ pattern: CompiledPattern, at time: PlaybackTime = .now) throws {
    try stop()
    let player = try engine.player(
      for: pattern.plans, duration: pattern.duration, sendGains: sendGains)
    let wake = wake
    player.endHandler = { wake.raise() }
    try player.loop(passCount: passCount)
    try player.start(at: time)
    self.player = player
    self.pattern = pattern
  }

  package func stop() throws {
    player?.endHandler = nil
    try player?.cancel()
    player = nil
    isPaused = false
  }

  package func restart() throws {
    if let pattern {
      try play(pattern)
    }
  }

  /// Pauses or resumes the pattern. A pattern that has not started yet starts when it is resumed.
  package func togglePause() throws {
    guard let player, let pattern, endFrame == nil else { return }
    if isPaused {
      isPaused = false
      if player.startFrame == nil {
        try play(pattern)
      } else {
        try player.resume()
      }
    } else {
      if player.startFrame == nil {
        try player.cancel()
      } else {
        try player.pause()
      }
      isPaused = true
    }
  }
}
