import HapticRender
import Testing
import TransducerProfiles

private let seat = TransducerArray(
  name: "seat",
  transducers: [-1.0, 0, 1].enumerated().map { .init(channelNumber: $0 + 1, position: .init($1)) })

/// The value of a line at a frame.
private func value(_ line: SendAutomation, _ frame: Int64) -> Double {
  guard let next = line.points.firstIndex(where: { $0.patternFrame > frame }) else {
    return line.points.last?.sendGain ?? 1
  }
  guard next > 0 else { return line.points[0].sendGain }
  let low = line.points[next - 1]
  let high = line.points[next]
  return low.sendGain + (high.sendGain - low.sendGain) * Double(frame - low.patternFrame)
    / Double(high.patternFrame - low.patternFrame)
}

@Suite struct PanPathTests {
  @Test func onePositionIsTheSameAllTheTime() {
    let shares = PanPath(at: .init(1)).sendGains(on: seat, rate: 48_000)
    #expect(shares == [0.0, 0, 1].map { SendAutomation([.init(patternFrame: 0, sendGain: $0)]) })
  }

  @Test func aWayPassesEachTransducerAtItsFrame() {
    let path = PanPath([
      .init(timeSeconds: 0.5, position: .init(-1)), .init(timeSeconds: 1.5, position: .init(1)),
    ])
    let shares = path.sendGains(on: seat, rate: 48_000)
    #expect([0, 23_999, 24_000].map { value(shares[0], $0) } == [1, 1, 1])
    #expect(value(shares[0], 24_001) < 1)
    #expect(shares.map { value($0, 48_000) } == [0, 1, 0])
    #expect(shares.map { value($0, 72_000) } == [0, 0, 1])
    #expect(shares.map { value($0, 99_999) } == [0, 0, 1])
    #expect(abs(value(shares[1], 36_000) - 0.5.squareRoot()) < 1e-12)
  }

  @Test(arguments: [TransducerArray.Layout.line, .ring, .plane]) func powerStaysTheSameOnTheWay(
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
    let shares = path.sendGains(on: array, rate: 8_000)
    for frame in Int64(0)...2_500 {
      let power = shares.reduce(0) { $0 + value($1, frame) * value($1, frame) }
      #expect(abs(power - 1) < 1e-3, "at \(frame)")
    }
  }
}
