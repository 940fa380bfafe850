/// Why a pattern cannot be compiled, and where.
public struct RenderError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What to change.
  public enum Kind: String, Sendable {
    /// A frame rate outside 8–192 kHz.
    case rateOutOfRange
    /// A time or value that is not a finite number, or a negative time or duration.
    case timeOutOfRange
    /// An event that ends more than a day after the start.
    case patternTooLong
    /// A sound file the pattern names and the caller did not provide.
    case sampleMissing
    /// More voices at once than can be kept.
    case tooManyVoices
  }

  /// What to change.
  public var kind: Kind
  /// The index of the event in the pattern, where it is one event's fault.
  public var eventIndex: Int?
  /// One line for the user.
  public var description: String

  /// Makes an error.
  public init(kind: Kind, eventIndex: Int? = nil, description: String) {
    self.kind = kind
    self.eventIndex = eventIndex
    self.description = description
  }
}
