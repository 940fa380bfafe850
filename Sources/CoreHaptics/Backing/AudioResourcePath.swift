import HapticModel

/// The path that stands for a registered sound in a pattern: one that no file can have.
enum AudioResourcePath {
  /// File names have no NUL, and readers of AHAP refuse it, so that no text can name a resource.
  private static let prefix = "\0resource:"

  /// The path of a registered sound.
  static func path(for id: CHHapticAudioResourceID) -> String { prefix + String(id) }

  /// The registered sound that a path stands for, or nothing for files.
  static func id(of path: String) -> CHHapticAudioResourceID? {
    path.hasPrefix(prefix) ? Int(path.dropFirst(prefix.count)) : nil
  }
}
