internal import CMath
internal import SignalAnalysis

/// The common movement of simultaneous events: each event has a constant base, and all events share
/// one value that changes over time.
///
/// Intensity is the product of base and value; sharpness is their sum. Values and bases are
/// estimated in turn: the values as means weighted by the energy of the events, the bases as
/// medians over time.
struct SharedMovement {
  /// The times of the values, in seconds.
  let times: [Double]
  /// The shared values.
  private(set) var values: [Double]
  /// The base of each event.
  private(set) var bases: [Double]

  /// The number of estimations.
  private static let iterationCount = 8

  /// Estimates a movement.
  ///
  /// - Parameters:
  ///   - events: The events.
  ///   - step: The interval between values, in seconds.
  ///   - isRelative: Pass true for intensities, and false for sharpnesses.
  init(_ events: [TracedContinuous], step: Double, isRelative: Bool) {
    let start = events.map { $0.start }.min() ?? 0
    let end = events.map { $0.end }.max() ?? 0
    let count = max(2, Int((end - start) / step) + 1)
    times = (0..<count).map { start + Double($0) * step }
    values = [Double](repeating: isRelative ? 1 : 0, count: count)
    bases = []
    // The logarithm of a product is a sum.
    let tracks = events.map { event in
      Track(event, start: start, step: step, count: count, isRelative: isRelative)
    }
    var offsets = tracks.map { Statistics.median(of: $0.values) }
    var shared = [Double](repeating: 0, count: count)
    for _ in 0..<Self.iterationCount {
      shared = Self.mean(of: tracks, offsets: offsets, count: count)
      for (index, track) in tracks.enumerated() {
        let differences = track.values.indices.map { track.values[$0] - shared[track.first + $0] }
        offsets[index] = Statistics.median(of: differences)
      }
    }
    values = isRelative ? shared.map { exp($0) } : shared
    bases = isRelative ? offsets.map { exp($0) } : offsets
  }

  /// Scales the values of a relative movement so that the maximum is 1.
  mutating func normalize() {
    let maximum = max(values.max() ?? 1, 1e-9)
    values = values.map { $0 / maximum }
    bases = bases.map { $0 * maximum }
  }

  /// The values of an event on the common grid.
  private struct Track {
    let first: Int
    let values: [Double]
    let weight: Double

    init(_ event: TracedContinuous, start: Double, step: Double, count: Int, isRelative: Bool) {
      let source = isRelative ? event.intensities : event.sharpnesses
      let firstIndex = Int(((event.start - start) / step).rounded(.up))
      let lastIndex = min(count - 1, Int((event.end - start) / step))
      first = max(0, min(firstIndex, count - 1))
      values = (first...max(first, lastIndex)).map { index in
        let position = (start + Double(index) * step - event.start) / event.step
        let value = source[min(source.count - 1, max(0, Int(position)))]
        return isRelative ? log(max(value, 1e-3)) : value
      }
      let energy = event.intensities.reduce(0) { $0 + $1 * $1 }
      weight = energy / Double(event.intensities.count)
    }
  }

  private static func mean(of tracks: [Track], offsets: [Double], count: Int) -> [Double] {
    var sums = [Double](repeating: 0, count: count)
    var weights = [Double](repeating: 0, count: count)
    for (track, offset) in zip(tracks, offsets) {
      for (index, value) in track.values.enumerated() {
        sums[track.first + index] += track.weight * (value - offset)
        weights[track.first + index] += track.weight
      }
    }
    var previous = 0.0
    return sums.indices.map { index in
      if weights[index] > 0 {
        previous = sums[index] / weights[index]
      }
      return previous
    }
  }
}
