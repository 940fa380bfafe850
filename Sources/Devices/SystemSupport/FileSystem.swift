internal import Glibc

package enum FileSystem {
  package enum Entry { case file, folder, other, missing }

  package static func entry(at path: String) -> Entry {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return .missing }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .folder
    default: return .other
    }
  }

  /// When a file was changed last, as `2026-11-22 17:58 UTC`; nil where that is not known.
  package static func modificationTimeText(of path: String) -> String? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return CalendarTime(seconds: status.st_mtim.tv_sec).formatted("%Y-%m-%d %H:%M UTC")
  }

  /// The part of a folder's disk that may still be filled, 0 to 1; 1 where that is not known.
  package static func freeFraction(of folder: String) -> Double {
    var status = statvfs()
    guard unsafe statvfs(folder.isEmpty ? "." : folder, &status) == 0, status.f_blocks > 0 else {
      return 1
    }
    return Double(status.f_bavail) / Double(status.f_blocks)
  }

  package static func isLink(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Reads a file, pipe or standard input (`-`) to its end; bytes beyond a limit are an error.
  package static func read(_ path: String, limit: Int = 1 << 28) throws(FileError) -> [UInt8] {
    if path == "-" {
      return try read(descriptor: STDIN_FILENO, name: "standard input", limit: limit)
    }
    let descriptor = try open(path)
    defer { close(descriptor) }
    return try read(descriptor: descriptor, name: path, limit: limit)
  }

  /// Opens a file for reading; the caller closes it.
  package static func open(_ path: String) throws(FileError) -> Int32 {
    let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(path, "cannot be opened") }
    return descriptor
  }

  private static func read(descriptor: Int32, name: String, limit: Int) throws(FileError) -> [UInt8]
  {
    var status = stat()
    var size = 65_536
    if unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      guard status.st_size <= limit else { throw tooLarge(name, limit) }
      // One byte more shows the end without another turn.
      size = Int(status.st_size) + 1
    }
    var bytes: [UInt8] = []
    while try append(to: &bytes, max(size - bytes.count, 65_536), of: descriptor, name: name) {
      guard bytes.count <= limit else { throw tooLarge(name, limit) }
      size = bytes.count * 2
    }
    guard bytes.count <= limit else { throw tooLarge(name, limit) }
    return bytes
  }

  /// Appends the next bytes of an open file, which come in place; false where the file ended before
  /// the count.
  package static func append(
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
    guard failure == 0 else { throw .system(name, "cannot be read", code: failure) }
    return !isEnd
  }

  private static func tooLarge(_ name: String, _ limit: Int) -> FileError {
    FileError(name, "is too large; the limit is \(limit >> 20) MiB")
  }

  /// The names in a folder, sorted by their bytes, without those that start with a dot.
  package static func names(in folder: String) throws(FileError) -> [String] {
    try allNames(in: folder).filter { !$0.hasPrefix(".") }.sorted {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
  }

  /// All names in a folder, in any order.
  static func allNames(in folder: String) throws(FileError) -> [String] {
    guard let handle = unsafe opendir(folder) else { throw .system(folder, "cannot be opened") }
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

  /// Makes a folder and those above it, where they are missing.
  package static func makeFolder(_ path: String) throws(FileError) {
    if path.isEmpty || entry(at: path) == .folder { return }
    try makeFolder(folder(of: path))
    guard unsafe mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw .system(path, "cannot be created")
    }
    guard entry(at: path) == .folder else { throw FileError(path, "exists and is not a folder") }
  }

  package static func remove(_ path: String) throws(FileError) {
    guard unsafe unlink(path) == 0 else { throw .system(path, "cannot be removed") }
  }

  package static func realPath(_ path: String) -> String? {
    guard let real = unsafe realpath(path.isEmpty ? "." : path, nil) else { return nil }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  /// Where a file of this path is, or would be created: links followed, also one that leads to
  /// nothing yet.
  package static func destination(of path: String) throws(FileError) -> String {
    if let real = realPath(path) { return real }
    var place = path
    for _ in 0..<40 {
      guard isLink(place) else { return place }
      var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe readlink(place, &buffer, buffer.count)
      guard count > 0 else { throw .system(path, "cannot be followed") }
      let next = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      place = next.hasPrefix("/") ? next : join(folder(of: place), next)
    }
    throw .system(path, "cannot be followed", code: ELOOP)
  }

  /// The part before the last slash, or nothing for a name in the current folder.
  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  package static func name(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The part behind the last slash, without its ending.
  package static func stem(of path: String) -> String {
    let name = name(of: path)
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
    return String(name[..<dot])
  }

  package static func join(_ folder: String, _ name: String) -> String {
    folder.isEmpty ? name : (folder.hasSuffix("/") ? folder + name : folder + "/" + name)
  }
}

/// Why a file could not be read or written, in a line that starts with its name.
public struct FileError: Error, Equatable, CustomStringConvertible {
  /// The file, as it was named.
  public var path: String
  /// What is wrong, without the name: `cannot be opened: No such file or directory`.
  public var reason: String

  /// An error about a file.
  public init(_ path: String, _ reason: String) {
    self.path = path
    self.reason = reason
  }

  package static func system(_ path: String, _ what: String, code: Int32 = errno) -> FileError {
    let reason = unsafe String(cString: strerror(code))
    return FileError(path, "\(what): \(reason)")
  }

  /// The name and the reason, on one line.
  public var description: String { "\(path): \(reason)".printable }
}

/// By what a changed or replaced file is distinguished from the old one.
package struct FileStamp: Equatable {
  /// Device, number, size, seconds and nanoseconds of the last change.
  private let statusFields: [Int]

  /// The stamp of a file, links followed, or nothing where there is none.
  package init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    let device = Int(truncatingIfNeeded: status.st_dev)
    let number = Int(truncatingIfNeeded: status.st_ino)
    statusFields = [device, number, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
  }
}

/// A file by what it is, whatever it is called: links, `..` and case make no other file of it.
package struct FileIdentity: Hashable, Sendable {
  private let device: dev_t
  private let inode: ino_t

  /// What a path leads to, or nothing where there is no file: a folder may be read and written at
  /// once.
  package init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { return nil }
    device = status.st_dev
    inode = status.st_ino
  }
}

/// The files that a command reads, so that it writes none of them.
package struct InputOverwriteCheck: Sendable {
  private var inputs: Set<FileIdentity> = []

  /// Guards some files; a path that leads nowhere is no file to lose.
  package init(reading paths: some Sequence<String> = [String]()) { addInputs(paths) }

  package mutating func addInputs(_ paths: some Sequence<String>) {
    for path in paths {
      if let identity = FileIdentity(path) {
        inputs.insert(identity)
      }
    }
  }

  package func isInput(_ path: String) -> Bool { FileIdentity(path).map(inputs.contains) ?? false }

  /// What keeps a file from being created at a path: a folder above it is missing or is not a
  /// folder.
  package static func obstacle(to path: String) -> String? {
    var path = path
    while path.count > 1, path.hasSuffix("/") {
      path.removeLast()
    }
    let folder = FileSystem.folder(of: path)
    guard !folder.isEmpty else { return nil }
    switch FileSystem.entry(at: folder) {
    case .folder: return nil
    case .missing: return "the folder \(folder.inQuotes) does not exist"
    case .file, .other: return "\(folder.inQuotes) is not a folder"
    }
  }

  /// A path by which two outputs that do not exist yet can be compared.
  package static func comparablePath(of path: String) -> String {
    if let real = FileSystem.realPath(path) { return real }
    let folder = FileSystem.folder(of: path)
    return FileSystem.join(FileSystem.realPath(folder) ?? folder, FileSystem.name(of: path))
  }
}

package struct CalendarTime: Equatable, Sendable {
  /// Seconds since the beginning of 1970, in universal time.
  package var seconds: Int

  package init(seconds: Int) { self.seconds = seconds }

  package static var now: CalendarTime { CalendarTime(seconds: time(nil)) }

  /// `2026-01-31T12:00:00Z`.
  package var text: String { formatted("%Y-%m-%dT%H:%M:%SZ") }

  /// `20260131-120000`: what the name of a file may hold.
  package var fileNameText: String { formatted("%Y%m%d-%H%M%S") }

  /// The time, or that where the user is, in a format of strftime(3) that makes 31 bytes of text at
  /// most.
  package func formatted(_ format: String, isLocal: Bool = false) -> String {
    var moment = time_t(seconds)
    var fields = unsafe tm()
    _ = unsafe isLocal ? localtime_r(&moment, &fields) : gmtime_r(&moment, &fields)
    var text = [CChar](repeating: 0, count: 32)
    let count = unsafe strftime(&text, text.count, format, &fields)
    return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
