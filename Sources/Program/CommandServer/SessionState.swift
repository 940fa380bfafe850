internal import HapticModel
internal import HapticPlayback
package import SystemSupport

/// The state of a session that continues in the next one: loops with their names, strengths, and
/// priorities, and the settings for all sounds.
///
/// It is stored as the commands that restore it, so that people can read and edit it.
extension CommandSession {
  private static let stateTitle = "# The state of temblor listen: commands that restore it."

  /// The commands that restore the state, one in each line.
  package var stateText: String {
    var lines = [Self.stateTitle]
    if hasSetStrength {
      lines.append("set strength \(Self.text(Double(engine.strength)))")
    }
    if engine.isMuted {
      lines.append("mute")
    }
    if ducking != Ducking() {
      lines.append(
        "duck \(Self.text(ducking.gain)) attack \(Self.text(ducking.attackSeconds)) "
          + "release \(Self.text(ducking.releaseSeconds))")
    }
    for sound in sounds where sound.stopFrame == nil && sound.replacementFrame == nil {
      lines += Self.commands(restoring: sound)
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func commands(restoring sound: ServerSound) -> [String] {
    guard sound.isLooping, let pattern = sound.patternName, let name = sound.name else { return [] }
    let word = CommandWord.escaped(name)
    var lines = [
      "play \(CommandWord.escaped(pattern)) loop as \(word) rate \(text(sound.playbackRate)) "
        + "strength \(text(sound.gain)) priority \(sound.priority)"
    ]
    if let end = sound.loopEndSeconds {
      lines.append("loop \(word) on end \(text(end))")
    }
    for (id, value) in sound.controlValues.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
      lines.append("set \(CommandParameter.control(id).name) \(text(value)) of \(word)")
    }
    if let position = sound.panText {
      lines.append("pan \(word) \(CommandWord.escaped(position))")
    }
    if sound.isMuted {
      lines.append("mute \(word)")
    }
    if sound.isPaused {
      lines.append("pause \(word)")
    }
    return lines
  }

  private static func text(_ number: Double) -> String { "\((number * 1e6).rounded() / 1e6)" }

  /// Performs the commands of a state.
  ///
  /// - Returns: The commands that failed, with the reasons; all others were performed.
  package func restore(_ state: String) -> [String] {
    var problems: [String] = []
    for line in state.split(separator: "\n") {
      guard let request = CommandGrammar.read(String(line)) else { continue }
      let reply = reply(to: request)
      if reply.errorKind != nil {
        problems.append("'\(String(line).printable)': \(reply.line)")
      }
    }
    return problems
  }
}

/// The file of a session's state, which is replaced atomically, on a thread of its own, at most
/// once a second.
package final class StateFile {
  /// The interval between checks of the state.
  package static let saveInterval = Duration.seconds(1)
  /// The maximum size of a file in bytes.
  private static let maximumByteCount = 1 << 20

  private let path: String
  private let report: @Sendable (String) -> Void
  private var savedText: String?
  private var savedRequestCount: Int?
  private var nextSaveTime = Duration.zero
  private var saveThread: BackgroundThread?

  /// - Parameters:
  ///   - path: The path of the file.
  ///   - report: A closure that reports an error, on any thread.
  package init(_ path: String, report: @escaping @Sendable (String) -> Void) {
    self.path = path
    self.report = report
  }

  /// Returns the stored state; empty without a file.
  package func read() throws(FileError) -> String {
    guard FileSystem.entryKind(at: path) != .missing else { return "" }
    let bytes = try FileSystem.read(path, limit: Self.maximumByteCount)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Saves the state if requests may have changed it. Returns the time until the next check; nil if
  /// none is due.
  package func update(from session: CommandSession, at now: Duration) -> Duration? {
    guard session.requestCount != savedRequestCount else { return nil }
    guard now >= nextSaveTime else { return nextSaveTime - now }
    nextSaveTime = now + Self.saveInterval
    guard saveThread?.wait(within: .zero) ?? true else { return Self.saveInterval }
    savedRequestCount = session.requestCount
    save(session.stateText)
    return nil
  }

  /// Saves the state at the end of a session.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - limit: The timeout for the disk.
  package func finish(from session: CommandSession, within limit: Duration) {
    saveThread?.wait(within: limit)
    save(session.stateText)
    saveThread?.wait(within: limit)
  }

  private func save(_ text: String) {
    guard text != savedText else { return }
    savedText = text
    let path = path
    let report = report
    saveThread = try? BackgroundThread {
      do throws(FileError) {
        try AtomicFileWriter.write(Array(text.utf8), to: path)
      } catch {
        report(error.description)
      }
    }
    if saveThread == nil {
      savedText = nil
    }
  }
}
