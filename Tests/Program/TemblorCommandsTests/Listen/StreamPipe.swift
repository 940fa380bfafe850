import Glibc
import Testing

/// Two ends that tests hold in the place of a standard stream.
final class StreamPipe {
  let readDescriptor: Int32
  private(set) var writeDescriptor: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    readDescriptor = ends[0]
    writeDescriptor = ends[1]
  }

  deinit {
    if writeDescriptor >= 0 {
      close(writeDescriptor)
    }
    close(readDescriptor)
  }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(writeDescriptor, bytes, bytes.count)
  }

  /// Ends what can be read, and waits until the end can be seen: a process that another test starts
  /// at this moment has the entrance, too, until it becomes its program.
  func finish() {
    guard writeDescriptor >= 0 else { return }
    close(writeDescriptor)
    writeDescriptor = -1
    var entry = pollfd(fd: readDescriptor, events: 0, revents: 0)
    if unsafe poll(&entry, 1, 60_000) != 1 {
      Issue.record("another process holds the entrance")
    }
  }

  /// What is there to read now.
  func received() -> String {
    var all: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 65_536)
    var entry = pollfd(fd: readDescriptor, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&entry, 1, 0) > 0 {
      let count = unsafe read(readDescriptor, &bytes, bytes.count)
      if count <= 0 { break }
      all += bytes.prefix(count)
    }
    return String(decoding: all, as: UTF8.self)
  }
}
