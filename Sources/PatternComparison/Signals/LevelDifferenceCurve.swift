internal import CMath

/// A time range in which one signal is stronger or weaker than another.
struct LevelSegment {
  /// Seconds.
  var range: ClosedRange<Double>
  /// The median of the difference in decibels.
  var usual: Double
  /// The greatest difference in decibels.
  var greatest: Double
}

/// The difference of level between two signals over time.
struct LevelDifferenceCurve {
  /// Decibels at each step, or nil where both are silent.
  private let differences: [Double?]
  private let step: Double

  /// Seconds whose power is one value: a period of 40 Hz.
  static let window = 0.025
  /// Differences below this many decibels are none.
  static let least = 0.4

  init(_ x: [Float], _ y: [Float], rate: Double) {
    let hop = max(1, Int(0.005 * rate))
    let reach = max(1, Int(Self.window * rate / 2))
    step = Double(hop) / rate
    let powers = Self.powers(x, hop: hop, reach: reach)
    let others = Self.powers(y, hop: hop, reach: reach)
    let greatest = max(powers.max() ?? 0, others.max() ?? 0)
    let floor = greatest * 1e-4
    differences = zip(powers, others).map { a, b in max(a, b) > floor ? 10 * log10(max(b, floor) / max(a, floor)) : nil
    }
  }

  /// The power around each step under a rectangle, by running sums.
  private static func powers(_ samples: [Float], hop: Int, reach: Int) -> [Double] {
    var sums = [0.0]
    sums.reserveCapacity(samples.count + 1)
    var sum = 0.0
    for sample in samples {
      sum += Double(sample) * Double(sample)
      sums.append(sum)
    }
    return stride(from: 0, to: samples.count, by: hop).map { center in
      let start = max(0, center - reach)
      let end = min(samples.count, center + reach)
      return max(0, sums[end] - sums[start]) / Double(max(1, end - start))
    }
  }

  /// The one difference of the whole, where it is the same everywhere.
  var even: Double? {
    let known = differences.compactMap(\.self)
    guard !known.isEmpty else { return 0 }
    let mean = known.reduce(0, +) / Double(known.count)
    let spread = known.map { abs($0 - mean) }.sorted()[known.count * 95 / 100]
    return spread < Self.least ? mean : nil
  }

  /// Where the second is stronger or weaker for at least 20 ms.
  var segments: [LevelSegment] {
    var segments: [LevelSegment] = []
    var start: Int?
    for index in 0...differences.count {
      let value = index < differences.count ? differences[index] ?? 0 : 0
      if let from = start {
        let isSame = abs(value) > Self.least && (value > 0) == ((differences[from] ?? 0) > 0)
        if !isSame {
          append(from..<index, to: &segments)
          start = nil
        }
      }
      if start == nil, abs(value) > Self.least { start = index }
    }
    return segments
  }

  /// Adds a segment, from where half its difference is reached, since the window blurs its edges.
  private func append(_ part: Range<Int>, to segments: inout [LevelSegment]) {
    let values = part.map { differences[$0] ?? 0 }
    guard Double(values.count) * step >= 0.02 else { return }
    let usual = values.sorted()[values.count / 2]
    let greatest = values.max { abs($0) < abs($1) } ?? usual
    let start = values.firstIndex { abs($0) >= abs(usual) / 2 } ?? 0
    let end = values.lastIndex { abs($0) >= abs(usual) / 2 } ?? 0
    let from = Double(part.lowerBound + start) * step
    segments.append(
      LevelSegment(range: from...max(from, Double(part.lowerBound + end) * step), usual: usual, greatest: greatest))
  }
}
