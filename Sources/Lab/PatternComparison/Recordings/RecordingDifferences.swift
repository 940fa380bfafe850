internal import CMath
import HapticModel
internal import HapticRender
import SignalAnalysis

extension Comparison {
  /// The share of its peak above which what is there all the time is noise: −80 dB.
  private static let noisyShare = 1e-4
  /// The RMS value below which nothing is noise: less than the dither of 16 bits.
  private static let leastNoise = 4e-6
  /// So much to say is less likely than that a recording was made through something.
  private static let fewDifferences = 4.0
  /// From so much to say on, another explanation is looked for.
  private static let manyDifferences = 1.5

  private static func weight(_ differences: [Difference]) -> Double {
    differences.reduce(0) { sum, difference in
      switch difference.kind {
      case .missing, .added, .spectrum: sum + 2.5
      default: sum + (difference.isThroughout ? 0.5 : 1)
      }
    }
  }

  /// Compares takes of which one at least is a sound: by the events of a pattern, or by the sounds
  /// of a recording, where there is noise; sample by sample where there is none.
  mutating func compareSounds() {
    let noise = Noisiness(reference, other)
    guard noise.isPossible, noise.isCertain || !isEqualAsItIs else {
      compareSignals()
      // Several differences may have one cause, such as another tempo.
      if Self.weight(differences) > Self.manyDifferences {
        compareRecording { $0 < $1 }
      }
      return
    }
    if noise.isCertain {
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
    var isPossible = false
    var isCertain = false

    init(_ reference: Take, _ other: Take) {
      for (take, opposite) in [(reference, other), (other, reference)] where take.composition == nil
      {
        let (floor, peak) = Self.floor(of: take.signal)
        guard floor > max(Comparison.leastNoise, Comparison.noisyShare * peak) else { continue }
        isPossible = true
        // A pattern that never pauses has a floor of its own.
        let (own, ownPeak) = Self.floor(of: opposite.signal)
        let isLonger = take.signal.duration > 1.1 * opposite.signal.duration + 0.2
        if own < 1e-3 * ownPeak || isLonger {
          isCertain = true
        }
      }
    }

    /// The RMS value that nine of ten blocks of 20 ms exceed, and the peak.
    private static func floor(of signal: Signal) -> (floor: Double, peak: Double) {
      let samples = signal.mono
      let length = max(1, Int(0.02 * signal.rate))
      // An offset is not noise.
      let powers = stride(from: 0, to: samples.count - length + 1, by: length)
        .map { SignalPair.powerWithoutOffset(samples[$0..<$0 + length]) }.sorted()
      guard !powers.isEmpty else { return (0, 0) }
      return (powers[powers.count / 10].squareRoot(), Double(SignalPair.peak(samples)))
    }
  }

  /// Holds a recording against its reference, and takes over what that finds if it is better.
  ///
  /// - Parameter isBetter: Compares how much there is to say with what there was before.
  @discardableResult mutating func compareRecording(isBetter: (Double, Double) -> Bool) -> Bool {
    guard let sides = RecordingSides(reference, other) else { return false }
    var result = RecordingResult(sides, search: options.search, limit: Self.fewDifferences)
    if !result.isClear, let heard = RecordingResult(behindHardware: sides, search: options.search) {
      result = heard.isBetter(than: result) ? heard : result
    }
    let isPattern = reference.composition != nil || other.composition != nil
    guard result.match.outcome == .found else {
      guard isPattern, isBetter(0, 0) else { return false }
      self.recording = result.match
      differences = []
      addNotFound(result.match, sides)
      equality = .different
      return true
    }
    var found = RecordingDifferences(result, sides: sides, options: options).found.list
    guard isBetter(Self.weight(found), Self.weight(differences)) else { return false }
    self.recording = result.match
    isRelativeToWhole = true
    let direction = sides.isMirrored ? -1.0 : 1
    alignment.seconds = direction * result.match.delay
    otherGain = pow(10, -direction * result.match.level / 20) * (result.match.isInverted ? -1 : 1)
    if options.alignment == .start {
      found.removeAll { $0.kind == .time && $0.isThroughout }
    }
    if options.matchesLevels {
      found.removeAll { $0.kind == .level && $0.isThroughout }
    }
    differences = found
    compareChannels()
    equality = differences.isEmpty ? .within(noise: nil, decibels: 0) : .different
    return true
  }

  private mutating func addNotFound(_ match: RecordingMatch, _ sides: RecordingSides) {
    let labels = [options.otherLabel, options.referenceLabel]
    let (recording, pattern) = sides.isMirrored ? (labels[1], labels[0]) : (labels[0], labels[1])
    if match.outcome == .noisy {
      add(
        Difference(.noise, in: everything, isThroughout: true, unit: Difference.Unit.none),
        saying:
          "\(recording) is too noisy to compare: nothing of \(pattern) stands out of its noise")
      return
    }
    let search = SentenceFormatting.number(match.search, places: 1)
    let isLonger = sides.recording.signal.duration > match.search + 0.5
    add(
      Difference(.missing, in: everything, isThroughout: true, unit: Difference.Unit.none),
      saying: "\(recording) does not contain \(pattern)"
        + (isLonger
          ? " within −1 to \(search) s; cut the lead-in, or search further" : ": no place fits"))
  }
}

struct RecordingSides {
  let reference: RecordingReference
  let (pattern, recording): (Take, Take)
  let recorded: LowRateSignal
  let isMirrored: Bool

