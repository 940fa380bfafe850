/// Where rendered frames go: a device, a file, memory.
///
/// A sink belongs to one thread, the one that renders. It paces that thread: `wait` returns when
/// there is space, and no sooner than the frames before it can be heard.
public protocol AudioSink: AnyObject {
  /// What was granted. It stays the same for the life of the sink, also across a reconnection.
  var format: SinkFormat { get }

  /// Frames handed over and not yet heard.
  var delay: Int { get }

  /// The longest that a call of the device has taken; zero where calls are not measured.
  var maximumCallDuration: Duration { get }

  /// Waits until frames are wanted, time went by unheard, or the thread is woken; at most half a
  /// second, so that a call that lasts longer is known to hang.
  func wait(_ wake: WakeSignal) -> SinkReadiness

  /// Takes interleaved frames, no more than there was space for, in −1…1. The next `wait` reports
  /// what goes wrong.
  func write(_ frames: Span<Float>)

  /// Stops the device until the next `wait`, where it can, and returns whether it did. Called when
  /// nothing that was handed over is to be heard any more. What is written afterwards is played as
  /// at the first start: time that went by meanwhile is not a loss.
  func beginIdle() -> Bool

  /// Ends: lets what was handed over be heard, with a limit in time, or drops it. Nothing follows.
  func finish(draining: Bool)

  /// Takes what happened since the last call, oldest first.
  func drainEvents() -> [SinkEvent]

  /// Makes the sink that goes on where a call of this one does not return; nil where there is none.
  /// Asked for once, before the sink belongs to a thread.
  var makeReplacement: SinkReplacement? { get }

  /// Names of threads that libraries start to carry frames to the device, now or after a
  /// reconnection. They get the priority of the thread that renders. Asked for before the sink
  /// belongs to a thread.
  var deviceThreadNames: [String] { get }
}

extension AudioSink {
  /// Nil: calls of this sink always return.
  public var makeReplacement: SinkReplacement? { nil }

  /// None: the thread that renders hands over frames itself.
  public var deviceThreadNames: [String] { [] }

  /// None: nothing ever happens here.
  public func drainEvents() -> [SinkEvent] { [] }

  /// Zero: calls are not measured.
  public var maximumCallDuration: Duration { .zero }

  /// False: this sink takes all frames of time.
  public func beginIdle() -> Bool { false }
}

/// Makes a sink of the same format for a device that is to be opened again: when its next frame is
/// due, on the timekeeper's clock, and how many frames before it never reached the device.
public typealias SinkReplacement =
  @Sendable (_ due: Duration, _ lostFrameCount: Int) -> any AudioSink

/// Why a sink returned from waiting.
public enum SinkReadiness: Equatable, Sendable {
  /// This many frames can be written; none means that the sink is to be asked again.
  case ready(frameCount: Int)
  /// The thread was woken.
  case interrupted
  /// This many frames of time went by in which nothing could be heard: an underrun, or a device
  /// that is away. Rendering skips them, so that what follows comes at its time.
  case missed(frameCount: Int)
  /// The device plays on, but this many frames later than it should; rendering skips them to catch
  /// up. There is still space for the frames of a fade, so that what it plays does not break off.
  case late(frameCount: Int)
  /// Nothing can be written any more; the events say why.
  case ended
}

/// Rate, channels and periods of a sink.
public struct SinkFormat: Equatable, Sendable {
  /// Frames per second.
  public var rate: Double
  /// Interleaved channels.
  public var channelCount: Int
  /// Frames between two wake-ups.
  public var periodSize: Int
  /// Frames that fit in all.
  public var bufferSize: Int

  /// Makes a format.
  public init(rate: Double, channelCount: Int, periodSize: Int, bufferSize: Int) {
    self.rate = rate
    self.channelCount = channelCount
    self.periodSize = periodSize
    self.bufferSize = bufferSize
  }
}

/// Something that happened at a sink, for the control side to report.
public struct SinkEvent: Equatable, Sendable {
  /// What happened.
  public enum Kind: Equatable, Sendable {
    /// An underrun: the device had nothing to play.
    case underrun
    /// The system slept, or the device was suspended.
    case suspended
    /// The device was disconnected; it is searched for until it returns.
    case disconnected
    /// A call of the device has not returned for a second.
    case unresponsive
    /// The device is back.
    case reconnected
    /// The sink cannot go on.
    case failed
    /// Something works less well than it could, such as a priority that was refused.
    case degraded
  }

  /// Why frames were not heard, which decides what helps.
  public enum Cause: Equatable, Sendable {
    /// They were delivered too late, since the thread that renders did not run in time or took too
    /// long: a real-time priority or larger buffers help.
    case lateDelivery
    /// The process did not run for longer than it had asked to wait: it was stopped, or the machine
    /// slept.
    case stoppedProcess
    /// The device or its sound server asked for frames too late, though the thread that renders was
    /// there, or plays behind the clock: a real-time priority of the server or larger buffers help.
    case lateDevice
    /// The device dropped frames that it had taken.
    case droppedBuffer
    /// The system refused real-time priority; nothing was lost yet.
    case refusedPriority
  }

