import HapticPlayback
import Testing

@testable import HapticOutputs

@Suite struct NoticeQueueTests {
  @Test func noticesComeOnceAndInOrder() {
    var queue = NoticeQueue()
    queue.add(.underrun, missedFrameCount: 3, text: "a")
    queue.add(.lost, text: "b")
    #expect(
      queue.take() == [
        SinkEvent(.underrun, missedFrameCount: 3, text: "a"), SinkEvent(.lost, text: "b"),
      ])
    #expect(queue.take() == [])
  }

  @Test func aFloodIsCounted() {
    var queue = NoticeQueue()
    for _ in 0..<1_000 { queue.add(.underrun, missedFrameCount: 2, text: "dry") }
    let taken = queue.take()
    #expect(taken.count == NoticeQueue.capacity + 1)
    #expect(
      taken.last
        == SinkEvent(
          .degraded, missedFrameCount: 2 * (1_000 - NoticeQueue.capacity),
          text: "984 more interruptions in the same time"))
    queue.add(.underrun, text: "dry")
    #expect(queue.take().count == 1)
  }

  @Test func aLossFindsItsPlaceInAFlood() {
    var queue = NoticeQueue()
    for _ in 0..<100 { queue.add(.underrun, missedFrameCount: 1, text: "dry") }
    queue.add(.lost, text: "gone")
    queue.add(.returned, text: "back")
    let taken = queue.take()
    #expect(taken.dropLast().suffix(2).map(\.kind) == [.lost, .returned])
    #expect(taken.map(\.missedFrameCount).reduce(0, +) == 100)
  }
}
