public import Diagnostics
public import HapticModel

/// Everything there is to say about a file.
public struct AHAPExamination: Sendable {
  /// A sound file the pattern names. Whether it exists is not known here.
  public struct Waveform: Equatable, Sendable {
    /// The path as the pattern gives it.
    public var path: String
    /// Where the pattern gives it.
    public var place: SourcePlace
  }

  /// What the file holds, or nothing where it has errors.
  public var reading: AHAPReading?
  /// What was found, in the order of the text; at most 1,000 per rule, and one that counts the
  /// rest.
  public var findings: [Finding]
  /// The sound files with an acceptable path, in the order of the text.
  public var waveforms: [Waveform]

  /// The pattern, or nothing where the file has errors.
  public var pattern: HapticPattern? { reading?.pattern }
}
