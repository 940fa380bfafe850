import HapticRender
import Testing
import TransducerProfiles

private let seat = TransducerArray(
  name: "seat",
  transducers: [-1.0, 0, 1].enumerated().map { .init(channelNumber: $0 + 1, position: .init($1)) })

/// Returns the send gain of an automation at a frame.
private func sendGain(_ automation: SendAutomation, _ frame: Int64) -> Double {
  guard let nextIndex = automation.points.firstIndex(where: { $0.patternFrame > frame }) else {
    return automation.points.last?.sendGain ?? 1
  }
  guard nextIndex > 0 else { return automation.points[0].sendGain }
  let previousPoint = automation.points[nextIndex - 1]
  let nextPoint = automation.points[nextIndex]
  return previousPoint.sendGain + (nextPoint.sendGain - previousPoint.sendGain)
    * Double(frame - previousPoint.patternFrame)
    / Double(nextPoint.patternFrame - previousPoint.patternFrame)
}

@Suite struct PanPathTests {
  @Test func singlePositionHasConstantGains() {
    let sendGains = PanPath(at: .init(1)).sendGains(on: seat, rate: 48_000)
    #expect(
      sendGains == [0.0, 0, 1].map { SendAutomation([.init(patternFrame: 0, sendGain: $0)]) })
  }

  @Test func pathPassesEachTransducerAtItsFrame() {
    let path = PanPath([
      .init(timeSeconds: 0.5, position: .init(-1)), .init(timeSeconds: 1.5, position: .init(1)),
    ])
    let sendGains = path.sendGains(on: seat, rate: 48_000)
    #expect([0, 23_999, 24_000].map { sendGain(sendGains[0], $0) } == [1, 1, 1])
    #expect(sendGain(sendGains[0], 24_001) < 1)
    #expect(sendGains.map { sendGain($0, 48_000) } == [0, 1, 0])
    #expect(sendGains.map { sendGain($0, 72_000) } == [0, 0, 1])
    #expect(sendGains.map { sendGain($0, 99_999) } == [0, 0, 1])
    #expect(abs(sendGain(sendGains[1], 36_000) - 0.5.squareRoot()) < 1e-12)
  }

  @Test(arguments: [TransducerArray.Layout.line, .ring, .plane]) func powerIsConstantAlongAPath(
    layout: TransducerArray.Layout
  ) {
    var array = seat
    array.layout = layout
    for index in array.transducers.indices {
      array.transducers[index].position.firstCoordinate *= 100
    }
    let path = PanPath([
      .init(timeSeconds: 0, position: .init(-200, 10)),
      .init(timeSeconds: 0.3, position: .init(500, -20)),
    ])
    let sendGains = path.sendGains(on: array, rate: 8_000)
    for frame in Int64(0)...2_500 {
      let power = sendGains.reduce(0) { $0 + sendGain($1, frame) * sendGain($1, frame) }
      #expect(abs(power - 1) < 1e-3, "at \(frame)")
    }
  }
}
