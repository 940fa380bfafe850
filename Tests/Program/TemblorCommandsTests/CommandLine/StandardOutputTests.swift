import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

@Suite struct StandardOutputTests {
  private final class Received: Sendable { let bytes = Mutex<[UInt8]>([]) }

  @Test func isNoTerminalOnAPipe() throws {
    let pipe = try StreamPipe()
    let output = Output(descriptor: pipe.writeDescriptor, name: "pipe")
    #expect(!output.isTerminal)
    #expect(!output.allowsColor)
    #expect(output.columnCount == 80)
  }

  @Test func writesEverythingThroughAFullNonBlockingPipe() throws {
    let pipe = try StreamPipe()
    #expect(fcntl(pipe.writeDescriptor, F_SETFL, O_NONBLOCK) == 0)
    let text = String(repeating: "0123456789", count: 100_000)
    let received = Received()
    let reader = DispatchGroup()
    let readDescriptor = pipe.readDescriptor
    DispatchQueue.global().async(group: reader) {
      received.bytes.withLock { $0 = readToEnd(readDescriptor) }
    }
    try Output(descriptor: pipe.writeDescriptor, name: "pipe").write(text)
    pipe.finish()
    #expect(reader.wait(timeout: .now() + HangLimit.seconds) == .success)
    #expect(received.bytes.withLock { $0 } == Array(text.utf8))
  }

  @Test func reportsAClosedReader() throws {
    _ = Terminal.system { .zero }
    let pipe = try StreamPipe()
    pipe.closeReader()
    let error = #expect(throws: StreamError.self) {
      try Output(descriptor: pipe.writeDescriptor, name: "pipe").write("a")
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
    if count <= 0 { return bytes }
    bytes += buffer.prefix(count)
  }
}
