internal import CMath
import HapticModel
internal import HapticRender
import RecordingAnalysis
import SignalAnalysis

extension Comparison {
  /// The minimum level of background noise relative to the peak of the take: −80 dB.
  ///
  /// A quieter background does not count as noise. The level is the RMS value.
  private static let minimumNoiseToPeakRatio = 1e-4
  /// The minimum RMS value of noise: less than the dither of 16 bits.
  private static let minimumNoiseRMS = 4e-6
  /// The maximum cost of an explanation that does not model the playback and recording chain.
  ///
  /// At a higher cost, a model of the chain is more likely.
  private static let maximumCostWithoutChain = 4.0
  /// The minimum complexity of differences for a second analysis of the takes.
  ///
  /// Above it, the takes are also compared as a recording and its reference.
  private static let reanalysisMinimumComplexity = 1.5

  /// Returns a complexity score from the number and kinds of differences.
  ///
  /// Of two explanations, the one with the lower score is preferred.
  private static func explanationComplexity(of differences: [Difference]) -> Double {
    differences.reduce(0) { sum, difference in
      switch difference.kind {
      case .missing, .added, .spectrum: sum + 2.5
      default: sum + (difference.isOverall ? 0.5 : 1)
      }
    }
  }

  /// Compares a sound with a pattern or with another sound.
  ///
  /// Noisy or clipped recordings are compared by the events of the pattern, or by the sounds of the
  /// other recording. Other takes are compared sample by sample, and channel by channel if their
  /// channels differ.
  mutating func compareSounds() {
    let noisiness = Noisiness(reference, candidate)
    if !noisiness.hasNoisyOrClippedTake {
      matchLevels()
      if compareChannelByChannel() { return }
    }
    guard noisiness.mayBeNoisy, noisiness.hasNoisyOrClippedTake || !isEqualWithoutAlignment else {
      compareSignals()
      // Several differences may have a common cause, such as another tempo.
      if Self.explanationComplexity(of: differences) > Self.reanalysisMinimumComplexity {
        compareRecording { $0 < $1 }
      }
      return
    }
    if noisiness.hasNoisyOrClippedTake {
      if !compareRecording(isBetter: { _, _ in true }) {
        matchLevels()
        compareSignals()
      }
      return
    }
    compareSignals()
    if equality == .different {
      compareRecording { $0 < $1 }
    }
  }

  /// The noisiness of two takes, determined from the levels of their backgrounds.
  private struct Noisiness {
    /// A Boolean value that indicates whether a sound has a background of its own.
    var mayBeNoisy = false
    /// A Boolean value that indicates whether a take is a noisy or a clipped recording.
    ///
    /// The background of a noisy recording is noise, and not a part of the sound.
    var hasNoisyOrClippedTake = false

    init(_ reference: Take, _ candidate: Take) {
      let pairs = [(reference, candidate), (candidate, reference)]
      for (take, opposite) in pairs where take.composition == nil {
        let isLonger = take.signal.durationSeconds > 1.1 * opposite.signal.durationSeconds + 0.2
        // A clipped sound that is longer than the pattern is a recording, even if its background is
        // digital silence.
        if opposite.composition != nil, isLonger, ClippedPeaks(take.signal.mono) != nil {
          mayBeNoisy = true
          hasNoisyOrClippedTake = true
          continue
        }
        let (floor, peak) = Self.noiseFloor(of: take.signal)
        guard floor > max(Comparison.minimumNoiseRMS, Comparison.minimumNoiseToPeakRatio * peak)
        else {
          continue
        }
        mayBeNoisy = true
        // A pattern without pauses has a background of its own.
        let (oppositeFloor, oppositePeak) = Self.noiseFloor(of: opposite.signal)
        if oppositeFloor < 1e-3 * oppositePeak || isLonger {
          hasNoisyOrClippedTake = true
        }
      }
    }

