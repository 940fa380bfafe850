public import HapticPlayback
internal import Synchronization

/// Plays on one named PipeWire sink, and on no other node.
///
/// Three rules keep the sound on its sink:
/// 1. A stream exists only while the server has exactly one sink with the requested name.
/// 2. The stream requests that sink only; the session manager must not replace it.
/// 3. The stream is silent until all its channels are linked, and all its links are known to lead
///    to that sink. Another link silences it at once. This rule does not depend on the session
///    manager.
///
/// The sink keeps time: every frame has a due time, and frames that the server could not play on
/// time are skipped, so that all later frames are heard on time. A frame counts as missed if the
/// server did not request it with the gate open.
public final class PipeWireSink: AudioSink {
  private enum Phase {
    /// The buffer is being filled before a start or restart.
    case filling
    case playing
    case idle
    case ended
  }

  /// The current playback position, and the clock that determines it.
  private struct PlaybackProgress {
    /// The next frame that the server will play, or, if the server runs no cycles, the next frame
    /// that is due.
    var position: Int
    /// A Boolean value that indicates whether the server does not run the stream, so that the
    /// machine's clock paces the output.
    var isPacedBySystemClock: Bool
  }

  /// The interval between reports of missed frames while the server runs no cycles, in seconds.
  private static let missedFrameReportIntervalSeconds = 0.02
  /// The maximum duration of one wait.
  private static let maximumWaitDuration = Duration.milliseconds(200)
  /// The minimum duration of missed frames, in seconds, after which the process counts as stopped.
  private static let stoppedProcessThresholdSeconds = 0.25

  /// The granted format. The buffer may grow if the request permits it.
  public let format: SinkFormat
  private let deviceName: String
  private let clock: any TimeSource
  private let connection: PipeWireConnection
  private let transfer: PipeWireTransfer

  private var phase = Phase.filling
  private var bufferGrowth: BufferGrowth
  /// The first frame of the buffer that is being filled, or, during playback, that was filled
  /// before the start.
  private var firstFilledFrame = 0
  private var playbackStartNumber = 0
  private var playbackStartSeconds = 0.0
  private var reportedMissedFrameCount = 0
  private var reportedStarvedFrameCount = 0
  /// A Boolean value that indicates whether the stream is currently not heard and an event has
  /// reported the interruption.
  private var isInterrupted: Bool
  /// The number of frames that had been heard when the stream became audible again; nil if it is
  /// not returning from an interruption.
  private var heardFrameCountAtResumption: Int?
  private var eventQueue = SinkEventQueue()
  private var watchedDescriptors: [PollDescriptor]

  /// Creates a sink.
  ///
  /// - Parameters:
  ///   - device: The name of the device, for messages.
  ///   - connection: The connection of the stream that plays the transfer's frames.
  ///   - transfer: The frames for the server.
  ///   - growth: The size of the buffer.
  ///   - periodSize: The number of frames of a cycle.
  ///   - isPresent: A Boolean value that indicates whether the stream is connected. Otherwise,
  ///     frames are missed until the stream is connected.
  init(
    device: String, connection: PipeWireConnection, transfer: PipeWireTransfer,
    growth: BufferGrowth, periodSize: Int, isPresent: Bool, clock: any TimeSource
  ) {
    self.deviceName = device
    self.connection = connection
    self.transfer = transfer
    self.bufferGrowth = growth
    self.clock = clock
    format = SinkFormat(
      rate: transfer.rate, channelCount: transfer.ring.channelCount, periodSize: periodSize,
      bufferSize: growth.bufferFrameCount)
    isInterrupted = !isPresent
    watchedDescriptors = [PollDescriptor(-1), PollDescriptor(transfer.cycleSignal.descriptor)]
    if !isPresent {
      startPlayback()
    }
  }

  deinit { connection.close() }

  /// The names of PipeWire's real-time threads in its different versions.
  public var deviceThreadNames: [String] { ["data-loop.0", "pw-data-loop", "data-loop"] }

  /// Returns the events since the last call, oldest first.
  public func drainEvents() -> [SinkEvent] { eventQueue.drain() }

