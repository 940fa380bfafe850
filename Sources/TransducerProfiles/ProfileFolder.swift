internal import Glibc

/// What the library asks of the file system.
enum ProfileFolder {
  /// Whether a path leads to anything that can be reached.
  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// The names in a folder, sorted by their bytes; none where it cannot be read.
  static func names(in folder: String) -> [String] {
    guard let handle = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(handle) }
    var names: [String] = []
    while let entry = unsafe readdir(handle) {
      names.append(
        unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        })
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Reads a file; never waits for the other end of a pipe.
  static func read(_ path: String) throws(ProfileFileError) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .system(path, "cannot be opened") }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ProfileFileError(.noFile, path: path, reason: "is not a regular file")
    }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16_384)
    while bytes.count <= ProfileFile.maximumByteCount {
      let count = unsafe Glibc.read(descriptor, &piece, piece.count)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .system(path, "cannot be read") }
      if count == 0 { return bytes }
      bytes += piece[..<count]
    }
    throw ProfileFileError(
      .tooLarge, path: path,
      reason: "is too large; the limit is \(ProfileFile.maximumByteCount >> 20) MiB")
  }
}

extension ProfileFileError {
  /// What the system said about the last call.
  fileprivate static func system(_ path: String, _ what: String) -> ProfileFileError {
    let reason = unsafe String(cString: strerror(errno))
    return ProfileFileError(.access, path: path, reason: "\(what): \(reason)")
  }
}
