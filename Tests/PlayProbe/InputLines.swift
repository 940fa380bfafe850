import Glibc

/// The lines of the standard input, as they come.
struct InputLines {
  /// Whether nothing more will come.
  private(set) var isClosed = false
  private var rest: [UInt8] = []

  /// Waits at most a time, and takes the lines that are whole.
  mutating func next(within limit: Duration) -> [String] {
    var watched = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    let milliseconds = Int32(limit / .milliseconds(1))
    guard unsafe poll(&watched, 1, milliseconds) == 1 else { return [] }
    var piece = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe read(STDIN_FILENO, &piece, piece.count)
    if count <= 0 { isClosed = true }
    rest += piece.prefix(max(0, count))
    guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
    let lines = rest[..<end].split(separator: UInt8(ascii: "\n"))
      .map { String(decoding: $0, as: UTF8.self) }
    rest.removeSubrange(...end)
    return lines
  }
}
