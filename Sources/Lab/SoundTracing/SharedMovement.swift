internal import CMath
internal import SignalAnalysis

/// The common change of simultaneous events over time, in intensity or sharpness.
///
/// Each event has a constant base value, to which the shared value is applied.
///
/// Intensity is the product of base and value; sharpness is their sum. Values and bases are
/// estimated in turn: the values as means weighted by the energy of the events, the bases as
/// medians over time.
struct SharedMovement {
  /// The times of `sharedValues`, in seconds.
  let timesInSeconds: [Double]
  /// The shared value at each time: a factor for intensities, or an offset for sharpnesses.
  private(set) var sharedValues: [Double]
  /// The constant base value of each event.
  ///
  /// It is multiplied by the shared value (intensity) or added to it (sharpness).
  private(set) var eventBases: [Double]

  /// The number of iterations, each of which estimates base values and then shared values.
  private static let iterationCount = 8

  /// Estimates the shared movement of simultaneous events.
  ///
  /// - Parameters:
  ///   - events: The events.
  ///   - step: The interval between values, in seconds.
  ///   - isRelative: Pass true for intensities, and false for sharpnesses.
  init(_ events: [TracedContinuousEvent], step: Double, isRelative: Bool) {
    let firstStartSeconds = events.map { $0.startSeconds }.min() ?? 0
    let lastEndSeconds = events.map { $0.endSeconds }.max() ?? 0
    let gridValueCount = max(2, Int((lastEndSeconds - firstStartSeconds) / step) + 1)
    timesInSeconds = (0..<gridValueCount).map { firstStartSeconds + Double($0) * step }
    sharedValues = [Double](repeating: isRelative ? 1 : 0, count: gridValueCount)
    eventBases = []
    // The logarithm of a product is a sum.
    let eventTracks = events.map { event in
      Track(
        event, start: firstStartSeconds, step: step, count: gridValueCount, isRelative: isRelative)
    }
    var eventOffsets = eventTracks.map { Statistics.median(of: $0.gridValues) }
    var sharedMean = [Double](repeating: 0, count: gridValueCount)
    for _ in 0..<Self.iterationCount {
      sharedMean = Self.mean(of: eventTracks, offsets: eventOffsets, count: gridValueCount)
      for (index, track) in eventTracks.enumerated() {
        let differences = track.gridValues.indices.map {
          track.gridValues[$0] - sharedMean[track.firstGridIndex + $0]
        }
        eventOffsets[index] = Statistics.median(of: differences)
      }
    }
    sharedValues = isRelative ? sharedMean.map { exp($0) } : sharedMean
    eventBases = isRelative ? eventOffsets.map { exp($0) } : eventOffsets
  }

  /// Scales the shared values of intensity to a maximum of 1, and adjusts the base values.
  mutating func normalize() {
    let maximumValue = max(sharedValues.max() ?? 1, 1e-9)
    sharedValues = sharedValues.map { $0 / maximumValue }
    eventBases = eventBases.map { $0 * maximumValue }
  }

  /// The values of one event, resampled at the shared times.
  private struct Track {
    let firstGridIndex: Int
    let gridValues: [Double]
    let trackWeight: Double

    init(_ event: TracedContinuousEvent, start: Double, step: Double, count: Int, isRelative: Bool)
    {
      let source = isRelative ? event.intensities : event.sharpnesses
      let firstIndex = Int(((event.startSeconds - start) / step).rounded(.up))
      let lastIndex = min(count - 1, Int((event.endSeconds - start) / step))
      firstGridIndex = max(0, min(firstIndex, count - 1))
      gridValues = (firstGridIndex...max(firstGridIndex, lastIndex)).map { index in
        let position = (start + Double(index) * step - event.startSeconds) / event.stepSeconds
        let value = source[min(source.count - 1, max(0, Int(position)))]
        return isRelative ? log(max(value, 1e-3)) : value
      }
      let energy = event.intensities.reduce(0) { $0 + $1 * $1 }
      trackWeight = energy / Double(event.intensities.count)
    }
  }

  private static func mean(of tracks: [Track], offsets: [Double], count: Int) -> [Double] {
    var weightedSums = [Double](repeating: 0, count: count)
    var weightSums = [Double](repeating: 0, count: count)
    for (track, offset) in zip(tracks, offsets) {
      for (index, value) in track.gridValues.enumerated() {
        weightedSums[track.firstGridIndex + index] += track.trackWeight * (value - offset)
        weightSums[track.firstGridIndex + index] += track.trackWeight
      }
    }
    var previousMean = 0.0
    return weightedSums.indices.map { index in
      if weightSums[index] > 0 {
        previousMean = weightedSums[index] / weightSums[index]
      }
      return previousMean
    }
  }
}
