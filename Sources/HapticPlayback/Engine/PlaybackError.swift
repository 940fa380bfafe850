/// Why the engine did not take a command, and what to do.
public struct PlaybackError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What to do.
  public enum Kind: String, Sendable {
    /// Wait until commands that were sent have been done, or send fewer.
    case tooManyCommands
    /// Release players that are no longer needed.
    case tooManyPlayers
  }

  /// What to do.
  public var kind: Kind
  /// One line for the user.
  public var description: String

  static let tooManyCommands = PlaybackError(
    kind: .tooManyCommands, description: "too many scheduled commands; the command was not sent")
  static let tooManyPlayers = PlaybackError(
    kind: .tooManyPlayers, description: "too many patterns loaded; release some")
}

/// When something is to happen, on the engine's clock.
public enum PlaybackTime: Equatable, Sendable {
  /// As soon as possible: with the next block.
  case now
  /// At a frame; one that has been rendered already means now.
  case frame(Int64)
  /// Seconds after the engine's frame 0; a time that has passed means now.
  case seconds(Double)

  /// The frame at a rate; 0, which is always past, for now and for NaN.
  func frame(rate: Double) -> Int64 {
    switch self {
    case .now: return 0
    case .frame(let frame): return max(0, frame)
    case .seconds(let seconds):
      guard seconds > 0 else { return 0 }
      // Thirty years fit, and no session lasts as long.
      return Int64((min(seconds, 1e9) * rate).rounded())
    }
  }
}
