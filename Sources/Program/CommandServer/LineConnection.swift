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
  static let maximumUnsentByteCount = 1 << 20
  /// The number of unsent bytes above which no more lines are read.
  static let maximumUnsentByteCountWhileReading = 1 << 16
  static let foregroundPollInterval = Duration.milliseconds(500)
  /// The number of bytes that a pipe accepts without waiting when it signals space: `PIPE_BUF` of
  /// Linux.
  private static let pipeWriteByteCount = 4_096
  private static let finalSendTimeout = Duration.seconds(1)

  private let inputDescriptor: Int32
  private let outputDescriptor: Int32
  private let isSocket: Bool
  private var lineReader = LineReader()
  private var sendBuffer = SendBuffer()
  package private(set) var isInputAtEnd = false
  package var isReadingPaused = false
  private var isConnectionBroken = false

  init(socket descriptor: Int32) {
    inputDescriptor = descriptor
    outputDescriptor = descriptor
    isSocket = true
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
  }

  package init(input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO) {
    self.inputDescriptor = input
    self.outputDescriptor = output
    isSocket = false
  }

  deinit {
    if isSocket {
      close(inputDescriptor)
    }
  }

  package var isTerminal: Bool { isatty(inputDescriptor) == 1 }
  var isFinished: Bool { isConnectionBroken || isInputAtEnd && sendBuffer.count == 0 }

  /// The descriptors to poll: for writing if there are unsent bytes, and for reading unless there
  /// are too many unsent bytes.
  package var watchedDescriptors: [PollDescriptor] {
    let hasPendingOutput = sendBuffer.count > 0 && !isConnectionBroken
    if isSocket {
      // Without events, poll(2) still reports a disconnected client.
      let events = (hasPendingOutput ? POLLOUT : 0) | (isReading ? POLLIN : 0)
      return [PollDescriptor(inputDescriptor, events: Int16(events))]
    }
    return (isReading && isInForeground ? [PollDescriptor(inputDescriptor)] : [])
      + (hasPendingOutput ? [PollDescriptor(outputDescriptor, events: Int16(POLLOUT))] : [])
  }

  package var pollTimeout: Duration? {
    isReading && !isInForeground ? Self.foregroundPollInterval : nil
  }
  func markInputAtEnd() { isInputAtEnd = true }

  /// Returns the lines that have arrived, up to 64 KiB, so that every client has its turn.
  package func readLines() -> [LineReader.Line] {
    guard isReading, isSocket || isInForeground && isDescriptorReady(inputDescriptor, POLLIN) else {
      return []
    }
    var readBuffer = [UInt8](repeating: 0, count: LineReader.maximumLineLength)
    let readByteCount = unsafe read(inputDescriptor, &readBuffer, readBuffer.count)
    if readByteCount > 0 { return lineReader.lines(in: readBuffer.prefix(readByteCount)) }
    if readByteCount < 0 && (errno == EAGAIN || errno == EINTR) { return [] }
    if readByteCount < 0 && isSocket {
      isConnectionBroken = true
    }
    isInputAtEnd = true
    return lineReader.popLastLine().map { [$0] } ?? []
  }

  package func send(_ reply: CommandReply) {
    // A reader that never reads must not fill the memory.
    if isConnectionBroken || !isSocket && sendBuffer.count > Self.maximumUnsentByteCount { return }
    sendBuffer.append(reply.line)
    flush()
    if isSocket && sendBuffer.count > Self.maximumUnsentByteCount {
      isConnectionBroken = true
    }
  }

  package func flush() {
    guard !isConnectionBroken else { return }
    isConnectionBroken = unsafe !sendBuffer.flush { bytes in
      if isSocket {
        return unsafe Glibc.send(
          outputDescriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      guard isDescriptorReady(outputDescriptor, POLLOUT) else {
        errno = EAGAIN
        return -1
      }
      return unsafe write(
        outputDescriptor, bytes.baseAddress, min(bytes.count, Self.pipeWriteByteCount))
    }
  }

  package func finishSending(_ time: any TimeSource) {
    let sendDeadline = time.now + Self.finalSendTimeout
    flush()
    while sendBuffer.count > 0, !isConnectionBroken, time.now < sendDeadline {
      var watched = [PollDescriptor(outputDescriptor, events: Int16(POLLOUT))]
      time.wait(for: &watched, timeout: sendDeadline - time.now)
      flush()
    }
  }

  private var isReading: Bool {
    if isInputAtEnd || isReadingPaused { return false }
    if isConnectionBroken { return !isSocket }
    return sendBuffer.count <= Self.maximumUnsentByteCountWhileReading
  }

  /// A Boolean value that indicates whether this process may read from its terminal. Reading in the
  /// background would stop the process.
  private var isInForeground: Bool {
    isatty(inputDescriptor) == 0 || tcgetpgrp(inputDescriptor) < 0
      || TerminalMode.isForegroundJob(ofTerminal: inputDescriptor)
  }

  private func isDescriptorReady(_ descriptor: Int32, _ events: Int32) -> Bool {
    var pollEntry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    // The read or write itself reports an end or an error.
    return unsafe poll(&pollEntry, 1, 0) > 0
  }
}

struct SendBuffer {
  private var bytes: [UInt8] = []
  private var sentByteCount = 0

  var count: Int { bytes.count - sentByteCount }

  mutating func append(_ line: String) {
    bytes += line.utf8
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Sends the pending bytes. Returns false if the reader is gone.
  mutating func flush(_ send: (UnsafeRawBufferPointer) -> Int) -> Bool {
    var isConnected = true
    while self.count > 0 && isConnected {
      let count = unsafe bytes.withUnsafeBytes { all in
        unsafe send(UnsafeRawBufferPointer(rebasing: all[sentByteCount...]))
      }
      if count >= 0 {
        sentByteCount += count
      } else if errno == EAGAIN {
        break
      } else if errno != EINTR {
        isConnected = false
      }
    }
    // Moving the rest forward each time would cost more than it frees.
    if sentByteCount == bytes.count
      || sentByteCount > LineConnection.maximumUnsentByteCountWhileReading
    {
      bytes.removeFirst(sentByteCount)
      sentByteCount = 0
    }
    return isConnected
  }
}
