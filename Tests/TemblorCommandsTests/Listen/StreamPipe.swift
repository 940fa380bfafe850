import Glibc
import Testing

/// Two ends that tests hold in the place of a standard stream.
final class StreamPipe {
  let exit: Int32
  private(set) var entrance: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    (exit, entrance) = (ends[0], ends[1])
  }

  deinit {
    close(exit)
    finish()
  }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(entrance, bytes, bytes.count)
  }

  /// Ends what can be read.
  func finish() {
    if entrance >= 0 { close(entrance) }
    entrance = -1
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
