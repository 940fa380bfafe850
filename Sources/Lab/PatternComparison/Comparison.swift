internal import CMath
import HapticModel
public import RecordingAnalysis
internal import SignalAnalysis

/// The differences between a reference and a candidate, as sentences and figures.
///
/// Two patterns are compared by what is felt: level and frequency over time, and transients. For
/// all other takes, the signals are aligned, matched in level, and compared sound by sound.
public struct Comparison: Sendable {
  /// The take that the candidate is compared with.
  public let reference: Take
  /// The take to compare with the reference.
  public let candidate: Take
  /// The options of the comparison.
  public let options: ComparisonOptions
  /// The overall shift of the candidate, which was removed before the comparison.
  public internal(set) var alignment = TakeAlignment()
  /// The gain that was applied to the reference before the waveforms were compared.
  public internal(set) var referenceGain = 1.0
  /// The gain that was applied to the candidate before the waveforms were compared; negative if its
  /// polarity was inverted.
  public internal(set) var candidateGain = 1.0
  /// The gain that matches the candidate's level to that of the reference, as measured by
  /// `options.levelMatch`.
  public internal(set) var levelMatchGain = 1.0
  /// The result of the comparison.
  public internal(set) var equality = Equality.different
  /// The differences: those of the whole take first, then the others by descending significance.
  public internal(set) var differences: [Difference] = []
  /// Sentences that describe how two patterns that feel alike are written differently. These
  /// differences have no levels and frequencies, and never count against a tolerance.
  public internal(set) var notationDifferences: [String] = []
  /// The result of the search for the reference in a recording, or nil if no recording was compared
  /// event by event.
  public internal(set) var recordingMatch: RecordingMatch?
  /// A Boolean value that indicates whether levels and times of single sounds are relative to the
  /// overall difference.
  var hasRelativeDifferences = false
  /// The measurements of the reference and of the candidate.
  public let measurements: [TakeMeasurements]

  /// Indicates whether two takes are identical, equal except for a negligible residual, or
  /// different.
  public enum Equality: Equatable, Sendable {
    /// The takes are identical: all samples are equal.
    case identical
    /// The takes differ only by a negligible residual, in dBFS, and a negligible level, in
    /// decibels.
    case approximate(residualDecibels: Double?, levelDecibels: Double)
    /// The takes differ.
    case different
  }

  /// Compares two takes with the same sample rate.
  ///
  /// - Parameters:
  ///   - reference: The reference.
  ///   - candidate: The take to compare with the reference.
  ///   - options: The options of the comparison.
  ///   - referenceMeasurements: The measurements of the reference, if another comparison has them.
  /// - Complexity: O(*n* log *n*), where *n* is the sum of the lengths.
  public init(
    _ reference: Take, _ candidate: Take, options: ComparisonOptions = ComparisonOptions(),
    referenceMeasurements: TakeMeasurements? = nil
  ) {
    precondition(
      reference.signal.rate == candidate.signal.rate, "takes must be compared at the same rate")
    self.reference = reference
    self.candidate = candidate
    self.options = options
    measurements = [
      referenceMeasurements ?? TakeMeasurements(reference), TakeMeasurements(candidate),
    ]
    compare()
  }

  /// The reference and the candidate.
  public var takes: [Take] { [reference, candidate] }

  private mutating func compare() {
    let hasIdenticalSignals = reference.signal == candidate.signal
    if let patternDifferences = PatternDifferences(
      reference, candidate, options: options, isIdentical: hasIdenticalSignals)
    {
      differences = patternDifferences.differences
      notationDifferences = patternDifferences.notationDifferences
      if options.alignment == .start, let delay = removeOverallDifference(of: .time) {
        alignment.delaySeconds = delay
      }
      matchLevels()
      if options.matchesLevels {
        removeOverallDifference(of: .level)
      }
      if hasIdenticalSignals {
        equality = .identical
      } else if differences.isEmpty {
        equality = .approximate(residualDecibels: nil, levelDecibels: 0)
      } else {
        equality = .different
      }
    } else if hasIdenticalSignals {
      equality = .identical
    } else {
      compareSounds()
    }
    // Sort by scope, by significance, and by time.
    differences.sort { first, second in
      if first.isOverall != second.isOverall { return first.isOverall }
      if first.significance != second.significance {
        return first.significance > second.significance
      }
      return first.timeRange.lowerBound < second.timeRange.lowerBound
    }
  }

  /// Removes the overall difference of the given kind from `differences`, and returns its amount.
  @discardableResult
  private mutating func removeOverallDifference(of kind: Difference.Kind) -> Double? {
    let index = differences.firstIndex { $0.kind == kind && $0.isOverall }
    return index.map { differences.remove(at: $0).amount }
  }

