internal import CMath

/// A filter that converts a real signal to an analytic signal.
///
/// The magnitude of the analytic signal is the amplitude of a tone.
///
/// The filter is linear-phase and ±50 ms long. Its real part removes the local mean; its imaginary
/// part is a Hilbert transformer under a Hann window. Both are exact to 0.05 dB from 40 Hz to 40 Hz
/// below half the rate, and fade out below 20 Hz. Sound more than 50 ms away has no influence.
struct AnalyticFilter: ~Copyable {
  /// Half of the filter's length, in seconds. The main lobe of its window ends at 20 Hz.
  static let halfLengthSeconds = 0.05

  private let halfLengthFrames: Int
  private var transform: FourierTransform
  private let realResponse: [Float]
  private let imaginaryResponse: [Float]

  /// Designs the filter for a sample rate and a number of samples.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - count: The length of the signals to filter.
  init(rate: Double, count: Int) {
    halfLengthFrames = max(1, Int((Self.halfLengthSeconds * rate).rounded()))
    // With a block of four filter lengths, the overlap costs little.
    let transformLength = FourierTransform.fastLength(
      atLeast: min(count + 2 * halfLengthFrames, 8 * halfLengthFrames))
    transform = FourierTransform(length: max(transformLength, 4 * halfLengthFrames))
    var realKernel = [Float](repeating: 0, count: transform.length)
    var imaginaryKernel = realKernel
    var windowSum = 0.0
    for offset in 1 - halfLengthFrames..<halfLengthFrames {
      let window = 0.5 + 0.5 * cos(.pi * Double(offset) / Double(halfLengthFrames))
      let index = offset < 0 ? offset + realKernel.count : offset
      realKernel[index] = Float(-window)
      windowSum += window
      if offset % 2 != 0 {
        imaginaryKernel[index] = Float(window * 2 / (.pi * Double(offset)))
      }
    }
    for index in realKernel.indices {
      realKernel[index] /= Float(windowSum)
    }
    realKernel[0] += 1
    // An even impulse response has a real spectrum, an odd one an imaginary spectrum.
    realResponse = transform.forward(realKernel).map { $0.real }
    imaginaryResponse = transform.forward(imaginaryKernel).map { $0.imaginary }
  }

  /// Filters a signal block by block, as if silence surrounded it.
  ///
  /// - Parameters:
  ///   - samples: The signal to filter.
  ///   - body: A closure that receives the index of a block's first sample, and both parts of the
  ///     block.
  mutating func filter(
    _ samples: [Float], _ body: (Int, _ real: Span<Float>, _ imaginary: Span<Float>) -> Void
  ) {
    let framesPerBlock = transform.length - 2 * halfLengthFrames
    var inputBlock = [Float](repeating: 0, count: transform.length)
    var blockBins = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var imaginaryBins = blockBins
    var filteredRealBlock = inputBlock
    var filteredImaginaryBlock = inputBlock
    var blockStartFrame = 0
    while blockStartFrame < samples.count {
      let first = blockStartFrame - halfLengthFrames
      let available = max(0, first)..<min(samples.count, first + inputBlock.count)
      for index in inputBlock.indices {
        inputBlock[index] = 0
      }
      for index in available {
        inputBlock[index - first] = samples[index]
      }
      transform.forward(inputBlock, into: &blockBins)
      for bin in blockBins.indices {
        let value = blockBins[bin]
        let response = imaginaryResponse[bin]
        imaginaryBins[bin] = ComplexNumber(-value.imaginary * response, value.real * response)
        blockBins[bin] = ComplexNumber(
          value.real * realResponse[bin], value.imaginary * realResponse[bin])
      }
      transform.backward(blockBins, into: &filteredRealBlock)
      transform.backward(imaginaryBins, into: &filteredImaginaryBlock)
      let count = min(framesPerBlock, samples.count - blockStartFrame)
      body(
        blockStartFrame,
        filteredRealBlock.span.extracting(halfLengthFrames..<halfLengthFrames + count),
        filteredImaginaryBlock.span.extracting(halfLengthFrames..<halfLengthFrames + count))
      blockStartFrame += count
    }
  }
}

