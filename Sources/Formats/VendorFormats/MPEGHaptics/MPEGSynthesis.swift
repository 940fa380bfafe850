internal import HapticModel
internal import HapticFormats
internal import CMath

/// The waveform of a vectorial wave at ascending positions. Amplitude and frequency are linear
/// between the key frames that have them; the phase is the integral of the frequency.
struct VectorialWave {
  private let amplitudes: [(position: Double, value: Double)]
  /// The frequencies, with the phase at each key frame, in radians.
  private let frequencies: [(position: Double, hertz: Double, phase: Double)]
  private let initialPhase: Double
  private let baseSignal: MPEGBaseSignal
  private let timescale: Double
  private var nextAmplitudeIndex = 0
  private var nextFrequencyIndex = 0

  init(_ effect: MPEGDocument.Effect, timescale: Int) {
    amplitudes = effect.keyframes.filter { !$0.amplitude.isNaN }.map {
      (Double($0.position), Double($0.amplitude))
    }
    let tick = 1 / Double(timescale)
    var phase = effect.phase
    var frequencies: [(position: Double, hertz: Double, phase: Double)] = []
    for key in effect.keyframes where !key.frequency.isNaN {
      let position = Double(key.position)
      let hertz = Double(key.frequency)
      if let last = frequencies.last {
        phase += .pi * (position - last.position) * tick * (last.hertz + hertz)
      } else {
        phase += 2 * .pi * position * tick * hertz
      }
      frequencies.append((position, hertz, phase))
    }
    self.frequencies = frequencies
    self.initialPhase = effect.phase
    self.timescale = Double(timescale)
    baseSignal = effect.baseSignal
  }

  /// Returns the value at a position in ticks from the start of the effect; not before that of the
  /// preceding call.
  mutating func value(at position: Double) -> Double {
    while nextAmplitudeIndex < amplitudes.count, amplitudes[nextAmplitudeIndex].position < position
    {
      nextAmplitudeIndex += 1
    }
    while nextFrequencyIndex < frequencies.count,
      frequencies[nextFrequencyIndex].position < position
    {
      nextFrequencyIndex += 1
    }
    return amplitude(at: position) * wave(at: position)
  }

  private func amplitude(at position: Double) -> Double {
    guard let last = amplitudes.last else { return 1 }
    guard nextAmplitudeIndex < amplitudes.count else { return last.value }
    let to = amplitudes[nextAmplitudeIndex]
    guard nextAmplitudeIndex > 0 else { return to.value }
    let from = amplitudes[nextAmplitudeIndex - 1]
    let share = (position - from.position) / (to.position - from.position)
    return from.value + (to.value - from.value) * share
  }

  private func wave(at position: Double) -> Double {
    guard let last = frequencies.last else {
      return signalValue(seconds: 0, hertz: 0, phase: initialPhase)
    }
    guard nextFrequencyIndex < frequencies.count else {
      return signalValue(
        seconds: (position - last.position) / timescale, hertz: last.hertz, phase: last.phase)
    }
    let to = frequencies[nextFrequencyIndex]
    guard nextFrequencyIndex > 0 else {
      return signalValue(seconds: position / timescale, hertz: to.hertz, phase: initialPhase)
    }
    let from = frequencies[nextFrequencyIndex - 1]
    let elapsed = position - from.position
    let slope = (to.hertz - from.hertz) / (to.position - from.position)
    return signalValue(
      seconds: elapsed / timescale, hertz: from.hertz + slope * elapsed / 2, phase: from.phase)
  }

  private func signalValue(seconds: Double, hertz: Double, phase: Double) -> Double {
    let turns = hertz == 0 ? 0 : hertz * (seconds + phase / (2 * .pi * hertz))
    switch baseSignal {
    case .sine: return hertz == 0 ? sin(phase) : sin(2 * .pi * turns)
    case .square: return 1 - 2 * (turns - floor(turns)).rounded()
    case .triangle: return 1 - 4 * abs((turns - 0.25).rounded() - (turns - 0.25))
    case .sawToothUp: return 2 * (turns - floor(turns + 0.5))
    case .sawToothDown: return 2 * (floor(turns + 0.5) - turns)
    }
  }
}

/// The samples of a curve effect, whose amplitude is the signal.
struct CurveInterpolator {
  /// A key frame, with its position in samples from the start.
  struct Point: Equatable {
    var position: Double
    var value: Double
  }

  /// The key frames, sorted by position.
  let points: [Point]

  /// The key frames without duplicate positions; the last of them remains. Linear and cubic curves
  /// use all key frames, because they may jump.
  private var distinctPoints: [Point] {
    var distinct: [Point] = []
    for point in points {
      if distinct.last?.position == point.position {
        distinct.removeLast()
      }
      distinct.append(point)
    }
    return distinct
  }

