import HapticPlayback
import TestSupport

extension WakeSignal {
  /// Waits until the signal is raised, at most until the hang limit.
  ///
  /// - Returns: True if the signal is raised.
  @discardableResult func waitUntilRaised() -> Bool {
    var descriptors = [PollDescriptor(descriptor)]
    SystemTimeSource().wait(for: &descriptors, timeout: HangLimit.duration)
    return descriptors[0].receivedEvents != 0
  }
}
