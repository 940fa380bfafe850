internal import AVFAudio

/// A time interval in seconds.
public typealias CFTimeInterval = Double

/// Returns the time on a monotonic clock in seconds: the virtual device's clock in a test, and
/// otherwise the system's.
///
/// Any thread may call.
public func CACurrentMediaTime() -> CFTimeInterval { MediaClock.nowSeconds }
