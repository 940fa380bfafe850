/// An output of rendered frames, such as a device, a file, or memory.
///
/// A sink belongs to the render thread and paces it: `wait` returns when there is space for more
/// frames.
public protocol AudioSink: AnyObject {
  /// The granted format. The format does not change for the life of the sink, even after a
  /// reconnection.
  var format: SinkFormat { get }

  /// The number of frames that were written and not yet heard.
  var delayFrames: Int { get }

  /// The longest duration of any call to the device so far; zero if calls are not measured.
  var maximumDeviceCallDuration: Duration { get }

  /// Waits until the sink requests frames, frames were missed, or the thread is woken.
  /// The wait returns within half a second, so that a longer call is recognized as hanging.
  func wait(_ wake: WakeSignal) -> SinkReadiness

  /// Writes interleaved frames in −1…1, at most as many as `wait` reported space for. The next
  /// `wait` reports errors.
  func write(_ frames: Span<Float>)

  /// Stops the device until the next `wait`, if possible, and returns whether it is stopped.
  ///
  /// It is called when all written frames have been heard. Later frames then play as they do after
  /// the first start, and the idle time does not count as missed.
  func beginIdle() -> Bool

  /// Ends the output. Afterward, only `drainEvents()` and `close()` may be called.
  ///
  /// - Parameter draining: True to play the written frames, with a timeout; false to discard them.
  func finish(draining: Bool)

  /// Releases the device after the end of the output. This call is the last.
  ///
  /// The call may take any time or never return, so it reports no events, and callers wait for it
  /// only with a timeout.
  func close()

  /// Removes and returns the events since the last call, oldest first.
  func drainEvents() -> [SinkEvent]

  /// A Boolean value that indicates whether events are pending although the last wait reported no
  /// missed frames. After missed frames, events are drained in any case.
  var hasPendingEvents: Bool { get }

  /// A closure that creates a replacement if a call to this sink hangs; nil if the sink cannot be
  /// replaced.
  /// The property is read once, before the sink belongs to a thread.
  var makeReplacement: SinkReplacement? { get }

  /// The names of the threads that libraries start to send frames to the device, now or after a
  /// reconnection. These threads get the priority of the render thread. The names are read before
  /// the sink belongs to a thread.
  var deviceThreadNames: [String] { get }
}

extension AudioSink {
  /// The default value, nil, for sinks whose calls always return.
  public var makeReplacement: SinkReplacement? { nil }

  /// The default value, an empty array, for sinks whose frames the render thread itself writes to
  /// the device.
  public var deviceThreadNames: [String] { [] }

  /// Returns the default, an empty array, for sinks without events.
  public func drainEvents() -> [SinkEvent] { [] }

  /// The default value, false, for sinks that report events only together with missed frames.
  public var hasPendingEvents: Bool { false }

  /// The default value, zero, for sinks that do not measure calls.
  public var maximumDeviceCallDuration: Duration { .zero }

  /// Returns false by default, because a sink may need every frame.
  public func beginIdle() -> Bool { false }

  /// Does nothing by default, because the sink has no device.
  public func close() {}
}

/// A closure that creates a replacement for a hanging sink, with the same format, whose device must
/// be reopened.
///
/// - Parameters:
///   - due: The due time of the next frame, on the time source's clock.
///   - lostFrameCount: The number of earlier frames that never reached the device.
public typealias SinkReplacement =
  @Sendable (_ due: Duration, _ lostFrameCount: Int) -> any AudioSink

/// The reason that a sink returned from a wait.
public enum SinkReadiness: Equatable, Sendable {
  /// The sink has space for a number of frames. If the count is 0, the caller waits again.
  case ready(frameCount: Int)
  /// The wake signal interrupted the wait.
  case interrupted
  /// A number of frames could not be heard, because of an underrun or an absent device. Rendering
  /// skips them, so that later frames are on time.
  case missed(frameCount: Int)
  /// The device plays this many frames late, and rendering skips them to catch up. There is still
  /// space for a fade, so that the sound does not end abruptly.
  case late(frameCount: Int)
  /// The sink has ended. Its events state the reason.
  case ended
}

/// The format of a sink, with its sample rate, channels, and buffer.
public struct SinkFormat: Equatable, Sendable {
  /// The sample rate in hertz.
  public var rate: Double
  /// The number of interleaved channels.
  public var channelCount: Int
  /// The number of frames between two wake-ups.
  public var periodSize: Int
  /// The number of frames in the buffer.
  public var bufferSize: Int

  /// Creates a format.
  public init(rate: Double, channelCount: Int, periodSize: Int, bufferSize: Int) {
    self.rate = rate
    self.channelCount = channelCount
    self.periodSize = periodSize
    self.bufferSize = bufferSize
  }
}

