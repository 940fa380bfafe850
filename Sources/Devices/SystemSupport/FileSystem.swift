internal import Glibc

package enum FileSystem {
  package enum EntryKind { case file, folder, other, missing }

  package static func entryKind(at path: String) -> EntryKind {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return .missing }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .folder
    default: return .other
    }
  }

  /// Returns the time at which a file was last modified, in the form `2026-11-22 17:58 UTC`, or nil
  /// if it is unknown.
  package static func modificationTimeText(of path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return CalendarTime(secondsSince1970: status.st_mtim.tv_sec).formatted("%Y-%m-%d %H:%M UTC")
  }

  /// Returns the free fraction of a folder's disk, 0 to 1. The result is 1 if the fraction is
  /// unknown.
  package static func freeDiskFraction(of folder: String) -> Double {
    var status = statvfs()
    guard unsafe statvfs(folder.isEmpty ? "." : folder, &status) == 0, status.f_blocks > 0 else {
      return 1
    }
    return Double(status.f_bavail) / Double(status.f_blocks)
  }

  /// Returns the size of a file in bytes, following links; nil if the file does not exist.
  package static func byteCount(of path: String) -> Int? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  package static func isSymbolicLink(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Reads all bytes of a file, a pipe, or standard input (`-`).
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - limit: The maximum number of bytes; a longer input is an error.
  package static func read(_ path: String, limit: Int = 1 << 28) throws(FileError) -> [UInt8] {
    if InputStream.isStream(path) {
      return try InputStream.read(path, limit: limit)
    }
    let descriptor = try openForReading(path)
    defer { close(descriptor) }
    return try readBytes(descriptor: descriptor, name: path, limit: limit)
  }

  /// Opens a file, or a copy of standard input (`-`), for reading; the caller closes it.
  package static func openForReading(_ path: String) throws(FileError) -> Int32 {
    if InputStream.isStream(path) {
      return try InputStream.openCopy(of: path)
    }
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .systemError(path, "cannot be opened") }
    return descriptor
  }

  /// Returns the first bytes of a file or of standard input (`-`): fewer than requested if it is
  /// shorter, and none if it cannot be read.
  package static func firstBytes(of path: String, count: Int) -> [UInt8] {
    if InputStream.isStream(path) {
      return (try? InputStream.firstBytes(of: path, count: count)) ?? []
    }
    guard let descriptor = try? openForReading(path) else { return [] }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    _ = try? appendBytes(to: &bytes, count, of: descriptor, name: path)
    return bytes
  }

  /// Returns the name of a file for messages: its path, or `standard input` for `-`.
  package static func displayName(of path: String) -> String {
    path == InputStream.standardInput ? InputStream.standardInputName : path
  }

  private static func readBytes(descriptor: Int32, name: String, limit: Int) throws(FileError)
    -> [UInt8]
  {
    var status = stat()
    var size = 65_536
    if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      guard status.st_size <= limit else { throw tooLargeError(name, limit) }
      // The additional byte detects the end without another iteration.
      size = Int(status.st_size) + 1
    }
    var bytes: [UInt8] = []
    while try appendBytes(to: &bytes, max(size - bytes.count, 65_536), of: descriptor, name: name) {
      guard bytes.count <= limit else { throw tooLargeError(name, limit) }
      size = bytes.count * 2
    }
    guard bytes.count <= limit else { throw tooLargeError(name, limit) }
    return bytes
  }

  /// Appends the next bytes of an open file to an array.
  ///
  /// - Parameters:
  ///   - bytes: The array to append to, without an intermediate copy.
  ///   - count: The number of bytes.
  ///   - descriptor: The open file.
  ///   - name: The name of the file in messages.
  /// - Returns: False if the file ended before the count.
  package static func appendBytes(
    to bytes: inout [UInt8], _ count: Int, of descriptor: Int32, name: String
  )
    throws(FileError) -> Bool
  {
    var failure: Int32 = 0
    var isEnd = false
    bytes.append(addingCapacity: count) { span in
      unsafe span.withUnsafeMutableBufferPointer { buffer, used in
        while used < count, failure == 0, !isEnd {
          let size = unsafe Glibc.read(
            descriptor, buffer.baseAddress?.advanced(by: used), count - used)
          if size > 0 {
            used += size
          } else {
            isEnd = size == 0
          }
          if size < 0, errno != EINTR {
            failure = errno
          }
        }
      }
    }
    guard failure == 0 else { throw .systemError(name, "cannot be read", code: failure) }
    return !isEnd
  }

  /// Writes all bytes to an open file.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - descriptor: The open file.
  ///   - name: The name of the file in messages.
  ///   - problem: The problem in the message of an error, such as `cannot be written`.
  static func writeBytes(
    _ bytes: [UInt8], to descriptor: Int32, name: String, problem: String
  ) throws(FileError) {
    var writtenCount = 0
    while writtenCount < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe write(
          descriptor, buffer.baseAddress?.advanced(by: writtenCount), buffer.count - writtenCount)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .systemError(name, problem) }
      writtenCount += count
    }
  }

  static func tooLargeError(_ name: String, _ limit: Int) -> FileError {
    FileError(name, "is too large; the limit is \(limit >> 20) MiB")
  }

  /// Returns the names in a folder in byte order, without the names that start with a dot.
  package static func visibleNames(in folder: String) throws(FileError) -> [String] {
    try allNames(in: folder).filter { !$0.hasPrefix(".") }.sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
  }

  /// Returns all names in a folder, in no particular order.
  static func allNames(in folder: String) throws(FileError) -> [String] {
    guard let handle = unsafe opendir(folder) else {
      throw .systemError(folder, "cannot be opened")
    }
    defer { unsafe closedir(handle) }
    var names: [String] = []
    while let entry = unsafe readdir(handle) {
      names.append(
        unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        })
    }
    return names
  }

  /// Creates a folder, including missing parent folders.
  package static func makeFolder(_ path: String) throws(FileError) {
    if path.isEmpty || entryKind(at: path) == .folder { return }
    try makeFolder(folderPath(of: path))
    guard unsafe mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw .systemError(path, "cannot be created")
    }
    guard entryKind(at: path) == .folder else {
      throw FileError(path, "exists and is not a folder")
    }
  }

  package static func remove(_ path: String) throws(FileError) {
    guard unsafe unlink(path) == 0 else { throw .systemError(path, "cannot be removed") }
  }

  package static func realPath(_ path: String) -> String? {
    guard let real = unsafe realpath(path.isEmpty ? "." : path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// Returns the path of a file with links followed, even for a link to a file that does not exist
  /// yet.
  package static func destinationPath(of path: String) throws(FileError) -> String {
    if let real = realPath(path) { return real }
    var current = path
    for _ in 0..<40 {
      guard isSymbolicLink(current) else { return current }
      var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe readlink(current, &buffer, buffer.count)
      guard count > 0 else { throw .systemError(path, "is a link that cannot be resolved") }
      let next = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      current = next.hasPrefix("/") ? next : joinPath(folderPath(of: current), next)
    }
    throw .systemError(path, "is a link that cannot be resolved", code: ELOOP)
  }

  /// Returns the part of a path before the last slash; empty for a name in the current folder.
  package static func folderPath(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  package static func fileName(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  /// Returns the part of a path after the last slash, without its extension.
  package static func fileStem(of path: String) -> String {
    let name = fileName(of: path)
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
    return String(name[..<dot])
  }

  package static func joinPath(_ folder: String, _ name: String) -> String {
    folder.isEmpty ? name : (folder.hasSuffix("/") ? folder + name : folder + "/" + name)
  }
}

/// An error about a file. Its message starts with the name of the file.
public struct FileError: Error, Equatable, CustomStringConvertible {
  /// The path of the file as the user named it.
  public var path: String
  /// The problem without the name of the file, such as `cannot be opened: No such file or
  /// directory`.
  public var reason: String

  /// Creates an error about a file.
  public init(_ path: String, _ reason: String) {
    self.path = path
    self.reason = reason
  }

  package static func systemError(_ path: String, _ what: String, code: Int32 = errno) -> FileError
  {
    let reason = unsafe String(cString: strerror(code))
    return FileError(path, "\(what): \(reason)")
  }

  /// The path and the reason, on one line.
  public var description: String { "\(path): \(reason)".printable }
}

/// A stamp that identifies the state of a file. It changes when the file is modified or replaced.
package struct FileStamp: Equatable {
  /// The device, inode, and size, and the seconds and nanoseconds of the last change.
  private let statusFields: [Int]

  /// Creates the stamp of a file, following links; nil if there is no file.
  package init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    let device = Int(truncatingIfNeeded: status.st_dev)
    let number = Int(truncatingIfNeeded: status.st_ino)
    statusFields = [device, number, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
  }
}

/// The identity of a file, independent of its name.
/// Paths that differ in links, `..`, or case have the same identity.
package struct FileIdentity: Hashable, Sendable {
  private let deviceNumber: dev_t
  private let inodeNumber: ino_t

  /// Creates the identity of the file at a path.
  /// The result is nil if there is no file, and for a folder, which may be both input and output.
  package init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return nil }
    deviceNumber = status.st_dev
    inodeNumber = status.st_ino
  }
}

/// A check that the outputs of a command do not overwrite its input files.
package struct InputOverwriteCheck: Sendable {
  private var inputIdentities: Set<FileIdentity> = []

  /// Creates a check for the input files at the given paths. Paths without a file are ignored.
  package init(reading paths: some Sequence<String> = [String]()) { addInputs(paths) }

  package mutating func addInputs(_ paths: some Sequence<String>) {
    for path in paths {
      if let identity = FileIdentity(path) {
        inputIdentities.insert(identity)
      }
    }
  }

  package func isInputPath(_ path: String) -> Bool {
    FileIdentity(path).map(inputIdentities.contains) ?? false
  }

  /// Returns the reason that a file cannot be created at a path: a missing folder, or another kind
  /// of entry at the path; nil if the file can be created.
  package static func obstacle(toCreating path: String) -> String? {
    var path = path
    while path.count > 1, path.hasSuffix("/") {
      path.removeLast()
    }
    let folder = FileSystem.folderPath(of: path)
    guard !folder.isEmpty else { return nil }
    switch FileSystem.entryKind(at: folder) {
    case .folder: return nil
    case .missing: return "the folder \(folder.inQuotes) does not exist"
    case .file, .other: return "\(folder.inQuotes) is not a folder"
    }
  }

  /// Returns a normalized path, by which two outputs that do not exist yet can be compared.
  package static func comparablePath(of path: String) -> String {
    if let real = FileSystem.realPath(path) { return real }
    let folder = FileSystem.folderPath(of: path)
    return FileSystem.joinPath(FileSystem.realPath(folder) ?? folder, FileSystem.fileName(of: path))
  }
}

package struct CalendarTime: Equatable, Sendable {
  /// The number of seconds since 1970-01-01, UTC.
  package var secondsSince1970: Int

  package init(secondsSince1970: Int) { self.secondsSince1970 = secondsSince1970 }

  package static var now: CalendarTime { CalendarTime(secondsSince1970: time(nil)) }

  /// The time as text in the form `2026-01-31T12:00:00Z`.
  package var isoText: String { formatted("%Y-%m-%dT%H:%M:%SZ") }

  /// The time as text in the form `20260131-120000`, for the name of a file.
  package var fileNameText: String { formatted("%Y%m%d-%H%M%S") }

  /// Returns the time as formatted by strftime(3).
  ///
  /// - Parameters:
  ///   - format: A format whose result has at most 31 bytes.
  ///   - isLocal: True for local time, false for UTC.
  package func formatted(_ format: String, isLocal: Bool = false) -> String {
    var moment = time_t(secondsSince1970)
    var fields = unsafe tm()
    _ = unsafe isLocal ? localtime_r(&moment, &fields) : gmtime_r(&moment, &fields)
    var text = [CChar](repeating: 0, count: 32)
    let count = unsafe strftime(&text, text.count, format, &fields)
    return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
