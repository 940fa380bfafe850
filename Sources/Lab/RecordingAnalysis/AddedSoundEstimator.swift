internal import CMath
import SignalAnalysis

/// Finds sounds in a recording that are not in its reference.
struct AddedSoundEstimator {
  let residual: RecordingResidual
  /// The peak of the reference.
  let referencePeak: Double

  private var rate: Double { residual.fit.reference.rate }
  private var samples: [Float] { residual.samples }

  /// Returns the clearest burst of the residual, or nil if no burst is perceptible and significant.
  func strongestBurst(of detector: BurstDetector) -> BurstDetector.Burst? {
    detector.strongestBurst(
      in: samples, whitener: residual.fit.whitener, sigma: residual.sigma,
      maskingThreshold: maskingThreshold())
  }

  /// Returns the added sound that contains a burst.
  ///
  /// The sound extends as long as blocks of 12 ms are loud.
  func addedSound(from burst: BurstDetector.Burst) -> RecordingChange {
    let range = soundRange(around: burst.range)
    let sample = range.lowerBound == burst.range.lowerBound ? burst.start : range.lowerBound
    let placement = residual.fit.placement
    let start = (Double(sample) / rate - placement.delay) / (1 + placement.tempo)
    let duration = Double(range.count) / rate
    let margin = Int(0.02 * rate)
    let excludedEnd = min(samples.count, range.upperBound + margin)
    return RecordingChange(
      kind: .added, event: ActiveRegion.event(start: start, duration: duration),
      range: start...start + duration, amount: 20 * log10(burst.amplitude),
      excludedRange: max(0, range.lowerBound - margin)..<excludedEnd, explainedRange: range,
      improvement: burst.score, penalty: penalty(of: range))
  }

  private func soundRange(around burst: Range<Int>) -> Range<Int> {
    let block = Int(0.012 * rate)
    var range = burst
    // A much weaker block is part of the residual of nearby events.
    let overlap = range.clamped(to: samples.indices)
    let power = Vector.energy(samples, overlap) / Double(range.count)
    let minimumPower = max(6 * residual.sigma * residual.sigma, 0.03 * power)
    let minimumEnergy = minimumPower * Double(block)
    func isLoud(_ candidate: Range<Int>) -> Bool {
      let candidate = candidate.clamped(to: samples.indices)
      return candidate.count == block && Vector.energy(samples, candidate) > minimumEnergy
    }
    while isLoud(range.upperBound..<range.upperBound + block) {
      range = range.lowerBound..<range.upperBound + block
    }
    while range.lowerBound >= block, isLoud(range.lowerBound - block..<range.lowerBound) {
      range = range.lowerBound - block..<range.upperBound
    }
    return range
  }

  /// Returns whether most of an event's energy lies in a range of samples.
  func isMasked(_ index: Int, by range: Range<Int>) -> Bool {
    let column = residual.columns[index]
    return column.energy(in: range) > 0.5 * Vector.energy(column.samples)
  }

  /// Returns the cost of the doubt about an added sound.
  private func penalty(of range: Range<Int>) -> Double {
    func eventEnergy(in range: Range<Int>) -> Double {
      residual.columns.reduce(0) {
        $0 + residual.gain * residual.gain * $1.energy(in: range)
      }
    }
    let energy = Vector.energy(samples, range)
    var penalty = 0.0
    // The sound begins during an event.
    if eventEnergy(in: range) > 0.01 * energy {
      penalty += 0.5
    }
    // The sound is much stronger than the nearby events.
    let reach = Int(0.025 * rate)
    let nearby = eventEnergy(in: range.lowerBound - reach..<range.upperBound + reach)
    if nearby > 0.000_1 * energy, nearby < 0.25 * energy, range.count > Int(0.015 * rate) {
      penalty += 1.5
    }
    // The sound masks an event. It would explain any change of that event.
    let maskedCount = residual.columns.indices.count { isMasked($0, by: range) }
    return penalty + 1.5 * Double(maskedCount)
  }

  /// Returns for each sample the amplitude below which a burst is imperceptible: a tenth of the
  /// level within 50 ms, or a fiftieth of the peak.
  private func maskingThreshold() -> [Float] {
    let fit = residual.fit
    var levels = [Float](repeating: 0, count: samples.count)
    for index in fit.reference.waveforms.indices {
      let column = fit.column(at: index)
      for (offset, sample) in column.samples.enumerated() {
        levels[column.start + offset] += abs(sample)
      }
    }
    let block = Int(rate / 80)
    let peaks = stride(from: 0, to: levels.count, by: block).map {
      Statistics.peak(of: levels[$0..<min(levels.count, $0 + block)])
    }
    let nearbyPeaks = SlidingExtremum.maximum(of: peaks, radius: 4)
    let minimum = Float(0.02 * referencePeak)
    let maskingRatio = Float(0.1)
    return levels.indices.map { index in
      Float(residual.gain) * max(maskingRatio * nearbyPeaks[index / block], minimum)
    }
  }
}
