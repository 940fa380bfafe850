internal import Glibc

/// Reports when files were written or removed, without looking at them in between. The folders are
/// watched, so a file may be replaced, as editors do, and may come and go with its folder. A link
/// is followed, and watched itself; links among the folders above are followed once.
package final class FileWatch {
  package struct Change: Equatable {
    package enum Kind { case written, removed }

    package var path: String
    package var kind: Kind

    package init(path: String, kind: Kind) {
      self.path = path
      self.kind = kind
    }
  }

  /// Readable when something happened, which may be nothing that matters.
  package var descriptor: Int32 { folderWatches.descriptor }

  /// Quiet after which a file counts as written: editors do several things in a row.
  private let settleTime: Duration
  private let folderWatches: FolderWatches
  private var files: [File] = []
  private var missingFolders: [(folder: String, name: String)] = []

  /// Whether something may have happened without a notification.
  private var needsRescan = false

  /// Watches files that need not exist; make it before reading them, so that no change is missed.
  package init(_ paths: [String], settleTime settling: Duration = .milliseconds(30))
    throws(FileError)
  {
    self.settleTime = settling
    folderWatches = try FolderWatches()
    try watch(paths)
  }

  /// Watches these files from now on; those that were watched already stay without a gap.
  package func watch(_ paths: [String]) throws(FileError) {
    let old = files
    files = []
    for path in paths where !files.contains(where: { $0.path == path }) {
      files.append(old.first { $0.path == path } ?? File(path))
    }
    folderWatches.removeAll()
    try watchFolders()
    // What is new is as it should be; the others may have changed while nobody watched.
    needsRescan = !old.isEmpty
    for index in files.indices where !old.contains(where: { $0.path == files[index].path }) {
      files[index].stamp = FileStamp(files[index].path)
    }
  }

  /// How long to wait at most before asking for changes; nothing where the descriptor will tell.
  package func timeout(at now: Duration) -> Duration? {
    if needsRescan { return .zero }
    return files.compactMap { $0.eventBurst?.end }.min().map { max(.zero, $0 - now) }
  }

  package func changes(at now: Duration) throws(FileError) -> [Change] {
    for event in folderWatches.events() {
      guard case .name(let name, let places, let isUnfinished) = event else {
        needsRescan = true
        continue
      }
      for index in files.indices where files[index].matches(name, in: places) {
        files[index].recordEvent(at: now, settleTime: settleTime, isUnfinished: isUnfinished)
      }
      needsRescan =
        needsRescan || missingFolders.contains { $0.name == name && places.contains($0.folder) }
    }
    let isLinkMoved = files.contains {
      $0.eventBurst != nil && $0.locations != File.locations(of: $0.path)
    }
    if needsRescan || isLinkMoved {
      try rescan(at: now)
    }
    return files.indices.compactMap { files[$0].settledChange(at: now) }
  }

  /// Watches where the files are now, and notes those that are not what they were.
  private func rescan(at now: Duration) throws(FileError) {
    needsRescan = false
    folderWatches.removeAll()
    try watchFolders()
    for index in files.indices where FileStamp(files[index].path) != files[index].stamp {
      files[index].recordEvent(at: now, settleTime: settleTime, isUnfinished: false)
    }
  }

  private func watchFolders() throws(FileError) {
    missingFolders = []
    for index in files.indices {
      files[index].locations = File.locations(of: files[index].path)
      for place in files[index].locations {
        try watchFolder(place.folder)
      }
    }
  }

  /// Watches a folder and, for their own fate, those above; or the first one that would have to
  /// appear.
  private func watchFolder(_ folder: String) throws(FileError) {
    // Who makes and removes the folder faster than it can be watched has to be waited for
    // elsewhere.
    for _ in 0..<100 {
      var path = "/"
      var gap: (folder: String, name: String)?
      for name in folder.split(separator: "/") {
        let next = FileSystem.join(path, String(name))
        let interest: FolderWatches.Scope = next == folder ? .files : .folderItself
        if try !folderWatches.add(next, interest) {
          gap = (path, String(name))
          break
        }
        path = next
      }
      guard let gap else {
        if folder == "/" {
          _ = try folderWatches.add("/", .files)
        }
        return
      }
      let isThere = try folderWatches.add(gap.folder, .arrivals)
      // It may have come while it was not waited for yet.
      let next = FileSystem.join(gap.folder, gap.name)
      if isThere && FileSystem.entry(at: next) != .folder {
        missingFolders.append(gap)
        return
      }
    }
  }

  struct File {
    /// A name in a folder, by its whole path.
    struct Location: Equatable {
      var folder: String
      var name: String
    }

    let path: String
    /// Where the file is: by its name and, for a link, by what it leads to.
    var locations: [Location] = []
    /// How the file was when its last change was reported; nothing where it was missing.
    var stamp: FileStamp?
    /// From when to when events happen in a row that have not settled yet.
    var eventBurst: (start: Duration, end: Duration)?

    init(_ path: String) { self.path = path }

    /// Time that is given to a writer who has not closed the file yet.
    static let openFileSettleTime = Duration.milliseconds(300)
    /// Time after which a file that never comes to rest is reported all the same.
    static let maximumBurstDuration = Duration.seconds(1)

    static func locations(of path: String) -> [Location] {
      let whole =
        path.hasPrefix("/") ? path : FileSystem.join(FileSystem.realPath(".") ?? "/", path)
      var places = [location(of: whole)]
      if FileSystem.isLink(path), let real = FileSystem.realPath(path) {
        places.append(location(of: real))
      }
      return places
    }

    private static func location(of path: String) -> Location {
      // Slashes in a row and at the end mean nothing.
      let names = path.split(separator: "/")
      return Location(
        folder: "/" + names.dropLast().joined(separator: "/"),
        name: names.last.map(String.init) ?? "")
    }

    func matches(_ name: String, in folders: [String]) -> Bool {
      locations.contains { $0.name == name && folders.contains($0.folder) }
    }

    mutating func recordEvent(at now: Duration, settleTime settling: Duration, isUnfinished: Bool) {
      let start = eventBurst?.start ?? now
      // Nobody writes to a link; it is complete when it is there.
      let isOpen = isUnfinished && !FileSystem.isLink(path)
      let end = now + (isOpen ? max(settling, Self.openFileSettleTime) : settling)
      eventBurst = (start, min(end, start + Self.maximumBurstDuration))
    }

    /// The change, where the burst is over and there is one to tell.
    mutating func settledChange(at now: Duration) -> Change? {
      guard let eventBurst, now >= eventBurst.end else { return nil }
      self.eventBurst = nil
      let wasThere = stamp != nil
      stamp = FileStamp(path)
      if stamp != nil { return Change(path: path, kind: .written) }
      return wasThere ? Change(path: path, kind: .removed) : nil
    }
  }
}

