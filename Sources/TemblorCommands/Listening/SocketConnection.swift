internal import Glibc
internal import HapticPlayback

/// One client of a socket: lines in, lines out, neither of which is waited for.
final class SocketConnection {
  private let descriptor: Int32
  private var reader = LineReader()
  private var queue: [UInt8] = []
  /// Bytes of the queue that were sent.
  private var sentCount = 0
  /// Whether nothing more comes from the client, or is wanted from it.
  private(set) var isEnding = false
  /// Whether lines are left where they are for now.
  var isHeld = false
  /// Whether nothing more can be sent either.
  private var isBroken = false

  /// Takes over a connected socket.
  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  deinit { close(descriptor) }

  /// Whether the client has all it will get.
  var isDone: Bool { isBroken || isEnding && waitingCount == 0 }

  /// What to wait for: room while something waits to be sent, and lines while answers are read.
  var watched: WatchedDescriptor {
    var events: Int32 = 0
    if waitingCount > 0 { events |= POLLOUT }
    if isReading { events |= POLLIN }
    return WatchedDescriptor(descriptor, events: Int16(events))
  }

  /// Takes no more lines; what waits is still sent.
  func end() { isEnding = true }

  /// Sends a line as far as possible and keeps the rest; with too much to keep the connection breaks.
  func send(_ line: String) {
    if isBroken { return }
    queue += line.utf8
    queue.append(UInt8(ascii: "\n"))
    flush()
    if waitingCount > SocketListener.longestQueue { isBroken = true }
  }

  /// Sends what waits, as far as the client takes it.
  func flush() {
    while waitingCount > 0 && !isBroken {
      let count = unsafe queue.withUnsafeBytes { bytes in
        unsafe Glibc.send(
          descriptor, bytes.baseAddress?.advanced(by: sentCount), bytes.count - sentCount,
          Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        sentCount += count
      } else if errno == EAGAIN {
        break
      } else if errno != EINTR {
        isBroken = true
      }
    }
    // Moving the rest forward each time would cost more than it frees.
    if sentCount == queue.count || sentCount > SocketListener.patientQueue {
      queue.removeFirst(sentCount)
      sentCount = 0
    }
  }

  /// The lines that came, at most 64 KiB of them so that every client has its turn.
  func lines() -> [LineReader.Line] {
    guard isReading else { return [] }
    var bytes = [UInt8](repeating: 0, count: LineReader.limit)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    if count > 0 { return reader.lines(in: bytes.prefix(count)) }
    if count < 0 && (errno == EAGAIN || errno == EINTR) { return [] }
    if count < 0 { isBroken = true }
    isEnding = true
    return reader.finish().map { [$0] } ?? []
  }

  /// Lines are taken only from who reads the answers.
  private var isReading: Bool {
    !isEnding && !isBroken && !isHeld && waitingCount <= SocketListener.patientQueue
  }

  private var waitingCount: Int { queue.count - sentCount }
}
