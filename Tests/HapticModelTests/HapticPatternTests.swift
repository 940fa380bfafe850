import HapticModel
import Testing

@Suite struct HapticPatternTests {
  @Test func anEmptyPatternHasNoDuration() {
    #expect(HapticPattern().duration == 0)
  }

  @Test func durationReachesToTheLastEndOrStart() {
    var pattern = HapticPattern(events: [
      HapticEvent(kind: .hapticContinuous, time: 1, duration: 2),
      HapticEvent(kind: .hapticTransient, time: 2.5),
    ])
    #expect(pattern.duration == 3)
    pattern.parameters = [DynamicParameter(id: .audioPanControl, value: 0, time: 4)]
    #expect(pattern.duration == 4)
    // A curve counts from where it starts, not to its last point.
    pattern.curves = [
      ParameterCurve(
        id: .audioPanControl, time: 4.5,
        controlPoints: [.init(time: 0, value: 0), .init(time: 9, value: 1)])
    ]
    #expect(pattern.duration == 4.5)
  }

  @Test func aTransientsLogicalLengthCounts() {
    let tap = HapticEvent(kind: .hapticTransient, time: 1, duration: 0.5)
    #expect(HapticPattern(events: [tap]).duration == 1.5)
  }
}
