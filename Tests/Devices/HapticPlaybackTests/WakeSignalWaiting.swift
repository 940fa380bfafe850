import HapticPlayback

extension WakeSignal {
  /// Waits until the signal is raised, at most a minute by the machine's clock.
  ///
  /// - Returns: True if the signal is raised.
  @discardableResult func waitUntilRaised() -> Bool {
    var watched = [PollDescriptor(descriptor)]
    SystemTimeSource().wait(for: &watched, timeout: .seconds(60))
    return watched[0].receivedEvents != 0
  }
}
