/// How much a document may hold before it is refused.
public struct JSONLimits: Equatable, Sendable {
  /// Bytes of text, at most 256 MiB: offsets and key lengths are kept in 28 bits.
  public let textBytes: Int
  /// Values of any kind; each takes 24 bytes of memory.
  public let values: Int
  /// Containers within containers.
  public let depth: Int

  /// Makes limits; text and values beyond what a document can number are lowered to it.
  public init(textBytes: Int = 1 << 28, values: Int = 20_000_000, depth: Int = 256) {
    self.textBytes = min(textBytes, 1 << 28)
    self.values = min(values, 1 << 28)
    self.depth = depth
  }
}
