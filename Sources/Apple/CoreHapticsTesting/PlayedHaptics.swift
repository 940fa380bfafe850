public import CoreHaptics
internal import Foundation
internal import HapticFormats
internal import HapticModel
internal import HapticRender

/// The events that a device has played, with their times.
///
/// The events come from the renderer's own record of its players. They include loops, pauses,
/// seeks, rates, mutes, controls of patterns, and controls that were sent, but not the envelopes of
/// events.
public struct PlayedHaptics: Equatable, Sendable, RandomAccessCollection, ExpressibleByArrayLiteral,
  CustomStringConvertible
{
  /// An event that the device has played.
  public struct Event: Equatable, Sendable, CustomStringConvertible {
    /// The kind of a played event.
    ///
    /// It is a short transient, a continuous vibration, or a sound, which is heard but not felt.
    public enum Kind: String, Sendable { case transient, continuous, audio }

    /// The intensity and sharpness of an event at one time.
    ///
    /// Both are linear between levels.
    public struct Level: Equatable, Sendable {
      /// The time of the level from the start of the event, in seconds.
      public var time: Double
      /// The intensity at the time of the level, 0…1, including controls and mutes.
      public var intensity: Double
      /// The sharpness at the time of the level, 0…1, including controls.
      public var sharpness: Double

      /// Creates a level.
      public init(time: Double, intensity: Double, sharpness: Double) {
        self.time = time
        self.intensity = intensity
        self.sharpness = sharpness
      }

      fileprivate func shifted(by seconds: Double) -> Level {
        Level(time: time + seconds, intensity: intensity, sharpness: sharpness)
      }
    }

    /// The kind of the played event.
    public var kind: Kind
    /// The start of the event on the device's clock, in seconds.
    public var time: Double
    /// The duration that the event has had so far, in seconds.
    ///
    /// It is 0 for a transient, and for a sound file that plays to its end.
    public var duration: Double
    /// The levels of the event, sorted by time. There is at least one level.
    public var levels: [Level]

    /// The maximum intensity of the event, 0…1; for a sound, its maximum volume.
    public var intensity: Double { levels.map(\.intensity).max() ?? 0 }

    /// The sharpness of the event at its maximum intensity, 0…1.
    public var sharpness: Double {
      let peak = intensity
      return levels.first { $0.intensity == peak }?.sharpness ?? 0
    }

    /// A Boolean value that indicates whether the event can be felt.
    ///
    /// A felt event is haptic, and not muted throughout.
    public var isFelt: Bool { kind != .audio && intensity > 0 }

    /// Returns the interpolated level at a time from the start of the event, in seconds.
    public func level(at time: Double) -> Level {
      guard let next = levels.firstIndex(where: { $0.time > time }) else {
        var last = levels.last ?? Level(time: 0, intensity: 0, sharpness: 0)
        last.time = time
        return last
      }
      guard next > 0 else { return levels[0] }
      let from = levels[next - 1]
      let to = levels[next]
      let fraction = to.time > from.time ? (time - from.time) / (to.time - from.time) : 1
      return Level(
        time: time, intensity: from.intensity + (to.intensity - from.intensity) * fraction,
        sharpness: from.sharpness + (to.sharpness - from.sharpness) * fraction)
    }

    /// Returns a transient event that can serve as an expected event in a comparison.
    public static func transient(at time: Double, intensity: Double = 0.75, sharpness: Double = 0.5)
      -> Event
    {
      Event(
        kind: .transient, time: time, duration: 0,
        levels: [Level(time: 0, intensity: intensity, sharpness: sharpness)])
    }

    /// Returns a continuous event of constant intensity and sharpness.
    ///
    /// It can serve as an expected event in a comparison.
    public static func continuous(
      at time: Double, for duration: Double, intensity: Double = 0.6, sharpness: Double = 0.422601
    ) -> Event {
      Event(
        kind: .continuous, time: time, duration: duration,
        levels: [Level(time: 0, intensity: intensity, sharpness: sharpness)])
    }

    /// A description of the event, such as `0.500 s  transient, intensity 0.700, sharpness 0.500`.
    public var description: String {
      let lengthText = kind == .transient ? "" : " for \(textRoundedToThousandths(duration)) s"
      let quantity = kind == .audio ? "volume" : "intensity"
      let sharpnessText = kind == .audio ? "" : ", sharpness \(textRoundedToThousandths(sharpness))"
      return "\(textRoundedToThousandths(time)) s  \(kind)\(lengthText), "
        + "\(quantity) \(textRoundedToThousandths(intensity))\(sharpnessText)"
        + (levels.count > 1 ? ", moving" : "")
    }
  }

  var sortedEvents: [Event]

  /// Creates played haptics from events in any order.
  public init(_ events: [Event]) { self.sortedEvents = events.sorted { $0.time < $1.time } }

  /// The index of the first event, 0.
  public var startIndex: Int { 0 }
  /// The index after the last event.
  public var endIndex: Int { sortedEvents.count }
  /// The event at an index.
  public subscript(index: Int) -> Event { sortedEvents[index] }

  /// A description with one line for each played event.
  public var description: String {
    isEmpty ? "nothing was played" : sortedEvents.map(\.description).joined(separator: "\n")
  }

  /// The times of the transients that were felt, in seconds.
  public var transients: EventTimes {
    EventTimes(sortedEvents.filter { $0.kind == .transient && $0.isFelt }.map(\.time))
  }

  /// The start times of the events that were felt, in seconds.
  public var onsets: EventTimes { EventTimes(sortedEvents.filter(\.isFelt).map(\.time)) }

  /// Returns the events that start within a time range.
  ///
  /// Their times are relative to the start of the range, in seconds.
  public func from(_ start: Double, to end: Double = .infinity) -> PlayedHaptics {
    PlayedHaptics(
      sortedEvents.filter { $0.time >= start && $0.time < end }.map {
        Event(kind: $0.kind, time: $0.time - start, duration: $0.duration, levels: $0.levels)
      })
  }

  /// Returns true if no event was felt within a time range in seconds, excluding its end.
  public func isSilent(from start: Double = 0, to end: Double = .infinity) -> Bool {
    !sortedEvents.contains { event in
      event.isFelt && event.time < end
        && (event.time >= start || event.time + event.duration > start)
        && event.peakIntensity(from: start - event.time, to: end - event.time) > 0
    }
  }

  /// Returns the maximum intensity of all events at a time in seconds.
  ///
  /// The result is rounded to a millionth, so that it can be compared with a literal. A transient
  /// counts for 30 ms.
  public func strength(at time: Double) -> Double {
    sortedEvents.filter { event in
      event.isFelt && event.time <= time
        && time < event.time
          + (event.kind == .transient ? Self.perceivedTransientDurationSeconds : event.duration)
    }.map { ($0.level(at: time - $0.time).intensity * 1e6).rounded() / 1e6 }.max() ?? 0
  }

  /// The perceived duration of a transient, in seconds.
  static let perceivedTransientDurationSeconds = 0.03

  /// The maximum time between paired played and expected events, in seconds.
  private static let maximumPairingOffsetSeconds = 0.1

  /// Returns the differences from expected events as sentences, sorted by time.
  ///
  /// Adjacent continuous events count as one event. Sounds and muted events are not compared.
  ///
  /// - Complexity: O(*n*²) for *n* events within 0.1 s of each other.
  public func differences(
    from expected: PlayedHaptics, within tolerance: HapticTolerance = .imperceptible
  ) -> [String] {
    var unmatchedEvents = sortedEvents.filter(\.isFelt).joiningAdjacentEvents.map(
      \.withoutSilentEnds)
    var timedSentences: [(time: Double, text: String)] = []
    for event in expected.sortedEvents.filter(\.isFelt).joiningAdjacentEvents.map(
      \.withoutSilentEnds)
    {
      let nearestIndex = unmatchedEvents.indices.filter {
        unmatchedEvents[$0].kind == event.kind
          && abs(unmatchedEvents[$0].time - event.time) <= Self.maximumPairingOffsetSeconds
      }
      .min {
        abs(unmatchedEvents[$0].time - event.time) < abs(unmatchedEvents[$1].time - event.time)
      }
      guard let nearestIndex else {
        timedSentences.append((event.time, "The \(event.displayName) is missing."))
        continue
      }
      let match = unmatchedEvents.remove(at: nearestIndex)
      timedSentences += match.differences(from: event, within: tolerance).map { (event.time, $0) }
    }
    timedSentences += unmatchedEvents.map { ($0.time, "The \($0.displayName) is unexpected.") }
    return timedSentences.enumerated().sorted {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }.map(
      \.element.text)
  }

  /// Creates played haptics from the events that a pattern plays if it starts at time 0.
  public init(_ pattern: CHHapticPattern) { self.init(pattern.composition) }

  /// Creates played haptics from the events that an AHAP file plays if it starts at time 0.
  ///
  /// Throws a `CHHapticError` if the file is not a pattern.
  public init(contentsOf url: URL) throws { self.init(try CHHapticPattern(contentsOf: url)) }

  /// Returns the AHAP text that plays the felt events, as a snapshot contains it.
  ///
  /// Values are rounded to three digits. A continuous event with changing intensity or sharpness
  /// becomes a series of adjacent events, each within 0.02 of the original.
  public func ahap() throws -> Data {
    var pattern = HapticPattern()
    for event in sortedEvents where event.isFelt {
      for segment in event.constantLevelSegments {
        pattern.events.append(
          HapticEvent(
            kind: segment.kind == .transient ? .hapticTransient : .hapticContinuous,
            time: roundedToThousandth(segment.time),
            duration: segment.kind == .transient ? nil : roundedToThousandth(segment.duration),
            parameters: [
              .hapticIntensity: Float(roundedToThousandth(segment.intensity)),
              .hapticSharpness: Float(roundedToThousandth(segment.sharpness)),
            ]))
      }
    }
    return Data(try AHAPDocument(pattern: pattern).canonicalText())
  }

  /// Creates expected events from a literal such as `[.transient(at: 0), .continuous(at: 0.5, for:
  /// 1)]`.
  public init(arrayLiteral elements: Event...) { self.init(elements) }
}

