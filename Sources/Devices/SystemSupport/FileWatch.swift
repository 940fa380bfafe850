internal import Glibc

/// A watch that reports when files are written or removed, without polling.
///
/// It watches folders, so that a file may be replaced, as editors do, and may appear and disappear
/// with its folder. A link is watched together with its target; links among the parent folders are
/// resolved once.
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

  /// The descriptor that is readable when a watched file may have changed.
  package var descriptor: Int32 { folderWatches.descriptor }

  /// The time without events after which a file counts as completely written, because editors save
  /// a file in several steps.
  private let settleDuration: Duration
  private let folderWatches: FolderWatches
  private var watchedFiles: [WatchedFile] = []
  private var awaitedFolderEntries: [(folder: String, name: String)] = []

  /// A Boolean value that indicates whether all files must be checked again, because events may
  /// have been missed.
  private var needsFileRescan = false

  /// Creates a watch for the given files. The files need not exist. Create the watch before you
  /// read the files, so that no change is missed.
  package init(_ paths: [String], settleDuration: Duration = .milliseconds(30))
    throws(FileError)
  {
    self.settleDuration = settleDuration
    folderWatches = try FolderWatches()
    try setWatchedPaths(paths)
  }

  /// Replaces the watched files. Files that were watched before are watched without a gap.
  package func setWatchedPaths(_ paths: [String]) throws(FileError) {
    let oldWatchedFiles = watchedFiles
    watchedFiles = []
    for path in paths where !watchedFiles.contains(where: { $0.path == path }) {
      watchedFiles.append(oldWatchedFiles.first { $0.path == path } ?? WatchedFile(path))
    }
    folderWatches.removeAllFolders()
    try watchFolders()
    // New files are up to date. The other files may have changed in between.
    needsFileRescan = !oldWatchedFiles.isEmpty
    for index in watchedFiles.indices
    where !oldWatchedFiles.contains(where: { $0.path == watchedFiles[index].path }) {
      watchedFiles[index].reportedStamp = FileStamp(watchedFiles[index].path)
    }
  }

  /// Returns the maximum time until `pollChanges(at:)` must be called, or nil if it is sufficient
  /// to wait for the descriptor.
  package func timeUntilNextChange(at now: Duration) -> Duration? {
    if needsFileRescan { return .zero }
    return watchedFiles.compactMap { $0.unsettledEventInterval?.end }.min().map {
      max(.zero, $0 - now)
    }
  }

  package func pollChanges(at now: Duration) throws(FileError) -> [Change] {
    for event in folderWatches.readEvents() {
      guard case .nameChanged(let name, let places, let isUnfinished) = event else {
        needsFileRescan = true
        continue
      }
      for index in watchedFiles.indices where watchedFiles[index].matches(name, in: places) {
        watchedFiles[index].recordEvent(
          at: now, settleDuration: settleDuration, isUnfinished: isUnfinished)
      }
      needsFileRescan =
        needsFileRescan
        || awaitedFolderEntries.contains { $0.name == name && places.contains($0.folder) }
    }
    let hasLinkMoved = watchedFiles.contains {
      $0.unsettledEventInterval != nil && $0.locations != WatchedFile.locations(of: $0.path)
    }
    if needsFileRescan || hasLinkMoved {
      try rescanFiles(at: now)
    }
    return watchedFiles.indices.compactMap { watchedFiles[$0].popSettledChange(at: now) }
  }

  /// Watches the current locations of all files again, and records the files that have changed.
  private func rescanFiles(at now: Duration) throws(FileError) {
    needsFileRescan = false
    folderWatches.removeAllFolders()
    try watchFolders()
    for index in watchedFiles.indices
    where FileStamp(watchedFiles[index].path) != watchedFiles[index].reportedStamp {
      watchedFiles[index].recordEvent(at: now, settleDuration: settleDuration, isUnfinished: false)
    }
  }

  private func watchFolders() throws(FileError) {
    awaitedFolderEntries = []
    for index in watchedFiles.indices {
      watchedFiles[index].locations = WatchedFile.locations(of: watchedFiles[index].path)
      for location in watchedFiles[index].locations {
        try watchFolder(location.folder)
      }
    }
  }

  /// Watches a folder and, for moves and removals, its parents.
  /// For a missing folder, watches the closest parent in which it would appear.
  private func watchFolder(_ folder: String) throws(FileError) {
    // The number of attempts is limited, because a folder may keep appearing and disappearing
    // before it can be watched.
    for _ in 0..<100 {
      var path = "/"
      var gap: (folder: String, name: String)?
      for name in folder.split(separator: "/") {
        let next = FileSystem.joinPath(path, String(name))
        let interest: FolderWatches.WatchScope = next == folder ? .files : .folderItself
        if try !folderWatches.addFolder(next, interest) {
          gap = (path, String(name))
          break
        }
        path = next
      }
      guard let gap else {
        if folder == "/" {
          _ = try folderWatches.addFolder("/", .files)
        }
        return
      }
      let isWatched = try folderWatches.addFolder(gap.folder, .folderAndNewNames)
      // The folder may have appeared before it was watched.
      let next = FileSystem.joinPath(gap.folder, gap.name)
      if isWatched && FileSystem.entryKind(at: next) != .folder {
        awaitedFolderEntries.append(gap)
        return
      }
    }
  }

  struct WatchedFile {
    /// The location of a file, as a file name within a folder's absolute path.
    struct Location: Equatable {
      var folder: String
      var name: String
    }

    let path: String
    /// The locations of the file, which are its own location and, for a link, the location of its
    /// target.
    var locations: [Location] = []
    /// The state of the file when its last change was reported, or nil if the file was missing.
    var reportedStamp: FileStamp?
    /// The start and the expected end of a series of events that has not settled yet.
    var unsettledEventInterval: (start: Duration, end: Duration)?

    init(_ path: String) { self.path = path }

    /// The time without events after which a file that is still open counts as completely written.
    static let openFileSettleDuration = Duration.milliseconds(300)
    /// The maximum time before a file that never settles is reported.
    static let maximumUnsettledDuration = Duration.seconds(1)

    static func locations(of path: String) -> [Location] {
      let whole =
        path.hasPrefix("/") ? path : FileSystem.joinPath(FileSystem.realPath(".") ?? "/", path)
      var places = [location(of: whole)]
      if FileSystem.isSymbolicLink(path), let real = FileSystem.realPath(path) {
        places.append(location(of: real))
      }
      return places
    }

    private static func location(of path: String) -> Location {
      // Repeated and trailing slashes have no meaning.
      let names = path.split(separator: "/")
      return Location(
        folder: "/" + names.dropLast().joined(separator: "/"),
        name: names.last.map(String.init) ?? "")
    }

    func matches(_ name: String, in folders: [String]) -> Bool {
      locations.contains { $0.name == name && folders.contains($0.folder) }
    }

    /// Records an event of the file, and extends the time until its events have settled.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - settleDuration: The time without further events after which the file has settled.
    ///   - isUnfinished: True if more writes to the file are likely.
    mutating func recordEvent(at now: Duration, settleDuration: Duration, isUnfinished: Bool) {
      let start = unsettledEventInterval?.start ?? now
      // A link is never written to, so it is complete as soon as it exists.
      let isOpen = isUnfinished && !FileSystem.isSymbolicLink(path)
      let end = now + (isOpen ? max(settleDuration, Self.openFileSettleDuration) : settleDuration)
      unsettledEventInterval = (start, min(end, start + Self.maximumUnsettledDuration))
    }

    /// Returns and clears the change of the file if its events have settled; otherwise, returns
    /// nil.
    mutating func popSettledChange(at now: Duration) -> Change? {
      guard let unsettledEventInterval, now >= unsettledEventInterval.end else { return nil }
      self.unsettledEventInterval = nil
      let wasThere = reportedStamp != nil
      reportedStamp = FileStamp(path)
      if reportedStamp != nil { return Change(path: path, kind: .written) }
      return wasThere ? Change(path: path, kind: .removed) : nil
    }
  }
}

