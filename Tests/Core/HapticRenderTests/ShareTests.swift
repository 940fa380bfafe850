import HapticModel
import HapticRender
import TestSupport
import Testing

/// The greatest difference between samples.
private func maximumDifference(_ one: [Float], _ other: [Float]) -> Float {
  zip(one, other).map { abs($0 - $1) }.max() ?? 0
}

@Suite struct ShareTests {
  private let pattern = HapticPattern(events: [
    tapEvent(0), humEvent(0.02, 0.2, intensity: 0.5), tapEvent(0.15),
    HapticEvent(kind: .audioContinuous, time: 0, duration: 0.2),
  ])
  private let quickProfile = TransducerProfile(
    name: "quick", summary: "Another.", frequency: FrequencyMapping(lowHertz: 100, highHertz: 200),
    fullIntensityAmplitude: 0.2
  )

  /// The channels of a rendering with two haptic buses of two profiles and one of audio.
  private func channelSamples(
    _ shares: [SendAutomation], passCount: Int = 1, delay: Int = 0, blockLength: Int = 512
  ) throws
    -> [[Float]]
  {
    let plans = [
      try RenderPlan(compiling: pattern), try RenderPlan(compiling: pattern, profile: quickProfile),
    ]
    let routing = OutputRouting(channels: [
      .init(hapticBus: 0), .init(hapticBus: 1, delayFrameCount: delay), .init(audioSide: .both),
    ])
    var rendering = OfflineRenderer(
      plans: plans, sendGains: shares,
      settings: RenderSettings(
        routing: routing, passCount: passCount, outputFrameCount: Int64(14_000 * passCount)))
    var samples: [Float] = []
    var block = [Float](repeating: 7, count: blockLength * 3)
    while true {
      var span = block.mutableSpan
      let count = rendering.read(into: &span)
      if count == 0 { break }
      samples += block[..<(count * 3)]
    }
    return (0..<3).map { channel in
      stride(from: channel, to: samples.count, by: 3).map { samples[$0] }
    }
  }

  private func constantGain(_ share: Double) -> SendAutomation {
    SendAutomation([.init(patternFrame: 0, sendGain: share)])
  }

  @Test func everyBusHasThePatternOfItsProfile() throws {
    let both = try channelSamples([])
    let routing = OutputRouting(channels: [.init(hapticBus: 0)])
    let settings = RenderSettings(routing: routing, outputFrameCount: 14_000)
    #expect(try both[0] == render(pattern, settings: settings))
    #expect(try both[1] == render(pattern, profile: quickProfile, settings: settings))
    #expect(try channelSamples([constantGain(1), constantGain(1)]) == both)
  }

  @Test func onsetsOfAllChannelsLieOnOneFrameApartFromTheirDelays() throws {
    let late = try channelSamples([], delay: 144)
    let onsets = late.prefix(2).map { $0.firstIndex { $0 != 0 } }
    #expect(onsets[1] == onsets[0].map { $0 + 144 })
    let plain = try channelSamples([])
    #expect(Array(late[1][144...]) == Array(plain[1][..<(14_000 - 144)]))
  }

  @Test func aShareIsAFactorOnHapticsAloneFromTheFirstFrameOn() throws {
    let plain = try channelSamples([])
    let shared = try channelSamples([constantGain(0.25), constantGain(0)])
    let quarter = plain[0].map { $0 * 0.25 }
    #expect(maximumDifference(shared[0], quarter) < 1e-6)
    #expect(shared[1].allSatisfy { $0 == 0 })
    #expect(shared[2] == plain[2])
  }

  @Test func aLineMovesNothingBeforeItsFirstCorner() throws {
    let line = SendAutomation([
      .init(patternFrame: 3_000, sendGain: 1), .init(patternFrame: 4_000, sendGain: 0),
    ])
    let plain = try channelSamples([])
    let moved = try channelSamples([line, constantGain(1)])
    #expect(moved[0][...3_000] == plain[0][...3_000])
    let half = (3_400..<3_600).map { frame in plain[0][frame] * Float(4_000 - frame) / 1_000 }
    #expect(maximumDifference(Array(moved[0][3_400..<3_600]), half) < 1e-3)
    #expect(moved[0][4_100...].allSatisfy { abs($0) < 1e-3 })
  }

  @Test func blocksMakeNoDifference() throws {
    let line = SendAutomation([
      .init(patternFrame: 1_000, sendGain: 1), .init(patternFrame: 1_500, sendGain: 0.3),
      .init(patternFrame: 7_001, sendGain: 0.9),
    ])
    let whole = try channelSamples([line, constantGain(0.5)], passCount: 3)
    for length in [1, 64, 977] {
      #expect(
        try channelSamples([line, constantGain(0.5)], passCount: 3, blockLength: length) == whole)
    }
  }

  @Test func everyPassHasTheLineFromItsFirstFrame() throws {
    let line = SendAutomation([
      .init(patternFrame: 0, sendGain: 1), .init(patternFrame: 700, sendGain: 1),
      .init(patternFrame: 701, sendGain: 0),
    ])
    let heard = try channelSamples([line, line], passCount: 2)
    let plain = try channelSamples([], passCount: 2)
    let pass = 10_560
    for channel in 0..<2 {
      let second = Array(heard[channel][pass..<(pass + 700)])
      #expect(second.contains { abs($0) > 0.05 })
      // What was silenced before is missing to the filter that blocks direct current.
      #expect(maximumDifference(second, Array(plain[channel][pass..<(pass + 700)])) < 0.01)
      #expect(heard[channel][(pass - 1_000)..<pass].allSatisfy { abs($0) < 1e-2 })
    }
  }

  @Test func plansThatLoopInStepHaveOnePassLength() throws {
    let short = HapticPattern(events: [tapEvent(0)])
    let plans = [
      try RenderPlan(compiling: short), try RenderPlan(compiling: short, profile: quickProfile),
    ]
    #expect(plans[0].loopFrameCount != plans[1].loopFrameCount)
    #expect(RenderPlan.commonLoopFrameCount(of: plans) == plans.map(\.loopFrameCount).max())
    #expect(RenderPlan.commonLoopFrameCount(of: [plans[0], plans[0]]) == 0)
  }
}
