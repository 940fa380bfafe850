internal import Glibc
internal import Synchronization

/// A file writer that creates or replaces the named file only when the content is complete. A
/// failure leaves an existing file intact.
///
/// Until `commit()`, the file has no name, if the file system supports that; even a process that is
/// killed leaves no trace. Otherwise, it is a hidden file in the same folder, which is removed
/// after a failure or an interruption, and by a later run if the process was killed.
package struct AtomicFileWriter: ~Copyable {
  /// The descriptor of the seekable file to write to.
  package let descriptor: Int32
  /// The path of the file as the user named it.
  private let requestedPath: String
  /// The path with links resolved, so that a link remains and its target is replaced.
  private let resolvedPath: String
  /// The hidden path of the file before it is committed; nil while the file has no name.
  private var hiddenPath: String?
  /// The slot in which the hidden path is registered, so that a signal handler can remove the file.
  private let unfinishedPathSlotIndex: Int?

  /// Creates an incomplete file in an existing folder.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - allowsUnnamed: False to use a hidden name at once, as on file systems that require one.
  package init(_ path: String, allowsUnnamed: Bool = true) throws(FileError) {
    let targetPath = try FileSystem.destinationPath(of: path)
    // A link in /proc to a pipe has a target that is not a path, so the path itself is checked.
    switch FileSystem.entryKind(at: path) {
    case .missing: break
    case .file: try Self.checkIsWritable(targetPath, path)
    case .folder: throw FileError(path, "is a folder; specify a file name")
    // Replacing a device node by a file would remove the device.
    case .other: throw FileError(path, FileError.deviceOrPipeReason)
    }
    guard SignalHandling.beginFileCreation() else {
      throw FileError(path, "interrupted; nothing was written")
    }
    let targetFolder = FileSystem.folderPath(of: targetPath)
    var temporaryDescriptor: Int32 = -1
    if allowsUnnamed, unsafe access(Self.descriptorFolder, X_OK) == 0 {
      temporaryDescriptor = unsafe open(
        targetFolder.isEmpty ? "." : targetFolder, Self.unnamedFileFlags | O_RDWR | O_CLOEXEC, 0o666
      )
    }
    if temporaryDescriptor < 0 {
      hiddenPath = HiddenFile.create(in: targetFolder, descriptor: &temporaryDescriptor)
    }
    guard temporaryDescriptor >= 0 else {
      let error = FileError.systemError(path, "cannot be written")
      SignalHandling.endFileCreation()
      throw error
    }
    // The lock shows other processes that the file is still being written.
    flock(temporaryDescriptor, LOCK_EX | LOCK_NB)
    Self.copyAttributes(from: targetPath, to: temporaryDescriptor)
    self.descriptor = temporaryDescriptor
    self.requestedPath = path
    self.resolvedPath = targetPath
    unfinishedPathSlotIndex = hiddenPath.flatMap { SignalHandling.registerFile(unfinishedPath: $0) }
  }

  /// The flags of `O_TMPFILE`, a macro that Swift does not import.
  private static let unnamedFileFlags = 0o20_000_000 | O_DIRECTORY
  /// The folder in which the system lists the open file descriptors of this process.
  private static let descriptorFolder = "/proc/self/fd"

  /// Throws an error for a read-only file, even if the permissions of its folder allow its
  /// replacement.
  private static func checkIsWritable(_ target: String, _ path: String) throws(FileError) {
    var fileStatus = stat()
    guard unsafe stat(target, &fileStatus) == 0 else { return }
    let isReadOnly =
      unsafe fileStatus.st_mode & 0o222 == 0 || access(target, W_OK) != 0 && errno == EACCES
    guard isReadOnly else { return }
    throw FileError(path, "is read-only; make it writable with 'chmod u+w', or choose another file")
  }

  /// Copies the permissions of the old file and, if the system permits it, its owner.
  private static func copyAttributes(from target: String, to descriptor: Int32) {
    var fileStatus = stat()
    guard unsafe stat(target, &fileStatus) == 0 else { return }
    _ = fchown(descriptor, fileStatus.st_uid, fileStatus.st_gid)
    fchmod(descriptor, fileStatus.st_mode & 0o777)
  }

  /// Moves the finished file to its destination.
  ///
  /// - Parameters:
  ///   - isFlushed: True to write the bytes to the disk before they replace an old file, so that a
  ///     power failure does not lose both; unnecessary for files that can be regenerated.
  ///   - replaces: False to fail if a file with that name exists.
  package mutating func commit(isFlushed: Bool = true, replaces: Bool = true) throws(FileError) {
    guard replaces else { return try commitToUnusedPath() }
    let replacesExistingFile = unsafe access(resolvedPath, F_OK) == 0
    if replacesExistingFile, isFlushed, fsync(descriptor) != 0, errno != EINVAL {
      throw .systemError(requestedPath, "cannot be written")
    }
    if hiddenPath == nil {
      if !replacesExistingFile, HiddenFile.link(descriptor, to: resolvedPath) { return }
      hiddenPath = HiddenFile.link(descriptor, in: FileSystem.folderPath(of: resolvedPath))
    }
    guard let hiddenName = hiddenPath, unsafe rename(hiddenName, resolvedPath) == 0 else {
      throw .systemError(requestedPath, "cannot be written")
    }
    hiddenPath = nil
    if replacesExistingFile, isFlushed {
      Self.flushFolder(FileSystem.folderPath(of: resolvedPath))
    }
  }

  /// Gives the file its name in one atomic step, unless another file already has this name.
  private mutating func commitToUnusedPath() throws(FileError) {
    let wasFileNamed =
      if let hiddenPath {
        HiddenFile.rename(hiddenPath, toUnused: resolvedPath)
      } else {
        HiddenFile.link(descriptor, to: resolvedPath)
      }
    guard wasFileNamed else { throw .systemError(requestedPath, "cannot be written") }
    hiddenPath = nil
  }

  private static func flushFolder(_ folder: String) {
    let folderDescriptor = unsafe open(
      folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folderDescriptor >= 0 else { return }
    _ = fsync(folderDescriptor)
    close(folderDescriptor)
  }

  package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    var fileWriter = try AtomicFileWriter(path)
    try fileWriter.write(bytes)
    try fileWriter.commit()
  }

  package func write(_ bytes: [UInt8]) throws(FileError) {
    try FileSystem.writeBytes(
      bytes, to: descriptor, name: requestedPath, problem: "cannot be written")
  }

  deinit {
    close(descriptor)
    if let hiddenPath {
      unsafe unlink(hiddenPath)
    }
    SignalHandling.unregisterFile(slot: unfinishedPathSlotIndex)
    SignalHandling.endFileCreation()
  }
}