/// An event of a sink, which the control thread reports.
public struct SinkEvent: Equatable, Sendable {
  /// The type of a sink event.
  public enum Kind: CaseIterable, Equatable, Sendable {
    /// The device had no frames to play: an underrun.
    case underrun
    /// The system slept, or the device was suspended.
    case suspended
    /// The device was disconnected. The sink polls until the device returns.
    case disconnected
    /// A call to the device has not returned within a second.
    case unresponsive
    /// The device was reconnected.
    case reconnected
    /// The sink failed and cannot continue.
    case failed
    /// A property of the playback was degraded, for example by a refused priority.
    case degraded
  }

  /// The cause of missed frames, which determines the remedy.
  public enum Cause: Equatable, Sendable {
    /// The render thread delivered frames too late, because it did not run in time or took too
    /// long.
    /// Real-time priority or a larger buffer helps.
    case lateDelivery
    /// The process was stopped, or the machine slept, for longer than the requested wait.
    case stoppedProcess
    /// The device or its sound server requested frames too late although the render thread was
    /// ready, or it plays late.
    /// Real-time priority of the server or a larger buffer helps.
    case lateDevice
    /// The device discarded frames that it had accepted.
    case droppedBuffer
    /// The system refused real-time priority. No frames were missed yet.
    case refusedPriority
  }

  /// The type of the sink event.
  public var kind: Kind
  /// The cause of the missed frames, or nil if it is unknown.
  public var cause: Cause?
  /// The number of frames that were missed.
  public var missedFrameCount: Int
  /// The message of the event for the user, on one line.
  public var text: String

  /// Creates an event.
  public init(_ kind: Kind, cause: Cause? = nil, missedFrameCount: Int = 0, text: String) {
    self.kind = kind
    self.cause = cause
    self.missedFrameCount = missedFrameCount
    self.text = text
  }
}

extension SinkEvent {
  /// The minimum duration of missed frames after which the process counts as stopped, in seconds.
  private static let stoppedProcessThresholdSeconds = 0.25

  /// Creates an underrun event for frames that the render thread did not deliver in time.
  fileprivate init(lateFrameCount: Int, rate: Double) {
    let isProcessStopped = Double(lateFrameCount) > Self.stoppedProcessThresholdSeconds * rate
    self.init(
      .underrun, cause: isProcessStopped ? .stoppedProcess : .lateDelivery,
      missedFrameCount: lateFrameCount, text: "buffer underrun")
  }
}

/// A pacer that limits a sink to real time if the sink could accept frames faster. The sink is at
/// most one buffer ahead of the clock.
public struct SinkPacer {
  private let format: SinkFormat
  private let time: any TimeSource
  private let dropsLateFrames: Bool
  private var startTime: Duration?
  private var writtenFrameCount: Int64 = 0
  private var watchedDescriptors: [PollDescriptor] = []

  /// Creates a pacer that starts with the first wait.
  ///
  /// - Parameters:
  ///   - format: The format of the sink.
  ///   - time: The clock.
  ///   - dropsLateFrames: True if frames that are not written in time are missed, as on a device;
  ///     false if they are only written later, as to a file.
  public init(
    _ format: SinkFormat, time: any TimeSource, dropsLateFrames: Bool = true
  ) {
    self.format = format
    self.time = time
    self.dropsLateFrames = dropsLateFrames
  }

  /// The number of written frames that the clock has not reached yet.
  public var delayFrameCount: Int {
    guard let startTime else { return 0 }
    return Int(max(0, writtenFrameCount - frameCount(in: time.now - startTime)))
  }

  /// Adds written frames to the count of the pacer.
  public mutating func recordWritten(_ frameCount: Int) { writtenFrameCount += Int64(frameCount) }

  /// Resets the pacer, so that its time starts with the next wait.
  public mutating func restart() {
    startTime = nil
    writtenFrameCount = 0
  }

  /// Waits until there is space for a period.
  ///
  /// If the clock is ahead of the written frames, for example, after the process was stopped, the
  /// frames in between are missed.
  public mutating func wait(_ wake: WakeSignal) -> SinkReadiness {
    let currentTime = time.now
    let playbackStartTime = startTime ?? currentTime
    if startTime == nil {
      startTime = currentTime
      watchedDescriptors = [PollDescriptor(wake.descriptor)]
    }
    var bufferedFrameCount = writtenFrameCount - frameCount(in: currentTime - playbackStartTime)
    if bufferedFrameCount < 0, !dropsLateFrames {
      restart()
      startTime = currentTime
      bufferedFrameCount = 0
    }
    if bufferedFrameCount < 0 {
      writtenFrameCount -= bufferedFrameCount
      return .missed(frameCount: Int(-bufferedFrameCount))
    }
    let freeFrameCount = Int64(format.bufferSize) - bufferedFrameCount
    if freeFrameCount >= Int64(format.periodSize) {
      return .ready(frameCount: Int(freeFrameCount) / format.periodSize * format.periodSize)
    }
    // The time counts from the start, so that rounding errors do not accumulate.
    let dueFrame = writtenFrameCount + Int64(format.periodSize - format.bufferSize)
    let dueTime = (startTime ?? playbackStartTime) + time(ofFrame: dueFrame)
    time.wait(for: &watchedDescriptors, timeout: max(.nanoseconds(1), dueTime - currentTime))
    return watchedDescriptors[0].receivedEvents != 0 ? .interrupted : .ready(frameCount: 0)
  }

