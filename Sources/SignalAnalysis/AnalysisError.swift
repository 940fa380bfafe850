/// Why a signal cannot be measured.
public struct AnalysisError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// The rate is outside of what is measured: resample.
    case unsupportedRate
    /// There are too many channels, or none: measure some of them.
    case unsupportedChannelCount
  }

  /// What can be done about it.
  public var kind: Kind
  /// One line for the user, without the name of what is measured.
  public var description: String

  /// Makes an error.
  public init(kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }
}
