internal import Glibc
internal import Synchronization

/// A file that takes its name only when it is complete, so that failure leaves the old one whole.
/// Until `commit()` the bytes have no name where the file system supports that, so that even a
/// process that is killed leaves nothing. Elsewhere they are in a hidden file beside, which is
/// removed on failure and interruption, and by a later run where the process was killed.
package struct AtomicFileWriter: ~Copyable {
  /// Where the bytes go; it can be sought.
  package let descriptor: Int32
  /// The name the user knows the file by.
  private let path: String
  /// The same with links followed: a link keeps pointing where it points.
  private let destination: String
  /// The name of the bytes before they are committed, where they have one.
  private var hiddenPath: String?
  /// Where the hidden name is noted for a signal that ends the process at once.
  private let unfinishedSlot: Int?

  /// Starts a file, whose folder must exist; named, it has a hidden name at once, as on file
  /// systems that need one.
  package init(_ path: String, allowsUnnamed mayBeUnnamed: Bool = true) throws(FileError) {
    let target = try FileSystem.destination(of: path)
    switch FileSystem.entry(at: target) {
    case .missing: break
    case .file: try Self.checkPermission(target, path)
    case .folder: throw FileError(path, "is a folder; give a file name")
    // To replace the name of a device would be to remove the device.
    case .other: throw FileError(path, "is a device or a pipe; only files can be written")
    }
    guard SignalHandling.beginFile() else {
      throw FileError(path, "interrupted; nothing was written")
    }
    let folder = FileSystem.folder(of: target)
    var descriptor: Int32 = -1
    if mayBeUnnamed, unsafe access(Self.descriptorFolder, X_OK) == 0 {
      descriptor = unsafe open(
        folder.isEmpty ? "." : folder, Self.unnamedFileFlags | O_RDWR | O_CLOEXEC, 0o666)
    }
    if descriptor < 0 {
      hiddenPath = HiddenFile.create(in: folder, descriptor: &descriptor)
    }
    guard descriptor >= 0 else {
      let error = FileError.system(path, "cannot be written")
      SignalHandling.endFile()
      throw error
    }
    // Shows other processes that somebody still writes.
    flock(descriptor, LOCK_EX | LOCK_NB)
    Self.copyAttributes(from: target, to: descriptor)
    self.descriptor = descriptor
    self.path = path
    self.destination = target
    unfinishedSlot = hiddenPath.flatMap { SignalHandling.register(unfinishedPath: $0) }
  }

  /// `O_TMPFILE` of Linux, which C spells as a sum.
  private static let unnamedFileFlags = 0o20_000_000 | O_DIRECTORY
  /// Where the system keeps the names of open files.
  private static let descriptorFolder = "/proc/self/fd"

  /// A file that its owner has made read-only is not replaced, though its folder would allow it.
  private static func checkPermission(_ target: String, _ path: String) throws(FileError) {
    var status = stat()
    guard unsafe stat(target, &status) == 0 else { return }
    let isLocked =
      unsafe status.st_mode & 0o222 == 0 || access(target, W_OK) != 0 && errno == EACCES
    guard isLocked else { return }
    throw FileError(path, "is read-only; allow writing with 'chmod u+w', or choose another file")
  }

  /// Gives the new file the permissions and, where the system allows it, the owner of the old one.
  private static func copyAttributes(from target: String, to descriptor: Int32) {
    var status = stat()
    guard unsafe stat(target, &status) == 0 else { return }
    _ = fchown(descriptor, status.st_uid, status.st_gid)
    fchmod(descriptor, status.st_mode & 0o777)
  }

  /// Gives the file its name. Flushed bytes are on the disk before they replace an old file, so
  /// that not even a power failure loses both; needless for what can be made again.
  ///
  /// - Parameter replaces: False to fail if a file of the name exists by now.
  package mutating func commit(isFlushed: Bool = true, replaces: Bool = true) throws(FileError) {
    guard replaces else { return try commitNew() }
    let replaces = unsafe access(destination, F_OK) == 0
    if replaces, isFlushed, fsync(descriptor) != 0, errno != EINVAL {
      throw .system(path, "cannot be written")
    }
    if hiddenPath == nil {
      if !replaces, HiddenFile.link(descriptor, to: destination) { return }
      hiddenPath = HiddenFile.link(descriptor, in: FileSystem.folder(of: destination))
    }
    guard let name = hiddenPath, unsafe rename(name, destination) == 0 else {
      throw .system(path, "cannot be written")
    }
    hiddenPath = nil
    if replaces, isFlushed {
      Self.flushFolder(FileSystem.folder(of: destination))
    }
  }

  /// Gives the file its name unless another file has it, in one step of the system.
  private mutating func commitNew() throws(FileError) {
    let isNamed =
      if let hiddenPath {
        HiddenFile.rename(hiddenPath, toUnused: destination)
      } else {
        HiddenFile.link(descriptor, to: destination)
      }
    guard isNamed else { throw .system(path, "cannot be written") }
    hiddenPath = nil
  }

  private static func flushFolder(_ folder: String) {
    let descriptor = unsafe open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = fsync(descriptor)
    close(descriptor)
  }

  package static func write(_ bytes: [UInt8], to path: String) throws(FileError) {
    var file = try AtomicFileWriter(path)
    try file.write(bytes)
    try file.commit()
  }

  package func write(_ bytes: [UInt8]) throws(FileError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBufferPointer {
        unsafe Glibc.write(descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw .system(path, "cannot be written") }
      done += count
    }
  }

  deinit {
    close(descriptor)
    if let hiddenPath {
      unsafe unlink(hiddenPath)
    }
    SignalHandling.unregister(unfinishedSlot: unfinishedSlot)
    SignalHandling.endFile()
  }
}

