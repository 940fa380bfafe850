/// The sound file an `audioCustom` event plays, and how.
public struct AudioWaveform: Equatable, Sendable {
  /// The file's path as the pattern gives it, relative to the pattern's folder.
  public var path: String
  /// Whether the sound is ramped in and out; true unless the pattern says otherwise.
  public var usesVolumeEnvelope: Bool
  /// Whether the whole file repeats for the event's duration; false unless the pattern says otherwise.
  public var isLooping: Bool

  /// Makes a reference to a file; nothing is opened.
  public init(path: String, usesVolumeEnvelope: Bool = true, isLooping: Bool = false) {
    self.path = path
    self.usesVolumeEnvelope = usesVolumeEnvelope
    self.isLooping = isLooping
  }
}
