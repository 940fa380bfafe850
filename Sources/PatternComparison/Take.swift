public import HapticModel
public import HapticRender
public import SignalAnalysis

/// One of the things that are compared: a pattern as a profile renders it, or a recording.
public struct Take: Sendable {
  /// Where the samples come from.
  public enum Source: Equatable, Sendable {
    /// A composition of one or more layers, rendered.
    case pattern(HapticComposition)
    /// A sound file, whose events are not known.
    case sound
  }

  /// What messages call the take: a file's or a pattern's name.
  public var name: String
  /// Where the samples come from.
  public var source: Source
  /// What is heard.
  public var signal: Signal
  /// What a pattern was rendered with; a sound is looked at as if it were made with it.
  public var profile: TransducerProfile
  /// The text of the pattern's file, for a reader; nothing for sounds.
  public var text: String?
  /// What the pattern's file says it feels like.
  public var feeling: String?

  /// Makes a take.
  public init(
    name: String, source: Source, signal: Signal, profile: TransducerProfile,
    text: String? = nil, feeling: String? = nil
  ) {
    self.name = name
    self.source = source
    self.signal = signal
    self.profile = profile
    self.text = text
    self.feeling = feeling
  }

  /// What the takes of a row are called: A, B, C … Z, then A2 and so on.
  public static func letter(_ index: Int) -> String {
    let letter = String(UnicodeScalar(UInt8(ascii: "A") + UInt8(index % 26)))
    return index < 26 ? letter : letter + "\(index / 26 + 1)"
  }

  /// The composition, where it is one.
  public var composition: HapticComposition? {
    if case .pattern(let composition) = source { return composition }
    return nil
  }
}
