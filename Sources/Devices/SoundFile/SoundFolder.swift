internal import Glibc
internal import SystemSupport

/// A folder that gives access to its sound files only, even if a path or a link leads elsewhere.
///
/// Patterns, and the paths in them, may come from untrusted sources.
public struct SoundFolder: Equatable, Sendable {
  /// The path of the folder, which may itself be a link.
  public let rootPath: String

  /// Creates a folder for the sounds of patterns. Its existence is checked when a sound is read.
  public init(rootPath: String) { self.rootPath = rootPath }

  /// Decodes a sound file of the folder.
  ///
  /// - Parameter path: The path relative to the root. Links are followed within the root.
  /// - Throws: `outside`, `missing`, `notAFile`, or an error of `Sound.init(contentsOf:)`.
  public func decodeSound(at path: String) throws(SoundFileError) -> Sound {
    try Sound(contentsOf: resolvedPath(of: path), named: path, flags: O_NOFOLLOW)
  }

  /// Returns the real path of a file, with links followed, without opening the file.
  ///
  /// - Parameter path: The path relative to the root. Links are followed within the root.
  /// - Throws: `outside`, `missing`, or `notAFile`.
  public func resolvedPath(of path: String) throws(SoundFileError) -> String {
    let outsideError = SoundFileError(
      kind: .outside, path: path, description: "is outside the pattern's folder")
    guard !path.isEmpty, !path.hasPrefix("/"), !path.utf8.contains(0) else { throw outsideError }
    guard let realFolder = FileSystem.realPath(rootPath),
      let realPath = FileSystem.realPath(FileSystem.joinPath(realFolder, path))
    else {
      throw SoundFileError(
        kind: .missing, path: path, description: "was not found in the pattern's folder")
    }
    // A link may lead anywhere, so the check uses the real path.
    guard realPath.hasPrefix(realFolder.hasSuffix("/") ? realFolder : realFolder + "/") else {
      throw outsideError
    }
    guard FileSystem.entryKind(at: realPath) == .file else {
      throw SoundFileError(kind: .notAFile, path: path, description: "is not a regular file")
    }
    return realPath
  }

  /// Returns the path of the existing file to which an invalid path probably refers, or nil if
  /// there is none.
  ///
  /// The method recognizes a different case, a missing extension, and a folder that does not exist
  /// here, such as an app's bundle. The search does not leave the root.
  public func suggestedPath(for path: String) -> String? {
    guard !path.hasPrefix("/"), !path.split(separator: "/").contains("..") else { return nil }
    let lowercasedName = FileSystem.fileName(of: path).lowercased()
    guard !lowercasedName.isEmpty else { return nil }
    var folderCandidates = [""]
    // The case of the folder may differ too.
    for part in path.split(separator: "/").dropLast() {
      guard let folder = folderCandidates.last,
        let found = entryNames(in: folder).first(where: { $0.lowercased() == part.lowercased() })
      else { break }
      folderCandidates.append(FileSystem.joinPath(folder, found))
    }
    for folder in folderCandidates.reversed() {
      let found = entryNames(in: folder)
      let match =
        found.first { $0.lowercased() == lowercasedName }
        ?? found.first {
          FileSystem.fileStem(of: $0).lowercased() == lowercasedName && Self.hasSoundExtension($0)
        }
      guard let match else { continue }
      let suggested = FileSystem.joinPath(folder, match)
      return suggested == path ? nil : suggested
    }
    return nil
  }

  private static func hasSoundExtension(_ name: String) -> Bool {
    #if SoundOutput
      SoundFileFormat.container(ofName: name) != nil
    #else
      name.lowercased().hasSuffix(".wav")
    #endif
  }

  private func entryNames(in folder: String) -> [String] {
    let folderPath = FileSystem.joinPath(rootPath, folder)
    return (try? FileSystem.visibleNames(in: folderPath.isEmpty ? "." : folderPath)) ?? []
  }
}

extension Sound {
  /// Creates a sound by decoding the file at a path.
  ///
  /// - Throws: `missing`, `notAFile`, `systemRefused`, or an error of
  ///   `init(readingDescriptor:path:)`.
  public init(contentsOf path: String) throws(SoundFileError) {
    try self.init(contentsOf: path, named: path, flags: 0)
  }

  fileprivate init(contentsOf path: String, named name: String, flags: Int32) throws(SoundFileError)
  {
    // A pipe must not block the caller until a writer opens it.
    let fileDescriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags)
    guard fileDescriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR {
        throw SoundFileError(kind: .missing, path: name, description: "not found")
      }
      throw SoundFileError.systemError(name, "cannot be opened")
    }
    defer { close(fileDescriptor) }
    var fileStatus = stat()
    guard unsafe fstat(fileDescriptor, &fileStatus) == 0, fileStatus.st_mode & S_IFMT == S_IFREG
    else {
      throw SoundFileError(kind: .notAFile, path: name, description: "is not a regular file")
    }
    try self.init(readingDescriptor: fileDescriptor, path: name)
  }
}
