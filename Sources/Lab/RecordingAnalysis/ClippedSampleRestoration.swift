import SignalAnalysis

/// Restores the samples that a recorder or an amplifier clipped.
///
/// A vibration is predictable: each sample is nearly a weighted sum of the preceding samples. The
/// clipped samples are chosen so that the energy of the prediction error, |a ∗ x|², is minimal (A.
/// Janssen, R. Veldhuis, L. Vries, "Adaptive interpolation of discrete-time signals that can be
/// modeled as autoregressive processes", IEEE Transactions on Acoustics, Speech, and Signal
/// Processing 34, 1986):
///
/// 1. Fit the prediction filter a to the signal.
/// 2. Solve the normal equations for the clipped samples. Their matrix is banded.
/// 3. A restored sample must exceed the level at which it was clipped. Repeat.
struct ClippedSampleRestoration {
  /// The frames of the recording that were clipped.
  private let clippedFrames: Set<Int>
  /// The magnitude of the recording's clipped samples.
  private let clippingMagnitude: Float

  private static let predictionOrder = 16
  private static let iterationCount = 8
  /// The power of the noise added to the spectrum, relative to the power of the signal.
  private static let spectrumFloorRatio = 1e-4

  /// Finds the clipped samples of a recording. Returns nil if there are none.
  init?(of samples: [Float]) {
    guard let clippedPeaks = ClippedPeaks(samples) else { return nil }
    clippedFrames = Set(clippedPeaks.clippedRuns.joined())
    clippingMagnitude = clippedPeaks.clippedMagnitude
  }

  /// Returns a decimated recording with its clipped samples restored.
  ///
  /// - Parameters:
  ///   - signal: The decimated recording.
  ///   - decimationFactor: The number of frames of the recording for each sample of the signal.
  func restored(_ signal: LowRateSignal, decimationFactor: Int) -> LowRateSignal {
    let clippedIndices = signal.samples.indices.filter {
      clippedFrames.contains($0 * decimationFactor)
    }
    guard !clippedIndices.isEmpty else { return signal }
    var samples = signal.samples
    for _ in 0..<Self.iterationCount {
      interpolate(clippedIndices, of: &samples)
    }
    return LowRateSignal(
      of: samples, rate: signal.decimatedRate, targetRate: signal.decimatedRate)
  }

  /// Replaces samples by the values with the minimum prediction error.
  private func interpolate(_ indices: [Int], of samples: inout [Float]) {
    var spectrum = NoiseSpectralDensity(of: samples, quantile: nil)
    spectrum.addWhiteNoise(power: Self.spectrumFloorRatio * spectrum.totalPower)
    let taps = spectrum.whiteningFilter(order: Self.predictionOrder).map(Double.init)
    // The elements of the matrix are the autocorrelation of the filter.
    let tapProducts = Vector.crossCorrelation(taps, taps, lags: 0..<taps.count)
    var knownSamples = samples.map(Double.init)
    for index in indices {
      knownSamples[index] = 0
    }
    var normalMatrix = SkylineMatrix()
    var rightSide: [Double] = []
    var firstColumn = 0
    for (row, index) in indices.enumerated() {
      while index - indices[firstColumn] > Self.predictionOrder {
        firstColumn += 1
      }
      normalMatrix.appendRow(
        (firstColumn...row).map { tapProducts[index - indices[$0]] }, startingAt: firstColumn)
      let firstNeighbor = max(0, index - Self.predictionOrder)
      let lastNeighbor = min(samples.count - 1, index + Self.predictionOrder)
      let neighborSum = (firstNeighbor...lastNeighbor).reduce(0.0) {
        $0 + tapProducts[abs($1 - index)] * knownSamples[$1]
      }
      rightSide.append(-neighborSum)
    }
    normalMatrix.factorize()
    for (index, value) in zip(indices, normalMatrix.solution(of: rightSide)) {
      let sign: Float = samples[index] < 0 ? -1 : 1
      samples[index] = sign * max(clippingMagnitude, sign * Float(value))
    }
  }
}
