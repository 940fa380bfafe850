/// How far what was played may be from what is expected.
public struct HapticTolerance: Equatable, Sendable {
  /// Seconds by which onsets and durations may differ.
  public var seconds: Double
  /// By how much intensities, 0…1, may differ.
  public var intensity: Double
  /// By how much sharpnesses, 0…1, may differ.
  public var sharpness: Double

  /// Makes a tolerance.
  public init(seconds: Double, intensity: Double, sharpness: Double) {
    (self.seconds, self.intensity, self.sharpness) = (seconds, intensity, sharpness)
  }

  /// Roundings alone: 1 ms, 0.001, 0.001.
  public static let exact = HapticTolerance(seconds: 0.001, intensity: 0.001, sharpness: 0.001)

  /// What a hand does not notice: 5 ms, 0.05, 0.1.
  public static let perceptible = HapticTolerance(seconds: 0.005, intensity: 0.05, sharpness: 0.1)
}

extension PlayedHaptics {
  /// The greatest distance between two events that are taken for one, in seconds.
  private static let reach = 0.1

  /// What differs from what is expected, one sentence each, in order of time; none where it is the same.
  ///
  /// Continuous events that follow each other without a gap count as one. Sounds, and what was muted all the time, are not compared. O(n²) for n events within 0.1 s of each other.
  public func differences(from expected: PlayedHaptics, within tolerance: HapticTolerance = .perceptible) -> [String] {
    var left = events.filter(\.isFelt).joined.map(\.trimmed)
    var sentences: [(time: Double, text: String)] = []
    for event in expected.events.filter(\.isFelt).joined.map(\.trimmed) {
      let near = left.indices.filter { left[$0].kind == event.kind && abs(left[$0].time - event.time) <= Self.reach }
        .min { abs(left[$0].time - event.time) < abs(left[$1].time - event.time) }
      guard let near else {
        sentences.append((event.time, "The \(event.name) is missing."))
        continue
      }
      let found = left.remove(at: near)
      sentences += found.differences(from: event, within: tolerance).map { (event.time, $0) }
    }
    sentences += left.map { ($0.time, "The \($0.name) was not expected.") }
    return sentences.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(
      \.element.text)
  }
}

extension PlayedHaptics.Event {
  fileprivate var name: String { "\(kind == .transient ? "transient" : "continuous event") at \(thousandths(time)) s" }

  /// The event without what cannot be felt at its start and end.
  fileprivate var trimmed: PlayedHaptics.Event {
    guard kind == .continuous, let first = levels.firstIndex(where: { $0.intensity > 0 }),
      let last = levels.lastIndex(where: { $0.intensity > 0 })
    else { return self }
    var event = self
    let end = last + 1 < levels.count ? levels[last + 1].time : duration
    let start = first > 0 ? levels[first - 1].time : 0
    event.time += start
    event.duration = end - start
    event.levels = levels[max(0, first - 1)..<min(levels.count, last + 2)].map { level in
      var level = level
      level.time -= start
      return level
    }
    return event
  }

  fileprivate func differences(from expected: PlayedHaptics.Event, within tolerance: HapticTolerance) -> [String] {
    // Sums of times are a little off, whatever the tolerance.
    let grace = 1e-9
    var sentences: [String] = []
    let delay = time - expected.time
    if abs(delay) > tolerance.seconds + grace {
      sentences.append("The \(expected.name) is \(milliseconds(abs(delay))) \(delay > 0 ? "late" : "early").")
    }
    if kind == .continuous, abs(duration - expected.duration) > tolerance.seconds + grace {
      sentences.append(
        "The \(expected.name) lasts \(thousandths(duration)) s instead of " + "\(thousandths(expected.duration)) s.")
    }
    func compare(_ quality: String, _ limit: Double, _ value: (Level) -> Double) {
      guard let (time, found, wanted) = greatestDifference(from: expected, value), abs(found - wanted) > limit + grace
      else { return }
      let place = kind == .transient || time == 0 ? "" : " \(thousandths(time)) s after its start"
      sentences.append(
        "The \(expected.name) has \(quality) \(thousandths(found)) instead of " + "\(thousandths(wanted))\(place).")
    }
    compare("intensity", tolerance.intensity, \.intensity)
    compare("sharpness", tolerance.sharpness, \.sharpness)
    return sentences
  }

  /// Where a value differs most, and both values; two steps of an event are a hundredth of a second apart.
  private func greatestDifference(from expected: PlayedHaptics.Event, _ value: (Level) -> Double) -> (
    time: Double, found: Double, expected: Double
  )? {
    let length = kind == .transient ? 0 : min(duration, expected.duration)
    var times = [0.0]
    // Steps lie between frames; levels are looked at in the middle of hundredths.
    if levels.count > 1 || expected.levels.count > 1 { times += stride(from: 0.005, to: min(length, 3_600), by: 0.01) }
    return times.map { time in (time, value(level(at: time)), value(expected.level(at: time))) }.max {
      abs($0.1 - $0.2) < abs($1.1 - $1.2)
    }
  }
}

private func milliseconds(_ seconds: Double) -> String { "\(Int((seconds * 1_000).rounded())) ms" }
