internal import CMath
import SignalAnalysis

/// A fit with one gain for all events, and its whitened residual.
struct RecordingResidual {
  var fit: RecordingFit
  /// The gain of all events.
  private(set) var gain = 0.0
  /// The standard deviation of the whitened noise.
  private(set) var sigma = 0.0
  /// The whitened recording minus hum, DC offset, and all events at one gain.
  private(set) var samples: [Float] = []
  /// The whitened waveforms of the fit's reference.
  private(set) var columns: [DesignColumn] = []

  init(_ fit: RecordingFit) {
    self.fit = fit
    update(excludedRanges: [])
  }

  /// Solves the fit, and recomputes the residual.
  ///
  /// - Parameter excludedRanges: The samples to set to zero.
  mutating func update(excludedRanges: [Range<Int>]) {
    let solution = fit.solve()
    sigma = solution.sigma
    gain = solution.gain
    samples = solution.humFreeRecording
    for column in solution.columns {
      column.add(to: &samples, times: -gain)
    }
    for range in excludedRanges {
      Vector.zero(&samples, in: range)
    }
    columns = fit.reference.waveforms.map(whitened)
  }

  /// Replaces a waveform without changing gain and placement.
  mutating func replaceWaveform(at index: Int, with waveform: EventWaveform) {
    columns[index].add(to: &samples, times: gain)
    fit.reference.waveforms[index] = waveform
    columns[index] = whitened(waveform)
    columns[index].add(to: &samples, times: -gain)
  }

  /// Returns a whitened waveform at its position in the recording.
  func whitened(_ waveform: EventWaveform) -> DesignColumn {
    fit.column(of: waveform).whitened(by: fit.whitener, count: fit.recording.count)
  }

  /// The explained energy relative to the total energy at the events, without noise.
  var coherence: Double {
    var explained = 0.0
    var remaining = 0.0
    var isCounted = [Bool](repeating: false, count: samples.count)
    for column in columns {
      explained += gain * gain * Vector.energy(column.samples)
      for sample in column.range.clamped(to: samples.indices) where !isCounted[sample] {
        isCounted[sample] = true
        remaining += Double(samples[sample] * samples[sample]) - sigma * sigma
      }
    }
    return explained > 0 ? explained / (explained + max(0, remaining)) : 0
  }

  /// Half the decimal logarithm of the residual's power relative to the noise; at least 0.
  var misfit: Double {
    let noiseEnergy = sigma * sigma * Double(max(1, samples.count))
    return 0.5 * log10(max(1, Vector.energy(samples) / noiseEnergy))
  }

  /// Returns the energy of the residual minus that of the noise, in multiples of the noise power.
  ///
  /// - Parameters:
  ///   - sigma: The standard deviation of the noise.
  ///   - excludedRanges: The samples without noise.
  func excessEnergy(sigma: Double, excludedRanges: [Range<Int>]) -> Double {
    var isExcluded = [Bool](repeating: false, count: samples.count)
    for range in excludedRanges {
      for index in range {
        isExcluded[index] = true
      }
    }
    return Vector.energy(samples) / (sigma * sigma) - Double(isExcluded.count { !$0 })
  }
}