extension PlayedHaptics.Event {
  fileprivate func peakIntensity(from start: Double, to end: Double) -> Double {
    if kind == .transient { return intensity }
    let clampedStart = Swift.max(0, start)
    let clampedEnd = Swift.min(duration, end)
    let innerIntensities = levels.filter { $0.time > clampedStart && $0.time < clampedEnd }.map(
      \.intensity)
    return
      ([level(at: clampedStart).intensity, level(at: clampedEnd.nextDown).intensity]
      + innerIntensities)
      .max() ?? 0
  }

  fileprivate var displayName: String {
    let kindText = kind == .transient ? "transient" : "continuous event"
    return "\(kindText) at \(textRoundedToThousandths(time)) s"
  }

  /// The event without the silence at its start and its end.
  fileprivate var withoutSilentEnds: PlayedHaptics.Event {
    guard kind == .continuous, let firstFeltIndex = levels.firstIndex(where: { $0.intensity > 0 }),
      let lastFeltIndex = levels.lastIndex(where: { $0.intensity > 0 })
    else { return self }
    var trimmedEvent = self
    let feltEndSeconds =
      lastFeltIndex + 1 < levels.count ? levels[lastFeltIndex + 1].time : duration
    let feltStartSeconds = firstFeltIndex > 0 ? levels[firstFeltIndex - 1].time : 0
    trimmedEvent.time += feltStartSeconds
    trimmedEvent.duration = feltEndSeconds - feltStartSeconds
    let remainingLevels = levels[max(0, firstFeltIndex - 1)..<min(levels.count, lastFeltIndex + 2)]
    trimmedEvent.levels = remainingLevels.map { $0.shifted(by: -feltStartSeconds) }
    return trimmedEvent
  }

