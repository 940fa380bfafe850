internal import Glibc
internal import Synchronization

/// The names of files that are not complete yet.
enum HiddenFile {
  /// What every name starts with; sixteen hexadecimal digits follow.
  static let prefix = ".temblor-"
  private static let digitCount = 16
  /// Seconds after which a file that nobody holds was left by a process that was killed.
  static let graceSeconds = 60

  /// The folders that were searched for such files, each once.
  private static let searched = Mutex<Set<String>>([])

  /// Creates a file of a new name in a folder; nothing, with `errno`, where that cannot be.
  static func create(in folder: String, descriptor: inout Int32) -> String? {
    named(in: folder) { name in
      descriptor = unsafe open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      return descriptor >= 0
    }
  }

  /// Gives an open file without a name a new one in a folder; nothing, with `errno`, where that cannot be.
  static func link(_ descriptor: Int32, in folder: String) -> String? { named(in: folder) { link(descriptor, to: $0) } }

  /// Gives an open file without a name one that is free.
  static func link(_ descriptor: Int32, to path: String) -> Bool {
    unsafe linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
  }

  /// Tries names until one is free.
  private static func named(in folder: String, _ make: (String) -> Bool) -> String? {
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
    guard searched.withLock({ $0.insert(folder).inserted }), let handle = unsafe opendir(folder.isEmpty ? "." : folder)
    else { return }
    defer { unsafe closedir(handle) }
    while let entry = unsafe readdir(handle) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if isHidden(name) { removeIfStale(FileSystem.join(folder, name)) }
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
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
      status.st_mtim.tv_sec < time(nil) - graceSeconds, flock(descriptor, LOCK_EX | LOCK_NB) == 0
    else { return }
    _ = unsafe unlink(path)
  }
}