/// Operations on incomplete files, which have hidden names.
enum HiddenFile {
  /// The prefix of every hidden name. Sixteen hexadecimal digits follow the prefix.
  static let namePrefix = ".temblor-"
  private static let nameDigitCount = 16
  /// The age in seconds after which an unlocked file counts as abandoned by a killed process.
  static let minimumStaleAgeSeconds = 60

  private static let cleanedFolders = Mutex<Set<String>>([])

  /// Creates a file with a new name in a folder. Returns nil on failure, with the reason in
  /// `errno`.
  static func create(in folder: String, descriptor: inout Int32) -> String? {
    tryRandomNames(in: folder) { name in
      descriptor = unsafe open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      return descriptor >= 0
    }
  }

  /// Links an unnamed file to a new name in a folder. Returns nil on failure, with the reason in
  /// `errno`.
  static func link(_ descriptor: Int32, in folder: String) -> String? {
    tryRandomNames(in: folder) { link(descriptor, to: $0) }
  }

  /// Links an unnamed file to a path that is not in use.
  static func link(_ descriptor: Int32, to path: String) -> Bool {
    unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
  }

  /// Renames a file unless the new name is in use. Returns false on failure, with the reason in
  /// `errno`.
  static func rename(_ name: String, toUnused target: String) -> Bool {
    if unsafe Glibc.link(name, target) == 0 { return unsafe unlink(name) == 0 }
    guard errno != EEXIST else { return false }
    // Some file systems do not support hard links.
    guard unsafe access(target, F_OK) != 0 else {
      errno = EEXIST
      return false
    }
    return unsafe Glibc.rename(name, target) == 0
  }

  /// Makes a file under random names until a name is not in use, and returns the path of the file.
  private static func tryRandomNames(in folder: String, _ make: (String) -> Bool) -> String? {
    removeStaleFiles(in: folder)
    for _ in 0..<8 {
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      let name = namePrefix + String(repeating: "0", count: nameDigitCount - digits.count) + digits
      let path = FileSystem.joinPath(folder, name)
      if make(path) { return path }
      guard errno == EEXIST else { return nil }
    }
    return nil
  }

  /// Removes the incomplete files that killed processes left in a folder. Each folder is cleaned
  /// only once.
  private static func removeStaleFiles(in folder: String) {
    guard cleanedFolders.withLock({ $0.insert(folder).inserted }) else { return }
    let entryNames = (try? FileSystem.allNames(in: folder.isEmpty ? "." : folder)) ?? []
    for name in entryNames where isHiddenFileName(name) {
      removeIfStale(FileSystem.joinPath(folder, name))
    }
  }

  private static func isHiddenFileName(_ name: String) -> Bool {
    guard name.hasPrefix(namePrefix) else { return false }
    let nameDigits = name.dropFirst(namePrefix.count)
    return nameDigits.count == nameDigitCount
      && nameDigits.allSatisfy { "0123456789abcdef".contains($0) }
  }

  /// Removes a file if it belongs to this user, is old enough, and is not locked by a writer.
  private static func removeIfStale(_ path: String) {
    let fileDescriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard fileDescriptor >= 0 else { return }
    defer { close(fileDescriptor) }
    var fileStatus = stat()
    guard unsafe fstat(fileDescriptor, &fileStatus) == 0, fileStatus.st_mode & S_IFMT == S_IFREG,
      fileStatus.st_uid == geteuid(),
      fileStatus.st_mtim.tv_sec < time(nil) - minimumStaleAgeSeconds,
      flock(fileDescriptor, LOCK_EX | LOCK_NB) == 0
    else { return }
    _ = unsafe unlink(path)
  }
}
