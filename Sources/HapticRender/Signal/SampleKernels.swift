#if arch(x86_64) && canImport(CSampleKernels)
  internal import CSampleKernels
#endif

/// Inner loops over samples: vector code with the instructions of this machine where there is such code for it,
/// else Swift. The bits are the same.
///
/// Counts are those of memory that the callers own.
enum SampleKernels {
  /// The greatest magnitude; negative where a sample is not finite.
  @_noLocks @unsafe static func peak(_ samples: UnsafePointer<Float>, count: Int) -> Float {
    #if arch(x86_64) && canImport(CSampleKernels)
      return unsafe temblor_peak(samples, count)
    #else
      return unsafe peakInSwift(samples, count: count)
    #endif
  }

  /// Writes samples times a factor and returns the greatest magnitude of what is written; negative where one
  /// is not finite.
  @_noLocks @unsafe @discardableResult static func scale(
    _ samples: UnsafePointer<Float>, by factor: Float, to target: UnsafeMutablePointer<Float>, count: Int
  ) -> Float {
    #if arch(x86_64) && canImport(CSampleKernels)
      return unsafe temblor_scale(samples, factor, target, count)
    #else
      return unsafe scaleInSwift(samples, by: factor, to: target, count: count)
    #endif
  }

  /// Copies samples to memory that may not overlap them.
  @_noLocks @unsafe @inline(__always) static func copy(
    _ samples: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, count: Int
  ) { unsafe UnsafeMutableRawPointer(target).copyMemory(from: samples, byteCount: count &* 4) }

  /// Gives samples for those of other memory.
  @_noLocks @unsafe static func swap(
    _ samples: UnsafeMutablePointer<Float>, _ others: UnsafeMutablePointer<Float>, count: Int
  ) {
    #if arch(x86_64) && canImport(CSampleKernels)
      unsafe temblor_swap(samples, others, count)
    #else
      unsafe swapInSwift(samples, others, count: count)
    #endif
  }

  /// Adds a sine to a bus, at a level along a straight line from its frame `first` on.
  @_noLocks @unsafe static func add(
    _ sine: SineSegment, level: LinearRamp, first: Int, to bus: UnsafeMutablePointer<Float>, count: Int
  ) {
    #if arch(x86_64) && canImport(CSampleKernels)
      unsafe temblor_sine(sine.phase, sine.increment, sine.glide, level.start, level.slope, Float(first), bus, count)
    #else
      unsafe sine.addInSwift(level: level, first: first, to: bus, count: count)
    #endif
  }

  /// The greatest magnitude in Swift; negative where a sample is not finite.
  @_noLocks @unsafe static func peakInSwift(_ samples: UnsafePointer<Float>, count: Int) -> Float {
    // Magnitudes are ordered as the whole numbers of their bits are.
    var highest = SIMD8<UInt32>(repeating: 0)
    var index = 0
    while index &+ 8 <= count {
      var bits = SIMD8<UInt32>(repeating: 0)
      for lane in 0..<8 { bits[lane] = unsafe samples[index &+ lane].bitPattern & 0x7fff_ffff }
      highest.replace(with: bits, where: bits .> highest)
      index &+= 8
    }
    var most: UInt32 = 0
    for lane in 0..<8 where highest[lane] > most { most = highest[lane] }
    while index < count {
      let bits = unsafe samples[index].bitPattern & 0x7fff_ffff
      if bits > most { most = bits }
      index &+= 1
    }
    return most >= 0x7f80_0000 ? -1 : Float(bitPattern: most)
  }

  /// The same as `swap` in Swift.
  @_noLocks @unsafe static func swapInSwift(
    _ samples: UnsafeMutablePointer<Float>, _ others: UnsafeMutablePointer<Float>, count: Int
  ) {
    var index = 0
    while index < count {
      unsafe (samples[index], others[index]) = (others[index], samples[index])
      index &+= 1
    }
  }

  /// The same as `scale` in Swift.
  @_noLocks @unsafe static func scaleInSwift(
    _ samples: UnsafePointer<Float>, by factor: Float, to target: UnsafeMutablePointer<Float>, count: Int
  ) -> Float {
    var index = 0
    while index < count {
      unsafe target[index] = samples[index] * factor
      index &+= 1
    }
    return unsafe peakInSwift(target, count: count)
  }
}

extension MutableSpan where Element == Float {
  /// The address of the first sample, to be used while the span is held.
  @_noLocks @unsafe @inline(__always) mutating func address() -> UnsafeMutablePointer<Float>? {
    unsafe withUnsafeMutableBufferPointer { $0.baseAddress }
  }
}
