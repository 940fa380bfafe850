import Testing

@testable import HapticOutputs

@Suite struct FrameTimeTests {
  @Test(arguments: [8_000.0, 44_100, 48_000, 192_000])
  func framesSurviveTheWayThroughTime(rate: Double) {
    let time = FrameTime(rate: rate)
    for count in [-960, -1, 0, 1, 2, 7, 441, 65_536, 1_000_003] {
      #expect(time.frameCount(in: time.duration(of: count)) == count)
      #expect(time.frameCount(touching: time.duration(of: count)) == count)
    }
  }

  @Test func partsOfFramesAreRounded() {
    let time = FrameTime(rate: 48_000)
    #expect(time.frameCount(in: .microseconds(30)) == 1)
    #expect(time.frameCount(touching: .microseconds(30)) == 2)
    #expect(time.frameCount(in: .microseconds(-30)) == -2)
  }
}
