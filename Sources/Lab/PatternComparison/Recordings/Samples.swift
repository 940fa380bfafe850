internal import CMath
import SignalAnalysis

/// Sums over rows of samples.
enum Samples {
  static func dot<Value: BinaryFloatingPoint>(_ a: [Value], _ b: [Value]) -> Double {
    dot(a, from: 0, b, from: 0, count: min(a.count, b.count))
  }

  /// `Σ a[n + i] · b[m + i]` for i below a count.
  static func dot<Value: BinaryFloatingPoint>(
    _ a: [Value], from n: Int, _ b: [Value], from m: Int, count: Int
  )
    -> Double
  {
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

  static func energy<Value: BinaryFloatingPoint>(_ a: [Value]) -> Double { dot(a, a) }

  static func energy(_ a: [Float], _ range: Range<Int>) -> Double {
    dot(a, from: range.lowerBound, a, from: range.lowerBound, count: range.count)
  }

  /// Adds a multiple of a row, or of its first values, to another at a place; what lies outside is
  /// left out.
  static func add<Value: BinaryFloatingPoint>(
    _ x: [Value], times factor: Double, to y: inout [Value], at place: Int, count: Int = .max
  ) {
    let factor = Value(factor)
    let first = max(0, -place)
    let last = min(count, x.count, y.count - place)
    unsafe x.withUnsafeBufferPointer { x in
      unsafe y.withUnsafeMutableBufferPointer { y in
        for i in first..<max(first, last) {
          unsafe y[place &+ i] += factor * x[i]
        }
      }
    }
  }

  /// `Σ a[n] · b[n + lag]` for each lag, `b` silent outside.
  static func crossCorrelation(_ a: [Double], _ b: [Double], lags: Range<Int>) -> [Double] {
    var sums = [Double](repeating: 0, count: lags.count)
    let before = max(0, -lags.lowerBound)
    let silence = [Double](repeating: 0, count: before)
    let padded =
      silence + b + [Double](repeating: 0, count: max(0, a.count + lags.upperBound - b.count))
    unsafe padded.withUnsafeBufferPointer { b in
      unsafe sums.withUnsafeMutableBufferPointer { sums in
        for (index, value) in a.enumerated() where value != 0 {
          let first = index &+ before &+ lags.lowerBound
          for lag in 0..<sums.count {
            unsafe sums[lag] += value * b[first &+ lag]
          }
        }
      }
    }
    return sums
  }

  static func silence(_ x: inout [Float], in range: Range<Int>) {
    for index in range.clamped(to: x.indices) {
      x[index] = 0
    }
  }

  static func filtered(_ x: [Float], by taps: [Float], tail: Int = 0) -> [Float] {
    guard taps.count > 1 else { return x + [Float](repeating: 0, count: tail) }
    var output = [Float](repeating: 0, count: x.count + tail)
    // Blocks that stay in the cache.
    for first in stride(from: 0, to: x.count, by: 1_024) {
      let block = Array(x[first..<min(x.count, first + 1_024)])
      for (place, tap) in taps.enumerated() {
        add(block, times: Double(tap), to: &output, at: first + place)
      }
    }
    return output
  }

  static func median(_ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }

  /// The value that half of the weight does not exceed; 0 of none.
  static func median(_ values: [Double], weights: [Double]) -> Double {
    let order = values.indices.sorted { values[$0] < values[$1] }
    let half = weights.reduce(0, +) / 2
    var sum = 0.0
    for index in order {
      sum += weights[index]
      if sum >= half { return values[index] }
    }
    return 0
  }
}

extension FourierTransform {
  /// The products of a signal, by its bins, with a shape at each lag, those before 0 at the end.
  mutating func correlation(_ bins: [ComplexNumber], _ shape: [Float]) -> [Float] {
    let own = forward(shape)
    return backward(bins.indices.map { bins[$0] * own[$0].conjugate })
  }
}

/// A symmetric positive matrix whose rows start where they are first not zero, and its factor.
struct SkylineMatrix {
  private(set) var starts: [Int] = []
  private(set) var rows: [[Double]] = []

  var count: Int { rows.count }

  mutating func append(_ values: [Double], from start: Int) {
    starts.append(start)
    rows.append(values)
  }

  /// The logarithm of the root of the determinant, after `factor`.
  var logDeterminantRoot: Double { rows.indices.reduce(0) { $0 + log(rows[$1][$1 - starts[$1]]) } }

