import Reading
import HapticFormats
import HapticModel
import PatternWorkflows
import SystemSupport

/// The sound files that converted patterns name, copied so that each output finds its own.
struct CopiedSounds {
  /// A sound file that a pattern names, and where it is.
  struct File {
    var name: String
    var source: String
  }

  private var sources: [String: String] = [:]

  static func find(_ references: [Examination.SoundReference], of input: PatternInput) -> (
    files: [File], losses: [PatternConversion.PlacedLoss]
  ) {
    var files: [File] = []
    var losses: [PatternConversion.PlacedLoss] = []
    for reference in references {
      do throws(InputError) {
        let source = try WaveformFiles.file(reference, in: input.folder)
        files.append(File(name: reference.path, source: source))
      } catch {
        let hint = error.finding.suggestion.map { "; \($0)" } ?? ""
        losses.append(.init(loss: Loss(.dropped, .composition, error.finding.message + hint), place: reference.place))
      }
    }
    return (files, losses)
  }

  /// Refuses copies that would replace an input or the sound file of another pattern.
  func check(_ files: [File], folder: String, inputs: OutputGuard) throws(FileError) {
    for (file, path) in copies(of: files, in: folder) {
      if inputs.isInput(path) { throw FileError(path, "is an input; choose another '--output'") }
      if let other = sources[OutputGuard.place(of: path)], other != file.source {
        throw FileError(
          path,
          "would be a copy of \(other.inQuotes) and of \(file.source.inQuotes); "
            + "convert their patterns to different folders")
      }
    }
  }

  /// Copies sound files below a folder; returns the paths of the copies.
  mutating func copy(_ files: [File], to folder: String) throws(FileError) -> [String] {
    var paths: [String] = []
    for (file, path) in copies(of: files, in: folder) {
      try FileSystem.makeFolder(FileSystem.folder(of: path))
      guard sources.updateValue(file.source, forKey: OutputGuard.place(of: path)) == nil else { continue }
      try AtomicFileWriter.write(FileSystem.read(file.source), to: path)
      paths.append(path)
    }
    return paths
  }

  /// The files that are not already where they are looked for.
  private func copies(of files: [File], in folder: String) -> [(file: File, path: String)] {
    files.map { ($0, FileSystem.join(folder, $0.name)) }.filter {
      FileIdentity($0.1) == nil || FileIdentity($0.1) != FileIdentity($0.0.source)
    }
  }
}
