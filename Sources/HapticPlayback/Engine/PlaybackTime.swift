/// When something is to happen, on the engine's clock.
public enum PlaybackTime: Equatable, Sendable {
  /// As soon as possible: with the next block.
  case now
  /// At a frame; one that has been rendered already means now.
  case frame(Int64)
  /// Seconds after the engine's frame 0; a time that has passed means now.
  case seconds(Double)

  /// The frame at a rate; 0, which is always past, for now and for no number.
  func frame(rate: Double) -> Int64 {
    switch self {
    case .now: return 0
    case .frame(let frame): return max(0, frame)
    case .seconds(let seconds):
      guard seconds > 0 else { return 0 }
      // Thirty years are for ever, and fit.
      return Int64((min(seconds, 1e9) * rate).rounded())
    }
  }
}
