internal import Synchronization

/// Which frame of the engine is heard now: frames handed over, less what the device still holds.
///
/// Written by the render thread after every block, read by any.
public final class PlaybackClock: Sendable {
  /// What is known after a block.
  public struct Reading: Equatable, Sendable {
    /// Frames handed over.
    public var position: Int64
    /// Of these, frames not yet heard.
    public var delay: Int
    /// When that was so, on the timekeeper's clock.
    public var moment: Duration
  }

  private let rate: Double
  private let time: any TimeSource
  // A reader that meets an odd or a changed version looks again.
  private let version = Atomic<Int>(0)
  private let position = Atomic<Int64>(0)
  private let delay = Atomic<Int>(0)
  private let nanoseconds = Atomic<Int64>(0)

  init(rate: Double, time: any TimeSource) {
    self.rate = rate
    self.time = time
  }

  /// What was last known.
  public var reading: Reading {
    while true {
      let before = version.load(ordering: .acquiring)
      let reading = Reading(
        position: position.load(ordering: .relaxed), delay: delay.load(ordering: .relaxed),
        moment: .nanoseconds(nanoseconds.load(ordering: .relaxed)))
      atomicMemoryFence(ordering: .acquiring)
      if before % 2 == 0, version.load(ordering: .relaxed) == before { return reading }
    }
  }

  /// The engine's frame that is heard now; never beyond what was handed over.
  public var heardFrame: Int64 {
    let reading = reading
    let (seconds, attoseconds) = (time.now - reading.moment).components
    let elapsed = Double(seconds) + Double(attoseconds) * 1e-18
    let heard = reading.position - Int64(reading.delay) + Int64(max(0, elapsed) * rate)
    return min(reading.position, heard)
  }

  /// Notes what is known after a block: [render thread].
  func note(position: Int64, delay: Int, moment: Duration) {
    let (seconds, attoseconds) = moment.components
    version.wrappingAdd(1, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    self.position.store(position, ordering: .relaxed)
    self.delay.store(delay, ordering: .relaxed)
    nanoseconds.store(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, ordering: .relaxed)
    version.wrappingAdd(1, ordering: .releasing)
  }
}
