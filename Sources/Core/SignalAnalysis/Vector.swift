/// Vector arithmetic on arrays of samples.
///
/// The functions for `Float` and `Double` share one generic implementation, which the compiler
/// specializes within this file.
package enum Vector {
  /// Returns the inner product of two arrays, up to the end of the shorter one.
  package static func dot(_ a: [Float], _ b: [Float]) -> Double {
    product(a, from: 0, b, from: 0, count: min(a.count, b.count))
  }

  /// Returns the inner product of two arrays, up to the end of the shorter one.
  package static func dot(_ a: [Double], _ b: [Double]) -> Double {
    product(a, from: 0, b, from: 0, count: min(a.count, b.count))
  }

  /// Returns the inner product `Σ a[n + i] · b[m + i]` for `i` below `count`.
  package static func dot(
    _ a: [Float], from n: Int, _ b: [Float], from m: Int, count: Int
  ) -> Double {
    product(a, from: n, b, from: m, count: count)
  }

  /// Returns the inner product `Σ a[n + i] · b[m + i]` for `i` below `count`.
  package static func dot(
    _ a: [Double], from n: Int, _ b: [Double], from m: Int, count: Int
  ) -> Double {
    product(a, from: n, b, from: m, count: count)
  }

  /// Returns the inner products `Σ a[n + i] · b[m + i]` for `i` below `count` and four values of n.
  ///
  /// Each product is rounded as that of `dot(_:from:_:from:count:)`.
  package static func dots(
    _ a: [Double], from n: SIMD4<Int>, _ b: [Double], from m: Int, count: Int
  ) -> SIMD4<Double> {
    guard count > 0 else { return .zero }
    precondition(n.min() >= 0 && m >= 0 && n.max() + count <= a.count && m + count <= b.count)
    return unsafe a.withUnsafeBufferPointer { a in
      unsafe b.withUnsafeBufferPointer { b in
        var sums0 = SIMD4<Double>.zero
        var sums1 = SIMD4<Double>.zero
        var sums2 = SIMD4<Double>.zero
        var sums3 = SIMD4<Double>.zero
        var index = 0
        while index &+ 4 <= count {
          let factors: SIMD4<Double> = unsafe lanes(b, at: m &+ index)
          unsafe sums0 += lanes(a, at: n[0] &+ index) * factors
          unsafe sums1 += lanes(a, at: n[1] &+ index) * factors
          unsafe sums2 += lanes(a, at: n[2] &+ index) * factors
          unsafe sums3 += lanes(a, at: n[3] &+ index) * factors
          index &+= 4
        }
        // Add the remaining products to the first partial sums.
        while index < count {
          let factor = unsafe b[m &+ index]
          unsafe sums0[0] += a[n[0] &+ index] * factor
          unsafe sums1[0] += a[n[1] &+ index] * factor
          unsafe sums2[0] += a[n[2] &+ index] * factor
          unsafe sums3[0] += a[n[3] &+ index] * factor
          index &+= 1
        }
        return SIMD4(
          pairwiseSum(sums0), pairwiseSum(sums1), pairwiseSum(sums2), pairwiseSum(sums3))
      }
    }
  }

  /// Returns the inner product of filter taps and as many samples.
  ///
  /// It is computed eight at a time in single precision.
  ///
  /// - Parameters:
  ///   - samples: The samples.
  ///   - start: The index of the first sample.
  ///   - taps: The taps.
  package static func dot(
    _ samples: Span<Float>, from start: Int, _ taps: Span<Float>
  ) -> Float {
    precondition(start >= 0 && start + taps.count <= samples.count, "the taps must fit")
    var laneSums = SIMD8<Float>.zero
    var tapIndex = 0
    while tapIndex + 8 <= taps.count {
      var sampleLanes = SIMD8<Float>.zero
      var tapLanes = SIMD8<Float>.zero
      for lane in 0..<8 {
        sampleLanes[lane] = unsafe samples[unchecked: start + tapIndex + lane]
        tapLanes[lane] = unsafe taps[unchecked: tapIndex + lane]
      }
      laneSums += sampleLanes * tapLanes
      tapIndex += 8
    }
    var productSum = laneSums.sum()
    while tapIndex < taps.count {
      productSum += samples[start + tapIndex] * taps[tapIndex]
      tapIndex += 1
    }
    return productSum
  }

  /// Returns the energy of an array: the sum of its squares.
  package static func energy(_ a: [Float]) -> Double { dot(a, a) }

  /// Returns the energy of an array: the sum of its squares.
  package static func energy(_ a: [Double]) -> Double { dot(a, a) }

  /// Returns the energy of a range of an array: the sum of its squares.
  package static func energy(_ a: [Float], _ range: Range<Int>) -> Double {
    dot(a, from: range.lowerBound, a, from: range.lowerBound, count: range.count)
  }

  /// Adds a multiple of an array to another array.
  ///
  /// - Parameters:
  ///   - x: The array to add.
  ///   - factor: The factor.
  ///   - y: The sum.
  ///   - offset: The index in `y` of the first value of `x`. Values outside of `y` are ignored.
  ///   - count: The maximum number of values to add.
  package static func add(
    _ x: [Float], times factor: Double, to y: inout [Float], at offset: Int, count: Int = .max
  ) {
    accumulate(x, from: 0, times: Float(factor), to: &y, at: offset, count: count)
  }

  /// Adds a multiple of an array to another array.
  ///
  /// - Parameters:
  ///   - x: The array to add.
  ///   - start: The index of the first value of `x` to add.
  ///   - factor: The factor.
  ///   - y: The sum.
  ///   - offset: The index in `y` of the first added value. Values outside of `y` are ignored.
  ///   - count: The maximum number of values to add.
  package static func add(
    _ x: [Double], from start: Int = 0, times factor: Double, to y: inout [Double],
    at offset: Int, count: Int = .max
  ) {
    accumulate(x, from: start, times: factor, to: &y, at: offset, count: count)
  }

  /// Returns the cross-correlation `Σ a[n] · b[n + lag]` for each lag.
  ///
  /// Values outside of `b` are zero.
  package static func crossCorrelation(
    _ a: [Double], _ b: [Double], lags: Range<Int>
  ) -> [Double] {
    let laneCount = SIMD8<Double>.scalarCount
    let blockCount = (lags.count + laneCount - 1) / laneCount
    let leadingZeroCount = max(0, -lags.lowerBound)
    let firstLagOffset = leadingZeroCount + lags.lowerBound
    let paddedCount = firstLagOffset + a.count + blockCount * laneCount
    var paddedSignal = [Double](repeating: 0, count: leadingZeroCount)
    paddedSignal.reserveCapacity(max(paddedCount, leadingZeroCount + b.count))
    paddedSignal += b
    paddedSignal += repeatElement(0, count: max(0, paddedCount - paddedSignal.count))
    var lagProducts = [Double](repeating: 0, count: blockCount * laneCount)
    unsafe a.withUnsafeBufferPointer { a in
      unsafe paddedSignal.withUnsafeBufferPointer { paddedSignal in
        unsafe lagProducts.withUnsafeMutableBufferPointer { lagProducts in
          // Compute the sums of two blocks of lags at a time, so that they stay in registers.
          for firstBlock in stride(from: 0, to: blockCount, by: 2) {
            let firstLag = firstBlock &* laneCount
            // With an odd number of blocks, the last block is computed twice.
            let secondLag = min(firstBlock &+ 1, blockCount &- 1) &* laneCount
            var firstSums = SIMD8<Double>.zero
            var secondSums = SIMD8<Double>.zero
            for index in 0..<a.count where unsafe a[index] != 0 {
              let value = unsafe a[index]
              let start = index &+ firstLagOffset
              unsafe firstSums += value * lanes(paddedSignal, at: start &+ firstLag)
              unsafe secondSums += value * lanes(paddedSignal, at: start &+ secondLag)
            }
            for lane in 0..<laneCount {
              unsafe lagProducts[firstLag &+ lane] = firstSums[lane]
              unsafe lagProducts[secondLag &+ lane] = secondSums[lane]
            }
          }
        }
      }
    }
    lagProducts.removeLast(lagProducts.count - lags.count)
    return lagProducts
  }

  /// Sets the samples in a range, clamped to the array, to zero.
  package static func zero(_ x: inout [Float], in range: Range<Int>) {
    for index in range.clamped(to: x.indices) {
      x[index] = 0
    }
  }

  /// Returns the convolution of an array with an impulse response.
  ///
  /// - Parameters:
  ///   - x: The samples.
  ///   - taps: The impulse response.
  ///   - tail: The number of output samples after the end of `x`.
  package static func filtered(_ x: [Float], by taps: [Float], tail: Int = 0) -> [Float] {
    guard taps.count > 1 else { return x + [Float](repeating: 0, count: tail) }
    var filteredSamples = [Float](repeating: 0, count: x.count + tail)
    // Process blocks that fit into the cache.
    for first in stride(from: 0, to: x.count, by: 1_024) {
      let block = Array(x[first..<min(x.count, first + 1_024)])
      for (tapIndex, tap) in taps.enumerated() {
        add(block, times: Double(tap), to: &filteredSamples, at: first + tapIndex)
      }
    }
    return filteredSamples
  }

  // MARK: - Implementation

  /// Four partial sums shorten the dependency chain and the rounding error.
  @inline(__always) private static func product<Value: BinaryFloatingPoint>(
    _ a: [Value], from n: Int, _ b: [Value], from m: Int, count: Int
  ) -> Double {
    guard count > 0 else { return 0 }
    precondition(n >= 0 && m >= 0 && n + count <= a.count && m + count <= b.count)
    return unsafe a.withUnsafeBufferPointer { a in
      unsafe b.withUnsafeBufferPointer { b in
        var p = Value.zero
        var q = Value.zero
        var r = Value.zero
        var s = Value.zero
        var i = 0
        while i &+ 4 <= count {
          unsafe p += a[n &+ i] * b[m &+ i]
          unsafe q += a[n &+ i &+ 1] * b[m &+ i &+ 1]
          unsafe r += a[n &+ i &+ 2] * b[m &+ i &+ 2]
          unsafe s += a[n &+ i &+ 3] * b[m &+ i &+ 3]
          i &+= 4
        }
        while i < count {
          unsafe p += a[n &+ i] * b[m &+ i]
          i &+= 1
        }
        return Double(p + q) + Double(r + s)
      }
    }
  }

  /// Returns consecutive values of an array.
  @inline(__always) private static func lanes<Lanes: SIMD & BitwiseCopyable>(
    _ values: UnsafeBufferPointer<Double>, at index: Int
  ) -> Lanes where Lanes.Scalar == Double {
    unsafe UnsafeRawBufferPointer(values).loadUnaligned(
      fromByteOffset: index &* MemoryLayout<Double>.stride, as: Lanes.self)
  }

  /// Adds the four partial sums of an inner product.
  @inline(__always) private static func pairwiseSum(_ sums: SIMD4<Double>) -> Double {
    (sums[0] + sums[1]) + (sums[2] + sums[3])
  }

  @inline(__always) private static func accumulate<Value: BinaryFloatingPoint>(
    _ x: [Value], from start: Int, times factor: Value, to y: inout [Value], at offset: Int,
    count: Int
  ) {
    let firstInputIndex = max(0, -offset)
    let inputEndIndex = min(count, x.count - start, y.count - offset)
    unsafe x.withUnsafeBufferPointer { x in
      unsafe y.withUnsafeMutableBufferPointer { y in
        for i in firstInputIndex..<max(firstInputIndex, inputEndIndex) {
          unsafe y[offset &+ i] += factor * x[start &+ i]
        }
      }
    }
  }
}
