internal import Glibc
internal import SystemSupport

/// The sound files in a folder and below it, and nothing outside, whatever a path or a link says.
///
/// For the paths that patterns name: they may come from anywhere.
public struct SoundFolder: Equatable, Sendable {
  /// The folder; it may be a link itself.
  public let root: String

  /// Makes the folder of some patterns; whether it exists is found out when a sound is read.
  public init(root: String) { self.root = root }

  /// Decodes a whole file.
  ///
  /// - Parameter path: Relative to the root. Links are followed as far as they stay below the root.
  /// - Throws: `outside`, `missing` or `notAFile`, or what `Sound.init(contentsOf:)` throws.
  public func sound(at path: String) throws(SoundFileError) -> Sound {
    try Sound(contentsOf: file(at: path), named: path, flags: O_NOFOLLOW)
  }

  /// The real path of a file, links followed; the file is not opened.
  ///
  /// - Parameter path: Relative to the root. Links are followed as far as they stay below the root.
  /// - Throws: `outside`, `missing` or `notAFile`.
  public func file(at path: String) throws(SoundFileError) -> String {
    let outside = SoundFileError(kind: .outside, path: path, description: "is outside the folder of the pattern")
    guard !path.isEmpty, !path.hasPrefix("/"), !path.utf8.contains(0) else { throw outside }
    guard let folder = FileSystem.realPath(root), let real = FileSystem.realPath(FileSystem.join(folder, path)) else {
      throw SoundFileError(kind: .missing, path: path, description: "was not found in the folder of the pattern")
    }
    // Links may lead anywhere, so the real path decides.
    guard real.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/") else { throw outside }
    guard FileSystem.entry(at: real) == .file else {
      throw SoundFileError(kind: .notAFile, path: path, description: "is not a regular file")
    }
    return real
  }
}

extension Sound {
  /// Decodes a whole file at a path.
  ///
  /// - Throws: `missing`, `notAFile`, `systemRefused`, or what `init(readingDescriptor:path:)` throws.
  public init(contentsOf path: String) throws(SoundFileError) { try self.init(contentsOf: path, named: path, flags: 0) }

  fileprivate init(contentsOf path: String, named name: String, flags: Int32) throws(SoundFileError) {
    // A pipe must not keep the caller waiting for a writer.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR {
        throw SoundFileError(kind: .missing, path: name, description: "does not exist")
      }
      throw SoundFileError.system(name, "cannot be opened")
    }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw SoundFileError(kind: .notAFile, path: name, description: "is not a regular file")
    }
    try self.init(readingDescriptor: descriptor, path: name)
  }
}
