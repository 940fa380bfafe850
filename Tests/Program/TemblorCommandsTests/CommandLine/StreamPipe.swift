import Glibc
import TestSupport
import Testing

/// A pipe in place of a standard stream.
final class StreamPipe {
  private(set) var readDescriptor: Int32
  private(set) var writeDescriptor: Int32

  init() throws {
    var descriptors: [Int32] = [-1, -1]
    try #require(unsafe pipe(&descriptors) == 0)
    for descriptor in descriptors {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
    readDescriptor = descriptors[0]
    writeDescriptor = descriptors[1]
  }

  deinit {
    if writeDescriptor >= 0 {
      close(writeDescriptor)
    }
    if readDescriptor >= 0 {
      close(readDescriptor)
    }
  }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(writeDescriptor, bytes, bytes.count)
  }

  /// Closes the write end, and waits until the pipe has no writer.
  func finish() {
    guard writeDescriptor >= 0 else { return }
    close(writeDescriptor)
    writeDescriptor = -1
    waitForHangUp(of: readDescriptor)
  }

  /// Closes the read end, and waits until the pipe has no reader.
  func closeReader() {
    guard readDescriptor >= 0 else { return }
    close(readDescriptor)
    readDescriptor = -1
    waitForHangUp(of: writeDescriptor)
  }

  /// Waits until no process has the other end of the pipe open. A process that another test starts
  /// inherits the descriptors until it executes its program.
  private func waitForHangUp(of descriptor: Int32) {
    if !HangLimit.waitForEvents(0, of: descriptor) {
      Issue.record("another process holds the other end of the pipe")
    }
  }

  /// Returns all text that is available to read.
  func received() -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var entry = pollfd(fd: readDescriptor, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&entry, 1, 0) > 0 {
      let count = unsafe read(readDescriptor, &buffer, buffer.count)
      if count <= 0 { break }
      bytes += buffer.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
