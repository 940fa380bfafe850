extension FileWatch {
  /// One file, and what is going on with it.
  struct File {
    /// A name in a folder, by its whole path.
    struct Place: Equatable {
      var folder: String
      var name: String
    }

    /// What happens in a row to one file.
    struct Burst {
      var start: Duration
      var end: Duration
    }

    /// The path as it was given.
    let path: String
    /// Where the file is: by its name and, for a link, by what it leads to.
    var places: [Place] = []
    /// How the file was when its last change was told; nothing where it was missing.
    var stamp: FileStamp?
    /// Events that have not settled yet.
    var burst: Burst?

    init(_ path: String) { self.path = path }

    /// Time that is given to a writer who has not closed the file yet.
    static let patience = Duration.milliseconds(300)
    /// Time after which a file that never comes to rest is told all the same.
    static let longest = Duration.seconds(1)

    static func places(of path: String) -> [Place] {
      let whole =
        path.hasPrefix("/") ? path : FileSystem.join(FileSystem.realPath(".") ?? "/", path)
      var places = [place(whole)]
      if FileSystem.isLink(path), let real = FileSystem.realPath(path) {
        places.append(place(real))
      }
      return places
    }

    private static func place(_ path: String) -> Place {
      // Slashes in a row and at the end mean nothing.
      let names = path.split(separator: "/")
      return Place(
        folder: "/" + names.dropLast().joined(separator: "/"),
        name: names.last.map(String.init) ?? "")
    }

    /// Whether a name in one of these folders is this file.
    func isAt(_ name: String, in folders: [String]) -> Bool {
      places.contains { $0.name == name && folders.contains($0.folder) }
    }

    /// Begins a burst or prolongs it.
    mutating func note(at now: Duration, settling: Duration, isUnfinished: Bool) {
      let start = burst?.start ?? now
      // Nobody writes to a link; it is complete when it is there.
      let isOpen = isUnfinished && !FileSystem.isLink(path)
      let end = now + (isOpen ? max(settling, Self.patience) : settling)
      burst = Burst(start: start, end: min(end, start + Self.longest))
    }

    /// The change, where the burst is over and there is one to tell.
    mutating func settle(at now: Duration) -> Change? {
      guard let burst, now >= burst.end else { return nil }
      self.burst = nil
      let wasThere = stamp != nil
      stamp = FileStamp(path)
      if stamp != nil { return Change(path: path, kind: .written) }
      return wasThere ? Change(path: path, kind: .removed) : nil
    }
  }
}
