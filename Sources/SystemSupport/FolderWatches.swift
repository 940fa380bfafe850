internal import Glibc

/// What happens in folders, as the system tells it through inotify(7).
final class FolderWatches {
  /// What is reported of a folder.
  enum Interest {
    /// That it is moved or removed itself; quiet otherwise.
    case itself
    /// That a name appears in it, too.
    case arrivals
    /// All that happens to its files, too.
    case files
  }

  /// Something that happened.
  enum Event: Equatable {
    /// A file or folder of this name; `isUnfinished` where more is likely to be written.
    case name(String, folders: [String], isUnfinished: Bool)
    /// A folder went away, or more happened than the system remembers: look at everything again.
    case unclear
  }

  /// Readable when something happened.
  let descriptor: Int32
  /// The paths by which each watched folder was named.
  private var folders: [Int32: [String]] = [:]

  /// Watches nothing yet.
  init() throws(FileError) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else {
      throw .system("files", "cannot be watched (see /proc/sys/fs/inotify/max_user_instances)")
    }
  }

  deinit { close(descriptor) }

  /// Watches a folder, in addition to what is reported of it already.
  ///
  /// - Returns: False where there is no such folder.
  func add(_ folder: String, _ interest: Interest) throws(FileError) -> Bool {
    let own = IN_MOVE_SELF | IN_DELETE_SELF
    let arrivals = IN_CREATE | IN_MOVED_TO
    let mask =
      switch interest {
      case .itself: own
      case .arrivals: own | arrivals
      case .files: own | arrivals | IN_CLOSE_WRITE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM
      }
    let flags = UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD)
    let watch = unsafe inotify_add_watch(descriptor, folder, UInt32(mask) | flags)
    if watch >= 0 {
      if folders[watch]?.contains(folder) != true { folders[watch, default: []].append(folder) }
      return true
    }
    switch errno {
    case ENOENT, ENOTDIR: return false
    case ENOSPC:
      let limit = "/proc/sys/fs/inotify/max_user_watches"
      throw FileError(folder, "cannot be watched: all watches are in use (see \(limit))")
    // One that may be passed and not be read can still lead to the folder in question.
    case EACCES where interest == .itself: return true
    default: throw .system(folder, "cannot be watched")
    }
  }

  /// Watches nothing any more.
  func removeAll() {
    for watch in folders.keys { inotify_rm_watch(descriptor, watch) }
    folders = [:]
  }

  /// What happened since the last call, oldest first, without waiting.
  func events() -> [Event] {
    var events: [Event] = []
    var bytes = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe read(descriptor, &bytes, bytes.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return events }
      unsafe bytes.withUnsafeBytes { buffer in
        var start = 0
        while start + Self.headerLength <= count {
          // struct inotify_event: watch, mask, cookie, length of the name, the name.
          let watch = unsafe buffer.loadUnaligned(fromByteOffset: start, as: Int32.self)
          let mask = unsafe buffer.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self)
          let length = unsafe Int(buffer.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
          let nameStart = start + Self.headerLength
          guard nameStart + length <= count else { return }
          let name = unsafe buffer[nameStart..<nameStart + length].prefix { $0 != 0 }
          if let event = unsafe event(watch, mask, String(decoding: name, as: UTF8.self)) { events.append(event) }
          start = nameStart + length
        }
      }
    }
  }

  private static let headerLength = 16

  private func event(_ watch: Int32, _ mask: UInt32, _ name: String) -> Event? {
    if mask & UInt32(IN_Q_OVERFLOW) != 0 { return .unclear }
    guard let folders = folders[watch] else { return nil }
    let ends = IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT | IN_IGNORED
    if mask & UInt32(ends) != 0 { return .unclear }
    if name.isEmpty { return nil }
    let isUnfinished = mask & UInt32(IN_CREATE | IN_MODIFY) != 0
    return .name(name, folders: folders, isUnfinished: isUnfinished)
  }
}