  /// What happened.
  public var kind: Kind
  /// Why frames were not heard, where that is known.
  public var cause: Cause?
  /// Frames that could not be heard because of it.
  public var missedFrameCount: Int
  /// One line a user can act on.
  public var text: String

  /// Makes a notice.
  public init(_ kind: Kind, cause: Cause? = nil, missedFrameCount: Int = 0, text: String) {
    self.kind = kind
    self.cause = cause
    self.missedFrameCount = missedFrameCount
    self.text = text
  }
}

/// Paces a sink that could take frames faster than time: never more than a buffer ahead of the
/// clock.
public struct SinkPacer {
  private let format: SinkFormat
  private let time: any TimeSource
  private var startTime: Duration?
  private var writtenFrameCount: Int64 = 0
  private var watchedDescriptors: [PollDescriptor] = []

  /// A pace that begins with the first wait.
  public init(_ format: SinkFormat, time: any TimeSource) {
    self.format = format
    self.time = time
  }

  /// Frames handed over that the clock has not reached.
  public var delay: Int {
    guard let startTime else { return 0 }
    return Int(max(0, writtenFrameCount - frameCount(in: time.now - startTime)))
  }

  /// Notes frames that were handed over.
  public mutating func recordWritten(_ frameCount: Int) { writtenFrameCount += Int64(frameCount) }

  /// Begins again with the next wait.
  public mutating func restart() {
    startTime = nil
    writtenFrameCount = 0
  }

  /// Waits until there is space for a period.
  ///
  /// When the clock has run ahead, as after a stopped process, the frames between are missed.
  public mutating func wait(_ wake: WakeSignal) -> SinkReadiness {
    let now = time.now
    let start = startTime ?? now
    if startTime == nil {
      startTime = now
      watchedDescriptors = [PollDescriptor(wake.descriptor)]
    }
    let ahead = writtenFrameCount - frameCount(in: now - start)
    if ahead < 0 {
      writtenFrameCount -= ahead
      return .missed(frameCount: Int(-ahead))
    }
    let room = Int64(format.bufferSize) - ahead
    if room >= Int64(format.periodSize) {
      return .ready(frameCount: Int(room) / format.periodSize * format.periodSize)
    }
    // From the beginning, so that roundings do not add up to frames.
    let due = writtenFrameCount + Int64(format.periodSize - format.bufferSize)
    let moment = start + time(ofFrame: due)
    time.wait(for: &watchedDescriptors, timeout: max(.nanoseconds(1), moment - now))
    return watchedDescriptors[0].receivedEvents != 0 ? .interrupted : .ready(frameCount: 0)
  }

  private func time(ofFrame frame: Int64) -> Duration {
    let rate = Int64(format.rate.rounded())
    let (seconds, rest) = frame.quotientAndRemainder(dividingBy: max(1, rate))
    return .seconds(seconds) + .nanoseconds(Int64((Double(rest) / format.rate * 1e9).rounded(.up)))
  }

  private func frameCount(in duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return Int64(Double(seconds) * format.rate) + Int64(Double(attoseconds) * 1e-18 * format.rate)
  }
}

/// Takes frames at the pace of a clock and forgets them.
public final class NullSink: AudioSink {
  /// What it takes.
  public let format: SinkFormat
  private var pacer: SinkPacer

  /// A sink that follows a clock.
  public init(_ format: SinkFormat, time: any TimeSource = SystemTimeSource()) {
    self.format = format
    pacer = SinkPacer(format, time: time)
  }

  /// Frames that the clock has not reached.
  public var delay: Int { pacer.delay }

  /// Waits for the clock.
  public func wait(_ wake: WakeSignal) -> SinkReadiness { pacer.wait(wake) }

  /// Forgets frames.
  public func write(_ frames: Span<Float>) {
    pacer.recordWritten(frames.count / format.channelCount)
  }

  /// Always rests where it may.
  public func beginIdle() -> Bool {
    pacer.restart()
    return true
  }

  /// Does nothing.
  public func finish(draining: Bool) {}
}

/// Keeps every frame in memory, at the pace of a clock, for tests to look at.
public final class MemorySink: AudioSink {
  /// What it takes.
  public let format: SinkFormat
  /// All samples, interleaved; frames that were missed are silence.
  public private(set) var samples: [Float] = []
  /// Whether it has been finished.
  public private(set) var isFinished = false
  private var pacer: SinkPacer

  /// A sink that follows a clock, by default one on which time passes only by waiting.
  public init(_ format: SinkFormat, time: any TimeSource = VirtualTimeSource()) {
    self.format = format
    pacer = SinkPacer(format, time: time)
  }

  /// Frames that the clock has not reached.
  public var delay: Int { pacer.delay }

