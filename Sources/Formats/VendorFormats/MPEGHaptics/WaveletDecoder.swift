internal import HapticModel
internal import HapticFormats
internal import CMath

/// The block length of a wavelet band, in samples.
struct WaveletBlock {
  /// The number of samples in a block, a power of two from 16 to 65,536.
  ///
  /// The number is nil if the band has an invalid block length.
  let blockSampleCount: Int?

  /// Computes the block length in samples from the length in ticks. The upper frequency limit of a
  /// wavelet band is its sample rate.
  init(_ band: MPEGDocument.Band, timescale: Int) {
    let exactSampleCount =
      Double(band.waveletBlockTicks) / Double(timescale) * band.upperHertzOrSampleRate
    // A length in ticks is rarely a whole number of samples.
    let wholeSampleCount = FrameConversion.clampedInteger(
      (exactSampleCount + 1e-6).rounded(.down), in: 0...1_000_000)
    blockSampleCount =
      wholeSampleCount >= 16 && wholeSampleCount <= 65_536 && wholeSampleCount.nonzeroBitCount == 1
      ? wholeSampleCount : nil
  }
}

/// Decodes the blocks of a wavelet band.
///
/// 1. Decode the bits of each decision with an adaptive arithmetic decoder.
/// 2. Decode the quantized coefficients plane by plane with SPIHT, in one dimension.
/// 3. Reconstruct the samples with the inverse 9/7 wavelet transform.
///
/// Sources: A. Said, W. Pearlman, *A new, fast, and efficient image codec based on set partitioning
/// in hierarchical trees*, 1996; A. Cohen, I. Daubechies, J. Feauveau, *Biorthogonal bases of
/// compactly supported wavelets*, 1992, for the filters.
enum WaveletDecoder {
  /// Returns the samples of one wavelet block.
  ///
  /// - Parameters:
  ///   - stream: The bits of the block; bits after its end count as 0.
  ///   - count: The number of samples, a power of two of at least 16.
  static func samples(of stream: [UInt8], count: Int) -> [Double] {
    var spihtDecoder = SPIHTDecoder(stream, count: count)
    let (coefficients, scale) = spihtDecoder.decodeCoefficients()
    var reconstructedSamples = coefficients.map { Double($0) * scale }
    var reconstructedSampleCount = 8
    while reconstructedSampleCount <= count {
      invertWaveletLevel(&reconstructedSamples, count: reconstructedSampleCount)
      reconstructedSampleCount *= 2
    }
    return reconstructedSamples
  }

  /// The low-pass synthesis filter, from the center outward. The filter is symmetric.
  private static let lowPassHalfTaps = [
    0.788485616405665, 0.418092273222212, -0.040689417609559, -0.064538882628938,
  ]
  /// The high-pass synthesis filter, from the center outward. The filter is symmetric.
  private static let highPassHalfTaps = [
    -0.852698679009404, 0.377402855612654, 0.110624404418423, -0.023849465019380,
    -0.037828455506995,
  ]

  /// Merges the low-pass and high-pass halves of coefficients into samples at twice the rate.
  private static func invertWaveletLevel(_ values: inout [Double], count: Int) {
    var lowPassOutput = [Double](repeating: 0, count: count)
    var highPassOutput = lowPassOutput
    for index in 0..<count / 2 {
      lowPassOutput[2 * index] = values[index]
      highPassOutput[2 * index + 1] = values[index + count / 2]
    }
    for index in 0..<count {
      values[index] =
        symmetricConvolution(of: highPassOutput, at: index, with: highPassHalfTaps)
        + symmetricConvolution(of: lowPassOutput, at: index, with: lowPassHalfTaps)
    }
  }

  /// Returns the output of a symmetric filter at one index. The signal is mirrored at its ends
  /// without repeating the end samples.
  private static func symmetricConvolution(
    of values: [Double], at index: Int, with filter: [Double]
  ) -> Double {
    let lastIndex = values.count - 1
    var convolutionSum = values[index] * filter[0]
    for distance in 1..<filter.count {
      let precedingIndex = index - distance
      let behind = index + distance
      convolutionSum +=
        filter[distance]
        * (values[precedingIndex < 0 ? -precedingIndex : precedingIndex]
          + values[behind > lastIndex ? 2 * lastIndex - behind : behind])
    }
    return convolutionSum
  }
}

/// A decoder of a block's coefficients by set partitioning in hierarchical trees (SPIHT).
///
/// Coefficients are decoded one bit plane at a time. Coefficient *i* has the children 2*i* and 2*i*
/// + 1; a set contains the descendants of its root.
private struct SPIHTDecoder {
  /// The contexts of the arithmetic decoder, one for each kind of decision.
  ///
  /// Each has its own probability.
  private enum BitContext: Int {
    case header, sign, coefficient, descendants, child, indirectDescendants, refinement
  }

  /// A set of descendants of a wavelet coefficient.
  private struct CoefficientSet {
    var rootCoefficientIndex: Int
    /// A Boolean value that indicates whether the set excludes the coefficient's direct children.
    var excludesChildren: Bool
  }

  private var arithmeticDecoder: ArithmeticDecoder
  private let coefficientCount: Int
  private var coefficients: [Int]
  private var insignificantCoefficientIndices: [Int]
  private var significantCoefficientIndices: [Int] = []
  private var insignificantSets: [CoefficientSet]

  init(_ stream: [UInt8], count: Int) {
    arithmeticDecoder = ArithmeticDecoder(stream, contextCount: BitContext.refinement.rawValue + 1)
    self.coefficientCount = count
    coefficients = Array(repeating: 0, count: count)
    insignificantCoefficientIndices = Array(0..<8)
    insignificantSets = (4..<8).map {
      CoefficientSet(rootCoefficientIndex: $0, excludesChildren: false)
    }
  }