extension FourierTransform {
  /// Computes the spectrum of an array of `length` samples.
  package mutating func forward(_ samples: [Float], into bins: inout [ComplexNumber]) {
    var binSpan = bins.mutableSpan
    forward(samples.span, into: &binSpan)
  }

  /// Computes the samples of a spectrum, given as an array of `binCount` bins.
  mutating func backward(_ bins: [ComplexNumber], into samples: inout [Float]) {
    var sampleSpan = samples.mutableSpan
    backward(bins.span, into: &sampleSpan)
  }
}

/// The tactile band of a signal, decimated to a sample rate of a few kilohertz.
///
/// A linear-phase Kaiser filter passes up to 0.36 of the new rate within 0.01 dB and attenuates
/// everything above half the new rate by 70 dB.
package struct TactileBandSignal {
  /// The decimated signal. Sample k belongs to the time k / rate.
  package let samples: [Float]
  /// The sample rate of the decimated signal, in hertz.
  package let decimatedRate: Double

  /// Decimates a signal by the greatest whole factor that keeps a minimum rate.
  ///
  /// - Parameters:
  ///   - signal: The signal to decimate.
  ///   - rate: The sample rate of the signal, in hertz.
  ///   - minimumRate: The minimum of the new rate, in hertz. A slower signal is not changed.
  package init(of signal: [Float], rate: Double, minimumRate: Double = 2_000) {
    let decimationFactor = max(1, Int(rate / minimumRate))
    self.decimatedRate = rate / Double(decimationFactor)
    guard decimationFactor > 1 else {
      samples = signal
      return
    }
    let decimationTaps = Self.lowPassTaps(factor: decimationFactor)
    let halfTapCount = decimationTaps.count / 2
    // Silence around the signal saves the range checks of the loop.
    var paddedSignal = [Float](repeating: 0, count: halfTapCount)
    paddedSignal.reserveCapacity(signal.count + 2 * halfTapCount + decimationFactor)
    paddedSignal += signal
    paddedSignal += [Float](repeating: 0, count: halfTapCount + decimationFactor)
    let decimatedSampleCount = (signal.count + decimationFactor - 1) / decimationFactor
    var decimatedSamples = [Float](repeating: 0, count: decimatedSampleCount)
    let paddedSpan = paddedSignal.span
    let tapSpan = decimationTaps.span
    for index in 0..<decimatedSampleCount {
      decimatedSamples[index] = Vector.dot(paddedSpan, from: index * decimationFactor, tapSpan)
    }
    samples = decimatedSamples
  }

  /// Half of the decimation filter's length, in output samples.
  private static let filterHalfLengthOutputSamples = 16

  /// The cutoff frequency of the decimation filter, relative to the new rate.
  ///
  /// The transition band extends 0.07 to each side.
  package static let cutoffToOutputRateRatio = 0.43

  /// The shape parameter of the Kaiser window, for side lobes at −70 dB.
  private static let kaiserBeta = 6.76

  /// Returns the taps of the filter for a decimation factor. The sum of the taps is 1.
  private static func lowPassTaps(factor: Int) -> [Float] {
    let halfTapCount = filterHalfLengthOutputSamples * factor
    let unscaledTaps = (-halfTapCount...halfTapCount).map { offset -> Double in
      let position = Double(offset) / Double(halfTapCount)
      let window = KaiserWindow.value(at: position, beta: kaiserBeta)
      let angle = 2 * .pi * cutoffToOutputRateRatio * Double(offset) / Double(factor)
      return window * (offset == 0 ? 1 : sin(angle) / angle)
    }
    let tapSum = unscaledTaps.reduce(0, +)
    return unscaledTaps.map { Float($0 / tapSum) }
  }
}

