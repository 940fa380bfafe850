internal import CMath
import HapticModel
internal import HapticRender
import SignalAnalysis

extension Comparison {
  /// The share of its peak above which what is there all the time is noise: −80 dB.
  private static let minimumNoiseRatio = 1e-4
  /// The RMS value below which nothing is noise: less than the dither of 16 bits.
  private static let minimumNoiseRMS = 4e-6
  /// So much to say is less likely than that a recording was made through something.
  private static let maximumDirectCost = 4.0
  /// From so much to say on, another explanation is looked for.
  private static let reanalysisThreshold = 1.5

  private static func complexity(of differences: [Difference]) -> Double {
    differences.reduce(0) { sum, difference in
      switch difference.kind {
      case .missing, .added, .spectrum: sum + 2.5
      default: sum + (difference.isOverall ? 0.5 : 1)
      }
    }
  }

  /// Compares takes of which one at least is a sound: by the events of a pattern, or by the sounds
  /// of a recording, where there is noise; sample by sample where there is none.
  mutating func compareSounds() {
    let noise = Noisiness(reference, candidate)
    guard noise.mayBeNoisy, noise.isNoisy || !isEqualUnaligned else {
      compareSignals()
      // Several differences may have one cause, such as another tempo.
      if Self.complexity(of: differences) > Self.reanalysisThreshold {
        compareRecording { $0 < $1 }
      }
      return
    }
    if noise.isNoisy {
      if !compareRecording(isBetter: { _, _ in true }) {
        compareSignals()
      }
      return
    }
    compareSignals()
    if equality == .different {
      compareRecording { $0 < $1 }
    }
  }

  /// How sure it is that one of two takes has noise under all of it.
  private struct Noisiness {
    var mayBeNoisy = false
    var isNoisy = false

    init(_ reference: Take, _ other: Take) {
      for (take, opposite) in [(reference, other), (other, reference)] where take.composition == nil
      {
        let (floor, peak) = Self.noiseFloor(of: take.signal)
        guard floor > max(Comparison.minimumNoiseRMS, Comparison.minimumNoiseRatio * peak) else {
          continue
        }
        mayBeNoisy = true
        // A pattern that never pauses has a floor of its own.
        let (own, ownPeak) = Self.noiseFloor(of: opposite.signal)
        let isLonger = take.signal.duration > 1.1 * opposite.signal.duration + 0.2
        if own < 1e-3 * ownPeak || isLonger {
          isNoisy = true
        }
      }
    }

    /// The RMS value that nine of ten blocks of 20 ms exceed, and the peak.
    private static func noiseFloor(of signal: Signal) -> (floor: Double, peak: Double) {
      let samples = signal.mono
      let length = max(1, Int(0.02 * signal.rate))
      // An offset is not noise.
      let powers = stride(from: 0, to: samples.count - length + 1, by: length)
        .map { SignalPair.variance(of: samples[$0..<$0 + length]) }.sorted()
      guard !powers.isEmpty else { return (0, 0) }
      return (powers[powers.count / 10].squareRoot(), Double(SignalPair.peak(samples)))
    }
  }

  /// Holds a recording against its reference, and takes over what that finds if it is better.
  ///
  /// - Parameter isBetter: Compares how much there is to say with what there was before.
  @discardableResult mutating func compareRecording(isBetter: (Double, Double) -> Bool) -> Bool {
    guard let sides = RecordingPair(reference, candidate) else { return false }
    var result = RecordingResult(
      sides, searchSeconds: options.searchSeconds, costLimit: Self.maximumDirectCost)
    if !result.isConclusive,
      let heard = RecordingResult(modelingChainOf: sides, searchSeconds: options.searchSeconds)
    {
      result = heard.isBetter(than: result) ? heard : result
    }
    let isPattern = reference.composition != nil || candidate.composition != nil
    guard result.match.outcome == .found else {
      guard isPattern, isBetter(0, 0) else { return false }
      self.recordingMatch = result.match
      differences = []
      addNotFound(result.match, sides)
      equality = .different
      return true
    }
    var found = RecordingDifferences(result, sides: sides, options: options).differences.differences
    guard isBetter(Self.complexity(of: found), Self.complexity(of: differences)) else {
      return false
    }
    self.recordingMatch = result.match
    isRelativeToOverall = true
    let direction = sides.isSwapped ? -1.0 : 1
    alignment.seconds = direction * result.match.delaySeconds
    candidateGain =
      pow(10, -direction * result.match.levelDecibels / 20) * (result.match.isInverted ? -1 : 1)
    if options.alignment == .start {
      found.removeAll { $0.kind == .time && $0.isOverall }
    }
    if options.matchesLevels {
      found.removeAll { $0.kind == .level && $0.isOverall }
    }
    differences = found
    compareChannels()
    equality =
      differences.isEmpty ? .approximate(residualDecibels: nil, levelDecibels: 0) : .different
    return true
  }

