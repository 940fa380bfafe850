internal import Glibc

/// A file by what it is, whatever it is called: links, `..` and case make no other file of it.
package struct FileIdentity: Hashable, Sendable {
  private let device: dev_t
  private let number: ino_t

  /// What a path leads to, or nothing where there is no file: a folder may be read and written at once.
  package init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return nil }
    device = status.st_dev
    number = status.st_ino
  }
}

/// The files that a command reads, so that it writes none of them.
package struct OutputGuard: Sendable {
  private var inputs: Set<FileIdentity> = []

  /// Guards some files; a path that leads nowhere is no file to lose.
  package init(reading paths: some Sequence<String> = [String]()) { insert(paths) }

  /// Guards more files.
  package mutating func insert(_ paths: some Sequence<String>) {
    for path in paths { if let identity = FileIdentity(path) { inputs.insert(identity) } }
  }

  /// Whether writing to a path would destroy an input.
  package func isInput(_ path: String) -> Bool { FileIdentity(path).map(inputs.contains) ?? false }

  /// What keeps a file from being created at a path: a folder above it is missing or is not a folder.
  package static func obstacle(to path: String) -> String? {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let folder = FileSystem.folder(of: path)
    guard !folder.isEmpty else { return nil }
    switch FileSystem.entry(at: folder) {
    case .folder: return nil
    case .nothing: return "the folder \(folder.inQuotes) does not exist"
    case .file, .other: return "\(folder.inQuotes) is not a folder"
    }
  }

  /// A path by which two outputs that do not exist yet can be compared.
  package static func place(of path: String) -> String {
    if let real = FileSystem.realPath(path) { return real }
    let folder = FileSystem.folder(of: path)
    return FileSystem.join(FileSystem.realPath(folder) ?? folder, FileSystem.name(of: path))
  }
}
