import HapticModel

/// One thing that differs between two takes.
public struct Difference: Equatable, Sendable {
  /// What differs.
  public var kind: Kind
  /// Where, in seconds of the reference; for a difference of the whole take, from its first to its last sound.
  public var range: ClosedRange<Double>
  /// Whether it is true of the whole take.
  public var isThroughout: Bool
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
  public var otherEvents: [Int]
  /// The amount in steps that are just noticed: below 1 it is likely not felt.
  public var significance: Double
  /// Of another tempo, the seconds by which it moves the event it moves most.
  public var largestShift: Double?
  /// Of a recording, how many standard errors the amount is away from none.
  public var confidence: Double?
  /// Of a recording, the standard error of the amount, in `unit`.
  public var standardError: Double?
  /// One sentence for the report.
  public var sentence: String

  /// Makes a difference; unit and significance follow from kind and amount where none is given.
  public init(
    _ kind: Kind, in range: ClosedRange<Double>, isThroughout: Bool = false, amount: Double = 0, unit: Unit? = nil,
    before: Double? = nil, after: Double? = nil, referenceEvents: [Int] = [], otherEvents: [Int] = [],
    significance: Double? = nil, sentence: String = ""
  ) {
    let unit = unit ?? kind.unit
    (self.kind, self.range, self.isThroughout, self.sentence) = (kind, range, isThroughout, sentence)
    (self.amount, self.unit, self.before, self.after) = (amount, unit, before, after)
    (self.referenceEvents, self.otherEvents) = (referenceEvents, otherEvents)
    self.significance = significance ?? (kind.isFelt ? JustNoticeableDifference.count(in: amount, unit) : 0)
  }

  /// Of another tempo, the seconds by which it moves what it moves most, which count for its significance.
  mutating func setLargestShift(_ shift: Double) {
    largestShift = shift
    // 2.5 %: Drake and Botte, "Tempo sensitivity in auditory sequences", Perception & Psychophysics 54 (1993):
    // 1.5 to 6 %. An event that is late by a step of time is so whatever made it late.
    significance = max(abs(amount) / 2.5, abs(shift) / JustNoticeableDifference.seconds)
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

    var isFelt: Bool { self != .polarity && self != .offset && self != .length }
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
  static func count(in amount: Double, _ unit: Difference.Unit) -> Double {
    switch unit {
    case .decibels: abs(amount) / decibels
    case .fullScale: max(0, amount - floor) / decibels
    case .seconds: abs(amount) / seconds
    case .percent: abs(amount) / percent
    case .count, .none: 3
    }
  }
}