  /// Replaces the matrix by its Cholesky factor, each diagonal raised by a share of it.
  mutating func factorize(regularization share: Double = 1e-6) {
    for row in rows.indices {
      let start = starts[row]
      var values = rows[row]
      for column in start...row {
        let other = starts[column]
        let first = max(start, other)
        let product = Samples.dot(
          values, from: first - start, column == row ? values : rows[column], from: first - other,
          count: column - first
        )
        if column == row {
          let raised = values[column - start] * (1 + share) + 1e-20
          values[column - start] = max(raised - product, 1e-9 * raised + 1e-20).squareRoot()
        } else {
          values[column - start] = (values[column - start] - product) / rows[column][column - other]
        }
      }
      rows[row] = values
    }
  }

  func solution(of right: [Double]) -> [Double] {
    var x = forwardSubstitution(of: right)
    for row in rows.indices.reversed() {
      let start = starts[row]
      x[row] /= rows[row][row - start]
      Samples.add(rows[row], times: -x[row], to: &x, at: start, count: row - start)
    }
    return x
  }

  /// What its lower factor alone turns into the right side, after `factor`.
  func forwardSubstitution(of right: [Double]) -> [Double] {
    var x = right
    for row in rows.indices {
      let start = starts[row]
      x[row] -= Samples.dot(rows[row], from: 0, x, from: start, count: row - start)
      x[row] /= rows[row][row - start]
    }
    return x
  }

  /// The root of a diagonal element of the inverse, after `factor`.
  func inverseDiagonalRoot(at place: Int) -> Double {
    var z = [Double](repeating: 0, count: count - place)
    var sum = 0.0
    for row in place..<count {
      let start = starts[row]
      var value = row == place ? 1.0 : 0
      let first = max(start, place)
      if first < row {
        for column in first..<row {
          value -= rows[row][column - start] * z[column - place]
        }
      }
      value /= rows[row][row - start]
      z[row - place] = value
      sum += value * value
    }
    return sum.squareRoot()
  }
}

enum HumDetector {
  /// How far above its neighbourhood a line of the mains stands, as a ratio of powers.
  private static let mainsProminence = 25.0
  private static let toneProminence = 400.0
  private static let mainsFrequencies = [50.0, 60.0]
  private static let maximumHarmonic = 12

  /// Hertz of all lines, and 50 or 60 where they are multiples of it.
  typealias Hum = (lines: [Double], mains: Double?)

  static func find(in residual: [Float], rate: Double) -> Hum {
    // A minute is enough, and lines that drift stay narrow in it.
    let samples = Array(residual.prefix(Int(60 * rate)))
    guard samples.count > Int(0.25 * rate) else { return ([], nil) }
    let length = FourierTransform.fastLength(atLeast: max(8_192, 2 * samples.count))
    var transform = FourierTransform(length: length)
    let windowed = samples.indices.map { index in
      samples[index] * Float(0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(samples.count - 1)))
    }
    let powers = transform.forward(windowed).map { Double($0.power) }
    let width = rate / Double(length)
    var found: Hum = ([], nil)
    for base in mainsFrequencies {
      let lines = (1...maximumHarmonic).compactMap { multiple -> Double? in
        let reach = max(0.3 * Double(multiple), 0.5)
        let hertz = base * Double(multiple)
        return spectralLine(
          in: powers, binWidth: width, from: hertz - reach, to: hertz + reach,
          prominence: mainsProminence)
      }
      if lines.count > found.lines.count {
        found = (lines, base)
      }
    }
    guard found.lines.isEmpty else { return found }
    if let line = spectralLine(
      in: powers, binWidth: width, from: 20, to: 1_000, prominence: toneProminence)
    {
      found.lines.append(line)
    }
    return found
  }

  private static func spectralLine(
    in powers: [Double], binWidth width: Double, from low: Double, to high: Double,
    prominence: Double
  )
    -> Double?
  {
    let first = max(1, Int(low / width))
    let last = min(powers.count - 2, Int(high / width) + 1)
    guard first < last, let peak = (first...last).max(by: { powers[$0] < powers[$1] }) else {
      return nil
    }
    let reach = Int(8 / width) + 4
    let near = Samples.median(Array(powers[max(1, peak - reach)..<min(powers.count, peak + reach)]))
    guard powers[peak] > prominence * near, near >= 0, powers[peak] > 0 else { return nil }
    let a = log(powers[peak - 1] + 1e-30)
    let b = log(powers[peak])
    let c = log(powers[peak + 1] + 1e-30)
    let bend = a - 2 * b + c
    let offset = bend < 0 ? 0.5 * (a - c) / bend : 0
    return (Double(peak) + offset) * width
  }