  /// Decodes the block, and returns the quantized coefficients and their scale.
  mutating func decodeCoefficients() -> ([Int], Double) {
    let bitPlaneCount = decodeNumber(bits: 4)
    let isMaximumAboveOne = decodeBit(.header)
    let maximumAmplitudeCode = Double(decodeNumber(bits: 7))
    let maximumAmplitude =
      isMaximumAboveOne ? maximumAmplitudeCode / 8 + 1 : maximumAmplitudeCode / 128
    for plane in stride(from: bitPlaneCount, through: 0, by: -1) {
      let previousCount = significantCoefficientIndices.count
      runSortingPass(thresholdMagnitude: 1 << plane)
      for index in significantCoefficientIndices[..<previousCount] where decodeBit(.refinement) {
        coefficients[index] += coefficients[index] > 0 ? 1 << plane : -(1 << plane)
      }
    }
    return (coefficients, maximumAmplitude / Double(1 << bitPlaneCount))
  }

  private mutating func decodeBit(_ context: BitContext) -> Bool {
    arithmeticDecoder.decodeBit(context: context.rawValue)
  }

  /// Decodes an unsigned number, least significant bit first.
  private mutating func decodeNumber(bits count: Int) -> Int {
    var decodedNumber = 0
    for bitIndex in 0..<count where decodeBit(.header) {
      decodedNumber |= 1 << bitIndex
    }
    return decodedNumber
  }

  private mutating func markCoefficientSignificant(_ index: Int, magnitude: Int) {
    coefficients[index] = decodeBit(.sign) ? magnitude : -magnitude
    significantCoefficientIndices.append(index)
  }

  private mutating func runSortingPass(thresholdMagnitude magnitude: Int) {
    var remainingInsignificant: [Int] = []
    for index in insignificantCoefficientIndices {
      if decodeBit(.coefficient) {
        markCoefficientSignificant(index, magnitude: magnitude)
      } else {
        remainingInsignificant.append(index)
      }
    }
    insignificantCoefficientIndices = remainingInsignificant
    var remainingSets: [CoefficientSet] = []
    var setIndex = 0
    // Sets that are divided are processed in the same pass.
    while setIndex < insignificantSets.count {
      let entry = insignificantSets[setIndex]
      setIndex += 1
      let children = 2 * entry.rootCoefficientIndex..<2 * entry.rootCoefficientIndex + 2
      if entry.excludesChildren {
        guard decodeBit(.indirectDescendants) else {
          remainingSets.append(entry)
          continue
        }
        for child in children {
          insignificantSets.append(
            CoefficientSet(rootCoefficientIndex: child, excludesChildren: false))
        }
      } else {
        guard decodeBit(.descendants) else {
          remainingSets.append(entry)
          continue
        }
        for child in children {
          if decodeBit(.child) {
            markCoefficientSignificant(child, magnitude: magnitude)
          } else {
            insignificantCoefficientIndices.append(child)
          }
        }
        if 4 * entry.rootCoefficientIndex + 3 < coefficientCount {
          insignificantSets.append(
            CoefficientSet(rootCoefficientIndex: entry.rootCoefficientIndex, excludesChildren: true)
          )
        }
      }
    }
    insignificantSets = remainingSets
  }
}

/// A binary arithmetic decoder with adaptive probabilities, with a code range of ten bits.
///
/// Source: I. Witten, R. Neal, J. Cleary, *Arithmetic coding for data compression*, 1987.
private struct ArithmeticDecoder {
  private static let codeValueCount = 1024

  private let stream: [UInt8]
  private var streamBitPosition = 0
  private var currentCodeValue = 0
  private var intervalLow = 0
  private var intervalHigh = codeValueCount
  /// The number of zeros and the number of all symbols decoded so far, for each context.
  private var symbolCountsByContext: [(zeros: Int, all: Int)]

  init(_ stream: [UInt8], contextCount: Int) {
    self.stream = stream
    symbolCountsByContext = Array(repeating: (8, 16), count: contextCount)
    for _ in 0..<10 {
      currentCodeValue = currentCodeValue << 1 | readStreamBit()
    }
  }

  private mutating func readStreamBit() -> Int {
    let byteIndex = streamBitPosition >> 3
    guard byteIndex < stream.count else { return 0 }
    let streamBit = Int(stream[byteIndex] >> UInt8(streamBitPosition & 7) & 1)
    streamBitPosition += 1
    return streamBit
  }

  mutating func decodeBit(context: Int) -> Bool {
    let (zeros, all) = symbolCountsByContext[context]
    let zeroProbability = Int((Double(zeros) / Double(all) * Double(Self.codeValueCount)).rounded())
    let intervalLength = intervalHigh - intervalLow
    let zeroIntervalLength = min(
      max(intervalLength * zeroProbability / Self.codeValueCount, 1), intervalLength - 1)
    let isDecodedBitOne = currentCodeValue - intervalLow >= zeroIntervalLength
    if isDecodedBitOne {
      intervalLow += zeroIntervalLength
    } else {
      intervalHigh = intervalLow + zeroIntervalLength
    }
    while true {
      let offset: Int
      if intervalHigh <= 512 {
        offset = 0
      } else if intervalLow >= 512 {
        offset = 512
      } else if intervalLow >= 256, intervalHigh <= 768 {
        offset = 256
      } else {
        break
      }
      intervalLow = (intervalLow - offset) << 1
      intervalHigh = (intervalHigh - offset) << 1
      currentCodeValue = ((currentCodeValue - offset) << 1) + readStreamBit()
    }
    symbolCountsByContext[context] = (isDecodedBitOne ? zeros : zeros + 1, all + 1)
    return isDecodedBitOne
  }
}
