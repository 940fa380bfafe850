internal import HapticModel
internal import HapticPlayback
package import SystemSupport

/// The part of a session's state that is restored in the next session: loops with their names,
/// strengths, and priorities, and the settings for all sounds.
///
/// It is stored as the commands that restore it, so that people can read and edit it.
extension CommandSession {
  private static let stateTitle = "# The state of temblor listen: commands that restore it."

  /// The commands that restore the state, one in each line.
  package var stateText: String {
    if let stateTextToRestore { return stateTextToRestore }
    var stateLines = [Self.stateTitle]
    if hasClientSetStrength {
      stateLines.append("set strength \(Self.numberText(Double(engine.strength)))")
    }
    if engine.isMuted {
      stateLines.append("mute")
    }
    if ducking != Ducking() {
      stateLines.append(
        "duck \(Self.numberText(ducking.duckedSoundGain)) "
          + "attack \(Self.numberText(ducking.attackSeconds)) "
          + "release \(Self.numberText(ducking.releaseSeconds))")
    }
    for sound in sounds where sound.stopFrame == nil && sound.replacementFrame == nil {
      stateLines += Self.commands(restoring: sound)
    }
    return stateLines.map { $0 + "\n" }.joined()
  }

  private static func commands(restoring sound: ServerSound) -> [String] {
    guard sound.isLooping, let patternName = sound.patternName, let soundName = sound.name else {
      return []
    }
    let quotedSoundName = CommandWord.quotedIfNecessary(soundName)
    var commandLines = [
      "play \(CommandWord.quotedIfNecessary(patternName)) loop as \(quotedSoundName) "
        + "rate \(numberText(sound.playbackRate)) "
        + "strength \(numberText(sound.gain)) priority \(sound.priority)"
    ]
    if let loopEndSeconds = sound.loopEndSeconds {
      commandLines.append("loop \(quotedSoundName) on end \(numberText(loopEndSeconds))")
    }
    for (id, value) in sound.controlValues.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
      commandLines.append(
        "set \(CommandParameter.control(id).name) \(numberText(value)) of \(quotedSoundName)")
    }
    if let panPosition = sound.panPositionText {
      commandLines.append("pan \(quotedSoundName) \(CommandWord.quotedIfNecessary(panPosition))")
    }
    if sound.isMuted {
      commandLines.append("mute \(quotedSoundName)")
    }
    if sound.isPaused {
      commandLines.append("pause \(quotedSoundName)")
    }
    return commandLines
  }

  private static func numberText(_ number: Double) -> String { "\((number * 1e6).rounded() / 1e6)" }
}

/// The file that stores the state of a session. It is replaced atomically, on a separate thread, at
/// most once a second. A state that could not be saved is saved again later.
package final class StateFile {
  /// The minimum interval between two saves.
  package static let saveInterval = Duration.seconds(1)
  /// The interval between attempts to save after an attempt has failed.
  package static let retryInterval = Duration.seconds(5)
  /// The maximum size of a state file, in bytes.
  private static let maximumByteCount = 1 << 20

  private let path: String
  private let reportFailure: @Sendable (String) -> Void
  /// The text that was last saved, or nil if saving it failed. The save may still be in progress.
  private var savedText: String?
  private var requestCountAtSave: Int?
  private var nextSaveTime = Duration.zero
  private var hasLastSaveFailed = false
  private var saveInProgress: RunningSave?

  /// A save in progress, on its own thread.
  private struct RunningSave {
    let thread: BackgroundThread
    /// The error of the save; nil while the thread is running, or if it succeeded.
    let error: Locked<FileError?>
  }

  /// - Parameters:
  ///   - path: The path of the file.
  ///   - report: A closure that reports an error. Repeated errors are reported once.
  package init(_ path: String, report: @escaping @Sendable (String) -> Void) {
    self.path = path
    self.reportFailure = report
  }

  /// Returns the text of the stored state, which is empty if there is no file.
  package func read() throws(FileError) -> String {
    guard FileSystem.entryKind(at: path) != .missing else { return "" }
    let stateBytes = try FileSystem.read(path, limit: Self.maximumByteCount)
    return String(decoding: stateBytes, as: UTF8.self)
  }

  /// Saves the state if requests may have changed it, or if the last save failed. Returns the time
  /// until the next check; nil if none is due.
  package func saveIfChanged(from session: CommandSession, at now: Duration) -> Duration? {
    guard saveInProgress != nil || mustSave(session) else { return nil }
    guard now >= nextSaveTime else { return nextSaveTime - now }
    guard endSave(within: .zero) else { return Self.saveInterval }
    guard mustSave(session) else { return nil }
    nextSaveTime = now + (hasLastSaveFailed ? Self.retryInterval : Self.saveInterval)
    requestCountAtSave = session.requestCount
    beginSave(session.stateText)
    return saveInProgress == nil && !hasLastSaveFailed ? nil : nextSaveTime - now
  }

  private func mustSave(_ session: CommandSession) -> Bool {
    hasLastSaveFailed || session.requestCount != requestCountAtSave
  }

  /// Saves the state for the last time, at the end of a session.
  ///
  /// - Parameters:
  ///   - session: The session.
  ///   - limit: The timeout for the disk.
  package func saveFinalState(from session: CommandSession, within limit: Duration) {
    guard endSave(within: limit) else { return }
    beginSave(session.stateText)
    _ = endSave(within: limit)
  }

  /// Waits for the save in progress, if there is one.
  func waitForSave(within limit: Duration) { _ = saveInProgress?.thread.wait(within: limit) }

  private func beginSave(_ text: String) {
    guard text != savedText else { return }
    savedText = text
    let savedPath = path
    let saveError = Locked<FileError?>(nil)
    do throws(PlaybackError) {
      let thread = try BackgroundThread {
        do throws(FileError) {
          try AtomicFileWriter.write(Array(text.utf8), to: savedPath)
        } catch let failure {
          saveError.withLock { $0 = failure }
        }
      }
      saveInProgress = RunningSave(thread: thread, error: saveError)
    } catch {
      recordFailure(FileError(savedPath, error.description))
    }
  }

  /// Records the result of the save in progress. Returns false if it has not ended.
  private func endSave(within limit: Duration) -> Bool {
    guard let endingSave = saveInProgress else { return true }
    guard endingSave.thread.wait(within: limit) else { return false }
    saveInProgress = nil
    if let saveError = endingSave.error.withLock({ $0 }) {
      recordFailure(saveError)
    } else {
      hasLastSaveFailed = false
    }
    return true
  }

  private func recordFailure(_ error: FileError) {
    savedText = nil
    if !hasLastSaveFailed {
      let seconds = Int(Self.retryInterval / .seconds(1))
      reportFailure("\(error.description); trying again every \(seconds) s")
    }
    hasLastSaveFailed = true
  }
}
