package import HapticPlayback
package import HapticRender

/// A player of one pattern at a time. Each start uses a new player, so that the previous pattern
/// fades out in parallel.
package final class SingleTrackPlayer {
  /// The duration of the silence before the first pattern, in seconds. It is longer than the
  /// initial fade-in.
  package static let initialSilenceSeconds = 0.003

  private let engine: PlaybackEngine
  private let wakeSignal: WakeSignal
  private let passCount: Int?
  private let sendGains: [SendAutomation]
  private var patternPlayer: PatternPlayer?
  private var currentPattern: CompiledPattern?
  package private(set) var isPaused = false

  /// - Parameter passCount: The number of passes of each pattern; nil for an endless loop.
  package init(
    _ engine: PlaybackEngine, passCount: Int?, wakeSignal: WakeSignal,
    sendGains: [SendAutomation] = []
  ) {
    self.engine = engine
    self.passCount = passCount
    self.wakeSignal = wakeSignal
    self.sendGains = sendGains
  }

  /// The frame at which the pattern ended, or nil before and during playback.
  package var endFrame: Int64? {
    guard let patternPlayer, patternPlayer.endCount > 0 else { return nil }
    return patternPlayer.endFrame
  }

  package var state: PlaybackState {
    if isPaused { return .paused }
    return patternPlayer?.phase == .playing ? .playing : .idle
  }

  /// The elapsed time of the pattern and its duration, in seconds.
  package var positionAndDurationSeconds: (position: Double, duration: Double?) {
    guard let patternPlayer, let currentPattern else { return (0, nil) }
    return (
      min(patternPlayer.position, currentPattern.durationSeconds), currentPattern.durationSeconds
    )
  }

  package func play(_ pattern: CompiledPattern, at time: PlaybackTime = .now) throws {
    try stop()
    let newPlayer = try engine.player(
      for: pattern.plansByHapticBus, duration: pattern.durationSeconds, sendGains: sendGains)
    let endSignal = wakeSignal
    newPlayer.endHandler = { endSignal.raise() }
    try newPlayer.loop(passCount: passCount)
    try newPlayer.start(at: time)
    self.patternPlayer = newPlayer
    self.currentPattern = pattern
  }

  package func stop() throws {
    patternPlayer?.endHandler = nil
    try patternPlayer?.cancel()
    patternPlayer = nil
    isPaused = false
  }

  package func restart() throws {
    if let currentPattern {
      try play(currentPattern)
    }
  }

  /// Pauses or resumes the pattern. A pattern that has not started yet starts when it is resumed.
  package func togglePause() throws {
    guard let patternPlayer, let currentPattern, endFrame == nil else { return }
    if isPaused {
      isPaused = false
      if patternPlayer.startFrame == nil {
        try play(currentPattern)
      } else {
        try patternPlayer.resume()
      }
    } else {
      if patternPlayer.startFrame == nil {
        try patternPlayer.cancel()
      } else {
        try patternPlayer.pause()
      }
      isPaused = true
    }
  }
}
