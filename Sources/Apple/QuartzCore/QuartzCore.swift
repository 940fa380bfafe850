internal import AVFAudio

/// A time in seconds.
public typealias CFTimeInterval = Double

/// Returns the time on a monotonic clock, in seconds: that of the virtual device in a test,
/// otherwise the system clock.
///
/// Any thread may call.
public func CACurrentMediaTime() -> CFTimeInterval { MediaTime.now }
