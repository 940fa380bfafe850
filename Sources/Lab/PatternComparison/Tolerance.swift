internal import CMath
import HapticModel
import RecordingAnalysis
import SignalAnalysis

/// The maximum differences between takes that count as equal.
public struct Tolerance: Equatable, Sendable {
  /// The maximum difference of levels, in decibels.
  public var decibels: Double
  /// The maximum difference of times, in seconds.
  public var seconds: Double
  /// The maximum difference of frequencies, tempo, pan, and brightness, in percent.
  public var percent: Double

  /// Creates a tolerance. By default, no difference is allowed.
  public init(decibels: Double = 0, seconds: Double = 0, percent: Double = 0) {
    self.decibels = decibels
    self.seconds = seconds
    self.percent = percent
  }

  /// A difference that exceeds a tolerance.
  public struct Excess: Equatable, Sendable {
    /// The kind of the difference.
    public var kind: Difference.Kind
    /// The excessive amount in `unit`, or nil for a difference without an amount.
    ///
    /// A missing event, for example, has no amount.
    public var value: Double?
    /// The limit in `unit`, or nil if the tolerance has no limit for the kind.
    public var limit: Double?
    /// The unit of `value` and `limit`.
    public var unit: Difference.Unit
    /// The time range, in seconds of the reference.
    public var timeRange: ClosedRange<Double>
    /// A Boolean value that indicates whether noise in the recording prevents the check.
    ///
    /// In that case, it is unknown whether the difference is within the limit.
    public var isUnverified: Bool
    /// The value, the limit, and the location of the difference as text.
    ///
    /// An example is `level +1.001 dB > 1 dB: first transient at 0.4 s`.
    public var text: String
  }

  /// The limit of a tolerance with the value that exceeds it.
  fileprivate struct ExceededLimit {
    var value: Double?
    var limit: Double?
    var unit: Difference.Unit
  }

  /// Returns the maximum level increase when a second signal is added, in decibels.
  ///
  /// The level of the second signal is relative to the first signal, in decibels.
  private static func levelChange(addingRelativeLevel decibels: Double) -> Double {
    20 * log10(1 + pow(10, decibels / 20))
  }

  /// Returns the limits of the tolerance that a difference exceeds.
  ///
  /// Noise counts by the change of level that it can cause in the reference's loudest sound. A
  /// difference of waveforms counts by the change of level that it can cause in the sound. The part
  /// of an amount that rounding in the files can explain does not count. Another
  /// tempo counts by its percentage and by the maximum shift of an event. Missing and added events,
  /// and differences without an amount, exceed every limit.
  ///
  /// - Parameters:
  ///   - difference: The difference.
  ///   - referencePeak: The peak of the reference.
  fileprivate func limits(
    exceededBy difference: Difference, referencePeak: Double
  ) -> [ExceededLimit] {
    let excessWithoutLimit = ExceededLimit(unit: difference.unit)
    // Rounding errors don't exceed a limit.
    let roundingFactor = 1 + 1e-6
    func exceededLimits(
      _ value: Double, _ limit: Double, _ unit: Difference.Unit
    ) -> [ExceededLimit] {
      guard abs(value) > limit * roundingFactor else { return [] }
      return [ExceededLimit(value: value, limit: limit, unit: unit)]
    }
    let amountBeyondRounding = difference.amountBeyondRounding
    switch (difference.kind, difference.unit) {
    case (.missing, _), (.added, _), (_, .count), (_, .none):
      return [excessWithoutLimit]
    case (.spectrum, .decibels):
      return exceededLimits(
        Self.levelChange(addingRelativeLevel: amountBeyondRounding), decibels, .decibels)
    case (.tempo, _):
      let shiftBeyondRounding = difference.maximumShiftSeconds.map {
        $0.reducedMagnitude(by: difference.maximumRoundingError)
      }
      let shiftLimits = shiftBeyondRounding.map { exceededLimits($0, seconds, .seconds) } ?? []
      return exceededLimits(amountBeyondRounding, percent, .percent) + shiftLimits
    case (_, .decibels):
      return exceededLimits(amountBeyondRounding, decibels, .decibels)
    case (_, .seconds):
      return exceededLimits(amountBeyondRounding, seconds, .seconds)
    case (_, .percent):
      return exceededLimits(amountBeyondRounding, percent, .percent)
    case (_, .fullScale):
      guard referencePeak > 0 else { return [excessWithoutLimit] }
      return exceededLimits(
        Self.levelChange(addingRelativeLevel: amountBeyondRounding - 20 * log10(referencePeak)),
        decibels,
        .decibels)
    }
  }
}

extension Comparison {
  /// Returns whether all differences are within a tolerance.
  public func isEqual(within tolerance: Tolerance) -> Bool { excesses(over: tolerance).isEmpty }

  /// Returns the excesses over a tolerance, in the order of `differences`.
  ///
  /// The difference of a sound is added to the overall difference. If the noise of a recording
  /// hides changes as small as a limit, or entire events, the tolerance cannot be verified, so this
  /// also counts as an excess.
  public func excesses(over tolerance: Tolerance) -> [Tolerance.Excess] {
    guard equality != .identical else { return [] }
    let referencePeak = reference.signal.channels.reduce(0 as Float) { peak, channel in
      channel.reduce(peak) { max($0, abs($1)) }
    }
    let verifiedExcesses = differences.flatMap { difference in
      let comparedDifference = absoluteDifference(for: difference)
      let exceededLimits = tolerance.limits(
        exceededBy: comparedDifference, referencePeak: Double(referencePeak))
      return exceededLimits.map { excess(of: difference, over: $0) }
    }
    return verifiedExcesses + unverifiableExcesses(over: tolerance)
  }