    /// Returns the noise floor and the peak of a signal.
    ///
    /// The noise floor is the 10th percentile of the RMS values of 20-ms blocks.
    private static func noiseFloor(of signal: Signal) -> (floor: Double, peak: Double) {
      let samples = signal.mono
      let length = max(1, Int(0.02 * signal.rate))
      // A DC offset is not noise.
      let powers = stride(from: 0, to: samples.count - length + 1, by: length)
        .map { Statistics.variance(of: samples[$0..<$0 + length]) }.sorted()
      guard !powers.isEmpty else { return (0, 0) }
      return (powers[powers.count / 10].squareRoot(), Double(Statistics.peak(of: samples)))
    }
  }

  /// A Boolean value that indicates whether the reference is a recording of the candidate.
  var isReferenceRecording: Bool { reference.composition == nil && candidate.composition != nil }

  /// Returns the pattern or clean sound with its recording.
  ///
  /// Returns nil if no take is a sound, or if the pattern is silent.
  private func recordingPair() -> RecordingPair? {
    let patternTake = isReferenceRecording ? candidate : reference
    let recordingTake = isReferenceRecording ? reference : candidate
    guard recordingTake.composition == nil else { return nil }
    return RecordingPair(
      ReferenceSource(
        composition: patternTake.composition, signal: patternTake.signal,
        profile: patternTake.profile),
      recording: recordingTake.signal)
  }

  /// Compares a recording with its reference, and adopts the result if it is better.
  ///
  /// - Parameter isBetter: Returns whether a complexity is preferable to that of the current
  ///   differences.
  /// - Returns: True if the result was adopted.
  @discardableResult mutating func compareRecording(isBetter: (Double, Double) -> Bool) -> Bool {
    guard let comparedPair = recordingPair() else { return false }
    var recordingResult = RecordingResult(
      comparedPair, searchSeconds: options.searchSeconds, costLimit: Self.maximumCostWithoutChain)
    if !recordingResult.hasOnlyCertainChanges,
      let modeledResult = RecordingResult(
        modelingChainOf: comparedPair, searchSeconds: options.searchSeconds)
    {
      recordingResult =
        modeledResult.isBetter(than: recordingResult) ? modeledResult : recordingResult
    }
    let includesPattern = reference.composition != nil || candidate.composition != nil
    guard recordingResult.match.outcome == .found else {
      guard includesPattern, isBetter(0, 0) else { return false }
      self.recordingMatch = recordingResult.match
      differences = []
      addNotFound(recordingResult.match, pair: comparedPair)
      equality = .different
      return true
    }
    var recordingDifferences = RecordingDifferences(
      recordingResult, pair: comparedPair, isSwapped: isReferenceRecording, options: options
    ).differenceList.differences
    guard
      isBetter(
        Self.explanationComplexity(of: recordingDifferences),
        Self.explanationComplexity(of: differences))
    else {
      return false
    }
    self.recordingMatch = recordingResult.match
    hasRelativeDifferences = true
    let directionSign = isReferenceRecording ? -1.0 : 1
    alignment.delaySeconds = directionSign * recordingResult.match.delaySeconds
    candidateGain =
      pow(10, -directionSign * recordingResult.match.levelDecibels / 20)
      * (recordingResult.match.isInverted ? -1 : 1)
    if options.alignment == .start {
      recordingDifferences.removeAll { $0.kind == .time && $0.isOverall }
    }
    if options.matchesLevels {
      recordingDifferences.removeAll { $0.kind == .level && $0.isOverall }
    }
    differences = recordingDifferences
    compareChannels()
    equality =
      differences.isEmpty ? .approximate(residualDecibels: nil, levelDecibels: 0) : .different
    return true
  }

