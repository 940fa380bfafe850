import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct StandardOutputTests {
  private struct Pipe {
    var reader: Int32 = -1
    var writer: Int32 = -1

    init() throws {
      var descriptors: [Int32] = [-1, -1]
      try #require(unsafe pipe(&descriptors) == 0)
      for descriptor in descriptors {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      }
      reader = descriptors[0]
      writer = descriptors[1]
    }
  }

  private final class Received: Sendable { let bytes = Mutex<[UInt8]>([]) }

  @Test func isNoTerminalOnAPipe() throws {
    let pipe = try Pipe()
    defer {
      close(pipe.reader)
      close(pipe.writer)
    }
    let output = Output(descriptor: pipe.writer, name: "pipe")
    #expect(!output.isTerminal)
    #expect(!output.allowsColor)
    #expect(output.columnCount == 80)
  }

  @Test func writesEverythingThroughAFullNonBlockingPipe() throws {
    let pipe = try Pipe()
    #expect(fcntl(pipe.writer, F_SETFL, O_NONBLOCK) == 0)
    let text = String(repeating: "0123456789", count: 100_000)
    let received = Received()
    let reader = DispatchGroup()
    DispatchQueue.global().async(group: reader) {
      received.bytes.withLock { $0 = readToEnd(pipe.reader) }
    }
    try Output(descriptor: pipe.writer, name: "pipe").write(text)
    close(pipe.writer)
    #expect(reader.wait(timeout: .now() + HangLimit.seconds) == .success)
    #expect(received.bytes.withLock { $0 } == Array(text.utf8))
  }

  @Test func reportsAClosedReader() throws {
    _ = Terminal.system { .zero }
    let pipe = try Pipe()
    close(pipe.reader)
    defer { close(pipe.writer) }
    // A process that another test starts at this moment inherits the reader until it executes its
    // program.
    try #require(HangLimit.waitForEvents(0, of: pipe.writer))
    let error = #expect(throws: StreamError.self) {
      try Output(descriptor: pipe.writer, name: "pipe").write("a")
    }
    #expect(error?.isBrokenPipe == true)
  }

  @Test func reportsAFullDisk() throws {
    let fullDevice = unsafe open("/dev/full", O_WRONLY)
    try #require(fullDevice >= 0)
    defer { close(fullDevice) }
    let error = #expect(throws: StreamError.self) {
      try Output(descriptor: fullDevice, name: "standard output").write("a")
    }
    #expect(error?.isBrokenPipe == false)
    #expect(error?.description == "cannot write to standard output: No space left on device")
  }
}

private func readToEnd(_ descriptor: Int32) -> [UInt8] {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  while true {
    let count = unsafe read(descriptor, &buffer, buffer.count)
    if count <= 0 { break }
    bytes += buffer.prefix(count)
  }
  close(descriptor)
  return bytes
}
