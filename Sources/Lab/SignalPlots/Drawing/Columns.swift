/// The minimum, maximum and RMS of a sound's samples in each pixel column.
struct SampleColumns {
  /// The minimum sample of each column.
  ///
  /// Adjacent columns share a sample, so that there are no gaps.
  private(set) var minimumSamples: [Double] = []
  /// The maximum sample of each column.
  private(set) var maximumSamples: [Double] = []
  /// The RMS of the samples around each column, with triangular weights.
  ///
  /// The window is `rmsWindowSeconds` long.
  private(set) var rmsLevels: [Double] = []

  /// The maximum magnitude of the samples in each column.
  var peakMagnitudes: [Double] { zip(minimumSamples, maximumSamples).map { max(abs($0), abs($1)) } }

  /// The length of the RMS window, in seconds: two periods of 80 Hz, the lowest typical frequency.
  static let rmsWindowSeconds = 0.025

  /// The minimum radius of the moving average of the RMS line, in columns.
  ///
  /// The minimum takes effect over long time ranges.
  private static let minimumAveragingRadiusColumns = 3

  /// Measures the samples of a sound in each column.
  ///
  /// - Parameters:
  ///   - samples: The samples. Those that are not finite count as 0.
  ///   - rate: The sample rate, in hertz.
  ///   - step: The number of samples in a column, at least 1.
  init(_ samples: [Float], rate: Double, samplesPerColumn step: Double) {
    let columnCount = Int((Double(samples.count) / step).rounded(.up))
    var energySums: [Double] = [0]
    minimumSamples.reserveCapacity(columnCount)
    maximumSamples.reserveCapacity(columnCount)
    energySums.reserveCapacity(columnCount + 1)
    unsafe samples.withUnsafeBufferPointer { buffer in
      for column in 0..<columnCount {
        let start = min(Int(Double(column) * step), buffer.count - 1)
        let end = max(start + 1, min(Int(Double(column + 1) * step), buffer.count))
        var minimum = Float.infinity
        var maximum = -Float.infinity
        var energy = 0.0
        for index in start..<end {
          let sample = unsafe buffer[index].isFinite ? buffer[index] : 0
          minimum = min(minimum, sample)
          maximum = max(maximum, sample)
          energy += Double(sample * sample)
        }
        if end < buffer.count, unsafe buffer[end].isFinite {
          minimum = unsafe min(minimum, buffer[end])
          maximum = unsafe max(maximum, buffer[end])
        }
        minimumSamples.append(Double(minimum))
        maximumSamples.append(Double(maximum))
        energySums.append(energySums[column] + energy)
      }
    }
    // Two moving averages over half the window each have a triangular weighting together.
    let meanRadiusColumns = max(
      Self.minimumAveragingRadiusColumns,
      Int((Self.rmsWindowSeconds * rate / step / 4).rounded(.down))
    )
    let samplesPerColumn = Double(samples.count) / Double(max(1, columnCount))
    let powerSums = energySums.map { $0 / max(1, samplesPerColumn) }
    let meanPowers = Self.centeredMeans(prefixSums: powerSums, radius: meanRadiusColumns)
    let cumulativeMeans = meanPowers.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) }
    let smoothedMeans = Self.centeredMeans(prefixSums: cumulativeMeans, radius: meanRadiusColumns)
    rmsLevels = smoothedMeans.map { max(0, $0).squareRoot() }
  }

  /// Returns the moving average of values.
  ///
  /// - Parameters:
  ///   - prefixSums: The sums of the values before each index; the first is 0.
  ///   - radius: The number of values on either side.
  private static func centeredMeans(prefixSums: [Double], radius: Int) -> [Double] {
    let columnCount = prefixSums.count - 1
    return (0..<max(0, columnCount)).map { index in
      let start = max(0, index - radius)
      let end = min(columnCount, index + radius + 1)
      return (prefixSums[end] - prefixSums[start]) / Double(end - start)
    }
  }
}

/// A selection of the strongest event in each column of pixels or characters.
enum EventColumns {
  /// Returns the strongest event point in each column.
  ///
  /// The intensity is 0 in columns without events.
  ///
  /// - Parameters:
  ///   - events: The events.
  ///   - count: The number of columns.
  ///   - position: Returns the position of a time, in columns from the first.
  static func strongestPoints(
    of events: [EventPlot.Event], count: Int, position: (Double) -> Double
  ) -> [EventPlot.Point] {
    var strongestPoints = [EventPlot.Point](
      repeating: .init(timeSeconds: 0, intensity: 0, sharpness: 0), count: count)
    for (from, to) in events.lazy.flatMap({ zip($0.points, $0.points.dropFirst()) }) {
      let start = position(from.timeSeconds)
      let end = position(to.timeSeconds)
      guard end >= 0, start < Double(count) else { continue }
      let first = Int(max(0, start))
      for column in first...max(first, Int(min(Double(count - 1), end))) {
        let center = Double(column) + 0.5
        let fraction = end > start ? min(max((center - start) / (end - start), 0), 1) : 0
        // A segment shorter than a column counts with its maximum.
        let intensity =
          end - start >= 1
          ? from.intensity + (to.intensity - from.intensity) * fraction
          : max(from.intensity, to.intensity)
        guard intensity > strongestPoints[column].intensity else { continue }
        let sharpness = from.sharpness + (to.sharpness - from.sharpness) * fraction
        strongestPoints[column] = .init(
          timeSeconds: from.timeSeconds, intensity: intensity, sharpness: sharpness)
      }
    }
    return strongestPoints
  }
}
