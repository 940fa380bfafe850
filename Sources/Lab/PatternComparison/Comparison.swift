internal import CMath
import HapticModel
public import Reading
internal import SignalAnalysis
package import SystemSupport

/// What differs between a reference and another take, in words and figures.
///
/// Two patterns are compared event by event; what the events do not explain, and everything else,
/// is compared as signals: shifted, matched in level, then sound by sound.
public struct Comparison: Sendable {
  /// The take the other is judged by.
  public let reference: Take
  /// The take that is judged.
  public let candidate: Take
  /// How they were compared.
  public let options: ComparisonOptions
  /// How much later the other take was found to come as a whole, and was shifted back by.
  public internal(set) var alignment = TakeAlignment()
  /// What the reference was multiplied by before shapes were compared.
  public internal(set) var referenceGain = 1.0
  /// What the other take was multiplied by before shapes were compared; negative if its polarity
  /// was inverted.
  public internal(set) var candidateGain = 1.0
  /// What the other take was multiplied by to match the reference's level by `options.levelMatch`.
  public internal(set) var levelMatchGain = 1.0
  /// Whether the two are the same.
  public internal(set) var equality = Equality.different
  /// All that differs: first what is true of the whole, then what is felt most.
  public internal(set) var differences: [Difference] = []
  /// What a recording holds of the reference, where one was held against it event by event.
  public internal(set) var recordingMatch: RecordingMatch?
  /// Whether levels and times of single sounds are relative to those of the whole.
  var isRelativeToOverall = false
  /// The measures of the reference and the other take.
  public let measurements: [TakeMeasurements]

  /// How equal two takes are.
  public enum Equality: Equatable, Sendable {
    /// Every sample is the same.
    case identical
    /// No difference was found but a residue, in dBFS, and one of level, in decibels.
    case approximate(residualDecibels: Double?, levelDecibels: Double)
    /// Differences were found.
    case different
  }

  /// Compares two takes of one rate: time grows with their lengths times the logarithm of these.
  ///
  /// - Parameter referenceMeasurements: The reference's measures where a comparison with another
  ///   take has them.
  public init(
    _ reference: Take, _ other: Take, options: ComparisonOptions = ComparisonOptions(),
    referenceMeasurements: TakeMeasurements? = nil
  ) {
    precondition(reference.signal.rate == other.signal.rate, "takes are compared at one rate")
    self.reference = reference
    self.candidate = other
    self.options = options
    measurements = [referenceMeasurements ?? TakeMeasurements(reference), TakeMeasurements(other)]
    compare()
  }

  /// Both takes, the reference first.
  public var takes: [Take] { [reference, candidate] }

  private mutating func compare() {
    let isIdentical = reference.signal == candidate.signal
    if let found = eventDifferences(), isIdentical || !found.isEmpty {
      differences = found
      if options.alignment == .start, let delay = removeOverallDifference(of: .time) {
        alignment.seconds = delay
      }
      matchLevels()
      if options.matchesLevels {
        removeOverallDifference(of: .level)
      }
      equality =
        isIdentical
        ? .identical
        : differences.isEmpty ? .approximate(residualDecibels: nil, levelDecibels: 0) : .different
    } else if isIdentical {
      equality = .identical
    } else {
      compareSounds()
    }
    // First what is true of the whole, then what is felt most, then what comes first.
    differences.sort { a, b in
      if a.isOverall != b.isOverall { return a.isOverall }
      if a.significance != b.significance {
        return a.significance > b.significance
      }
      return a.range.lowerBound < b.range.lowerBound
    }
  }

  @discardableResult private mutating func removeOverallDifference(of kind: Difference.Kind)
    -> Double?
  {
    let index = differences.firstIndex { $0.kind == kind && $0.isOverall }
    return index.map { differences.remove(at: $0).amount }
  }

  private mutating func matchLevels() {
    guard options.matchesLevels, let gains = options.levelMatch?.gains(for: takes) else { return }
    referenceGain = gains[0]
    levelMatchGain = gains[1]
    candidateGain = levelMatchGain
  }

  /// Compares two patterns event by event; nil where they have too little in common.
  private func eventDifferences() -> [Difference]? {
    guard let composition = reference.composition, let otherComposition = candidate.composition,
      reference.profile == candidate.profile
    else { return nil }
    let match = EventMatch(composition, otherComposition)
    let least = min(match.reference.count, match.candidate.count)
    guard match.pairs.count * 2 >= least else { return nil }
    let events = EventDifferences(
      match, of: composition, profile: reference.profile, options: options)
    let controls = ControlDifferences(
      composition, otherComposition, match: match, profile: reference.profile, options: options)
    return events.differences.differences + controls.differences
  }

