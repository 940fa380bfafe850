internal import CommandLineKit
internal import Glibc
internal import HapticPlayback
internal import SystemSupport

/// Standard input and output as one connection: lines in, lines out, neither of which is waited for.
final class StandardConnection {
  /// The time between two looks at whether the terminal is this job's again.
  static let interval = Duration.milliseconds(500)
  /// Bytes that a pipe takes without waiting when it says that it has room: PIPE_BUF of Linux.
  private static let piece = 4_096
  /// The longest time that the last lines are waited for to be taken.
  private static let patience = Duration.seconds(1)

  private let input: Int32
  private let output: Int32
  private var reader = LineReader()
  private var unsent = SendBuffer()
  /// Whether no more lines come.
  private(set) var isAtEnd = false
  /// Whether lines are left where they are for now.
  var isHeld = false
  private var isBroken = false

  /// A connection of two open descriptors.
  init(input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO) {
    self.input = input
    self.output = output
  }

  /// Whether lines are typed at a terminal.
  var isTyped: Bool { isatty(input) == 1 }

  /// What to wait for.
  var watched: [PollDescriptor] {
    var watched: [PollDescriptor] = []
    if isReading && isOurs { watched.append(PollDescriptor(input)) }
    if unsent.count > 0 && !isBroken {
      watched.append(PollDescriptor(output, events: Int16(POLLOUT)))
    }
    return watched
  }

  /// How long to wait at most.
  var timeout: Duration? { isReading && !isOurs ? Self.interval : nil }

  /// The lines that came, at most 64 KiB of them.
  func lines() -> [LineReader.Line] {
    guard isReading, isOurs, isReady(input, POLLIN) else { return [] }
    var bytes = [UInt8](repeating: 0, count: LineReader.limit)
    let count = unsafe read(input, &bytes, bytes.count)
    if count > 0 { return reader.lines(in: bytes.prefix(count)) }
    if count < 0 && (errno == EAGAIN || errno == EINTR) { return [] }
    isAtEnd = true
    return reader.finish().map { [$0] } ?? []
  }

  /// Writes a line as far as possible and keeps the rest; one nobody reads is dropped.
  func send(_ reply: ListenReply) {
    // A reader who never comes must not fill the memory.
    if isBroken || unsent.count > SocketListener.longestQueue { return }
    unsent.append(reply.line)
    flush()
  }

  /// Writes what waits, as far as it is taken.
  func flush() {
    guard !isBroken else { return }
    isBroken = unsafe !unsent.flush { bytes in
      guard isReady(output, POLLOUT) else {
        errno = EAGAIN
        return -1
      }
      return unsafe write(output, bytes.baseAddress, min(bytes.count, Self.piece))
    }
  }

  /// Writes what waits, for as long as somebody may be about to take it.
  func finish(_ time: any TimeSource) {
    let end = time.now + Self.patience
    flush()
    while unsent.count > 0, !isBroken, time.now < end {
      var watched = [PollDescriptor(output, events: Int16(POLLOUT))]
      time.wait(for: &watched, timeout: end - time.now)
      flush()
    }
  }

  /// Lines are taken only from who reads the answers.
  private var isReading: Bool {
    !isAtEnd && !isHeld && (isBroken || unsent.count <= SocketListener.patientQueue)
  }

  /// Whether reading is not for another job of the terminal, which would stop this one.
  private var isOurs: Bool {
    isatty(input) == 0 || tcgetpgrp(input) < 0 || TerminalMode.isForeground(input)
  }

  private func isReady(_ descriptor: Int32, _ events: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    // An end or an error is for the call itself to tell.
    return unsafe poll(&entry, 1, 0) > 0
  }
}
