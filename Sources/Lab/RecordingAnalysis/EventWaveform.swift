internal import CMath
import SignalAnalysis

/// The rendered samples of one event, without the other events of its pattern.
package struct EventWaveform {
  package var indexedEvent: IndexedEvent
  /// The time of the event, in seconds from the start of the reference.
  package var eventSeconds: Double
  /// The offset of the first sample from the time of the event, in seconds.
  private(set) var firstSampleOffsetSeconds: Double
  private(set) var samples: [Float]
  /// The sample rate of the waveform, in hertz.
  let sampleRate: Double
  /// The energy of the waveform: the sum of its squared samples.
  private(set) var sampleEnergy: Double
  /// The coefficients of the cubic B-spline through the samples, padded with silence.
  private var splineCoefficients: [Float]

  /// The number of silent samples at each end of the spline.
  private static let splinePaddingCount = 8

  init(
    _ event: IndexedEvent, eventSeconds: Double, firstSampleOffsetSeconds: Double,
    samples: [Float], sampleRate rate: Double
  ) {
    self.indexedEvent = event
    self.eventSeconds = eventSeconds
    self.firstSampleOffsetSeconds = firstSampleOffsetSeconds
    self.samples = samples
    self.sampleRate = rate
    sampleEnergy = Vector.energy(samples)
    let paddingSilence = [Float](repeating: 0, count: Self.splinePaddingCount)
    splineCoefficients = Self.splineCoefficients(of: paddingSilence + samples + paddingSilence)
  }

  /// The time of the first sample, in seconds from the start of the reference.
  var startSeconds: Double { eventSeconds + firstSampleOffsetSeconds }
  /// The time after the last sample, in seconds from the start of the reference.
  var endSeconds: Double { startSeconds + Double(samples.count) / sampleRate }

  /// Returns a waveform of the same event with replaced samples.
  func replacing(samples: [Float], firstSampleOffsetSeconds: Double? = nil) -> EventWaveform {
    EventWaveform(
      indexedEvent, eventSeconds: eventSeconds,
      firstSampleOffsetSeconds: firstSampleOffsetSeconds ?? self.firstSampleOffsetSeconds,
      samples: samples, sampleRate: sampleRate)
  }

  func scaled(by factor: Double) -> EventWaveform {
    var scaledWaveform = self
    scaledWaveform.samples = samples.map { $0 * Float(factor) }
    scaledWaveform.sampleEnergy = Vector.energy(scaledWaveform.samples)
    // The coefficients are a linear function of the samples, so they scale with them.
    scaledWaveform.splineCoefficients = splineCoefficients.map { $0 * Float(factor) }
    return scaledWaveform
  }

  /// The power-weighted mean frequency of a narrow-band waveform, in hertz.
  var meanHertz: Double {
    // For a narrow band, the ratio of the energy of differences to that of sums is tan²(πf / rate).
    var squaredDifferenceSum = 0.0
    var squaredNeighborSumTotal = 0.0
    for (a, b) in zip(samples, samples.dropFirst()) {
      squaredDifferenceSum += Double((b - a) * (b - a))
      squaredNeighborSumTotal += Double((b + a) * (b + a))
    }
    return squaredNeighborSumTotal > 0
      ? atan((squaredDifferenceSum / squaredNeighborSumTotal).squareRoot()) * sampleRate / .pi : 0
  }

  /// Returns the coefficients of the cubic B-spline that interpolates samples.
  ///
  /// A causal and an anticausal recursive filter of first order (M. Unser, "Splines: a perfect fit
  /// for signal and image processing", IEEE Signal Processing Magazine 16, 1999).
  private static func splineCoefficients(of samples: [Float]) -> [Float] {
    let filterPole = Float(3.0.squareRoot() - 2)
    var coefficients = samples
    guard coefficients.count > 1 else { return coefficients }
    for index in 1..<coefficients.count {
      coefficients[index] += filterPole * coefficients[index - 1]
    }
    coefficients[coefficients.count - 1] =
      filterPole / (filterPole * filterPole - 1)
      * (coefficients[coefficients.count - 1] + filterPole * coefficients[coefficients.count - 2])
    for index in (0..<coefficients.count - 1).reversed() {
      coefficients[index] = filterPole * (coefficients[index + 1] - coefficients[index])
    }
    return coefficients.map { $0 * 6 }
  }

  /// Returns the waveform, resampled to its position and time scale in a recording.
  ///
  /// - Parameters:
  ///   - onset: The time of the event in the recording, in seconds.
  ///   - timeScale: The duration of a second of the waveform in the recording, in seconds.
  ///   - count: The number of samples of the recording.
  func designColumn(onset: Double, timeScale: Double, count: Int) -> DesignColumn {
    let firstRecordingSample = Int(
      ((onset + firstSampleOffsetSeconds * timeScale) * sampleRate).rounded(.down))
    let lastRecordingSample = firstRecordingSample + Int(Double(samples.count) * timeScale) + 2
    let recordingRange =
      max(0, firstRecordingSample)..<max(0, firstRecordingSample, min(count, lastRecordingSample))
    guard !recordingRange.isEmpty, !samples.isEmpty else {
      return DesignColumn(firstSampleIndex: 0, samples: [])
    }
    let splineStep = 1 / timeScale
    let firstSplinePosition =
      (Double(recordingRange.lowerBound) / sampleRate - onset) * splineStep * sampleRate
      - firstSampleOffsetSeconds * sampleRate
      + Double(Self.splinePaddingCount)
    var columnSamples = [Float](repeating: 0, count: recordingRange.count)
    unsafe splineCoefficients.withUnsafeBufferPointer { c in
      unsafe columnSamples.withUnsafeMutableBufferPointer { columnSamples in
        for index in 0..<columnSamples.count {
          let position = firstSplinePosition + Double(index) * splineStep
          let lower = Int(position.rounded(.down))
          guard lower >= 1, lower &+ 2 < c.count else { continue }
          let f = Float(position - Double(lower))
          let g = 1 - f
          let a = g * g * g
          let b = f * f * f
          let p = 4 - 6 * f * f + 3 * b
          let q = 4 - 6 * g * g + 3 * a
          unsafe columnSamples[index] =
            (a * c[lower &- 1] + p * c[lower] + q * c[lower &+ 1] + b * c[lower &+ 2]) / 6
        }
      }
    }
    return DesignColumn(firstSampleIndex: recordingRange.lowerBound, samples: columnSamples)
  }
}