  /// Returns the samples from 0 to the last key frame.
  func samples(of kind: MPEGCurveKind) -> [Double] {
    guard points.count > 1, let last = points.last, last.position >= 0 else { return [] }
    var samples = [Double](repeating: 0, count: Int(last.position) + 1)
    if points.count == 2 {
      addSegments(to: &samples) { $0 }
      return samples
    }
    switch kind {
    case .linear: addSegments(to: &samples) { $0 }
    case .cubic, .unknown: addSegments(to: &samples) { (3 - 2 * $0) * $0 * $0 }
    case .akima: addAkima(distinctPoints, to: &samples)
    case .bezier: addBezier(distinctPoints, to: &samples)
    case .bSpline: addBSpline(distinctPoints, to: &samples)
    }
    return samples
  }

  /// Adds the samples between successive key frames.
  ///
  /// - Parameters:
  ///   - samples: The output.
  ///   - easing: Maps the fraction of the elapsed time to the fraction of the change in value.
  private func addSegments(to samples: inout [Double], easing law: (Double) -> Double) {
    for (from, to) in zip(points, points.dropFirst()) where to.position > from.position {
      for index in Self.sampleIndices(from: from.position, to: to.position, in: samples) {
        let share = law((Double(index) - from.position) / (to.position - from.position))
        samples[index] = from.value + (to.value - from.value) * share
      }
    }
  }

  /// Returns the indices of the samples from one position to another, including both.
  private static func sampleIndices(from: Double, to: Double, in samples: [Double]) -> ClosedRange<
    Int
  > {
    let first = FrameConversion.integer(from.rounded(.up), in: 0...samples.count - 1)
    return first...max(first, FrameConversion.integer(to.rounded(.down), in: 0...samples.count - 1))
  }

  /// Adds a piecewise cubic curve whose slope at a key frame is a weighted mean of the adjacent
  /// slopes. Two slopes are extrapolated at each end.
  ///
  /// Source: H. Akima, *A new method of interpolation and smooth curve fitting based on local
  /// procedures*, 1970.
  private func addAkima(_ points: [Point], to samples: inout [Double]) {
    guard points.count > 2 else {
      return CurveInterpolator(points: points).addSegments(to: &samples) { $0 }
    }
    let inner = zip(points, points.dropFirst()).map {
      ($1.value - $0.value) / ($1.position - $0.position)
    }
    let first = inner[0]
    let second = inner[1]
    let last = inner[inner.count - 1]
    let next = inner[inner.count - 2]
    let slopes =
      [3 * first - 2 * second, 2 * first - second] + inner + [2 * last - next, 3 * last - 2 * next]
    let changes = zip(slopes, slopes.dropFirst()).map { abs($1 - $0) }
    let weights = points.indices.map { changes[$0 + 2] + changes[$0] }
    let threshold = 1e-8 * (weights.max() ?? 0)
    let tangents = points.indices.map { index in
      guard weights[index] > threshold else { return slopes[index + 1] }
      return (changes[index + 2] * slopes[index + 1] + changes[index] * slopes[index + 2])
        / weights[index]
    }
    for (index, (from, to)) in zip(points, points.dropFirst()).enumerated() {
      let width = to.position - from.position
      let start = tangents[index]
      let end = tangents[index + 1]
      let square = (3 * inner[index] - 2 * start - end) / width
      let cube = (start + end - 2 * inner[index]) / (width * width)
      for sample in Self.sampleIndices(from: from.position, to: to.position, in: samples) {
        let x = Double(sample) - from.position
        samples[sample] = ((x * cube + square) * x + start) * x + from.value
      }
    }
  }

  /// Adds quadratic Bézier curves, in which every second key frame is a control point.
  private func addBezier(_ points: [Point], to samples: inout [Double]) {
    var index = 0
    while index + 2 < points.count {
      Self.addArc(points[index], points[index + 1], points[index + 2], to: &samples)
      index += 2
    }
    if index + 2 == points.count {
      CurveInterpolator(points: Array(points[index...])).addSegments(to: &samples) { $0 }
    }
  }

  /// Adds the samples of a quadratic Bézier curve. The parameter *t* at each sample solves the
  /// quadratic equation for its position.
  private static func addArc(
    _ start: Point, _ control: Point, _ end: Point, to samples: inout [Double]
  ) {
    guard end.position > start.position else { return }
    let bend = start.position - 2 * control.position + end.position
    let rise = control.position - start.position
    for index in sampleIndices(from: start.position, to: end.position, in: samples) {
      let x = Double(index) - start.position
      let t: Double
      if abs(bend) > 1e-9 * (end.position - start.position) {
        t = (max(rise * rise + bend * x, 0).squareRoot() - rise) / bend
      } else {
        t = x / (2 * rise)
      }
      samples[index] =
        (1 - t) * (1 - t) * start.value + 2 * t * (1 - t) * control.value + t * t * end.value
    }
  }

