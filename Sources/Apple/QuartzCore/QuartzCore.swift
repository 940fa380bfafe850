internal import AVFAudio

/// Seconds, as Core Foundation counts them.
public typealias CFTimeInterval = Double

/// Seconds on a clock that only goes forward: the virtual device's in a test that has one, else the
/// system's.
///
/// Any thread may call.
public func CACurrentMediaTime() -> CFTimeInterval { MediaTime.now }
