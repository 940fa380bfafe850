/// A one-pole high-pass that removes a constant offset.
///
/// Its corner of 0.5 Hz leaves a 20 Hz sine within 0.003 dB.
struct DCBlocker: BitwiseCopyable, Sendable {
  /// The corner frequency in hertz.
  static let cornerHertz = 0.5

  private var offset = 0.0
  private let follow: Double

  /// A filter at rest.
  init(rate: Double) { follow = 2 * Double.pi * Self.cornerHertz / rate }

  /// Filters the first frames of a buffer in place.
  @_noLocks
  mutating func process(_ block: inout MutableSpan<Float>, count: Int) {
    var offset = self.offset
    var frame = 0
    while frame < count {
      let sample = Double(block[frame])
      block[frame] = Float(sample - offset)
      offset += follow * (sample - offset)
      // Below this nothing can be heard, and numbers too small for the processor's fast path begin.
      if offset < 1e-15 && offset > -1e-15 { offset = 0 }
      frame &+= 1
    }
    self.offset = offset
  }
}
