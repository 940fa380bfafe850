internal import CMath
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
    /// Whether its polarity is inverted.
    public var isInverted: Bool
    /// The place of patterns that is felt here, by its number or its name; nil for all.
    public var source: String?

    /// Makes a transducer.
    public init(
      channel: Int, position: ArrayPosition, profile: TransducerProfile = .phone, gain: Double = 0, delay: Double = 0,
      isInverted: Bool = false
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

  /// The gain of each transducer for a position, all zero but one or two on a line and a ring.
  ///
  /// On a line or a ring the two neighbours share the power by sine and cosine; beyond the ends of a
  /// line its last transducer has it all.
  public func gains(at position: ArrayPosition) -> [Double] {
    switch layout {
    case .line: lineGains(at: position.x)
    case .ring: ringGains(at: position.x)
    case .plane: planeGains(at: position)
    }
  }

  /// Distances below this are one place, in the unit of the layout.
  static let samePlace = 1e-6

  /// The way around a ring, in degrees.
  static let turn = 360.0

  /// The angle from 0 up to 360.
  static func angle(_ degrees: Double) -> Double {
    let rest = fmod(degrees, turn)
    // A tiny negative angle rounds to a whole turn.
    return rest < 0 ? (rest + turn < turn ? rest + turn : 0) : rest
  }

  /// How far two places lie apart.
  func distance(_ one: ArrayPosition, _ other: ArrayPosition) -> Double {
    guard layout == .ring else { return one.distance(to: other) }
    let apart = Self.angle(one.x - other.x)
    return min(apart, Self.turn - apart)
  }

  private func lineGains(at place: Double) -> [Double] {
    let places = transducers.map { $0.position.x }
    let order = places.indices.sorted { places[$0] < places[$1] }
    var gains = transducers.map { _ in 0.0 }
    guard let first = order.first, let last = order.last else { return [] }
    guard let next = order.firstIndex(where: { places[$0] > place }) else {
      gains[last] = 1
      return gains
    }
    guard next > 0 else {
      gains[first] = 1
      return gains
    }
    let (low, high) = (order[next - 1], order[next])
    Self.share((place - places[low]) / (places[high] - places[low]), between: low, and: high, in: &gains)
    return gains
  }

  private func ringGains(at degrees: Double) -> [Double] {
    let angles = transducers.map { Self.angle($0.position.x) }
    let order = angles.indices.sorted { angles[$0] < angles[$1] }
    var gains = transducers.map { _ in 0.0 }
    guard let first = order.first, let last = order.last else { return [] }
    guard order.count > 1 else { return [1] }
    let place = Self.angle(degrees)
    let next = order.firstIndex { angles[$0] > place } ?? 0
    let (low, high) = (next > 0 ? order[next - 1] : last, next > 0 ? order[next] : first)
    let gap = Self.angle(angles[high] - angles[low])
    Self.share(Self.angle(place - angles[low]) / gap, between: low, and: high, in: &gains)
    return gains
  }

  /// Distance-based amplitude panning with 6 dB for each doubling of the distance.
  ///
  /// Source: Lossius, Baltazar, de la Hogue, "DBAP – Distance-Based Amplitude Panning", ICMC 2009;
  /// the spatial blur is a fifth of the mean distance to the nearest neighbour.
  private func planeGains(at position: ArrayPosition) -> [Double] {
    guard transducers.count > 1 else { return transducers.map { _ in 1 } }
    let places = transducers.map { $0.position }
    var sum = 0.0
    for (index, place) in places.enumerated() {
      var nearest = Double.infinity
      for (other, there) in places.enumerated() where other != index {
        nearest = min(nearest, place.distance(to: there))
      }
      sum += nearest
    }
    let blur = 0.2 * sum / Double(places.count)
    // Relative to the nearest, so that no square leaves the range of numbers.
    let distances = places.map { hypot($0.distance(to: position), blur) }
    let least = distances.min() ?? 1
    let powers = distances.map { (least / $0) * (least / $0) }
    let total = powers.reduce(0, +)
    return powers.map { ($0 / total).squareRoot() }
  }

  private static func share(_ share: Double, between low: Int, and high: Int, in gains: inout [Double]) {
    // At the places themselves, exactly 1 and 0.
    gains[low] = share >= 1 ? 0 : cos(share * .pi / 2)
    gains[high] = share <= 0 ? 0 : sin(share * .pi / 2)
  }
}

/// A place in an array: along its line, around its ring in degrees, or on its plane in metres.
public struct ArrayPosition: Equatable, Sendable {
  /// The place on a line, the angle on a ring, or the first coordinate on a plane.
  public var x: Double
  /// The second coordinate on a plane; 0 elsewhere.
  public var y: Double

  /// Makes a position.
  public init(_ x: Double, _ y: Double = 0) {
    self.x = x
    self.y = y
  }

  /// The position a share of the way from this one to another, in a straight line.
  ///
  /// On a ring the way is that of the numbers: from 350 to 370 leads through 0.
  public func interpolated(_ share: Double, towards end: ArrayPosition) -> ArrayPosition {
    // Exact at both ends.
    ArrayPosition(x * (1 - share) + end.x * share, y * (1 - share) + end.y * share)
  }

  /// The distance to another position on a line or a plane.
  func distance(to other: ArrayPosition) -> Double { hypot(x - other.x, y - other.y) }
}
