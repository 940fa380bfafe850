/// What can be done to a device at a moment.
public enum Fault: Equatable, Sendable {
  /// It runs dry at once: what is queued is never heard.
  case underrun
  /// It falls asleep; if it cannot resume, it has to be prepared.
  case suspend(canResume: Bool)
  /// It goes away for a while; opening it is refused with a number of errno.
  case disconnect(duration: Duration, code: Int32)
  /// It holds still for a while without a word.
  case stall(duration: Duration)
  /// It takes at most this many frames at a time, so many times.
  case shortTransfers(frameCount: Int, count: Int)
  /// It fails transfers with a number of errno.
  case failTransfers(code: Int32, count: Int)
  /// It fails to start with a number of errno.
  case failStarts(code: Int32, count: Int)
  /// It fails to be prepared with a number of errno.
  case failPreparations(code: Int32, count: Int)
  /// It tells a delay that is wrong by this many frames, from now on.
  case addDelay(frameCount: Int)
  /// It says for a while that it is ready, whether it is or not.
  case cryWolf(duration: Duration)
  /// It offers something else when it is opened the next time.
  case change(FaultyDevice.Capabilities)
}
