final class Playlist: PlaybackActivity {
  /// The silence before the first pattern in seconds: longer than the initial fade-in.
  static let leadInSeconds = 0.003

  private let engine: PlaybackEngine
  private let console: LiveConsole
  private let patterns: [CompiledPattern]
  private let gapFrameCount: Int64
  private let trackPlayer: SingleTrackPlayer
  private var index = 0
  /// The frame at which the whole sound has been heard, once the last pattern has ended.
  private var heardEndFrame: Int64?

  /// Creates a playlist that starts its first pattern.
  ///
  /// - Parameters:
  ///   - pieces: The patterns.
  ///   - engine: The engine.
  ///   - passCount: The number of passes of each pattern; nil for an endless loop.
  ///   - gap: The silence between patterns in seconds.
  ///   - shares: The send gains of the buses.
  ///   - session: The session.
  init(
    _ pieces: [CompiledPattern], on engine: PlaybackEngine, passCount: Int? = 1,
    gapSeconds gap: Double = 0,
    sendGains: [SendAutomation] = [], session: LiveSession
  ) throws {
    self.engine = engine
    self.patterns = pieces
    self.gapFrameCount = FrameConversion.frame(seconds: gap, rate: engine.rate)
    console = session.console
    trackPlayer = SingleTrackPlayer(
      engine, passCount: passCount, wake: session.wake, sendGains: sendGains)
    if let first = pieces.first {
      try trackPlayer.play(
        first, at: .frame(FrameConversion.frame(seconds: Self.leadInSeconds, rate: engine.rate)))
      showPatternName()
    } else {
      heardEndFrame = 0
    }
  }

  var keys: [KeyHelp] {
    let moves = [("n", "next"), ("p", "previous")]
    return SingleTrackPlayer.keys + (patterns.count > 1 ? moves : [])
  }

  var state: PlaybackStatus.State { trackPlayer.state }
  var progress: (position: Double, duration: Double?) { trackPlayer.progress }

  func update(at now: Duration) throws -> ActivityStep {
    if heardEndFrame == nil, let end = trackPlayer.endFrame {
      if index + 1 < patterns.count {
        try play(index + 1, at: .frame(end + gapFrameCount))
      } else {
        heardEndFrame =
          end
          + FrameConversion.frame(
            seconds: engine.routing.tail(rate: engine.rate), rate: engine.rate)
      }
    }
    guard let heardEndFrame else { return .wait(nil) }
    let remaining = heardEndFrame - engine.position
    return remaining > 0 ? .wait(.nanosecondRounded(seconds: Double(remaining) / engine.rate)) : .finished
  }

  func handleKey(_ key: KeyPress) throws -> Bool {
    switch key {
    case .character(" "):
      try trackPlayer.togglePause()
    case .character("r"), .character("R"), .home:
      try play(index)
    case .character("n"), .character("N"), .right:
      if index + 1 < patterns.count {
        try play(index + 1)
      } else {
        try trackPlayer.stop()
        heardEndFrame = engine.position
      }
    case .character("p"), .character("P"), .left:
      try play(max(0, index - 1))
    default:
      return false
    }
    return true
  }

  private func play(_ index: Int, at time: PlaybackTime = .now) throws {
    heardEndFrame = nil
    let isOther = index != self.index
    self.index = index
    try trackPlayer.play(patterns[index], at: time)
    if isOther {
      showPatternName()
    }
  }

  private func showPatternName() {
    guard patterns.count > 1 else { return }
    let piece = patterns[index]
    console.hint(
      "\(index + 1) of \(patterns.count): \(piece.name.printable), "
        + NumberFormatting.seconds(piece.duration))
  }
}

struct CompiledPattern: Sendable {
  var name: String
  var plans: [RenderPlan]
  /// The pattern's duration in seconds.
  var duration: Double
}

extension CompiledPattern {
  init(name: String, _ pattern: LoadedPattern, for engine: PlaybackEngine) throws {
    self.init(
      name: name, plans: try pattern.plans(for: engine.profiles, rate: engine.rate),
      duration: pattern.composition.duration)
  }

  init(name: String, _ pattern: HapticPattern, for engine: PlaybackEngine) throws {
    self.init(
      name: name,
      plans: try engine.profiles.map {
        try RenderPlan(compiling: pattern, profile: $0, rate: engine.rate)
      },
      duration: pattern.duration)
  }
}

/// Plays one pattern at a time. Each start uses a new player, so that the previous pattern fades
/// out in parallel.
final class SingleTrackPlayer {
  static let keys = [("space", "pause"), ("r", "again")]

  private let engine: PlaybackEngine
  private let wake: WakeSignal
  private let passCount: Int?
  private let sendGains: [SendAutomation]
  private var player: PatternPlayer?
  private var pattern: CompiledPattern?
  private(set) var isPaused = false

  /// - Parameter passCount: The number of passes of each pattern; nil for an endless loop.
  init(
    _ engine: PlaybackEngine, passCount: Int?, wake: WakeSignal,
    sendGains: [SendAutomation] = []
  ) {
    self.engine = engine
    self.passCount = passCount
    self.wake = wake
    self.sendGains = sendGains
  }

  /// The frame at which the pattern ended; nil before and during playback.
  var endFrame: Int64? {
    guard let player, player.endCount > 0 else { return nil }
    return player.endFrame
  }

  var state: PlaybackStatus.State {
    if isPaused { return .paused }
    return player?.phase == .playing ? .playing : .idle
  }

  /// The elapsed time of the pattern and its duration, in seconds.
  var progress: (position: Double, duration: Double?) {
    guard let player, let pattern else { return (0, nil) }
    return (min(player.position, pattern.duration), pattern.duration)
  }

  func play(_ piece: CompiledPattern, at time: PlaybackTime = .now) throws {
    try stop()
    let player = try engine.player(for: piece.plans, duration: piece.duration, sendGains: sendGains)
    let wake = wake
    player.endHandler = { wake.raise() }
    try player.loop(passCount: passCount)
    try player.start(at: time)
    self.player = player
    self.pattern = piece
  }

  func stop() throws {
    player?.endHandler = nil
    try player?.cancel()
    player = nil
    isPaused = false
  }

  func restart() throws {
    if let pattern {
      try play(pattern)
    }
  }

  /// Pauses or resumes the pattern; a pattern that has not started yet starts when it is resumed.
  func togglePause() throws {
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
