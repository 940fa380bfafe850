import HapticFormats
import HapticModel
import HapticRender
import Reading
import Testing

@testable import StudioCore

/// Live sound while patterns change.
struct LiveSoundTests {
  private static let blockSize = 128

  /// A vibration with transients, several seconds long.
  private func plan(seconds: Double = 1, intensity: Float = 0.8, events: Int = 4) throws
    -> RenderPlan
  {
    var pattern = HapticPattern(events: [
      HapticEvent(
        kind: .hapticContinuous, time: 0, duration: seconds,
        parameters: [.hapticIntensity: intensity])
    ])
    for index in 0..<events {
      pattern.events.append(
        HapticEvent(
          kind: .hapticTransient, time: seconds * Double(index) / Double(events), parameters: [:]))
    }
    return try RenderPlan(compiling: pattern)
  }

  private func samples(_ live: LiveSound, blocks: Int) -> [Float] {
    (0..<blocks).flatMap { _ -> [Float] in
      let block = unsafe live.renderFrames(Self.blockSize)
      return (0..<Self.blockSize).map { unsafe block[$0] }
    }
  }

  private func maximumStep(_ samples: [Float]) -> Float {
    zip(samples, samples.dropFirst()).map { abs($0 - $1) }.max() ?? 0
  }

  @Test func replacingAPlanIsWithoutClick() throws {
    let live = LiveSound(sampleRateHertz: 48_000)
    // A vibration without onsets, so that steps depend only on its phase.
    let plan = try plan(seconds: 4, events: 0)
    live.loadPlan(0, plan, profile: .phone)
    live.setPlaying(true, fromFrame: 0)
    let steadyStep = maximumStep(samples(live, blocks: 400))
    var outputSamples: [Float] = []
    for _ in 0..<40 {
      live.loadPlan(0, plan, profile: .phone)
      outputSamples += samples(live, blocks: 9)
    }
    #expect(steadyStep > 0)
    #expect(maximumStep(outputSamples) <= steadyStep * 1.05)
  }

  @Test func aChangeIsHeardWithinTwoBlocks() throws {
    let live = LiveSound(sampleRateHertz: 48_000)
    live.loadPlan(0, try plan(events: 0), profile: .phone)
    live.setPlaying(true, fromFrame: 0)
    #expect((samples(live, blocks: 50).map { abs($0) }.max() ?? 0) > 0.1)
    live.loadPlan(0, try plan(intensity: 0, events: 0), profile: .phone)
    _ = samples(live, blocks: 5)
    #expect((samples(live, blocks: 5).map { abs($0) }.max() ?? 1) < 0.01)
  }

  @Test func patternsOfDifferentLengthsStayInStep() throws {
    let live = LiveSound(sampleRateHertz: 48_000)
    let longPlan = try plan(seconds: 1)
    let shortPlan = try plan(seconds: 0.3)
    live.loadPlan(0, longPlan, profile: .phone)
    live.loadPlan(1, shortPlan, profile: .phone)
    live.setPlaying(true, fromFrame: 0)
    for _ in 0..<30 {
      _ = samples(live, blocks: 37)
      live.setAudibleSlot(0)
      let firstPosition = live.positionFrame
      live.setAudibleSlot(1)
      #expect(live.positionFrame == firstPosition)
    }
  }

  @Test func replacingAPlanKeepsThePosition() throws {
    let live = LiveSound(sampleRateHertz: 48_000)
    live.loadPlan(0, try plan(), profile: .phone)
    live.setPlaying(true, fromFrame: 4_800)
    _ = samples(live, blocks: 10)
    let positionFrame = live.positionFrame
    #expect(positionFrame > 4_800)
    live.loadPlan(0, try plan(seconds: 2), profile: .phone)
    _ = samples(live, blocks: 1)
    #expect(live.positionFrame == positionFrame + Int64(Self.blockSize))
  }

  @Test func memoryIsBoundedOverReplacements() throws {
    struct Weak { weak var plan: RenderPlan? }
    let live = LiveSound(sampleRateHertz: 48_000)
    var plans: [Weak] = []
    live.loadPlan(0, try plan(), profile: .phone)
    live.setPlaying(true, fromFrame: 0)
    for _ in 0..<2_000 {
      let plan = try plan(seconds: 0.2, events: 1)
      plans.append(Weak(plan: plan))
      live.loadPlan(0, plan, profile: .phone)
      _ = samples(live, blocks: 1)
    }
    _ = samples(live, blocks: 40)
    live.loadPlan(0, try plan(), profile: .phone)
    #expect(plans.count { $0.plan != nil } <= 2)
  }

  @Test func changingTheProfileIsWithoutClick() throws {
    let live = LiveSound(sampleRateHertz: 48_000)
    let studio = Studio()
    let shaker = try #require(studio.profiles.first { $0.hardware?.model != nil })
    live.loadPlan(0, try plan(), profile: .phone)
    live.setPlaying(true, fromFrame: 0)
    let steadyStep = maximumStep(samples(live, blocks: 100))
    live.loadPlan(0, try plan(), profile: shaker)
    #expect(maximumStep(samples(live, blocks: 20)) <= steadyStep * 1.5)
    #expect(live.isAudiblePatternPlaying)
  }

  @Test func patternEndsWithoutLoop() throws {
    let live = LiveSound(sampleRateHertz: 48_000)
    live.loadPlan(0, try plan(seconds: 0.1), profile: .phone)
    live.setLoop(false, fromFrame: 0, toFrame: 0)
    live.setPlaying(true, fromFrame: 0)
    _ = samples(live, blocks: 10)
    #expect(live.isAudiblePatternPlaying)
    _ = samples(live, blocks: 100)
    #expect(!live.isAudiblePatternPlaying)
  }
}