  private func time(ofFrame frame: Int64) -> Duration {
    let integerRate = Int64(format.rate.rounded())
    let (seconds, remainder) = frame.quotientAndRemainder(dividingBy: max(1, integerRate))
    return .seconds(seconds)
      + .nanoseconds(Int64((Double(remainder) / format.rate * 1e9).rounded(.up)))
  }

  private func frameCount(in duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return Int64(Double(seconds) * format.rate) + Int64(Double(attoseconds) * 1e-18 * format.rate)
  }
}

/// A sink that discards frames at the pace of a clock.
public final class NullSink: AudioSink {
  /// The format that the sink granted.
  public let format: SinkFormat
  private var pacer: SinkPacer
  private var events: [SinkEvent] = []

  /// Creates a sink that follows a clock.
  public init(_ format: SinkFormat, time: any TimeSource = SystemTimeSource()) {
    self.format = format
    pacer = SinkPacer(format, time: time)
  }

  /// The number of written frames that the clock has not reached yet.
  public var delayFrames: Int { pacer.delayFrameCount }

  /// Waits until, at the pace of the clock, the buffer has space for frames.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    let sinkReadiness = pacer.wait(wake)
    if case .missed(let frameCount) = sinkReadiness {
      events.append(SinkEvent(lateFrameCount: frameCount, rate: format.rate))
    }
    return sinkReadiness
  }

  /// Returns the missed frames as events.
  public func drainEvents() -> [SinkEvent] { exchange(&events, with: []) }

  /// Discards frames, and advances the pacer.
  public func write(_ frames: Span<Float>) {
    pacer.recordWritten(frames.count / format.channelCount)
  }

  /// Returns true: this sink can always be idle.
  public func beginIdle() -> Bool {
    pacer.restart()
    return true
  }

  /// Does nothing, because this sink holds no frames.
  public func finish(draining: Bool) {}
}

/// A sink that stores every frame in memory, at the pace of a clock, for tests.
public final class MemorySink: AudioSink {
  /// The format that the sink granted.
  public let format: SinkFormat
  /// The interleaved samples of all frames. Missed frames are silence.
  public private(set) var samples: [Float] = []
  /// A Boolean value that indicates whether `finish(draining:)` was called.
  public private(set) var isFinished = false
  private var pacer: SinkPacer
  private var events: [SinkEvent] = []

  /// Creates a sink that follows a clock. By default, the clock is a virtual clock that advances
  /// only during waits.
  public init(_ format: SinkFormat, time: any TimeSource = VirtualTimeSource()) {
    self.format = format
    pacer = SinkPacer(format, time: time)
  }

  /// The number of written frames that the clock has not reached yet.
  public var delayFrames: Int { pacer.delayFrameCount }

  /// Waits until, at the pace of the clock, the buffer has space for frames.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    let sinkReadiness = pacer.wait(wake)
    if case .missed(let frameCount) = sinkReadiness {
      samples += Array(repeating: 0, count: frameCount * format.channelCount)
      events.append(SinkEvent(lateFrameCount: frameCount, rate: format.rate))
    }
    return sinkReadiness
  }

  /// Returns the missed frames as events.
  public func drainEvents() -> [SinkEvent] { exchange(&events, with: []) }

  /// Stores frames in memory.
  public func write(_ frames: Span<Float>) {
    for index in frames.indices {
      samples.append(frames[index])
    }
    pacer.recordWritten(frames.count / format.channelCount)
  }

  /// Marks the sink as finished.
  public func finish(draining: Bool) { isFinished = true }
}

/// A source of live sound, the counterpart of a sink. It belongs to one thread.
public protocol CaptureSource: AnyObject {
  /// The sample rate in hertz.
  var rate: Double { get }
  /// The number of interleaved channels.
  var channelCount: Int { get }

  /// Appends the interleaved frames since the last call. It never waits.
  ///
  /// - Returns: An event since the last call; nil if there was none.
  func read(into samples: inout [Float]) -> CaptureEvent?
}