/// What happens in folders, as the system reports it through inotify(7).
final class FolderWatches {
  enum Scope {
    /// That it is moved or removed itself; quiet otherwise.
    case folderItself
    /// That a name appears in it, too.
    case arrivals
    case files
  }

  enum Event: Equatable {
    /// A file or folder of this name; `isUnfinished` where more is likely to be written.
    case name(String, folders: [String], isUnfinished: Bool)
    /// A folder went away, or more happened than the system remembers: look at everything again.
    case rescanNeeded
  }

  /// Readable when something happened.
  let descriptor: Int32
  private var folders: [Int32: [String]] = [:]

  init() throws(FileError) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else {
      throw .system("files", "cannot be watched (see /proc/sys/fs/inotify/max_user_instances)")
    }
  }

  deinit { close(descriptor) }

  /// Watches a folder, in addition to what is reported of it already; false where there is none.
  func add(_ folder: String, _ interest: Scope) throws(FileError) -> Bool {
    let own = IN_MOVE_SELF | IN_DELETE_SELF
    let arrivals = IN_CREATE | IN_MOVED_TO
    let mask =
      switch interest {
      case .folderItself: own
      case .arrivals: own | arrivals
      case .files: own | arrivals | IN_CLOSE_WRITE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM
      }
    let flags = UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD)
    let watch = unsafe inotify_add_watch(descriptor, folder, UInt32(mask) | flags)
    if watch >= 0 {
      if folders[watch]?.contains(folder) != true {
        folders[watch, default: []].append(folder)
      }
      return true
    }
    switch errno {
    case ENOENT, ENOTDIR:
      return false
    case ENOSPC:
      let limit = "/proc/sys/fs/inotify/max_user_watches"
      throw FileError(folder, "cannot be watched: all watches are in use (see \(limit))")
    // One that may be passed and not be read can still lead to the folder in question.
    case EACCES where interest == .folderItself:
      return true
    default:
      throw .system(folder, "cannot be watched")
    }
  }

  func removeAll() {
    for watch in folders.keys {
      inotify_rm_watch(descriptor, watch)
    }
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
          if let event = unsafe event(watch, mask, String(decoding: name, as: UTF8.self)) {
            events.append(event)
          }
          start = nameStart + length
        }
      }
    }
  }

  private static let headerLength = 16

  private func event(_ watch: Int32, _ mask: UInt32, _ name: String) -> Event? {
    if mask & UInt32(IN_Q_OVERFLOW) != 0 { return .rescanNeeded }
    guard let folders = folders[watch] else { return nil }
    let ends = IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT | IN_IGNORED
    if mask & UInt32(ends) != 0 { return .rescanNeeded }
    if name.isEmpty { return nil }
    let isUnfinished = mask & UInt32(IN_CREATE | IN_MODIFY) != 0
    return .name(name, folders: folders, isUnfinished: isUnfinished)
  }
}
