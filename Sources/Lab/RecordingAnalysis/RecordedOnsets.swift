import SignalAnalysis

/// The onsets of a recording, compared with the times of the reference's events.
///
/// Onsets remain audible behind chains that no model explains. They show how many events were
/// played, and at which times.
package struct RecordedOnsets {
  /// The number of times at which events of the reference start.
  package let expectedCount: Int
  /// The times in the reference at which no onset was recorded, in seconds.
  package let unmatchedSeconds: [Double]
  /// The number of expected times at which an onset was recorded.
  package var matchedCount: Int { expectedCount - unmatchedSeconds.count }
  /// A Boolean value that indicates whether so many onsets match that chance does not explain it.
  package var showsPattern: Bool {
    matchedCount >= minimumMatchedCount && 3 * matchedCount >= 2 * expectedCount
  }
  /// The minimum number of matches that are not due to chance. Without an approximate delay, more
  /// delays are tried.
  private let minimumMatchedCount: Int

  /// The maximum distance of an onset from its expected time, in seconds.
  package static let toleranceSeconds = 0.006
  /// The maximum error of a delay that was found by a model, in seconds.
  private static let maximumDelayErrorSeconds = 0.06
  /// The minimum interval between two events that start separately, in seconds.
  private static let minimumIntervalSeconds = 0.02
  /// The maximum number of onsets, and of events, that are compared.
  private static let maximumComparedCount = 200

  /// Finds the delay at which most onsets match.
  ///
  /// - Parameters:
  ///   - pair: The reference and its recording.
  ///   - delaySeconds: The approximate delay of the reference, or nil if it is unknown.
  package init(of pair: RecordingPair, near delaySeconds: Double?) {
    let recorded = Onsets(in: pair.recording).prefix(Self.maximumComparedCount).map(\.timeSeconds)
    var expected: [Double] = []
    for seconds in pair.reference.waveforms.map(\.eventSeconds).sorted()
    where seconds - (expected.last ?? -.infinity) >= Self.minimumIntervalSeconds {
      expected.append(seconds)
    }
    expected = Array(expected.prefix(Self.maximumComparedCount))
    let delays = recorded.flatMap { onset in expected.map { onset - $0 } }.filter { delay in
      delaySeconds.map { abs(delay - $0) < Self.maximumDelayErrorSeconds } ?? true
    }
    func unmatched(at delay: Double) -> [Double] {
      var firstOnset = 0
      return expected.filter { seconds in
        while firstOnset < recorded.count,
          recorded[firstOnset] < seconds + delay - Self.toleranceSeconds
        {
          firstOnset += 1
        }
        return firstOnset == recorded.count
          || recorded[firstOnset] > seconds + delay + Self.toleranceSeconds
      }
    }
    minimumMatchedCount = delaySeconds == nil ? 5 : 3
    expectedCount = expected.count
    unmatchedSeconds = delays.map(unmatched).min { $0.count < $1.count } ?? expected
  }
}
