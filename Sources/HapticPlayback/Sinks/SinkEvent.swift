/// Something that happened at a sink, for the control side to tell the user.
public struct SinkEvent: Equatable, Sendable {
  /// What happened.
  public enum Kind: Equatable, Sendable {
    /// The device ran dry.
    case underrun
    /// The system slept, or the device was suspended.
    case suspended
    /// The device went away; it is looked for until it comes back.
    case disconnected
    /// The device is back.
    case reconnected
    /// The sink cannot go on.
    case failed
    /// Something works less well than it could, such as a priority that was refused.
    case degraded
  }

  /// What happened.
  public var kind: Kind
  /// Frames that could not be heard because of it.
  public var missedFrameCount: Int
  /// One line a user can act on.
  public var text: String

  /// Makes a notice.
  public init(_ kind: Kind, missedFrameCount: Int = 0, text: String) {
    self.kind = kind
    self.missedFrameCount = missedFrameCount
    self.text = text
  }
}
