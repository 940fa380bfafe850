internal import HapticFormats
internal import Reading
package import SoundFile
internal import SystemSupport
internal import VendorFormats

extension SoundFileError {
  /// The number of bytes at the start of a file that determine its kind.
  private static let examinedByteCount = 65_536

  /// Reads a sound file. If the file is not a sound file, the error names the kind of the file.
  ///
  /// - Parameters:
  ///   - path: The path of the file, or `-` for standard input.
  ///   - read: Reads the file.
  package static func namingFileKind<Value: ~Copyable>(
    of path: String, _ read: () throws(SoundFileError) -> Value
  ) throws(SoundFileError) -> Value {
    do throws(SoundFileError) {
      return try read()
    } catch {
      guard error.kind == .notSound, let reason = nonSoundFileReason(of: path) else { throw error }
      throw SoundFileError(kind: .notSound, path: error.path, description: reason)
    }
  }

  /// Returns the reason that a file is not a sound file, such as `is an HTML page, not a sound
  /// file`, or nil for a sound file and for an unknown kind of file.
  package static func nonSoundFileReason(of path: String) -> String? {
    let examinedBytes = FileSystem.firstBytes(of: path, count: examinedByteCount)
    if let recognizedKind = FileKind(of: examinedBytes) {
      return recognizedKind.isSoundFile
        ? nil : wrongKindText(recognizedKind.nounPhrase, recognizedKind.errorSuggestion)
    }
    let sourceFile = SourceFile(examinedBytes, name: path)
    if let guessedKind = FileKind(ofUnrecognized: sourceFile) {
      return wrongKindText(guessedKind.nounPhrase, guessedKind.errorSuggestion)
    }
    let isPattern = FormatRegistry.standard.formats.contains {
      $0.recognize(examinedBytes.span) == .certain
    }
    return isPattern
      ? wrongKindText("a haptic pattern", "create a sound from it with 'temblor render'") : nil
  }

  private static func wrongKindText(_ kindName: String, _ suggestion: String?) -> String {
    "is \(kindName), not a sound file" + (suggestion.map { "; \($0)" } ?? "")
  }
}
