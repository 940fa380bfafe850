import RecordingAnalysis
import SignalAnalysis

/// The aligned signals of a reference and a candidate, with equal lengths.
struct SignalPair {
  let sampleRate: Double
  /// The reference, with non-finite samples replaced by silence.
  private(set) var reference: [Float]
  /// The candidate, aligned with the reference.
  ///
  /// Its DC offset and inverted polarity are corrected.
  private(set) var candidate: [Float]
  /// The time shift that was removed from the candidate, in frames.
  ///
  /// The shift is positive if the candidate was later.
  private(set) var alignmentShiftFrames = 0
  /// A Boolean value that indicates whether the candidate's inverted polarity was corrected.
  private(set) var isInverted = false
  /// The DC offset that was removed from the candidate.
  ///
  /// The offset is the candidate's own minus the reference's.
  private(set) var dcOffset = 0.0
  /// The correlation coefficient of both signals; negative for inverted polarity.
  private(set) var correlation: Double?

  /// The maximum time shift to search, in seconds.
  static let maximumShiftSeconds = 3.0
  /// The minimum DC offset to remove: −60 dBFS.
  static let minimumDCOffset = 1e-3

  /// Aligns two signals in time, and corrects the candidate's DC offset and polarity.
  ///
  /// - Parameters:
  ///   - reference: The reference.
  ///   - candidate: The candidate.
  ///   - alignment: The kind of alignment.
  ///   - gains: The gains of the reference and of the candidate.
  init(
    _ reference: Signal, _ candidate: Signal, alignment: ComparisonOptions.Alignment,
    gains: (Double, Double)
  ) {
    sampleRate = reference.rate
    self.reference = Self.sanitized(reference.mono, gain: gains.0)
    self.candidate = Self.sanitized(candidate.mono, gain: gains.1)
    removeDCOffset()
    align(alignment)
    let frameCount = max(self.reference.count, self.candidate.count)
    self.reference += [Float](repeating: 0, count: frameCount - self.reference.count)
    self.candidate += [Float](repeating: 0, count: frameCount - self.candidate.count)
  }

  private static func sanitized(_ samples: [Float], gain: Double) -> [Float] {
    let gain = Float(gain)
    return samples.map { $0.isFinite ? $0 * gain : 0 }
  }

  /// Returns the index of the first audible sample, or 0 for silence.
  private static func firstAudibleIndex(in samples: [Float]) -> Int {
    let silenceThreshold = ActiveRegion.silenceMagnitude(of: samples)
    return samples.firstIndex { abs($0) > silenceThreshold } ?? 0
  }

  /// Removes a DC offset that appears in both the mean and the median.
  ///
  /// The mean of a short sound differs from zero. The median is that of the silence, or the center
  /// of the oscillation.
  private mutating func removeDCOffset() {
    let meanDifference = Statistics.mean(of: candidate) - Statistics.mean(of: reference)
    let medianDifference =
      Self.approximateMedian(of: candidate) - Self.approximateMedian(of: reference)
    guard min(abs(meanDifference), abs(medianDifference)) > Self.minimumDCOffset,
      meanDifference * medianDifference > 0
    else { return }
    dcOffset =
      abs(meanDifference) < abs(medianDifference) ? meanDifference : medianDifference
    for index in candidate.indices {
      candidate[index] -= Float(dcOffset)
    }
  }

  /// Returns the approximate median of a signal, from some thousand evenly spaced samples.
  private static func approximateMedian(of samples: [Float]) -> Double {
    let sampleStride = samples.count / 20_000 + 1
    return Statistics.median(
      of: stride(from: 0, to: samples.count, by: sampleStride).map { Double(samples[$0]) })
  }

  /// Aligns the candidate in time with the reference.
  private mutating func align(_ alignment: ComparisonOptions.Alignment) {
    switch alignment {
    case .auto, .none:
      guard alignWaveforms(mayShift: alignment == .auto) else { return }
    case .start:
      alignmentShiftFrames =
        Self.firstAudibleIndex(in: candidate) - Self.firstAudibleIndex(in: reference)
    }
    if isInverted {
      for index in candidate.indices {
        candidate[index].negate()
      }
    }
    if alignmentShiftFrames > 0 {
      candidate.removeFirst(min(alignmentShiftFrames, candidate.count))
    }
    if alignmentShiftFrames < 0 {
      candidate.insert(contentsOf: [Float](repeating: 0, count: -alignmentShiftFrames), at: 0)
    }
  }

  /// Finds the polarity and the time shift of the candidate by cross-correlation.
  ///
  /// - Parameter mayShift: Pass false to find the polarity only.
  /// - Returns: False if a signal is silent.
  private mutating func alignWaveforms(mayShift: Bool) -> Bool {
    let durationSeconds = Double(max(reference.count, candidate.count)) / sampleRate
    let maximumLagSeconds = mayShift ? min(Self.maximumShiftSeconds, durationSeconds) : 0
    let uprightMatch = SignalAlignment.bestMatch(
      reference, candidate, rate: sampleRate, maximumLag: maximumLagSeconds)
    let invertedMatch = SignalAlignment.bestMatch(
      reference, candidate.map { -$0 }, rate: sampleRate, maximumLag: maximumLagSeconds)
    guard let uprightMatch, let invertedMatch else { return false }
    // A tone that is late by half a period correlates with either polarity. Prefer the shift.
    isInverted = invertedMatch.correlation > max(0.5, uprightMatch.correlation + 0.02)
    let bestMatch = isInverted ? invertedMatch : uprightMatch
    correlation = isInverted ? -bestMatch.correlation : bestMatch.correlation
    // Without a clear correlation, a shift is not justified.
    if mayShift, bestMatch.correlation > 0.5 {
      alignmentShiftFrames = Int((bestMatch.lagSeconds * sampleRate).rounded())
    }
    // A candidate that sounds from the start is not late.
    if alignmentShiftFrames > 0 {
      alignmentShiftFrames = min(alignmentShiftFrames, Self.firstAudibleIndex(in: candidate))
    }
    return true
  }
}
