internal import Foundation
internal import HapticFormats
internal import HapticModel
public import CoreHaptics

/// What was played on a device, event by event, in time.
///
/// From the renderer's own record of its players: loops, pauses, seeks, rates, mutes, controls of patterns and
/// controls that were sent count. Envelopes of events do not.
public struct PlayedHaptics: Equatable, Sendable, RandomAccessCollection, ExpressibleByArrayLiteral,
  CustomStringConvertible
{
  /// One event.
  public struct Event: Equatable, Sendable, CustomStringConvertible {
    /// What an event is: a short tap, a hum that lasts, or a sound, which is heard and not felt.
    public enum Kind: String, Sendable { case transient, continuous, audio }

    /// How strong and sharp an event is from a moment on; between two, both move along straight lines.
    public struct Level: Equatable, Sendable {
      /// Seconds from the start of the event.
      public var time: Double
      /// 0…1, with controls and mutes.
      public var intensity: Double
      /// 0…1, with controls.
      public var sharpness: Double

      /// Makes a level.
      public init(time: Double, intensity: Double, sharpness: Double) {
        (self.time, self.intensity, self.sharpness) = (time, intensity, sharpness)
      }

      fileprivate func moved(by seconds: Double) -> Level {
        Level(time: time + seconds, intensity: intensity, sharpness: sharpness)
      }
    }

    /// What it is.
    public var kind: Kind
    /// Seconds on the device's clock.
    public var time: Double
    /// Seconds it lasts, up to now at most; 0 of a transient, and of a sound file that plays to its own end.
    public var duration: Double
    /// By rising time; at least one.
    public var levels: [Level]

    /// The greatest intensity, 0…1; of a sound, its volume.
    public var intensity: Double { levels.map(\.intensity).max() ?? 0 }

    /// The sharpness where the event is strongest, 0…1.
    public var sharpness: Double {
      let peak = intensity
      return levels.first { $0.intensity == peak }?.sharpness ?? 0
    }

    /// Whether it can be felt: haptic, and not muted all the time.
    public var isFelt: Bool { kind != .audio && intensity > 0 }

    /// Intensity and sharpness at a time of the event, in seconds from its start.
    public func level(at time: Double) -> Level {
      guard let next = levels.firstIndex(where: { $0.time > time }) else {
        var last = levels.last ?? Level(time: 0, intensity: 0, sharpness: 0)
        last.time = time
        return last
      }
      guard next > 0 else { return levels[0] }
      let (from, to) = (levels[next - 1], levels[next])
      let share = to.time > from.time ? (time - from.time) / (to.time - from.time) : 1
      return Level(
        time: time, intensity: from.intensity + (to.intensity - from.intensity) * share,
        sharpness: from.sharpness + (to.sharpness - from.sharpness) * share)
    }

    /// A transient.
    public static func transient(at time: Double, intensity: Double = 0.75, sharpness: Double = 0.5) -> Event {
      Event(
        kind: .transient, time: time, duration: 0, levels: [Level(time: 0, intensity: intensity, sharpness: sharpness)])
    }

    /// A continuous event of one intensity and sharpness.
    public static func continuous(
      at time: Double, for duration: Double, intensity: Double = 0.6, sharpness: Double = 0.422601
    ) -> Event {
      Event(
        kind: .continuous, time: time, duration: duration,
        levels: [Level(time: 0, intensity: intensity, sharpness: sharpness)])
    }

    /// One line, such as `0.500 s  transient, intensity 0.700, sharpness 0.500`.
    public var description: String {
      "\(thousandths(time)) s  \(kind)\(kind == .transient ? "" : " for \(thousandths(duration)) s")"
        + ", \(kind == .audio ? "volume" : "intensity") \(thousandths(intensity))"
        + (kind == .audio ? "" : ", sharpness \(thousandths(sharpness))") + (levels.count > 1 ? ", moving" : "")
    }
  }

  var events: [Event]

  /// Events in any order.
  public init(_ events: [Event]) { self.events = events.sorted { $0.time < $1.time } }

  /// The first index, 0.
  public var startIndex: Int { 0 }
  /// One behind the last index.
  public var endIndex: Int { events.count }
  /// An event by its index.
  public subscript(index: Int) -> Event { events[index] }

  /// One line for each event.
  public var description: String { isEmpty ? "nothing was played" : events.map(\.description).joined(separator: "\n") }

  /// When transients were felt, in seconds: the times of taps.
  public var transients: Moments { Moments(events.filter { $0.kind == .transient && $0.isFelt }.map(\.time)) }

  /// When events began that were felt, transient and continuous ones, in seconds.
  public var onsets: Moments { Moments(events.filter(\.isFelt).map(\.time)) }

  /// The events that begin in a range of time, with times from its start.
  public func from(_ start: Double, to end: Double = .infinity) -> PlayedHaptics {
    PlayedHaptics(
      events.filter { $0.time >= start && $0.time < end }.map {
        Event(kind: $0.kind, time: $0.time - start, duration: $0.duration, levels: $0.levels)
      })
  }

  /// Whether nothing was felt from a time on, up to but without another; in seconds.
  public func isSilent(from start: Double = 0, to end: Double = .infinity) -> Bool {
    !events.contains { event in
      event.isFelt && event.time < end && (event.time >= start || event.time + event.duration > start)
        && event.peak(from: start - event.time, to: end - event.time) > 0
    }
  }

  /// The strongest intensity at a time, to a millionth, so that it equals what was written; a transient counts for 30 ms.
  public func strength(at time: Double) -> Double {
    events.filter { event in
      event.isFelt && event.time <= time
        && time < event.time + (event.kind == .transient ? Self.transientDuration : event.duration)
    }.map { ($0.level(at: time - $0.time).intensity * 1e6).rounded() / 1e6 }.max() ?? 0
  }

  /// Seconds for which a transient is felt.
  static let transientDuration = 0.03

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

  /// What a pattern plays from time 0 on.
  public init(_ pattern: CHHapticPattern) { self.init(pattern.composition) }

  /// What an AHAP file plays from time 0 on.
  ///
  /// Throws a `CHHapticError` where the file is not a pattern.
  public init(contentsOf url: URL) throws { self.init(try CHHapticPattern(contentsOf: url)) }

  /// What was felt as AHAP text that plays the same: what a snapshot keeps.
  ///
  /// Values are rounded to three digits. A continuous event whose intensity or sharpness moves becomes a row of
  /// events that follow each other without a gap, each within 0.02 of what was played.
  public func ahap() throws -> Data {
    var pattern = HapticPattern()
    for event in events where event.isFelt {
      for piece in event.pieces {
        pattern.events.append(
          HapticEvent(
            kind: piece.kind == .transient ? .hapticTransient : .hapticContinuous, time: thousandth(piece.time),
            duration: piece.kind == .transient ? nil : thousandth(piece.duration),
            parameters: [
              .hapticIntensity: Float(thousandth(piece.intensity)),
              .hapticSharpness: Float(thousandth(piece.sharpness)),
            ]))
      }
    }
    return Data(try AHAPDocument(pattern: pattern).formatted())
  }

  /// Expected events, as in `[.transient(at: 0), .continuous(at: 0.5, for: 1)]`.
  public init(arrayLiteral elements: Event...) { self.init(elements) }
}

