import Glibc
import HapticPlayback
import PlayRig

/// Waits for files to come to be or to grow, by what the system reports about a folder.
struct FileGrowth {
  private let watch: Int32
  private let folder: FreshFolder

  /// Watches a folder from now on.
  private init(_ folder: FreshFolder) {
    self.folder = folder
    // The flags of inotify_init1 are those of open(2).
    watch = inotify_init1(O_CLOEXEC | O_NONBLOCK)
    _ = unsafe inotify_add_watch(watch, folder.path, UInt32(IN_CREATE | IN_MODIFY | IN_MOVED_TO))
  }

  /// Waits until something is true that changes only when a file of the folder does.
  static func wait(
    in folder: FreshFolder, within limit: Duration, for what: String, until isTrue: () -> Bool
  ) throws {
    let growth = FileGrowth(folder)
    defer { close(growth.watch) }
    let time = SystemTimeSource()
    let end = time.now + limit
    while !isTrue() {
      let left = end - time.now
      guard left > .zero else { throw UnmetRequirement(description: "waited in vain for \(what)") }
      var watched = [PollDescriptor(growth.watch)]
      time.wait(for: &watched, timeout: left)
      var events = [UInt8](repeating: 0, count: 4_096)
      while unsafe read(growth.watch, &events, events.count) > 0 {}
    }
  }
}

extension ChildProcess {
  /// Waits until a line of what it printed has a text, and answers the line.
  @discardableResult func waitForLine(with text: String, within limit: Duration = .seconds(15))
    throws -> String
  {
    var found: Substring?
    do {
      try FileGrowth.wait(in: folder, within: limit, for: "'\(text)' of \(name)") {
        let lines = (output + errors).split(separator: "\n")
        found = lines.first { $0.contains(text) }
        return found != nil
      }
    } catch let error as UnmetRequirement {
      throw UnmetRequirement(description: "\(error.description); it printed: \(output)\(errors)")
    }
    return found.map(String.init) ?? ""
  }
}

extension FreshFolder {
  /// Bytes of a file, none where there is no file.
  func size(_ name: String) -> Int {
    var status = stat()
    return unsafe stat(path + "/" + name, &status) == 0 ? Int(status.st_size) : 0
  }
}