  fileprivate func differences(
    from expected: PlayedHaptics.Event, within tolerance: HapticTolerance
  ) -> [String] {
    // Sums of times have rounding errors, at any tolerance.
    let roundingGrace = 1e-9
    var sentences: [String] = []
    let delaySeconds = time - expected.time
    if abs(delaySeconds) > tolerance.seconds + roundingGrace {
      let direction = delaySeconds > 0 ? "late" : "early"
      sentences.append(
        "The \(expected.displayName) is \(formattedMilliseconds(abs(delaySeconds))) \(direction).")
    }
    if kind == .continuous, abs(duration - expected.duration) > tolerance.seconds + roundingGrace {
      sentences.append(
        "The \(expected.displayName) lasts \(textRoundedToThousandths(duration)) s instead of "
          + "\(textRoundedToThousandths(expected.duration)) s.")
    }
    func addDifference(_ quality: String, _ limit: Double, _ value: (Level) -> Double) {
      guard let (time, actual, wanted) = maximumDifference(from: expected, of: value),
        abs(actual - wanted) > limit + roundingGrace
      else { return }
      let timeText =
        kind == .transient || time == 0
        ? "" : " \(textRoundedToThousandths(time)) s after its start"
      sentences.append(
        "The \(expected.displayName) has \(quality) \(textRoundedToThousandths(actual)) instead of "
          + "\(textRoundedToThousandths(wanted))\(timeText).")
    }
    addDifference("intensity", tolerance.intensity, \.intensity)
    addDifference("sharpness", tolerance.sharpness, \.sharpness)
    return sentences
  }

