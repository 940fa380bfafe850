package import SignalAnalysis

/// The level and the frequency of a signal over time, for takes whose events are not known.
package struct SignalTrack: Equatable, Sendable {
  /// Seconds between values.
  package let step: Double
  /// Levels in dBFS, of the sine that is as strong.
  package let levels: [Double]
  /// Frequencies in hertz; 0 where there is no tone.
  package let frequencies: [Double]

  /// The most values of one track.
  private static let maximumCount = 4_000
  /// The finest step in seconds.
  private static let finestStep = 0.005
  /// Quieter levels are silence, in dBFS.
  package static let floor = -80.0
  /// The levels that pictures show, in dBFS.
  package static let levelRange = -60.0...0
  /// The frequencies that pictures show, in hertz.
  package static let hertzRange = 30.0...600

  /// Follows a signal.
  package init(of signal: Signal) {
    let step = max(Self.finestStep, signal.duration / Double(Self.maximumCount))
    let envelope = AmplitudeEnvelope(of: signal, step: step)
    self.step = envelope.step
    levels = envelope.values.map { max(Self.floor, Decibels.of(amplitude: Double($0))) }
    var frequencies = [Double](repeating: 0, count: levels.count)
    for point in FrequencyTrack(of: signal, step: step).points {
      let index = Int((point.time / envelope.step).rounded())
      if frequencies.indices.contains(index) { frequencies[index] = point.hertz }
    }
    self.frequencies = frequencies
  }

  /// The index of the value at a time; that of no value behind the ends.
  package func index(at time: Double) -> Int { Int((time / step).rounded()) }

  /// How strong it is at a value's index: where the level stands in the range that is shown, 0…1.
  package func strength(at index: Int) -> Double {
    let range = Self.levelRange
    guard levels.indices.contains(index) else { return 0 }
    return min(max(0, (levels[index] - range.lowerBound) / (range.upperBound - range.lowerBound)), 1)
  }

  /// Where the frequency at a value's index stands in the range that is shown, 0…1; nil without a tone
  /// that is as strong as what is shown.
  package func tone(at index: Int) -> Double? {
    guard strength(at: index) > 0, frequencies.indices.contains(index), frequencies[index] > 0 else { return nil }
    return min(max(0, Self.frequencyAxis.share(of: frequencies[index])), 1)
  }

  /// The axis of frequency.
  static let frequencyAxis = PlotAxis(range: hertzRange, isLogarithmic: true)
}