  /// Adds a clamped quadratic B-spline with uniform knots: arcs that meet halfway between key
  /// frames.
  private func addBSpline(_ points: [Point], to samples: inout [Double]) {
    guard points.count > 2 else {
      return CurveInterpolator(points: points).addSegments(to: &samples) { $0 }
    }
    func middle(_ index: Int) -> Point {
      Point(
        position: (points[index].position + points[index + 1].position) / 2,
        value: (points[index].value + points[index + 1].value) / 2)
    }
    let last = points.count - 3
    for index in 0...last {
      Self.addArc(
        index == 0 ? points[0] : middle(index), points[index + 1],
        index == last ? points[last + 2] : middle(index + 1),
        to: &samples)
    }
  }
}

/// The block length of a wavelet band, in samples.
struct WaveletBlock {
  /// The number of samples, a power of two from 16 to 65,536, or nil if the band has an invalid
  /// block length.
  let sampleCount: Int?

  /// Computes the block length. The upper frequency limit of a wavelet band is its sample rate.
  init(_ band: MPEGDocument.Band, timescale: Int) {
    let samples = Double(band.blockLength) / Double(timescale) * band.upperHertz
    // A length in ticks is rarely a whole number of samples.
    let whole = FrameConversion.integer((samples + 1e-6).rounded(.down), in: 0...1_000_000)
    sampleCount = whole >= 16 && whole <= 65_536 && whole.nonzeroBitCount == 1 ? whole : nil
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
  /// Returns the samples of one block.
  ///
  /// - Parameters:
  ///   - stream: The bits of the block; bits after its end count as 0.
  ///   - count: The number of samples, a power of two of at least 16.
  static func samples(of stream: [UInt8], count: Int) -> [Double] {
    var spiht = SPIHTDecoder(stream, count: count)
    let (coefficients, scale) = spiht.decode()
    var samples = coefficients.map { Double($0) * scale }
    var length = 8
    while length <= count {
      reconstruct(&samples, count: length)
      length *= 2
    }
    return samples
  }

  /// The low-pass synthesis filter, from the center outward. The filter is symmetric.
  private static let lowPassTaps = [
    0.788485616405665, 0.418092273222212, -0.040689417609559, -0.064538882628938,
  ]
  /// The high-pass synthesis filter, from the center outward. The filter is symmetric.
  private static let highPassTaps = [
    -0.852698679009404, 0.377402855612654, 0.110624404418423, -0.023849465019380,
    -0.037828455506995,
  ]

  /// Merges the low-pass and high-pass halves of the first coefficients into samples of twice the
  /// rate.
  private static func reconstruct(_ values: inout [Double], count: Int) {
    var lows = [Double](repeating: 0, count: count)
    var highs = lows
    for index in 0..<count / 2 {
      lows[2 * index] = values[index]
      highs[2 * index + 1] = values[index + count / 2]
    }
    for index in 0..<count {
      values[index] =
        convolved(highs, at: index, with: highPassTaps)
        + convolved(lows, at: index, with: lowPassTaps)
    }
  }

  /// Returns the output of a symmetric filter at one index. The signal is mirrored at its ends
  /// without repeating the end samples.
  private static func convolved(_ values: [Double], at index: Int, with filter: [Double]) -> Double
  {
    let last = values.count - 1
    var sum = values[index] * filter[0]
    for distance in 1..<filter.count {
      let before = index - distance
      let behind = index + distance
      sum +=
        filter[distance]
        * (values[before < 0 ? -before : before]
          + values[behind > last ? 2 * last - behind : behind])
    }
    return sum
  }
}

/// Decodes the coefficients of a block by set partitioning in hierarchical trees (SPIHT), one bit
/// plane at a time. Coefficient *i* has the children 2*i* and 2*i* + 1; a set contains the
/// descendants of its root.
private struct SPIHTDecoder {
  /// The kinds of decisions. Each kind has its own probability.
  private enum Context: Int {
    case header, sign, coefficient, descendants, child, indirectDescendants, refinement
  }

  private struct CoefficientSet {
    var root: Int
    /// A Boolean value that indicates whether the set contains only descendants beyond the
    /// children.
    var excludesChildren: Bool
  }

