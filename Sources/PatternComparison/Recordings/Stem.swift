internal import CMath

/// The sound of one event by itself, as it lies in the reference.
struct Stem {
  /// What sentences call it.
  var event: ListedEvent
  /// Seconds of the reference at which the event begins.
  var time: Double
  /// Seconds from there to the first sample.
  private(set) var origin: Double
  /// The samples.
  private(set) var samples: [Float]
  /// Frames per second.
  let rate: Double
  /// The mean square sum of the samples.
  private(set) var energy: Double
  private var spline: [Float]

  /// Silence around the samples that interpolation needs.
  private static let margin = 8

  /// - Parameters:
  ///   - origin: Seconds from `time` to the first sample.
  init(_ event: ListedEvent, time: Double, origin: Double, samples: [Float], rate: Double) {
    self.event = event
    self.time = time
    self.origin = origin
    self.samples = samples
    self.rate = rate
    energy = Samples.energy(samples)
    let silence = [Float](repeating: 0, count: Self.margin)
    spline = Self.spline(silence + samples + silence)
  }

  /// Seconds of the reference at which the samples begin and end.
  var start: Double { time + origin }
  var end: Double { start + Double(samples.count) / rate }

  /// The stem with other samples in the same place.
  func with(samples: [Float], origin: Double? = nil) -> Stem {
    Stem(event, time: time, origin: origin ?? self.origin, samples: samples, rate: rate)
  }

  /// The stem times a factor.
  func scaled(by factor: Double) -> Stem { with(samples: samples.map { $0 * Float(factor) }) }

  /// The mean frequency, in hertz, weighted by power, from how often the samples turn.
  var hertz: Double {
    // For a narrow band, the energy of the difference over that of the sum is tan²(πf / rate).
    var differences = 0.0
    var sums = 0.0
    for (a, b) in zip(samples, samples.dropFirst()) {
      differences += Double((b - a) * (b - a))
      sums += Double((b + a) * (b + a))
    }
    return sums > 0 ? atan((differences / sums).squareRoot()) * rate / .pi : 0
  }

  /// The coefficients of the cubic spline through samples.
  private static func spline(_ samples: [Float]) -> [Float] {
    let pole = Float(3.0.squareRoot() - 2)
    var c = samples
    guard c.count > 1 else { return c }
    for index in 1..<c.count { c[index] += pole * c[index - 1] }
    c[c.count - 1] = pole / (pole * pole - 1) * (c[c.count - 1] + pole * c[c.count - 2])
    for index in (0..<c.count - 1).reversed() { c[index] = pole * (c[index + 1] - c[index]) }
    return c.map { $0 * 6 }
  }

  /// The stem as it lies in a take.
  ///
  /// - Parameters:
  ///   - onset: Seconds of the take at which the event begins.
  ///   - speed: Seconds of the take for each of the stem.
  ///   - count: Samples of the take.
  func column(onset: Double, speed: Double, count: Int) -> Column {
    let first = Int(((onset + origin * speed) * rate).rounded(.down))
    let last = first + Int(Double(samples.count) * speed) + 2
    let range = max(0, first)..<max(0, first, min(count, last))
    guard !range.isEmpty, !samples.isEmpty else { return Column(start: 0, samples: []) }
    let step = 1 / speed
    let from = (Double(range.lowerBound) / rate - onset) * step * rate - origin * rate + Double(Self.margin)
    var output = [Float](repeating: 0, count: range.count)
    unsafe spline.withUnsafeBufferPointer { c in
      unsafe output.withUnsafeMutableBufferPointer { output in
        for index in 0..<output.count {
          let place = from + Double(index) * step
          let whole = Int(place.rounded(.down))
          guard whole >= 1, whole &+ 2 < c.count else { continue }
          let f = Float(place - Double(whole))
          let g = 1 - f
          let (a, b) = (g * g * g, f * f * f)
          let (p, q) = (4 - 6 * f * f + 3 * b, 4 - 6 * g * g + 3 * a)
          unsafe output[index] = (a * c[whole &- 1] + p * c[whole] + q * c[whole &+ 1] + b * c[whole &+ 2]) / 6
        }
      }
    }
    return Column(start: range.lowerBound, samples: output)
  }
}

/// Samples at a place of a take.
struct Column {
  var start: Int
  var samples: [Float]

  /// The samples of the take that it covers.
  var range: Range<Int> { start..<start + samples.count }

  /// The column through a filter, cut where the take ends and silent where the filter starts.
  func whitened(by taps: [Float], count: Int) -> Column {
    guard !samples.isEmpty else { return self }
    let tail = min(taps.count - 1, max(0, count - start - samples.count))
    var output = Samples.filtered(samples, by: taps, tail: tail)
    if start < taps.count, taps.count > 1 {
      for index in 0..<min(taps.count - start, output.count) { output[index] = 0 }
    }
    return Column(start: start, samples: output)
  }

  /// Makes parts of the take silent.
  mutating func silence(_ ranges: [Range<Int>]) {
    for range in ranges {
      let part = range.clamped(to: self.range)
      guard !part.isEmpty else { continue }
      Samples.silence(&samples, part.lowerBound - start..<part.upperBound - start)
    }
  }

  /// The sum of products with another, each at its own place.
  func dot(_ other: Column) -> Double {
    let first = max(start, other.start)
    let last = min(start + samples.count, other.start + other.samples.count)
    return Samples.dot(samples, from: first - start, other.samples, from: first - other.start, count: last - first)
  }

  /// The sum of products with a take.
  func dot(_ take: [Float]) -> Double {
    Samples.dot(samples, from: 0, take, from: start, count: min(samples.count, take.count - start))
  }
}
