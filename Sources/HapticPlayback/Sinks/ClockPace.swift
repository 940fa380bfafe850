/// Paces a sink that could take frames faster than time: never more than a buffer ahead of the clock.
public struct ClockPace {
  private let format: SinkFormat
  private let time: any Timekeeper
  private var begin: Duration?
  private var handed: Int64 = 0
  private var watched: [WatchedDescriptor] = []

  /// A pace that begins with the first wait.
  public init(_ format: SinkFormat, time: any Timekeeper) {
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
      watched = [WatchedDescriptor(wake.descriptor)]
    }
    let ahead = handed - frames(in: now - start)
    if ahead < 0 {
      handed -= ahead
      return .missed(frameCount: Int(-ahead))
    }
    let room = Int64(format.bufferLength) - ahead
    if room >= Int64(format.periodLength) {
      return .room(frameCount: Int(room) / format.periodLength * format.periodLength)
    }
    let seconds = Double(Int64(format.periodLength) - room) / format.rate
    time.wait(for: &watched, timeout: .nanoseconds(Int64(seconds * 1e9) + 1))
    return watched[0].received != 0 ? .woken : .room(frameCount: 0)
  }

  private func frames(in duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return Int64(Double(seconds) * format.rate) + Int64(Double(attoseconds) * 1e-18 * format.rate)
  }
}
