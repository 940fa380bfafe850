/// Takes frames at the pace of a clock and forgets them.
public final class NullSink: AudioSink {
  /// What it takes.
  public let format: SinkFormat
  private var pace: SinkPacer

  /// A sink that goes by a clock.
  public init(_ format: SinkFormat, time: any TimeSource = SystemTimeSource()) {
    self.format = format
    pace = SinkPacer(format, time: time)
  }

  /// Frames that the clock has not reached.
  public var delay: Int { pace.delay }

  /// Waits for the clock.
  public func wait(_ wake: WakeSignal) -> SinkReadiness { pace.wait(wake) }

  /// Forgets frames.
  public func write(_ frames: Span<Float>) {
    pace.hand(over: frames.count / format.channelCount)
  }

  /// Does nothing.
  public func finish(draining: Bool) {}

  /// Nothing ever happens here.
  public func takeEvents() -> [SinkEvent] { [] }
}
