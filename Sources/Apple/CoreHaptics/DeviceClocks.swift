internal import Glibc
internal import HapticPlayback

/// The system clocks in a virtual device's time, which the device's lock guards.
///
/// Within a process, no clock goes back from one device to the next: a manager that remembers a
/// time, such as a singleton that limits its rate, outlives the device of a test. The clocks of a
/// device start at the latest time that a device has reported, or at the system's time if it is
/// later.
///
/// Starts are rounded up, so that rounding of times to floating-point numbers is the same in every
/// run: an application that compares a difference of times with exactly that difference would
/// otherwise behave at random. Starts of one clock are whole seconds between the same powers of 2.
final class DeviceClocks {
  private static let systemClockIDs = [CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME]
  private static let nanosecondsPerSecond: Int64 = 1_000_000_000
  /// The rounding unit of an uptime clock's first start time, in nanoseconds: 12 days.
  private static let uptimeRoundingUnitNanoseconds = nanosecondsPerSecond << 20
  /// The latest time that any device of the process has reported on each clock, in nanoseconds.
  private static let latestReportedNanosecondsByClock = Locked(
    systemClockIDs.map { _ in Int64.min })

  /// The time of each system clock at the device's time 0, in nanoseconds.
  ///
  /// The value is nil before the first use.
  private var startNanosecondsByClock: [Int64]?

  /// Converts a device's elapsed time to the time of a system clock, in nanoseconds.
  ///
  /// - Parameters:
  ///   - number: The C identifier of the system clock, such as `CLOCK_MONOTONIC`.
  ///   - elapsed: The elapsed time of the device.
  /// - Returns: The time of the clock, or nil for an unknown clock.
  func nanoseconds(onClock number: Int32, elapsed: Duration) -> Int64? {
    guard let clockIndex = Self.systemClockIDs.firstIndex(of: number) else { return nil }
    let (seconds, attoseconds) = elapsed.components
    let clockStartNanoseconds = self.startNanosecondsByClock ?? Self.makeStartNanosecondsByClock()
    self.startNanosecondsByClock = clockStartNanoseconds
    let clockNanoseconds =
      clockStartNanoseconds[clockIndex] + seconds * Self.nanosecondsPerSecond
      + attoseconds / 1_000_000_000
    Self.latestReportedNanosecondsByClock.withLock {
      $0[clockIndex] = max($0[clockIndex], clockNanoseconds)
    }
    return clockNanoseconds
  }

  private static func makeStartNanosecondsByClock() -> [Int64] {
    let latestReportedNanoseconds = latestReportedNanosecondsByClock.withLock { $0 }
    return zip(systemClockIDs, latestReportedNanoseconds).map { clock, latest in
      var time = timespec()
      unsafe clock_gettime(clock, &time)
      let systemTime = Int64(time.tv_sec) * nanosecondsPerSecond + Int64(time.tv_nsec)
      let unit = clock == CLOCK_REALTIME ? nanosecondsPerSecond : uptimeRoundingUnitNanoseconds
      let earliest = roundedUp(systemTime, toMultipleOf: unit)
      return latest > earliest ? roundedUp(latest, toMultipleOf: nanosecondsPerSecond) : earliest
    }
  }

  private static func roundedUp(_ time: Int64, toMultipleOf unit: Int64) -> Int64 {
    (time + unit - 1) / unit * unit
  }
}
