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

  /// Waits until there is room for a period.
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
    if room >= Int64(format.periodSize) {
      return .room(frameCount: Int(room) / format.periodSize * format.periodSize)
    }
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
    return .seconds(seconds)
      + .nanoseconds(Int64((Double(rest) / format.rate * 1e9).rounded(.up)))
  }

  private func frames(in duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return Int64(Double(seconds) * format.rate) + Int64(Double(attoseconds) * 1e-18 * format.rate)
  }
}
