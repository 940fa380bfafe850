/// Numbers that look random and are the same for one seed everywhere: SplitMix64.
///
/// By Guy Steele, Doug Lea and Christine Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
public struct SeededNumbers: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The numbers of a seed.
  public init(seed: UInt64) { state = seed }

  /// The next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// The next of the two sides: A where the highest bit is 0.
  public mutating func nextSide() -> Side { next() >> 63 == 0 ? .a : .b }
}