extension PlayedHaptics.Event {
  fileprivate func peak(from start: Double, to end: Double) -> Double {
    if kind == .transient { return intensity }
    let (start, end) = (Swift.max(0, start), Swift.min(duration, end))
    let inside = levels.filter { $0.time > start && $0.time < end }.map(\.intensity)
    return ([level(at: start).intensity, level(at: end.nextDown).intensity] + inside).max() ?? 0
  }

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
    event.levels = levels[max(0, first - 1)..<min(levels.count, last + 2)].map { $0.moved(by: -start) }
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

  private static let step = 0.02
  /// The shortest piece, in seconds.
  private static let shortest = 0.005

  var pieces: [PlayedHaptics.Event] {
    guard kind == .continuous, levels.count > 1 else { return [self] }
    var pieces: [PlayedHaptics.Event] = []
    var start = 0.0
    var level = level(at: 0)
    func close(at end: Double) {
      guard end > start else { return }
      var middle = self.level(at: (start + end) / 2)
      middle.time = 0
      pieces.append(PlayedHaptics.Event(kind: kind, time: time + start, duration: end - start, levels: [middle]))
    }
    var next = Self.shortest
    while next < duration {
      let now = self.level(at: next)
      if abs(now.intensity - level.intensity) >= Self.step || abs(now.sharpness - level.sharpness) >= Self.step {
        close(at: next)
        (start, level) = (next, now)
      }
      next += Self.shortest
    }
    close(at: duration)
    return pieces
  }
}

/// Times that are equal within a millisecond, so that `played.transients == [0, 0.1, 0.2]` can be written.
public struct Moments: Equatable, Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
  /// Seconds, in order.
  public var seconds: [Double]

  /// Times in seconds.
  public init(_ seconds: [Double]) { self.seconds = seconds }

  /// Times in seconds.
  public init(arrayLiteral elements: Double...) { seconds = elements }

  /// How many there are.
  public var count: Int { seconds.count }

  /// Whether there are none.
  public var isEmpty: Bool { seconds.isEmpty }

  /// Whether there are as many, each within a millisecond of the other.
  public static func == (left: Moments, right: Moments) -> Bool {
    left.count == right.count && zip(left.seconds, right.seconds).allSatisfy { abs($0 - $1) <= 0.001 }
  }

  /// The same for times that are computed.
  public static func == (left: Moments, right: [Double]) -> Bool { left == Moments(right) }

  /// The times in a line, such as `[0.000, 0.500] s`.
  public var description: String { "[\(seconds.map(thousandths).joined(separator: ", "))] s" }
}

private func thousandth(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }

extension [PlayedHaptics.Event] {
  /// Continuous events that follow each other without a gap as one that moves.
  var joined: [PlayedHaptics.Event] {
    var joined: [PlayedHaptics.Event] = []
    for event in sorted(by: { $0.time < $1.time }) {
      guard event.kind == .continuous,
        let index = joined.lastIndex(where: {
          $0.kind == .continuous && abs($0.time + $0.duration - event.time) < 0.0015
        })
      else {
        joined.append(event)
        continue
      }
      let offset = event.time - joined[index].time
      if let last = joined[index].levels.last, last.time < joined[index].duration {
        var end = last
        end.time = Swift.max(last.time, offset - 1e-6)
        joined[index].levels.append(end)
      }
      joined[index].levels += event.levels.map { $0.moved(by: offset) }
      joined[index].duration = offset + event.duration
    }
    return joined
  }
}

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

private func milliseconds(_ seconds: Double) -> String { "\(Int((seconds * 1_000).rounded())) ms" }
