internal import CMath
import HapticModel

/// What a recording has otherwise than its reference, in words.
struct RecordingDifferences {
  let result: RecordingResult
  let sides: RecordingSides
  let options: ComparisonOptions
  private(set) var found: [Difference] = []

  private let names: EventNames
  private let referenceNames: EventNames

  /// The least shift of the whole that is reported, in seconds.
  private static let leastDelay = 0.000_2
  /// The least difference of level of the whole, in decibels.
  private static let leastLevel = 0.1
  /// How many standard errors another tempo is away from none, and the least shift it makes.
  private static let leastTempo = (errors: 5.0, seconds: 0.001)

  init(_ result: RecordingResult, sides: RecordingSides, options: ComparisonOptions) {
    self.result = result
    self.sides = sides
    self.options = options
    let events = sides.pattern.composition.map(ListedEvent.list) ?? sides.reference.stems.map(\.event)
    names = EventNames(events, owner: options.otherLabel)
    referenceNames = EventNames(events, owner: options.referenceLabel)
  }

  private var match: RecordingMatch { result.match }
  private var label: String { options.otherLabel }
  /// The label of the take that is a recording.
  private var recording: String { sides.isMirrored ? options.referenceLabel : options.otherLabel }
  /// 1 where the recording is the other take; else −1.
  private var direction: Double { sides.isMirrored ? -1 : 1 }

  /// A time of what was looked for, as a time of the recording.
  private func recorded(_ time: Double) -> Double { match.delay + (1 + match.tempo / 100) * time }

  /// A time of what was looked for, as one of the comparison's reference.
  private func referenceTime(_ time: Double) -> Double { sides.isMirrored ? max(0, recorded(time)) : time }

  /// A time of what was looked for, as one of the other take's file.
  private func otherTime(_ time: Double) -> Double { sides.isMirrored ? time : recorded(time) }

  private var whole: ClosedRange<Double> {
    let start = referenceTime(max(0, sides.reference.stems.map(\.time).min() ?? 0))
    return start...max(start, referenceTime(sides.reference.duration))
  }

  mutating func addAll() {
    addWhole()
    addNoise()
    addPresence()
    for change in result.changes {
      switch change.kind {
      case .level: addLevel(change)
      case .time: addTime(change)
      case .frequency: addFrequency(change)
      case .spectrum: addOther(change)
      default: break
      }
    }
  }

  private mutating func addWhole() {
    if match.isInverted {
      found.append(
        Difference(
          .polarity, in: whole, isThroughout: true, amount: 0, unit: .none, significance: 0,
          sentence: "\(label)'s polarity is inverted."))
    }
    let delay = direction * match.delay
    if abs(delay) > Self.leastDelay {
      found.append(
        Difference(
          .time, in: whole, isThroughout: true, amount: delay, unit: .seconds,
          sentence: "\(label) as a whole comes \(SentenceFormatting.shift(delay))."))
    }
    let level = direction * match.level
    if abs(level) >= Self.leastLevel {
      found.append(
        Difference(
          .level, in: whole, isThroughout: true, amount: level, unit: .decibels,
          sentence: "\(label) is \(SentenceFormatting.strength(level)) throughout."))
    }
    addTempo()
  }

  private mutating func addTempo() {
    guard let error = match.tempoError else { return }
    let tempo = sides.isMirrored ? 100 * (1 / (1 + match.tempo / 100) - 1) : match.tempo
    let first = sides.reference.stems.map(\.time).min() ?? 0
    let span = sides.reference.duration - first
    let shift = tempo / 100 * span
    guard abs(tempo) > Self.leastTempo.errors * error, abs(shift) >= Self.leastTempo.seconds else { return }
    var words = "\(label) runs \(SentenceFormatting.percent(tempo)) "
    words += tempo > 0 ? "slower" : "faster"
    if abs(tempo) < 0.095 {
      words = "\(label) runs \(SentenceFormatting.number(abs(tempo), places: 3)) % " + (tempo > 0 ? "slower" : "faster")
    }
    if !result.isPitchKept, abs(tempo) > 0.5 { words += ", its pitch with it" }
    words += ": \(SentenceFormatting.span(shift)) over \(SentenceFormatting.span(span))."
    var difference = Difference(
      .tempo, in: whole, isThroughout: true, amount: tempo, unit: .percent,
      significance: JustNoticeableDifference.tempo(percent: tempo, shift: shift), sentence: words)
    difference.largestShift = shift
    difference.standardError = error
    difference.confidence = abs(tempo) / error
    found.append(difference)
  }

  private mutating func addNoise() {
    if let noise = match.noise {
      addNoise("noise at \(SentenceFormatting.number(noise, places: 0)) dBFS", noise, hertz: nil)
    }
    guard let hum = match.hum, let hertz = match.mains ?? match.lines.first else { return }
    // A tone's level is its amplitude's.
    let amplitude = hum + 20 * log10(2.0.squareRoot())
    let level = SentenceFormatting.number(amplitude, places: 0)
    let number = SentenceFormatting.number(hertz, places: 0)
    addNoise(
      match.mains == nil ? "a \(number) Hz hum at \(level) dBFS" : "hum of the mains (\(number) Hz) at \(level) dBFS",
      amplitude, hertz: hertz)
  }