  /// Waits for the clock.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    let readiness = pacer.wait(wake)
    if case .missed(let frameCount) = readiness {
      samples += Array(repeating: 0, count: frameCount * format.channelCount)
    }
    return readiness
  }

  /// Keeps frames.
  public func write(_ frames: Span<Float>) {
    for index in frames.indices {
      samples.append(frames[index])
    }
    pacer.recordWritten(frames.count / format.channelCount)
  }

  /// Notes the end.
  public func finish(draining: Bool) { isFinished = true }
}

/// Where sound comes from while it sounds: the counterpart of a sink. Belongs to one thread.
public protocol CaptureSource: AnyObject {
  /// Frames per second.
  var rate: Double { get }
  /// Interleaved channels.
  var channelCount: Int { get }

  /// Appends the interleaved frames that came since the last call; never waits for more.
  ///
  /// - Returns: What happened meanwhile; nil where the sound simply goes on.
  func read(into samples: inout [Float]) -> CaptureEvent?
}

/// What happens to a source of sound.
public enum CaptureEvent: Equatable, Sendable {
  /// It lost frames, or went away: why. It is tried again by itself.
  case interrupted(String)
  /// It is back, after so long.
  case resumed(Duration)
}

/// Counts what happens at a sink, and folds events that repeat, so that people and programs can
/// read them. The first event of a kind and cause is reported at once. Those that follow within a
/// second are reported together; while it goes on, the time between two reports doubles, up to a
/// minute.
package struct SinkEventAggregator {
  /// Events of one kind and cause that are reported together.
  package struct Report: Equatable, Sendable {
    /// The last of them, with the frames that were missed because of all.
    package var event: SinkEvent
    package var count: Int

    package init(_ event: SinkEvent, count: Int = 1) {
      self.event = event
      self.count = count
    }
  }

  package struct Group {
    package let kind: SinkEvent.Kind
    package let cause: SinkEvent.Cause?
    package fileprivate(set) var count = 0
    package fileprivate(set) var missedFrameCount = 0
    fileprivate var heldReport: Report?
    fileprivate var reportInterval = SinkEventAggregator.minimumInterval
    /// Until when events are held.
    fileprivate var holdEnd: Duration
  }

  /// The time between the first two reports of a kind.
  package static let minimumInterval = Duration.seconds(1)
  /// The time between two reports of what goes on and on.
  package static let maximumInterval = Duration.seconds(60)

  /// In the order in which they were first met.
  package private(set) var groups: [Group] = []
  package var underrunCount: Int { groups.reduce(0) { $0 + ($1.kind == .underrun ? $1.count : 0) } }
  /// Those of them for which frames were delivered too late.
  package var lateDeliveryCount: Int {
    groups.first { $0.kind == .underrun && $0.cause == .lateDelivery }?.count ?? 0
  }
  package var lacksRealTimePriority: Bool { groups.contains { $0.cause == .refusedPriority } }
  package var missedFrameCount: Int { groups.reduce(0) { $0 + $1.missedFrameCount } }
  /// Whether what was played was not heard to its end.
  package var hasFailed: Bool { groups.contains { $0.kind == .failed } }

  package init() {}

  /// Counts an event; returns what to report now.
  package mutating func add(_ event: SinkEvent, at now: Duration) -> [Report] {
    var due = drainDueReports(at: now)
    let known = groups.firstIndex { $0.kind == event.kind && $0.cause == event.cause }
    let place = known ?? groups.endIndex
    if known == nil {
      groups.append(
        Group(kind: event.kind, cause: event.cause, holdEnd: now + Self.minimumInterval))
    }
    var group = groups[place]
    defer { groups[place] = group }
    group.count += 1
    group.missedFrameCount += event.missedFrameCount
    if known == nil || event.kind == .failed { return due + [Report(event)] }
    if now >= group.holdEnd {
      // Quiet for as long as it was last held: the next is news again.
      group.reportInterval = Self.minimumInterval
      group.holdEnd = now + group.reportInterval
      due.append(Report(event))
    } else if let held = group.heldReport {
      var folded = event
      folded.missedFrameCount += held.event.missedFrameCount
      group.heldReport = Report(folded, count: held.count + 1)
    } else {
      group.heldReport = Report(event)
    }
    return due
  }

  /// How long until held events are to be reported; nil where there are none.
  package func timeout(at now: Duration) -> Duration? {
    groups.filter { $0.heldReport != nil }.map { max(.zero, $0.holdEnd - now) }.min()
  }

  /// Takes the held events whose time has come; all of them without a time.
  package mutating func drainDueReports(at now: Duration?) -> [Report] {
    var reports: [Report] = []
    for place in groups.indices {
      var group = groups[place]
      guard let held = group.heldReport, now.map({ $0 >= group.holdEnd }) ?? true else { continue }
      reports.append(held)
      group.heldReport = nil
      group.reportInterval = min(group.reportInterval * 2, Self.maximumInterval)
      group.holdEnd = (now ?? group.holdEnd) + group.reportInterval
      groups[place] = group
    }
    return reports
  }
}
