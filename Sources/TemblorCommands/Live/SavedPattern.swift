import HapticFormats
import CommandLineKit
import Reading
import HapticModel
import HapticPlayback
import PatternWorkflows
import SystemSupport

/// Plays a pattern file, and again whenever it is saved; a broken save leaves the last good one.
final class SavedPattern: SessionTask {
  private let input: PatternInput
  private let path: String
  private let reading: ReadingOptions
  private let watch: FileWatch
  private let engine: PlaybackEngine
  private let console: LiveConsole
  private let output: Output
  private let turntable: SingleTrackPlayer

  /// How often the pattern was read without a mistake.
  private(set) var goodCount = 0
  private(set) var brokenCount = 0

  /// Watches a file and starts to play what it holds now.
  ///
  /// - Parameter output: Where findings are shown, for its colours.
  init(
    _ input: PatternInput, at path: String, reading: ReadingOptions, on engine: PlaybackEngine, passCount: Int?,
    session: LiveSession, output: Output
  ) throws {
    self.path = path
    self.input = input
    self.reading = reading
    self.engine = engine
    self.output = output
    console = session.console
    turntable = SingleTrackPlayer(engine, passCount: passCount, wake: session.wake)
    // Before it is read, so that no save is missed.
    watch = try FileWatch([path])
    let start = FrameConversion.frame(seconds: Playlist.leadIn, rate: engine.rate)
    try read(startingAt: .frame(start))
  }

  var watched: [PollDescriptor] { [PollDescriptor(watch.descriptor)] }
  var state: PlaybackStatus.State { turntable.state }
  var place: (position: Double, duration: Double?) { turntable.place }
  var keys: [KeyHelp] { [KeyHelp(key: "space", meaning: "pause"), KeyHelp(key: "r", meaning: "again")] }

  func perform(at now: Duration) throws -> SessionStep {
    let changes = try watch.changes(at: now)
    if changes.contains(.init(path: path, kind: .removed)) {
      console.report("\(path.printable): was removed; the last version stays loaded")
    } else if !changes.isEmpty {
      try read(startingAt: .now)
    }
    return .wait(watch.timeout(at: now))
  }

  func press(_ key: KeyPress) throws -> Bool {
    switch key {
    case .character(" "): try turntable.togglePause()
    case .character("r"), .character("R"), .home: try turntable.restart()
    default: return false
    }
    return true
  }

  private func read(startingAt time: PlaybackTime) throws {
    let piece: CompiledPattern
    do {
      let pattern = try LoadedPattern(input, reading: reading)
      try watch.watch([path] + pattern.sources.filter(isInside))
      piece = CompiledPattern(
        name: path, plans: try pattern.plans(for: engine.profiles, rate: engine.rate),
        duration: pattern.composition.duration)
    } catch {
      brokenCount += 1
      return show(error)
    }
    try turntable.play(piece, at: time)
    goodCount += 1
    let text = "\(path.printable): \(NumberFormatting.seconds(piece.duration))"
    // What is loaded at first is known; a log has every later version.
    if goodCount + brokenCount > 1 { console.announce(text) } else { console.tell(text) }
  }

  private func isInside(_ path: String) -> Bool { path != self.path && !path.split(separator: "/").contains("..") }

  private func show(_ error: any Error) {
    let findings = (try? CheckVerb.examine(input))?.filter { $0.severity != .note } ?? []
    if error is InputError, findings.contains(where: { $0.severity == .error }) {
      console.report(String(CheckVerb.text(findings, for: output).dropLast()))
    } else {
      console.report(Failure.message(error))
    }
    if goodCount > 0 { console.tell("The last valid version stays loaded.") }
  }
}
