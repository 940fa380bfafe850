internal import Glibc
package import HapticPlayback
internal import SystemSupport

/// A nonblocking connection that reads and writes lines.
///
/// The connection is a client's socket, or standard input and output. The standard streams outlive
/// the connection, may belong to another job, and are read even if nobody reads the replies.
package final class LineConnection {
  /// The maximum number of unsent bytes; beyond it, a socket is disconnected, and other connections
  /// drop lines.
  static let maximumQueueSize = 1 << 20
  /// The number of unsent bytes above which no more lines are read.
  static let readPauseThreshold = 1 << 16
  static let foregroundPollInterval = Duration.milliseconds(500)
  /// The number of bytes that a pipe accepts without waiting when it signals space: `PIPE_BUF` of
  /// Linux.
  private static let pipeWriteSize = 4_096
  private static let finishTimeout = Duration.seconds(1)

  private let input: Int32
  private let output: Int32
  private let isSocket: Bool
  private var reader = LineReader()
  private var sendBuffer = SendBuffer()
  package private(set) var isAtEnd = false
  package var isPaused = false
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

  deinit {
    if isSocket {
      close(input)
    }
  }

  package var isTerminal: Bool { isatty(input) == 1 }
  var isFinished: Bool { isBroken || isAtEnd && sendBuffer.count == 0 }

  /// The descriptors to poll: for writing if there are unsent bytes, and for reading unless there
  /// are too many unsent bytes.
  package var watchedDescriptors: [PollDescriptor] {
    let sends = sendBuffer.count > 0 && !isBroken
    if isSocket {
      // Without events, poll(2) still reports a disconnected client.
      let events = (sends ? POLLOUT : 0) | (isReading ? POLLIN : 0)
      return [PollDescriptor(input, events: Int16(events))]
    }
    return (isReading && isInForeground ? [PollDescriptor(input)] : [])
      + (sends ? [PollDescriptor(output, events: Int16(POLLOUT))] : [])
  }

  package var timeout: Duration? {
    isReading && !isInForeground ? Self.foregroundPollInterval : nil
  }
  func markAtEnd() { isAtEnd = true }

  /// Returns the lines that have arrived, up to 64 KiB, so that every client has its turn.
  package func readLines() -> [LineReader.Line] {
    guard isReading, isSocket || isInForeground && isReady(input, POLLIN) else { return [] }
    var bytes = [UInt8](repeating: 0, count: LineReader.maximumLineLength)
    let count = unsafe read(input, &bytes, bytes.count)
    if count > 0 { return reader.lines(in: bytes.prefix(count)) }
    if count < 0 && (errno == EAGAIN || errno == EINTR) { return [] }
    if count < 0 && isSocket {
      isBroken = true
    }
    isAtEnd = true
    return reader.finish().map { [$0] } ?? []
  }

  package func send(_ reply: CommandReply) {
    // A reader that never reads must not fill the memory.
    if isBroken || !isSocket && sendBuffer.count > Self.maximumQueueSize { return }
    sendBuffer.append(reply.line)
    flush()
    if isSocket && sendBuffer.count > Self.maximumQueueSize {
      isBroken = true
    }
  }

  package func flush() {
    guard !isBroken else { return }
    isBroken = unsafe !sendBuffer.flush { bytes in
      if isSocket {
        return unsafe Glibc.send(output, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      guard isReady(output, POLLOUT) else {
        errno = EAGAIN
        return -1
      }
      return unsafe write(output, bytes.baseAddress, min(bytes.count, Self.pipeWriteSize))
    }
  }

  package func finish(_ time: any TimeSource) {
    let end = time.now + Self.finishTimeout
    flush()
    while sendBuffer.count > 0, !isBroken, time.now < end {
      var watched = [PollDescriptor(output, events: Int16(POLLOUT))]
      time.wait(for: &watched, timeout: end - time.now)
      flush()
    }
  }

  private var isReading: Bool {
    if isAtEnd || isPaused { return false }
    return isBroken ? !isSocket : sendBuffer.count <= Self.readPauseThreshold
  }

  /// A Boolean value that indicates whether this process may read from its terminal. Reading in the
  /// background would stop the process.
  private var isInForeground: Bool {
    isatty(input) == 0 || tcgetpgrp(input) < 0 || TerminalMode.isForegroundJob(ofTerminal: input)
  }

  private func isReady(_ descriptor: Int32, _ events: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    // The read or write itself reports an end or an error.
    return unsafe poll(&entry, 1, 0) > 0
  }
}

struct SendBuffer {
  private var bytes: [UInt8] = []
  private var sentCount = 0

  var count: Int { bytes.count - sentCount }

  mutating func append(_ line: String) {
    bytes += line.utf8
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Sends the pending bytes. Returns false if the reader is gone.
  mutating func flush(_ send: (UnsafeRawBufferPointer) -> Int) -> Bool {
    var isConnected = true
    while self.count > 0 && isConnected {
      let count = unsafe bytes.withUnsafeBytes { all in
        unsafe send(UnsafeRawBufferPointer(rebasing: all[sentCount...]))
      }
      if count >= 0 {
        sentCount += count
      } else if errno == EAGAIN {
        break
      } else if errno != EINTR {
        isConnected = false
      }
    }
    // Moving the rest forward each time would cost more than it frees.
    if sentCount == bytes.count || sentCount > LineConnection.readPauseThreshold {
      bytes.removeFirst(sentCount)
      sentCount = 0
    }
    return isConnected
  }
}
