import HapticPlayback

extension WakeSignal {
  /// Waits until the signal is raised, at most a minute by the machine's clock.
  ///
  /// - Returns: True if the signal is raised.
  @discardableResult func waitUntilRaised() -> Bool {
    var descriptors = [PollDescriptor(descriptor)]
    SystemTimeSource().wait(for: &descriptors, timeout: .seconds(60))
    return descriptors[0].receivedEvents != 0
  }
}
