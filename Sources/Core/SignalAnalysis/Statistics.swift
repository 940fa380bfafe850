/// Statistics of samples and of measurements.
package enum Statistics {
  /// Returns the maximum magnitude of the samples, or 0 for an empty array.
  package static func peak(of samples: ArraySlice<Float>) -> Float {
    samples.reduce(0) { max($0, abs($1)) }
  }

  /// Returns the maximum magnitude of the samples, or 0 for an empty array.
  package static func peak(of samples: [Float]) -> Float { peak(of: samples[...]) }

  /// Returns the arithmetic mean of the values, or 0 for an empty array.
  package static func mean(of samples: ArraySlice<Float>) -> Double {
    samples.reduce(0.0) { $0 + Double($1) } / Double(max(1, samples.count))
  }

  /// Returns the arithmetic mean of the values, or 0 for an empty array.
  package static func mean(of samples: [Float]) -> Double { mean(of: samples[...]) }

  /// Returns the arithmetic mean of the values, or 0 for an empty array.
  package static func mean(of values: [Double]) -> Double {
    values.reduce(0, +) / Double(max(1, values.count))
  }

  /// Returns the energy of the samples: the sum of their squares.
  ///
  /// The products are added one by one in double precision. `Vector.energy` is faster and less
  /// accurate.
  package static func energy(of samples: ArraySlice<Float>) -> Double {
    samples.reduce(0.0) { $0 + Double($1) * Double($1) }
  }

  /// Returns the energy of the samples: the sum of their squares.
  package static func energy(of samples: [Float]) -> Double { energy(of: samples[...]) }

  /// Returns the mean of the squared samples, or 0 for an empty array.
  package static func meanSquare(of samples: ArraySlice<Float>) -> Double {
    energy(of: samples) / Double(max(1, samples.count))
  }

  /// Returns the mean of the squared samples, or 0 for an empty array.
  package static func meanSquare(of samples: [Float]) -> Double { meanSquare(of: samples[...]) }

  /// Returns the mean of the squared samples without their DC offset.
  ///
  /// Returns 0 for an empty array.
  package static func variance(of samples: ArraySlice<Float>) -> Double {
    let sampleMean = mean(of: samples)
    return max(0, meanSquare(of: samples) - sampleMean * sampleMean)
  }

  /// Returns the median, or 0 for an empty array. Of an even number of values, the median is the
  /// upper one of the two in the middle.
  package static func median(of values: [Double]) -> Double { quantile(of: values, 0.5) }

  /// Returns the weighted median: the smallest value up to which the weights
  /// add up to at least half.
  ///
  /// Returns 0 for an empty array.
  package static func median(of values: [Double], weights: [Double]) -> Double {
    let ascendingValueIndices = values.indices.sorted { values[$0] < values[$1] }
    let halfTotalWeight = weights.reduce(0, +) / 2
    var cumulativeWeight = 0.0
    for index in ascendingValueIndices {
      cumulativeWeight += weights[index]
      if cumulativeWeight >= halfTotalWeight { return values[index] }
    }
    return 0
  }

  /// Returns the quantile of values at a fraction, or 0 for an empty array.
  ///
  /// The given fraction of the values is below the quantile.
  package static func quantile(of values: [Double], _ fraction: Double) -> Double {
    guard !values.isEmpty else { return 0 }
    return values.sorted()[sortedIndex(ofQuantile: fraction, count: values.count)]
  }

  /// Returns the quantile of values at a fraction, or 0 for an empty array.
  ///
  /// The given fraction of the values is below the quantile.
  package static func quantile(of values: [Float], _ fraction: Double) -> Float {
    guard !values.isEmpty else { return 0 }
    return values.sorted()[sortedIndex(ofQuantile: fraction, count: values.count)]
  }

  private static func sortedIndex(ofQuantile fraction: Double, count: Int) -> Int {
    min(count - 1, Int(fraction * Double(count)))
  }
}
