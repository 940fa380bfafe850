internal import CMath
import SignalAnalysis

/// Finds short bursts in a whitened residual by matched filters.
///
/// The bank has windowed tones of nine frequencies and two durations, and the transients of a
/// profile. A pair of filters in quadrature responds to a tone of any phase.
///
/// The filters are applied in the frequency domain to overlapping blocks (overlap-save). By the
/// Cauchy–Schwarz inequality, the energy of a block limits the scores of the bursts in it. A filter
/// therefore skips the blocks that cannot contain a stronger burst than the best one so far.
struct BurstDetector {
  /// A burst that was detected in a residual.
  struct Burst {
    /// The sample range of the burst, extended by 40 samples on both sides.
    var paddedSampleRange: Range<Int>
    /// The index of the burst's first sample in the residual.
    var firstSampleIndex: Int
    var peakAmplitude: Double
    /// The energy that the burst explains, in multiples of the noise power, minus a threshold.
    ///
    /// The threshold is the minimum for detection.
    var detectionScore: Double
  }

  /// The matched filters for one burst.
  private struct MatchedFilters {
    /// The number of samples of the burst, before whitening.
    var burstSampleCount: Int
    /// The spectra of the whitened burst: in phase, and in quadrature if the phase is free.
    var spectra: [[ComplexNumber]] = []
    /// The energy of the filter, or the mean energy of the two filters in quadrature.
    var energy = 0.0
    /// The maximum sum of the filters' squared outputs for a signal of unit energy.
    var maximumOutputPower = 0.0
  }

  /// An excerpt of a residual.
  private struct Block {
    var firstSampleIndex: Int
    var energy: Double
    var spectrum: [ComplexNumber]
  }

  private var filterBank: [MatchedFilters] = []
  /// The number of samples of a block.
  private let blockSampleCount: Int
  /// The number of positions of bursts in a block.
  private let positionCount: Int

  /// The number of samples of a block, in multiples of the longest filter.
  private static let blockToFilterRatio = 5
  /// A factor slightly above 1 that covers rounding errors of the transform.
  private static let roundingMargin = 1.001

  /// Creates the matched filters of all bursts that can be detected.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - extra: Waveforms to add to the bank.
  ///   - whitener: The impulse response of the residual's whitening filter.
  init(rate: Double, extra: [EventWaveform], whitener: [Float]) {
    /// The samples of each burst: in phase, and in quadrature if the phase is free.
    var bursts: [[[Float]]] = []
    for step in 0..<9 {
      let hertz = 60 * pow(320.0 / 60, Double(step) / 8)
      for seconds in [0.012, 0.035] {
        let count = Int(seconds * rate)
        let window = (0..<count).map { pow(sin(.pi * (Double($0) + 0.5) / Double(count)), 0.6) }
        let angle = 2 * .pi * hertz / rate
        bursts.append([
          window.indices.map { Float(window[$0] * cos(angle * Double($0))) },
          window.indices.map { Float(window[$0] * sin(angle * Double($0))) },
        ])
      }
    }
    for waveform in extra {
      let peak = max(1e-9, Statistics.peak(of: waveform.samples))
      bursts.append([waveform.samples.map { $0 / peak }])
    }

    let maximumBurstSampleCount = bursts.map { $0[0].count }.max() ?? 0
    let maximumFilterSampleCount = maximumBurstSampleCount + whitener.count - 1
    blockSampleCount = FourierTransform.fastLength(
      atLeast: Self.blockToFilterRatio * maximumFilterSampleCount)
    positionCount = blockSampleCount - maximumFilterSampleCount + 1
    var transform = FourierTransform(length: blockSampleCount)
    for burst in bursts {
      let filters = burst.map { Vector.filtered($0, by: whitener, tail: whitener.count - 1) }
      var matchedFilters = MatchedFilters(burstSampleCount: burst[0].count)
      for filter in filters {
        matchedFilters.spectra.append(transform.forward(filter))
      }
      let energy = Vector.energy(filters[0])
      matchedFilters.energy = energy
      matchedFilters.maximumOutputPower = energy
      if filters.count > 1 {
        // The maximum is the larger eigenvalue of the filters' Gram matrix.
        let quadratureEnergy = Vector.energy(filters[1])
        let halfDifference = (energy - quadratureEnergy) / 2
        let product = Vector.dot(filters[0], filters[1])
        matchedFilters.energy = (energy + quadratureEnergy) / 2
        matchedFilters.maximumOutputPower =
          matchedFilters.energy
          + (halfDifference * halfDifference + product * product).squareRoot()
      }
      filterBank.append(matchedFilters)
    }
  }