  private mutating func addNotFound(_ match: RecordingMatch, _ sides: RecordingPair) {
    let labels = [options.candidateLabel, options.referenceLabel]
    let (recording, pattern) = sides.isSwapped ? (labels[1], labels[0]) : (labels[0], labels[1])
    if match.outcome == .noisy {
      add(
        Difference(.noise, in: fullRange, isOverall: true, unit: Difference.Unit.none),
        sentence:
          "\(recording) is too noisy to compare: nothing of \(pattern) stands out of its noise")
      return
    }
    let search = SentenceFormatting.number(match.searchSeconds, places: 1)
    let isLonger = sides.recording.signal.duration > match.searchSeconds + 0.5
    add(
      Difference(.missing, in: fullRange, isOverall: true, unit: Difference.Unit.none),
      sentence: "\(recording) does not contain \(pattern)"
        + (isLonger
          ? " within −1 to \(search) s; cut the lead-in, or search further" : ": no place fits"))
  }
}

struct RecordingPair {
  let reference: RecordingReference
  let (pattern, recording): (Take, Take)
  let lowRateRecording: LowRateSignal
  let isSwapped: Bool

  init?(_ reference: Take, _ other: Take) {
    isSwapped = reference.composition == nil && other.composition != nil
    (pattern, recording) = isSwapped ? (other, reference) : (reference, other)
    guard recording.composition == nil else { return nil }
    lowRateRecording = LowRateSignal(of: recording.signal.mono, rate: recording.signal.rate)
    let low = LowRateSignal(of: pattern.signal.mono, rate: pattern.signal.rate)
    let blocks = stride(from: 0, to: low.samples.count - 79, by: 80).map {
      Samples.energy(low.samples, $0..<$0 + 80) / 80
    }.sorted()
    let noise = blocks.isEmpty ? 0 : blocks[blocks.count / 10]
    let loudest = blocks.last ?? 0
    let built =
      RecordingReference(pattern)
      ?? RecordingReference(low, noise: noise < 0.01 * loudest ? noise : 0)
    guard !built.waveforms.isEmpty else { return nil }
    self.reference = built
  }
}

struct RecordingDifferences {
  private let result: RecordingResult
  private let pair: RecordingPair
  private(set) var differences: DifferenceList

  /// The least seconds and decibels of the whole that are reported.
  private static let minimumDelay = 0.000_2
  private static let minimumLevel = 0.1
  /// How many standard errors another tempo is away from none, and the least shift it makes.
  private static let minimumTempo = (errors: 5.0, seconds: 0.001)

  /// Behind hardware, a change of one of two events is the opposite change of the other as well.
  private static let ambiguityText = " (of two events, it may be the other that changed)"

