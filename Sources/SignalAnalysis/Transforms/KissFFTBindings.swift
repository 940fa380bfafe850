import CKissFFT

/// The funnel to KISS FFT: one function for each call.
enum KissFFTBindings {
  /// `kiss_fft_next_fast_size` for a real transform, whose length is even.
  static func fastLength(atLeast length: Int) -> Int {
    2 * Int(kiss_fft_next_fast_size(Int32(clamping: (length + 1) / 2)))
  }

  /// `kiss_fftr_alloc` without memory: the bytes a plan takes.
  static func planSize(length: Int, isInverse: Bool) -> Int {
    var size = 0
    _ = unsafe kiss_fftr_alloc(Int32(length), isInverse ? 1 : 0, nil, &size)
    return size
  }

  /// `kiss_fftr_alloc` in memory of the caller, which must be as large as `planSize` says.
  static func plan(length: Int, isInverse: Bool, in memory: UnsafeMutableRawBufferPointer)
    -> OpaquePointer?
  {
    var size = memory.count
    return unsafe kiss_fftr_alloc(
      Int32(length), isInverse ? 1 : 0, memory.baseAddress, &size)
  }

  /// `kiss_fftr`: as many samples as the plan is long, into half as many bins and one.
  static func forward(
    _ plan: OpaquePointer, _ samples: Span<Float>, into bins: inout MutableSpan<ComplexNumber>
  ) {
    unsafe samples.withUnsafeBufferPointer { samples in
      unsafe bins.withUnsafeMutableBufferPointer { bins in
        // Both are two floats, the real part first.
        unsafe bins.withMemoryRebound(to: kiss_fft_cpx.self) { bins in
          unsafe kiss_fftr(plan, samples.baseAddress, bins.baseAddress)
        }
      }
    }
  }

  /// `kiss_fftri`: the samples come out multiplied by the plan's length.
  static func backward(
    _ plan: OpaquePointer, _ bins: Span<ComplexNumber>, into samples: inout MutableSpan<Float>
  ) {
    unsafe bins.withUnsafeBufferPointer { bins in
      unsafe samples.withUnsafeMutableBufferPointer { samples in
        unsafe bins.withMemoryRebound(to: kiss_fft_cpx.self) { bins in
          unsafe kiss_fftri(plan, bins.baseAddress, samples.baseAddress)
        }
      }
    }
  }
}