/// Watches folders through inotify(7).
final class FolderWatches {
  enum WatchScope {
    /// The watch covers moves and removals of the folder itself.
    case folderItself
    /// The watch covers changes of the folder itself, and names that appear in it.
    case folderAndNewNames
    case files
  }

  enum Event: Equatable {
    /// A file or folder with the given name has changed. `isUnfinished` means that more writes to
    /// the file are likely.
    case nameChanged(String, folders: [String], isUnfinished: Bool)
    /// A folder disappeared, or the system dropped events, so that all files must be checked again.
    case rescanNeeded
  }

  /// The descriptor that is readable when an event has occurred.
  let descriptor: Int32
  private var foldersByWatchDescriptor: [Int32: [String]] = [:]

  init() throws(FileError) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    guard descriptor >= 0 else {
      throw .systemError("files", "cannot be watched (see /proc/sys/fs/inotify/max_user_instances)")
    }
  }

  deinit { close(descriptor) }

  /// Watches a folder in addition to its earlier scopes. Returns false if the folder does not
  /// exist.
  func addFolder(_ folder: String, _ interest: WatchScope) throws(FileError) -> Bool {
    let folderEvents = IN_MOVE_SELF | IN_DELETE_SELF
    let arrivalEvents = IN_CREATE | IN_MOVED_TO
    let eventMask =
      switch interest {
      case .folderItself: folderEvents
      case .folderAndNewNames: folderEvents | arrivalEvents
      case .files:
        folderEvents | arrivalEvents | IN_CLOSE_WRITE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM
      }
    let watchFlags = UInt32(IN_ONLYDIR) | UInt32(IN_MASK_ADD)
    let watchDescriptor = unsafe inotify_add_watch(
      descriptor, folder, UInt32(eventMask) | watchFlags)
    if watchDescriptor >= 0 {
      if foldersByWatchDescriptor[watchDescriptor]?.contains(folder) != true {
        foldersByWatchDescriptor[watchDescriptor, default: []].append(folder)
      }
      return true
    }
    switch errno {
    case ENOENT, ENOTDIR:
      return false
    case ENOSPC:
      let limit = "/proc/sys/fs/inotify/max_user_watches"
      throw FileError(folder, "cannot be watched: no free watches (see \(limit))")
    // A folder that can be traversed but not read can still lead to the watched folder.
    case EACCES where interest == .folderItself:
      return true
    default:
      throw .systemError(folder, "cannot be watched")
    }
  }

  func removeAllFolders() {
    for watch in foldersByWatchDescriptor.keys {
      inotify_rm_watch(descriptor, watch)
    }
    foldersByWatchDescriptor = [:]
  }

  /// Returns the events since the last call, oldest first, without waiting.
  func readEvents() -> [Event] {
    var decodedEvents: [Event] = []
    var eventBytes = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = unsafe read(descriptor, &eventBytes, eventBytes.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return decodedEvents }
      unsafe eventBytes.withUnsafeBytes { buffer in
        var start = 0
        while start + Self.eventHeaderByteCount <= count {
          // The fields of `struct inotify_event` are the watch, the mask, a cookie, the length of
          // the name, and the name.
          let watch = unsafe buffer.loadUnaligned(fromByteOffset: start, as: Int32.self)
          let mask = unsafe buffer.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self)
          let length = unsafe Int(buffer.loadUnaligned(fromByteOffset: start + 12, as: UInt32.self))
          let nameStart = start + Self.eventHeaderByteCount
          guard nameStart + length <= count else { return }
          let name = unsafe buffer[nameStart..<nameStart + length].prefix { $0 != 0 }
          if let event = unsafe decodeEvent(watch, mask, String(decoding: name, as: UTF8.self)) {
            decodedEvents.append(event)
          }
          start = nameStart + length
        }
      }
    }
  }

  private static let eventHeaderByteCount = 16

  private func decodeEvent(_ watch: Int32, _ mask: UInt32, _ name: String) -> Event? {
    if mask & UInt32(IN_Q_OVERFLOW) != 0 { return .rescanNeeded }
    guard let watchedFolders = foldersByWatchDescriptor[watch] else { return nil }
    let watchEndEvents = IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT | IN_IGNORED
    if mask & UInt32(watchEndEvents) != 0 { return .rescanNeeded }
    if name.isEmpty { return nil }
    let isFileUnfinished = mask & UInt32(IN_CREATE | IN_MODIFY) != 0
    return .nameChanged(name, folders: watchedFolders, isUnfinished: isFileUnfinished)
  }
}
