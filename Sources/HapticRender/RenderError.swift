public import HapticModel

/// Why a composition cannot be compiled, and where.
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
    /// A composition of more layers than can be compiled.
    case tooManyLayers
  }

  /// What to change.
  public var kind: Kind
  /// The event that cannot be compiled, or nil where it is not one event.
  public var event: EventReference?
  /// One line for the user.
  public var description: String

  /// Makes an error.
  public init(kind: Kind, event: EventReference? = nil, description: String) {
    self.kind = kind
    self.event = event
    self.description = description
  }
}
