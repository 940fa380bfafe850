internal import CMath
import SignalAnalysis

/// Finds short bursts in a whitened residual by matched filters.
///
/// The bank has windowed tones of nine frequencies and two durations, and the transients of a
/// profile. A pair of filters in quadrature responds to a tone of any phase.
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

  /// The templates of bursts: in-phase samples, and quadrature samples if the phase is free.
  private var burstTemplates: [(inPhase: [Float], quadrature: [Float]?)] = []

  /// Creates the templates of all bursts that can be detected.
  ///
  /// - Parameters:
  ///   - rate: The sample rate, in hertz.
  ///   - extra: Waveforms to add to the bank.
  init(rate: Double, extra: [EventWaveform]) {
    for step in 0..<9 {
      let hertz = 60 * pow(320.0 / 60, Double(step) / 8)
      for seconds in [0.012, 0.035] {
        let count = Int(seconds * rate)
        let window = (0..<count).map { pow(sin(.pi * (Double($0) + 0.5) / Double(count)), 0.6) }
        let angle = 2 * .pi * hertz / rate
        burstTemplates.append(
          (
            window.indices.map { Float(window[$0] * cos(angle * Double($0))) },
            window.indices.map { Float(window[$0] * sin(angle * Double($0))) }
          ))
      }
    }
    for waveform in extra {
      let peak = max(1e-9, Statistics.peak(of: waveform.samples))
      burstTemplates.append((waveform.samples.map { $0 / peak }, nil))
    }
  }

  /// Returns the burst with the highest score in a whitened residual.
  ///
  /// Returns nil if no burst is significant.
  ///
  /// - Parameters:
  ///   - residual: The residual.
  ///   - whitener: The impulse response of the whitening filter.
  ///   - sigma: The standard deviation of the noise.
  ///   - maskingThreshold: The amplitude, at each sample, below which a burst is imperceptible.
  func strongestBurst(
    in residual: [Float], whitener: [Float], sigma: Double, maskingThreshold: [Float]
  )
    -> Burst?
  {
    let transformLength = FourierTransform.fastLength(atLeast: residual.count + 300)
    var transform = FourierTransform(length: transformLength)
    let residualBins = transform.forward(residual)
    // More positions make a false detection more likely. The minimum z-score applies to 40,000
    // positions, and increases by 0.25 for each factor of ten.
    let relativeTestCount = max(1, Double(residual.count) / 4e4)
    let correctedZScore = RecordingThreshold.minimumZScore + 0.25 * log10(relativeTestCount)
    let detectionThreshold = correctedZScore * correctedZScore + 8
    var strongestBurst: Burst?
    for (inPhase, quadrature) in burstTemplates {
      let filtered = Vector.filtered(inPhase, by: whitener, tail: whitener.count - 1)
      let filteredQuadrature = quadrature.map {
        Vector.filtered($0, by: whitener, tail: whitener.count - 1)
      }
      let products = transform.correlation(residualBins, filtered)
      let quadratureProducts = filteredQuadrature.map { transform.correlation(residualBins, $0) }
      let filteredEnergy = Vector.energy(filtered)
      let energy =
        filteredQuadrature.map { (filteredEnergy + Vector.energy($0)) / 2 } ?? filteredEnergy
      let scale = Float(1 / (energy * sigma * sigma))
      let amplitude = Float(1 / energy)
      let minimumScore = max(
        Float(detectionThreshold),
        Float(strongestBurst.map { $0.detectionScore + detectionThreshold } ?? 0))
      var strongest = (score: minimumScore, index: -1)
      let halfLength = inPhase.count / 2
      unsafe products.withUnsafeBufferPointer { p in
        for index in 0..<residual.count {
          var power = unsafe p[index] * p[index]
          if let quadratureProducts {
            power += quadratureProducts[index] * quadratureProducts[index]
          }
          guard power * scale > strongest.score else { continue }
          let middle = min(index + halfLength, maskingThreshold.count - 1)
          guard power.squareRoot() * amplitude > maskingThreshold[middle] else { continue }
          strongest = (power * scale, index)
        }
      }
      guard strongest.index >= 0 else { continue }
      strongestBurst = Burst(
        paddedSampleRange: max(
          0, strongest.index - 40)..<min(residual.count, strongest.index + inPhase.count + 40),
        firstSampleIndex: strongest.index,
        peakAmplitude: (Double(strongest.score) * sigma * sigma / energy).squareRoot(),
        detectionScore: Double(strongest.score) - detectionThreshold)
    }
    return strongestBurst
  }
}
