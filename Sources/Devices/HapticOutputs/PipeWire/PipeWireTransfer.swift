internal import HapticPlayback
internal import Synchronization

/// Hands the frames of a sink to the real-time thread of PipeWire.
///
/// Three threads share it: the render thread writes frames, the server's real-time thread plays
/// them cycle by cycle, and the thread of the connection opens and closes the gate. No thread waits
/// for another.
@safe final class PipeWireTransfer: @unchecked Sendable {
  /// The playback state after a process cycle.
  struct Snapshot: Equatable {
    /// The number of the start that the cycle follows; see `start(at:)`.
    var startNumber = 0
    /// The number of the next frame to play.
    var nextFrame = 0
    var heardFrameCount = 0
    var starvedFrameCount = 0
    /// The first frame of the cycle, and the time at which it is heard.
    var anchor = PipeWireTimeline.Anchor(frame: 0, seconds: 0)
    /// The start of the cycle in seconds; negative before the first cycle.
    var cycleStartSeconds = -1.0
    var cycleFrameCount = 0

    /// The latency from the start of the cycle until its first frame is heard, in seconds.
    var delaySeconds: Double { cycleStartSeconds < 0 ? 0 : anchor.seconds - cycleStartSeconds }
  }

  /// The maximum size of a PipeWire cycle, in frames.
  static let maximumCycleSize = 8_192

  let rate: Double
  let ring: FrameRing
  /// The signal that is raised after every cycle.
  let cycleSignal: WakeSignal
  /// A Boolean value that indicates whether frames may be heard, because the stream is linked only
  /// to its target. The connection sets it.
  let isGateOpen = Atomic<Bool>(false)
  /// A Boolean value that indicates whether the next cycle is the first cycle of a new stream. The
  /// connection sets it.
  let isNewStream = Atomic<Bool>(false)

  /// The number of written frames. The render thread sets it.
  private let writtenFrameCounter = Atomic<Int>(0)
  /// The end of the range of skipped frames, which were never written and are silent. The render
  /// thread sets it.
  private let skippedFrameRangeEnd = Atomic<Int>(0)
  /// The number of the most recent start; negative after a stop.
  private let latestStartNumber = Atomic<Int>(0)
  private let startFrame = Atomic<Int>(0)
  private let startNanoseconds = Atomic<Int64>(0)

  // The state of the real-time thread.
  private var timeline: PipeWireTimeline
  private var timelineStartNumber = 0

  private let snapshotLock = SequenceLock()
  private let snapshotStartNumber = Atomic<Int>(0)
  private let snapshotPosition = Atomic<Int>(0)
  private let snapshotHeardFrameCount = Atomic<Int>(0)
  private let snapshotStarvedFrameCount = Atomic<Int>(0)
  private let snapshotAnchorFrame = Atomic<Int>(0)
  private let snapshotAnchorNanoseconds = Atomic<Int64>(0)
  private let snapshotCycleStartNanoseconds = Atomic<Int64>(-1)
  private let snapshotCycleFrameCount = Atomic<Int>(0)

  init(rate: Double, channelCount: Int, maximumFill: Int, signal: WakeSignal) {
    self.rate = rate
    self.cycleSignal = signal
    // Frames that were just played remain, so that a cycle can run again.
    ring = FrameRing(
      minimumCapacity: 2 * max(maximumFill, 2 * Self.maximumCycleSize), channelCount: channelCount)
    timeline = PipeWireTimeline(rate: rate)
  }

  // MARK: - Render thread

  /// The number of written or skipped frames.
  var writtenFrameCount: Int { writtenFrameCounter.load(ordering: .relaxed) }

  /// Appends frames.
  func write(_ frames: Span<Float>) {
    let writePosition = writtenFrameCount
    ring.write(frames, at: writePosition)
    writtenFrameCounter.store(
      writePosition + frames.count / ring.channelCount, ordering: .releasing)
  }

  /// Skips frames up to a position. Skipped frames are never written, and are silent.
  func skip(to position: Int) {
    skippedFrameRangeEnd.store(position, ordering: .releasing)
    writtenFrameCounter.store(position, ordering: .releasing)
  }

  /// Starts playback at a frame and the time at which the frame is due.
  ///
  /// - Returns: The start number of the snapshots of its cycles.
  func start(at anchor: PipeWireTimeline.Anchor) -> Int {
    startFrame.store(anchor.frame, ordering: .relaxed)
    startNanoseconds.store(Int64(anchor.seconds * 1e9), ordering: .relaxed)
    let nextStartNumber = abs(latestStartNumber.load(ordering: .relaxed)) + 1
    latestStartNumber.store(nextStartNumber, ordering: .releasing)
    return nextStartNumber
  }

  /// Stops playing. Cycles are silent until the next start.
  func stop() {
    latestStartNumber.store(-abs(latestStartNumber.load(ordering: .relaxed)), ordering: .releasing)
  }

