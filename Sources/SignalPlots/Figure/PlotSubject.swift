public import HapticModel
public import HapticRender
public import SignalAnalysis

/// What a picture shows: a pattern, its sound, or a sound alone.
public struct PlotSubject: Sendable {
  /// The name in the title.
  public var name: String
  /// The pattern, all its layers, where there is one.
  public var composition: HapticComposition?
  /// The sound, where it is shown.
  public var signal: Signal?
  /// What the pattern was rendered with; its band is marked in the spectrogram.
  public var profile: TransducerProfile
  /// The pattern's sound files, for their lengths.
  public var samples: [String: AudioBuffer]

  /// Names what is to be shown.
  public init(
    name: String, composition: HapticComposition? = nil, signal: Signal? = nil,
    profile: TransducerProfile = .phone, samples: [String: AudioBuffer] = [:]
  ) {
    self.name = name
    self.composition = composition
    self.signal = signal
    self.profile = profile
    self.samples = samples
  }
}

/// A way to look at a pattern or a sound; the raw value is what users call it.
public enum PlotPart: String, CaseIterable, Sendable {
  /// Events with their strength, and the curves over them.
  case score
  /// The sound's samples over time.
  case waveform
  /// The sound's frequencies over time.
  case spectrogram
}
