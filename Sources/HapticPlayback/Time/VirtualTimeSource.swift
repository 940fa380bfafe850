/// Time that passes only when somebody waits: hours of playback in moments.
public final class VirtualTimeSource: TimeSource {
  private let elapsed: Locked<Duration>
  private let system = SystemTimeSource()

  /// A clock at a moment.
  public init(startingAt moment: Duration = .zero) { elapsed = Locked(moment) }

  /// The virtual moment.
  public var now: Duration { elapsed.withLock { $0 } }

  /// Lets time pass.
  public func advance(by duration: Duration) {
    elapsed.withLock { $0 += max(.zero, duration) }
  }

  /// Returns at once where a descriptor is ready, and else lets the whole time pass.
  ///
  /// Without a limit it waits in the machine's own time.
  public func wait(for descriptors: inout [PollDescriptor], timeout: Duration?) {
    guard let timeout else { return system.wait(for: &descriptors, timeout: nil) }
    system.wait(for: &descriptors, timeout: .zero)
    if !descriptors.contains(where: { $0.received != 0 }) { advance(by: timeout) }
  }
}
