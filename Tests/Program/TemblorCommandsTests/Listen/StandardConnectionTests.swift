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

  @Test func linesComeAsTheyAreThereAndTheLastWithoutAnEnd() {
    #expect(connection.readLines() == [])
    input.write("a\nb")
    #expect(connection.readLines() == [.text("a")])
    #expect(!connection.isInputAtEnd)
    input.finish()
    #expect(connection.readLines() == [.text("b")])
    #expect(connection.isInputAtEnd)
    #expect(connection.watchedDescriptors == [])
  }

  @Test func heldLinesStay() {
    input.write("a\n")
    connection.isReadingPaused = true
    #expect(connection.readLines() == [])
    #expect(connection.watchedDescriptors == [])
    connection.isReadingPaused = false
    #expect(connection.watchedDescriptors == [PollDescriptor(input.readDescriptor)])
    #expect(connection.readLines() == [.text("a")])
  }

  @Test func oneWhoDoesNotReadIsNotWaitedFor() {
    let line = CommandReply.ok([.text(String(repeating: "x", count: 1_000))])
    for _ in 0..<300 {
      connection.send(line)
    }
    input.write("a\n")
    // More waits than a patient queue holds, so no more commands are taken.
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

  @Test func theLastLinesWaitAWhileForAReader() {
    for _ in 0..<300 {
      connection.send(CommandReply.ok([.text(String(repeating: "x", count: 1_000))]))
    }
    let time = VirtualTimeSource()
    connection.finishSending(time)
    #expect(time.now == .seconds(1))
  }
}
