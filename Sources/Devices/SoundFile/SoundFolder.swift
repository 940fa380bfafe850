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
    let outside = SoundFileError(
      kind: .outside, path: path, description: "is outside the folder of the pattern")
    guard !path.isEmpty, !path.hasPrefix("/"), !path.utf8.contains(0) else { throw outside }
    guard let folder = FileSystem.realPath(root),
      let real = FileSystem.realPath(FileSystem.join(folder, path))
    else {
      throw SoundFileError(
        kind: .missing, path: path, description: "was not found in the folder of the pattern")
    }
    // Links may lead anywhere, so the real path decides.
    guard real.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/") else { throw outside }
    guard FileSystem.entry(at: real) == .file else {
      throw SoundFileError(kind: .notAFile, path: path, description: "is not a regular file")
    }
    return real
  }

  /// The path of a file that was probably meant by one that is missing, or nothing.
  ///
  /// Another case, a missing ending, and a folder that does not exist here, as the bundle of an
  /// app, are recognised. Nothing outside the root is looked at.
  public func suggestion(for path: String) -> String? {
    guard !path.hasPrefix("/"), !path.split(separator: "/").contains("..") else { return nil }
    let name = FileSystem.name(of: path).lowercased()
    guard !name.isEmpty else { return nil }
    var folders = [""]
    // The folder itself may be of another case.
    for part in path.split(separator: "/").dropLast() {
      guard let folder = folders.last,
        let found = names(in: folder).first(where: { $0.lowercased() == part.lowercased() })
      else { break }
      folders.append(FileSystem.join(folder, found))
    }
    for folder in folders.reversed() {
      let found = names(in: folder)
      let match =
        found.first { $0.lowercased() == name }
        ?? found.first {
          FileSystem.stem(of: $0).lowercased() == name && Self.hasSoundExtension($0)
        }
      guard let match else { continue }
      let suggested = FileSystem.join(folder, match)
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

  private func names(in folder: String) -> [String] {
    let place = FileSystem.join(root, folder)
    return (try? FileSystem.names(in: place.isEmpty ? "." : place)) ?? []
  }
}

extension Sound {
  /// Decodes a whole file at a path.
  ///
  /// - Throws: `missing`, `notAFile`, `systemRefused`, or what `init(readingDescriptor:path:)`
  ///   throws.
  public init(contentsOf path: String) throws(SoundFileError) {
    try self.init(contentsOf: path, named: path, flags: 0)
  }

  fileprivate init(contentsOf path: String, named name: String, flags: Int32) throws(SoundFileError)
  {
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
