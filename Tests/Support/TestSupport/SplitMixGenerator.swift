internal import Glibc

/// A generator of pseudo-random numbers that is the same on every run.
public struct SplitMixGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// Creates a generator. Equal states produce equal numbers.
  public init(state: UInt64) { self.state = state }

  /// The next number: Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
  /// 2014.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number between 0 and 1.
  public mutating func fraction() -> Double { Double.random(in: 0..<1, using: &self) }

  /// A number of the normal distribution.
  public mutating func normalValue() -> Double {
    (-2 * log(1 - fraction())).squareRoot() * cos(2 * .pi * fraction())
  }
}
