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
  private struct Progress {
    /// The next frame that the server will play, or, if the server runs no cycles, the next frame
    /// that is due.
    var position: Int
    /// A Boolean value that indicates whether the server does not run the stream, so that the
    /// machine's clock paces the output.
    var isByClock: Bool
  }

  /// The interval between reports of missed frames while the server runs no cycles, in seconds.
  private static let missedReportSeconds = 0.02
  /// The maximum duration of one wait.
  private static let maximumWait = Duration.milliseconds(200)
  /// The minimum duration of missed frames, in seconds, after which the process counts as stopped.
  private static let stopThresholdSeconds = 0.25

  /// The granted format. The buffer may grow if the request permits it.
  public let format: SinkFormat
  private let device: String
  private let clock: any TimeSource
  private let connection: PipeWireConnection
  private let transfer: PipeWireTransfer

  private var phase = Phase.filling
  private var growth: BufferGrowth
  /// The first frame of the buffer that is being filled, or, during playback, that was filled
  /// before the start.
  private var firstFrame = 0
  private var generation = 0
  private var startSeconds = 0.0
  private var reportedMissedCount = 0
  private var reportedStarvedCount = 0
  /// A Boolean value that indicates whether the stream is currently not heard and an event has
  /// reported the interruption.
  private var isInterrupted: Bool
  /// The number of frames that had been heard when the stream became audible again; nil if it is
  /// not returning from an interruption.
  private var heardCountAtReturn: Int?
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
    self.device = device
    self.connection = connection
    self.transfer = transfer
    self.growth = growth
    self.clock = clock
    format = SinkFormat(
      rate: transfer.rate, channelCount: transfer.ring.channelCount, periodSize: periodSize,
      bufferSize: growth.frameCount)
    isInterrupted = !isPresent
    watchedDescriptors = [PollDescriptor(-1), PollDescriptor(transfer.signal.descriptor)]
    if !isPresent {
      start()
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
  private func fillTarget(_ snapshot: PipeWireTransfer.Snapshot) -> Int {
    min(max(growth.frameCount, 2 * snapshot.frameCount), transfer.ring.frameCapacity / 2)
  }

  /// The number of frames that were written and not yet heard.
  public var delayFrames: Int {
    let snapshot = transfer.snapshot
    let written = transfer.written
    let limit = fillTarget(snapshot) + Int(format.rate)
    guard phase == .playing, snapshot.generation == generation else {
      let ahead = written - firstFrame + Int(snapshot.delaySeconds * format.rate)
      return phase == .filling ? min(max(0, ahead), limit) : 0
    }
    let heard = snapshot.anchor.frame(at: nowSeconds, rate: format.rate)
    return min(max(0, written - heard), limit)
  }

  // MARK: - Waiting

  /// Waits until the server has played a cycle, frames were missed, or the thread is woken.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    watchedDescriptors[0] = PollDescriptor(wake.descriptor)
    let end = clock.now + Self.maximumWait
    while true {
      switch phase {
      case .ended: return .ended
      case .idle: resumeFromIdle()
      case .filling, .playing: break
      }
      transfer.signal.lower()
      // Frames that the closed gate silenced are in the snapshot only if the notice can be read.
      let snapshot = transfer.snapshot
      receiveNotices(snapshot)
      startIfFilled(snapshot)
      let progress = progress(snapshot)
      account(snapshot, position: progress.position)
      if let readiness = readiness(progress, snapshot) { return readiness }
      let remaining = end - clock.now
      guard remaining > .zero else { return .ready(frameCount: 0) }
      let limit =
        progress.isByClock ? Duration.seconds(Self.missedReportSeconds) : .milliseconds(50)
      clock.wait(for: &watchedDescriptors, timeout: min(remaining, limit))
      if watchedDescriptors[0].receivedEvents != 0 {
        wake.lower()
        return .interrupted
      }
    }
  }

  /// Returns the frames that were missed or that the render loop must write; nil if there are none
  /// yet.
  private func readiness(_ progress: Progress, _ snapshot: PipeWireTransfer.Snapshot)
    -> SinkReadiness?
  {
    let written = transfer.written
    let missed = progress.position - written
    if progress.isByClock {
      guard Double(missed) >= Self.missedReportSeconds * format.rate else { return nil }
    }
    if missed > 0 {
      transfer.skip(to: progress.position)
      return .missed(frameCount: missed)
    }
    guard !progress.isByClock else { return nil }
    let space = fillTarget(snapshot) - (written - progress.position)
    let periodCount = space / format.periodSize
    return periodCount > 0 ? .ready(frameCount: periodCount * format.periodSize) : nil
  }

  private func progress(_ snapshot: PipeWireTransfer.Snapshot) -> Progress {
    guard phase == .playing else { return Progress(position: firstFrame, isByClock: false) }
    let isCurrent = snapshot.generation == generation
    let anchor =
      isCurrent
      ? snapshot.anchor : PipeWireTimeline.Anchor(frame: firstFrame, seconds: startSeconds)
    let position = isCurrent ? snapshot.position : firstFrame
    let lastSeconds = isCurrent ? snapshot.startSeconds : startSeconds
    let now = nowSeconds
    let tolerance = max(
      PipeWireTimeline.minimumInterruptionSeconds, 4 * Double(snapshot.frameCount) / format.rate)
    guard now - lastSeconds > tolerance else {
      return Progress(position: position, isByClock: false)
    }
    let due = anchor.frame(at: now, rate: format.rate)
    return Progress(position: max(position, due), isByClock: true)
  }

  // MARK: - Events

  private func receiveNotices(_ snapshot: PipeWireTransfer.Snapshot) {
    for notice in connection.withMachine({ $0.drainNotices() }) {
      switch notice {
      case .interrupted(let reason):
        heardCountAtReturn = nil
        guard !isInterrupted else { break }
        isInterrupted = true
        eventQueue.add(.disconnected, text: "\(device): \(reason)")
      case .resumed:
        heardCountAtReturn = snapshot.heardCount
      case .lacksChannels(let count):
        let channels = count == 1 ? "one channel" : "\(count) channels"
        eventQueue.add(
          .degraded,
          text: "\(device): reconnected with \(channels) instead of \(format.channelCount)")
      }
    }
  }

  /// Reports the frames that were not heard since the last report.
  ///
  /// - Parameters:
  ///   - snapshot: The state after the last cycle.
  ///   - position: The frame up to which all frames were heard or missed.
  private func account(_ snapshot: PipeWireTransfer.Snapshot, position: Int) {
    guard phase == .playing else { return }
    if isInterrupted {
      guard let heardBefore = heardCountAtReturn, snapshot.heardCount > heardBefore else { return }
      heardCountAtReturn = nil
      isInterrupted = false
      eventQueue.add(
        .reconnected, missedFrameCount: takeMissed(snapshot, position: position).count,
        text: "\(device): reconnected")
      return
    }
    let (missed, starved) = takeMissed(snapshot, position: position)
    guard missed > 0 else { return }
    let late = min(missed, starved)
    if late > 0 {
      let isStopped = Double(late) > Self.stopThresholdSeconds * format.rate
      eventQueue.add(
        .underrun, cause: isStopped ? .stoppedProcess : .lateDelivery, missedFrameCount: late,
        text: "buffer underrun")
      if growth.recordUnderrun() {
        eventQueue.add(
          .degraded,
          text: BufferGrowth.message(device, frameCount: growth.frameCount, rate: format.rate))
      }
    }
    if missed > late {
      eventQueue.add(
        .underrun, cause: .lateDevice, missedFrameCount: missed - late,
        text: "the sound server missed its deadline")
    }
  }

  /// Returns the number of frames that were missed since the last call, and how many of them were
  /// missed because they were delivered too late.
  private func takeMissed(_ snapshot: PipeWireTransfer.Snapshot, position: Int) -> (
    count: Int, starved: Int
  ) {
    let missed = position - snapshot.heardCount
    let count = max(0, missed - reportedMissedCount)
    let starved = max(0, snapshot.starvedCount - reportedStarvedCount)
    reportedMissedCount = max(reportedMissedCount, missed)
    reportedStarvedCount = snapshot.starvedCount
    return (count, starved)
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
      transfer.written - firstFrame + format.periodSize > fillTarget(snapshot),
      isInterrupted || transfer.isGateOpen.load(ordering: .acquiring)
    else { return }
    start()
  }

  private func start() {
    let snapshot = transfer.snapshot
    phase = .playing
    startSeconds = nowSeconds
    reportedMissedCount = firstFrame - snapshot.heardCount
    reportedStarvedCount = snapshot.starvedCount
    generation = transfer.start(
      at: PipeWireTimeline.Anchor(frame: firstFrame, seconds: startSeconds))
  }

  // MARK: - Idle

  /// Pauses the stream, so that the server and its device may sleep; the next wait resumes it.
  public func beginIdle() -> Bool {
    let snapshot = transfer.snapshot
    receiveNotices(snapshot)
    guard phase == .playing, !isInterrupted, !progress(snapshot).isByClock else { return false }
    account(snapshot, position: snapshot.position)
    transfer.stop()
    connection.setActive(false)
    phase = .idle
    return true
  }

  private func resumeFromIdle() {
    connection.setActive(true)
    firstFrame = transfer.written
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
    if phase == .filling, transfer.written > firstFrame, draining {
      start()
    }
    guard phase == .playing else { return }
    if draining, !isInterrupted {
      drain()
    }
    let snapshot = transfer.snapshot
    receiveNotices(snapshot)
    let progress = progress(snapshot)
    let written = transfer.written
    account(snapshot, position: min(progress.position, written))
    let isLost = isInterrupted || progress.isByClock
    guard isLost || draining && snapshot.position < written else { return }
    let missed = takeMissed(snapshot, position: isLost ? max(progress.position, written) : written)
    eventQueue.add(
      .failed, missedFrameCount: missed.count,
      text: isInterrupted
        ? "\(device): the device did not return before playback ended"
        : "\(device): the device did not play the end")
  }

  /// Waits until the written frames have been heard.
  private func drain() {
    let deadline = clock.now + .seconds(Double(delayFrames) / format.rate) + .milliseconds(200)
    watchedDescriptors[0] = PollDescriptor(-1)
    while true {
      transfer.signal.lower()
      let snapshot = transfer.snapshot
      let isCurrent = snapshot.generation == generation
      let isPlayed = isCurrent && snapshot.position >= transfer.written
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
