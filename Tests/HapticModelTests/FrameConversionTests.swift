import HapticModel
import Testing

@Suite struct HapticTimeTests {
  @Test func timesGoToTheNearestFrame() {
    #expect(FrameConversion.frame(seconds: 0.1, rate: 44_100) == 4_410)
    #expect(FrameConversion.frame(seconds: 0.5, rate: 3) == 2)
    #expect(FrameConversion.frame(seconds: -0.5, rate: 3) == -2)
    #expect(FrameConversion.frame(seconds: 1.0 / 3, rate: 48_000) == 16_000)
  }

  @Test func anyNumberGivesAFrame() {
    #expect(FrameConversion.frame(seconds: .infinity, rate: 48_000) == 4_147_200_000)
    #expect(FrameConversion.frame(seconds: -.infinity, rate: 48_000) == -4_147_200_000)
    #expect(FrameConversion.frame(seconds: 1e300, rate: 192_000) == 16_588_800_000)
    #expect(FrameConversion.frame(seconds: .nan, rate: 48_000) == 0)
  }
}
