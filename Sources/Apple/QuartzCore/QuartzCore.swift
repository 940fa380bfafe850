internal import AVFAudio

/// A time interval in seconds.
public typealias CFTimeInterval = Double

/// Returns the time on a monotonic clock in seconds, which is the virtual device's time in a test
/// and otherwise the system clock.
///
/// Any thread may call.
public func CACurrentMediaTime() -> CFTimeInterval { MediaClock.nowSeconds }
