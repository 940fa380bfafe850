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

  private func activity(_ listener: SocketListener? = nil) -> ServerActivity {
    ServerActivity(
      fixture.session,
      standard: LineConnection(input: input.readDescriptor, output: output.writeDescriptor),
      listener: listener,
      eventInbox: EventInbox(), time: fixture.playback.time, retryInterval: .zero)
  }

  /// Runs iterations of the loop, with time between them, until the session ends; returns their
  /// number.
  private func run(_ activity: ServerActivity, iterations: Int, seconds: Double = 0.008) -> Int {
    for iteration in 1...iterations {
      _ = activity.watchedDescriptors
      if activity.updateActivity(at: fixture.playback.time.now) == .finished {
        return iteration
      }
      fixture.playback.advance(seconds: seconds)
    }
    return iterations
  }

  @Test func repliesAreInOrderAndTheLastSoundPlaysToItsEnd() {
    let activity = activity()
    input.write("@1 hum 1 0.5 0.1 at 0.1 as a\n@2 nothing\n\n# no command\n@3 list\n@4 stat")
    #expect(run(activity, iterations: 3) == 3)
    #expect(
      output.received()
        == """
        @1 ok name=a time=0.1 duration=0.1\n@2 error unknown-keyword: unknown command \
        'nothing'\n
        """
        + "@3 ok a\n")
    input.write("us")
    input.finish()
    let iterationCount = run(activity, iterations: 100)
    #expect(iterationCount < 40)
    let remainingOutput = output.received()
    #expect(remainingOutput.hasPrefix("@4 ok time=0.032 "))
    #expect(remainingOutput.hasSuffix("\nevent finished name=a time=0.201\n"))
  }

  @Test func quitEndsImmediately() {
    let activity = activity()
    input.write("play pulse loop\n@q quit\nlist\n")
    #expect(run(activity, iterations: 5) == 1)
    activity.finishSession()
    #expect(output.received().hasSuffix("\n@q ok\n"))
  }

  @Test func excessCommandsArePerformedAPeriodLater() {
    let activity = activity()
    for _ in 0..<1_500 {
      input.write("tap\n")
    }
    input.finish()
    let iterationCount = run(activity, iterations: 200, seconds: 0.05)
    #expect(iterationCount < 60)
    let replies = output.received().split(separator: "\n")
    #expect(replies.count == 1_500)
    #expect(replies.allSatisfy { $0.hasPrefix("ok time=") })
  }

  @Test func clientsReceiveEventsAndTheirOwnReplies() throws {
    let listener = try SocketListener(folder("s"))
    let activity = activity(listener)
    let firstClient = try Connection(folder("s"))
    let secondClient = try Connection(folder("s"))
    firstClient.send("@1 hum 1 0.5 0.1 at 0.1 as a\n")
    secondClient.send("quit\n")
    input.finish()
    #expect(run(activity, iterations: 40) == 40)
    #expect(
      firstClient.received()
        == "@1 ok name=a time=0.1 duration=0.1\nevent finished name=a time=0.201\n")
    #expect(secondClient.received() == "ok\n")
    #expect(secondClient.isAtEnd)
    #expect(output.received() == "event finished name=a time=0.201\n")
  }

  @Test func busyClientDoesNotDelayOtherClients() throws {
    let listener = try SocketListener(folder("s"))
    let activity = activity(listener)
    let busyClient = try Connection(folder("s"))
    let otherClient = try Connection(folder("s"))
    busyClient.send(String(repeating: "list\n", count: 10 * CommandQueue.maximumLineCountPerTurn))
    otherClient.send("list\n")
    #expect(run(activity, iterations: 1) == 1)
    #expect(
      busyClient.received().split(separator: "\n").count == CommandQueue.maximumLineCountPerTurn)
    #expect(otherClient.received() == "ok\n")
    for _ in 0..<9 {
      #expect(run(activity, iterations: 1) == 1)
      #expect(
        busyClient.received().split(separator: "\n").count == CommandQueue.maximumLineCountPerTurn)
    }
  }
}
