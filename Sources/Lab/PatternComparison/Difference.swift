internal import CMath
internal import SignalAnalysis
import HapticModel

/// One thing that differs between two takes.
public struct Difference: Equatable, Sendable {
  /// What differs.
  public var kind: Kind
  /// Where, in seconds of the reference; for a difference of the whole take, from its first to its
  /// last sound.
  public var range: ClosedRange<Double>
  /// Whether it is true of the whole take.
  public var isOverall: Bool
  /// The other take's value less the reference's, in `unit`; of several, the one farthest from 0.
  public var amount: Double
  /// Of several events, the least and the greatest amount.
  public var spread: ClosedRange<Double>?
  /// What `amount` counts.
  public var unit: Unit
  /// The reference's value in the words of its kind: intensity, sharpness, seconds, hertz.
  public var before: Double?
  /// The other take's value.
  public var after: Double?
  /// The events of the reference, as indices into those of its composition, counted layer by layer.
  public var referenceEvents: [Int]
  /// The events of the other take, counted likewise.
  public var candidateEvents: [Int]
  /// The amount in steps that are just noticed: below 1 it is likely not felt.
  public var significance: Double
  /// Of another tempo, the seconds by which it moves the event it moves most.
  public var maximumShift: Double?
  /// Of a recording, how many standard errors the amount is away from none.
  public var confidence: Double?
  /// Of a recording, the standard error of the amount, in `unit`.
  public var standardError: Double?
  /// One sentence for the report.
  public var sentence: String

  /// Makes a difference; unit and significance follow from kind and amount where none is given.
  public init(
    _ kind: Kind, in range: ClosedRange<Double>, isOverall isThroughout: Bool = false,
    amount: Double = 0,
    unit: Unit? = nil,
    before: Double? = nil, after: Double? = nil, referenceEvents: [Int] = [],
    candidateEvents otherEvents: [Int] = [],
    significance: Double? = nil, sentence: String = ""
  ) {
    let unit = unit ?? kind.unit
    self.kind = kind
    self.range = range
    self.isOverall = isThroughout
    self.sentence = sentence
    self.amount = amount
    self.unit = unit
    self.before = before
    self.after = after
    self.referenceEvents = referenceEvents
    self.candidateEvents = otherEvents
    self.significance =
      significance
      ?? (kind.isPerceptible ? JustNoticeableDifference.count(in: amount, unit: unit) : 0)
  }

  /// Of another tempo, the seconds by which it moves what it moves most, which count for its
  /// significance.
  mutating func setMaximumShift(_ shift: Double) {
    maximumShift = shift
    // 2.5 %: Drake and Botte, "Tempo sensitivity in auditory sequences", Perception & Psychophysics
    // 54 (1993): 1.5 to 6 %. An event that is late by a step of time is so whatever made it late.
    significance = max(abs(amount) / 2.5, abs(shift) / JustNoticeableDifference.timeSeconds)
  }

  /// Whether it is great enough to be felt, as far as published thresholds go.
  public var isNoticeable: Bool { significance >= 1 }

  /// What differs; the raw value is its name in JSON.
  public enum Kind: String, CaseIterable, Sendable {
    /// How strong something is.
    case level
    /// When something begins.
    case time
    /// Tempo.
    case tempo
    /// How high or sharp something is.
    case frequency
    /// How long something lasts.
    case duration
    /// How fast something rises.
    case attack
    /// How fast something that is not sustained falls.
    case decay
    /// How long something rings behind its end.
    case release
    /// Whether something holds or decays.
    case sustain
    /// Left or right.
    case pan
    /// The upper partials of a tone or sound.
    case brightness
    /// Which sound file an event plays, and how.
    case waveform
    /// Something of the reference is not there.
    case missing
    /// Something is there that the reference has not.
    case added
    /// The same events in another order.
    case order
    /// A dynamic parameter of the pattern.
    case parameter
    /// A parameter curve of the pattern.
    case curve
    /// The share of low and high frequencies.
    case spectrum
    /// Noise or hum below what is alike.
    case noise
    /// A constant offset of the samples.
    case offset
    /// Peaks that were cut off.
    case clipping
    /// Whether the polarity is inverted.
    case polarity
    /// How many channels there are, or what only some of them carry.
    case channels
    /// The length of the recording, silence included.
    case length

    var unit: Unit {
      switch self {
      case .level, .spectrum, .parameter, .curve: .decibels
      case .time, .duration, .attack, .decay, .release, .length: .seconds
      case .tempo, .frequency, .pan, .brightness: .percent
      case .missing, .added, .noise, .offset: .fullScale
      case .clipping, .channels: .count
      case .sustain, .waveform, .order, .polarity: .none
      }
    }

    var isPerceptible: Bool { self != .polarity && self != .offset && self != .length }
  }

