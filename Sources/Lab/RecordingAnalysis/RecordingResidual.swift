internal import CMath
import SignalAnalysis

/// A fit with one gain for all events, and its whitened residual.
struct RecordingResidual {
  var fit: RecordingFit
  /// The gain that all events have in common.
  private(set) var commonGain = 0.0
  /// The standard deviation of the whitened noise.
  private(set) var noiseDeviation = 0.0
  /// The whitened recording minus hum, DC offset, and all events at one gain.
  private(set) var whitenedSamples: [Float] = []
  /// The whitened waveforms of the fit's reference.
  private(set) var whitenedColumns: [DesignColumn] = []

  init(_ fit: RecordingFit) {
    self.fit = fit
    update(excludedRanges: [])
  }

  /// Solves the fit, and recomputes the residual outside of the excluded ranges.
  ///
  /// - Parameter excludedRanges: The samples to set to zero.
  mutating func update(excludedRanges: [Range<Int>]) {
    let solution = fit.solve()
    noiseDeviation = solution.noiseDeviation
    commonGain = solution.commonGain
    whitenedSamples = solution.humFreeRecording
    for column in solution.whitenedColumns {
      column.add(to: &whitenedSamples, times: -commonGain)
    }
    for range in excludedRanges {
      Vector.zero(&whitenedSamples, in: range)
    }
    whitenedColumns = fit.reference.waveforms.map(whitenedColumn)
  }

  /// Replaces a waveform without changing gain and placement.
  mutating func replaceWaveform(at index: Int, with waveform: EventWaveform) {
    whitenedColumns[index].add(to: &whitenedSamples, times: commonGain)
    fit.reference.waveforms[index] = waveform
    whitenedColumns[index] = whitenedColumn(waveform)
    whitenedColumns[index].add(to: &whitenedSamples, times: -commonGain)
  }

  /// Returns a whitened waveform at its position in the recording.
  func whitenedColumn(_ waveform: EventWaveform) -> DesignColumn {
    fit.column(of: waveform).whitened(by: fit.whitenerTaps, count: fit.recordingExcerpt.count)
  }

  /// The explained energy relative to the total energy at the events, without noise.
  var coherence: Double {
    var explainedEnergy = 0.0
    var remainingEnergy = 0.0
    var isCounted = [Bool](repeating: false, count: whitenedSamples.count)
    for column in whitenedColumns {
      explainedEnergy += commonGain * commonGain * Vector.energy(column.samples)
      for sample in column.recordingRange.clamped(to: whitenedSamples.indices)
      where !isCounted[sample] {
        isCounted[sample] = true
        remainingEnergy +=
          Double(whitenedSamples[sample] * whitenedSamples[sample]) - noiseDeviation
          * noiseDeviation
      }
    }
    return explainedEnergy > 0 ? explainedEnergy / (explainedEnergy + max(0, remainingEnergy)) : 0
  }

  /// The misfit: half the decimal logarithm of the residual's power relative to the noise.
  ///
  /// The misfit is at least 0. Recorded silence has no noise, so the model error counts as noise.
  var noiseMisfitDecades: Double {
    let whitenerGain = Vector.energy(fit.whitenerTaps).squareRoot()
    let modelError = fit.modelErrorMagnitude(commonGain: commonGain) * whitenerGain
    let unexplainedDeviation = max(noiseDeviation, modelError)
    let noiseEnergy =
      unexplainedDeviation * unexplainedDeviation * Double(max(1, whitenedSamples.count))
    return 0.5 * log10(max(1, Vector.energy(whitenedSamples) / noiseEnergy))
  }

  /// Returns the residual's energy in excess of the noise, in multiples of the noise power.
  ///
  /// - Parameters:
  ///   - sigma: The standard deviation of the noise.
  ///   - excludedRanges: The samples without noise.
  func excessEnergy(sigma: Double, excludedRanges: [Range<Int>]) -> Double {
    var isExcluded = [Bool](repeating: false, count: whitenedSamples.count)
    for range in excludedRanges {
      for index in range {
        isExcluded[index] = true
      }
    }
    return Vector.energy(whitenedSamples) / (sigma * sigma) - Double(isExcluded.count { !$0 })
  }
}
