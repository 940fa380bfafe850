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

  /// Returns the inner product of filter taps and as many samples, computed eight at a time in
  /// single precision.
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
    accumulate(x, times: Float(factor), to: &y, at: offset, count: count)
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
    _ x: [Double], times factor: Double, to y: inout [Double], at offset: Int, count: Int = .max
  ) {
    accumulate(x, times: factor, to: &y, at: offset, count: count)
  }

  /// Returns the cross-correlation `Σ a[n] · b[n + lag]` for each lag. Values outside of `b` are
  /// zero.
  package static func crossCorrelation(
    _ a: [Double], _ b: [Double], lags: Range<Int>
  ) -> [Double] {
    var lagProducts = [Double](repeating: 0, count: lags.count)
    let leadingZeroCount = max(0, -lags.lowerBound)
    let leadingZeros = [Double](repeating: 0, count: leadingZeroCount)
    let paddedSignal =
      leadingZeros + b + [Double](repeating: 0, count: max(0, a.count + lags.upperBound - b.count))
    unsafe paddedSignal.withUnsafeBufferPointer { b in
      unsafe lagProducts.withUnsafeMutableBufferPointer { lagProducts in
        for (index, value) in a.enumerated() where value != 0 {
          let first = index &+ leadingZeroCount &+ lags.lowerBound
          for lag in 0..<lagProducts.count {
            unsafe lagProducts[lag] += value * b[first &+ lag]
          }
        }
      }
    }
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

  @inline(__always) private static func accumulate<Value: BinaryFloatingPoint>(
    _ x: [Value], times factor: Value, to y: inout [Value], at offset: Int, count: Int
  ) {
    let firstInputIndex = max(0, -offset)
    let inputEndIndex = min(count, x.count, y.count - offset)
    unsafe x.withUnsafeBufferPointer { x in
      unsafe y.withUnsafeMutableBufferPointer { y in
        for i in firstInputIndex..<max(firstInputIndex, inputEndIndex) {
          unsafe y[offset &+ i] += factor * x[i]
        }
      }
    }
  }
}
