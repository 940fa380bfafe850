/// Peaks of a signal that were cut off at one magnitude.
struct ClippedPeaks {
  /// The magnitude.
  var ceiling: Float
  /// How many samples lie there.
  var sampleCount: Int
  /// In how many places.
  var placeCount: Int
  /// The frames from the first to behind the last.
  var frames: Range<Int>

  /// The fewest samples of one cut peak.
  private static let shortest = 4
  /// Weaker signals have flat peaks because of their few steps.
  private static let leastCeiling: Float = 0.1
  /// How far below the ceiling, as a share, the sample before or behind a cut lies at least.
  private static let slope: Float = 0.001

  /// Looks for flat peaks at the greatest magnitude; nothing where there is none.
  init?(_ samples: [Float]) {
    let peak = SignalPair.peak(samples)
    guard peak >= Self.leastCeiling else { return nil }
    let least = peak * (1 - 1e-4)
    ceiling = least
    sampleCount = 0
    placeCount = 0
    frames = 0..<0
    var start: Int?
    for index in 0...samples.count {
      let isHigh = index < samples.count && abs(samples[index]) >= least
      if isHigh, start == nil { start = index }
      if !isHigh, let from = start {
        let before = from > 0 ? abs(samples[from - 1]) : 0
        let behind = index < samples.count ? abs(samples[index]) : 0
        if index - from >= Self.shortest, min(before, behind) < peak * (1 - Self.slope) {
          sampleCount += index - from
          placeCount += 1
          frames = (placeCount == 1 ? from : frames.lowerBound)..<index
        }
        start = nil
      }
    }
    guard placeCount > 0 else { return nil }
  }
}
