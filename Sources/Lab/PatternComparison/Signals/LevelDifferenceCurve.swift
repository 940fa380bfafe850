internal import CMath
import SignalAnalysis

/// A time range in which the levels of two signals differ.
struct LevelSegment {
  /// The time range, in seconds.
  var range: ClosedRange<Double>
  /// The median level difference, in decibels.
  var medianDecibels: Double
  /// The level difference with the greatest magnitude, in decibels.
  var extremeDecibels: Double
}

/// The level difference between two signals over time.
struct LevelDifferenceCurve {
  /// The level difference at each step, in decibels, or nil where both signals are silent.
  private let levelDifferencesDecibels: [Double?]
  /// The interval between differences, in seconds.
  private let stepSeconds: Double

  /// The duration over which power is averaged, in seconds: a period of 40 Hz.
  static let windowSeconds = 0.025
  /// The minimum level difference that counts, in decibels.
  static let minimumDifferenceDecibels = 0.4

  init(_ reference: [Float], _ candidate: [Float], rate: Double) {
    let hop = max(1, Int(0.005 * rate))
    let reach = max(1, Int(Self.windowSeconds * rate / 2))
    stepSeconds = Double(hop) / rate
    let powers = Self.meanPowers(reference, hop: hop, reach: reach)
    let candidatePowers = Self.meanPowers(candidate, hop: hop, reach: reach)
    let floor = max(powers.max() ?? 0, candidatePowers.max() ?? 0) * 1e-4
    levelDifferencesDecibels = zip(powers, candidatePowers).map { power, candidatePower in
      guard max(power, candidatePower) > floor else { return nil }
      return 10 * log10(max(candidatePower, floor) / max(power, floor))
    }
  }

  /// Returns the mean power in a rectangular window around each step, by running sums.
  private static func meanPowers(_ samples: [Float], hop: Int, reach: Int) -> [Double] {
    var sums = [0.0]
    sums.reserveCapacity(samples.count + 1)
    for sample in samples {
      sums.append(sums[sums.count - 1] + Double(sample) * Double(sample))
    }
    return stride(from: 0, to: samples.count, by: hop).map { center in
      let start = max(0, center - reach)
      let end = min(samples.count, center + reach)
      return max(0, sums[end] - sums[start]) / Double(max(1, end - start))
    }
  }

  /// The mean level difference if the difference is constant for 95 % of the time, or nil
  /// otherwise.
  var constantDifferenceDecibels: Double? {
    let values = levelDifferencesDecibels.compactMap(\.self)
    guard !values.isEmpty else { return 0 }
    let mean = values.reduce(0, +) / Double(values.count)
    let spread = values.map { abs($0 - mean) }.sorted()[values.count * 95 / 100]
    return spread < Self.minimumDifferenceDecibels ? mean : nil
  }

  /// The segments in which the candidate is stronger or weaker for at least 20 ms.
  var segments: [LevelSegment] {
    var segments: [LevelSegment] = []
    var start: Int?
    for index in 0...levelDifferencesDecibels.count {
      let value = index < levelDifferencesDecibels.count ? levelDifferencesDecibels[index] ?? 0 : 0
      if let first = start {
        let hasOtherSign = (value > 0) != ((levelDifferencesDecibels[first] ?? 0) > 0)
        if abs(value) <= Self.minimumDifferenceDecibels || hasOtherSign {
          appendSegment(first..<index, to: &segments)
          start = nil
        }
      }
      if start == nil, abs(value) > Self.minimumDifferenceDecibels {
        start = index
      }
    }
    return segments
  }

  /// Appends a segment between the steps at which half of its difference is reached, because the
  /// window blurs its edges.
  private func appendSegment(_ steps: Range<Int>, to segments: inout [LevelSegment]) {
    let values = steps.map { levelDifferencesDecibels[$0] ?? 0 }
    guard Double(values.count) * stepSeconds >= 0.02 else { return }
    let median = Statistics.median(of: values)
    let extreme = values.max { abs($0) < abs($1) } ?? median
    let first = values.firstIndex { abs($0) >= abs(median) / 2 } ?? 0
    let last = values.lastIndex { abs($0) >= abs(median) / 2 } ?? 0
    let start = Double(steps.lowerBound + first) * stepSeconds
    let end = max(start, Double(steps.lowerBound + last) * stepSeconds)
    segments.append(
      LevelSegment(range: start...end, medianDecibels: median, extremeDecibels: extreme))
  }
}