  /// Returns the time of the maximum difference between two events, with both values.
  ///
  /// The events are compared at intervals of 10 ms.
  private func maximumDifference(from expected: PlayedHaptics.Event, of value: (Level) -> Double)
    -> (
      time: Double, actual: Double, expected: Double
    )?
  {
    let comparedSeconds = kind == .transient ? 0 : min(duration, expected.duration)
    var comparedTimes = [0.0]
    // Steps are between frames, so levels are compared in the middle of an interval.
    if levels.count > 1 || expected.levels.count > 1 {
      comparedTimes += stride(from: 0.005, to: min(comparedSeconds, 3_600), by: 0.01)
    }
    return comparedTimes.map { time in
      (time, value(level(at: time)), value(expected.level(at: time)))
    }.max {
      abs($0.1 - $0.2) < abs($1.1 - $1.2)
    }
  }

  private static let segmentLevelChangeThreshold = 0.02
  /// The minimum duration of a segment of constant level, in seconds.
  private static let minimumSegmentSeconds = 0.005

  var constantLevelSegments: [PlayedHaptics.Event] {
    guard kind == .continuous, levels.count > 1 else { return [self] }
    var levelSegments: [PlayedHaptics.Event] = []
    var segmentStart = 0.0
    var segmentLevel = level(at: 0)
    func closeSegment(at end: Double) {
      guard end > segmentStart else { return }
      var midpoint = self.level(at: (segmentStart + end) / 2)
      midpoint.time = 0
      levelSegments.append(
        PlayedHaptics.Event(
          kind: kind, time: time + segmentStart, duration: end - segmentStart, levels: [midpoint])
      )
    }
    var nextSampleSeconds = Self.minimumSegmentSeconds
    while nextSampleSeconds < duration {
      let nextLevel = self.level(at: nextSampleSeconds)
      if abs(nextLevel.intensity - segmentLevel.intensity) >= Self.segmentLevelChangeThreshold
        || abs(nextLevel.sharpness - segmentLevel.sharpness) >= Self.segmentLevelChangeThreshold
      {
        closeSegment(at: nextSampleSeconds)
        segmentStart = nextSampleSeconds
        segmentLevel = nextLevel
      }
      nextSampleSeconds += Self.minimumSegmentSeconds
    }
    closeSegment(at: duration)
    return levelSegments
  }
}

