import HapticModel

/// A difference between two takes.
public struct Difference: Equatable, Sendable {
  /// The kind of the difference.
  public var kind: Kind
  /// The time range of the difference, in seconds of the reference.
  ///
  /// For a difference between the whole takes, the range extends from the first to the last sound.
  public var timeRange: ClosedRange<Double>
  /// A Boolean value that indicates whether the difference applies to the whole take.
  public var isOverall: Bool
  /// The candidate's value minus the reference's value, in `unit`.
  ///
  /// For several events, this is the amount farthest from 0.
  public var amount: Double
  /// The minimum and maximum amounts of several events.
  public var amountRange: ClosedRange<Double>?
  /// The unit of the difference's amount.
  public var unit: Unit
  /// The reference's value in the unit of the parameter: intensity, sharpness, seconds, or hertz.
  public var referenceValue: Double?
  /// The candidate's value in the unit of the parameter.
  public var candidateValue: Double?
  /// The indices of the reference's events, counted layer by layer in its composition.
  public var referenceEventIndices: [Int]
  /// The indices of the candidate's events, counted layer by layer in its composition.
  public var candidateEventIndices: [Int]
  /// The amount as a multiple of the just-noticeable difference.
  ///
  /// An amount below 1 is probably imperceptible.
  public var significance: Double
  /// The maximum shift of an event due to a tempo difference, in seconds.
  ///
  /// The value is nil for other kinds.
  public var maximumShiftSeconds: Double?
  /// The magnitude of the amount in standard errors.
  ///
  /// The value is nil unless a recording was compared.
  public var confidence: Double?
  /// The standard error of the amount, in `unit`.
  ///
  /// The value is nil unless a recording was compared.
  public var standardError: Double?
  /// The part of the amount that rounding in the files can explain, in `unit`.
  ///
  /// This part does not count against a tolerance. For a tempo difference, it is the part of
  /// `maximumShiftSeconds`, in seconds.
  public var maximumRoundingError = 0.0
  /// The overall amount of the channel, in `unit`; the difference's amount is relative to it.
  var channelOverallAmount = 0.0
  /// A sentence that describes the difference.
  public var sentence: String

  /// Creates a difference.
  ///
  /// - Parameters:
  ///   - kind: The kind of the difference.
  ///   - range: The time range, in seconds of the reference.
  ///   - isOverall: Pass true if the difference applies to the whole take.
  ///   - amount: The candidate's value minus the reference's value.
  ///   - unit: The unit of the amount, or nil for that of the kind.
  ///   - referenceValue: The reference's value.
  ///   - candidateValue: The candidate's value.
  ///   - referenceEventIndices: The indices of the reference's events.
  ///   - candidateEventIndices: The indices of the candidate's events.
  ///   - significance: The amount in multiples of the just-noticeable difference, or nil to compute
  ///     it.
  ///   - sentence: The difference in one sentence.
  public init(
    _ kind: Kind, in range: ClosedRange<Double>, isOverall: Bool = false, amount: Double = 0,
    unit: Unit? = nil, referenceValue: Double? = nil, candidateValue: Double? = nil,
    referenceEventIndices: [Int] = [],
    candidateEventIndices: [Int] = [], significance: Double? = nil,
    sentence: String = ""
  ) {
    let unit = unit ?? kind.unit
    self.kind = kind
    self.timeRange = range
    self.isOverall = isOverall
    self.sentence = sentence
    self.amount = amount
    self.unit = unit
    self.referenceValue = referenceValue
    self.candidateValue = candidateValue
    self.referenceEventIndices = referenceEventIndices
    self.candidateEventIndices = candidateEventIndices
    self.significance =
      significance
      ?? (kind.isPerceptible ? JustNoticeableDifference.count(in: amount, unit: unit) : 0)
  }

  /// Sets the maximum shift of an event due to a tempo difference, in seconds.
  ///
  /// The significance changes accordingly.
  mutating func setMaximumShift(_ shift: Double) {
    maximumShiftSeconds = shift
    // 2.5 %: C. Drake and M.-C. Botte, "Tempo sensitivity in auditory sequences", Perception &
    // Psychophysics 54 (1993): 1.5 to 6 %. A late event is perceptible regardless of the cause.
    significance = max(abs(amount) / 2.5, abs(shift) / JustNoticeableDifference.timeSeconds)
  }

  /// A Boolean value that indicates whether the difference is perceptible by published thresholds.
  public var isNoticeable: Bool { significance >= 1 }

  /// The kind of a difference. The raw value is its name in JSON.
  public enum Kind: String, CaseIterable, Sendable {
    /// A difference of the level of a sound.
    case level
    /// A difference of the start of a sound.
    case time
    /// A difference of the tempo.
    case tempo
    /// A difference of the frequency or sharpness of a sound.
    case frequency
    /// A difference of the duration of a sound.
    case duration
    /// A difference of the attack time of an envelope.
    case attack
    /// A difference of the decay time of an envelope.
    case decay
    /// A difference of the release time of an envelope.
    case release
    /// A difference of an envelope's sustain: held or decaying.
    case sustain
    /// A difference of the position between left and right.
    case pan
    /// A difference of the level of the upper partials.
    case brightness
    /// A different sound file of an event, or a different way to play it.
    case waveform
    /// An event or sound of the reference is missing.
    case missing
    /// The candidate has an additional event or sound.
    case added
    /// The events are in another order.
    case order
    /// A difference of a dynamic parameter.
    case parameter
    /// A difference of a parameter curve.
    case curve
    /// A difference of the waveform: of the balance of its frequencies.
    case spectrum
    /// Background noise or hum in one of the takes.
    case noise
    /// A DC offset in one of the takes.
    case offset
    /// Clipped peaks in the candidate.
    case clipping
    /// Inverted polarity of the candidate.
    case polarity
    /// A different number of channels, or a difference between channels with an equal mean.
    case channels
    /// A difference of the duration of the signal, including silence.
    case length

    /// The unit of the amount of a difference of this kind.
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

    /// A Boolean value that indicates whether a difference of this kind can be felt.
    var isPerceptible: Bool { self != .polarity && self != .offset && self != .length }
  }

  /// The unit of a difference's amount. The raw value is its symbol.
  public enum Unit: String, CaseIterable, Sendable {
    /// A ratio of two amplitudes, in decibels.
    case decibels = "dB"
    /// An amplitude relative to full scale.
    case fullScale = "dBFS"
    /// A time in seconds.
    case seconds = "s"
    /// A change in percent of the reference's value.
    case percent = "%"
    /// A number of channels or samples.
    case count
    /// No unit: the difference has no amount.
    case none
  }
}

extension JustNoticeableDifference {
  /// Returns an amount as a multiple of the just-noticeable difference.
  ///
  /// A difference without a published threshold counts as three.
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

extension [Difference] {
  /// Returns the overall amount of the same kind and unit as a difference.
  func overallAmount(for difference: Difference) -> Double {
    reduce(0) { sum, other in
      let isCounted =
        other.isOverall && other.kind == difference.kind && other.unit == difference.unit
      return isCounted ? sum + other.amount : sum
    }
  }
}