  /// The mean square of one tone in some samples, and how many they are.
  static func power(
    at hertz: Double, in samples: [Float], rate: Double,
    where isChosen: (Int) -> Bool = { _ in true }
  )
    -> (power: Double, count: Int)
  {
    let step = 2 * .pi * hertz / rate
    var real = 0.0
    var imaginary = 0.0
    var count = 0
    for index in samples.indices where isChosen(index) {
      real += Double(samples[index]) * cos(step * Double(index))
      imaginary += Double(samples[index]) * sin(step * Double(index))
      count += 1
    }
    guard count > 8 else { return (0, count) }
    return (2 * (real * real + imaginary * imaginary) / Double(count * count), count)
  }
}

struct BurstDetector {
  struct Burst {
    var range: Range<Int>
    var start: Int
    var amplitude: Double
    var score: Double
  }

  /// One burst: a column, and one a quarter of a period later where its phase is free.
  private var templates: [(cosine: [Float], sine: [Float]?)] = []

  init(rate: Double, extra: [EventWaveform]) {
    for step in 0..<9 {
      let hertz = 60 * pow(320.0 / 60, Double(step) / 8)
      for seconds in [0.012, 0.035] {
        let count = Int(seconds * rate)
        let window = (0..<count).map { pow(sin(.pi * (Double($0) + 0.5) / Double(count)), 0.6) }
        let angle = 2 * .pi * hertz / rate
        templates.append(
          (
            window.indices.map { Float(window[$0] * cos(angle * Double($0))) },
            window.indices.map { Float(window[$0] * sin(angle * Double($0))) }
          ))
      }
    }
    for stem in extra {
      let peak = max(1e-9, SignalPair.peak(stem.samples))
      templates.append((stem.samples.map { $0 / peak }, nil))
    }
  }

  /// The clearest burst in a whitened residual, or nil where there is none.
  ///
  /// - Parameter hidden: The amplitude, at each sample, below which a burst is not felt.
  func strongestBurst(
    in residual: [Float], whitener: [Float], sigma: Double, maskingThreshold hidden: [Float]
  )
    -> Burst?
  {
    let length = FourierTransform.fastLength(atLeast: residual.count + 300)
    var transform = FourierTransform(length: length)
    let bins = transform.forward(residual)
    let tests = max(1, Double(residual.count) / 4e4)
    let z = RecordingThreshold.zScore + 0.25 * log10(tests)
    let limit = z * z + 8
    var best: Burst?
    for (cosine, sine) in templates {
      let a = Samples.filtered(cosine, by: whitener, tail: whitener.count - 1)
      let b = sine.map { Samples.filtered($0, by: whitener, tail: whitener.count - 1) }
      let products = transform.correlation(bins, a)
      let others = b.map { transform.correlation(bins, $0) }
      let energy = b.map { (Samples.energy(a) + Samples.energy($0)) / 2 } ?? Samples.energy(a)
      let scale = Float(1 / (energy * sigma * sigma))
      let amplitude = Float(1 / energy)
      let least = max(Float(limit), Float(best.map { $0.score + limit } ?? 0))
      var found = (value: least, index: -1)
      let half = cosine.count / 2
      unsafe products.withUnsafeBufferPointer { p in
        for index in 0..<residual.count {
          var power = unsafe p[index] * p[index]
          if let others {
            power += others[index] * others[index]
          }
          guard power * scale > found.value else { continue }
          let middle = min(index + half, hidden.count - 1)
          guard power.squareRoot() * amplitude > hidden[middle] else { continue }
          found = (power * scale, index)
        }
      }
      guard found.index >= 0 else { continue }
      best = Burst(
        range: max(0, found.index - 40)..<min(residual.count, found.index + cosine.count + 40),
        start: found.index,
        amplitude: (Double(found.value) * sigma * sigma / energy).squareRoot(),
        score: Double(found.value) - limit)
    }
    return best
  }
}