  /// What an amount counts; the raw value is how it is written.
  public enum Unit: String, CaseIterable, Sendable {
    /// Ratio of two amplitudes.
    case decibels = "dB"
    /// Amplitude relative to full scale.
    case fullScale = "dBFS"
    /// Time.
    case seconds = "s"
    /// Share of the reference's value.
    case percent = "%"
    /// Whole things: channels, samples.
    case count
    /// There is nothing to count.
    case none
  }
}

extension JustNoticeableDifference {
  /// How many steps an amount is; what cannot be measured in steps counts as three.
  static func count(in amount: Double, unit: Difference.Unit) -> Double {
    switch unit {
    case .decibels: abs(amount) / levelDecibels
    case .fullScale: max(0, amount - perceptionFloorDecibels) / levelDecibels
    case .seconds: abs(amount) / timeSeconds
    case .percent: abs(amount) / frequencyPercent
    case .count, .none: 3
    }
  }
}

/// How far two takes may be apart and still count as equal.
public struct Tolerance: Equatable, Sendable {
  /// Differences of level, in decibels.
  public var decibels: Double
  /// Differences of time, in seconds.
  public var seconds: Double
  /// Differences of frequency, tempo, pan and brightness, in percent.
  public var percent: Double

  /// Makes a tolerance; what is left out allows nothing.
  public init(decibels: Double = 0, seconds: Double = 0, percent: Double = 0) {
    self.decibels = decibels
    self.seconds = seconds
    self.percent = percent
  }

  /// One thing that exceeds a tolerance.
  public struct Excess: Equatable, Sendable {
    /// What differs.
    public var kind: Difference.Kind
    /// How much, in `unit`; nil for what cannot be measured, such as an event that is missing.
    public var value: Double?
    /// The limit it exceeds, in `unit`; nil where there is none for it.
    public var limit: Double?
    /// What value and limit count.
    public var unit: Difference.Unit
    /// Where, in seconds of the reference.
    public var range: ClosedRange<Double>
    /// Whether it is not a difference, but something that the recording cannot show.
    public var isUnverified: Bool
    /// Value, limit and place in a line: `level +1.001 dB > 1 dB: first transient at 0.4 s`.
    public var text: String
  }

  fileprivate typealias Limit = (value: Double?, limit: Double?, unit: Difference.Unit)

  /// Decibels by which something can change a level to which it is at so many decibels.
  private static func levelChange(addingRelativeLevel share: Double) -> Double {
    20 * log10(1 + pow(10, share / 20))
  }

  /// The limits that a difference exceeds, each with the value that does.
  ///
  /// Noise counts as the change of level it can cause in the reference's loudest sound, and a part
  /// of a waveform that differs as the one it can cause in the whole. Another tempo counts by its
  /// percentage and by how far it moves the event it moves most. What comes, goes or cannot be
  /// measured exceeds any limit.
  fileprivate func limits(exceededBy difference: Difference, referencePeak: Double) -> [Limit] {
    // A limit that is met exactly is met, whatever the last digit of its arithmetic.
    let slack = 1 + 1e-6
    func over(_ value: Double, _ limit: Double, _ unit: Difference.Unit) -> [Limit] {
      abs(value) <= limit * slack ? [] : [(value, limit, unit)]
    }
    let amount = difference.amount
    switch (difference.kind, difference.unit) {
    case (.missing, _), (.added, _), (_, .count), (_, .none):
      return [(nil, nil, difference.unit)]
    case (.spectrum, .decibels):
      return over(Self.levelChange(addingRelativeLevel: amount), decibels, .decibels)
    case (.tempo, _):
      return over(amount, percent, .percent)
        + (difference.maximumShift.map { over($0, seconds, .seconds) } ?? [])
    case (_, .decibels):
      return over(amount, decibels, .decibels)
    case (_, .seconds):
      return over(amount, seconds, .seconds)
    case (_, .percent):
      return over(amount, percent, .percent)
    case (_, .fullScale):
      guard referencePeak > 0 else { return [(nil, nil, difference.unit)] }
      return over(
        Self.levelChange(addingRelativeLevel: amount - 20 * log10(referencePeak)), decibels,
        .decibels)
    }
  }
}

extension Comparison {
  /// Whether all that differs lies within a tolerance.
  public func isEqual(within tolerance: Tolerance) -> Bool { excesses(over: tolerance).isEmpty }