  /// Returns the burst with the highest score in a whitened residual.
  ///
  /// Returns nil if no burst is significant.
  ///
  /// - Parameters:
  ///   - residual: The residual.
  ///   - sigma: The standard deviation of the noise.
  ///   - maskingThreshold: The amplitude, at each sample, below which a burst is imperceptible.
  func strongestBurst(
    in residual: [Float], sigma: Double, maskingThreshold: [Float]
  ) -> Burst? {
    var transform = FourierTransform(length: blockSampleCount)
    let blocks = blocks(of: residual, &transform)
    var outputSpectrum = [ComplexNumber](repeating: ComplexNumber(), count: transform.binCount)
    var output = [Float](repeating: 0, count: blockSampleCount)
    var outputPowers = output
    // More positions make a false detection more likely. The minimum z-score applies to 40,000
    // positions, and increases by 0.25 for each factor of ten.
    let relativeTestCount = max(1, Double(residual.count) / 4e4)
    let correctedZScore = RecordingThreshold.minimumZScore + 0.25 * log10(relativeTestCount)
    let detectionThreshold = correctedZScore * correctedZScore + 8
    var strongestBurst: Burst?
    for filters in filterBank {
      let scale = Float(1 / (filters.energy * sigma * sigma))
      let amplitude = Float(1 / filters.energy)
      let minimumScore = max(
        Float(detectionThreshold),
        Float(strongestBurst.map { $0.detectionScore + detectionThreshold } ?? 0))
      var strongest = (score: minimumScore, index: -1)
      let halfLength = filters.burstSampleCount / 2
      let maximumScorePerEnergy =
        Self.roundingMargin * filters.maximumOutputPower / (filters.energy * sigma * sigma)
      for block in blocks where block.energy * maximumScorePerEnergy > Double(strongest.score) {
        for (number, spectrum) in filters.spectra.enumerated() {
          for bin in outputSpectrum.indices {
            outputSpectrum[bin] = block.spectrum[bin] * spectrum[bin].conjugate
          }
          var outputSpan = output.mutableSpan
          transform.backward(outputSpectrum.span, into: &outputSpan)
          for position in 0..<positionCount {
            let power = output[position] * output[position]
            outputPowers[position] = number == 0 ? power : outputPowers[position] + power
          }
        }
        for position in 0..<min(positionCount, residual.count - block.firstSampleIndex) {
          let power = outputPowers[position]
          guard power * scale > strongest.score else { continue }
          let index = block.firstSampleIndex + position
          let middle = min(index + halfLength, maskingThreshold.count - 1)
          guard power.squareRoot() * amplitude > maskingThreshold[middle] else { continue }
          strongest = (power * scale, index)
        }
      }
      guard strongest.index >= 0 else { continue }
      strongestBurst = Burst(
        paddedSampleRange: max(
          0, strongest.index - 40)..<min(
            residual.count, strongest.index + filters.burstSampleCount + 40),
        firstSampleIndex: strongest.index,
        peakAmplitude: (Double(strongest.score) * sigma * sigma / filters.energy).squareRoot(),
        detectionScore: Double(strongest.score) - detectionThreshold)
    }
    return strongestBurst
  }

  /// Divides a residual into overlapping blocks, and computes their spectra.
  private func blocks(of residual: [Float], _ transform: inout FourierTransform) -> [Block] {
    var blocks: [Block] = []
    for first in stride(from: 0, to: residual.count, by: positionCount) {
      let samples = Array(residual[first..<min(residual.count, first + blockSampleCount)])
      blocks.append(
        Block(
          firstSampleIndex: first, energy: Vector.energy(samples),
          spectrum: transform.forward(samples)))
    }
    return blocks
  }
}
