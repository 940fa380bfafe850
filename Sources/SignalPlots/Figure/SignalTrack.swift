package import SignalAnalysis
internal import HapticModel

/// The level and the frequency of a signal over time, for takes whose events are not known.
package struct SignalTrack: Equatable, Sendable {
  /// Seconds between values.
  package let step: Double
  /// Levels in dBFS, of the sine that is as strong.
  package let levels: [Double]
  /// Frequencies in hertz; 0 where there is no tone.
  package private(set) var frequencies: [Double]

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

  package init(of signal: Signal) {
    let step = max(Self.finestStep, signal.duration / Double(Self.maximumCount))
    let envelope = AmplitudeEnvelope(of: signal, step: step)
    self.step = envelope.step
    levels = envelope.values.map { max(Self.floor, Decibels.of(amplitude: Double($0))) }
    frequencies = Array(repeating: 0, count: levels.count)
    for point in FrequencyTrack(of: signal, step: step).points {
      let index = Int((point.time / envelope.step).rounded())
      if frequencies.indices.contains(index) { frequencies[index] = point.hertz }
    }
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

  static let frequencyAxis = PlotAxis(range: hertzRange, isLogarithmic: true)
}

/// How strong and how sharp a take is at a time, as shares of what pictures show.
struct TakeReading: Equatable, Sendable {
  /// The intensity of what lasts, or the level of a sound, 0…1.
  var strength: Double
  /// The sharpness, or where the frequency stands in its range, 0…1; nil for what is not seen.
  var tone: Double?

  /// Weaker events have no sharpness to be seen.
  static let leastStrength = 0.003
  /// What intensities and levels may differ by to count as equal.
  static let equalStrength = 0.012
  /// What sharpnesses may differ by.
  static let equalTone = 0.008
}

extension PlotTake {
  /// What is read in each of so many columns of a range of seconds; of several values the strongest counts.
  func readings(columns count: Int, span: ClosedRange<Double>) -> [TakeReading] {
    let step = (span.upperBound - span.lowerBound) / Double(count)
    guard let track else {
      let continuous = (score?.events ?? []).filter { $0.kind.isVibration }
      return ScoreColumns.strongest(continuous, count: count) { ($0 - span.lowerBound) / step }.map {
        TakeReading(strength: $0.intensity, tone: $0.intensity > TakeReading.leastStrength ? $0.sharpness : nil)
      }
    }
    return (0..<count).map { column in
      let start = span.lowerBound + Double(column) * step
      let first = Int((start / track.step).rounded())
      let last = max(first, Int(((start + step) / track.step).rounded()) - 1)
      var best = first
      for index in first...last where track.strength(at: index) > track.strength(at: best) { best = index }
      guard step < track.step else {
        return TakeReading(strength: track.strength(at: best), tone: track.tone(at: best))
      }
      // Between values the level is a straight line.
      let place = (start + step / 2) / track.step
      let (before, share) = (Int(place), place - place.rounded(.down))
      let from = track.strength(at: before)
      return TakeReading(strength: from + (track.strength(at: before + 1) - from) * share, tone: track.tone(at: best))
    }
  }
}
