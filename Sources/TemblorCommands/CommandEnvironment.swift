import CommandLineKit
import HapticFormats

/// What all verbs of one run share.
enum CommandEnvironment {
  /// The formats of patterns that are read and written.
  @TaskLocal static var formats = FormatRegistry.standard
}

extension Completion {
  /// Pattern files, and files with other endings, written without the dot.
  static func patterns(or endings: String...) -> Completion {
    Completion(paths: .files(endings: CommandEnvironment.formats.endings + endings))
  }
}