  /// The maximum number of differences with a sentence of their own.
  public static let maximumSentenceCount = 12

  /// How equal the two are, as one sentence; nil where they differ.
  public var verdict: String? {
    let a = options.referenceLabel
    let b = options.candidateLabel
    switch equality {
    case .identical where differences.isEmpty:
      return "\(b) is identical to \(a), sample for sample."
    case .identical:
      return "\(b) renders identically to \(a), but is written differently."
    case .approximate(let noise, let decibels):
      var rest: [String] = []
      if abs(decibels) >= 0.005 {
        rest.append(SentenceFormatting.magnitude(decibels, unit: .decibels))
      }
      if let noise {
        rest.append("a residual at \(SentenceFormatting.number(noise, places: 0)) dBFS")
      }
      if rest.isEmpty { return "\(b) is equal to \(a)." }
      return "\(b) is equal to \(a) except for \(rest.joined(separator: " and "))."
    case .different:
      return nil
    }
  }

  /// What was done to the takes before they were judged, where it is not a difference.
  public var notes: [String] {
    var notes: [String] = []
    if options.alignment == .start, alignment.seconds != 0 {
      let shift =
        SentenceFormatting.magnitude(alignment.seconds, unit: .seconds)
        + (alignment.seconds > 0 ? " earlier" : " later")
      notes.append("\(options.candidateLabel) was shifted \(shift) to align the first sounds.")
    }
    if let medium = recordingMatch?.chain {
      let label = reference.composition == nil ? options.referenceLabel : options.candidateLabel
      notes.append(
        medium.matchesProfile
          ? "\(label) was judged as the acceleration of the profile's transducer."
          : "\(label) sounds as through \(medium.summary), and was judged behind it.")
    }
    guard options.matchesLevels else { return notes }
    let means = options.levelMatch == .loudness ? "loudness" : "weighted energy"
    for (label, gain) in [
      (options.referenceLabel, referenceGain), (options.candidateLabel, levelMatchGain),
    ]
    where gain > 0 && gain < 1 {
      let decibels = SentenceFormatting.magnitude(-20 * log10(gain), unit: .decibels)
      notes.append("\(label) was attenuated by \(decibels) to match \(means).")
    }
    return notes
  }

  /// The sentences, most important first: the verdict, the greatest differences, and how many more.
  public var sentences: [String] {
    var sentences = verdict.map { [$0] } ?? []
    sentences += differences.prefix(Self.maximumSentenceCount).map(\.sentence)
    let more = differences.count - Self.maximumSentenceCount
    if more > 0 {
      sentences.append("And \(more) more.")
    }
    return sentences
  }

  /// What a recording cannot show, as sentences; none where it shows all that is reported
  /// otherwise.
  public var limitations: [String] {
    guard let recordingMatch, recordingMatch.outcome == .found else { return [] }
    let isMirrored = reference.composition == nil && candidate.composition != nil
    let name = isMirrored ? options.candidateLabel : options.referenceLabel
    var limits: [String] = []
    let hidden = recordingMatch.eventCount - recordingMatch.detectableEventCount
    if hidden > 0 {
      limits.append(
        "\(hidden) of \(name)'s \(recordingMatch.eventCount) events \(hidden == 1 ? "is" : "are") "
          + "too weak to be judged in this noise.")
    }
    if let decibels = recordingMatch.minimumDetectableDecibels,
      let seconds = recordingMatch.minimumDetectableSeconds
    {
      let sizes = [
        SentenceFormatting.magnitude(decibels, unit: .decibels),
        SentenceFormatting.magnitude(seconds, unit: .seconds),
      ]
      limits.append(
        "Changes below \(sizes[0]) and \(sizes[1]) cannot be detected in this recording.")
    }
    return limits
  }
}

/// How two takes are compared.
public struct ComparisonOptions: Equatable, Sendable {
  /// What a take is shifted by before it is compared.
  public enum Alignment: String, CaseIterable, Sendable {
    /// Two patterns by nothing, anything else by what makes the waveforms agree best.
    case auto
    /// Nothing.
    case none
    /// The time between the first sounds.
    case start
  }

