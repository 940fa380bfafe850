import HapticModel
import RealtimeMemory
import Testing

@testable import HapticRender

/// Layers that state frequencies in hertz.
@Suite struct StatedFrequencyTests {
  private static let linearScale = SharpnessScale(
    minimumHertz: 65, maximumHertz: 300, isLogarithmic: false)

  /// A bass shaker with a published band and a narrower scale of sharpness.
  private static let shakerProfile = TransducerProfile(
    name: "shaker", summary: "", frequency: FrequencyMapping(lowHertz: 20, highHertz: 60),
    hardware: TransducerHardware(
      product: "A", bandHertz: 10...80, resonanceHertz: 30, qualityFactor: 3))

  private func composition(_ pattern: HapticPattern, _ scale: SharpnessScale?) -> HapticComposition
  {
    HapticComposition(layers: [HapticComposition.Layer(pattern, sharpnessScale: scale)])
  }

  /// Renders a steady vibration of a frequency and returns its measured frequency.
  private func measured(
    _ hertz: Double, on profile: TransducerProfile, scale: SharpnessScale
  ) throws -> Double {
    let event = humEvent(0, 1, sharpness: Float(scale.sharpness(ofHertz: hertz)))
    let plan = try RenderPlan(
      compiling: composition(HapticPattern(events: [event]), scale), profile: profile, rate: 8_000)
    return frequency(of: rendered(plan), rate: 8_000, from: 0.2, to: 0.9)
  }

  @Test(
    "A transducer plays the frequencies of its band as they are",
    arguments: [SharpnessScale.phone, linearScale])
  func inBand(scale: SharpnessScale) throws {
    for hertz in [30.0, 45, 60, 75] {
      let measuredHertz = try measured(hertz, on: Self.shakerProfile, scale: scale)
      #expect(abs(measuredHertz / hertz - 1) < 0.005, "\(hertz): \(measuredHertz)")
    }
  }

  @Test("A frequency beyond the band becomes its end")
  func beyondBand() throws {
    let measuredHertz = try measured(300, on: Self.shakerProfile, scale: .phone)
    #expect(abs(measuredHertz / 80 - 1) < 0.005)
    #expect(Self.shakerProfile.reproducibleHertz(rate: 8_000) == 10...80)
  }

  @Test("A profile without hardware plays every frequency", arguments: [30.0, 400])
  func withoutHardware(hertz: Double) throws {
    let measuredHertz = try measured(hertz, on: .phone, scale: Self.linearScale)
    #expect(abs(measuredHertz / hertz - 1) < 0.005)
  }

  @Test("Hardware without a published band plays the frequencies of its profile")
  func withoutPublishedBand() {
    var profile = Self.shakerProfile
    profile.hardware?.bandHertz = nil
    #expect(profile.reproducibleHertz(rate: 48_000) == 20...60)
    profile.driveSettings.limitsToUsableBand = false
    #expect(profile.reproducibleHertz(rate: 48_000) == 1...20_000)
    #expect(profile.reproducibleHertz(rate: 8_000) == 1...3_600)
  }

  @Test("A line of hertz is rendered as a line")
  func glide() throws {
    let pattern = HapticPattern(
      events: [humEvent(0, 1, sharpness: 0)],
      curves: [curve(.hapticSharpnessControl, [(0, -0.1), (1, 0.4)])])
    let plan = try RenderPlan(compiling: composition(pattern, Self.linearScale), rate: 8_000)
    let samples = rendered(plan)
    // The scale is linear: 41.5 Hz at the start, 159 Hz at the end.
    for time in [0.3, 0.5, 0.7] {
      let expectedHertz = 65 + 235 * (-0.1 + 0.5 * time)
      let measuredHertz = frequency(of: samples, rate: 8_000, from: time - 0.1, to: time + 0.1)
      #expect(abs(measuredHertz / expectedHertz - 1) < 0.02, "\(time): \(measuredHertz)")
    }
  }

  @Test("A burst has the frequency of its layer")
  func burst() throws {
    for hertz in [40.0, 120, 400] {
      let sharpness = Float(SharpnessScale.phone.sharpness(ofHertz: hertz))
      let plan = try RenderPlan(
        compiling: composition(HapticPattern(events: [tapEvent(0, sharpness: sharpness)]), .phone),
        rate: 48_000)
      let voice = plan.planView.value.voices[0]
      #expect(
        abs(Double(voice.initialSine.phaseIncrement) / 4_294_967_296 * 48_000 / hertz - 1) < 1e-4)
      // A burst has two cycles, limited to 8 to 40 ms.
      let seconds = min(max(2 / hertz, 0.008), 0.04)
      #expect(abs(Double(voice.envelope.endFrame) - seconds * 48_000) <= 1)
    }
  }

  @Test("On the scale of the profile, hertz and sharpness give identical samples")
  func equalScales() throws {
    let pattern = HapticPattern(
      events: [humEvent(0, 0.5, sharpness: 0.2), tapEvent(0.3, sharpness: 0.7)],
      curves: [curve(.hapticSharpnessControl, [(0, 0), (0.5, 0.5)])])
    let planWithHertz = try RenderPlan(compiling: composition(pattern, .phone), rate: 8_000)
    let planWithSharpness = try RenderPlan(compiling: composition(pattern, nil), rate: 8_000)
    #expect(maximumDifference(rendered(planWithHertz), rendered(planWithSharpness)) < 1e-4)
  }

  @Test("The block length does not change the samples", arguments: [1, 37])
  func blockInvariance(length: Int) throws {
    let pattern = HapticPattern(
      events: [humEvent(0, 0.2, sharpness: 0)],
      curves: [curve(.hapticSharpnessControl, [(0, -2), (0.2, 3)])])
    let plan = try RenderPlan(
      compiling: composition(pattern, .phone), profile: Self.shakerProfile, rate: 8_000)
    #expect(rendered(plan, blockLength: length) == rendered(plan))
  }

  @Test("A stored plan keeps the scale of its layers")
  func storedPlan() throws {
    let event = humEvent(0, 0.2, sharpness: -1)
    let plan = try RenderPlan(
      compiling: composition(HapticPattern(events: [event]), .phone), rate: 8_000)
    let bytes = plan.serialized()
    let count = bytes.count
    let deserialized = RenderPlan.deserialized(from: bytes, count: count)
    let restoredPlan = try #require(deserialized)
    #expect(rendered(restoredPlan) == rendered(plan))
  }
}
