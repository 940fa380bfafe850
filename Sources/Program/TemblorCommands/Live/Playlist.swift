import CommandLineKit
import HapticModel
import HapticPlayback
import HapticRender
import PatternWorkflows
import PlaybackSessions
import SystemSupport

final class Playlist: PlaybackActivity {
  /// The duration of the silence before the first pattern, in seconds.
  static let leadInSeconds = SingleTrackPlayer.initialSilenceSeconds

  private let engine: PlaybackEngine
  private let console: LiveConsole
  private let patterns: [CompiledPattern]
  private let gapFrameCount: Int64
  private let trackPlayer: SingleTrackPlayer
  private var currentPatternIndex = 0
  /// The frame at which all output has been heard, including delays; nil until the last pattern has
  /// ended.
  private var allOutputHeardFrame: Int64?

  /// Creates a playlist that starts its first pattern.
  ///
  /// - Parameters:
  ///   - patterns: The patterns.
  ///   - engine: The engine.
  ///   - passCount: The number of passes of each pattern; nil for an endless loop.
  ///   - gapSeconds: The silence between patterns in seconds.
  ///   - sendGains: The send gains of the buses.
  ///   - session: The session.
  init(
    _ patterns: [CompiledPattern], on engine: PlaybackEngine, passCount: Int? = 1,
    gapSeconds: Double = 0,
    sendGains: [SendAutomation] = [], session: LiveSession
  ) throws {
    self.engine = engine
    self.patterns = patterns
    self.gapFrameCount = FrameConversion.frame(seconds: gapSeconds, rate: engine.rate)
    console = session.console
    trackPlayer = SingleTrackPlayer(
      engine, passCount: passCount, wakeSignal: session.wakeSignal, sendGains: sendGains)
    if let firstPattern = patterns.first {
      try trackPlayer.play(
        firstPattern,
        at: .frame(FrameConversion.frame(seconds: Self.leadInSeconds, rate: engine.rate)))
      showPatternName()
    } else {
      allOutputHeardFrame = 0
    }
  }

  var keyHelp: [KeyHelp] {
    let moveKeys = [("n", "next"), ("p", "previous")]
    return SingleTrackPlayer.keyHelp + (patterns.count > 1 ? moveKeys : [])
  }

  var playbackState: PlaybackStatus.State { trackPlayer.state }
  var playbackProgress: (position: Double, duration: Double?) {
    trackPlayer.positionAndDurationSeconds
  }

  func updateActivity(at now: Duration) throws -> ActivityStep {
    if allOutputHeardFrame == nil, let endFrame = trackPlayer.endFrame {
      if currentPatternIndex + 1 < patterns.count {
        try playPattern(currentPatternIndex + 1, at: .frame(endFrame + gapFrameCount))
      } else {
        allOutputHeardFrame =
          endFrame
          + FrameConversion.frame(
            seconds: engine.routing.tailDuration(rate: engine.rate), rate: engine.rate)
      }
    }
    guard let allOutputHeardFrame else { return .wait(nil) }
    let remainingFrameCount = allOutputHeardFrame - engine.position
    return remainingFrameCount > 0
      ? .wait(.roundedToNanoseconds(seconds: Double(remainingFrameCount) / engine.rate)) : .finished
  }

  func handleKey(_ key: KeyPress) throws -> Bool {
    switch key {
    case .character(" "):
      try trackPlayer.togglePause()
    case .character("r"), .character("R"), .home:
      try playPattern(currentPatternIndex)
    case .character("n"), .character("N"), .right:
      if currentPatternIndex + 1 < patterns.count {
        try playPattern(currentPatternIndex + 1)
      } else {
        try trackPlayer.stop()
        allOutputHeardFrame = engine.position
      }
    case .character("p"), .character("P"), .left:
      try playPattern(max(0, currentPatternIndex - 1))
    default:
      return false
    }
    return true
  }

  private func playPattern(_ index: Int, at time: PlaybackTime = .now) throws {
    allOutputHeardFrame = nil
    let changesPattern = index != self.currentPatternIndex
    self.currentPatternIndex = index
    try trackPlayer.play(patterns[index], at: time)
    if changesPattern {
      showPatternName()
    }
  }

  private func showPatternName() {
    guard patterns.count > 1 else { return }
    let pattern = patterns[currentPatternIndex]
    console.reportHint(
      "\(currentPatternIndex + 1) of \(patterns.count): \(pattern.name.printable), "
        + NumberFormatting.secondsText(pattern.secondsUntilSilence))
  }
}

extension SingleTrackPlayer {
  static let keyHelp = [("space", "pause"), ("r", "replay")]
}

extension CompiledPattern {
  init(name: String, _ pattern: LoadedPattern, for engine: PlaybackEngine) throws {
    self.init(
      name: name,
      plansByHapticBus: try pattern.compilePlans(for: engine.profiles, rate: engine.rate),
      duration: pattern.composition.durationSeconds)
  }
}
