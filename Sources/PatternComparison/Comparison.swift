internal import CMath
import HapticModel
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
  /// What the other take was multiplied by before shapes were compared; negative if its polarity was inverted.
  public internal(set) var otherGain = 1.0
  /// What the other take was multiplied by to match the reference's level by `options.levelMatch`.
  public internal(set) var matchGain = 1.0
  /// Whether the two are the same.
  public internal(set) var equality: Equality
  /// All that differs: first what is true of the whole, then what is felt most.
  public internal(set) var differences: [Difference]
  /// What a recording holds of the reference, where one was held against it event by event.
  public internal(set) var recording: RecordingMatch?
  /// Whether levels and times of single sounds are counted from those of the whole.
  var isRelativeToWhole = false
  /// The measures of the reference and the other take.
  public let measurements: [TakeMeasurements]

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
  /// - Parameters:
  ///   - reference: What is compared with.
  ///   - other: What is compared.
  ///   - options: Alignment, level matching and search.
  ///   - referenceMeasurements: The reference's measures where they are known, from a comparison with
  ///     another take.
  /// - Precondition: Both signals have the same rate.
  public init(
    _ reference: Take, _ other: Take, options: ComparisonOptions = ComparisonOptions(),
    referenceMeasurements: TakeMeasurements? = nil
  ) {
    precondition(reference.signal.rate == other.signal.rate, "takes are compared at one rate")
    self.reference = reference
    self.other = other
    self.options = options
    measurements = [referenceMeasurements ?? TakeMeasurements(reference), TakeMeasurements(other)]
    alignment = TakeAlignment()
    equality = .different
    differences = []
    compare()
  }

  /// Both takes, the reference first.
  public var takes: [Take] { [reference, other] }

  /// Fills in what differs.
  mutating func compare() {
    let isIdentical = reference.signal == other.signal
    if let found = eventDifferences(), isIdentical || !found.isEmpty {
      differences = found
      equality = isIdentical ? .identical : .different
      alignPatterns()
      matchLevelsOfPatterns()
    } else if isIdentical {
      equality = .identical
    } else {
      compareSounds()
    }
    differences = Self.ordered(differences)
  }

  /// Takes the delay of the whole out of what differs between two patterns, if the options say so.
  private mutating func alignPatterns() {
    guard options.alignment == .start,
      let index = differences.firstIndex(where: { $0.kind == .time && $0.isThroughout })
    else { return }
    alignment.seconds = differences.remove(at: index).amount
    if differences.isEmpty, equality == .different { equality = .within(noise: nil, decibels: 0) }
  }

  /// Takes the level of the whole out of what differs between two patterns, if the options say so.
  private mutating func matchLevelsOfPatterns() {
    guard let match = options.levelMatch, match != .none else { return }
    let gains = match.gains(for: takes)
    (referenceGain, matchGain) = (gains[0], gains[1])
    otherGain = matchGain
    differences.removeAll { $0.kind == .level && $0.isThroughout }
    if differences.isEmpty, equality == .different { equality = .within(noise: nil, decibels: 0) }
  }

  /// First what is true of the whole, then what is felt most, then what comes first.
  static func ordered(_ differences: [Difference]) -> [Difference] {
    differences.sorted { a, b in
      if a.isThroughout != b.isThroughout { return a.isThroughout }
      if a.significance != b.significance { return a.significance > b.significance }
      return a.range.lowerBound < b.range.lowerBound
    }
  }

  /// Compares two patterns event by event; nil where they have too little in common.
  func eventDifferences() -> [Difference]? {
    guard let composition = reference.composition, let otherComposition = other.composition,
      reference.profile == other.profile
    else { return nil }
    let match = EventMatch(composition, otherComposition)
    let least = min(match.reference.count, match.other.count)
    guard match.pairs.count * 2 >= least else { return nil }
    let events = EventDifferences(match, of: composition, profile: reference.profile, options: options)
    let controls = ControlDifferences(
      composition, otherComposition, match: match, profile: reference.profile, options: options)
    return events.found + controls.found
  }

  /// The maximum number of differences with a sentence of their own.
  public static let maximumSentenceCount = 12

  /// How equal the two are, as one sentence; nil where they differ.
  public var verdict: String? {
    let a = options.referenceLabel
    let b = options.otherLabel
    switch equality {
    case .identical where differences.isEmpty: return "\(b) is identical to \(a), sample for sample."
    case .identical: return "\(b) renders identically to \(a), but is written differently."
    case .within(let noise, let decibels):
      var rest: [String] = []
      if abs(decibels) >= 0.005 { rest.append(SentenceFormatting.decibels(abs(decibels))) }
      if let noise { rest.append("a residual at \(SentenceFormatting.number(noise, places: 0)) dBFS") }
      if rest.isEmpty { return "\(b) is equal to \(a)." }
      return "\(b) is equal to \(a) except for \(rest.joined(separator: " and "))."
    case .different: return nil
    }
  }

  /// What was done to the takes before they were judged, where it is not a difference.
  public var notes: [String] {
    var notes: [String] = []
    if options.alignment == .start, alignment.seconds != 0 {
      let direction = alignment.seconds > 0 ? "earlier" : "later"
      notes.append(
        "\(options.otherLabel) was shifted \(SentenceFormatting.span(alignment.seconds)) \(direction) to align the first sounds."
      )
    }
    guard let match = options.levelMatch, match != .none else { return notes }
    let means = match == .loudness ? "loudness" : "weighted energy"
    for (label, gain) in [(options.referenceLabel, referenceGain), (options.otherLabel, matchGain)]
    where gain > 0 && gain < 1 {
      let decibels = SentenceFormatting.decibels(-20 * log10(gain))
      notes.append("\(label) was attenuated by \(decibels) to match \(means).")
    }
    return notes
  }

  /// The sentences, most important first: the verdict, the greatest differences, and how many more.
  public var sentences: [String] {
    var sentences = verdict.map { [$0] } ?? []
    sentences += differences.prefix(Self.maximumSentenceCount).map(\.sentence)
    let more = differences.count - Self.maximumSentenceCount
    if more > 0 { sentences.append("And \(more) more.") }
    return sentences
  }

  /// What a recording cannot show, as sentences; none where it shows all that is reported otherwise.
  public var limits: [String] {
    guard let recording, recording.outcome == .found else { return [] }
    let isMirrored = reference.composition == nil && other.composition != nil
    let name = isMirrored ? options.otherLabel : options.referenceLabel
    var limits: [String] = []
    let hidden = recording.eventCount - recording.judgedCount
    if hidden > 0 {
      limits.append(
        "\(hidden) of \(name)'s \(recording.eventCount) events \(hidden == 1 ? "is" : "are") "
          + "too weak to be judged in this noise.")
    }
    if let decibels = recording.leastDecibels, let seconds = recording.leastSeconds {
      limits.append(
        "Changes below \(SentenceFormatting.decibels(decibels)) and "
          + "\(SentenceFormatting.span(seconds)) cannot be detected in this recording.")
    }
    return limits
  }
}