  private var decoder: ArithmeticDecoder
  private let count: Int
  private var coefficients: [Int]
  private var insignificantCoefficients: [Int]
  private var significantCoefficients: [Int] = []
  private var insignificantSets: [CoefficientSet]

  init(_ stream: [UInt8], count: Int) {
    decoder = ArithmeticDecoder(stream, contextCount: Context.refinement.rawValue + 1)
    self.count = count
    coefficients = Array(repeating: 0, count: count)
    insignificantCoefficients = Array(0..<8)
    insignificantSets = (4..<8).map { CoefficientSet(root: $0, excludesChildren: false) }
  }

  /// Returns the quantized coefficients and their scale.
  mutating func decode() -> ([Int], Double) {
    let planes = nextNumber(bits: 4)
    let isAboveOne = nextBit(.header)
    let level = Double(nextNumber(bits: 7))
    let greatest = isAboveOne ? level / 8 + 1 : level / 128
    for plane in stride(from: planes, through: 0, by: -1) {
      let known = significantCoefficients.count
      sortingPass(magnitude: 1 << plane)
      for index in significantCoefficients[..<known] where nextBit(.refinement) {
        coefficients[index] += coefficients[index] > 0 ? 1 << plane : -(1 << plane)
      }
    }
    return (coefficients, greatest / Double(1 << planes))
  }

  private mutating func nextBit(_ context: Context) -> Bool {
    decoder.next(context: context.rawValue)
  }

  /// Decodes a number, least significant bit first.
  private mutating func nextNumber(bits count: Int) -> Int {
    var number = 0
    for place in 0..<count where nextBit(.header) {
      number |= 1 << place
    }
    return number
  }

  private mutating func setSignificant(_ index: Int, magnitude size: Int) {
    coefficients[index] = nextBit(.sign) ? size : -size
    significantCoefficients.append(index)
  }

  private mutating func sortingPass(magnitude size: Int) {
    var stillIsolated: [Int] = []
    for index in insignificantCoefficients {
      if nextBit(.coefficient) {
        setSignificant(index, magnitude: size)
      } else {
        stillIsolated.append(index)
      }
    }
    insignificantCoefficients = stillIsolated
    var kept: [CoefficientSet] = []
    var place = 0
    // Sets that are divided are processed in the same pass.
    while place < insignificantSets.count {
      let entry = insignificantSets[place]
      place += 1
      let children = 2 * entry.root..<2 * entry.root + 2
      if entry.excludesChildren {
        guard nextBit(.indirectDescendants) else {
          kept.append(entry)
          continue
        }
        for child in children {
          insignificantSets.append(CoefficientSet(root: child, excludesChildren: false))
        }
      } else {
        guard nextBit(.descendants) else {
          kept.append(entry)
          continue
        }
        for child in children {
          if nextBit(.child) {
            setSignificant(child, magnitude: size)
          } else {
            insignificantCoefficients.append(child)
          }
        }
        if 4 * entry.root + 3 < count {
          insignificantSets.append(CoefficientSet(root: entry.root, excludesChildren: true))
        }
      }
    }
    insignificantSets = kept
  }
}

/// A binary arithmetic decoder with adaptive probabilities, with a code range of ten bits.
///
/// Source: I. Witten, R. Neal, J. Cleary, *Arithmetic coding for data compression*, 1987.
private struct ArithmeticDecoder {
  private static let codeRange = 1024

  private let stream: [UInt8]
  private var position = 0
  private var codeWindow = 0
  private var low = 0
  private var high = codeRange
  /// For each context, the number of zeros and of all symbols so far.
  private var symbolCounts: [(zeros: Int, all: Int)]

  init(_ stream: [UInt8], contextCount: Int) {
    self.stream = stream
    symbolCounts = Array(repeating: (8, 16), count: contextCount)
    for _ in 0..<10 {
      codeWindow = codeWindow << 1 | nextBit()
    }
  }

  private mutating func nextBit() -> Int {
    let byte = position >> 3
    guard byte < stream.count else { return 0 }
    let bit = Int(stream[byte] >> UInt8(position & 7) & 1)
    position += 1
    return bit
  }

  mutating func next(context: Int) -> Bool {
    let (zeros, all) = symbolCounts[context]
    let share = Int((Double(zeros) / Double(all) * Double(Self.codeRange)).rounded())
    let range = high - low
    let split = min(max(range * share / Self.codeRange, 1), range - 1)
    let isOne = codeWindow - low >= split
    if isOne {
      low += split
    } else {
      high = low + split
    }
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
      codeWindow = ((codeWindow - offset) << 1) + nextBit()
    }
    symbolCounts[context] = (isOne ? zeros : zeros + 1, all + 1)
    return isOne
  }
}
