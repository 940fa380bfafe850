internal import Glibc

package enum FileSystem {
  package enum EntryKind { case file, folder, other, missing }

  package static func entryKind(at path: String) -> EntryKind {
    var fileStatus = stat()
    guard unsafe stat(path, &fileStatus) == 0 else { return .missing }
    switch fileStatus.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .folder
    default: return .other
    }
  }

  /// Returns the time at which a file was last modified, in the form `2026-11-22 17:58 UTC`, or nil
  /// if it is unknown.
  package static func modificationTimeText(of path: String) -> String? {
    var fileStatus = stat()
    guard unsafe stat(path, &fileStatus) == 0 else { return nil }
    return CalendarTime(secondsSince1970: fileStatus.st_mtim.tv_sec).formatted("%Y-%m-%d %H:%M UTC")
  }

  /// Returns the free fraction of a folder's disk, 0 to 1. The result is 1 if the fraction is
  /// unknown.
  package static func freeDiskFraction(of folder: String) -> Double {
    var volumeStatus = statvfs()
    guard unsafe statvfs(folder.isEmpty ? "." : folder, &volumeStatus) == 0,
      volumeStatus.f_blocks > 0
    else {
      return 1
    }
    return Double(volumeStatus.f_bavail) / Double(volumeStatus.f_blocks)
  }

  /// Returns the size of a file in bytes, following links; nil if the file does not exist.
  package static func byteCount(of path: String) -> Int? {
    var fileStatus = stat()
    return unsafe stat(path, &fileStatus) == 0 ? Int(fileStatus.st_size) : nil
  }

  package static func isSymbolicLink(_ path: String) -> Bool {
    var fileStatus = stat()
    return unsafe lstat(path, &fileStatus) == 0 && fileStatus.st_mode & S_IFMT == S_IFLNK
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
    let fileDescriptor = try openForReading(path)
    defer { close(fileDescriptor) }
    return try readBytes(descriptor: fileDescriptor, name: path, limit: limit)
  }

  /// Opens a file, or a copy of standard input (`-`), for reading; the caller closes it.
  package static func openForReading(_ path: String) throws(FileError) -> Int32 {
    if InputStream.isStream(path) {
      return try InputStream.openCopy(of: path)
    }
    let fileDescriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard fileDescriptor >= 0 else { throw .systemError(path, "cannot be opened") }
    return fileDescriptor
  }

  /// Returns the first bytes of a file or of standard input (`-`): fewer than requested if it is
  /// shorter, and none if it cannot be read.
  package static func firstBytes(of path: String, count: Int) -> [UInt8] {
    if InputStream.isStream(path) {
      return (try? InputStream.firstBytes(of: path, count: count)) ?? []
    }
    guard let fileDescriptor = try? openForReading(path) else { return [] }
    defer { close(fileDescriptor) }
    var leadingBytes: [UInt8] = []
    _ = try? appendBytes(to: &leadingBytes, count, of: fileDescriptor, name: path)
    return leadingBytes
  }

  /// Returns the name of a file for messages: its path, or `standard input` for `-`.
  package static func displayName(of path: String) -> String {
    path == InputStream.standardInput ? InputStream.standardInputName : path
  }

  private static func readBytes(descriptor: Int32, name: String, limit: Int) throws(FileError)
    -> [UInt8]
  {
    var fileStatus = stat()
    var expectedByteCount = 65_536
    if unsafe fstat(descriptor, &fileStatus) == 0, fileStatus.st_mode & S_IFMT == S_IFREG {
      guard fileStatus.st_size <= limit else { throw tooLargeError(name, limit) }
      // The additional byte detects the end without another iteration.
      expectedByteCount = Int(fileStatus.st_size) + 1
    }
    var fileBytes: [UInt8] = []
    while try appendBytes(
      to: &fileBytes, max(expectedByteCount - fileBytes.count, 65_536), of: descriptor, name: name)
    {
      guard fileBytes.count <= limit else { throw tooLargeError(name, limit) }
      expectedByteCount = fileBytes.count * 2
    }
    guard fileBytes.count <= limit else { throw tooLargeError(name, limit) }
    return fileBytes
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
    var readErrorCode: Int32 = 0
    var isEndOfFile = false
    bytes.append(addingCapacity: count) { span in
      unsafe span.withUnsafeMutableBufferPointer { buffer, used in
        while used < count, readErrorCode == 0, !isEndOfFile {
          let size = unsafe Glibc.read(
            descriptor, buffer.baseAddress?.advanced(by: used), count - used)
          if size > 0 {
            used += size
          } else {
            isEndOfFile = size == 0
          }
          if size < 0, errno != EINTR {
            readErrorCode = errno
          }
        }
      }
    }
    guard readErrorCode == 0 else {
      throw .systemError(name, "cannot be read", code: readErrorCode)
    }
    return !isEndOfFile
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
    var writtenByteCount = 0
    while writtenByteCount < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe write(
          descriptor, buffer.baseAddress?.advanced(by: writtenByteCount),
          buffer.count - writtenByteCount)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .systemError(name, problem) }
      writtenByteCount += count
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
    guard let folderHandle = unsafe opendir(folder) else {
      throw .systemError(folder, "cannot be opened")
    }
    defer { unsafe closedir(folderHandle) }
    var entryNames: [String] = []
    while let folderEntry = unsafe readdir(folderHandle) {
      entryNames.append(
        unsafe withUnsafePointer(to: &folderEntry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        })
    }
    return entryNames
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
    guard let realPathPointer = unsafe realpath(path.isEmpty ? "." : path, nil) else { return nil }
    defer { unsafe free(realPathPointer) }
    return unsafe String(cString: realPathPointer)
  }

  /// Returns the path of a file with links followed, even for a link to a file that does not exist
  /// yet.
  package static func destinationPath(of path: String) throws(FileError) -> String {
    if let resolvedPath = realPath(path) { return resolvedPath }
    var currentPath = path
    for _ in 0..<40 {
      guard isSymbolicLink(currentPath) else { return currentPath }
      var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = unsafe readlink(currentPath, &buffer, buffer.count)
      guard count > 0 else { throw .systemError(path, "is a link that cannot be resolved") }
      let next = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      currentPath = next.hasPrefix("/") ? next : joinPath(folderPath(of: currentPath), next)
    }
    throw .systemError(path, "is a link that cannot be resolved", code: ELOOP)
  }

  /// Returns the part of a path before the last slash; empty for a name in the current folder.
  package static func folderPath(of path: String) -> String {
    guard let lastSlash = path.lastIndex(of: "/") else { return "" }
    return lastSlash == path.startIndex ? "/" : String(path[..<lastSlash])
  }

  package static func fileName(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  /// Returns the part of a path after the last slash, without its extension.
  package static func fileStem(of path: String) -> String {
    let nameWithExtension = fileName(of: path)
    guard let extensionDot = nameWithExtension.lastIndex(of: "."),
      extensionDot > nameWithExtension.startIndex
    else { return nameWithExtension }
    return String(nameWithExtension[..<extensionDot])
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

  /// The reason why no file is written in place of a device or a pipe.
  package static let deviceOrPipeReason = "is a device or a pipe; specify a file"

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
    var fileStatus = stat()
    guard unsafe stat(path, &fileStatus) == 0 else { return nil }
    let deviceNumber = Int(truncatingIfNeeded: fileStatus.st_dev)
    let inodeNumber = Int(truncatingIfNeeded: fileStatus.st_ino)
    statusFields = [
      deviceNumber, inodeNumber, fileStatus.st_size, fileStatus.st_mtim.tv_sec,
      fileStatus.st_mtim.tv_nsec,
    ]
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
    var fileStatus = stat()
    guard unsafe stat(path, &fileStatus) == 0, fileStatus.st_mode & S_IFMT != S_IFDIR else {
      return nil
    }
    deviceNumber = fileStatus.st_dev
    inodeNumber = fileStatus.st_ino
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
  package static func obstacleText(toCreating path: String) -> String? {
    var ancestorPath = path
    while ancestorPath.count > 1, ancestorPath.hasSuffix("/") {
      ancestorPath.removeLast()
    }
    let parentFolder = FileSystem.folderPath(of: ancestorPath)
    guard !parentFolder.isEmpty else { return nil }
    switch FileSystem.entryKind(at: parentFolder) {
    case .folder: return nil
    case .missing: return "the folder \(parentFolder.inQuotes) does not exist"
    case .file, .other: return "\(parentFolder.inQuotes) is not a folder"
    }
  }

  /// Returns a normalized path, by which two outputs that do not exist yet can be compared.
  package static func comparablePath(of path: String) -> String {
    if let realPath = FileSystem.realPath(path) { return realPath }
    let parentFolder = FileSystem.folderPath(of: path)
    return FileSystem.joinPath(
      FileSystem.realPath(parentFolder) ?? parentFolder, FileSystem.fileName(of: path))
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
    var systemTime = time_t(secondsSince1970)
    var timeFields = unsafe tm()
    _ = unsafe isLocal ? localtime_r(&systemTime, &timeFields) : gmtime_r(&systemTime, &timeFields)
    var textBuffer = [CChar](repeating: 0, count: 32)
    let textByteCount = unsafe strftime(&textBuffer, textBuffer.count, format, &timeFields)
    return String(
      decoding: textBuffer[..<textByteCount].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
