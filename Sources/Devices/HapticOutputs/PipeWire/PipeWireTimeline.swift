/// Maps the cycles of a PipeWire graph to the frames of a stream.
///
/// The server calls a stream once for each cycle and states the position of its clock, in ticks:
///
///     cycle      1         2                   4         4         5
///     ticks      0        256      (512)      768       768      1024
///     frames   0…255    256…511             768…1023  768…1023 1024…1279
///                                   lost               again
///
/// - A cycle that the server skipped moves the ticks ahead. Its frames were not heard, and the
///   timeline skips them, so that later frames are on time.
/// - A cycle that runs again for the same ticks moves them back: the server discarded the frames of
///   the first run, and the timeline repeats them.
/// - Ticks of another clock, after the graph changes its driver, do not show the time between two
///   cycles. In this case, and if the server's clock stopped, the machine's clock determines the
///   position.
///
/// A resampler may request one frame more or less than the ticks of a cycle, so deviations of less
/// than half a cycle are ignored.
struct PipeWireTimeline {
  struct Cycle {
    var frameCount: Int
    /// The position of the server's clock at the start of the cycle, in ticks.
    var ticks: UInt64
    /// The duration of a tick in seconds, or 0 if the server has no clock.
    var secondsPerTick: Double
    /// The start of the cycle, in seconds on the machine's clock.
    var startSeconds: Double
    /// The time at which the first frame of the cycle is heard, in seconds.
    var heardSeconds: Double
  }

  /// A pair of a frame number and the time at which the frame is heard.
  struct Anchor: Equatable, Sendable {
    var frame: Int
    var seconds: Double

    /// Returns the frame that is heard at the given time, extrapolated from this anchor.
    func frame(at seconds: Double, rate: Double) -> Int {
      frame + Int(((seconds - self.seconds) * rate).rounded(.down))
    }
  }

  /// The maximum deviation between the server's ticks and the machine's clock, in seconds. Beyond
  /// it, the machine's clock determines the position.
  private static let clockToleranceSeconds = 0.05
  /// The minimum time without a cycle, in seconds, after which a stream counts as interrupted.
  static let minimumInterruptionSeconds = 0.1

  /// The sample rate of the stream, in hertz.
  let rate: Double
  /// The number of the next frame of the stream.
  private(set) var nextFrame = 0
  /// The number of frames that have been heard so far.
  private(set) var heardFrameCount = 0
  /// The number of frames that were not heard because they were delivered too late.
  private(set) var starvedFrameCount = 0
  /// The first frame of the last cycle, and the time at which it is heard.
  private(set) var anchor: Anchor?
  private var expectedTicks: Double?
  private var lastCycleStartSeconds = 0.0
  private var lastCycleFrameCount = 0
  /// A Boolean value that indicates whether the server skipped frames before the last cycle.
  private var hasSkippedFrames = false
  /// The range of frames that the last cycle played.
  private var lastHeardFrames = 0..<0
  /// The range of frames that the last cycle needed but that were not written in time.
  private var lastStarvedFrames = 0..<0

  init(rate: Double) { self.rate = rate }

  /// Starts the timeline at a frame and the time at which the frame is due.
  mutating func start(at anchor: Anchor) {
    nextFrame = anchor.frame
    self.anchor = nil
    startAnchor = anchor
    expectedTicks = nil
    lastHeardFrames = 0..<0
    lastStarvedFrames = 0..<0
  }

  /// The frame and time of a start that no cycle has followed yet; nil after the first cycle.
  private var startAnchor: Anchor?

  /// Continues the timeline on a new stream. The machine's clock determines the position of the
  /// next cycle.
  mutating func resume() { expectedTicks = nil }

  /// Begins a cycle, and returns the number of its first frame.
  mutating func beginCycle(_ cycle: Cycle) -> Int {
    let shiftFrames = frameCountToSkip(at: cycle)
    hasSkippedFrames = shiftFrames > 0
    if shiftFrames > 0 {
      nextFrame += shiftFrames
    } else if shiftFrames < 0 {
      rewind(by: -shiftFrames)
    }
    anchor = Anchor(frame: nextFrame, seconds: cycle.heardSeconds)
    startAnchor = nil
    lastCycleStartSeconds = cycle.startSeconds
    lastCycleFrameCount = cycle.frameCount
    expectedTicks =
      cycle.secondsPerTick > 0
      ? Double(cycle.ticks) + (Double(cycle.frameCount) / (rate * cycle.secondsPerTick)).rounded()
      : nil
    return nextFrame
  }

  /// Ends a cycle, and counts the frames that were heard or delivered too late.
  ///
  /// - Parameters:
  ///   - heard: The frames that were played.
  ///   - starved: The frames that were missing.
  mutating func endCycle(heard: Range<Int>, starved: Range<Int>) {
    nextFrame += lastCycleFrameCount
    heardFrameCount += heard.count
    lastHeardFrames = heard
    // No sink could deliver frames that the server requests out of order.
    lastStarvedFrames = hasSkippedFrames ? 0..<0 : starved
    starvedFrameCount += lastStarvedFrames.count
  }

  /// Returns the number of frames to skip before a cycle, so that it is on time. A negative number
  /// counts the frames to repeat.
  private func frameCountToSkip(at cycle: Cycle) -> Int {
    if let startAnchor {
      let elapsed = cycle.startSeconds - startAnchor.seconds
      return elapsed > Self.minimumInterruptionSeconds ? Int(elapsed * rate) : 0
    }
    guard let anchor else { return 0 }
    let toleranceFrames = Double(cycle.frameCount) / 2
    let excessFramesByClock =
      (cycle.startSeconds - lastCycleStartSeconds) * rate - Double(lastCycleFrameCount)
    guard let expectedTicks, cycle.secondsPerTick > 0 else {
      let due = anchor.frame(at: cycle.heardSeconds, rate: rate)
      return Double(due - nextFrame) >= toleranceFrames ? due - nextFrame : 0
    }
    let excessFramesByTicks = (Double(cycle.ticks) - expectedTicks) * cycle.secondsPerTick * rate
    let hasTickClockChanged =
      excessFramesByTicks < -2 * Double(max(cycle.frameCount, lastCycleFrameCount))
      || abs(excessFramesByClock - excessFramesByTicks) > Self.clockToleranceSeconds * rate
    let deviationFrames = hasTickClockChanged ? max(0, excessFramesByClock) : excessFramesByTicks
    return abs(deviationFrames) >= toleranceFrames ? Int(deviationFrames.rounded()) : 0
  }

  private mutating func rewind(by frameCount: Int) {
    nextFrame = max(0, nextFrame - frameCount)
    heardFrameCount -=
      lastHeardFrames.clamped(to: nextFrame..<max(nextFrame, lastHeardFrames.upperBound)).count
    starvedFrameCount -=
      lastStarvedFrames.clamped(to: nextFrame..<max(nextFrame, lastStarvedFrames.upperBound)).count
  }
}
