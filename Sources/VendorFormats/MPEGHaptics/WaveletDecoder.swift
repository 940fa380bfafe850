internal import HapticFormats
internal import CMath

/// How many samples a block of a wavelet band has.
struct WaveletBlock {
  /// A power of two from 16 to 65536, or nil where the band has no such blocks.
  let count: Int?

  /// The upper limit of the band is the rate of its samples.
  init(_ band: MPEGDocument.Band, timescale: Int) {
    let samples = Double(band.blockLength) / Double(timescale) * band.high
    // A length in ticks rarely is a whole number of samples.
    let whole = Int(min(samples + 1e-6, 1e6))
    count = whole >= 16 && whole <= 65_536 && whole.nonzeroBitCount == 1 ? whole : nil
  }
}

/// Decodes the blocks of a wavelet band: arithmetic code, SPIHT, inverse 9/7 transform.
///
/// Source: A. Said, W. Pearlman, A new, fast, and efficient image codec based on set partitioning in
/// hierarchical trees, 1996, in one dimension; A. Cohen, I. Daubechies, J. Feauveau, Biorthogonal bases
/// of compactly supported wavelets, 1992, for the filters.
enum WaveletDecoder {
  /// The samples of one block, from the bits of its stream; bits behind its end count as 0.
  ///
  /// - Parameter count: Samples, a power of two from 16 on.
  static func samples(of stream: [UInt8], count: Int) -> [Double] {
    var spiht = SetPartitioning(stream, count: count)
    let (coefficients, scale) = spiht.decode()
    var samples = coefficients.map { Double($0) * scale }
    var length = 8
    while length <= count {
      reconstruct(&samples, count: length)
      length *= 2
    }
    return samples
  }

  /// The low-pass of the synthesis, from the middle outwards.
  private static let low = [0.788485616405665, 0.418092273222212, -0.040689417609559, -0.064538882628938]
  /// The high-pass of the synthesis, from the middle outwards.
  private static let high = [
    -0.852698679009404, 0.377402855612654, 0.110624404418423, -0.023849465019380, -0.037828455506995,
  ]

  /// Joins the lower and the upper half of the first coefficients to samples of twice the rate.
  private static func reconstruct(_ values: inout [Double], count: Int) {
    var lows = [Double](repeating: 0, count: count)
    var highs = lows
    for index in 0..<count / 2 {
      lows[2 * index] = values[index]
      highs[2 * index + 1] = values[index + count / 2]
    }
    for index in 0..<count {
      values[index] = convolved(highs, at: index, with: high) + convolved(lows, at: index, with: low)
    }
  }

  /// A symmetric filter at one place; beyond its ends the signal is mirrored without repeating them.
  private static func convolved(_ values: [Double], at index: Int, with filter: [Double]) -> Double {
    let last = values.count - 1
    var sum = values[index] * filter[0]
    for distance in 1..<filter.count {
      let before = index - distance
      let behind = index + distance
      sum +=
        filter[distance] * (values[before < 0 ? -before : before] + values[behind > last ? 2 * last - behind : behind])
    }
    return sum
  }
}

/// Reads the coefficients of a block plane by plane, from sets of them that are not significant.
private struct SetPartitioning {
  /// What a decision is about: each kind has a probability of its own.
  private enum Context: Int { case header, sign, isolated, set, child, grandchildren, refinement }

  private struct Entry {
    var root: Int
    /// Whether the set is that of the grandchildren and further descendants alone.
    var isDeep: Bool
  }

  private var decoder: ArithmeticDecoder
  private let count: Int
  private var coefficients: [Int]
  private var isolated: [Int]
  private var significant: [Int] = []
  private var sets: [Entry]

  init(_ stream: [UInt8], count: Int) {
    decoder = ArithmeticDecoder(stream, contextCount: Context.refinement.rawValue + 1)
    self.count = count
    coefficients = Array(repeating: 0, count: count)
    isolated = Array(0..<8)
    sets = (4..<8).map { Entry(root: $0, isDeep: false) }
  }

