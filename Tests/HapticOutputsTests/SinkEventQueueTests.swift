import HapticPlayback
import Testing

@testable import HapticOutputs

@Suite struct SinkEventQueueTests {
  @Test func noticesComeOnceAndInOrder() {
    var queue = SinkEventQueue()
    queue.add(.underrun, missedFrameCount: 3, text: "a")
    queue.add(.disconnected, text: "b")
    #expect(
      queue.take() == [
        SinkEvent(.underrun, missedFrameCount: 3, text: "a"), SinkEvent(.disconnected, text: "b"),
      ])
    #expect(queue.take() == [])
  }

  @Test func aFloodIsCounted() {
    var queue = SinkEventQueue()
    for _ in 0..<1_000 { queue.add(.underrun, missedFrameCount: 2, text: "dry") }
    let taken = queue.take()
    #expect(taken.count == SinkEventQueue.capacity + 1)
    #expect(
      taken.last
        == SinkEvent(
          .degraded, missedFrameCount: 2 * (1_000 - SinkEventQueue.capacity),
          text: "984 more interruptions in the same time"))
    queue.add(.underrun, text: "dry")
    #expect(queue.take().count == 1)
  }

  @Test func aLossFindsItsPlaceInAFlood() {
    var queue = SinkEventQueue()
    for _ in 0..<100 { queue.add(.underrun, missedFrameCount: 1, text: "dry") }
    queue.add(.disconnected, text: "gone")
    queue.add(.reconnected, text: "back")
    let taken = queue.take()
    #expect(taken.dropLast().suffix(2).map(\.kind) == [.disconnected, .reconnected])
    #expect(taken.map(\.missedFrameCount).reduce(0, +) == 100)
  }
}