  private mutating func addNoise(_ words: String, _ level: Double, hertz: Double?) {
    let sentence =
      sides.isMirrored
      ? "\(recording) has \(words) in the background, which \(label) has not."
      : "\(recording) has \(words) in the background."
    found.append(
      Difference(
        .noise, in: whole, isThroughout: true, amount: level, unit: .fullScale, before: sides.isMirrored ? hertz : nil,
        after: sides.isMirrored ? nil : hertz, sentence: sentence))
  }

  private mutating func addPresence() {
    let words = PresenceSentence(names: names, referenceNames: referenceNames)
    for kind in HapticEvent.Kind.allCases {
      for (isMissing, changeKind) in [(true, Difference.Kind.missing), (false, .added)] {
        let changes = result.changes.filter { $0.kind == changeKind && $0.event.kind == kind }.sorted {
          $0.range.lowerBound < $1.range.lowerBound
        }
        guard let first = changes.first else { continue }
        let isLacking = isMissing != sides.isMirrored
        let events = changes.map { change -> ListedEvent in
          var event = change.event
          let time = change.range.lowerBound
          event.time = isLacking ? referenceTime(time) : max(0, otherTime(time))
          return event
        }
        let sentence: String
        switch (isMissing, sides.isMirrored) {
        case (true, false): sentence = words.missing(events)
        case (false, false), (true, true): sentence = words.added(events)
        case (false, true):
          let times = events.map { SentenceFormatting.number($0.time, places: 3) }
          sentence =
            "\(label) lacks \(events.count == 1 ? "a" : "\(events.count)") "
            + "\(kind.word)\(events.count == 1 ? "" : "s") of \(recording), at " + "\(times.joined(separator: ", ")) s."
        }
        let end = changes.map(\.range.upperBound).max() ?? first.range.upperBound
        let start = referenceTime(max(0, first.range.lowerBound))
        let indices = isMissing && sides.pattern.composition != nil ? changes.map(\.event.index) : []
        var difference = Difference(
          isLacking ? .missing : .added, in: start...max(start, referenceTime(max(0, end))),
          amount: changes.map(\.amount).max() ?? 0, unit: .fullScale, referenceEvents: sides.isMirrored ? [] : indices,
          otherEvents: sides.isMirrored ? indices : [], sentence: sentence)
        difference.confidence = changes.map(\.confidence).min()
        found.append(difference)
      }
    }
  }

  /// The event of a change as the other take has it.
  private func subject(_ change: RecordingChange) -> ListedEvent {
    var event = change.event
    event.time = max(0, otherTime(change.range.lowerBound))
    return event
  }

  private mutating func add(
    _ change: RecordingChange, amount: Double, unit: Difference.Unit, before: Double? = nil, after: Double? = nil,
    sentence: String
  ) {
    let start = referenceTime(change.range.lowerBound)
    let indices = sides.pattern.composition == nil ? [] : [change.event.index]
    var difference = Difference(
      change.kind, in: start...max(start, referenceTime(change.range.upperBound)), amount: amount, unit: unit,
      before: before, after: after, referenceEvents: sides.isMirrored ? [] : indices,
      otherEvents: sides.isMirrored ? indices : [], sentence: sentence)
    difference.confidence = change.confidence
    difference.standardError = change.standardError
    found.append(difference)
  }

  private mutating func addLevel(_ change: RecordingChange) {
    let amount = direction * change.amount
    add(
      change, amount: amount, unit: .decibels,
      sentence: "\(names.subject([subject(change)]).verb("is", "are")) " + "\(SentenceFormatting.strength(amount)).")
  }

  private mutating func addOther(_ change: RecordingChange) {
    let level = SentenceFormatting.number(change.amount, places: 0)
    add(
      change, amount: change.amount, unit: .decibels,
      sentence: "\(names.subject([subject(change)]).verb("has", "have")) a different waveform "
        + "(residual \(level) dB).")
  }

  private mutating func addTime(_ change: RecordingChange) {
    let amount = direction * change.amount
    var event = subject(change)
    event.time = max(0, otherTime(sides.isMirrored ? change.event.time : change.after ?? 0))
    let (before, after) =
      sides.isMirrored ? (recorded(change.after ?? 0), change.event.time) : (change.before, recorded(change.after ?? 0))
    add(
      change, amount: amount, unit: .seconds, before: before, after: after,
      sentence: "\(names.short(event)) comes \(SentenceFormatting.shift(amount)), at "
        + "\(SentenceFormatting.moment(event.time)).")
  }

  private mutating func addFrequency(_ change: RecordingChange) {
    let ratio = 1 + change.amount / 100
    let amount = sides.isMirrored ? 100 * (1 / ratio - 1) : change.amount
    let (before, after) = sides.isMirrored ? (change.after, change.before) : (change.before, change.after)
    let word =
      change.event.kind.isTransient ? (amount > 0 ? "sharper" : "duller") : (amount > 0 ? "higher" : "lower")
    var sentence = "\(names.subject([subject(change)]).verb("is", "are")) \(SentenceFormatting.percent(amount)) \(word)"
    if let before, let after { sentence += ": \(SentenceFormatting.hertz(after, insteadOf: before))" }
    add(change, amount: amount, unit: .percent, before: before, after: after, sentence: sentence + ".")
  }
}
