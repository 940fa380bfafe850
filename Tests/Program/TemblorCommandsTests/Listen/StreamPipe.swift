import Glibc
import Testing

/// Two ends that tests hold in the place of a standard stream.
final class StreamPipe {
  let exit: Int32
  private(set) var entrance: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    exit = ends[0]
    entrance = ends[1]
  }

  deinit {
    if entrance >= 0 {
      close(entrance)
    }
    close(exit)
  }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(entrance, bytes, bytes.count)
  }

  /// Ends what can be read, and waits until the end can be seen: a process that another test starts
  /// at this moment has the entrance, too, until it becomes its program.
  func finish() {
    guard entrance >= 0 else { return }
    close(entrance)
    entrance = -1
    var entry = pollfd(fd: exit, events: 0, revents: 0)
    if unsafe poll(&entry, 1, 60_000) != 1 {
      Issue.record("another process holds the entrance")
    }
  }

  /// What is there to read now.
  func received() -> String {
    var all: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 65_536)
    var entry = pollfd(fd: exit, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&entry, 1, 0) > 0 {
      let count = unsafe read(exit, &bytes, bytes.count)
      if count <= 0 { break }
      all += bytes.prefix(count)
    }
    return String(decoding: all, as: UTF8.self)
  }
}
