import Glibc
import Testing

@testable import HapticRender

@Suite struct RealtimeMathTests {
  @Test func powersOfTwoEqualTheLibrary() {
    for index in -20_000...20_000 {
      let x = Float(index) * 0.0061
      #expect(abs(Double(RealtimeMath.exp2(x)) / Glibc.exp2(Double(x)) - 1) < 2.5e-7)
    }
  }

  @Test func powersBeyondTheRangeAreClamped() {
    #expect(RealtimeMath.exp2(1_000) == RealtimeMath.exp2(126))
    #expect(RealtimeMath.exp2(-1_000) == RealtimeMath.exp2(-126))
    #expect(RealtimeMath.exp2(126).isFinite)
    #expect(RealtimeMath.exp2(-126).isNormal)
  }

  @Test func logarithmsEqualTheLibrary() {
    var x: Float = 1e-30
    while x < 1e30 {
      let expected = Glibc.log2(Double(x))
      #expect(abs(Double(RealtimeMath.log2(x)) - expected) < 4e-7 * max(1, abs(expected)))
      x *= 1.0173
    }
    #expect(RealtimeMath.log2(1) == 0)
  }

  @Test func sineEqualsTheLibrary() {
    let increment: UInt32 = 1_047_808
    let segment = SineSegment(phase: 0, increment: increment, glide: 0)
    var bus = [Float](repeating: 0, count: 4_100)
    var span = bus.mutableSpan
    segment.add(
      level: LinearRamp(from: 1, to: 1, frameCount: 1), first: 0, to: &span, at: 0..<4_100)
    for (frame, sample) in bus.enumerated() {
      let phase = Double(UInt32(frame) &* increment) / 4_294_967_296
      #expect(abs(Double(sample) - sin(2 * Double.pi * phase)) < 3e-7)
    }
  }

  @Test func advancingEqualsSteppingFrameByFrame() {
    var advanced = SineSegment(phase: 77, increment: 12_345_678, glide: 0 &- 321)
    var stepped = advanced
    advanced.advance(by: 2_048)
    for _ in 0..<2_048 {
      stepped.advance(by: 1)
    }
    #expect(advanced.phase == stepped.phase)
    #expect(advanced.phaseIncrement == stepped.phaseIncrement)
  }

  @Test func mappingsEqualTheirFormulas() {
    let uniformLevels = [Double](repeating: 1, count: LevelTables.sharpnessPointCount)
    let tables = LevelTables(levels: uniformLevels, burstLevels: uniformLevels)
    defer { withExtendedLifetime(tables) {} }
    for (intensity, sharpness) in [(0, 0), (0.25, 0.3), (0.6, 0.422601), (1, 1)] {
      for exponent in [1, 2, 1.7] {
        var profile = TransducerProfile.phone
        profile.intensity = .power(exponent: exponent)
        let mappings = VoiceMappings(profile, tables: tables, rate: 48_000)
        let level = mappings.vibrationAmplitude(
          intensity: Float(intensity), sharpness: Float(sharpness))
        #expect(abs(Double(level) - pow(intensity, exponent)) < 1e-6)
        for scale in FrequencyMapping.Scale.allCases {
          profile.frequency.scale = scale
          let phaseIncrement = VoiceMappings(profile, tables: tables, rate: 48_000).phaseIncrement(
            atSharpness: Float(sharpness))
          let hertz = Double(phaseIncrement) * 48_000 / 4_294_967_296
          #expect(abs(hertz / profile.frequency.hertz(atSharpness: sharpness) - 1) < 5e-7)
        }
      }
    }
  }

  @Test("A burst is raised by the exponents of bursts, not by those of continuous events")
  func burstsHaveTheirOwnExponents() {
    let count = LevelTables.sharpnessPointCount
    let tables = LevelTables(
      levels: LevelTables.uniformTable, burstLevels: LevelTables.uniformTable,
      exponents: [Double](repeating: 3, count: count),
      burstExponents: [Double](repeating: 0.5, count: count))
    defer { withExtendedLifetime(tables) {} }
    var profile = TransducerProfile.phone
    profile.intensity = .power(exponent: 1)
    let mappings = VoiceMappings(profile, tables: tables, rate: 48_000)
    let amplitudeFloor = mappings.burstAmplitude(intensity: 1e-12, sharpness: 0.5)
    let linearAmplitude =
      Double(amplitudeFloor * amplitudeFloor) + (1 - Double(amplitudeFloor * amplitudeFloor)) * 0.25
    let burst = mappings.burstAmplitude(intensity: 0.25, sharpness: 0.5)
    #expect(abs(Double(burst) - linearAmplitude.squareRoot()) < 1e-5)
    let continuous = mappings.vibrationAmplitude(intensity: 0.25, sharpness: 0.5)
    #expect(abs(Double(continuous) - 0.25 * 0.25 * 0.25) < 1e-6)
  }

  @Test func inverseSquareRootsAreExactToFivePartsInAMillion() {
    for exponent in stride(from: -300.0, through: 300, by: 0.37) {
      let x = raised(10, to: exponent)
      let root = RealtimeMath.inverseSquareRoot(x)
      #expect(abs(root * x.squareRoot() - 1) < 5e-6)
    }
  }
}
