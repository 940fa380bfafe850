public import HapticRender

/// Several transducers on one interface: where each is, and how it is driven.
public struct TransducerArray: Equatable, Sendable {
  /// How the transducers lie to each other, which says what a position is.
  public enum Layout: String, CaseIterable, Sendable {
    /// In a row; a position is a number in any unit.
    case line
    /// Around somebody; a position is an angle in degrees.
    case ring
    /// Spread out; a position has two coordinates in metres.
    case plane
  }

  /// One of the transducers.
  public struct Transducer: Equatable, Sendable {
    /// The channel it is driven by, numbered from 1.
    public var channel: Int
    /// Where it is.
    public var position: ArrayPosition
    /// How patterns become sound for it.
    public var profile: TransducerProfile
    /// A factor on what it is driven by, in decibels.
    public var gain: Double
    /// Seconds by which it is driven later.
    public var delay: Double
    /// Whether it is turned over.
    public var isInverted: Bool

    /// Makes a transducer.
    public init(
      channel: Int, position: ArrayPosition, profile: TransducerProfile = .phone, gain: Double = 0,
      delay: Double = 0, isInverted: Bool = false
    ) {
      self.channel = channel
      self.position = position
      self.profile = profile
      self.gain = gain
      self.delay = delay
      self.isInverted = isInverted
    }
  }

  /// What people call it.
  public var name: String
  /// How the transducers lie to each other.
  public var layout: Layout
  /// The transducers, in the order of their haptic buses; no two share a channel or a place.
  public var transducers: [Transducer]

  /// Makes an array.
  public init(name: String, layout: Layout = .line, transducers: [Transducer]) {
    self.name = name
    self.layout = layout
    self.transducers = transducers
  }
}
