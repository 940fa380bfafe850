import HapticModel
import TestSupport
import Testing

@testable import HapticRender

@Suite struct BlockInvarianceTests {
  /// Renders a plan in blocks whose lengths, in frames, repeat a list.
  private func render(_ plan: RenderPlan, _ settings: RenderSettings, blocks: [Int]) -> [Float] {
    var renderer = Renderer(plan: plan, settings: settings)
    var remainingCount = Int(settings.outputFrameCount ?? plan.frameCount)
    var output: [Float] = []
    var blockIndex = 0
    while remainingCount > 0 {
      let count = min(blocks[blockIndex % blocks.count], remainingCount)
      blockIndex += 1
      remainingCount -= count
      var block = [Float](repeating: .nan, count: count * settings.channelCount)
      var span = block.mutableSpan
      renderer.render(into: &span)
      output += block
    }
    return output
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func blockLengthsDoNotChangeTheBits(seed: UInt64)
    throws
  {
    var generator = PatternGenerator(seed: seed)
    let pattern = generator.pattern()
    let rate = [8_000.0, 11_025, 48_000][Int(seed % 3)]
    let plan = try RenderPlan(compiling: pattern, rate: rate, samples: PatternGenerator.sounds)
    let settings = RenderSettings(
      channelCount: [1, 2, 3, 5][Int(seed % 4)],
      buses: RenderSettings.AudibleBuses.allCases[Int(seed / 3 % 3)],
      passCount: [1, 3, nil][Int(seed / 2 % 3)], outputFrameCount: Int64(rate * 0.4),
      fadeOutFrameCount: Int64(seed % 5) * 20)
    let expected = render(plan, settings, blocks: [100_000])
    var blocks = (0..<50).map { _ in Int.random(in: 1...700, using: &generator.randomNumbers) }
    #expect(render(plan, settings, blocks: blocks) == expected)
    blocks = [1, 1, 1, 255, 2, 256, 1, 257, 8, 7, 9]
    #expect(render(plan, settings, blocks: blocks) == expected)
    if seed % 8 == 0 {
      #expect(render(plan, settings, blocks: [1]) == expected)
    }
    #expect(peak(expected) <= Limiter.ceilingMagnitude)
  }

  @Test func renderersOfOnePlanAreIndependent() throws {
    let plan = try RenderPlan(compiling: earthquakePattern, rate: 8_000)
    let expected = render(plan, RenderSettings(), blocks: [64])
    var first = Renderer(plan: plan)
    var second = Renderer(plan: plan)
    var block = [Float](repeating: 0, count: 64)
    var span = block.mutableSpan
    second.render(into: &span)
    second.render(into: &span)
    first.render(into: &span)
    #expect(block == Array(expected[..<64]))
  }

  @Test(arguments: 0..<60 as Range<UInt64>) func unusualParametersYieldSamplesBelowTheCeiling(
    seed: UInt64
  )
    throws
  {
    var generator = PatternGenerator(seed: seed + 1_000)
    generator.unusualValues = [
      .nan, .infinity, -.infinity, -1e30, 1e30, -0.0, .leastNonzeroMagnitude, 2, -2,
    ]
    let plan = try RenderPlan(
      compiling: generator.pattern(), rate: 8_000, samples: PatternGenerator.sounds)
    var settings = RenderSettings(channelCount: 2, outputFrameCount: 4_000)
    settings.masterGain = [1, 1e30, -3, .nan, .infinity][Int(seed % 5)]
    let samples = render(plan, settings, blocks: [256])
    #expect(samples.allSatisfy { abs($0) <= Limiter.ceilingMagnitude })
  }

  @Test func nonFiniteSamplesAreSilencedAndCounted() throws {
    let plan = try RenderPlan(compiling: HapticPattern(events: [humEvent(0, 0.1)]), rate: 8_000)
    var settings = RenderSettings()
    settings.masterGain = .nan
    var renderer = Renderer(plan: plan, settings: settings)
    var block = [Float](repeating: 7, count: 400)
    var span = block.mutableSpan
    renderer.render(into: &span)
    #expect(renderer.statistics.nonFiniteSampleCount == 400)
    #expect(block.allSatisfy { $0 == 0 })
  }
}
