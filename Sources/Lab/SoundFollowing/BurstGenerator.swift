internal import CMath

/// A generator of vibration bursts of two cycles each. Bursts may overlap.
struct BurstGenerator {
  private struct Burst {
    /// The index of the next sample within the burst.
    var nextSampleIndex = 0
    var burstAmplitude: Double
  }

  private let unitBurstWaveform: [Double]
  private var activeBursts: [Burst] = []

  init(hertz: Double, rate: Double) {
    let waveformSampleCount = Int(2 * rate / hertz)
    unitBurstWaveform = (0..<waveformSampleCount).map { index in
      let time = (Double(index) + 0.5) / Double(waveformSampleCount)
      return sin(4 * .pi * (time - 0.5)) * min(1, 8 * min(time, 1 - time))
    }
  }

  /// Starts a burst of a given strength.
  mutating func startBurst(strength: Double) {
    activeBursts.append(Burst(burstAmplitude: strength))
  }

  /// Returns the next sample of the sum of all bursts.
  mutating func nextSample() -> Double {
    guard !activeBursts.isEmpty else { return 0 }
    var burstSum = 0.0
    for index in activeBursts.indices {
      burstSum +=
        unitBurstWaveform[activeBursts[index].nextSampleIndex] * activeBursts[index].burstAmplitude
      activeBursts[index].nextSampleIndex += 1
    }
    if activeBursts[0].nextSampleIndex == unitBurstWaveform.count {
      activeBursts.removeFirst()
    }
    return burstSum
  }
}
