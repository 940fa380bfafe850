import HapticPlayback
import TestSupport
import Testing

@testable import CommandServer
@testable import TemblorCommands

@Suite struct ListenPerformanceTests {
  let input: StreamPipe
  let output: StreamPipe
  let fixture = ListenFixture(rate: 8_000)
  let folder: TemporaryFolder

  init() throws {
    input = try StreamPipe()
    output = try StreamPipe()
    folder = try TemporaryFolder()
  }

  private func performance(_ listener: SocketListener? = nil) -> ServerActivity {
    ServerActivity(
      fixture.session,
      standard: LineConnection(input: input.readDescriptor, output: output.writeDescriptor),
      listener: listener,
      eventInbox: EventInbox(), time: fixture.playback.time, retryInterval: .zero)
  }

  /// Turns of the loop with some time between, until it is over; answers how many.
  private func run(_ performance: ServerActivity, turns: Int, seconds: Double = 0.008) -> Int {
    for turn in 1...turns {
      _ = performance.watchedDescriptors
      if performance.updateActivity(at: fixture.playback.time.now) == .finished {
        return turn
      }
      fixture.playback.advance(seconds: seconds)
    }
    return turns
  }

  @Test func answersComeInOrderAndTheEndIsPlayed() {
    let performance = performance()
    input.write("@1 hum 1 0.5 0.1 at 0.1 as a\n@2 nothing\n\n# no command\n@3 list\n@4 stat")
    #expect(run(performance, turns: 3) == 3)
    #expect(
      output.received()
        == """
        @1 ok name=a time=0.1 duration=0.1\n@2 error unknown-keyword: unknown command \
        'nothing'\n
        """
        + "@3 ok a\n")
    input.write("us")
    input.finish()
    let turns = run(performance, turns: 100)
    #expect(turns < 40)
    let rest = output.received()
    #expect(rest.hasPrefix("@4 ok time=0.032 "))
    #expect(rest.hasSuffix("\nevent finished name=a time=0.201\n"))
  }

  @Test func quitEndsAtOnce() {
    let performance = performance()
    input.write("play pulse loop\n@q quit\nlist\n")
    #expect(run(performance, turns: 5) == 1)
    performance.finishSession()
    #expect(output.received().hasSuffix("\n@q ok\n"))
  }

  @Test func whatFindsNoRoomIsObeyedAPeriodLater() {
    let performance = performance()
    for _ in 0..<1_500 {
      input.write("tap\n")
    }
    input.finish()
    let turns = run(performance, turns: 200, seconds: 0.05)
    #expect(turns < 60)
    let answers = output.received().split(separator: "\n")
    #expect(answers.count == 1_500)
    #expect(answers.allSatisfy { $0.hasPrefix("ok time=") })
  }

  @Test func everyoneHearsOfEventsAndTheirOwnAnswers() throws {
    let listener = try SocketListener(folder("s"))
    let performance = performance(listener)
    let one = try Connection(folder("s"))
    let other = try Connection(folder("s"))
    one.send("@1 hum 1 0.5 0.1 at 0.1 as a\n")
    other.send("quit\n")
    input.finish()
    #expect(run(performance, turns: 40) == 40)
    #expect(
      one.received() == "@1 ok name=a time=0.1 duration=0.1\nevent finished name=a time=0.201\n")
    #expect(other.received() == "ok\n")
    #expect(other.isAtEnd)
    #expect(output.received() == "event finished name=a time=0.201\n")
  }

  @Test func oneWhoSendsMuchLetsOthersHaveTheirTurn() throws {
    let listener = try SocketListener(folder("s"))
    let performance = performance(listener)
    let one = try Connection(folder("s"))
    let other = try Connection(folder("s"))
    one.send(String(repeating: "list\n", count: 10 * CommandQueue.maximumLineCountPerTurn))
    other.send("list\n")
    #expect(run(performance, turns: 1) == 1)
    #expect(one.received().split(separator: "\n").count == CommandQueue.maximumLineCountPerTurn)
    #expect(other.received() == "ok\n")
    for _ in 0..<9 {
      #expect(run(performance, turns: 1) == 1)
      #expect(one.received().split(separator: "\n").count == CommandQueue.maximumLineCountPerTurn)
    }
  }
}
