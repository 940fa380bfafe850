#if canImport(CKissFFT)
  import CKissFFT
#else
  internal import CMath
#endif

/// The discrete Fourier transform of real samples, and its inverse.
///
/// The transform uses KISS FFT where the system provides it. Create a transform once and use it for
/// all blocks.
///
/// - Note: A transform may be used by one thread at a time.
public struct FourierTransform: ~Copyable {
  /// The number of samples in a block; even.
  public let length: Int
  private let forwardPlan: Plan
  private var backwardPlan: Plan?

  /// Prepares transforms of a given length.
  ///
  /// - Parameter length: A positive even number. Products of 2, 3, and 5 are fast.
  public init(length: Int) {
    precondition(length > 0 && length % 2 == 0, "a transform needs a positive even length")
    self.length = length
    forwardPlan = Plan(length: length, isInverse: false)
  }

  /// Returns the next even length, at or above a length, that is a product of 2, 3, and 5.
  public static func fastLength(atLeast length: Int) -> Int {
    2 * Plan.fastLength(atLeast: (max(2, length) + 1) / 2)
  }

  /// The number of bins of a spectrum, from 0 Hz to half the rate inclusive.
  public var binCount: Int { length / 2 + 1 }

  /// Transforms a block: bin k is `Σ samples[n] · exp(−2πi·k·n / length)`, unscaled.
  ///
  /// - Parameters:
  ///   - samples: `length` samples.
  ///   - bins: `binCount` bins, which receive the spectrum.
  public mutating func forward(_ samples: Span<Float>, into bins: inout MutableSpan<ComplexNumber>)
  {
    precondition(samples.count == length && bins.count == binCount, "the lengths must fit")
    forwardPlan.forward(samples, into: &bins)
  }

  /// Computes the samples of a spectrum. The result is the exact inverse of `forward`, including
  /// its scale.
  ///
  /// - Parameters:
  ///   - bins: `binCount` bins. The imaginary parts of the first and last are ignored.
  ///   - samples: `length` samples, which receive the signal.
  public mutating func backward(_ bins: Span<ComplexNumber>, into samples: inout MutableSpan<Float>)
  {
    precondition(samples.count == length && bins.count == binCount, "the lengths must fit")
    let inversePlan = backwardPlan ?? Plan(length: length, isInverse: true)
    backwardPlan = inversePlan
    inversePlan.backward(bins, into: &samples)
    let inverseScale = 1 / Float(length)
    for index in samples.indices {
      samples[index] *= inverseScale
    }
  }

  /// Truncates an array to the transform's length, or pads it with zeros, and returns its spectrum.
  public mutating func forward(_ samples: [Float]) -> [ComplexNumber] {
    var bins = [ComplexNumber](repeating: ComplexNumber(), count: binCount)
    var binSpan = bins.mutableSpan
    let padding = [Float](repeating: 0, count: max(0, length - samples.count))
    let paddedSamples = samples.prefix(length) + padding
    forward(paddedSamples.span, into: &binSpan)
    return bins
  }

  /// Returns the samples of a spectrum of `binCount` bins.
  public mutating func backward(_ bins: [ComplexNumber]) -> [Float] {
    var samples = [Float](repeating: 0, count: length)
    var sampleSpan = samples.mutableSpan
    backward(bins.span, into: &sampleSpan)
    return samples
  }

  #if canImport(CKissFFT)
    /// A plan for transforms in one direction, including the library's scratch memory.
    @safe private final class Plan {
      private let memory: UnsafeMutableRawBufferPointer
      private let handle: OpaquePointer?

      static func fastLength(atLeast length: Int) -> Int {
        Int(kiss_fft_next_fast_size(Int32(clamping: length)))
      }

      init(length: Int, isInverse: Bool) {
        // Without memory, the library returns the number of bytes that a plan requires.
        var size = 0
        _ = unsafe kiss_fftr_alloc(Int32(length), isInverse ? 1 : 0, nil, &size)
        unsafe memory = .allocate(byteCount: size, alignment: 16)
        unsafe handle = kiss_fftr_alloc(Int32(length), isInverse ? 1 : 0, memory.baseAddress, &size)
      }

      func forward(_ samples: Span<Float>, into bins: inout MutableSpan<ComplexNumber>) {
        guard let handle = unsafe handle else { return }
        unsafe samples.withUnsafeBufferPointer { samples in
          unsafe bins.withUnsafeMutableBufferPointer { bins in
            // Both types consist of two floats, the real part first.
            unsafe bins.withMemoryRebound(to: kiss_fft_cpx.self) { bins in
              unsafe kiss_fftr(handle, samples.baseAddress, bins.baseAddress)
            }
          }
        }
      }

