import Glibc
import HapticPlayback
import TestSupport

/// Waits until files in a folder are created or grow, with inotify.
struct FileGrowth {
  private let descriptor: Int32
  private let folder: TemporaryFolder

  /// Starts watching a folder.
  private init(_ folder: TemporaryFolder) {
    self.folder = folder
    // The flags of inotify_init1 are those of open(2).
    descriptor = inotify_init1(O_CLOEXEC | O_NONBLOCK)
    _ = unsafe inotify_add_watch(
      descriptor, folder.path, UInt32(IN_CREATE | IN_MODIFY | IN_MOVED_TO))
  }

  /// Waits until a condition is true that depends only on the files of the folder.
  static func wait(
    in folder: TemporaryFolder, within timeout: Duration, for description: String,
    until condition: () -> Bool
  ) throws {
    let fileGrowth = FileGrowth(folder)
    defer { close(fileGrowth.descriptor) }
    let time = SystemTimeSource()
    let deadline = time.now + timeout
    while !condition() {
      let remainingTime = deadline - time.now
      guard remainingTime > .zero else {
        throw UnmetRequirement(description: "waited in vain for \(description)")
      }
      var descriptors = [PollDescriptor(fileGrowth.descriptor)]
      time.wait(for: &descriptors, timeout: remainingTime)
      var events = [UInt8](repeating: 0, count: 4_096)
      while unsafe read(fileGrowth.descriptor, &events, events.count) > 0 {}
    }
  }
}

extension ChildProcess {
  /// Waits until a line of the output contains a text, and returns the line.
  @discardableResult func waitForLine(with text: String, within timeout: Duration = .seconds(15))
    throws -> String
  {
    var matchingLine: Substring?
    do {
      try FileGrowth.wait(in: folder, within: timeout, for: "'\(text)' of \(name)") {
        let lines = (output + errors).split(separator: "\n")
        matchingLine = lines.first { $0.contains(text) }
        return matchingLine != nil
      }
    } catch let error as UnmetRequirement {
      throw UnmetRequirement(description: "\(error.description); it printed: \(output)\(errors)")
    }
    return matchingLine.map(String.init) ?? ""
  }
}

extension TemporaryFolder {
  /// Returns the size of a file in bytes; 0 if the file does not exist.
  func size(_ name: String) -> Int {
    var status = stat()
    return unsafe stat(path + "/" + name, &status) == 0 ? Int(status.st_size) : 0
  }
}
