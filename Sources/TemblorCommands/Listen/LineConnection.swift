internal import Glibc
package import HapticPlayback
internal import SystemSupport

/// A client: lines in, lines out, neither of which is waited for.
///
/// Either a connected socket, or standard input and output, which outlive it, may belong to another job and
/// go on being read when nobody takes what is written.
package final class LineConnection {
  /// Bytes that wait for a reader who does not read; beyond, a socket breaks and other lines are dropped.
  static let longestQueue = 1 << 20
  /// Bytes that may wait for a reader while more lines are taken.
  static let patientQueue = 1 << 16
  static let interval = Duration.milliseconds(500)
  /// Bytes that a pipe takes without waiting when it reports space: PIPE_BUF of Linux.
  private static let piece = 4_096
  /// The longest time that the last lines are waited for to be taken.
  private static let patience = Duration.seconds(1)

  private let input: Int32
  private let output: Int32
  private let isSocket: Bool
  private var reader = LineReader()
  private var unsent = SendBuffer()
  package private(set) var isAtEnd = false
  /// Whether lines are left where they are for now.
  package var isHeld = false
  /// Whether nothing more can be sent.
  private var isBroken = false

  init(socket descriptor: Int32) {
    input = descriptor
    output = descriptor
    isSocket = true
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  package init(input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO) {
    self.input = input
    self.output = output
    isSocket = false
  }

  deinit { if isSocket { close(input) } }

  package var isTyped: Bool { isatty(input) == 1 }

  var isDone: Bool { isBroken || isAtEnd && unsent.count == 0 }

  /// What to wait for: space while something waits to be sent, and lines while answers are read.
  package var watched: [PollDescriptor] {
    let sends = unsent.count > 0 && !isBroken
    if isSocket {
      // Without events a poll still reports that the client is gone.
      let events = (sends ? POLLOUT : 0) | (isReading ? POLLIN : 0)
      return [PollDescriptor(input, events: Int16(events))]
    }
    return (isReading && isOurs ? [PollDescriptor(input)] : [])
      + (sends ? [PollDescriptor(output, events: Int16(POLLOUT))] : [])
  }

  /// How long to wait at most.
  package var timeout: Duration? { isReading && !isOurs ? Self.interval : nil }

  /// Takes no more lines; what waits is still sent.
  func end() { isAtEnd = true }

  /// The lines that came, at most 64 KiB of them so that every client has its turn.
  package func lines() -> [LineReader.Line] {
    guard isReading, isSocket || isOurs && isReady(input, POLLIN) else { return [] }
    var bytes = [UInt8](repeating: 0, count: LineReader.limit)
    let count = unsafe read(input, &bytes, bytes.count)
    if count > 0 { return reader.lines(in: bytes.prefix(count)) }
    if count < 0 && (errno == EAGAIN || errno == EINTR) { return [] }
    if count < 0 && isSocket { isBroken = true }
    isAtEnd = true
    return reader.finish().map { [$0] } ?? []
  }

  package func send(_ reply: ListenReply) {
    // A reader who never comes must not fill the memory.
    if isBroken || !isSocket && unsent.count > Self.longestQueue { return }
    unsent.append(reply.line)
    flush()
    if isSocket && unsent.count > Self.longestQueue { isBroken = true }
  }

  package func flush() {
    guard !isBroken else { return }
    isBroken = unsafe !unsent.flush { bytes in
      if isSocket { return unsafe Glibc.send(output, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
      guard isReady(output, POLLOUT) else {
        errno = EAGAIN
        return -1
      }
      return unsafe write(output, bytes.baseAddress, min(bytes.count, Self.piece))
    }
  }

  package func finish(_ time: any TimeSource) {
    let end = time.now + Self.patience
    flush()
    while unsent.count > 0, !isBroken, time.now < end {
      var watched = [PollDescriptor(output, events: Int16(POLLOUT))]
      time.wait(for: &watched, timeout: end - time.now)
      flush()
    }
  }

  private var isReading: Bool {
    if isAtEnd || isHeld { return false }
    return isBroken ? !isSocket : unsent.count <= Self.patientQueue
  }

  /// Whether reading is not for another job of the terminal, which would stop this one.
  private var isOurs: Bool { isatty(input) == 0 || tcgetpgrp(input) < 0 || TerminalMode.isForeground(input) }

  private func isReady(_ descriptor: Int32, _ events: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    // An end or an error is for the call itself to tell.
    return unsafe poll(&entry, 1, 0) > 0
  }
}

/// Makes lines of bytes that come in pieces, with bounds on what is kept.
///
/// A line ends with a line feed, which a carriage return may precede.
package struct LineReader {
  /// Bytes of the longest line, its end not counted: sixteen times a path of the system.
  static let limit = 65_536

  package enum Line: Equatable, Sendable {
    /// Text without control characters, tabs apart.
    case text(String)
    /// Bytes that are not such text.
    case invalidUTF8
    /// More than the limit; reported once, at its end.
    case tooLong
  }

  private var pending: [UInt8] = []
  private var isTooLong = false

  /// The lines that are complete with these bytes.
  mutating func lines(in bytes: some Collection<UInt8>) -> [Line] {
    var lines: [Line] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      keep(rest[..<end])
      lines.append(takeLine())
      rest = rest[rest.index(after: end)...]
    }
    keep(rest)
    return lines
  }

  /// The last line, where it did not end before the bytes did.
  mutating func finish() -> Line? { pending.isEmpty && !isTooLong ? nil : takeLine() }

  private mutating func keep(_ bytes: some Collection<UInt8>) {
    // One byte more may be the carriage return.
    isTooLong = isTooLong || pending.count + bytes.count > Self.limit + 1
    if isTooLong { pending = [] } else { pending += bytes }
  }

  private mutating func takeLine() -> Line {
    defer {
      pending.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
    if isTooLong || pending.count > Self.limit { return .tooLong }
    let isClean = pending.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    guard isClean, let text = String(validating: pending, as: UTF8.self) else { return .invalidUTF8 }
    return .text(text)
  }
}

/// Lines on their way to a reader who takes them in his own time.
struct SendBuffer {
  private var bytes: [UInt8] = []
  private var sentCount = 0

  /// Bytes that wait.
  var count: Int { bytes.count - sentCount }

  mutating func append(_ line: String) {
    bytes += line.utf8
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Sends what waits, as far as it is taken; answers whether the reader is still there.
  ///
  /// - Parameter send: One system call: how many of the bytes it took, or below 0 with `errno`.
  mutating func flush(_ send: (UnsafeRawBufferPointer) -> Int) -> Bool {
    var isThere = true
    while count > 0 && isThere {
      let taken = unsafe bytes.withUnsafeBytes { all in unsafe send(UnsafeRawBufferPointer(rebasing: all[sentCount...]))
      }
      if taken >= 0 { sentCount += taken } else if errno == EAGAIN { break } else if errno != EINTR { isThere = false }
    }
    // Moving the rest forward each time would cost more than it frees.
    if sentCount == bytes.count || sentCount > LineConnection.patientQueue {
      bytes.removeFirst(sentCount)
      sentCount = 0
    }
    return isThere
  }
}
