/// The greatest magnitude of a block, and whether all of it is finite, eight samples at a time.
struct BlockPeak {
  /// The greatest finite or infinite magnitude; not-a-number is passed over.
  let peak: Float
  /// Whether every sample is a finite number.
  let isFinite: Bool

  /// Measures the first frames of a block.
  @_noLocks
  init(of block: borrowing MutableSpan<Float>, count: Int) {
    precondition(count <= block.count, "frames beyond the block")
    var highest = SIMD8<Float>(repeating: 0)
    var lowest = SIMD8<Float>(repeating: 0)
    // A finite sample times zero is zero; anything else is not-a-number, which stays.
    var residue = SIMD8<Float>(repeating: 0)
    var index = 0
    while index < count {
      var samples = SIMD8<Float>(repeating: 0)
      if index &+ 8 <= count {
        for lane in 0..<8 { samples[lane] = unsafe block[unchecked: index &+ lane] }
      } else {
        var lane = 0
        while index &+ lane < count {
          samples[lane] = block[index &+ lane]
          lane &+= 1
        }
      }
      residue += samples * 0
      highest.replace(with: samples, where: samples .> highest)
      lowest.replace(with: samples, where: samples .< lowest)
      index &+= 8
    }
    var peak: Float = 0
    var sum: Float = 0
    for lane in 0..<8 {
      if highest[lane] > peak { peak = highest[lane] }
      if -lowest[lane] > peak { peak = -lowest[lane] }
      sum += residue[lane]
    }
    self.peak = peak
    isFinite = sum == 0
  }
}
