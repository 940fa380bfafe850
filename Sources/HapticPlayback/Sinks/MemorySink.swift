/// Keeps every frame in memory, at the pace of a clock, for tests to look at.
public final class MemorySink: AudioSink {
  /// What it takes.
  public let format: SinkFormat
  /// All samples, interleaved; frames that were missed are silence.
  public private(set) var samples: [Float] = []
  /// Whether it has been finished.
  public private(set) var isFinished = false
  private var pace: SinkPacer

  /// A sink that goes by a clock, by default one on which time passes only by waiting.
  public init(_ format: SinkFormat, time: any TimeSource = VirtualTimeSource()) {
    self.format = format
    pace = SinkPacer(format, time: time)
  }

  /// Frames that the clock has not reached.
  public var delay: Int { pace.delay }

  /// Waits for the clock.
  public func wait(_ wake: WakeSignal) -> SinkReadiness {
    let readiness = pace.wait(wake)
    if case .missed(let frameCount) = readiness {
      samples += Array(repeating: 0, count: frameCount * format.channelCount)
    }
    return readiness
  }

  /// Keeps frames.
  public func write(_ frames: Span<Float>) {
    for index in frames.indices { samples.append(frames[index]) }
    pace.hand(over: frames.count / format.channelCount)
  }

  /// Notes the end.
  public func finish(draining: Bool) { isFinished = true }

  /// Nothing ever happens here.
  public func takeEvents() -> [SinkEvent] { [] }
}