      /// Computes the inverse transform, with samples multiplied by the plan's length.
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
  #else
    /// A mixed-radix transform of half as many complex numbers. Each stage reads one array and
    /// writes the other in order. Source: J. Cooley, J. Tukey, "An algorithm for the machine
    /// calculation of complex Fourier series", Mathematics of Computation 19, 1965.
    private struct Plan {
      private let length: Int
      private let twiddleFactors: [ComplexNumber]
      private var factors: [Int] = []

      /// Returns the next number, at or above a length, that is a product of 2, 3, and 5.
      static func fastLength(atLeast length: Int) -> Int {
        var fast = length
        while factors(of: fast).reduce(1, *) < fast {
          fast += 1
        }
        return fast
      }

      private static func factors(of count: Int) -> [Int] {
        var remainder = count
        var factors = [Int]()
        for factor in [4, 2, 3, 5] {
          while remainder % factor == 0 {
            remainder /= factor
            factors.append(factor)
          }
        }
        return factors
      }

      /// Prepares a plan for transforms of a given length and direction.
      ///
      /// - Parameters:
      ///   - length: Twice a product of 2, 3, and 5.
      ///   - isInverse: Pass true for the inverse transform.
      init(length: Int, isInverse: Bool) {
        self.length = length
        factors = Self.factors(of: length / 2)
        twiddleFactors = (0..<length).map { index in
          let angle = (isInverse ? 2 : -2) * .pi * Double(index) / Double(length)
          return ComplexNumber(Float(cos(angle)), Float(sin(angle)))
        }
      }

      private func transformed(_ numbers: [ComplexNumber]) -> [ComplexNumber] {
        var from = numbers
        var to = numbers
        var stride = 1
        for factor in factors {
          let groups = numbers.count / stride / factor
          for output in 0..<groups * factor {
            let (group, order) = output.quotientAndRemainder(dividingBy: factor)
            for index in stride * output..<stride * (output + 1) {
              to[index] = ComplexNumber()
            }
            for input in Swift.stride(from: group, to: groups * factor, by: groups) {
              let twiddle = twiddleFactors[2 * stride * order * input % length]
              for offset in 0..<stride {
                let number = from[stride * input + offset] * twiddle
                to[stride * output + offset].real += number.real
                to[stride * output + offset].imaginary += number.imaginary
              }
            }
          }
          swap(&from, &to)
          stride *= factor
        }
        return from
      }

      func forward(_ samples: Span<Float>, into bins: inout MutableSpan<ComplexNumber>) {
        let half = length / 2
        let packed = transformed(
          (0..<half).map { ComplexNumber(samples[2 * $0], samples[2 * $0 + 1]) })
        for bin in 0...half {
          let value = packed[bin % half]
          let mirror = packed[(half - bin) % half].conjugate
          let even = ComplexNumber(
            (value.real + mirror.real) / 2, (value.imaginary + mirror.imaginary) / 2)
          let odd =
            ComplexNumber((value.imaginary - mirror.imaginary) / 2, (mirror.real - value.real) / 2)
            * twiddleFactors[bin]
          bins[bin] = ComplexNumber(even.real + odd.real, even.imaginary + odd.imaginary)
        }
      }

      /// Computes the inverse transform, with samples multiplied by the plan's length.
      func backward(_ bins: Span<ComplexNumber>, into samples: inout MutableSpan<Float>) {
        let half = length / 2
        let packed = transformed(
          (0..<half).map { bin in
            var value = bins[bin]
            var mirror = bins[half - bin].conjugate
            if bin == 0 {
              value.imaginary = 0
              mirror.imaginary = 0
            }
            let odd =
              ComplexNumber(value.real - mirror.real, value.imaginary - mirror.imaginary)
              * twiddleFactors[bin]
            return ComplexNumber(
              value.real + mirror.real - odd.imaginary,
              value.imaginary + mirror.imaginary + odd.real)
          })
        for index in 0..<half {
          samples[2 * index] = packed[index].real
          samples[2 * index + 1] = packed[index].imaginary
        }
      }
    }
  #endif
}

/// A complex number in single precision.
public struct ComplexNumber: Equatable, Sendable, BitwiseCopyable {
  /// The real part of the number.
  public var real: Float
  /// The imaginary part of the number.
  public var imaginary: Float

  /// Creates a number from its real and imaginary parts.
  public init(_ real: Float = 0, _ imaginary: Float = 0) {
    self.real = real
    self.imaginary = imaginary
  }

  /// The squared magnitude of the number.
  public var power: Float { real * real + imaginary * imaginary }
  /// The complex conjugate of the number.
  public var conjugate: ComplexNumber { ComplexNumber(real, -imaginary) }

  /// Returns the product of two numbers.
  public static func * (left: ComplexNumber, right: ComplexNumber) -> ComplexNumber {
    ComplexNumber(
      left.real * right.real - left.imaginary * right.imaginary,
      left.real * right.imaginary + left.imaginary * right.real)
  }
}
