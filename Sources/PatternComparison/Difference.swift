/// One thing that is not the same in two takes, told once.
public struct Difference: Equatable, Sendable {
  /// What differs.
  public var kind: Kind
  /// Where, in seconds of the reference; for what is told of the whole take, from its first to its last sound.
  public var range: ClosedRange<Double>
  /// Whether it is true of the whole take.
  public var isThroughout: Bool
  /// The other take's value less the reference's, in `unit`; of several, the one farthest from 0.
  public var amount: Double
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
  /// What a musician would say, with its full stop.
  public var sentence: String

  /// Makes a difference; its significance follows from the amount where none is given.
  public init(
    _ kind: Kind, in range: ClosedRange<Double>, isThroughout: Bool = false, amount: Double,
    unit: Unit, before: Double? = nil, after: Double? = nil, referenceEvents: [Int] = [],
    otherEvents: [Int] = [], significance: Double? = nil, sentence: String
  ) {
    self.kind = kind
    self.range = range
    self.isThroughout = isThroughout
    self.amount = amount
    self.unit = unit
    self.before = before
    self.after = after
    self.referenceEvents = referenceEvents
    self.otherEvents = otherEvents
    self.significance = significance ?? JustNoticeableDifference.count(in: amount, unit)
    self.sentence = sentence
  }

  /// Whether it is great enough to be felt, as far as published thresholds go.
  public var isNoticeable: Bool { significance >= 1 }
}
