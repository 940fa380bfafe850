/// The time that playback goes by, and the one way to wait in it.
///
/// Injected, so that hours of playback can be tested in moments.
public protocol TimeSource: Sendable {
  /// Time since some fixed moment; never goes back.
  var now: Duration { get }

  /// Waits until one of the descriptors is ready or a time has passed; nothing means for ever.
  ///
  /// Interruptions by signals are waited through.
  func wait(for descriptors: inout [PollDescriptor], timeout: Duration?)
}

/// A file descriptor that is waited for, as poll(2) has it.
public struct PollDescriptor: Equatable, Sendable {
  /// The descriptor.
  public var descriptor: Int32
  /// The events that are waited for, as poll(2) numbers them.
  public var events: Int16
  /// The events that came.
  public var received: Int16

  /// Makes a watch; by default for something to read.
  public init(_ descriptor: Int32, events: Int16 = 1) {
    self.descriptor = descriptor
    self.events = events
    received = 0
  }
}