  /// A Boolean value that indicates whether events are pending.
  public var hasPendingEvents: Bool { !eventQueue.isEmpty }

  private var nowSeconds: Double { clock.now / .seconds(1) }

  /// The number of frames to keep written ahead: at least two cycles of the server.
  private func fillTargetFrameCount(_ snapshot: PipeWireTransfer.Snapshot) -> Int {
    min(
      max(bufferGrowth.bufferFrameCount, 2 * snapshot.cycleFrameCount),
      transfer.ring.frameCapacity / 2)
  }

  /// The number of frames that were written and not yet heard.
  public var delayFrames: Int {
    let snapshot = transfer.snapshot
    let writtenFrameCount = transfer.writtenFrameCount
    let maximumDelayFrames = fillTargetFrameCount(snapshot) + Int(format.rate)
    guard phase == .playing, snapshot.startNumber == playbackStartNumber else {
      let ahead = writtenFrameCount - firstFilledFrame + Int(snapshot.delaySeconds * format.rate)
      return phase == .filling ? min(max(0, ahead), maximumDelayFrames) : 0
    }
    let heardFrame = snapshot.anchor.frame(at: nowSeconds, rate: format.rate)
    return min(max(0, writtenFrameCount - heardFrame), maximumDelayFrames)
  }

  // MARK: - Waiting

