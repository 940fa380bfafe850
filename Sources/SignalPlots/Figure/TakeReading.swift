internal import HapticModel

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
      return ScoreColumns(continuous, count: count) { ($0 - span.lowerBound) / step }.strongest.map {
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