  mutating func matchLevels() {
    guard options.matchesLevels, let gains = options.levelMatch?.gains(for: takes) else { return }
    referenceGain = gains[0]
    levelMatchGain = gains[1]
    candidateGain = levelMatchGain
  }

  /// The maximum number of differences that `sentences` describes individually.
  public static let maximumSentenceCount = 12

  /// The equality of the takes in one sentence, or nil if they differ.
  public var verdict: String? {
    let referenceLabel = options.referenceLabel
    let candidateLabel = options.candidateLabel
    switch equality {
    case .identical where differences.isEmpty && notationDifferences.isEmpty:
      return "\(candidateLabel) is identical to \(referenceLabel), sample for sample."
    case .identical:
      return
        "\(candidateLabel) renders identically to \(referenceLabel), but its file is different."
    case .approximate(let residualDecibels, let levelDecibels):
      var exceptions: [String] = []
      if abs(levelDecibels) >= 0.005 {
        exceptions.append(SentenceFormatting.magnitude(levelDecibels, unit: .decibels))
      }
      if let residualDecibels {
        let levelText = SentenceFormatting.number(residualDecibels, places: 0)
        exceptions.append("a residual at \(levelText) dBFS")
      }
      if exceptions.isEmpty {
        return notationDifferences.isEmpty
          ? "\(candidateLabel) is identical to \(referenceLabel)."
          : "\(candidateLabel) feels like \(referenceLabel), but its file is different."
      }
      let exceptionList = exceptions.joined(separator: " and ")
      return "\(candidateLabel) is identical to \(referenceLabel) except for \(exceptionList)."
    case .different:
      return nil
    }
  }

  /// Sentences about adjustments that were made to the takes before the comparison, such as a time
  /// shift, a gain, or the removal of a recording chain's effect.
  public var notes: [String] {
    var notes: [String] = []
    if options.alignment == .start, alignment.delaySeconds != 0 {
      let shiftText =
        SentenceFormatting.magnitude(alignment.delaySeconds, unit: .seconds)
        + (alignment.delaySeconds > 0 ? " earlier" : " later")
      notes.append("\(options.candidateLabel) was shifted \(shiftText) to align the onsets.")
    }
    if let chain = recordingMatch?.playbackAndRecordingChain {
      let recordingLabel =
        reference.composition == nil ? options.referenceLabel : options.candidateLabel
      notes.append(
        chain.matchesProfile
          ? "\(recordingLabel) was compared with the simulated acceleration "
            + "of the profile's transducer."
          : "\(recordingLabel) sounds as if recorded through \(chain.summary); "
            + "its effect was removed."
      )
    }
    guard options.matchesLevels else { return notes }
    let levelMeasureName = options.levelMatch == .loudness ? "loudness" : "weighted energy"
    for (label, gain) in [
      (options.referenceLabel, referenceGain), (options.candidateLabel, levelMatchGain),
    ]
    where gain > 0 && gain < 1 {
      let attenuationText = SentenceFormatting.magnitude(-20 * log10(gain), unit: .decibels)
      notes.append("\(label) was attenuated by \(attenuationText) to match \(levelMeasureName).")
    }
    return notes
  }

  /// The sentences by descending importance: the verdict, the most significant differences, and the
  /// number of the others.
  public var sentences: [String] {
    var sentences = verdict.map { [$0] } ?? []
    sentences += differences.prefix(Self.maximumSentenceCount).map(\.sentence)
    let omittedSentenceCount = differences.count - Self.maximumSentenceCount
    if omittedSentenceCount > 0 {
      sentences.append("And \(omittedSentenceCount) more.")
    }
    return sentences
  }

  /// Sentences about events and changes that the recording is too noisy to show. The array is empty
  /// if nothing is hidden by noise.
  public var limitations: [String] {
    guard let recordingMatch, recordingMatch.outcome == .found else { return [] }
    let patternName = isReferenceRecording ? options.candidateLabel : options.referenceLabel
    var limitations: [String] = []
    let undetectableCount = recordingMatch.eventCount - recordingMatch.detectableEventCount
    if undetectableCount > 0 {
      let verb = undetectableCount == 1 ? "is" : "are"
      limitations.append(
        "\(undetectableCount) of \(patternName)'s \(recordingMatch.eventCount) events \(verb) "
          + "too weak to evaluate in this noise.")
    }
    if let minimumDecibels = recordingMatch.minimumDetectableDecibels,
      let minimumSeconds = recordingMatch.minimumDetectableSeconds
    {
      let minimumChangeTexts = [
        SentenceFormatting.magnitude(minimumDecibels, unit: .decibels),
        SentenceFormatting.magnitude(minimumSeconds, unit: .seconds),
      ]
      limitations.append(
        "Changes below \(minimumChangeTexts[0]) and \(minimumChangeTexts[1]) "
          + "are too small to detect in this recording."
      )
    }
    return limitations
  }
}
