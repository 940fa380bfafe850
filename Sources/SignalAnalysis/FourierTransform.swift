import CKissFFT

/// The discrete Fourier transform of real samples and its inverse, by KISS FFT.
///
/// One value may be used by one thread at a time; make one and use it for all blocks.
public struct FourierTransform: ~Copyable {
  /// Samples in a block; even.
  public let length: Int
  private let forwardPlan: Plan
  private var backwardPlan: Plan?

  /// Prepares transforms of a length.
  ///
  /// - Parameter length: A positive even number; products of 2, 3 and 5 are fast.
  public init(length: Int) {
    precondition(length > 0 && length % 2 == 0, "a transform needs a positive even length")
    self.length = length
    forwardPlan = Plan(length: length, isInverse: false)
  }

  /// The next even length at or above one whose only factors are 2, 3 and 5.
  public static func fastLength(atLeast length: Int) -> Int {
    2 * Int(kiss_fft_next_fast_size(Int32(clamping: (max(2, length) + 1) / 2)))
  }

  /// Bins of a spectrum: those from 0 Hz to half the rate, both included.
  public var binCount: Int { length / 2 + 1 }

  /// Bin k becomes `Σ samples[n] · exp(−2πi·k·n / length)`, unscaled.
  ///
  /// - Parameters:
  ///   - samples: `length` of them.
  ///   - bins: `binCount` of them.
  public mutating func forward(_ samples: Span<Float>, into bins: inout MutableSpan<ComplexNumber>) {
    precondition(samples.count == length && bins.count == binCount, "the lengths must fit")
    forwardPlan.forward(samples, into: &bins)
  }

  /// Undoes `forward`, its scale included.
  ///
  /// - Parameters:
  ///   - bins: `binCount` of them; the imaginary parts of the first and last are ignored.
  ///   - samples: `length` of them.
  public mutating func backward(_ bins: Span<ComplexNumber>, into samples: inout MutableSpan<Float>) {
    precondition(samples.count == length && bins.count == binCount, "the lengths must fit")
    let plan = backwardPlan ?? Plan(length: length, isInverse: true)
    backwardPlan = plan
    plan.backward(bins, into: &samples)
    let scale = 1 / Float(length)
    for index in samples.indices { samples[index] *= scale }
  }

  /// The spectrum of an array, which is cut or followed by silence to fit.
  public mutating func forward(_ samples: [Float]) -> [ComplexNumber] {
    var bins = [ComplexNumber](repeating: ComplexNumber(), count: binCount)
    var span = bins.mutableSpan
    let padding = [Float](repeating: 0, count: max(0, length - samples.count))
    let fitting = samples.prefix(length) + padding
    forward(fitting.span, into: &span)
    return bins
  }

  /// The samples of a spectrum of `binCount` bins.
  public mutating func backward(_ bins: [ComplexNumber]) -> [Float] {
    var samples = [Float](repeating: 0, count: length)
    var span = samples.mutableSpan
    backward(bins.span, into: &span)
    return samples
  }

  /// The factors of one direction, with the library's scratch memory.
  @safe private final class Plan {
    private let memory: UnsafeMutableRawBufferPointer
    private let handle: OpaquePointer?

    init(length: Int, isInverse: Bool) {
      // Without memory, the library says how many bytes a plan takes.
      var size = 0
      _ = unsafe kiss_fftr_alloc(Int32(length), isInverse ? 1 : 0, nil, &size)
      unsafe memory = .allocate(byteCount: size, alignment: 16)
      unsafe handle = kiss_fftr_alloc(Int32(length), isInverse ? 1 : 0, memory.baseAddress, &size)
    }

    func forward(_ samples: Span<Float>, into bins: inout MutableSpan<ComplexNumber>) {
      guard let handle = unsafe handle else { return }
      unsafe samples.withUnsafeBufferPointer { samples in
        unsafe bins.withUnsafeMutableBufferPointer { bins in
          // Both are two floats, the real part first.
          unsafe bins.withMemoryRebound(to: kiss_fft_cpx.self) { bins in
            unsafe kiss_fftr(handle, samples.baseAddress, bins.baseAddress)
          }
        }
      }
    }

    /// The samples come out multiplied by the plan's length.
    func backward(_ bins: Span<ComplexNumber>, into samples: inout MutableSpan<Float>) {
      guard let handle = unsafe handle else { return }
      unsafe bins.withUnsafeBufferPointer { bins in
        unsafe samples.withUnsafeMutableBufferPointer { samples in
          unsafe bins.withMemoryRebound(to: kiss_fft_cpx.self) { bins in
            unsafe kiss_fftri(handle, bins.baseAddress, samples.baseAddress)
          }
        }
      }
    }

    deinit { unsafe memory.deallocate() }
  }
}

/// A complex number in single precision.
public struct ComplexNumber: Equatable, Sendable, BitwiseCopyable {
  /// The real and the imaginary part.
  public var real, imaginary: Float

  /// Makes a number of its parts.
  public init(_ real: Float = 0, _ imaginary: Float = 0) { (self.real, self.imaginary) = (real, imaginary) }

  /// The square of the magnitude.
  public var power: Float { real * real + imaginary * imaginary }

  /// The number mirrored on the real axis.
  public var conjugate: ComplexNumber { ComplexNumber(real, -imaginary) }

  /// The product.
  public static func * (left: ComplexNumber, right: ComplexNumber) -> ComplexNumber {
    ComplexNumber(
      left.real * right.real - left.imaginary * right.imaginary,
      left.real * right.imaginary + left.imaginary * right.real)
  }
}
