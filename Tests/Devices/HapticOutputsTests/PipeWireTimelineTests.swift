import Testing

@testable import HapticOutputs

/// Cycles of 256 frames at 48 kHz.
@Suite struct PipeWireTimelineTests {
  private static let cycleSeconds = 256.0 / 48_000
  private var timeline = PipeWireTimeline(rate: 48_000)

  init() { timeline.start(at: .init(frame: 0, seconds: 10)) }

  /// Runs a cycle that plays all its frames, and returns the first.
  private mutating func run(
    ticks: Int, at seconds: Double, frameCount: Int = 256, starved: Int = 0
  ) -> Int {
    let firstFrame = timeline.beginCycle(
      .init(
        frameCount: frameCount, ticks: UInt64(ticks), secondsPerTick: 1 / 48_000,
        startSeconds: seconds, heardSeconds: seconds + 0.01))
    let end = firstFrame + frameCount
    timeline.endCycle(heard: firstFrame..<(end - starved), starved: (end - starved)..<end)
    return firstFrame
  }

  /// Runs a number of regular cycles.
  private mutating func runCycles(_ count: Int) {
    for index in 0..<count {
      let firstFrame = run(ticks: 1_000 + 256 * index, at: 10 + Double(index) * Self.cycleSeconds)
      #expect(firstFrame == 256 * index)
    }
  }

  @Test("Regular cycles lose nothing")
  mutating func regular() {
    runCycles(100)
    #expect(timeline.nextFrame == 25_600)
    #expect(timeline.heardFrameCount == 25_600)
  }

  @Test("A skipped cycle skips its frames", arguments: [1, 2, 50])
  mutating func skipped(count: Int) {
    runCycles(10)
    let index = 10 + count
    let firstFrame = run(ticks: 1_000 + 256 * index, at: 10 + Double(index) * Self.cycleSeconds)
    #expect(firstFrame == 256 * index)
    #expect(timeline.nextFrame - timeline.heardFrameCount == 256 * count)
  }

  @Test("A cycle that runs again repeats its frames, which count once")
  mutating func repeated() {
    runCycles(10)
    let firstFrame = run(ticks: 1_000 + 256 * 9, at: 10 + 9 * Self.cycleSeconds)
    #expect(firstFrame == 256 * 9)
    #expect(timeline.heardFrameCount == 2_560)
    #expect(timeline.nextFrame == 2_560)
  }

  @Test("Frames that were missing in a discarded cycle do not count twice")
  mutating func repeatedStarved() {
    runCycles(9)
    _ = run(ticks: 1_000 + 256 * 9, at: 10 + 9 * Self.cycleSeconds, starved: 100)
    #expect(timeline.starvedFrameCount == 100)
    _ = run(ticks: 1_000 + 256 * 9, at: 10 + 9 * Self.cycleSeconds)
    #expect(timeline.starvedFrameCount == 0)
    #expect(timeline.heardFrameCount == 2_560)
  }

  @Test("A frame more or less of a resampler does not count as a loss")
  mutating func resampler() {
    runCycles(10)
    let firstFrame = run(ticks: 1_000 + 2_560 + 1, at: 10 + 10 * Self.cycleSeconds)
    #expect(firstFrame == 2_560)
  }

  @Test("The ticks of another clock say nothing about lost frames", arguments: [5, 900_000_000])
  mutating func otherClock(ticks: Int) {
    runCycles(10)
    #expect(run(ticks: ticks, at: 10 + 10 * Self.cycleSeconds) == 2_560)
    #expect(run(ticks: ticks + 256, at: 10 + 11 * Self.cycleSeconds) == 2_816)
  }

  @Test("The machine's clock counts while the server's clock is paused")
  mutating func stoppedClock() {
    runCycles(10)
    let firstFrame = run(ticks: 1_000 + 2_560, at: 12 + 10 * Self.cycleSeconds)
    #expect(firstFrame == 2_560 + 96_000)
  }

  @Test("Another stream continues at the frame that is due")
  mutating func otherStream() {
    runCycles(10)
    timeline.resume()
    let firstFrame = run(ticks: 77, at: 11 + 10 * Self.cycleSeconds)
    #expect(abs(firstFrame - (2_560 + 48_000)) <= 1)
  }

  @Test("A start that the server follows late skips the time until then")
  mutating func lateStart() {
    #expect(run(ticks: 0, at: 10.05) == 0)
    timeline.start(at: .init(frame: 5_000, seconds: 20))
    #expect(run(ticks: 0, at: 21) == 53_000)
  }
}
