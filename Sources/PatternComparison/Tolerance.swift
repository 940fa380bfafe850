internal import CMath
import HapticModel
internal import SignalAnalysis

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
  private static func change(_ share: Double) -> Double { 20 * log10(1 + pow(10, share / 20)) }

  /// The limits that a difference exceeds, each with the value that does.
  ///
  /// Noise counts as the change of level it can cause in the reference's loudest sound, and a part of a
  /// waveform that differs as the one it can cause in the whole. Another tempo counts by its percentage
  /// and by how far it moves the event it moves most. What comes, goes or cannot be measured exceeds
  /// any limit.
  fileprivate func exceeded(by difference: Difference, referencePeak: Double) -> [Limit] {
    // A limit that is met exactly is met, whatever the last digit of its arithmetic.
    let slack = 1 + 1e-6
    func over(_ value: Double, _ limit: Double, _ unit: Difference.Unit) -> [Limit] {
      abs(value) <= limit * slack ? [] : [(value, limit, unit)]
    }
    let amount = difference.amount
    switch (difference.kind, difference.unit) {
    case (.missing, _), (.added, _): return [(nil, nil, difference.unit)]
    case (.spectrum, .decibels): return over(Self.change(amount), decibels, .decibels)
    case (.tempo, _):
      return over(amount, percent, .percent) + (difference.largestShift.map { over($0, seconds, .seconds) } ?? [])
    case (_, .decibels): return over(amount, decibels, .decibels)
    case (_, .seconds): return over(amount, seconds, .seconds)
    case (_, .percent): return over(amount, percent, .percent)
    case (_, .fullScale):
      guard referencePeak > 0 else { return [(nil, nil, difference.unit)] }
      return over(Self.change(amount - 20 * log10(referencePeak)), decibels, .decibels)
    case (_, .count), (_, .none): return [(nil, nil, difference.unit)]
    }
  }
}

extension Comparison {
  /// Whether all that differs lies within a tolerance.
  public func isEqual(within tolerance: Tolerance) -> Bool { excesses(over: tolerance).isEmpty }

  /// Everything that exceeds a tolerance, in the order of the differences.
  ///
  /// A difference of one sound adds to that of the whole. A recording whose noise hides changes as small
  /// as a limit, or whole events, exceeds the tolerance as well: it cannot be verified.
  public func excesses(over tolerance: Tolerance) -> [Tolerance.Excess] {
    guard equality != .identical else { return [] }
    let peak = reference.signal.channels.reduce(0 as Float) { peak, channel in channel.reduce(peak) { max($0, abs($1)) }
    }
    let found = differences.flatMap { difference in
      tolerance.exceeded(by: total(difference), referencePeak: Double(peak)).map {
        excess(difference, $0.value, $0.limit, $0.unit)
      }
    }
    return found + unverified(tolerance)
  }

  /// A difference of one sound with that of the whole, relative to which it was measured.
  private func total(_ difference: Difference) -> Difference {
    guard isRelativeToWhole, !difference.isThroughout, difference.kind == .level || difference.kind == .time else {
      return difference
    }
    var total = difference
    total.amount += differences.filter { $0.isThroughout && $0.kind == difference.kind && $0.unit == difference.unit }
      .reduce(0) { $0 + $1.amount }
    return total
  }

  private func excess(_ difference: Difference, _ value: Double?, _ limit: Double?, _ unit: Difference.Unit)
    -> Tolerance.Excess
  {
    var text = difference.kind.rawValue
    if let value, let limit {
      text += " \(Self.measured(value, over: limit, unit)): \(place(of: difference))"
    } else if difference.kind == .missing || difference.kind == .added {
      text += ": \(place(of: difference))"
    } else {
      text += ": \(difference.sentence.dropLast())"
    }
    return Tolerance.Excess(
      kind: difference.kind, value: value, limit: limit, unit: unit, range: difference.range, isUnverified: false,
      text: text)
  }

  /// `+1.001 dB > 1 dB`, with as many places as show that the limit is exceeded.
  private static func measured(_ value: Double, over limit: Double, _ unit: Difference.Unit) -> String {
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
  private func place(of difference: Difference) -> String {
    let isAdded = difference.referenceEvents.isEmpty && difference.kind != .tempo
    let events = (isAdded ? other : reference).composition.map(ListedEvent.list) ?? []
    func place(_ event: ListedEvent) -> String {
      "\(EventNames(events, owner: "").name(event)) at \(SentenceFormatting.moment(event.time))"
    }
    // Another tempo moves the last event most.
    if difference.kind == .tempo, let last = events.last { return place(last) }
    if difference.isThroughout { return "throughout" }
    let moment = SentenceFormatting.moment(difference.range.lowerBound)
    let indices = isAdded ? difference.otherEvents : difference.referenceEvents
    guard !events.isEmpty, let first = indices.first else { return "at \(moment)" }
    guard indices.count == 1, let event = events.first(where: { $0.index == first }) else {
      return "\(indices.count) events from \(moment)"
    }
    return place(event)
  }

  private func unverified(_ tolerance: Tolerance) -> [Tolerance.Excess] {
    guard let recording, recording.outcome == .found else { return [] }
    let range = 0...max(reference.signal.duration, other.signal.duration)
    func excess(_ kind: Difference.Kind, _ value: Double?, _ limit: Double?, _ unit: Difference.Unit, _ words: String)
      -> Tolerance.Excess
    {
      Tolerance.Excess(
        kind: kind, value: value, limit: limit, unit: unit, range: range, isUnverified: true,
        text: "cannot be verified: " + words)
    }
    var found: [Tolerance.Excess] = []
    if let least = recording.leastDecibels, least > tolerance.decibels * (1 + 1e-6) {
      let words = Self.measured(least, over: tolerance.decibels, .decibels).dropFirst()
      found.append(excess(.level, least, tolerance.decibels, .decibels, "level ±\(words)"))
    }
    if let least = recording.leastSeconds, least > tolerance.seconds * (1 + 1e-6) {
      let words = Self.measured(least, over: tolerance.seconds, .seconds).dropFirst()
      found.append(excess(.time, least, tolerance.seconds, .seconds, "time ±\(words)"))
    }
    if recording.judgedCount < recording.eventCount {
      let count = recording.eventCount - recording.judgedCount
      found.append(
        excess(
          .missing, Double(count), nil, .count,
          "\(count) of \(recording.eventCount) events are too weak to be judged in the noise"))
    }
    return found
  }
}