/// An event of a source of live sound.
public enum CaptureEvent: Equatable, Sendable {
  /// The source lost frames or was disconnected, with the reason. It reconnects on its own.
  case interrupted(String)
  /// The source was reconnected after this duration.
  case resumed(Duration)
}

/// Counts the events of a sink, and combines repeated events into readable reports.
///
/// The first event of a kind and cause is reported at once. Later events within a second are
/// reported together. While they continue, the interval between reports doubles, up to a minute.
package struct SinkEventAggregator {
  /// A report that combines several events of the same kind and cause.
  package struct Report: Equatable, Sendable {
    /// The most recent event, with the total number of frames that all combined events missed.
    package var event: SinkEvent
    package var count: Int

    package init(_ event: SinkEvent, count: Int = 1) {
      self.event = event
      self.count = count
    }
  }

  package struct EventGroup {
    package let kind: SinkEvent.Kind
    package let cause: SinkEvent.Cause?
    package fileprivate(set) var count = 0
    package fileprivate(set) var missedFrameCount = 0
    fileprivate var heldBackReport: Report?
    fileprivate var reportInterval = SinkEventAggregator.minimumReportInterval
    /// The time until which further events of this kind are held back, to be combined into one
    /// report.
    fileprivate var holdBackDeadline: Duration
  }

  /// The initial interval between reports of the same kind.
  package static let minimumReportInterval = Duration.seconds(1)
  /// The maximum interval between reports of the same kind while such events continue.
  package static let maximumReportInterval = Duration.seconds(60)

  /// The groups of events, in the order of their first events.
  package private(set) var groups: [EventGroup] = []
  package var underrunCount: Int { groups.reduce(0) { $0 + ($1.kind == .underrun ? $1.count : 0) } }
  /// The number of underruns that were caused by late delivery of frames.
  package var lateDeliveryCount: Int {
    groups.first { $0.kind == .underrun && $0.cause == .lateDelivery }?.count ?? 0
  }
  package var lacksRealTimePriority: Bool { groups.contains { $0.cause == .refusedPriority } }
  package var missedFrameCount: Int { groups.reduce(0) { $0 + $1.missedFrameCount } }
  /// A Boolean value that indicates whether the sink failed, so that the output was not heard to
  /// its end.
  package var hasFailed: Bool { groups.contains { $0.kind == .failed } }

  package init() {}

  /// Counts an event, and returns the reports that are due now.
  package mutating func add(_ event: SinkEvent, at now: Duration) -> [Report] {
    var dueReports = drainDueReports(at: now)
    let knownGroupIndex = groups.firstIndex { $0.kind == event.kind && $0.cause == event.cause }
    let groupIndex = knownGroupIndex ?? groups.endIndex
    if knownGroupIndex == nil {
      groups.append(
        EventGroup(
          kind: event.kind, cause: event.cause, holdBackDeadline: now + Self.minimumReportInterval))
    }
    var eventGroup = groups[groupIndex]
    defer { groups[groupIndex] = eventGroup }
    eventGroup.count += 1
    eventGroup.missedFrameCount += event.missedFrameCount
    if knownGroupIndex == nil || event.kind == .failed { return dueReports + [Report(event)] }
    if now >= eventGroup.holdBackDeadline {
      // After an interval without events, the next event is reported at once again.
      eventGroup.reportInterval = Self.minimumReportInterval
      eventGroup.holdBackDeadline = now + eventGroup.reportInterval
      dueReports.append(Report(event))
    } else if let heldReport = eventGroup.heldBackReport {
      var folded = event
      folded.missedFrameCount += heldReport.event.missedFrameCount
      eventGroup.heldBackReport = Report(folded, count: heldReport.count + 1)
    } else {
      eventGroup.heldBackReport = Report(event)
    }
    return dueReports
  }

  /// Returns the time until the next report of events that are held back; nil if no events are held
  /// back.
  package func timeUntilNextReport(at now: Duration) -> Duration? {
    groups.filter { $0.heldBackReport != nil }.map { max(.zero, $0.holdBackDeadline - now) }.min()
  }

  /// Returns the reports of held events that are due at the given time, or all reports of held
  /// events if the time is nil.
  package mutating func drainDueReports(at now: Duration?) -> [Report] {
    var dueReports: [Report] = []
    for index in groups.indices {
      var group = groups[index]
      guard let held = group.heldBackReport, now.map({ $0 >= group.holdBackDeadline }) ?? true
      else {
        continue
      }
      dueReports.append(held)
      group.heldBackReport = nil
      group.reportInterval = min(group.reportInterval * 2, Self.maximumReportInterval)
      group.holdBackDeadline = (now ?? group.holdBackDeadline) + group.reportInterval
      groups[index] = group
    }
    return dueReports
  }
}