  init(_ result: RecordingResult, sides: RecordingPair, options: ComparisonOptions) {
    self.result = result
    self.pair = sides
    let events =
      sides.pattern.composition.map(IndexedEvent.events) ?? sides.reference.waveforms.map(\.event)
    differences = DifferenceList(
      candidateNames: EventNames(events, owner: options.candidateLabel),
      referenceNames: EventNames(events, owner: options.referenceLabel), overallRange: 0...0)
    let start = referenceTime(at: max(0, sides.reference.waveforms.map(\.time).min() ?? 0))
    differences.overallRange = start...max(start, referenceTime(at: sides.reference.duration))
    addOverallDifferences(label: sides.isSwapped ? options.referenceLabel : options.candidateLabel)
    if let noise = match.noiseDecibels {
      differences.addBackground(decibels: noise, hertz: nil, isReference: sides.isSwapped)
    }
    if let hum = match.humDecibels, let hertz = match.mainsFrequency ?? match.humFrequencies.first {
      // A tone's level is its amplitude's.
      differences.addBackground(
        decibels: hum + 20 * log10(2.0.squareRoot()), hertz: hertz,
        isMains: match.mainsFrequency != nil,
        isReference: sides.isSwapped)
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
  /// 1 where the recording is the other take; else −1.
  private var directionSign: Double { pair.isSwapped ? -1 : 1 }

  private func recordingTime(at time: Double) -> Double {
    match.delaySeconds + (1 + match.tempoPercent / 100) * time
  }

  /// A time of what was looked for, as one of the comparison's reference.
  private func referenceTime(at time: Double) -> Double {
    pair.isSwapped ? max(0, recordingTime(at: time)) : time
  }

  /// A time of what was looked for, as one of the other take's file.
  private func candidateTime(at time: Double) -> Double {
    max(0, pair.isSwapped ? time : recordingTime(at: time))
  }

  private mutating func addOverallDifferences(label: String) {
    guard result.isReliable else {
      differences.add(
        Difference(
          residual: result.residualDecibels, in: differences.overallRange, isOverall: true),
        sentence:
          "\(label)'s events cannot be judged: what it was recorded through is not known (residual "
          + "\(SentenceFormatting.number(result.residualDecibels, places: 0)) dB)")
      return
    }
    // Of what a sensor shows, level and polarity are the sensor's.
    let isWire = match.chain == nil
    if match.isInverted, isWire {
      differences.addOverall(.polarity)
    }
    if abs(match.delaySeconds) > Self.minimumDelay {
      differences.addOverall(.time, amount: directionSign * match.delaySeconds)
    }
    if abs(match.levelDecibels) >= Self.minimumLevel, isWire {
      differences.addOverall(.level, amount: directionSign * match.levelDecibels)
    }
    guard let error = match.tempoErrorPercent else { return }
    let tempo = pair.isSwapped ? 100 * (1 / (1 + match.tempoPercent / 100) - 1) : match.tempoPercent
    let span = pair.reference.duration - (pair.reference.waveforms.map(\.time).min() ?? 0)
    let shift = tempo / 100 * span
    let least =
      match.chain == nil ? Self.minimumTempo.seconds : RecordingModelSelection.minimumChange.seconds
    guard abs(tempo) > Self.minimumTempo.errors * error, abs(shift) >= least else { return }
    var difference = Difference(
      .tempo, in: differences.overallRange, isOverall: true, amount: tempo)
    difference.setMaximumShift(shift)
    difference.standardError = error
    difference.confidence = abs(tempo) / error
    differences.add(
      difference,
      detail: (!result.preservesPitch && abs(tempo) > 0.5 ? " (pitch included)" : "")
        + """
        , \(SentenceFormatting.magnitude(shift, unit: .seconds)) over \
        \(SentenceFormatting.magnitude(span, unit: .seconds))
        """
    )
  }

  private mutating func addUnpairedEvents(of kind: HapticEvent.Kind, isMissing: Bool) {
    let changes = result.reportedChanges.filter {
      $0.kind == (isMissing ? .missing : .added) && $0.event.kind == kind
    }.sorted {
      $0.range.lowerBound < $1.range.lowerBound
    }
    guard let first = changes.first else { return }
    let isLacking = isMissing != pair.isSwapped
    let events = changes.map { change -> IndexedEvent in
      var event = change.event
      event.time =
        isLacking
        ? referenceTime(at: change.range.lowerBound) : candidateTime(at: change.range.lowerBound)
      return event
    }
    let start = max(0, first.range.lowerBound)
    var difference = difference(
      isLacking ? .missing : .added,
      in: start...max(start, changes.map(\.range.upperBound).max() ?? start),
      amount: changes.map(\.amount).max() ?? 0, isMissing ? changes.map(\.event.index) : [])
    difference.confidence = changes.map(\.confidence).min()
    differences.add(
      difference, of: events, detail: changes.contains { $0.isAmbiguous } ? Self.ambiguityText : "")
  }

  private func difference(
    _ kind: Difference.Kind, in range: ClosedRange<Double>, amount: Double, before: Double? = nil,
    after: Double? = nil,
    _ events: [Int]
  ) -> Difference {
    let indices = pair.pattern.composition == nil ? [] : events
    let start = referenceTime(at: range.lowerBound)
    return Difference(
      kind, in: start...max(start, referenceTime(at: range.upperBound)), amount: amount,
      before: before,
      after: after,
      referenceEvents: pair.isSwapped ? [] : indices, candidateEvents: pair.isSwapped ? indices : []
    )
  }

  private mutating func add(_ change: RecordingChange) {
    var amount =
      change.kind == .level || change.kind == .time ? directionSign * change.amount : change.amount
    var (before, after) =
      pair.isSwapped ? (change.after, change.before) : (change.before, change.after)
    var event = change.event
    event.time = candidateTime(at: change.range.lowerBound)
    var detail = ""
    if change.kind == .time {
      let moved = recordingTime(at: change.after ?? 0)
      (before, after) = pair.isSwapped ? (moved, change.event.time) : (change.before, moved)
      event.time = max(0, after ?? 0)
    } else if change.kind == .frequency {
      if pair.isSwapped {
        amount = 100 * (1 / (1 + change.amount / 100) - 1)
      }
      if let before, let after {
        detail = ": \(SentenceFormatting.frequencies(after, insteadOf: before))"
      }
    }
    var difference = difference(
      change.kind, in: change.range, amount: amount, before: before, after: after,
      [change.event.index])
    difference.confidence = change.confidence
    difference.standardError = change.standardError
    let isOfEither =
      change.isAmbiguous || change.kind == .time && pair.reference.waveforms.count == 2
    differences.add(
      difference, of: [event], detail: detail + (isOfEither ? Self.ambiguityText : ""))
  }
}