  /// The playback state after the most recent process cycle.
  var snapshot: Snapshot {
    snapshotLock.read {
      Snapshot(
        startNumber: snapshotStartNumber.load(ordering: .relaxed),
        nextFrame: snapshotPosition.load(ordering: .relaxed),
        heardFrameCount: snapshotHeardFrameCount.load(ordering: .relaxed),
        starvedFrameCount: snapshotStarvedFrameCount.load(ordering: .relaxed),
        anchor: PipeWireTimeline.Anchor(
          frame: snapshotAnchorFrame.load(ordering: .relaxed),
          seconds: Double(snapshotAnchorNanoseconds.load(ordering: .relaxed)) * 1e-9),
        cycleStartSeconds: Double(snapshotCycleStartNanoseconds.load(ordering: .relaxed)) * 1e-9,
        cycleFrameCount: snapshotCycleFrameCount.load(ordering: .relaxed))
    }
  }

  // MARK: - Real-time thread

  /// Plays the frames of a cycle, or silence.
  func process(_ output: inout MutableSpan<Float>, _ cycle: PipeWireCycle) {
    let isPlaying = startIfRequested()
    let cycleTimes = PipeWireTimeline.Cycle(cycle)
    var firstFrame = 0
    var heardFrames = 0..<0
    if isPlaying {
      firstFrame = timeline.beginCycle(cycleTimes)
      heardFrames = playableFrames(firstFrame..<(firstFrame + cycle.frameCount))
    }
    // The rest of the cycle, before and after the frames, is silent.
    let channelCount = ring.channelCount
    output.update(repeating: 0)
    if !heardFrames.isEmpty {
      let start = (heardFrames.lowerBound - firstFrame) * channelCount
      var frames = output._mutatingExtracting(start..<(start + heardFrames.count * channelCount))
      ring.read(into: &frames, at: heardFrames.lowerBound)
    }
    publishSnapshot(cycle)
    cycleSignal.raise()
  }

  /// Starts the timeline if a start was requested, and returns whether frames are played.
  private func startIfRequested() -> Bool {
    let requestedStartNumber = latestStartNumber.load(ordering: .acquiring)
    guard requestedStartNumber > 0 else { return false }
    let isStreamNew = isNewStream.exchange(false, ordering: .acquiringAndReleasing)
    if requestedStartNumber != timelineStartNumber {
      timelineStartNumber = requestedStartNumber
      timeline.start(
        at: PipeWireTimeline.Anchor(
          frame: startFrame.load(ordering: .relaxed),
          seconds: Double(startNanoseconds.load(ordering: .relaxed)) * 1e-9))
    } else if isStreamNew {
      timeline.resume()
    }
    return true
  }

  /// Counts the frames of a cycle as heard or late, and returns the range of frames to play.
  private func playableFrames(_ frames: Range<Int>) -> Range<Int> {
    let writtenFrameCount = writtenFrameCounter.load(ordering: .acquiring)
    let silentEndFrame = min(skippedFrameRangeEnd.load(ordering: .acquiring), writtenFrameCount)
    let isOutputGateOpen = isGateOpen.load(ordering: .acquiring)
    let availableFrames = frames.clamped(to: silentEndFrame..<writtenFrameCount)
    let heardFrames = isOutputGateOpen ? availableFrames : frames.lowerBound..<frames.lowerBound
    let starvedFrames =
      max(frames.lowerBound, min(writtenFrameCount, frames.upperBound))..<frames.upperBound
    timeline.endCycle(heard: heardFrames, starved: starvedFrames)
    return heardFrames
  }

  private func publishSnapshot(_ cycle: PipeWireCycle) {
    snapshotLock.write {
      snapshotStartNumber.store(timelineStartNumber, ordering: .relaxed)
      snapshotPosition.store(timeline.nextFrame, ordering: .relaxed)
      snapshotHeardFrameCount.store(timeline.heardFrameCount, ordering: .relaxed)
      snapshotStarvedFrameCount.store(timeline.starvedFrameCount, ordering: .relaxed)
      snapshotAnchorFrame.store(timeline.anchor?.frame ?? timeline.nextFrame, ordering: .relaxed)
      snapshotAnchorNanoseconds.store(
        cycle.startNanoseconds + cycle.delayNanoseconds, ordering: .relaxed)
      snapshotCycleStartNanoseconds.store(cycle.startNanoseconds, ordering: .relaxed)
      snapshotCycleFrameCount.store(cycle.frameCount, ordering: .relaxed)
    }
  }
}

extension PipeWireTransfer {
  /// The callbacks through which a connection plays the written frames on a stream.
  var streamCallbacks: PipeWireConnection.StreamCallbacks {
    PipeWireConnection.StreamCallbacks(
      setStreamGateOpen: { self.isGateOpen.store($0, ordering: .releasing) },
      prepareForStream: { self.isNewStream.store(true, ordering: .releasing) },
      process: { self.process(&$0, $1) })
  }
}

extension PipeWireTimeline.Cycle {
  /// Converts the times of a cycle to seconds.
  init(_ cycle: PipeWireCycle) {
    frameCount = cycle.frameCount
    ticks = cycle.ticks
    secondsPerTick = cycle.secondsPerTick
    startSeconds = Double(cycle.startNanoseconds) * 1e-9
    heardSeconds = Double(cycle.startNanoseconds + cycle.delayNanoseconds) * 1e-9
  }
}
