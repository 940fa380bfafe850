import HapticModel
import HapticRender
import TestSupport
import Testing

/// Returns the maximum difference between samples.
private func maximumDifference(_ first: [Float], _ second: [Float]) -> Float {
  zip(first, second).map { abs($0 - $1) }.max() ?? 0
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

  /// Returns the channels of a rendering with two haptic buses, which have different profiles, and
  /// one audio bus.
  private func channelSamples(
    _ sendGains: [SendAutomation], passCount: Int = 1, delay: Int = 0, blockLength: Int = 512
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
      plans: plans, sendGains: sendGains,
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

  private func constantGain(_ sendGain: Double) -> SendAutomation {
    SendAutomation([.init(patternFrame: 0, sendGain: sendGain)])
  }

  @Test func everyBusHasThePatternOfItsProfile() throws {
    let samples = try channelSamples([])
    let routing = OutputRouting(channels: [.init(hapticBus: 0)])
    let settings = RenderSettings(routing: routing, outputFrameCount: 14_000)
    #expect(try samples[0] == render(pattern, settings: settings))
    #expect(try samples[1] == render(pattern, profile: quickProfile, settings: settings))
    #expect(try channelSamples([constantGain(1), constantGain(1)]) == samples)
  }

  @Test func onsetsOfChannelsDifferOnlyByTheirDelays() throws {
    let delayed = try channelSamples([], delay: 144)
    let onsets = delayed.prefix(2).map { $0.firstIndex { $0 != 0 } }
    #expect(onsets[1] == onsets[0].map { $0 + 144 })
    let undelayed = try channelSamples([])
    #expect(Array(delayed[1][144...]) == Array(undelayed[1][..<(14_000 - 144)]))
  }

  @Test func sendGainScalesOnlyHapticsFromTheFirstFrame() throws {
    let unscaled = try channelSamples([])
    let scaled = try channelSamples([constantGain(0.25), constantGain(0)])
    let expected = unscaled[0].map { $0 * 0.25 }
    #expect(maximumDifference(scaled[0], expected) < 1e-6)
    #expect(scaled[1].allSatisfy { $0 == 0 })
    #expect(scaled[2] == unscaled[2])
  }

  @Test func automationChangesNothingBeforeItsFirstPoint() throws {
    let automation = SendAutomation([
      .init(patternFrame: 3_000, sendGain: 1), .init(patternFrame: 4_000, sendGain: 0),
    ])
    let constant = try channelSamples([])
    let automated = try channelSamples([automation, constantGain(1)])
    #expect(automated[0][...3_000] == constant[0][...3_000])
    let expected = (3_400..<3_600).map { frame in constant[0][frame] * Float(4_000 - frame) / 1_000
    }
    #expect(maximumDifference(Array(automated[0][3_400..<3_600]), expected) < 1e-3)
    #expect(automated[0][4_100...].allSatisfy { abs($0) < 1e-3 })
  }

  @Test func blocksMakeNoDifference() throws {
    let automation = SendAutomation([
      .init(patternFrame: 1_000, sendGain: 1), .init(patternFrame: 1_500, sendGain: 0.3),
      .init(patternFrame: 7_001, sendGain: 0.9),
    ])
    let expected = try channelSamples([automation, constantGain(0.5)], passCount: 3)
    for length in [1, 64, 977] {
      #expect(
        try channelSamples([automation, constantGain(0.5)], passCount: 3, blockLength: length)
          == expected)
    }
  }

  @Test func automationRestartsWithEveryPass() throws {
    let automation = SendAutomation([
      .init(patternFrame: 0, sendGain: 1), .init(patternFrame: 700, sendGain: 1),
      .init(patternFrame: 701, sendGain: 0),
    ])
    let automated = try channelSamples([automation, automation], passCount: 2)
    let constant = try channelSamples([], passCount: 2)
    let pass = 10_560
    for channel in 0..<2 {
      let secondPass = Array(automated[channel][pass..<(pass + 700)])
      #expect(secondPass.contains { abs($0) > 0.05 })
      // The DC blocker had silence before the pass.
      #expect(maximumDifference(secondPass, Array(constant[channel][pass..<(pass + 700)])) < 0.01)
      #expect(automated[channel][(pass - 1_000)..<pass].allSatisfy { abs($0) < 1e-2 })
    }
  }

  @Test func plansThatLoopTogetherHaveOnePassLength() throws {
    let tapPattern = HapticPattern(events: [tapEvent(0)])
    let plans = [
      try RenderPlan(compiling: tapPattern),
      try RenderPlan(compiling: tapPattern, profile: quickProfile),
    ]
    #expect(plans[0].loopFrameCount != plans[1].loopFrameCount)
    #expect(RenderPlan.commonLoopFrameCount(of: plans) == plans.map(\.loopFrameCount).max())
    #expect(RenderPlan.commonLoopFrameCount(of: [plans[0], plans[0]]) == 0)
  }
}