  /// The coefficients as whole numbers, and what they are multiplied by.
  mutating func decode() -> ([Int], Double) {
    let planes = number(ofBits: 4)
    let isAboveOne = bit(.header)
    let level = Double(number(ofBits: 7))
    let greatest = isAboveOne ? level / 8 + 1 : level / 128
    for plane in stride(from: planes, through: 0, by: -1) {
      let known = significant.count
      sort(1 << plane)
      for index in significant[..<known] where bit(.refinement) {
        coefficients[index] += coefficients[index] > 0 ? 1 << plane : -(1 << plane)
      }
    }
    return (coefficients, greatest / Double(1 << planes))
  }

  private mutating func bit(_ context: Context) -> Bool { decoder.next(context: context.rawValue) }

  /// A number whose least significant bit comes first.
  private mutating func number(ofBits count: Int) -> Int {
    var number = 0
    for place in 0..<count where bit(.header) { number |= 1 << place }
    return number
  }

  private mutating func setSignificant(_ index: Int, _ size: Int) {
    coefficients[index] = bit(.sign) ? size : -size
    significant.append(index)
  }

  /// Finds the coefficients that become significant in a plane.
  private mutating func sort(_ size: Int) {
    var stillIsolated: [Int] = []
    for index in isolated { if bit(.isolated) { setSignificant(index, size) } else { stillIsolated.append(index) } }
    isolated = stillIsolated
    var kept: [Entry] = []
    var place = 0
    // Sets that are split go on in the same pass.
    while place < sets.count {
      let entry = sets[place]
      place += 1
      let children = 2 * entry.root..<2 * entry.root + 2
      if entry.isDeep {
        guard bit(.grandchildren) else {
          kept.append(entry)
          continue
        }
        for child in children { sets.append(Entry(root: child, isDeep: false)) }
      } else {
        guard bit(.set) else {
          kept.append(entry)
          continue
        }
        for child in children { if bit(.child) { setSignificant(child, size) } else { isolated.append(child) } }
        if 4 * entry.root + 3 < count { sets.append(Entry(root: entry.root, isDeep: true)) }
      }
    }
    sets = kept
  }
}

/// A binary arithmetic decoder with adaptive probabilities, on ten bits.
///
/// Source: I. Witten, R. Neal, J. Cleary, Arithmetic coding for data compression, 1987.
private struct ArithmeticDecoder {
  private static let whole = 1024

  private let stream: [UInt8]
  private var position = 0
  private var window = 0
  private var low = 0
  private var high = whole
  /// How often 0 came in a context, and how often anything.
  private var counts: [(zeros: Int, all: Int)]

  init(_ stream: [UInt8], contextCount: Int) {
    self.stream = stream
    counts = Array(repeating: (8, 16), count: contextCount)
    for _ in 0..<10 { window = window << 1 | nextBit() }
  }

  private mutating func nextBit() -> Int {
    let byte = position >> 3
    guard byte < stream.count else { return 0 }
    let bit = Int(stream[byte] >> UInt8(position & 7) & 1)
    position += 1
    return bit
  }

  /// The next decision of a context.
  mutating func next(context: Int) -> Bool {
    let (zeros, all) = counts[context]
    let share = Int((Double(zeros) / Double(all) * Double(Self.whole)).rounded())
    let range = high - low
    let split = min(max(range * share / Self.whole, 1), range - 1)
    let isOne = window - low >= split
    if isOne { low += split } else { high = low + split }
    while true {
      let offset: Int
      if high <= 512 {
        offset = 0
      } else if low >= 512 {
        offset = 512
      } else if low >= 256, high <= 768 {
        offset = 256
      } else {
        break
      }
      low = (low - offset) << 1
      high = (high - offset) << 1
      window = ((window - offset) << 1) + nextBit()
    }
    counts[context] = (isOne ? zeros : zeros + 1, all + 1)
    return isOne
  }
}
