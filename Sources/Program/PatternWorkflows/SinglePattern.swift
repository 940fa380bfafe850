package import HapticFormats
package import SystemSupport

extension PatternInput {
  /// The reason that a path or a name does not lead to a single pattern.
  package enum SinglePatternError: Error, CustomStringConvertible {
    /// The path leads to a folder, a device, or a pipe.
    case notRegularFile(FileError)
    /// Neither a file nor a shipped pattern has the name.
    case notFound(FileError)

    /// The name as the user specified it, and the reason, on one line.
    package var description: String {
      switch self {
      case .notRegularFile(let error), .notFound(let error): error.description
      }
    }
  }

  /// Returns the pattern in a regular file, or the shipped pattern of a name without a file.
  ///
  /// Unlike `find`, this function refuses folders, devices, and pipes, and `-` is the name of a
  /// file. The file is not read. If it contains several patterns, the result stands for all of
  /// them in sequence, and `parts` divides the result.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - name: The path or the name of the pattern as the user specified it.
  ///   - formats: The formats that are recognized.
  package static func singlePattern(
    at path: String, named name: String, formats: FormatRegistry
  ) throws(SinglePatternError) -> PatternInput {
    switch FileSystem.entryKind(at: path) {
    case .folder:
      throw .notRegularFile(FileError(name, "is a folder; specify a single pattern"))
    case .other:
      throw .notRegularFile(FileError(name, "is not a regular file"))
    case .file:
      return PatternInput(
        origin: .file(path), outputStem: FileSystem.fileStem(of: path), formats: formats)
    case .missing:
      do throws(FileError) {
        return try shippedPattern(named: name, formats: formats)
      } catch {
        throw .notFound(error)
      }
    }
  }
}
