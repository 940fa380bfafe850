internal import CMath
import SignalAnalysis

/// The rendered samples of one event, without the other events of its pattern.
package struct EventWaveform {
  package var event: IndexedEvent
  /// The time of the event, in seconds from the start of the reference.
  package var time: Double
  /// The offset of the first sample from the time of the event, in seconds.
  private(set) var sampleOffset: Double
  private(set) var samples: [Float]
  /// The sample rate, in hertz.
  let rate: Double
  /// The sum of the squared samples.
  private(set) var energy: Double
  /// The coefficients of the cubic B-spline through the samples, padded with silence.
  private var splineCoefficients: [Float]

  /// The number of silent samples at each end of the spline.
  private static let paddingCount = 8

  init(
    _ event: IndexedEvent, time: Double, sampleOffset: Double, samples: [Float], rate: Double
  ) {
    self.event = event
    self.time = time
    self.sampleOffset = sampleOffset
    self.samples = samples
    self.rate = rate
    energy = Vector.energy(samples)
    let silence = [Float](repeating: 0, count: Self.paddingCount)
    splineCoefficients = Self.splineCoefficients(of: silence + samples + silence)
  }

  /// The start of the samples, in seconds from the start of the reference.
  var start: Double { time + sampleOffset }
  /// The end of the samples, in seconds from the start of the reference.
  var end: Double { start + Double(samples.count) / rate }

  /// Returns a waveform of the same event with other samples.
  func replacing(samples: [Float], sampleOffset: Double? = nil) -> EventWaveform {
    EventWaveform(
      event, time: time, sampleOffset: sampleOffset ?? self.sampleOffset, samples: samples,
      rate: rate)
  }

  func scaled(by factor: Double) -> EventWaveform {
    replacing(samples: samples.map { $0 * Float(factor) })
  }

  /// The power-weighted mean frequency of a narrow-band waveform, in hertz.
  var meanFrequency: Double {
    // For a narrow band, the ratio of the energy of differences to that of sums is tan²(πf / rate).
    var differences = 0.0
    var sums = 0.0
    for (a, b) in zip(samples, samples.dropFirst()) {
      differences += Double((b - a) * (b - a))
      sums += Double((b + a) * (b + a))
    }
    return sums > 0 ? atan((differences / sums).squareRoot()) * rate / .pi : 0
  }

  /// Returns the coefficients of the cubic B-spline that interpolates samples.
  ///
  /// A causal and an anticausal recursive filter of first order (M. Unser, "Splines: a perfect fit
  /// for signal and image processing", IEEE Signal Processing Magazine 16, 1999).
  private static func splineCoefficients(of samples: [Float]) -> [Float] {
    let pole = Float(3.0.squareRoot() - 2)
    var c = samples
    guard c.count > 1 else { return c }
    for index in 1..<c.count {
      c[index] += pole * c[index - 1]
    }
    c[c.count - 1] = pole / (pole * pole - 1) * (c[c.count - 1] + pole * c[c.count - 2])
    for index in (0..<c.count - 1).reversed() {
      c[index] = pole * (c[index + 1] - c[index])
    }
    return c.map { $0 * 6 }
  }

  /// Returns the waveform resampled to its position in a recording.
  ///
  /// - Parameters:
  ///   - onset: The time of the event in the recording, in seconds.
  ///   - timeScale: The duration of a second of the waveform in the recording, in seconds.
  ///   - count: The number of samples of the recording.
  func column(onset: Double, timeScale: Double, count: Int) -> DesignColumn {
    let first = Int(((onset + sampleOffset * timeScale) * rate).rounded(.down))
    let last = first + Int(Double(samples.count) * timeScale) + 2
    let range = max(0, first)..<max(0, first, min(count, last))
    guard !range.isEmpty, !samples.isEmpty else { return DesignColumn(start: 0, samples: []) }
    let step = 1 / timeScale
    let firstPosition =
      (Double(range.lowerBound) / rate - onset) * step * rate - sampleOffset * rate
      + Double(Self.paddingCount)
    var output = [Float](repeating: 0, count: range.count)
    unsafe splineCoefficients.withUnsafeBufferPointer { c in
      unsafe output.withUnsafeMutableBufferPointer { output in
        for index in 0..<output.count {
          let position = firstPosition + Double(index) * step
          let lower = Int(position.rounded(.down))
          guard lower >= 1, lower &+ 2 < c.count else { continue }
          let f = Float(position - Double(lower))
          let g = 1 - f
          let a = g * g * g
          let b = f * f * f
          let p = 4 - 6 * f * f + 3 * b
          let q = 4 - 6 * g * g + 3 * a
          unsafe output[index] =
            (a * c[lower &- 1] + p * c[lower] + q * c[lower &+ 1] + b * c[lower &+ 2]) / 6
        }
      }
    }
    return DesignColumn(start: range.lowerBound, samples: output)
  }
}

/// A column of the regression's design matrix: samples at an offset, zero elsewhere.
struct DesignColumn {
  /// The index of the first sample.
  var start: Int
  var samples: [Float]

  /// The indices of the samples in a recording.
  var range: Range<Int> { start..<start + samples.count }

  /// Returns the filtered column, cut at the end of the recording and silent while the filter
  /// starts.
  ///
  /// - Parameters:
  ///   - taps: The impulse response of the filter.
  ///   - count: The number of samples of the recording.
  func whitened(by taps: [Float], count: Int) -> DesignColumn {
    guard !samples.isEmpty else { return self }
    let tail = min(taps.count - 1, max(0, count - start - samples.count))
    var output = Vector.filtered(samples, by: taps, tail: tail)
    if start < taps.count, taps.count > 1 {
      for index in 0..<min(taps.count - start, output.count) {
        output[index] = 0
      }
    }
    return DesignColumn(start: start, samples: output)
  }

  /// Adds a multiple of the column to samples whose first index is `first`.
  func add(to sum: inout [Float], from first: Int = 0, times factor: Double) {
    Vector.add(samples, times: factor, to: &sum, at: start - first)
  }

  /// Sets the samples in ranges of the recording to zero.
  mutating func silence(_ ranges: [Range<Int>]) {
    for range in ranges {
      let overlap = range.clamped(to: self.range)
      guard !overlap.isEmpty else { continue }
      Vector.zero(&samples, in: overlap.lowerBound - start..<overlap.upperBound - start)
    }
  }

  /// Returns the energy of the samples in a range of the recording.
  func energy(in range: Range<Int>) -> Double {
    let overlap = range.clamped(to: self.range)
    return overlap.isEmpty
      ? 0 : Vector.energy(samples, overlap.lowerBound - start..<overlap.upperBound - start)
  }

  /// Returns the inner product with another column.
  func dot(_ other: DesignColumn) -> Double {
    let first = max(start, other.start)
    let last = min(start + samples.count, other.start + other.samples.count)
    return Vector.dot(
      samples, from: first - start, other.samples, from: first - other.start, count: last - first)
  }

  /// Returns the inner product with a recording.
  func dot(_ recording: [Float]) -> Double {
    Vector.dot(
      samples, from: 0, recording, from: start, count: min(samples.count, recording.count - start))
  }
}
