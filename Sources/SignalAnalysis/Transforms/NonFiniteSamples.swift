/// Samples that are no sound, told from those that are.
enum NonFiniteSamples {
  /// The greatest magnitude that is taken for a sample: 240 dB above full scale.
  static let limit = Float(1e12)

  /// The samples with silence for those that are infinite, undefined or beyond the limit.
  static func of(_ samples: [Float]) -> [Float] {
    guard !areAllSound(samples.span) else { return samples }
    return samples.map { isSound($0) ? $0 : 0 }
  }

  /// Whether one sample counts; no comparison holds for a sample that is undefined.
  static func isSound(_ sample: Float) -> Bool { abs(sample) <= limit }

  /// Whether all samples count.
  static func areAllSound(_ samples: Span<Float>) -> Bool {
    for index in samples.indices where !isSound(samples[index]) { return false }
    return true
  }
}