  init?(_ reference: Take, _ other: Take) {
    isMirrored = reference.composition == nil && other.composition != nil
    (pattern, recording) = isMirrored ? (other, reference) : (reference, other)
    guard recording.composition == nil else { return nil }
    recorded = LowRateSignal(of: recording.signal.mono, rate: recording.signal.rate)
    let low = LowRateSignal(of: pattern.signal.mono, rate: pattern.signal.rate)
    let blocks = stride(from: 0, to: low.samples.count - 79, by: 80).map {
      Samples.energy(low.samples, $0..<$0 + 80) / 80
    }.sorted()
    let noise = blocks.isEmpty ? 0 : blocks[blocks.count / 10]
    let loudest = blocks.last ?? 0
    let built =
      RecordingReference(pattern)
      ?? RecordingReference(low, noise: noise < 0.01 * loudest ? noise : 0)
    guard !built.stems.isEmpty else { return nil }
    self.reference = built
  }
}

struct RecordingDifferences {
  private let result: RecordingResult
  private let sides: RecordingSides
  private(set) var found: FoundDifferences

  /// The least seconds and decibels of the whole that are reported.
  private static let leastDelay = 0.000_2
  private static let leastLevel = 0.1
  /// How many standard errors another tempo is away from none, and the least shift it makes.
  private static let leastTempo = (errors: 5.0, seconds: 0.001)

  /// Behind hardware, a change of one of two events is the opposite change of the other as well.
  private static let either = " (of two events, it may be the other that changed)"

  init(_ result: RecordingResult, sides: RecordingSides, options: ComparisonOptions) {
    self.result = result
    self.sides = sides
    let events =
      sides.pattern.composition.map(ListedEvent.list) ?? sides.reference.stems.map(\.event)
    found = FoundDifferences(
      names: EventNames(events, owner: options.otherLabel),
      referenceNames: EventNames(events, owner: options.referenceLabel), whole: 0...0)
    let start = referenceTime(max(0, sides.reference.stems.map(\.time).min() ?? 0))
    found.whole = start...max(start, referenceTime(sides.reference.duration))
    addWhole(of: sides.isMirrored ? options.referenceLabel : options.otherLabel)
    if let noise = match.noise {
      found.add(background: noise, hertz: nil, isReference: sides.isMirrored)
    }
    if let hum = match.hum, let hertz = match.mains ?? match.lines.first {
      // A tone's level is its amplitude's.
      found.add(
        background: hum + 20 * log10(2.0.squareRoot()), hertz: hertz, isMains: match.mains != nil,
        isReference: sides.isMirrored)
    }
    for kind in HapticEvent.Kind.allCases {
      for isMissing in [true, false] {
        addPresence(of: kind, isMissing)
      }
    }
    for change in result.told where change.kind != .missing && change.kind != .added {
      add(change)
    }
  }

  private var match: RecordingMatch { result.match }
  /// 1 where the recording is the other take; else −1.
  private var direction: Double { sides.isMirrored ? -1 : 1 }

  private func recorded(_ time: Double) -> Double { match.delay + (1 + match.tempo / 100) * time }

  /// A time of what was looked for, as one of the comparison's reference.
  private func referenceTime(_ time: Double) -> Double {
    sides.isMirrored ? max(0, recorded(time)) : time
  }

  /// A time of what was looked for, as one of the other take's file.
  private func otherTime(_ time: Double) -> Double {
    max(0, sides.isMirrored ? time : recorded(time))
  }