/// A column of the regression's design matrix.
///
/// The column consists of samples from an offset on, and is zero elsewhere.
struct DesignColumn {
  /// The index of the column's first sample in the recording.
  var firstSampleIndex: Int
  var samples: [Float]

  /// The range of recording samples that the column covers.
  var recordingRange: Range<Int> { firstSampleIndex..<firstSampleIndex + samples.count }

  /// Returns the filtered column.
  ///
  /// The result is cut at the end of the recording, and silent while the filter starts.
  ///
  /// - Parameters:
  ///   - taps: The impulse response of the filter.
  ///   - count: The number of samples of the recording.
  func whitened(by taps: [Float], count: Int) -> DesignColumn {
    guard !samples.isEmpty else { return self }
    let filterTailSampleCount = min(
      taps.count - 1, max(0, count - firstSampleIndex - samples.count))
    var whitenedSamples = Vector.filtered(samples, by: taps, tail: filterTailSampleCount)
    if firstSampleIndex < taps.count, taps.count > 1 {
      for index in 0..<min(taps.count - firstSampleIndex, whitenedSamples.count) {
        whitenedSamples[index] = 0
      }
    }
    return DesignColumn(firstSampleIndex: firstSampleIndex, samples: whitenedSamples)
  }

  /// Adds a multiple of the column to samples. The index of the first sample is `first`.
  func add(to sum: inout [Float], from first: Int = 0, times factor: Double) {
    Vector.add(samples, times: factor, to: &sum, at: firstSampleIndex - first)
  }

  /// Sets the samples in ranges of the recording to zero.
  mutating func silence(_ ranges: [Range<Int>]) {
    for range in ranges {
      let overlapRange = range.clamped(to: self.recordingRange)
      guard !overlapRange.isEmpty else { continue }
      Vector.zero(
        &samples,
        in: overlapRange.lowerBound - firstSampleIndex..<overlapRange.upperBound - firstSampleIndex)
    }
  }

  /// Returns the energy of the column's samples within a range of the recording.
  func energy(in range: Range<Int>) -> Double {
    let overlapRange = range.clamped(to: self.recordingRange)
    return overlapRange.isEmpty
      ? 0
      : Vector.energy(
        samples,
        overlapRange.lowerBound - firstSampleIndex..<overlapRange.upperBound - firstSampleIndex)
  }

  /// Returns the inner product of the column with another column.
  func dotProduct(_ other: DesignColumn) -> Double {
    let firstSharedSample = max(firstSampleIndex, other.firstSampleIndex)
    let endSharedSample = min(
      firstSampleIndex + samples.count, other.firstSampleIndex + other.samples.count)
    return Vector.dot(
      samples, from: firstSharedSample - firstSampleIndex, other.samples,
      from: firstSharedSample - other.firstSampleIndex,
      count: endSharedSample - firstSharedSample)
  }

  /// Returns the inner product of the column with a recording.
  func dotProduct(_ recording: [Float]) -> Double {
    Vector.dot(
      samples, from: 0, recording, from: firstSampleIndex,
      count: min(samples.count, recording.count - firstSampleIndex))
  }
}