/// Windows based on the modified Bessel function. Source: J. Kaiser, R. Schafer, "On the use of the
/// I0-sinh window for spectrum analysis", IEEE Transactions on ASSP 28, 1980.
enum KaiserWindow {
  /// Returns the value of the Kaiser window at a position from −1 to 1. The value at 0 is 1.
  static func value(at position: Double, beta: Double) -> Double {
    besselI0(beta * max(0, 1 - position * position).squareRoot()) / besselI0(beta)
  }

  /// Returns the Kaiser–Bessel-derived window. The squares of two such windows, half a length
  /// apart, add up to 1.
  static func kaiserBesselDerived(length: Int, beta: Double) -> [Float] {
    let halfWindowLength = length / 2
    var cumulativeSums = [0.0]
    for index in 0...halfWindowLength {
      let position = 2 * Double(index) / Double(halfWindowLength) - 1
      cumulativeSums.append(cumulativeSums[index] + value(at: position, beta: beta))
    }
    let risingHalf = (0..<halfWindowLength).map {
      Float((cumulativeSums[$0 + 1] / cumulativeSums[halfWindowLength + 1]).squareRoot())
    }
    return risingHalf + risingHalf.reversed()
  }

  /// Returns the modified Bessel function of the first kind and order zero, by its power series.
  private static func besselI0(_ argument: Double) -> Double {
    var seriesTerm = 1.0
    var seriesSum = 1.0
    var termIndex = 1.0
    while seriesTerm > seriesSum * 1e-12 {
      seriesTerm *= (argument / 2 / termIndex) * (argument / 2 / termIndex)
      seriesSum += seriesTerm
      termIndex += 1
    }
    return seriesSum
  }
}

/// A signal decimated to about 4 kHz without phase distortion, which is exact up to 1.4 kHz.
///
/// Each block is transformed, limited to the new band, and transformed back at the lower rate. The
/// band limit is a raised cosine from 0.36 to 0.46 of the new rate. The time is O(n log n) for
/// blocks of 16,384 new samples.
package struct LowRateSignal {
  /// The samples of the decimated signal.
  package let samples: [Float]
  /// The new sample rate, in hertz: the old rate divided by a whole number.
  package let decimatedRate: Double

  /// Decimates a signal by a whole factor, so that the new rate is close to a target rate.
  ///
  /// - Parameters:
  ///   - signal: The signal to decimate.
  ///   - rate: The sample rate of the signal, in hertz.
  ///   - targetRate: The approximate new rate, in hertz. A slower signal is not changed.
  package init(of signal: [Float], rate: Double, targetRate: Double = 4_000) {
    self = Decimator(rate: rate, targetRate: targetRate).decimated(signal)
  }

  fileprivate init(samples: [Float], decimatedRate: Double) {
    self.samples = samples
    self.decimatedRate = decimatedRate
  }
}