/// The names of files that are not complete yet.
enum HiddenFile {
  /// What every name starts with; sixteen hexadecimal digits follow.
  static let prefix = ".temblor-"
  private static let digitCount = 16
  /// Seconds after which a file that nobody holds was left by a process that was killed.
  static let staleSeconds = 60

  private static let searchedFolders = Mutex<Set<String>>([])

  /// Creates a file of a new name in a folder; nothing, with `errno`, where that cannot be.
  static func create(in folder: String, descriptor: inout Int32) -> String? {
    withNewName(in: folder) { name in
      descriptor = unsafe open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      return descriptor >= 0
    }
  }

  /// Gives an open file without a name a new one in a folder; nothing, with `errno`, where that
  /// cannot be.
  static func link(_ descriptor: Int32, in folder: String) -> String? {
    withNewName(in: folder) { link(descriptor, to: $0) }
  }

  /// Gives an open file without a name one that is free.
  static func link(_ descriptor: Int32, to path: String) -> Bool {
    unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
  }

  /// Renames a file unless the new name is in use; false, with `errno`, otherwise.
  static func rename(_ name: String, toUnused target: String) -> Bool {
    if unsafe Glibc.link(name, target) == 0 { return unsafe unlink(name) == 0 }
    guard errno != EEXIST else { return false }
    // Some file systems have no second names.
    guard unsafe access(target, F_OK) != 0 else {
      errno = EEXIST
      return false
    }
    return unsafe Glibc.rename(name, target) == 0
  }

  /// Tries names until one is free.
  private static func withNewName(in folder: String, _ make: (String) -> Bool) -> String? {
    removeStale(in: folder)
    for _ in 0..<8 {
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      let name = prefix + String(repeating: "0", count: digitCount - digits.count) + digits
      let path = FileSystem.join(folder, name)
      if make(path) { return path }
      guard errno == EEXIST else { return nil }
    }
    return nil
  }

  /// Removes what killed processes left in a folder, once for each folder.
  private static func removeStale(in folder: String) {
    guard searchedFolders.withLock({ $0.insert(folder).inserted }) else { return }
    let names = (try? FileSystem.allNames(in: folder.isEmpty ? "." : folder)) ?? []
    for name in names where isHidden(name) {
      removeIfStale(FileSystem.join(folder, name))
    }
  }

  private static func isHidden(_ name: String) -> Bool {
    guard name.hasPrefix(prefix) else { return false }
    let digits = name.dropFirst(prefix.count)
    return digits.count == digitCount && digits.allSatisfy { "0123456789abcdef".contains($0) }
  }

  /// Removes a file that is this user's, is not new, and is held by no writer.
  private static func removeIfStale(_ path: String) {
    let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_uid == geteuid(),
      status.st_mtim.tv_sec < time(nil) - staleSeconds, flock(descriptor, LOCK_EX | LOCK_NB) == 0
    else { return }
    _ = unsafe unlink(path)
  }
}