  /// Adds a difference for a recording in which the reference was not found.
  private mutating func addNotFound(_ match: RecordingMatch, pair: RecordingPair) {
    let takeLabels = [options.candidateLabel, options.referenceLabel]
    let (recordingLabel, patternLabel) =
      isReferenceRecording ? (takeLabels[1], takeLabels[0]) : (takeLabels[0], takeLabels[1])
    if match.outcome == .noisy {
      add(
        Difference(.noise, in: fullTimeRange, isOverall: true, unit: Difference.Unit.none),
        sentence:
          "\(recordingLabel) is too noisy to compare: "
          + "\(patternLabel) is not distinguishable from the noise"
      )
      return
    }
    let searchSecondsText = SentenceFormatting.number(match.searchSeconds, places: 1)
    let exceedsSearchRange = pair.recording.durationSeconds > match.searchSeconds + 0.5
    add(
      Difference(.missing, in: fullTimeRange, isOverall: true, unit: Difference.Unit.none),
      sentence: "\(recordingLabel) does not contain \(patternLabel)"
        + (exceedsSearchRange
          ? " within −1 to \(searchSecondsText) s; trim the start, or increase the search range"
          : ": no position fits") + RecordedOnsets(of: pair, near: nil).detailText)
  }
}

/// The differences between a pattern and its recording.
///
/// Each difference is a change from the comparison's reference to its candidate.
struct RecordingDifferences {
  private let result: RecordingResult
  private let pair: RecordingPair
  /// A Boolean value that indicates whether the reference of the comparison is the recording.
  private let isSwapped: Bool
  private(set) var differenceList: DifferenceList

  /// The minimum overall delay to report, in seconds.
  private static let minimumDelaySeconds = 0.000_2
  /// The minimum overall level to report, in decibels.
  private static let minimumLevelDecibels = 0.1
  /// The minimum overall tempo deviation to report.
  ///
  /// A deviation must exceed a number of standard errors, and a shift over the duration in seconds.
  private static let minimumTempo = (errors: 5.0, seconds: 0.001)

  /// The note for a change of one event in a pattern of only two events.
  ///
  /// If the chain is unknown, the opposite change of the other event is equally likely.
  private static let ambiguityText =
    " (the pattern has only two events, so the other event may have changed instead)"

  init(
    _ result: RecordingResult, pair: RecordingPair, isSwapped: Bool, options: ComparisonOptions
  ) {
    self.result = result
    self.pair = pair
    self.isSwapped = isSwapped
    let patternEvents =
      pair.referenceSource.composition.map(IndexedEvent.events)
      ?? pair.reference.waveforms.map(\.indexedEvent)
    differenceList = DifferenceList(
      candidateNames: EventNames(patternEvents, takeLabel: options.candidateLabel),
      referenceNames: EventNames(patternEvents, takeLabel: options.referenceLabel),
      overallRange: 0...0)
    let firstEventTime = referenceTime(
      at: max(0, pair.reference.waveforms.map(\.eventSeconds).min() ?? 0))
    differenceList.overallRange =
      firstEventTime...max(firstEventTime, referenceTime(at: pair.reference.durationSeconds))
    addOverallDifferences(label: isSwapped ? options.referenceLabel : options.candidateLabel)
    if let noiseDecibels = match.noiseDecibels {
      differenceList.addBackgroundSound(decibels: noiseDecibels, hertz: nil, isReference: isSwapped)
    }
    if let humDecibels = match.humDecibels, let humHertz = match.mainsHertz ?? match.humHertz.first
    {
      // The level of a tone is that of its peak, not its RMS value.
      differenceList.addBackgroundSound(
        decibels: humDecibels + 20 * log10(2.0.squareRoot()), hertz: humHertz,
        isMains: match.mainsHertz != nil,
        isReference: isSwapped)
    }
    for kind in HapticEvent.Kind.allCases {
      for isMissing in [true, false] {
        addUnpairedEvents(of: kind, isMissing: isMissing)
      }
    }
    for change in result.reportedChanges where change.kind != .missing && change.kind != .added {
      add(change)
    }
  }

  private var match: RecordingMatch { result.match }
  /// The sign of a change from the reference to the candidate.
  ///
  /// The sign is -1 if the reference is the recording.
  private var directionSign: Double { isSwapped ? -1 : 1 }

  /// Converts a time in the pattern to a time in the recording, in seconds.
  private func recordingTime(at time: Double) -> Double {
    match.delaySeconds + (1 + match.tempoPercent / 100) * time
  }

  /// Converts a time in the pattern to a time in the comparison's reference, in seconds.
  private func referenceTime(at time: Double) -> Double {
    isSwapped ? max(0, recordingTime(at: time)) : time
  }

