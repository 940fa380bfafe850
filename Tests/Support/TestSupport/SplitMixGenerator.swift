internal import Glibc

/// A SplitMix64 generator (Steele, Lea, and Flood, "Fast splittable pseudorandom number
/// generators", 2014).
public struct SplitMixGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// Creates a generator, which returns the same numbers for the same initial state.
  public init(state: UInt64) { self.state = state }

  /// Returns the next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number of the uniform distribution from 0 to 1, without 1.
  public mutating func fraction() -> Double { Double.random(in: 0..<1, using: &self) }

  /// Returns a number of the standard normal distribution, by the Box–Muller transform.
  public mutating func normalValue() -> Double {
    (-2 * log(1 - fraction())).squareRoot() * cos(2 * .pi * fraction())
  }
}
