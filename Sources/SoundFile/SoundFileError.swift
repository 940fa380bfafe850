internal import Glibc

/// Why a sound file could not be read or written.
public struct SoundFileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// The name's ending names no format that can be written: choose another.
    case unknownExtension
    /// The format cannot hold these samples, channels or rate: choose another.
    case unsupportedFormat
    /// The file holds no sound that can be read.
    case notSound
    /// The file breaks off or cannot be decoded any further: get a whole one.
    case damaged
    /// The sound is longer than a pattern may play.
    case tooLong
    /// The path leads out of the folder that sounds are read from.
    case outside
    /// There is no file of the name.
    case missing
    /// The name is that of a folder, a pipe or a device.
    case notAFile
    /// The disk is full.
    case diskFull
    /// The system refused.
    case systemRefused
  }

  /// What can be done about it.
  public var kind: Kind
  /// The file, as the user named it.
  public var path: String
  /// One line for the user, without the path.
  public var description: String

  /// Makes an error.
  public init(kind: Kind, path: String, description: String) {
    (self.kind, self.path, self.description) = (kind, path, description)
  }

  /// A header without a rate or with no possible number of channels.
  static func invalidHeader(_ path: String) -> SoundFileError {
    SoundFileError(
      kind: .notSound, path: path, description: "has an invalid header: its sample rate or its number of channels is 0")
  }

  static func system(_ path: String, _ text: String) -> SoundFileError {
    SoundFileError(kind: .systemRefused, path: path, description: "\(text): \(unsafe String(cString: strerror(errno)))")
  }
}
