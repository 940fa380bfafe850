import TestSupport
import Testing

@testable import HapticRender

@Suite struct TempoMapTests {
  @Test(arguments: [0.1, 1.0 / 3, 0.5, 0.999, 1, 1.1, 1.5, 2.7, 64])
  func bothDirectionsAgreeToTheFrame(rate: Double) {
    var pace = TempoMap()
    var numbers = SeededGenerator(seed: UInt64(rate * 1_000))
    pace.anchor(line: 1_234, at: 77)
    for change in 0..<5 {
      let frame = Int64(77 + change * 10_007)
      pace.setRate(change == 3 ? 1.7 : rate, at: frame)
      for _ in 0..<500 {
        // Up to a year at 192 kHz.
        let reach = Int64(1) << Int64.random(in: 1...42, using: &numbers)
        let line = pace.line(at: frame) + Int64.random(in: 0...reach, using: &numbers)
        let met = pace.frame(at: line)
        #expect(pace.line(at: met) >= line)
        #expect(met == frame || pace.line(at: met - 1) < line)
      }
    }
  }

  @Test func aChangeOfRateKeepsThePlace() {
    var pace = TempoMap()
    pace.anchor(line: 0, at: 0)
    pace.setRate(0.5, at: 1_000)
    #expect(pace.line(at: 1_000) == 1_000)
    pace.setRate(2, at: 1_001)
    #expect(pace.line(at: 1_001) == 1_000)
    // The half frame is not lost.
    #expect(pace.line(at: 1_002) == 1_002)
    pace.setRate(1, at: 1_002)
    #expect(!pace.isUnity)
    #expect(pace.line(at: 2_002) == 2_002)
  }

  @Test func ratesAreBounded() {
    var pace = TempoMap()
    pace.setRate(1e9, at: 0)
    #expect(pace.rate == 64)
    pace.setRate(1e-9, at: 0)
    #expect(pace.rate == 1.0 / 64)
  }
}
