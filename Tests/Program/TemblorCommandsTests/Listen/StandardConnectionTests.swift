import Glibc
import HapticPlayback
import Testing

@testable import CommandLineKit
@testable import CommandServer
@testable import SystemSupport
@testable import TemblorCommands

@Suite struct StandardConnectionTests {
  let input: StreamPipe
  let output: StreamPipe
  let connection: LineConnection

  init() throws {
    input = try StreamPipe()
    output = try StreamPipe()
    connection = LineConnection(input: input.readDescriptor, output: output.writeDescriptor)
  }

  @Test func linesAreReadWhenCompleteAndTheLastOneAtTheEnd() {
    #expect(connection.readLines() == [])
    input.write("a\nb")
    #expect(connection.readLines() == [.text("a")])
    #expect(!connection.isInputAtEnd)
    input.finish()
    #expect(connection.readLines() == [.text("b")])
    #expect(connection.isInputAtEnd)
    #expect(connection.watchedDescriptors == [])
  }

  @Test func linesWaitWhileReadingIsPaused() {
    input.write("a\n")
    connection.isReadingPaused = true
    #expect(connection.readLines() == [])
    #expect(connection.watchedDescriptors == [])
    connection.isReadingPaused = false
    #expect(connection.watchedDescriptors == [PollDescriptor(input.readDescriptor)])
    #expect(connection.readLines() == [.text("a")])
  }

  @Test func slowReaderDoesNotBlockTheConnection() {
    let reply = CommandReply.ok([.text(String(repeating: "x", count: 1_000))])
    for _ in 0..<300 {
      connection.send(reply)
    }
    input.write("a\n")
    // More output is waiting than the queue allows, so no more commands are read.
    #expect(connection.readLines() == [])
    #expect(
      connection.watchedDescriptors == [
        PollDescriptor(output.writeDescriptor, events: Int16(POLLOUT))
      ])
    var received = ""
    for _ in 0..<20 {
      received += output.received()
      connection.flush()
    }
    #expect(received.split(separator: "\n").count == 300)
    #expect(connection.readLines() == [.text("a")])
  }

  @Test func lastLinesWaitBrieflyForAReader() {
    for _ in 0..<300 {
      connection.send(CommandReply.ok([.text(String(repeating: "x", count: 1_000))]))
    }
    let time = VirtualTimeSource()
    connection.finishSending(time)
    #expect(time.now == .seconds(1))
  }
}
