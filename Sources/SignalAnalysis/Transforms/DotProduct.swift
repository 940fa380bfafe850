/// The sum of products, eight at a time.
enum DotProduct {
  /// `Σ samples[start + n] · taps[n]` over all taps.
  static func of(_ samples: Span<Float>, from start: Int, _ taps: Span<Float>) -> Float {
    precondition(start >= 0 && start + taps.count <= samples.count, "the taps must fit")
    var sums = SIMD8<Float>.zero
    var index = 0
    while index + 8 <= taps.count {
      var left = SIMD8<Float>.zero
      var right = SIMD8<Float>.zero
      for lane in 0..<8 {
        left[lane] = unsafe samples[unchecked: start + index + lane]
        right[lane] = unsafe taps[unchecked: index + lane]
      }
      sums += left * right
      index += 8
    }
    var sum = sums.sum()
    while index < taps.count {
      sum += samples[start + index] * taps[index]
      index += 1
    }
    return sum
  }
}
