import CommandLineKit
import HapticFormats
import HapticModel
import PatternWorkflows
import Reading
import SystemSupport

/// A sound file that a converted or traced pattern plays, with the path of its copy.
struct SoundCopy {
  let sourcePath: String
  let receivedPath: ReceivedPath

  /// Finds the sound files of a pattern that have to be copied for its output.
  ///
  /// - Parameters:
  ///   - references: The sound files that the output names.
  ///   - input: The pattern.
  ///   - folder: The folder of the output, or nil for a stream, which gets no copies.
  /// - Returns: The copies, and a loss for each sound file that is missing, is not a sound file, or
  ///   has a name that is not written.
  static func findCopies(
    _ references: [ReadResult.SoundReference], of input: PatternInput, to folder: String?
  ) -> (copies: [SoundCopy], losses: [PatternConversion.LocatedLoss]) {
    var soundCopies: [SoundCopy] = []
    var soundLosses: [PatternConversion.LocatedLoss] = []
    func recordLoss(_ reference: ReadResult.SoundReference, _ message: String) {
      let loss = Loss(.dropped, .composition, message)
      soundLosses.append(.init(loss: loss, location: reference.location))
    }
    for reference in references {
      do {
        let source = try WaveformFiles.soundFilePath(of: reference, in: input.soundFolder)
        guard let folder, !isInPlace(reference.path, in: folder, source: source) else { continue }
        let destination = try ReceivedPath(reference.path, in: folder)
        _ = try WaveformFiles.verifiedSoundFilePath(of: reference, in: input.soundFolder)
        soundCopies.append(SoundCopy(sourcePath: source, receivedPath: destination))
      } catch let error as InputError {
        let hint = error.finding.suggestion.map { "; \($0)" } ?? ""
        recordLoss(reference, error.finding.message + hint)
      } catch let error as FileError {
        recordLoss(reference, "the sound file \(reference.path.inQuotes) \(error.reason)")
      } catch {
        recordLoss(
          reference, "the sound file \(reference.path.inQuotes) cannot be copied: \(error)")
      }
    }
    return (soundCopies, soundLosses)
  }

  /// Returns whether a name in the output folder already refers to the sound file, so that no copy
  /// is needed.
  static func isInPlace(_ name: String, in folder: String, source: String) -> Bool {
    guard let fileIdentity = FileIdentity(FileSystem.joinPath(folder, name)) else { return false }
    return fileIdentity == FileIdentity(source)
  }
}

/// The files that a command is about to write, checked before the first file is written.
///
/// The names of copied sounds come from the content of inputs. A copy replaces no file: not an
/// input, not an output, and no other file unless it already has the same content.
struct OutputPlan {
  private enum PathOwner: Equatable { case output, copy(of: String) }

  private let inputOverwriteCheck: InputOverwriteCheck
  private var ownersByPath: [String: PathOwner] = [:]
  /// The reasons why the command must not write anything.
  private(set) var conflicts: [FileError] = []

  init(inputOverwriteCheck: InputOverwriteCheck) {
    self.inputOverwriteCheck = inputOverwriteCheck
  }

  /// Plans to write or replace the output file of a pattern.
  mutating func addOutput(path: String) {
    if inputOverwriteCheck.isInputPath(path) {
      return addConflict(path, reason: "is an input file; choose a different '--output'")
    }
    switch ownersByPath.updateValue(.output, forKey: InputOverwriteCheck.comparablePath(of: path)) {
    case nil:
      break
    case .output:
      addConflict(path, reason: "would be written twice; convert the patterns to different folders")
    case .copy(let source):
      addConflict(path, reason: Self.conflictReason(with: source))
    }
  }

  /// Plans to copy a sound file, and returns the copy, or nil if the same copy is already planned
  /// or exists.
  mutating func addCopy(_ copy: SoundCopy) -> SoundCopy? {
    let copyPath = copy.receivedPath.path
    if inputOverwriteCheck.isInputPath(copyPath) {
      addConflict(copyPath, reason: "is an input file; choose a different '--output'")
      return nil
    }
    switch ownersByPath[InputOverwriteCheck.comparablePath(of: copyPath)] {
    case .output:
      addConflict(copyPath, reason: Self.conflictReason(with: copy.sourcePath))
      return nil
    case .copy(let otherSource):
      guard otherSource != copy.sourcePath else { return nil }
      addConflict(
        copyPath,
        reason: "cannot be a copy of both \(otherSource.inQuotes) and \(copy.sourcePath.inQuotes); "
          + "convert their patterns to different folders")
      return nil
    case nil:
      ownersByPath[InputOverwriteCheck.comparablePath(of: copyPath)] = .copy(of: copy.sourcePath)
    }
    do throws(FileError) {
      if try copy.receivedPath.checkState() == .free { return copy }
      if try FileSystem.read(copyPath) == FileSystem.read(copy.sourcePath) {
        return nil
      }
      addConflict(
        copyPath,
        reason: """
          exists and differs from the sound file \(copy.sourcePath.inQuotes); choose a different \
          '--output'
          """
      )
    } catch {
      conflicts.append(error)
    }
    return nil
  }

  private mutating func addConflict(_ path: String, reason: String) {
    conflicts.append(FileError(path, reason))
  }

  private static func conflictReason(with source: String) -> String {
    "cannot be both an output file and a copy of \(source.inQuotes); choose a different '--output'"
  }
}

/// The output files of one pattern, which are written only if the whole plan has no conflict.
struct PlannedFiles {
  /// A pattern file, or a sound file made from a signal.
  struct File {
    let path: String
    let bytes: [UInt8]
  }

  var outputFiles: [File] = []
  var soundCopies: [SoundCopy] = []

  /// Writes the output files and the copied sound files, reports each copy, and returns all paths.
  func writeFiles(on terminal: Terminal) throws(FileError) -> [String] {
    for output in outputFiles {
      try FileSystem.makeFolder(FileSystem.folderPath(of: output.path))
      try AtomicFileWriter.write(output.bytes, to: output.path)
    }
    for copy in soundCopies {
      try copy.receivedPath.createFile(FileSystem.read(copy.sourcePath))
      terminal.report(
        "\(copy.receivedPath.path): copied from \(copy.sourcePath.inQuotes)".printable)
    }
    return outputFiles.map(\.path) + soundCopies.map(\.receivedPath.path)
  }
}