  /// What the other take is shifted by.
  public var alignment: Alignment
  /// By what levels are matched, or nothing to take out the difference that most of both share.
  public var levelMatch: LevelMatch?
  /// Seconds from a recording's start to where a reference's start is looked for at most.
  public var searchSeconds: Double
  /// What sentences call the reference.
  public var referenceLabel: String
  /// What sentences call the other take.
  public var candidateLabel: String

  var matchesLevels: Bool { levelMatch.map { $0 != .none } ?? false }

  /// Seconds that are searched by default.
  public static let defaultSearchSeconds = 11.0

  /// Makes options.
  public init(
    alignment: Alignment = .auto, levelMatch: LevelMatch? = nil,
    searchSeconds search: Double = defaultSearchSeconds,
    referenceLabel: String = "A", candidateLabel otherLabel: String = "B"
  ) {
    self.alignment = alignment
    self.levelMatch = levelMatch
    self.searchSeconds = search.isFinite ? min(max(0, search), 3_600) : Self.defaultSearchSeconds
    self.referenceLabel = referenceLabel
    self.candidateLabel = otherLabel
  }
}

/// By how much one take comes later than another as a whole.
public struct TakeAlignment: Equatable, Sendable {
  /// Seconds the other take comes later, and was shifted back by before it was compared.
  public var seconds = 0.0
  /// How alike the waveforms are then: 1 for the same shape, −1 for the same shape inverted.
  public var correlation: Double?
}

extension Comparison {
  /// A residue below this, in dBFS, is what storing samples leaves: a bit or two of 16.
  static let negligibleResidualDecibels = -84.0
  /// A residue above this, in decibels relative to the reference, is a difference.
  static let maximumRelativeResidualDecibels = -25.0

  mutating func compareSignals() {
    isRelativeToOverall = true
    matchLevels()
    let gains = (referenceGain, candidateGain)
    var pair = SignalPair(
      reference.signal, candidate.signal, alignment: options.alignment, gains: gains)
    var signals: SignalDifferences?
    if options.alignment == .auto, pair.shiftFrames != 0 {
      // A sound that came or went can pull one onto another: the simpler explanation is the true
      // one.
      let still = SignalPair(reference.signal, candidate.signal, alignment: .none, gains: gains)
      let shifted = SignalDifferences(pair, options: options)
      let unshifted = SignalDifferences(still, options: options)
      let isSimpler =
        shifted.differences.differences.count < unshifted.differences.differences.count
      (pair, signals) = isSimpler ? (pair, shifted) : (still, unshifted)
    }
    alignment = TakeAlignment(seconds: 0, correlation: pair.correlation)
    if pair.isInverted {
      candidateGain = -candidateGain
    }
    let power = SignalPair.power(pair.reference)
    let otherPower = SignalPair.power(pair.candidate)
    if power == 0 || otherPower == 0 {
      compareSilence(referencePower: power, candidatePower: otherPower)
    } else if let rest = approximateEquality(of: pair) {
      equality = rest
    } else {
      let signals = signals ?? SignalDifferences(pair, options: options)
      differences += signals.differences.differences
      alignment.seconds = options.alignment == .none ? 0 : signals.delaySeconds
      candidateGain *= Decibels.factor(-signals.levelDecibels)
      if differences.isEmpty {
        let (decibels, rest, share) = residual(of: pair)
        equality = .approximate(residualDecibels: rest, levelDecibels: decibels)
        if share > Self.maximumRelativeResidualDecibels {
          add(Difference(residual: share, in: fullRange, isOverall: true))
        }
      }
    }
    compareLengths()
    compareChannels()
    if !differences.isEmpty {
      equality = .different
    }
  }

  /// The level of what is left when one is taken from the other, after a common gain; in dBFS.
  private func residual(of pair: SignalPair) -> (decibels: Double, rest: Double, share: Double) {
    var xx = 0.0
    var xy = 0.0
    var rest = 0.0
    for (a, b) in zip(pair.reference, pair.candidate) {
      xx += Double(a) * Double(a)
      xy += Double(a) * Double(b)
    }
    let gain = xx > 0 ? xy / xx : 1
    for (a, b) in zip(pair.reference, pair.candidate) {
      let difference = Double(b) - gain * Double(a)
      rest += difference * difference
    }
    let count = Double(max(1, pair.reference.count))
    let share = Decibels.of(power: rest / max(xx, 1e-30))
    return (gain > 0 ? 20 * log10(gain) : -200, Decibels.of(power: rest / count), share)
  }

