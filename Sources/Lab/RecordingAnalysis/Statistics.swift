/// Statistics of samples and of measurements.
package enum Statistics {
  /// Returns the maximum magnitude, or 0 for an empty array.
  package static func peak(of samples: ArraySlice<Float>) -> Float {
    samples.reduce(0) { max($0, abs($1)) }
  }

  /// Returns the maximum magnitude, or 0 for an empty array.
  package static func peak(of samples: [Float]) -> Float { peak(of: samples[...]) }

  /// Returns the mean, or 0 for an empty array.
  package static func mean(of samples: ArraySlice<Float>) -> Double {
    samples.reduce(0.0) { $0 + Double($1) } / Double(max(1, samples.count))
  }

  /// Returns the mean, or 0 for an empty array.
  package static func mean(of samples: [Float]) -> Double { mean(of: samples[...]) }

  /// Returns the mean of the squares, or 0 for an empty array.
  package static func meanSquare(of samples: ArraySlice<Float>) -> Double {
    samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(1, samples.count))
  }

  /// Returns the mean of the squares, or 0 for an empty array.
  package static func meanSquare(of samples: [Float]) -> Double { meanSquare(of: samples[...]) }

  /// Returns the mean of the squares without the DC offset, or 0 for an empty array.
  package static func variance(of samples: ArraySlice<Float>) -> Double {
    let mean = mean(of: samples)
    return max(0, meanSquare(of: samples) - mean * mean)
  }

  /// Returns the median, or 0 for an empty array.
  package static func median(of values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }

  /// Returns the weighted median: the smallest value below which at least half of the weight lies.
  /// Returns 0 for an empty array.
  package static func median(of values: [Double], weights: [Double]) -> Double {
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
