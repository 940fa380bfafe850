/// Paces a sink that could take frames faster than time: never more than a buffer ahead of the clock.
public struct SinkPacer {
  private let format: SinkFormat
  private let time: any TimeSource
  private var begin: Duration?
  private var handed: Int64 = 0
  private var watched: [PollDescriptor] = []

  /// A pace that begins with the first wait.
  public init(_ format: SinkFormat, time: any TimeSource) {
    self.format = format
    self.time = time
  }

  /// Frames handed over that the clock has not reached.
  public var delay: Int {
    guard let begin else { return 0 }
    return Int(max(0, handed - frames(in: time.now - begin)))
  }

  /// Notes frames that were handed over.
  public mutating func hand(over frameCount: Int) { handed += Int64(frameCount) }

  /// Begins again with the next wait.
  public mutating func restart() {
    begin = nil
    handed = 0
  }

  /// Waits until there is space for a period.
  ///
  /// When the clock has run ahead, as after a stopped process, the frames between are missed.
  public mutating func wait(_ wake: WakeSignal) -> SinkReadiness {
    let now = time.now
    let start = begin ?? now
    if begin == nil {
      begin = now
      watched = [PollDescriptor(wake.descriptor)]
    }
    let ahead = handed - frames(in: now - start)
    if ahead < 0 {
      handed -= ahead
      return .missed(frameCount: Int(-ahead))
    }
    let room = Int64(format.bufferSize) - ahead
    if room >= Int64(format.periodSize) { return .room(frameCount: Int(room) / format.periodSize * format.periodSize) }
    // From the beginning, so that roundings do not add up to frames.
    let due = handed + Int64(format.periodSize - format.bufferSize)
    let moment = start + moment(of: due)
    time.wait(for: &watched, timeout: max(.nanoseconds(1), moment - now))
    return watched[0].received != 0 ? .woken : .room(frameCount: 0)
  }

  /// The time from the beginning at which the clock has come to a frame.
  private func moment(of frame: Int64) -> Duration {
    let rate = Int64(format.rate.rounded())
    let (seconds, rest) = frame.quotientAndRemainder(dividingBy: max(1, rate))
    return .seconds(seconds) + .nanoseconds(Int64((Double(rest) / format.rate * 1e9).rounded(.up)))
  }

  private func frames(in duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return Int64(Double(seconds) * format.rate) + Int64(Double(attoseconds) * 1e-18 * format.rate)
  }
}

/// Takes frames at the pace of a clock and forgets them.
public final class NullSink: AudioSink {
  /// What it takes.
  public let format: SinkFormat
  private var pace: SinkPacer

  /// A sink that follows a clock.
  public init(_ format: SinkFormat, time: any TimeSource = SystemTimeSource()) {
    self.format = format
    pace = SinkPacer(format, time: time)
  }

  /// Frames that the clock has not reached.
  public var delay: Int { pace.delay }

  /// Waits for the clock.
  public func wait(_ wake: WakeSignal) -> SinkReadiness { pace.wait(wake) }

  /// Forgets frames.
  public func write(_ frames: Span<Float>) { pace.hand(over: frames.count / format.channelCount) }

  /// Always rests where it may.
  public func rest() -> Bool {
    pace.restart()
    return true
  }

  /// Does nothing.
  public func finish(draining: Bool) {}

  /// Nothing ever happens here.
  public func takeEvents() -> [SinkEvent] { [] }
}

/// Keeps every frame in memory, at the pace of a clock, for tests to look at.
public final class MemorySink: AudioSink {
  /// What it takes.
  public let format: SinkFormat
  /// All samples, interleaved; frames that were missed are silence.
  public private(set) var samples: [Float] = []
  /// Whether it has been finished.
  public private(set) var isFinished = false
  private var pace: SinkPacer

  /// A sink that follows a clock, by default one on which time passes only by waiting.
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