  var isEqualUnaligned: Bool {
    approximateEquality(
      of: SignalPair(reference.signal, candidate.signal, alignment: .none, gains: (1, 1))) != nil
  }

  private func approximateEquality(of pair: SignalPair) -> Equality? {
    guard pair.shiftFrames == 0, !pair.isInverted, pair.offset == 0 else { return nil }
    let (decibels, rest, share) = residual(of: pair)
    guard abs(decibels) < SoundComparison.minimumLevelChange,
      rest <= Self.negligibleResidualDecibels,
      share <= Self.maximumRelativeResidualDecibels
    else {
      return nil
    }
    return .approximate(residualDecibels: rest > -190 ? rest : nil, levelDecibels: decibels)
  }

  var fullRange: ClosedRange<Double> {
    0...max(reference.signal.duration, candidate.signal.duration)
  }

  mutating func add(_ difference: Difference, sentence: String? = nil) {
    var found = DifferenceList(
      candidateNames: EventNames([], owner: options.candidateLabel),
      referenceNames: EventNames([], owner: options.referenceLabel),
      overallRange: fullRange)
    if let sentence {
      found.add(difference, sentence: sentence)
    } else {
      found.add(difference)
    }
    differences += found.differences
  }

  private mutating func compareSilence(
    referencePower power: Double, candidatePower otherPower: Double
  ) {
    if power == otherPower {
      equality = .approximate(residualDecibels: nil, levelDecibels: 0)
      return
    }
    let isMissing = otherPower == 0
    add(
      Difference(
        isMissing ? .missing : .added, in: fullRange, isOverall: true,
        amount: measurements[isMissing ? 0 : 1]["peakDecibels"]
          ?? JustNoticeableDifference.perceptionFloorDecibels),
      sentence: options.candidateLabel
        + (isMissing ? " is silent" : " is not silent, unlike \(options.referenceLabel)"))
  }

  /// Reports another length of the recording where nothing that was found explains it.
  private mutating func compareLengths() {
    let before = reference.signal.duration
    let after = candidate.signal.duration
    let change = after - before
    let explained = differences.contains {
      switch $0.kind {
      case .duration, .missing, .added, .tempo: true
      case .time: $0.isOverall ? abs(change - $0.amount) < 0.001 : true
      default: false
      }
    }
    // A sound that is a little higher is a little shorter.
    guard abs(change) > (differences.isEmpty ? 0.001 : 0.01), !explained else { return }
    let values = SentenceFormatting.values(after, insteadOf: before)
    add(
      Difference(.length, in: fullRange, amount: change, before: before, after: after),
      sentence:
        "\(options.candidateLabel)'s recording is \(Difference.Kind.length.changeText(change)): \(values) s"
    )
  }

  mutating func compareChannels() {
    let count = reference.signal.channels.count
    let otherCount = candidate.signal.channels.count
    if count != otherCount {
      add(
        Difference(
          .channels, in: fullRange, amount: Double(otherCount - count), before: Double(count),
          after: Double(otherCount), significance: 0),
        sentence:
          "\(options.candidateLabel) has \(otherCount) channel\(otherCount == 1 ? "" : "s"), "
          + "\(options.referenceLabel) \(count)")
    } else if count > 1, differences.isEmpty {
      compareEachChannel()
    }
  }

  private mutating func compareEachChannel() {
    var numbers: [Int] = []
    var greatest: Double = -200
    for (index, (a, b)) in zip(reference.signal.channels, candidate.signal.channels).enumerated() {
      var power = 0.0
      for (x, y) in zip(a, b) where x.isFinite && y.isFinite {
        power += Double(x - y) * Double(x - y)
      }
      let rest = Decibels.of(power: power / Double(max(1, a.count)))
      guard rest > Self.negligibleResidualDecibels else { continue }
      numbers.append(index + 1)
      greatest = max(greatest, rest)
    }
    guard !numbers.isEmpty else { return }
    let list = SentenceFormatting.list(numbers)
    let subject = numbers.count == 1 ? "channel \(list) differs" : "channels \(list) differ"
    add(
      Difference(.channels, in: fullRange, amount: greatest, unit: .fullScale),
      sentence: "\(options.candidateLabel)'s \(subject), though the mix of all is the same")
  }
}

extension Comparison {
  /// The version of the format in which comparisons are written.
  public static let formatVersion = 1

  /// Writes everything that is known of the comparison as members of an object.
  public func write(to json: inout JSONObjectWriter) { fields.write(to: &json) }