  /// Waits until the server has played a cycle, frames were missed, or the thread is woken.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    watchedDescriptors[0] = PollDescriptor(wake.descriptor)
    let waitDeadline = clock.now + Self.maximumWaitDuration
    while true {
      switch phase {
      case .ended: return .ended
      case .idle: resumeFromIdle()
      case .filling, .playing: break
      }
      transfer.cycleSignal.lower()
      // Frames that the closed gate silenced are in the snapshot only if the notice can be read.
      let snapshot = transfer.snapshot
      receiveConnectionNotices(snapshot)
      startIfFilled(snapshot)
      let progress = playbackProgress(snapshot)
      reportUnheardFrames(snapshot, position: progress.position)
      if let readiness = readiness(progress, snapshot) { return readiness }
      let remaining = waitDeadline - clock.now
      guard remaining > .zero else { return .ready(frameCount: 0) }
      let limit =
        progress.isPacedBySystemClock
        ? Duration.seconds(Self.missedFrameReportIntervalSeconds) : .milliseconds(50)
      clock.wait(for: &watchedDescriptors, timeout: min(remaining, limit))
      if watchedDescriptors[0].receivedEvents != 0 {
        wake.lower()
        return .interrupted
      }
    }
  }

  /// Returns the frames that were missed or that the render loop must write; nil if there are none
  /// yet.
  private func readiness(_ progress: PlaybackProgress, _ snapshot: PipeWireTransfer.Snapshot)
    -> SinkReadiness?
  {
    let writtenFrameCount = transfer.writtenFrameCount
    let missedFrameCount = progress.position - writtenFrameCount
    if progress.isPacedBySystemClock {
      guard Double(missedFrameCount) >= Self.missedFrameReportIntervalSeconds * format.rate else {
        return nil
      }
    }
    if missedFrameCount > 0 {
      transfer.skip(to: progress.position)
      return .missed(frameCount: missedFrameCount)
    }
    guard !progress.isPacedBySystemClock else { return nil }
    let freeFrameCount = fillTargetFrameCount(snapshot) - (writtenFrameCount - progress.position)
    let freePeriodCount = freeFrameCount / format.periodSize
    return freePeriodCount > 0 ? .ready(frameCount: freePeriodCount * format.periodSize) : nil
  }

  private func playbackProgress(_ snapshot: PipeWireTransfer.Snapshot) -> PlaybackProgress {
    guard phase == .playing else {
      return PlaybackProgress(position: firstFilledFrame, isPacedBySystemClock: false)
    }
    let isCurrentStart = snapshot.startNumber == playbackStartNumber
    let anchor =
      isCurrentStart
      ? snapshot.anchor
      : PipeWireTimeline.Anchor(frame: firstFilledFrame, seconds: playbackStartSeconds)
    let playbackFrame = isCurrentStart ? snapshot.nextFrame : firstFilledFrame
    let lastCycleSeconds = isCurrentStart ? snapshot.cycleStartSeconds : playbackStartSeconds
    let currentSeconds = nowSeconds
    let gapToleranceSeconds = max(
      PipeWireTimeline.minimumInterruptionSeconds,
      4 * Double(snapshot.cycleFrameCount) / format.rate)
    guard currentSeconds - lastCycleSeconds > gapToleranceSeconds else {
      return PlaybackProgress(position: playbackFrame, isPacedBySystemClock: false)
    }
    let dueFrame = anchor.frame(at: currentSeconds, rate: format.rate)
    return PlaybackProgress(position: max(playbackFrame, dueFrame), isPacedBySystemClock: true)
  }

  // MARK: - Events

  private func receiveConnectionNotices(_ snapshot: PipeWireTransfer.Snapshot) {
    for notice in connection.withMachine({ $0.drainNotices() }) {
      switch notice {
      case .interrupted(let reason):
        heardFrameCountAtResumption = nil
        guard !isInterrupted else { break }
        isInterrupted = true
        eventQueue.add(.disconnected, text: "\(deviceName): \(reason)")
      case .resumed:
        heardFrameCountAtResumption = snapshot.heardFrameCount
      case .lacksChannels(let count):
        let channels = count == 1 ? "one channel" : "\(count) channels"
        eventQueue.add(
          .degraded,
          text: "\(deviceName): reconnected with \(channels) instead of \(format.channelCount)")
      }
    }
  }

  /// Reports the frames that were not heard since the last report.
  ///
  /// - Parameters:
  ///   - snapshot: The state after the last cycle.
  ///   - position: The frame up to which all frames were heard or missed.
  private func reportUnheardFrames(_ snapshot: PipeWireTransfer.Snapshot, position: Int) {
    guard phase == .playing else { return }
    if isInterrupted {
      guard let heardBefore = heardFrameCountAtResumption, snapshot.heardFrameCount > heardBefore
      else {
        return
      }
      heardFrameCountAtResumption = nil
      isInterrupted = false
      eventQueue.add(
        .reconnected, missedFrameCount: drainMissedFrameCounts(snapshot, position: position).count,
        text: "\(deviceName): reconnected")
      return
    }
    let (missed, starved) = drainMissedFrameCounts(snapshot, position: position)
    guard missed > 0 else { return }
    let lateFrameCount = min(missed, starved)
    if lateFrameCount > 0 {
      let isStopped = Double(lateFrameCount) > Self.stoppedProcessThresholdSeconds * format.rate
      eventQueue.add(
        .underrun, cause: isStopped ? .stoppedProcess : .lateDelivery,
        missedFrameCount: lateFrameCount,
        text: "buffer underrun")
      if bufferGrowth.recordUnderrun() {
        eventQueue.add(
          .degraded,
          text: BufferGrowth.growthMessage(
            deviceName, frameCount: bufferGrowth.bufferFrameCount, rate: format.rate))
      }
    }
    if missed > lateFrameCount {
      eventQueue.add(
        .underrun, cause: .lateDevice, missedFrameCount: missed - lateFrameCount,
        text: "the sound server missed its deadline")
    }
  }

  /// Returns the number of frames that were missed since the last call, and how many of them were
  /// missed because they were delivered too late.
  private func drainMissedFrameCounts(_ snapshot: PipeWireTransfer.Snapshot, position: Int) -> (
    count: Int, starved: Int
  ) {
    let missedFrameCount = position - snapshot.heardFrameCount
    let newMissedFrameCount = max(0, missedFrameCount - reportedMissedFrameCount)
    let newStarvedFrameCount = max(0, snapshot.starvedFrameCount - reportedStarvedFrameCount)
    reportedMissedFrameCount = max(reportedMissedFrameCount, missedFrameCount)
    reportedStarvedFrameCount = snapshot.starvedFrameCount
    return (newMissedFrameCount, newStarvedFrameCount)
  }

  // MARK: - Writing

  /// Writes interleaved frames.
  public func write(_ frames: Span<Float>) {
    guard phase == .filling || phase == .playing else { return }
    transfer.write(frames)
    startIfFilled(transfer.snapshot)
  }

  /// Starts once the buffer is filled and the stream is audible, or known to be inaudible.
  private func startIfFilled(_ snapshot: PipeWireTransfer.Snapshot) {
    guard phase == .filling,
      transfer.writtenFrameCount - firstFilledFrame + format.periodSize
        > fillTargetFrameCount(snapshot),
      isInterrupted || transfer.isGateOpen.load(ordering: .acquiring)
    else { return }
    startPlayback()
  }

  private func startPlayback() {
    let snapshot = transfer.snapshot
    phase = .playing
    playbackStartSeconds = nowSeconds
    reportedMissedFrameCount = firstFilledFrame - snapshot.heardFrameCount
    reportedStarvedFrameCount = snapshot.starvedFrameCount
    playbackStartNumber = transfer.start(
      at: PipeWireTimeline.Anchor(frame: firstFilledFrame, seconds: playbackStartSeconds))
  }

  // MARK: - Idle

  /// Pauses the stream, so that the server and its device may sleep; the next wait resumes it.
  public func beginIdle() -> Bool {
    let snapshot = transfer.snapshot
    receiveConnectionNotices(snapshot)
    guard phase == .playing, !isInterrupted, !playbackProgress(snapshot).isPacedBySystemClock else {
      return false
    }
    reportUnheardFrames(snapshot, position: snapshot.nextFrame)
    transfer.stop()
    connection.setActive(false)
    phase = .idle
    return true
  }

  private func resumeFromIdle() {
    connection.setActive(true)
    firstFilledFrame = transfer.writtenFrameCount
    phase = .filling
  }

  // MARK: - End

  /// Ends playback.
  ///
  /// Frames that were not heard by then are reported as an event.
  ///
  /// - Parameter draining: True to play the written frames for at most the buffer and 200 ms; false
  ///   to discard them.
  public func finish(draining: Bool) {
    defer { phase = .ended }
    if phase == .filling, transfer.writtenFrameCount > firstFilledFrame, draining {
      startPlayback()
    }
    guard phase == .playing else { return }
    if draining, !isInterrupted {
      drain()
    }
    let snapshot = transfer.snapshot
    receiveConnectionNotices(snapshot)
    let progress = playbackProgress(snapshot)
    let writtenFrameCount = transfer.writtenFrameCount
    reportUnheardFrames(snapshot, position: min(progress.position, writtenFrameCount))
    let isPlaybackLost = isInterrupted || progress.isPacedBySystemClock
    guard isPlaybackLost || draining && snapshot.nextFrame < writtenFrameCount else { return }
    let missedFrames = drainMissedFrameCounts(
      snapshot,
      position: isPlaybackLost ? max(progress.position, writtenFrameCount) : writtenFrameCount)
    eventQueue.add(
      .failed, missedFrameCount: missedFrames.count,
      text: isInterrupted
        ? "\(deviceName): the device did not return before playback ended"
        : "\(deviceName): the device did not play the end")
  }

  /// Waits until the written frames have been heard.
  private func drain() {
    let deadline = clock.now + .seconds(Double(delayFrames) / format.rate) + .milliseconds(200)
    watchedDescriptors[0] = PollDescriptor(-1)
    while true {
      transfer.cycleSignal.lower()
      let snapshot = transfer.snapshot
      let isCurrent = snapshot.startNumber == playbackStartNumber
      let isPlayed = isCurrent && snapshot.nextFrame >= transfer.writtenFrameCount
      let remaining = Duration.seconds(Double(delayFrames) / format.rate)
      let now = clock.now
      guard now < deadline, !isPlayed || remaining > .zero else { return }
      let limit = isPlayed ? remaining : .milliseconds(20)
      clock.wait(for: &watchedDescriptors, timeout: min(limit, deadline - now))
    }
  }

  /// Disconnects from the server.
  public func close() {
    phase = .ended
    connection.close()
  }
}