/// Decimates many signals of one sample rate.
///
/// The preparation of a transform takes longer than the transform of a short signal. The decimator
/// prepares the transforms once for all signals with blocks of the same length.
///
/// - Note: A decimator may be used by one thread at a time.
package final class Decimator {
  /// The new sample rate, in hertz: the old rate divided by a whole number.
  private let decimatedRate: Double
  private let decimationFactor: Int
  /// The transforms of blocks, by the length of the block at the new rate.
  private var blockDecimators: [Int: BlockDecimator] = [:]

  /// The maximum length of a block, in samples at the new rate.
  private static let maximumBlockOutputSampleCount = 16_384
  /// The length of the overlap on each side of a block, in samples at the new rate.
  private static let overlapOutputSampleCount = 192
  /// The maximum number of block lengths with prepared transforms.
  private static let maximumBlockDecimatorCount = 16

  /// Prepares decimation by a whole factor, so that the new rate is close to a target rate.
  ///
  /// - Parameters:
  ///   - rate: The sample rate of the signals, in hertz.
  ///   - targetRate: The approximate new rate, in hertz. Slower signals are not changed.
  package init(rate: Double, targetRate: Double) {
    decimationFactor = max(1, Int((rate / targetRate).rounded()))
    decimatedRate = rate / Double(decimationFactor)
  }

  /// Returns the decimated signal.
  package func decimated(_ signal: [Float]) -> LowRateSignal {
    guard decimationFactor > 1 else {
      return LowRateSignal(samples: signal, decimatedRate: decimatedRate)
    }
    let decimatedSampleCount = (signal.count + decimationFactor - 1) / decimationFactor
    let blockDecimator = blockDecimator(
      length: FourierTransform.fastLength(
        atLeast: min(decimatedSampleCount, Self.maximumBlockOutputSampleCount) + 2
          * Self.overlapOutputSampleCount))
    var decimatedSamples = [Float](repeating: 0, count: decimatedSampleCount)
    var blockStartSample = 0
    while blockStartSample < decimatedSampleCount {
      let block = blockDecimator.decimatedBlock(
        of: signal, from: (blockStartSample - Self.overlapOutputSampleCount) * decimationFactor)
      let advance = min(
        block.count - 2 * Self.overlapOutputSampleCount, decimatedSampleCount - blockStartSample)
      decimatedSamples.replaceSubrange(
        blockStartSample..<blockStartSample + advance,
        with: block[Self.overlapOutputSampleCount..<Self.overlapOutputSampleCount + advance])
      blockStartSample += advance
    }
    return LowRateSignal(samples: decimatedSamples, decimatedRate: decimatedRate)
  }

  private func blockDecimator(length: Int) -> BlockDecimator {
    if let preparedDecimator = blockDecimators[length] { return preparedDecimator }
    if blockDecimators.count >= Self.maximumBlockDecimatorCount {
      blockDecimators.removeAll()
    }
    let newDecimator = BlockDecimator(length: length, factor: decimationFactor)
    blockDecimators[length] = newDecimator
    return newDecimator
  }
}

/// The transforms for the decimation of blocks of one length.
private final class BlockDecimator {
  private var wideTransform: FourierTransform
  private var narrowTransform: FourierTransform
  /// The gain of each bin: a raised cosine, scaled for the new length.
  private let binTaperWeights: [Float]
  private var inputBlock: [Float]
  private var wideBins: [ComplexNumber]

  /// Prepares the transforms.
  ///
  /// - Parameters:
  ///   - length: The length of a block at the new rate.
  ///   - factor: The decimation factor.
  init(length: Int, factor: Int) {
    wideTransform = FourierTransform(length: length * factor)
    narrowTransform = FourierTransform(length: length)
    binTaperWeights = (0..<narrowTransform.binCount).map { bin -> Float in
      let position = (Double(bin) / Double(length) - 0.36) / 0.1
      return Float(0.5 + 0.5 * cos(.pi * min(1, max(0, position)))) / Float(factor)
    }
    inputBlock = [Float](repeating: 0, count: wideTransform.length)
    wideBins = [ComplexNumber](repeating: ComplexNumber(), count: wideTransform.binCount)
  }

  /// Returns a decimated block of a signal. The signal is silent before its start and after its
  /// end.
  ///
  /// - Parameters:
  ///   - signal: The signal.
  ///   - first: The index of the block's first sample.
  func decimatedBlock(of signal: [Float], from first: Int) -> [Float] {
    let available = max(0, first)..<max(0, min(signal.count, first + inputBlock.count))
    for index in inputBlock.indices {
      inputBlock[index] = 0
    }
    inputBlock.replaceSubrange(
      available.lowerBound - first..<available.upperBound - first, with: signal[available])
    wideTransform.forward(inputBlock, into: &wideBins)
    var bins = Array(wideBins[0..<narrowTransform.binCount])
    for bin in bins.indices {
      bins[bin].real *= binTaperWeights[bin]
      bins[bin].imaginary *= binTaperWeights[bin]
    }
    return narrowTransform.backward(bins)
  }
}