  /// Everything that exceeds a tolerance, in the order of the differences.
  ///
  /// A difference of one sound adds to that of the whole. A recording whose noise hides changes as
  /// small as a limit, or whole events, exceeds the tolerance as well: it cannot be verified.
  public func excesses(over tolerance: Tolerance) -> [Tolerance.Excess] {
    guard equality != .identical else { return [] }
    let peak = reference.signal.channels.reduce(0 as Float) { peak, channel in
      channel.reduce(peak) { max($0, abs($1)) }
    }
    let found = differences.flatMap { difference in
      tolerance.limits(exceededBy: absoluteDifference(for: difference), referencePeak: Double(peak))
        .map {
          excess(of: difference, over: $0)
        }
    }
    return found + unverifiableExcesses(over: tolerance)
  }

  /// A difference of one sound with that of the whole, relative to which it was measured.
  private func absoluteDifference(for difference: Difference) -> Difference {
    guard isRelativeToOverall, !difference.isOverall,
      difference.kind == .level || difference.kind == .time
    else {
      return difference
    }
    var total = difference
    total.amount += differences.filter {
      $0.isOverall && $0.kind == difference.kind && $0.unit == difference.unit
    }
    .reduce(0) { $0 + $1.amount }
    return total
  }

  private func excess(of difference: Difference, over exceeded: Tolerance.Limit) -> Tolerance.Excess
  {
    let (value, limit, unit) = exceeded
    let kind = difference.kind
    let measured = value.flatMap { value in
      limit.map { " " + Self.formatted(value, over: $0, unit: unit) }
    }
    let hasPlace = measured != nil || kind == .missing || kind == .added
    let text = hasPlace ? locationText(of: difference) : String(difference.sentence.dropLast())
    return Tolerance.Excess(
      kind: kind, value: value, limit: limit, unit: unit, range: difference.range,
      isUnverified: false,
      text: "\(kind.rawValue)\(measured ?? ""): \(text)")
  }

  /// `+1.001 dB > 1 dB`, with as many places as show that the limit is exceeded.
  private static func formatted(_ value: Double, over limit: Double, unit: Difference.Unit)
    -> String
  {
    let scale = unit == .seconds ? 1_000.0 : 1
    let name = unit == .seconds ? "ms" : unit.rawValue
    let bound = SentenceFormatting.number(limit * scale, places: 3)
    var size = bound
    var places = 1
    while size == bound, places <= 9 {
      size = SentenceFormatting.number(abs(value) * scale, places: places)
      places += 1
    }
    return "\(value < 0 ? "−" : "+")\(size) \(name) > \(bound) \(name)"
  }

  /// `first transient at 0.4 s`, `3 events from 0.4 s`, `throughout`.
  private func locationText(of difference: Difference) -> String {
    let isAdded = difference.referenceEvents.isEmpty && difference.kind != .tempo
    let events = (isAdded ? candidate : reference).composition.map(IndexedEvent.events) ?? []
    func place(_ event: IndexedEvent) -> String {
      "\(EventNames(events, owner: "").name(of: event)) at \(SentenceFormatting.time(event.time))"
    }
    // Another tempo moves the last event most.
    if difference.kind == .tempo, let last = events.last { return place(last) }
    if difference.isOverall { return "throughout" }
    let moment = SentenceFormatting.time(difference.range.lowerBound)
    let indices = isAdded ? difference.candidateEvents : difference.referenceEvents
    guard !events.isEmpty, let first = indices.first else { return "at \(moment)" }
    guard indices.count == 1, let event = events.first(where: { $0.index == first }) else {
      return "\(indices.count) events from \(moment)"
    }
    return place(event)
  }

  private func unverifiableExcesses(over tolerance: Tolerance) -> [Tolerance.Excess] {
    guard let recordingMatch, recordingMatch.outcome == .found else { return [] }
    var found: [Tolerance.Excess] = []
    func add(
      _ kind: Difference.Kind, _ value: Double, _ limit: Double?, _ unit: Difference.Unit,
      _ words: String
    ) {
      found.append(
        Tolerance.Excess(
          kind: kind, value: value, limit: limit, unit: unit, range: fullRange, isUnverified: true,
          text: "cannot be verified: " + words))
    }
    let limits: [(Difference.Kind, Double?, Double, Difference.Unit)] = [
      (.level, recordingMatch.minimumDetectableDecibels, tolerance.decibels, .decibels),
      (.time, recordingMatch.minimumDetectableSeconds, tolerance.seconds, .seconds),
    ]
    for (kind, least, limit, unit) in limits {
      guard let least, least > limit * (1 + 1e-6) else { continue }
      add(
        kind, least, limit, unit,
        "\(kind.rawValue) ±\(Self.formatted(least, over: limit, unit: unit).dropFirst())")
    }
    let count = recordingMatch.eventCount - recordingMatch.detectableEventCount
    let all = recordingMatch.eventCount
    if count > 0 {
      add(
        .missing, Double(count), nil, .count,
        "\(count) of \(all) events are too weak to be judged in the noise")
    }
    return found
  }
}
