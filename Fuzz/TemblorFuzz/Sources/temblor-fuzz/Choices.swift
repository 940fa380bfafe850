/// Choices that follow from a text alone, so that an input fails the same way every time.
struct Choices {
  private(set) var state: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Source: FNV-1a, 64 bits (G. Fowler, L. C. Noll, K.-P. Vo).
  init(_ text: some Sequence<UInt8>) {
    for byte in text {
      state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
    }
  }

  /// One of some values.
  mutating func pick<Value>(_ values: Value...) -> Value {
    values[number(below: values.count)]
  }

  /// A number from 0 up to a count.
  mutating func number(below count: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(count))
  }
}