  /// Returns a sound's difference with the overall difference added to its amount.
  private func absoluteDifference(for difference: Difference) -> Difference {
    guard hasRelativeDifferences, !difference.isOverall,
      difference.kind == .level || difference.kind == .time
    else {
      return difference
    }
    var absoluteDifference = difference
    absoluteDifference.amount +=
      difference.channelOverallAmount + differences.overallAmount(for: difference)
    return absoluteDifference
  }

  private func excess(
    of difference: Difference, over exceeded: Tolerance.ExceededLimit
  ) -> Tolerance.Excess {
    let kind = difference.kind
    var comparisonText: String?
    if let value = exceeded.value, let limit = exceeded.limit {
      comparisonText = " " + Self.formatted(value, over: limit, unit: exceeded.unit)
    }
    let hasLocation = comparisonText != nil || kind == .missing || kind == .added
    let excessText =
      hasLocation ? locationText(of: difference) : String(difference.sentence.dropLast())
    return Tolerance.Excess(
      kind: kind, value: exceeded.value, limit: exceeded.limit, unit: exceeded.unit,
      timeRange: difference.timeRange, isUnverified: false,
      text: "\(kind.rawValue)\(comparisonText ?? ""): \(excessText)")
  }

  /// Returns an excess as text, such as `+1.001 dB > 1 dB`.
  ///
  /// The text has enough decimals to show that the limit is exceeded.
  private static func formatted(
    _ value: Double, over limit: Double, unit: Difference.Unit
  ) -> String {
    let unitScale = unit == .seconds ? 1_000.0 : 1
    let unitName = unit == .seconds ? "ms" : unit.rawValue
    let limitText = SentenceFormatting.number(limit * unitScale, places: 3)
    var valueText = limitText
    var decimalPlaces = 1
    while valueText == limitText, decimalPlaces <= 9 {
      valueText = SentenceFormatting.number(abs(value) * unitScale, places: decimalPlaces)
      decimalPlaces += 1
    }
    return "\(value < 0 ? "−" : "+")\(valueText) \(unitName) > \(limitText) \(unitName)"
  }

  /// Returns the location of a difference as text, such as `first transient at 0.4 s`.
  ///
  /// Other examples are `3 events from 0.4 s` and `throughout`.
  private func locationText(of difference: Difference) -> String {
    let isAdded = difference.referenceEventIndices.isEmpty && difference.kind != .tempo
    let takeEvents = (isAdded ? candidate : reference).composition.map(IndexedEvent.events) ?? []
    func eventText(_ event: IndexedEvent) -> String {
      let eventName = EventNames(takeEvents, takeLabel: "").name(of: event)
      return "\(eventName) at \(SentenceFormatting.time(event.timeSeconds))"
    }
    // Another tempo shifts the last event most.
    if difference.kind == .tempo, let lastEvent = takeEvents.last { return eventText(lastEvent) }
    if difference.isOverall { return "throughout" }
    let startTimeText = SentenceFormatting.time(difference.timeRange.lowerBound)
    let eventIndices = isAdded ? difference.candidateEventIndices : difference.referenceEventIndices
    guard !takeEvents.isEmpty, let firstIndex = eventIndices.first else {
      return "at \(startTimeText)"
    }
    guard eventIndices.count == 1,
      let event = takeEvents.first(where: { $0.compositionIndex == firstIndex })
    else {
      return "\(eventIndices.count) events from \(startTimeText)"
    }
    return eventText(event)
  }

  /// Returns an excess for each limit of a tolerance that a noisy recording cannot verify.
  private func unverifiableExcesses(over tolerance: Tolerance) -> [Tolerance.Excess] {
    guard let recordingMatch, recordingMatch.outcome == .found else { return [] }
    var excesses: [Tolerance.Excess] = []
    func addExcess(
      _ kind: Difference.Kind, _ value: Double, _ limit: Double?, _ unit: Difference.Unit,
      _ text: String
    ) {
      excesses.append(
        Tolerance.Excess(
          kind: kind, value: value, limit: limit, unit: unit, timeRange: fullTimeRange,
          isUnverified: true,
          text: "cannot be verified: " + text))
    }
    let detectionLimits: [(Difference.Kind, Double?, Double, Difference.Unit)] = [
      (.level, recordingMatch.minimumDetectableDecibels, tolerance.decibels, .decibels),
      (.time, recordingMatch.minimumDetectableSeconds, tolerance.seconds, .seconds),
    ]
    for (kind, minimum, limit, unit) in detectionLimits {
      guard let minimum, minimum > limit * (1 + 1e-6) else { continue }
      addExcess(
        kind, minimum, limit, unit,
        "\(kind.rawValue) ±\(Self.formatted(minimum, over: limit, unit: unit).dropFirst())")
    }
    let undetectableCount = recordingMatch.eventCount - recordingMatch.detectableEventCount
    let eventCount = recordingMatch.eventCount
    if undetectableCount > 0 {
      addExcess(
        .missing, Double(undetectableCount), nil, .count,
        "\(undetectableCount) of \(eventCount) events are masked by noise")
    }
    return excesses
  }
}

extension Difference {
  /// The difference's amount minus the part that rounding in the files can explain.
  ///
  /// The rounding error of a tempo is a time, so its percentage counts as a whole.
  fileprivate var amountBeyondRounding: Double {
    kind == .tempo ? amount : amount.reducedMagnitude(by: maximumRoundingError)
  }
}

extension Double {
  /// Returns the number with its magnitude reduced by an amount, but not below 0.
  fileprivate func reducedMagnitude(by amount: Double) -> Double {
    self < 0 ? min(0, self + amount) : max(0, self - amount)
  }
}
