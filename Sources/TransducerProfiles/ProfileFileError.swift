/// Why a file of a profile could not be read, though it is there.
public struct ProfileFileError: Error, Equatable, CustomStringConvertible, Sendable {
  /// What has to be done.
  public enum Kind: Equatable, Sendable {
    /// Give this process the right to read it, or repair the disk.
    case access
    /// Put a file there: this is a folder, a device or a pipe.
    case noFile
    /// Make it smaller.
    case tooLarge
  }

  /// What has to be done.
  public var kind: Kind
  /// The file.
  public var path: String
  /// What is wrong, without a full stop.
  public var reason: String

  /// Makes an error.
  public init(_ kind: Kind, path: String, reason: String) {
    self.kind = kind
    self.path = path
    self.reason = reason
  }

  /// One line: `FILE: REASON`.
  public var description: String { "\(path): \(reason)" }
}