  private mutating func addWhole(of label: String) {
    guard result.isJudged else {
      found.add(
        Difference(residual: result.unexplained, in: found.whole, isThroughout: true),
        saying:
          "\(label)'s events cannot be judged: what it was recorded through is not known (residual "
          + "\(SentenceFormatting.number(result.unexplained, places: 0)) dB)")
      return
    }
    // Of what a sensor shows, level and polarity are the sensor's.
    let isWire = match.medium == nil
    if match.isInverted, isWire {
      found.add(whole: .polarity)
    }
    if abs(match.delay) > Self.leastDelay {
      found.add(whole: .time, direction * match.delay)
    }
    if abs(match.level) >= Self.leastLevel, isWire {
      found.add(whole: .level, direction * match.level)
    }
    guard let error = match.tempoError else { return }
    let tempo = sides.isMirrored ? 100 * (1 / (1 + match.tempo / 100) - 1) : match.tempo
    let span = sides.reference.duration - (sides.reference.stems.map(\.time).min() ?? 0)
    let shift = tempo / 100 * span
    let least = match.medium == nil ? Self.leastTempo.seconds : RecordingJudge.least.seconds
    guard abs(tempo) > Self.leastTempo.errors * error, abs(shift) >= least else { return }
    var difference = Difference(.tempo, in: found.whole, isThroughout: true, amount: tempo)
    difference.setLargestShift(shift)
    difference.standardError = error
    difference.confidence = abs(tempo) / error
    found.add(
      difference,
      detail: (!result.isPitchKept && abs(tempo) > 0.5 ? " (pitch included)" : "")
        + """
        , \(SentenceFormatting.size(shift, .seconds)) over \
        \(SentenceFormatting.size(span, .seconds))
        """
    )
  }

  private mutating func addPresence(of kind: HapticEvent.Kind, _ isMissing: Bool) {
    let changes = result.told.filter {
      $0.kind == (isMissing ? .missing : .added) && $0.event.kind == kind
    }.sorted {
      $0.range.lowerBound < $1.range.lowerBound
    }
    guard let first = changes.first else { return }
    let isLacking = isMissing != sides.isMirrored
    let events = changes.map { change -> ListedEvent in
      var event = change.event
      event.time =
        isLacking ? referenceTime(change.range.lowerBound) : otherTime(change.range.lowerBound)
      return event
    }
    let start = max(0, first.range.lowerBound)
    var difference = difference(
      isLacking ? .missing : .added,
      in: start...max(start, changes.map(\.range.upperBound).max() ?? start),
      amount: changes.map(\.amount).max() ?? 0, isMissing ? changes.map(\.event.index) : [])
    difference.confidence = changes.map(\.confidence).min()
    found.add(difference, of: events, detail: changes.contains { $0.isOfEither } ? Self.either : "")
  }

  private func difference(
    _ kind: Difference.Kind, in range: ClosedRange<Double>, amount: Double, before: Double? = nil,
    after: Double? = nil,
    _ events: [Int]
  ) -> Difference {
    let indices = sides.pattern.composition == nil ? [] : events
    let start = referenceTime(range.lowerBound)
    return Difference(
      kind, in: start...max(start, referenceTime(range.upperBound)), amount: amount, before: before,
      after: after,
      referenceEvents: sides.isMirrored ? [] : indices, otherEvents: sides.isMirrored ? indices : []
    )
  }

  private mutating func add(_ change: RecordingChange) {
    var amount =
      change.kind == .level || change.kind == .time ? direction * change.amount : change.amount
    var (before, after) =
      sides.isMirrored ? (change.after, change.before) : (change.before, change.after)
    var event = change.event
    event.time = otherTime(change.range.lowerBound)
    var detail = ""
    if change.kind == .time {
      let moved = recorded(change.after ?? 0)
      (before, after) = sides.isMirrored ? (moved, change.event.time) : (change.before, moved)
      event.time = max(0, after ?? 0)
    } else if change.kind == .frequency {
      if sides.isMirrored {
        amount = 100 * (1 / (1 + change.amount / 100) - 1)
      }
      if let before, let after {
        detail = ": \(SentenceFormatting.hertz(after, insteadOf: before))"
      }
    }
    var difference = difference(
      change.kind, in: change.range, amount: amount, before: before, after: after,
      [change.event.index])
    difference.confidence = change.confidence
    difference.standardError = change.standardError
    let isOfEither = change.isOfEither || change.kind == .time && sides.reference.stems.count == 2
    found.add(difference, of: [event], detail: detail + (isOfEither ? Self.either : ""))
  }
}
