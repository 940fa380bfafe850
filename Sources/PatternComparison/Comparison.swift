internal import SignalAnalysis

/// What differs between a reference and another take, in words and figures.
///
/// Two patterns are compared event by event; what the events do not explain, and everything else, is
/// compared as signals: shifted, matched in level, then sound by sound.
public struct Comparison: Sendable {
  /// The take the other is judged by.
  public let reference: Take
  /// The take that is judged.
  public let other: Take
  /// How they were compared.
  public let options: ComparisonOptions
  /// How much later the other take was found to come as a whole, and was shifted back by.
  public internal(set) var alignment: TakeAlignment
  /// What the reference was multiplied by before shapes were compared.
  public internal(set) var referenceGain = 1.0
  /// What the other take was multiplied by before shapes were compared; negative if it was upside down.
  public internal(set) var otherGain = 1.0
  /// What the other take was multiplied by to match the reference's level by `options.levelMatch`.
  public internal(set) var matchGain = 1.0
  /// Whether the two are the same.
  public internal(set) var equality: Equality
  /// All that differs: first what is true of the whole, then what is felt most.
  public internal(set) var differences: [Difference]
  /// The measures of the reference and the other take.
  public let figures: [TakeMeasurements]

  /// How equal two takes are.
  public enum Equality: Equatable, Sendable {
    /// Every sample is the same.
    case identical
    /// No difference was found but a residue, in dBFS, and one of level, in decibels.
    case within(noise: Double?, decibels: Double)
    /// Differences were found.
    case different
  }

  /// Compares two takes: time grows with their lengths times the logarithm of these.
  ///
  /// - Parameter referenceFigures: The reference's measures where they are known, from a comparison with
  ///   another take.
  /// - Precondition: Both signals have the same rate.
  public init(
    _ reference: Take, _ other: Take, options: ComparisonOptions = ComparisonOptions(),
    referenceFigures: TakeMeasurements? = nil
  ) {
    precondition(
      reference.signal.rate == other.signal.rate, "takes are compared at one rate")
    self.reference = reference
    self.other = other
    self.options = options
    figures = [referenceFigures ?? TakeMeasurements(reference), TakeMeasurements(other)]
    alignment = TakeAlignment()
    equality = .different
    differences = []
    compare()
  }

  /// Both takes, the reference first.
  public var takes: [Take] { [reference, other] }
}
