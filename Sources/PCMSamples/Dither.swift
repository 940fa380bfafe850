/// Rounds samples to 16 bits with triangular dither from a seeded generator.
///
/// The noise of two uniform numbers, together two steps wide, makes the rounding error independent of the
/// signal. Digital silence stays silent. Equal seeds give equal numbers.
public struct Dither: Sendable {
  private var state: UInt64

  /// A generator at the beginning of a seed's sequence.
  public init(seed: UInt64 = 0x7e3b_10f5) { state = seed }

  /// A sample in −1…1 as a 16-bit number; what is no number is silent.
  public mutating func quantize(_ sample: Float) -> Int16 {
    guard sample != 0, sample == sample else { return 0 }
    let noise = Float(next() & 0xFFFF) + Float(next() & 0xFFFF)
    let value = sample * 32_767 + (noise * (1 / 65_536) - 1)
    // Adding and subtracting 1.5 · 2²³ rounds to the nearest whole number without a library call.
    let whole = (value + 12_582_912) - 12_582_912
    return Int16(min(max(whole, -32_768), 32_767))
  }

  /// The upper half of SplitMix64 (Steele, Lea, Flood 2014).
  private mutating func next() -> UInt32 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z &>> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z &>> 27)) &* 0x94d0_49bb_1331_11eb
    return UInt32(truncatingIfNeeded: (z ^ (z &>> 31)) &>> 32)
  }
}
