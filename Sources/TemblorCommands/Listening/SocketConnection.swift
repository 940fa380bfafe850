internal import CommandLineKit
internal import Glibc
internal import HapticPlayback

/// One client of a socket: lines in, lines out, neither of which is waited for.
final class SocketConnection {
  private let descriptor: Int32
  private var reader = LineReader()
  private var unsent = SendBuffer()
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
  var isDone: Bool { isBroken || isEnding && unsent.count == 0 }

  /// What to wait for: room while something waits to be sent, and lines while answers are read.
  var watched: PollDescriptor {
    var events: Int32 = 0
    if unsent.count > 0 { events |= POLLOUT }
    if isReading { events |= POLLIN }
    return PollDescriptor(descriptor, events: Int16(events))
  }

  /// Takes no more lines; what waits is still sent.
  func end() { isEnding = true }

  /// Sends a line as far as possible and keeps the rest; with too much to keep the connection breaks.
  func send(_ line: String) {
    if isBroken { return }
    unsent.append(line)
    flush()
    if unsent.count > SocketListener.longestQueue { isBroken = true }
  }

  /// Sends what waits, as far as the client takes it.
  func flush() {
    guard !isBroken else { return }
    let descriptor = descriptor
    isBroken = unsafe !unsent.flush { bytes in
      unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
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
    !isEnding && !isBroken && !isHeld && unsent.count <= SocketListener.patientQueue
  }
}
