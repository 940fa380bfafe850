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
  /// The overall time shift of the candidate, which was removed before the comparison.
  public internal(set) var alignment = TakeAlignment()
  /// The gain of the reference during the comparison of the waveforms.
  public internal(set) var referenceGain = 1.0
  /// The gain of the candidate during the comparison of the waveforms.
  ///
  /// The gain is negative if the candidate's polarity was inverted.
  public internal(set) var candidateGain = 1.0
  /// The gain that matches the candidate's level to the reference's level.
  ///
  /// `options.levelMatch` selects the measure of the level.
  public internal(set) var levelMatchGain = 1.0
  /// The equality of the takes, with or without a negligible residual.
  public internal(set) var equality = Equality.different
  /// The differences between the takes, by descending significance.
  ///
  /// Differences of the whole take precede all others.
  public internal(set) var differences: [Difference] = []
  /// Sentences about differences in notation between two patterns that feel alike.
  ///
  /// These differences have no levels and frequencies, and never count against a tolerance.
  public internal(set) var notationDifferences: [String] = []
  /// The result of the search for the reference in a recording.
  ///
  /// The value is nil if no recording was compared event by event.
  public internal(set) var recordingMatch: RecordingMatch?
  /// A Boolean value that indicates whether differences of single sounds are relative.
  ///
  /// A relative level or time difference excludes the overall difference.
  var hasRelativeDifferences = false
  /// The measurements of the reference and of the candidate.
  public let measurements: [TakeMeasurements]

  /// The equality of two takes: identical, approximately equal, or different.
  public enum Equality: Equatable, Sendable {
    /// The takes are identical: all samples are equal.
    case identical
    /// The takes differ only by a negligible residual and a negligible level change.
    ///
    /// The residual is in dBFS, and the level change in decibels.
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

  /// Removes the overall difference of a kind from `differences`, and returns its amount.
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

  /// Sentences about adjustments of the takes before the comparison.
  ///
  /// An adjustment is a time shift, a gain, or the removal of a recording chain's effect.
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

  /// The sentences that describe the comparison, by descending importance.
  ///
  /// They are the verdict, the most significant differences, and the number of the others.
  public var sentences: [String] {
    var sentences = verdict.map { [$0] } ?? []
    sentences += differences.prefix(Self.maximumSentenceCount).map(\.sentence)
    let omittedSentenceCount = differences.count - Self.maximumSentenceCount
    if omittedSentenceCount > 0 {
      sentences.append("And \(omittedSentenceCount) more.")
    }
    return sentences
  }

  /// Sentences about events and changes that noise in the recording hides.
  ///
  /// The array is empty if noise hides nothing.
  public var limitations: [String] {
    guard let recordingMatch, recordingMatch.outcome == .found else { return [] }
    let patternName = isReferenceRecording ? options.candidateLabel : options.referenceLabel
    var limitations: [String] = []
    let undetectableCount = recordingMatch.eventCount - recordingMatch.detectableEventCount
    if undetectableCount > 0 {
      let verb = undetectableCount == 1 ? "is" : "are"
      limitations.append(
        "\(undetectableCount) of \(patternName)'s \(recordingMatch.eventCount) events \(verb) "
          + "too weak to evaluate in this recording.")
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