  package var fields: JSONObject {
    let equal: JSONObject =
      switch equality {
      case .identical:
        ["equality": "identical"]
      case .approximate(let noise, let decibels):
        [
          "equality": "within", "residueDecibels": JSONElement.finiteNumber(noise),
          "levelDecibels": JSONElement.finiteNumber(decibels),
        ]
      case .different:
        ["equality": "different"]
      }
    let takes: JSONObject = [
      "label": options.candidateLabel, "name": candidate.name, "source": candidate.sourceName,
    ]
    let shift: JSONObject = [
      "seconds": JSONElement.finiteNumber(alignment.seconds),
      "correlation": JSONElement.finiteNumber(alignment.correlation),
    ]
    let found: JSONObject = [
      "sentences": notes + sentences + limitations,
      "recording": recordingMatch?.fields.json ?? JSONElement.null,
      "alignment": shift, "match": options.levelMatch?.rawValue ?? "shared",
      "referenceGain": JSONElement.finiteNumber(referenceGain),
      "gain": JSONElement.finiteNumber(candidateGain),
      "differences": differences.map(\.fields), "figures": measurements[1].fields,
    ]
    return takes + equal + found
  }
}

extension Difference {
  fileprivate var fields: JSONObject {
    [
      "kind": kind.rawValue, "start": JSONElement.finiteNumber(range.lowerBound),
      "end": JSONElement.finiteNumber(range.upperBound),
      "throughout": isOverall, "amount": JSONElement.finiteNumber(amount), "unit": unit.rawValue,
      "before": JSONElement.finiteNumber(before), "after": JSONElement.finiteNumber(after),
      "referenceEvents": JSONElement.inlineArray(referenceEvents.map(\.json)),
      "otherEvents": JSONElement.inlineArray(candidateEvents.map(\.json)),
      "significance": JSONElement.finiteNumber(significance),
      "largestShiftSeconds": JSONElement.finiteNumber(maximumShift),
      "confidence": JSONElement.finiteNumber(confidence),
      "standardError": JSONElement.finiteNumber(standardError), "sentence": sentence,
    ]
  }
}

extension RecordingMatch {
  fileprivate var fields: JSONObject {
    func known(_ value: Double?) -> JSONElement { .finiteNumber(outcome == .found ? value : nil) }
    return [
      "match": outcome.rawValue, "searchSeconds": JSONElement.finiteNumber(searchSeconds),
      "delaySeconds": known(delaySeconds),
      "tempoPercent": known(tempoPercent), "tempoErrorPercent": known(tempoErrorPercent),
      "inverted": outcome == .found ? JSONElement.bool(isInverted) : .null,
      "levelDecibels": known(levelDecibels),
      "noiseDecibels": JSONElement.finiteNumber(noiseDecibels),
      "humDecibels": JSONElement.finiteNumber(humDecibels),
      "mainsHertz": JSONElement.finiteNumber(mainsFrequency),
      "humHertz": JSONElement.inlineArray(humFrequencies.map(\.json)),
      "response": chain.map { medium in
        JSONElement.customObject(.singleLine) { medium.write(to: &$0) }
      },
      "judgedEvents": detectableEventCount, "events": eventCount,
      "leastDecibels": JSONElement.finiteNumber(minimumDetectableDecibels),
      "leastSeconds": JSONElement.finiteNumber(minimumDetectableSeconds),
    ]
  }
}

extension Tolerance.Excess {
  /// What has no value is null.
  package var fields: JSONObject {
    [
      "kind": kind.rawValue, "value": JSONElement.finiteNumber(value),
      "limit": JSONElement.finiteNumber(limit),
      "unit": unit.rawValue,
      "start": JSONElement.finiteNumber(range.lowerBound),
      "end": JSONElement.finiteNumber(range.upperBound),
      "verified": !isUnverified,
      "text": text,
    ]
  }
}

extension TakeMeasurements {
  /// What has no value is null.
  package var fields: JSONObject {
    measurements.reduce([:]) { $0 + [$1.key: JSONElement.finiteNumber($1.value)] } + [
      "channels": channelCount
    ]
  }
}

extension Take {
  /// What the source is called in JSON.
  public var sourceName: String { composition == nil ? "sound" : "pattern" }
}

extension JSONObjectWriter {
  mutating func numberOrNull(_ key: String, _ value: Double?) {
    if let value, value.isFinite {
      member(key, value)
    } else {
      null(key)
    }
  }
}
