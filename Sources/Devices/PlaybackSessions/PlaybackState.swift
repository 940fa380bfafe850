/// The state of playback. The raw value is its symbol in the status line.
package enum PlaybackState: String, Sendable {
  case playing = ">"
  case paused = "="
  case muted = "x"
  /// The engine is waiting and plays no pattern.
  case idle = "-"
}
