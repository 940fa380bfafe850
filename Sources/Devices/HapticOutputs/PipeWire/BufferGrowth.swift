/// The size of a buffer that starts small and grows while a busy machine causes underruns.
///
/// With a sound server, the required buffer size is not known in advance. Every second underrun
/// doubles the buffer, up to a maximum.
struct BufferGrowth: Equatable {
  /// The number of underruns after which the buffer grows.
  private static let underrunLimit = 2

  /// The current size in frames.
  private(set) var frameCount: Int
  /// The maximum size in frames.
  let maximum: Int
  private var underrunCount = 0

  init(initial: Int, maximum: Int) {
    frameCount = initial
    self.maximum = maximum
  }

  /// Counts an underrun.
  ///
  /// - Returns: True if the buffer has grown.
  mutating func recordUnderrun() -> Bool {
    underrunCount += 1
    guard underrunCount >= Self.underrunLimit, frameCount < maximum else { return false }
    underrunCount = 0
    frameCount = min(2 * frameCount, maximum)
    return true
  }
}