  /// Converts a time in the pattern to a time in the comparison's candidate, in seconds.
  private func candidateTime(at time: Double) -> Double {
    max(0, isSwapped ? time : recordingTime(at: time))
  }

  /// Adds the differences of the whole take.
  private mutating func addOverallDifferences(label: String) {
    guard result.allowsEventComparison else {
      differenceList.add(
        Difference(
          residual: result.residualDecibels, in: differenceList.overallRange, isOverall: true),
        sentence:
          "\(label)'s events cannot be evaluated: the recording path is unknown (residual "
          + "\(SentenceFormatting.number(result.residualDecibels, places: 0)) dB)"
          + RecordedOnsets(of: pair, near: match.delaySeconds).detailText)
      return
    }
    // After a transducer or a room, the level and the polarity are those of the sensor.
    let chain = match.playbackAndRecordingChain
    let hasResponse = chain?.hasResponse == true
    if match.isInverted, !hasResponse {
      differenceList.addOverall(.polarity)
    }
    if abs(match.delaySeconds) > Self.minimumDelaySeconds {
      differenceList.addOverall(.time, amount: directionSign * match.delaySeconds)
    }
    if abs(match.levelDecibels) >= Self.minimumLevelDecibels, chain == nil {
      differenceList.addOverall(.level, amount: directionSign * match.levelDecibels)
    }
    guard let tempoErrorPercent = match.tempoErrorPercent else { return }
    let tempoPercent =
      isSwapped ? 100 * (1 / (1 + match.tempoPercent / 100) - 1) : match.tempoPercent
    let eventSpanSeconds =
      pair.reference.durationSeconds - (pair.reference.waveforms.map(\.eventSeconds).min() ?? 0)
    let endShiftSeconds = tempoPercent / 100 * eventSpanSeconds
    let minimumShiftSeconds =
      hasResponse
      ? RecordingModelSelection.minimumReportedChange.seconds : Self.minimumTempo.seconds
    guard abs(tempoPercent) > Self.minimumTempo.errors * tempoErrorPercent,
      abs(endShiftSeconds) >= minimumShiftSeconds
    else { return }
    var tempoDifference = Difference(
      .tempo, in: differenceList.overallRange, isOverall: true, amount: tempoPercent)
    tempoDifference.setMaximumShift(endShiftSeconds)
    tempoDifference.standardError = tempoErrorPercent
    tempoDifference.confidence = abs(tempoPercent) / tempoErrorPercent
    differenceList.add(
      tempoDifference,
      detail: (!result.preservesPitch && abs(tempoPercent) > 0.5 ? " (pitch included)" : "")
        + """
        , \(SentenceFormatting.magnitude(endShiftSeconds, unit: .seconds)) over \
        \(SentenceFormatting.magnitude(eventSpanSeconds, unit: .seconds))
        """
    )
  }

  /// Adds one difference for all missing or all added events of a kind.
  private mutating func addUnpairedEvents(of kind: HapticEvent.Kind, isMissing: Bool) {
    let unpairedChanges = result.reportedChanges.filter {
      $0.kind == (isMissing ? .missing : .added) && $0.indexedEvent.kind == kind
    }.sorted {
      $0.secondsRange.lowerBound < $1.secondsRange.lowerBound
    }
    guard let firstChange = unpairedChanges.first else { return }
    let isMissingInCandidate = isMissing != isSwapped
    let unpairedEvents = unpairedChanges.map { change -> IndexedEvent in
      var event = change.indexedEvent
      event.timeSeconds =
        isMissingInCandidate
        ? referenceTime(at: change.secondsRange.lowerBound)
        : candidateTime(at: change.secondsRange.lowerBound)
      return event
    }
    let startSeconds = max(0, firstChange.secondsRange.lowerBound)
    var unpairedDifference = difference(
      isMissingInCandidate ? .missing : .added,
      in:
        startSeconds...max(
          startSeconds, unpairedChanges.map(\.secondsRange.upperBound).max() ?? startSeconds),
      amount: unpairedChanges.map(\.signedAmount).max() ?? 0,
      isMissing ? unpairedChanges.map(\.indexedEvent.compositionIndex) : [])
    unpairedDifference.confidence = unpairedChanges.map(\.standardErrorsFromZero).min()
    differenceList.add(
      unpairedDifference, of: unpairedEvents,
      detail: unpairedChanges.contains { $0.isAmbiguous } ? Self.ambiguityText : "")
  }

