/// What playback does at one moment, as its live line shows it.
struct PlaybackStatus: Equatable, Sendable {
  /// What the sound is doing.
  enum State: Sendable {
    case playing, paused, muted
    /// Nothing plays, and something is waited for.
    case idle
  }

  /// What the sound is doing.
  var state = State.playing
  /// Seconds from the start of the pattern, or of listening.
  var position: Double
  /// Seconds of the pattern; nothing where there is no end.
  var duration: Double?
  /// The highest sample of each channel since the last line, 0 to 1.
  var peaks: [Float]
  /// Voices that sound; nothing where it is not to be told.
  var voiceCount: Int? = 0
  /// Times that the device ran dry.
  var underrunCount = 0
  /// The factor on everything, 0 to 1.
  var strength = 1.0
  /// What is heard and how.
  var title: SessionTitle?
  /// What protection did since the last line; nothing where there is no transducer to protect.
  var protection: ProtectionSummary?
}
