internal import Glibc
internal import HapticPlayback

/// The system's clocks in the time of a device. Guarded by the device's lock.
///
/// Within a process, no clock goes back from one device to the next: a manager that remembers a
/// time, such as a singleton that limits its rate, outlives the device of a test. The clocks of a
/// device start at the latest time that a device has shown, or at the system's time if it is
/// later.
///
/// Starts are rounded up, so that rounding of times to floating-point numbers is the same in every
/// run: an application that compares a difference of times with exactly that difference would
/// otherwise behave at random. Starts of one clock are whole seconds between the same powers of 2.
final class DeviceClocks {
  private static let systemClocks = [CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME]
  private static let second: Int64 = 1_000_000_000
  /// The unit of the first start of the clocks that count from the start of the system: 12 days.
  private static let uptimeUnit = second << 20
  /// The latest times that the devices of the process have shown, in nanoseconds.
  private static let latestTimes = Locked(systemClocks.map { _ in Int64.min })

  /// The times of the clocks at the device's time 0, in nanoseconds; nil before the first use.
  private var starts: [Int64]?

  /// Returns the nanoseconds on a clock, by its number in C; nil for other clocks.
  func nanoseconds(onClock number: Int32, elapsed: Duration) -> Int64? {
    guard let index = Self.systemClocks.firstIndex(of: number) else { return nil }
    let (seconds, attoseconds) = elapsed.components
    let starts = self.starts ?? Self.makeStarts()
    self.starts = starts
    let time = starts[index] + seconds * Self.second + attoseconds / 1_000_000_000
    Self.latestTimes.withLock { $0[index] = max($0[index], time) }
    return time
  }

  private static func makeStarts() -> [Int64] {
    let latestTimes = latestTimes.withLock { $0 }
    return zip(systemClocks, latestTimes).map { clock, latest in
      var time = timespec()
      unsafe clock_gettime(clock, &time)
      let systemTime = Int64(time.tv_sec) * second + Int64(time.tv_nsec)
      let unit = clock == CLOCK_REALTIME ? second : uptimeUnit
      let earliest = roundedUp(systemTime, to: unit)
      return latest > earliest ? roundedUp(latest, to: second) : earliest
    }
  }

  private static func roundedUp(_ time: Int64, to unit: Int64) -> Int64 {
    (time + unit - 1) / unit * unit
  }
}
