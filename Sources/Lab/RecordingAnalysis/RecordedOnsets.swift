internal import CMath
import SignalAnalysis

/// The onsets of a recording, compared with the times of the reference's events.
///
/// Onsets remain detectable after chains that no model explains. They show how many events were
/// played, and at which times.
package struct RecordedOnsets {
  /// The number of different start times of the reference's events.
  package let expectedCount: Int
  /// The times of expected but missing onsets, in seconds from the start of the reference.
  package let unmatchedSeconds: [Double]
  /// The number of expected times with a recorded onset.
  package var matchedCount: Int { expectedCount - unmatchedSeconds.count }
  /// A Boolean value that indicates whether the recorded onsets show the pattern.
  ///
  /// At least two thirds of the expected onsets match, and chance does not explain the matches.
  package var showsPattern: Bool {
    falseAlarmCount < Self.maximumFalseAlarmCount && 3 * matchedCount >= 2 * expectedCount
  }
  /// An upper bound for the expected number of delays with as many matches by chance.
  ///
  /// A false alarm is a candidate delay with at least the found number of matches, although the
  /// recorded onsets are independent of the reference.
  private let falseAlarmCount: Double

  /// The maximum distance of an onset from its expected time, in seconds.
  package static let toleranceSeconds = 0.006
  /// The maximum error of a delay from a model, in seconds.
  private static let maximumDelayErrorSeconds = 0.06
  /// The minimum interval between two events that start separately, in seconds.
  private static let minimumIntervalSeconds = 0.02
  /// The maximum expected number of false alarms for a recording that shows the pattern.
  ///
  /// The number is an expected value over all candidate delays of one recording, and thus a
  /// fraction.
  private static let maximumFalseAlarmCount = 0.01
  /// The maximum number of compared onsets, and of compared events.
  private static let maximumComparedCount = 200

  /// Finds the delay of the reference with the most matching onsets.
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
    expectedCount = expected.count
    unmatchedSeconds = delays.map(unmatched).min { $0.count < $1.count } ?? expected
    falseAlarmCount =
      Double(delays.count)
      * Self.falseAlarmProbabilityBound(
        matchedCount: expected.count - unmatchedSeconds.count, of: expected.count,
        onsetsPerSecond: Self.onsetsPerSecond(recorded))
  }

  /// Returns the mean rate of onsets between the first and the last onset.
  private static func onsetsPerSecond(_ onsetSeconds: [Double]) -> Double {
    guard let first = onsetSeconds.first, let last = onsetSeconds.last, first < last else {
      return 0
    }
    return Double(onsetSeconds.count - 1) / (last - first)
  }

  /// Returns an upper bound for the probability of the matches at one delay by chance.
  ///
  /// Each tried delay matches one onset by definition. Each of the other *n* expected times matches
  /// with the probability *p* that a Poisson process has an onset within the tolerance. The
  /// probability of at least *k* further matches is at most C(*n*, *k*) *p*ᵏ, the union bound over
  /// all sets of *k* times.
  private static func falseAlarmProbabilityBound(
    matchedCount: Int, of expectedCount: Int, onsetsPerSecond: Double
  ) -> Double {
    guard matchedCount > 1 else { return 1 }
    let unmatchedCount = expectedCount - matchedCount
    let matchProbability = 1 - exp(-2 * toleranceSeconds * onsetsPerSecond)
    return (1..<matchedCount).reduce(1.0) { bound, number in
      bound * matchProbability * Double(unmatchedCount + number) / Double(number)
    }
  }
}
