/// Where rendered frames go: a device, a file, memory.
///
/// A sink belongs to one thread, the one that renders. It paces that thread: `wait` returns when there is
/// room, and no sooner than the frames before it can be heard.
public protocol AudioSink: AnyObject {
  /// What was granted. It stays the same for the life of the sink, also across a reconnection.
  var format: SinkFormat { get }

  /// Frames handed over and not yet heard.
  var delay: Int { get }

  /// Waits until frames are wanted, time went by unheard, or somebody wakes the thread.
  func wait(_ wake: WakeSignal) -> SinkReadiness

  /// Takes interleaved frames, no more than there was room for, samples in −1…1.
  ///
  /// What goes wrong is told by the next `wait`.
  func write(_ frames: Span<Float>)

  /// Ends: lets what was handed over be heard, with a limit in time, or drops it. Nothing follows.
  func finish(draining: Bool)

  /// Takes what happened since the last call, oldest first.
  func takeEvents() -> [SinkEvent]
}

/// Why a sink returned from waiting.
public enum SinkReadiness: Equatable, Sendable {
  /// This many frames can be written, at least one.
  case room(frameCount: Int)
  /// Somebody woke the thread.
  case woken
  /// This many frames of time went by in which nothing could be heard: an under-run, or a device that is
  /// away. Rendering skips them, so that what follows comes at its time.
  case missed(frameCount: Int)
  /// The device plays on, but this many frames later than it should; rendering skips them to catch up. There
  /// is still room for the frames of a fade, so that what it plays does not break off.
  case behind(frameCount: Int)
  /// Nothing can be written any more; the notices tell why.
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
