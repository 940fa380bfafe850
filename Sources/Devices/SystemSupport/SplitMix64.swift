/// A random number generator with a seed, by Steele, Lea, and Flood, "Fast splittable pseudorandom
/// number generators", 2014.
package struct SplitMix64: RandomNumberGenerator, Equatable, Sendable {
  /// The state of the generator, which determines all further numbers.
  package var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixedState = state
    mixedState = (mixedState ^ (mixedState >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixedState = (mixedState ^ (mixedState >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixedState ^ (mixedState >> 31)
  }

  /// Returns a random number of at least 0 and less than 1, with 53 random bits.
  package mutating func nextFraction() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns a uniformly distributed random number from 0 to `bound` − 1: the upper half of the
  /// product of a random number and the bound (Lemire 2019, "Fast random integer generation in an
  /// interval").
  package mutating func next(below bound: UInt64) -> UInt64 {
    var boundProduct = next().multipliedFullWidth(by: bound)
    if boundProduct.low < bound {
      let minimum = (0 &- bound) % bound
      while boundProduct.low < minimum {
        boundProduct = next().multipliedFullWidth(by: bound)
      }
    }
    return boundProduct.high
  }

  /// Returns the elements in a random order (Fisher and Yates).
  ///
  /// The order is part of the format of studies, so it does not depend on the standard library.
  package mutating func shuffled<Element>(_ elements: [Element]) -> [Element] {
    var shuffledElements = elements
    for index in shuffledElements.indices.dropLast() {
      let remainingCount = UInt64(shuffledElements.count - index)
      shuffledElements.swapAt(index, index + Int(next(below: remainingCount)))
    }
    return shuffledElements
  }
}
