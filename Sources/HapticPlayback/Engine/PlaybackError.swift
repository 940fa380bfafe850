/// Why the engine did not take a command, and what to do.
public struct PlaybackError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What to do.
  public enum Kind: String, Sendable {
    /// Wait until commands that were sent have been done, or send fewer.
    case tooManyCommands
    /// Let go of players that are no longer needed.
    case tooManyPlayers
    /// Send something else: this cannot be changed while playing.
    case notLive
  }

  /// What to do.
  public var kind: Kind
  /// One line for the user.
  public var description: String

  static let tooManyCommands = PlaybackError(
    kind: .tooManyCommands,
    description: "too many scheduled commands; the command was not sent")
  static let tooManyPlayers = PlaybackError(
    kind: .tooManyPlayers, description: "too many patterns loaded; release some")
}
