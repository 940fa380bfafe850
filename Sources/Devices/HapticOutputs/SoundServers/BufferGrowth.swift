/// A buffer size that starts small and grows each time that a busy machine causes several
/// underruns.
///
/// With a sound server, the required buffer size is not known in advance. Every second underrun
/// doubles the buffer, up to a maximum.
struct BufferGrowth: Equatable {
  /// The number of times that a buffer may double.
  private static let maximumDoublingCount = 3
  /// The number of underruns after which the buffer grows.
  private static let underrunCountPerDoubling = 2

  /// The current buffer size in frames.
  private(set) var bufferFrameCount: Int
  /// The maximum buffer size in frames.
  let maximumBufferFrameCount: Int
  private var underrunCount = 0

  /// Creates a buffer size.
  ///
  /// - Parameters:
  ///   - initial: The initial size in frames.
  ///   - adaptsBuffer: A Boolean value that indicates whether the buffer may grow.
  init(initial: Int, adaptsBuffer: Bool) {
    bufferFrameCount = initial
    maximumBufferFrameCount = adaptsBuffer ? initial << Self.maximumDoublingCount : initial
  }

  /// Returns the message that reports the new size of a buffer that has grown.
  static func growthMessage(_ device: String, frameCount: Int, rate: Double) -> String {
    let bufferMilliseconds = Int((1_000 * Double(frameCount) / rate).rounded())
    return "\(device): the buffer is now \(bufferMilliseconds) ms because of underruns"
  }

  /// Counts an underrun.
  ///
  /// - Returns: True if the buffer has grown.
  mutating func recordUnderrun() -> Bool {
    underrunCount += 1
    guard underrunCount >= Self.underrunCountPerDoubling, bufferFrameCount < maximumBufferFrameCount
    else { return false }
    underrunCount = 0
    bufferFrameCount = min(2 * bufferFrameCount, maximumBufferFrameCount)
    return true
  }
}
