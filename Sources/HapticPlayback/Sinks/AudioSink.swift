/// Where rendered frames go: a device, a file, memory.
///
/// A sink belongs to one thread, the one that renders. It paces that thread: `wait` returns when there is
/// space, and no sooner than the frames before it can be heard.
public protocol AudioSink: AnyObject {
  /// What was granted. It stays the same for the life of the sink, also across a reconnection.
  var format: SinkFormat { get }

  /// Frames handed over and not yet heard.
  var delay: Int { get }

  /// Waits until frames are wanted, time went by unheard, or the thread is woken; at most half a second, so
  /// that a call that lasts longer is known to hang.
  func wait(_ wake: WakeSignal) -> SinkReadiness

  /// Takes interleaved frames, no more than there was space for, samples in −1…1.
  ///
  /// What goes wrong is reported by the next `wait`.
  func write(_ frames: Span<Float>)

  /// Stops the device until the next `wait`, where it can, and returns whether it did.
  ///
  /// Called when nothing that was handed over is to be heard any more. What is written afterwards is played
  /// as at the first start: time that went by meanwhile is not a loss.
  func rest() -> Bool

  /// Ends: lets what was handed over be heard, with a limit in time, or drops it. Nothing follows.
  func finish(draining: Bool)

  /// Takes what happened since the last call, oldest first.
  func takeEvents() -> [SinkEvent]

  /// Makes the sink that goes on where a call of this one does not return; nil where there is none.
  ///
  /// Asked for once, before the sink belongs to a thread.
  var successor: SinkSuccessor? { get }

  /// Names of threads that libraries start to carry frames to the device, now or after a reconnection.
  ///
  /// They get the priority of the thread that renders. Asked for before the sink belongs to a thread.
  var carrierThreadNames: [String] { get }
}

extension AudioSink {
  /// Nil: calls of this sink always return.
  public var successor: SinkSuccessor? { nil }

  /// None: the thread that renders hands over frames itself.
  public var carrierThreadNames: [String] { [] }

  /// False: this sink takes all frames of time.
  public func rest() -> Bool { false }
}

/// Makes a sink of the same format for a device that is to be opened again.
///
/// - Parameters:
///   - due: When the next frame is due, on the timekeeper's clock.
///   - lostFrameCount: Frames before it that never reached the device.
public typealias SinkSuccessor = @Sendable (_ due: Duration, _ lostFrameCount: Int) -> any AudioSink

/// Why a sink returned from waiting.
public enum SinkReadiness: Equatable, Sendable {
  /// This many frames can be written; none means that the sink is to be asked again.
  case room(frameCount: Int)
  /// The thread was woken.
  case woken
  /// This many frames of time went by in which nothing could be heard: an underrun, or a device that is
  /// away. Rendering skips them, so that what follows comes at its time.
  case missed(frameCount: Int)
  /// The device plays on, but this many frames later than it should; rendering skips them to catch up. There
  /// is still space for the frames of a fade, so that what it plays does not break off.
  case behind(frameCount: Int)
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
    /// They were delivered too late, since the thread that renders did not run in time or took too long: a
    /// real-time priority or larger buffers help.
    case lateDelivery
    /// The process did not run for longer than it had asked to wait: it was stopped, or the machine slept.
    case stoppedProcess
    /// The device or its sound server asked for frames too late, though the thread that renders was there, or
    /// plays behind the clock: a real-time priority of the server or larger buffers help.
    case lateDevice
    /// The device dropped frames that it had taken.
    case droppedBuffer
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