/// A list of times in a test. Times that differ by at most a millisecond are equal.
///
/// A test can thus state `played.transients == [0, 0.1, 0.2]`.
public struct EventTimes: Equatable, Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
  /// The times in seconds, in ascending order.
  public var seconds: [Double]

  /// Creates times from seconds.
  public init(_ seconds: [Double]) { self.seconds = seconds }

  /// Creates times from seconds.
  public init(arrayLiteral elements: Double...) { seconds = elements }

  /// The number of times in the list.
  public var count: Int { seconds.count }

  /// A Boolean value that indicates whether the list contains no times.
  public var isEmpty: Bool { seconds.isEmpty }

  /// Returns true if corresponding times differ by at most a millisecond.
  ///
  /// Both lists must have the same number of times.
  public static func == (left: EventTimes, right: EventTimes) -> Bool {
    left.count == right.count
      && zip(left.seconds, right.seconds).allSatisfy { abs($0 - $1) <= 0.001 }
  }

  /// Returns true if the times equal a list of computed times in seconds.
  public static func == (left: EventTimes, right: [Double]) -> Bool { left == EventTimes(right) }

  /// The times as text, such as `[0.000, 0.500] s`.
  public var description: String {
    "[\(seconds.map(textRoundedToThousandths).joined(separator: ", "))] s"
  }
}

private func roundedToThousandth(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }

extension [PlayedHaptics.Event] {
  /// The events, with adjacent continuous events merged into one event with changing levels.
  var joiningAdjacentEvents: [PlayedHaptics.Event] {
    var joinedEvents: [PlayedHaptics.Event] = []
    for event in sorted(by: { $0.time < $1.time }) {
      guard event.kind == .continuous,
        let index = joinedEvents.lastIndex(where: {
          $0.kind == .continuous && abs($0.time + $0.duration - event.time) < 0.0015
        })
      else {
        joinedEvents.append(event)
        continue
      }
      let offset = event.time - joinedEvents[index].time
      if let last = joinedEvents[index].levels.last, last.time < joinedEvents[index].duration {
        var end = last
        end.time = Swift.max(last.time, offset - 1e-6)
        joinedEvents[index].levels.append(end)
      }
      joinedEvents[index].levels += event.levels.map { $0.shifted(by: offset) }
      joinedEvents[index].duration = offset + event.duration
    }
    return joinedEvents
  }
}

/// The tolerance of a comparison: the maximum differences between played and expected events.
public struct HapticTolerance: Equatable, Sendable {
  /// The maximum difference between two onsets or two durations, in seconds.
  public var seconds: Double
  /// The maximum difference between two intensities, 0…1.
  public var intensity: Double
  /// The maximum difference between two sharpness values, 0…1.
  public var sharpness: Double

  /// Creates a tolerance.
  public init(seconds: Double, intensity: Double, sharpness: Double) {
    self.seconds = seconds
    self.intensity = intensity
    self.sharpness = sharpness
  }

  /// The tolerance that allows only rounding errors: 1 ms for times and 0.001 for values.
  public static let exact = HapticTolerance(seconds: 0.001, intensity: 0.001, sharpness: 0.001)

  /// A tolerance below the threshold of perception: 5 ms, an intensity of 0.05, and a sharpness of
  /// 0.1.
  public static let imperceptible = HapticTolerance(seconds: 0.005, intensity: 0.05, sharpness: 0.1)
}

private func formattedMilliseconds(_ seconds: Double) -> String {
  "\(Int((seconds * 1_000).rounded())) ms"
}

extension PlayedHaptics {
  init(_ sessions: [SessionRecord]) {
    self.init(
      sessions.flatMap { session in
        session.playerRecords.flatMap { play in
          var reader = PlayerChangeReader(
            play.composition, sampleRateHertz: session.sampleRateHertz,
            playsHaptics: session.playsHaptics,
            playsAudio: session.playsAudio)
          for change in play.changes where change.outputFrame <= session.endFrame {
            reader.applyChange(change)
          }
          return reader.finishEvents(
            atFrame: session.endFrame, originSeconds: session.originSeconds)
        }
      })
  }

  init(_ composition: HapticComposition) {
    let sampleRateHertz = 48_000.0
    var changeReader = PlayerChangeReader(composition, sampleRateHertz: sampleRateHertz)
    changeReader.applyChange(PlayerChange())
    self.init(
      changeReader.finishEvents(
        atFrame: FrameConversion.frame(
          seconds: composition.durationSeconds + 31, rate: sampleRateHertz),
        originSeconds: 0))
  }
}