  /// Returns a difference whose time range is in the time of the reference.
  private func difference(
    _ kind: Difference.Kind, in range: ClosedRange<Double>, amount: Double, before: Double? = nil,
    after: Double? = nil,
    _ eventIndices: [Int]
  ) -> Difference {
    let reportedEventIndices = pair.referenceSource.composition == nil ? [] : eventIndices
    let startSeconds = referenceTime(at: range.lowerBound)
    return Difference(
      kind, in: startSeconds...max(startSeconds, referenceTime(at: range.upperBound)),
      amount: amount,
      referenceValue: before,
      candidateValue: after,
      referenceEventIndices: isSwapped ? [] : reportedEventIndices,
      candidateEventIndices: isSwapped ? reportedEventIndices : []
    )
  }

  /// Adds a difference for a change that was found in the recording.
  private mutating func add(_ change: RecordingChange) {
    var changeAmount =
      change.kind == .level || change.kind == .time
      ? directionSign * change.signedAmount : change.signedAmount
    var (before, after) =
      isSwapped
      ? (change.changedValue, change.originalValue) : (change.originalValue, change.changedValue)
    var changedEvent = change.indexedEvent
    changedEvent.timeSeconds = candidateTime(at: change.secondsRange.lowerBound)
    var detailText = ""
    if change.kind == .time {
      let movedTime = recordingTime(at: change.changedValue ?? 0)
      (before, after) =
        isSwapped ? (movedTime, change.indexedEvent.timeSeconds) : (change.originalValue, movedTime)
      changedEvent.timeSeconds = max(0, after ?? 0)
    } else if change.kind == .frequency {
      if isSwapped {
        changeAmount = 100 * (1 / (1 + change.signedAmount / 100) - 1)
      }
      if let before, let after {
        detailText = ": \(SentenceFormatting.frequencies(after, insteadOf: before))"
      }
    }
    var changeDifference = difference(
      Difference.Kind(change.kind), in: change.secondsRange, amount: changeAmount, before: before,
      after: after,
      [change.indexedEvent.compositionIndex])
    changeDifference.confidence = change.standardErrorsFromZero
    changeDifference.standardError = change.amountStandardError
    let isAmbiguousChange =
      change.isAmbiguous || change.kind == .time && pair.reference.waveforms.count == 2
    differenceList.add(
      changeDifference, of: [changedEvent],
      detail: detailText + (isAmbiguousChange ? Self.ambiguityText : ""))
  }
}

extension RecordedOnsets {
  /// A clause that states how many onsets of the recording match the pattern.
  ///
  /// An example is `; 4 of 5 onsets are within 6 ms of their times, but none at 1.2 s`. The clause
  /// is empty if too few onsets match.
  fileprivate var detailText: String {
    guard showsPattern else { return "" }
    let tolerance = SentenceFormatting.magnitude(Self.toleranceSeconds, unit: .seconds)
    let times = unmatchedSeconds.prefix(3).map(SentenceFormatting.time)
    let moreText = unmatchedSeconds.count > times.count ? ", and others" : ""
    return "; \(matchedCount) of \(expectedCount) onsets are within \(tolerance) of their times"
      + (times.isEmpty
        ? "" : ", but none at \(times.joined(separator: ", "))\(moreText)")
  }
}

extension Difference.Kind {
  /// Creates a difference kind from the kind of a change in a recording.
  fileprivate init(_ kind: RecordingChange.Kind) {
    self =
      switch kind {
      case .level: .level
      case .time: .time
      case .frequency: .frequency
      case .spectrum: .spectrum
      case .missing: .missing
      case .added: .added
      }
  }
}
