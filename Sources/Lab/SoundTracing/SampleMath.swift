import HapticModel
import SignalAnalysis

/// Operations on arrays of samples.
enum SampleMath {
  /// Returns the sum of the squared samples in a range, which is clamped to the valid indices.
  static func energy(of samples: [Float], in range: Range<Int>) -> Float {
    var energySum = Float(0)
    for index in range.clamped(to: samples.indices) {
      energySum += samples[index] * samples[index]
    }
    return energySum
  }

  // MARK: - Moving windows

  /// Returns the mean of a window centered on each sample.
  ///
  /// The end values continue beyond the ends.
  static func movingMean(of samples: [Float], over count: Int) -> [Float] {
    guard let firstValue = samples.first, let lastValue = samples.last, count > 1 else {
      return samples
    }
    let halfWindow = count / 2
    // In double precision, a loud start leaves no error in a quiet end.
    var windowSum = Double(firstValue) * Double(halfWindow + 1)
    for index in 0..<halfWindow {
      windowSum += Double(index < samples.count ? samples[index] : lastValue)
    }
    let windowWidth = 2 * halfWindow + 1
    return samples.indices.map { index in
      windowSum += Double(
        index + halfWindow < samples.count ? samples[index + halfWindow] : lastValue)
      let mean = Float(windowSum / Double(windowWidth))
      windowSum -= Double(index - halfWindow >= 0 ? samples[index - halfWindow] : firstValue)
      return mean
    }
  }

  /// Returns the median of a window centered on each sample.
  ///
  /// The end values continue beyond the ends.
  ///
  /// - Parameters:
  ///   - samples: The samples.
  ///   - count: The length of the window.
  ///   - step: The interval between the samples of the window and between medians. The medians are
  ///     interpolated linearly.
  static func movingMedian(of samples: [Float], over count: Int, step: Int = 1) -> [Float] {
    guard let firstValue = samples.first, let lastValue = samples.last, count > 1 else {
      return samples
    }
    let halfWindow = count / 2 / step

    func paddedSample(_ index: Int) -> Float {
      if index < 0 { return firstValue }
      return index < samples.count ? samples[index] : lastValue
    }

    var sortedWindow = (-halfWindow...halfWindow).map { paddedSample(step * $0) }.sorted()
    var medians = samples
    for index in stride(from: 0, to: samples.count, by: step) {
      medians[index] = sortedWindow[halfWindow]
      for between in max(0, index - step + 1)..<index {
        let weight = Float(index - between) / Float(step)
        medians[between] = medians[index - step] * weight + medians[index] * (1 - weight)
      }
      let oldest = paddedSample(index - step * halfWindow)
      let newest = paddedSample(index + step * (halfWindow + 1))
      if oldest != newest {
        replace(oldest, with: newest, in: &sortedWindow)
      }
    }
    return medians
  }

  /// Replaces a value in a sorted window.
  ///
  /// The values between its old and new positions move by one.
  private static func replace(_ old: Float, with new: Float, in window: inout [Float]) {
    var valueIndex = window.dropLast().prefixEndIndex { $0 < old }
    while new > old, valueIndex + 1 < window.count, window[valueIndex + 1] < new {
      window[valueIndex] = window[valueIndex + 1]
      valueIndex += 1
    }
    while new < old, valueIndex > 0, window[valueIndex - 1] > new {
      window[valueIndex] = window[valueIndex - 1]
      valueIndex -= 1
    }
    window[valueIndex] = new
  }

  /// Returns the morphological opening of a signal, which removes peaks narrower than a window.
  static func morphologicalOpening(of samples: [Float], over count: Int) -> [Float] {
    let windowRadius = count / 2
    let localMinima = SlidingExtremum.minimum(of: samples, radius: windowRadius)
    return SlidingExtremum.maximum(of: localMinima, radius: windowRadius)
  }

  // MARK: - Segments and peaks

  /// Returns the segments of consecutive indices that meet a condition.
  ///
  /// - Parameters:
  ///   - count: The number of indices.
  ///   - gap: The minimum gap between segments; smaller gaps are closed.
  ///   - condition: The condition at an index.
  static func segments(
    _ count: Int, closing gap: Int, where condition: (Int) -> Bool
  ) -> [Range<Int>] {
    var segments: [Range<Int>] = []
    var index = 0
    while index < count {
      guard condition(index) else {
        index += 1
        continue
      }
      let start = index
      while index < count, condition(index) {
        index += 1
      }
      if let last = segments.last, start - last.upperBound < gap {
        segments[segments.count - 1] = last.lowerBound..<index
      } else {
        segments.append(start..<index)
      }
    }
    return segments
  }

  /// Returns the indices of local maxima with a minimum distance.
  ///
  /// Of several maxima within the distance, the highest is kept.
  ///
  /// - Parameters:
  ///   - samples: The samples.
  ///   - minimumDistance: The minimum distance of two peaks.
  ///   - condition: The condition for a peak at an index.
  static func peaks(
    of samples: [Float], minimumDistance: Int, where condition: (Int) -> Bool
  ) -> [Int] {
    let localMaxima = SlidingExtremum.maximum(of: samples, radius: minimumDistance - 1)
    var lastPeakIndex = -minimumDistance
    return samples.indices.filter { index in
      guard samples[index] == localMaxima[index], samples[index] > 0,
        index - lastPeakIndex >= minimumDistance,
        condition(index)
      else { return false }
      lastPeakIndex = index
      return true
    }
  }

  /// Returns the position of a parabola's vertex relative to the middle of three values, −½…½.
  ///
  /// The parabola passes through three equidistant values.
  static func parabolicPeakOffset(_ before: Float, _ middle: Float, _ after: Float) -> Double {
    let peak = ParabolicPeak(Double(before), Double(middle), Double(after))
    return min(0.5, max(-0.5, peak.peakOffset))
  }
}
