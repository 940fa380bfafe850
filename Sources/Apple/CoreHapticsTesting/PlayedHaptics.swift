public import CoreHaptics
internal import Foundation
internal import HapticFormats
internal import HapticModel
internal import HapticRender

/// The events that were played on a device, with their times.
///
/// The events come from the renderer's own record of its players. They include loops, pauses,
/// seeks, rates, mutes, controls of patterns, and controls that were sent, but not the envelopes of
/// events.
public struct PlayedHaptics: Equatable, Sendable, RandomAccessCollection, ExpressibleByArrayLiteral,
  CustomStringConvertible
{
  /// An event.
  public struct Event: Equatable, Sendable, CustomStringConvertible {
    /// The kind of an event: a short transient, a continuous vibration, or a sound, which is heard
    /// but not felt.
    public enum Kind: String, Sendable { case transient, continuous, audio }

    /// The intensity and sharpness at a time of an event. Both are linear between levels.
    public struct Level: Equatable, Sendable {
      /// The time from the start of the event, in seconds.
      public var time: Double
      /// The intensity, 0…1, including controls and mutes.
      public var intensity: Double
      /// The sharpness, 0…1, including controls.
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

    /// The kind of the event.
    public var kind: Kind
    /// The start on the device's clock, in seconds.
    public var time: Double
    /// The duration so far, in seconds; 0 for a transient, and for a sound file that plays to its
    /// end.
    public var duration: Double
    /// The levels, sorted by time; at least one.
    public var levels: [Level]

    /// The maximum intensity, 0…1; for a sound, its volume.
    public var intensity: Double { levels.map(\.intensity).max() ?? 0 }

    /// The sharpness at the maximum intensity, 0…1.
    public var sharpness: Double {
      let peak = intensity
      return levels.first { $0.intensity == peak }?.sharpness ?? 0
    }

    /// A Boolean value that indicates whether the event can be felt: it is haptic, and not muted
    /// throughout.
    public var isFelt: Bool { kind != .audio && intensity > 0 }

    /// Returns the level at a time from the start of the event, in seconds.
    public func level(at time: Double) -> Level {
      guard let next = levels.firstIndex(where: { $0.time > time }) else {
        var last = levels.last ?? Level(time: 0, intensity: 0, sharpness: 0)
        last.time = time
        return last
      }
      guard next > 0 else { return levels[0] }
      let from = levels[next - 1]
      let to = levels[next]
      let share = to.time > from.time ? (time - from.time) / (to.time - from.time) : 1
      return Level(
        time: time, intensity: from.intensity + (to.intensity - from.intensity) * share,
        sharpness: from.sharpness + (to.sharpness - from.sharpness) * share)
    }

    /// Returns a transient.
    public static func transient(at time: Double, intensity: Double = 0.75, sharpness: Double = 0.5)
      -> Event
    {
      Event(
        kind: .transient, time: time, duration: 0,
        levels: [Level(time: 0, intensity: intensity, sharpness: sharpness)])
    }

    /// Returns a continuous event of constant intensity and sharpness.
    public static func continuous(
      at time: Double, for duration: Double, intensity: Double = 0.6, sharpness: Double = 0.422601
    ) -> Event {
      Event(
        kind: .continuous, time: time, duration: duration,
        levels: [Level(time: 0, intensity: intensity, sharpness: sharpness)])
    }

    /// One line, such as `0.500 s  transient, intensity 0.700, sharpness 0.500`.
    public var description: String {
      """
      \(formattedThousandths(time)) s  \(kind)\(kind == .transient ? "" : " for \(formattedThousandths(duration)) s")
      """
        + ", \(kind == .audio ? "volume" : "intensity") \(formattedThousandths(intensity))"
        + (kind == .audio ? "" : ", sharpness \(formattedThousandths(sharpness))")
        + (levels.count > 1 ? ", moving" : "")
    }
  }

  var events: [Event]

  /// Creates the value from events in any order.
  public init(_ events: [Event]) { self.events = events.sorted { $0.time < $1.time } }

  /// The first index, 0.
  public var startIndex: Int { 0 }
  /// The index after the last index.
  public var endIndex: Int { events.count }
  /// An event by its index.
  public subscript(index: Int) -> Event { events[index] }

  /// One line for each event.
  public var description: String {
    isEmpty ? "nothing was played" : events.map(\.description).joined(separator: "\n")
  }

  /// The times of the transients that were felt, in seconds.
  public var transients: Moments {
    Moments(events.filter { $0.kind == .transient && $0.isFelt }.map(\.time))
  }

  /// The start times of the events that were felt, in seconds.
  public var onsets: Moments { Moments(events.filter(\.isFelt).map(\.time)) }

  /// Returns the events that start in a range of time, with times relative to the start of the
  /// range.
  public func from(_ start: Double, to end: Double = .infinity) -> PlayedHaptics {
    PlayedHaptics(
      events.filter { $0.time >= start && $0.time < end }.map {
        Event(kind: $0.kind, time: $0.time - start, duration: $0.duration, levels: $0.levels)
      })
  }

  /// Returns whether nothing was felt in a range of time, in seconds, excluding its end.
  public func isSilent(from start: Double = 0, to end: Double = .infinity) -> Bool {
    !events.contains { event in
      event.isFelt && event.time < end
        && (event.time >= start || event.time + event.duration > start)
        && event.peakIntensity(from: start - event.time, to: end - event.time) > 0
    }
  }

  /// Returns the maximum intensity at a time, rounded to a millionth so that it can be compared
  /// with a literal. A transient counts for 30 ms.
  public func strength(at time: Double) -> Double {
    events.filter { event in
      event.isFelt && event.time <= time
        && time < event.time + (event.kind == .transient ? Self.transientDuration : event.duration)
    }.map { ($0.level(at: time - $0.time).intensity * 1e6).rounded() / 1e6 }.max() ?? 0
  }

  /// The time for which a transient counts as felt, in seconds.
  static let transientDuration = 0.03

  /// The maximum distance between two events that can be paired, in seconds.
  private static let maximumPairingDistance = 0.1

  /// Returns the differences from expected events, one sentence each, in order of time.
  ///
  /// Adjacent continuous events count as one event. Sounds and muted events are not compared.
  ///
  /// - Complexity: O(*n*²) for *n* events within 0.1 s of each other.
  public func differences(
    from expected: PlayedHaptics, within tolerance: HapticTolerance = .perceptible
  ) -> [String] {
    var left = events.filter(\.isFelt).joiningAdjacent.map(\.trimmedToFelt)
    var sentences: [(time: Double, text: String)] = []
    for event in expected.events.filter(\.isFelt).joiningAdjacent.map(\.trimmedToFelt) {
      let near = left.indices.filter {
        left[$0].kind == event.kind
          && abs(left[$0].time - event.time) <= Self.maximumPairingDistance
      }
      .min { abs(left[$0].time - event.time) < abs(left[$1].time - event.time) }
      guard let near else {
        sentences.append((event.time, "The \(event.displayName) is missing."))
        continue
      }
      let found = left.remove(at: near)
      sentences += found.differences(from: event, within: tolerance).map { (event.time, $0) }
    }
    sentences += left.map { ($0.time, "The \($0.displayName) was not expected.") }
    return sentences.enumerated().sorted {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }.map(
      \.element.text)
  }

  /// Creates the events that a pattern plays from time 0 on.
  public init(_ pattern: CHHapticPattern) { self.init(pattern.composition) }

  /// Creates the events that an AHAP file plays from time 0 on.
  ///
  /// Throws a `CHHapticError` if the file is not a pattern.
  public init(contentsOf url: URL) throws { self.init(try CHHapticPattern(contentsOf: url)) }

  /// Returns AHAP text that plays the events that were felt, as stored in a snapshot.
  ///
  /// Values are rounded to three digits. A continuous event with changing intensity or sharpness
  /// becomes a series of adjacent events, each within 0.02 of the original.
  public func ahap() throws -> Data {
    var pattern = HapticPattern()
    for event in events where event.isFelt {
      for piece in event.constantSegments {
        pattern.events.append(
          HapticEvent(
            kind: piece.kind == .transient ? .hapticTransient : .hapticContinuous,
            time: roundedToThousandth(piece.time),
            duration: piece.kind == .transient ? nil : roundedToThousandth(piece.duration),
            parameters: [
              .hapticIntensity: Float(roundedToThousandth(piece.intensity)),
              .hapticSharpness: Float(roundedToThousandth(piece.sharpness)),
            ]))
      }
    }
    return Data(try AHAPDocument(pattern: pattern).canonicalText())
  }

  /// Creates expected events, as in `[.transient(at: 0), .continuous(at: 0.5, for: 1)]`.
  public init(arrayLiteral elements: Event...) { self.init(elements) }
}

extension PlayedHaptics.Event {
  fileprivate func peakIntensity(from start: Double, to end: Double) -> Double {
    if kind == .transient { return intensity }
    let start = Swift.max(0, start)
    let end = Swift.min(duration, end)
    let inside = levels.filter { $0.time > start && $0.time < end }.map(\.intensity)
    return ([level(at: start).intensity, level(at: end.nextDown).intensity] + inside).max() ?? 0
  }

  fileprivate var displayName: String {
    "\(kind == .transient ? "transient" : "continuous event") at \(formattedThousandths(time)) s"
  }

  /// The event without the silence at its start and end.
  fileprivate var trimmedToFelt: PlayedHaptics.Event {
    guard kind == .continuous, let first = levels.firstIndex(where: { $0.intensity > 0 }),
      let last = levels.lastIndex(where: { $0.intensity > 0 })
    else { return self }
    var event = self
    let end = last + 1 < levels.count ? levels[last + 1].time : duration
    let start = first > 0 ? levels[first - 1].time : 0
    event.time += start
    event.duration = end - start
    event.levels = levels[max(0, first - 1)..<min(levels.count, last + 2)].map {
      $0.shifted(by: -start)
    }
    return event
  }

  fileprivate func differences(
    from expected: PlayedHaptics.Event, within tolerance: HapticTolerance
  ) -> [String] {
    // Sums of times have rounding errors, at any tolerance.
    let grace = 1e-9
    var sentences: [String] = []
    let delay = time - expected.time
    if abs(delay) > tolerance.seconds + grace {
      sentences.append(
        "The \(expected.displayName) is \(formattedMilliseconds(abs(delay))) \(delay > 0 ? "late" : "early")."
      )
    }
    if kind == .continuous, abs(duration - expected.duration) > tolerance.seconds + grace {
      sentences.append(
        "The \(expected.displayName) lasts \(formattedThousandths(duration)) s instead of "
          + "\(formattedThousandths(expected.duration)) s.")
    }
    func compare(_ quality: String, _ limit: Double, _ value: (Level) -> Double) {
      guard let (time, found, wanted) = maximumDifference(from: expected, of: value),
        abs(found - wanted) > limit + grace
      else { return }
      let place =
        kind == .transient || time == 0 ? "" : " \(formattedThousandths(time)) s after its start"
      sentences.append(
        "The \(expected.displayName) has \(quality) \(formattedThousandths(found)) instead of "
          + "\(formattedThousandths(wanted))\(place).")
    }
    compare("intensity", tolerance.intensity, \.intensity)
    compare("sharpness", tolerance.sharpness, \.sharpness)
    return sentences
  }

  /// Returns the time of the maximum difference in a value, and both values. Levels are compared at
  /// intervals of 10 ms.
  private func maximumDifference(from expected: PlayedHaptics.Event, of value: (Level) -> Double)
    -> (
      time: Double, found: Double, expected: Double
    )?
  {
    let length = kind == .transient ? 0 : min(duration, expected.duration)
    var times = [0.0]
    // Steps are between frames, so levels are compared in the middle of an interval.
    if levels.count > 1 || expected.levels.count > 1 {
      times += stride(from: 0.005, to: min(length, 3_600), by: 0.01)
    }
    return times.map { time in (time, value(level(at: time)), value(expected.level(at: time))) }.max
    {
      abs($0.1 - $0.2) < abs($1.1 - $1.2)
    }
  }

  private static let snapshotStep = 0.02
  /// The minimum duration of a constant segment, in seconds.
  private static let minimumSegmentDuration = 0.005

  var constantSegments: [PlayedHaptics.Event] {
    guard kind == .continuous, levels.count > 1 else { return [self] }
    var pieces: [PlayedHaptics.Event] = []
    var start = 0.0
    var level = level(at: 0)
    func close(at end: Double) {
      guard end > start else { return }
      var middle = self.level(at: (start + end) / 2)
      middle.time = 0
      pieces.append(
        PlayedHaptics.Event(kind: kind, time: time + start, duration: end - start, levels: [middle])
      )
    }
    var next = Self.minimumSegmentDuration
    while next < duration {
      let now = self.level(at: next)
      if abs(now.intensity - level.intensity) >= Self.snapshotStep
        || abs(now.sharpness - level.sharpness) >= Self.snapshotStep
      {
        close(at: next)
        start = next
        level = now
      }
      next += Self.minimumSegmentDuration
    }
    close(at: duration)
    return pieces
  }
}

/// Times that are equal if they differ by at most a millisecond, so that a test can be
/// `played.transients == [0, 0.1, 0.2]`.
public struct Moments: Equatable, Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
  /// The times in seconds, in order.
  public var seconds: [Double]

  /// Creates times from seconds.
  public init(_ seconds: [Double]) { self.seconds = seconds }

  /// Creates times from seconds.
  public init(arrayLiteral elements: Double...) { seconds = elements }

  /// The number of times.
  public var count: Int { seconds.count }

  /// A Boolean value that indicates whether there are no times.
  public var isEmpty: Bool { seconds.isEmpty }

  /// Returns whether both have the same number of times, which differ by at most a millisecond.
  public static func == (left: Moments, right: Moments) -> Bool {
    left.count == right.count
      && zip(left.seconds, right.seconds).allSatisfy { abs($0 - $1) <= 0.001 }
  }

  /// Returns whether times equal computed times.
  public static func == (left: Moments, right: [Double]) -> Bool { left == Moments(right) }

  /// The times in a line, such as `[0.000, 0.500] s`.
  public var description: String {
    "[\(seconds.map(formattedThousandths).joined(separator: ", "))] s"
  }
}

private func roundedToThousandth(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }

extension [PlayedHaptics.Event] {
  /// The events with adjacent continuous events merged into one event with changing levels.
  var joiningAdjacent: [PlayedHaptics.Event] {
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
      joined[index].levels += event.levels.map { $0.shifted(by: offset) }
      joined[index].duration = offset + event.duration
    }
    return joined
  }
}

/// The maximum differences between played and expected events.
public struct HapticTolerance: Equatable, Sendable {
  /// The maximum difference in onsets and durations, in seconds.
  public var seconds: Double
  /// The maximum difference in intensity, 0…1.
  public var intensity: Double
  /// The maximum difference in sharpness, 0…1.
  public var sharpness: Double

  /// Creates a tolerance.
  public init(seconds: Double, intensity: Double, sharpness: Double) {
    self.seconds = seconds
    self.intensity = intensity
    self.sharpness = sharpness
  }

  /// A tolerance for rounding errors: 1 ms, 0.001, and 0.001.
  public static let exact = HapticTolerance(seconds: 0.001, intensity: 0.001, sharpness: 0.001)

  /// A tolerance below the threshold of perception: 5 ms, 0.05, and 0.1.
  public static let perceptible = HapticTolerance(seconds: 0.005, intensity: 0.05, sharpness: 0.1)
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
            play.composition, rate: session.rate, playsHaptics: session.playsHaptics,
            playsAudio: session.playsAudio)
          for change in play.changes where change.frame <= session.end {
            reader.apply(change)
          }
          return reader.finish(at: session.end, origin: session.origin)
        }
      })
  }

  init(_ composition: HapticComposition) {
    let rate = 48_000.0
    var reader = PlayerChangeReader(composition, rate: rate)
    reader.apply(PlayerChange())
    self.init(
      reader.finish(
        at: FrameConversion.frame(seconds: composition.duration + 31, rate: rate), origin: 0))
  }
}

/// Reconstructs the events of a pattern, with their levels, from the recorded changes of a player.
///
/// 1. Schedule the events of the pattern by onset.
/// 2. For each change, advance to its frame: start the scheduled events, and extend the levels of
///    active events by the current state.
/// 3. Apply the change: seeks, pauses, and loops end the active events or begin others.
private struct PlayerChangeReader {
  private struct ScheduledEvent {
    var event: HapticEvent
    var layer: Int
    var onset: Int64
    var length: Int64
  }

  /// An event that is sounding, or that waits for the end of a pause.
  private struct ActiveEvent {
    var scheduled: ScheduledEvent
    /// The position at which the event's pass began, in frames.
    var passOrigin: Int64
    /// The levels since the start or the last pause; empty during a pause.
    var levels: [(frame: Int64, intensity: Double, sharpness: Double)] = []
    var start: Int64?
  }

  private static let controlIDs: [DynamicParameterID] = [
    .hapticIntensityControl, .hapticSharpnessControl, .audioVolumeControl,
  ]

  private let rate: Double
  private let playsHaptics: Bool
  private let playsAudio: Bool
  /// The events, sorted by onset.
  private let events: [ScheduledEvent]
  private let controls: [[DynamicParameterID: ControlTimeline]]
  private var state = PlayerChange()
  private var frame: Int64 = 0
  private var nextEvent = 0
  private var activeEvents: [ActiveEvent] = []
  /// The events so far, with times from frame 0.
  private var playedEvents: [PlayedHaptics.Event] = []

  init(
    _ composition: HapticComposition, rate: Double, playsHaptics hearsHaptics: Bool = true,
    playsAudio hearsAudio: Bool = true
  ) {
    self.rate = rate
    self.playsHaptics = hearsHaptics
    self.playsAudio = hearsAudio
    var events: [ScheduledEvent] = []
    for (layer, content) in composition.layers.enumerated() {
      for event in content.pattern.events where !event.kind.isContinuous || event.holdDuration != 0
      {
        events.append(
          ScheduledEvent(
            event: event, layer: layer,
            onset: FrameConversion.frame(seconds: event.time, rate: rate),
            length: FrameConversion.frame(seconds: event.holdDuration ?? 0, rate: rate)))
      }
    }
    self.events = events.enumerated().sorted {
      ($0.element.onset, $0.offset) < ($1.element.onset, $1.offset)
    }.map(
      \.element)
    controls = composition.layers.map { layer in
      Dictionary(
        uniqueKeysWithValues: Self.controlIDs.map {
          ($0, ControlTimeline(of: $0, in: layer.pattern, grid: .frames(rate: rate)))
        })
    }
    state.phase = .idle
  }

  mutating func apply(_ change: PlayerChange) {
    let isNextPass =
      change.overlapCount != state.overlapCount && change.jumpCount == state.jumpCount
    advance(to: change.frame, passLength: isNextPass ? change.passOrigin - state.passOrigin : nil)
    let before = state
    let isEntered = change.jumpCount != state.jumpCount
    state = change
    if isEntered || change.phase != .playing {
      endActiveEvents()
    }
    if change.phase == .idle {
      activeEvents = []
    }
    if isNextPass {
      nextEvent = 0
    }
    if isEntered {
      nextEvent = events.firstIndex { $0.onset >= change.jumpFrame } ?? events.count
      activeEvents = events[..<nextEvent].filter {
        $0.length > 0 && $0.onset + $0.length > change.jumpFrame
      }.map {
        ActiveEvent(scheduled: $0, passOrigin: change.passOrigin)
      }
    }
    if change.phase == .playing, isEntered || before.phase == .paused {
      for index in activeEvents.indices {
        activeEvents[index].start = frame
      }
    }
  }

  /// Returns the events up to a frame. The origin is added to all times.
  mutating func finish(at end: Int64, origin: Double) -> [PlayedHaptics.Event] {
    advance(to: end)
    endActiveEvents()
    return playedEvents.map {
      PlayedHaptics.Event(
        kind: $0.kind, time: roundedToNanosecond($0.time + origin),
        duration: roundedToNanosecond($0.duration),
        levels: $0.levels)
    }
  }

  /// Advances to a frame with the current state, or to the end of the pass if the next pass begins
  /// at the frame.
  private mutating func advance(to end: Int64, passLength: Int64? = nil) {
    defer { frame = max(frame, end) }
    guard state.phase == .playing else { return }
    while nextEvent < events.count, events[nextEvent].onset < passLength ?? .max {
      let planned = events[nextEvent]
      let start = max(frame, state.frame(at: state.passOrigin + planned.onset))
      guard start < end || passLength != nil else { break }
      nextEvent += 1
      var event = ActiveEvent(scheduled: planned, passOrigin: state.passOrigin, start: start)
      if planned.length > 0 {
        activeEvents.append(event)
      } else {
        appendLevel(at: start, to: &event)
        record(event, end: start)
      }
    }
    var kept: [ActiveEvent] = []
    for var event in activeEvents {
      let last = state.frame(at: event.passOrigin + event.scheduled.onset + event.scheduled.length)
      appendLevels(to: &event, until: min(end, last))
      if last > end {
        kept.append(event)
      } else {
        record(event, end: last)
      }
    }
    activeEvents = kept
  }

  /// Adds the breakpoints of an event's levels up to a frame.
  private func appendLevels(to event: inout ActiveEvent, until end: Int64) {
    guard let start = event.start else { return }
    let from = event.levels.last.map { max($0.frame, frame) } ?? start
    guard end > from else { return }
    var frames: Set<Int64> = [from]
    let low = state.position(at: from) - event.passOrigin
    let high = state.position(at: end) - event.passOrigin
    for control in controls[event.scheduled.layer].values {
      for segment in control.segments[(control.index(at: Double(low)) + 1)...]
      where segment.start < Double(high) {
        frames.insert(state.frame(at: event.passOrigin + Int64(segment.start)))
      }
    }
    let corners = frames.sorted()
    for (frame, next) in zip(corners, corners.dropFirst() + [end]) {
      appendLevel(at: frame, to: &event)
      // The segment ends just before the next one begins.
      if next - 1 > frame {
        appendLevel(at: next - 1, to: &event)
      }
    }
  }

  private func appendLevel(at frame: Int64, to event: inout ActiveEvent) {
    let (intensity, sharpness) = level(of: event, at: frame)
    // Three equal points in series are replaced by two.
    let last = event.levels.suffix(2)
    if last.count == 2, last.allSatisfy({ $0.intensity == intensity && $0.sharpness == sharpness })
    {
      event.levels[event.levels.count - 1].frame = frame
    } else {
      event.levels.append((frame, intensity, sharpness))
    }
  }

  /// Returns the intensity or volume and the sharpness of an event at a frame.
  private func level(of open: ActiveEvent, at frame: Int64) -> (Double, Double) {
    let position = state.position(at: frame) - open.passOrigin
    func control(_ id: DynamicParameterID) -> Double {
      guard let timeline = controls[open.scheduled.layer][id] else {
        return Double(id.neutralValue)
      }
      let segment = timeline.segments[timeline.index(at: Double(position))]
      if let sent = state.liveValue(of: id, at: frame),
        segment.sourceStart.map({ open.passOrigin + Int64($0) <= sent.position }) ?? true
      {
        return sent.value
      }
      return segment.value(at: Double(position))
    }
    // Rounding removes the digits that `Float` adds: 0.32 instead of 0.3199999928.
    func unit(_ value: Double) -> Double { (min(max(value, 0), 1) * 1e6).rounded() / 1e6 }
    let event = open.scheduled.event
    guard event.kind.isHaptic else {
      let volume = Double(event.value(of: .audioVolume)) * control(.audioVolumeControl)
      return (state.playsAudio && playsAudio ? unit(volume) : 0, 0)
    }
    let intensity = Double(event.value(of: .hapticIntensity)) * control(.hapticIntensityControl)
    let sharpness = Double(event.value(of: .hapticSharpness)) + control(.hapticSharpnessControl)
    return (state.playsHaptics && playsHaptics ? unit(intensity) : 0, unit(sharpness))
  }

  private mutating func record(_ event: ActiveEvent, end: Int64) {
    guard let start = event.start, let first = event.levels.first else { return }
    let isSteady = event.levels.allSatisfy {
      $0.intensity == first.intensity && $0.sharpness == first.sharpness
    }
    let kind = event.scheduled.event.kind
    playedEvents.append(
      PlayedHaptics.Event(
        kind: kind.isHaptic ? (kind.isTransient ? .transient : .continuous) : .audio,
        time: Double(start) / rate,
        duration: Double(max(0, end - start)) / rate,
        levels: (isSteady ? [first] : event.levels).map {
          PlayedHaptics.Event.Level(
            time: Double($0.frame - start) / rate, intensity: $0.intensity, sharpness: $0.sharpness)
        }))
  }

  /// Ends the segments of all active events, which may continue after a pause.
  private mutating func endActiveEvents() {
    for index in activeEvents.indices {
      record(activeEvents[index], end: frame)
      activeEvents[index].levels = []
      activeEvents[index].start = nil
    }
  }
}

/// Snapshots of the haptics of a test, stored as AHAP next to the test and compared with later
/// runs.
///
/// The file is `__Haptics__/TESTFILE/NAME.ahap` in the folder of the test. The environment variable
/// `TEMBLOR_RECORD` determines whether it is written: `all` writes every snapshot, `missing` writes
/// missing snapshots (the default), and `never` writes none (the default if `CI` is set).
public enum HapticSnapshot {
  private static let maximumListedCount = 12

  /// Compares haptics with a snapshot, or writes the snapshot.
  ///
  /// A snapshot that was just written is also reported once as a failure, because nothing was
  /// compared.
  ///
  /// - Parameters:
  ///   - played: The haptics of the test.
  ///   - name: The name of the file without extension.
  ///   - tolerance: The maximum differences.
  ///   - path: The path of the test file.
  ///   - environment: The environment variables.
  /// - Returns: The reason for a failure, with one sentence for each difference, or nil.
  public static func failure(
    of played: PlayedHaptics, named name: String = #function,
    within tolerance: HapticTolerance = .perceptible,
    filePath path: String = #filePath,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    let test = URL(filePath: path)
    let folder = test.deletingLastPathComponent().appending(path: "__Haptics__").appending(
      path: test.deletingPathExtension().lastPathComponent)
    let file = folder.appending(path: fileName(name) + ".ahap")
    let exists = FileManager.default.fileExists(atPath: file.path)
    let mode = environment["TEMBLOR_RECORD"] ?? (environment["CI"] == nil ? "missing" : "never")
    guard ["all", "missing", "never"].contains(mode) else {
      return
        """
        The snapshot \(file.path) cannot be written or read: TEMBLOR_RECORD is '\(mode)'; it \
        must be all, missing 
        """
          + "or never"
    }
    do {
      if mode == "all" || mode == "missing" && !exists {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try played.ahap().write(to: file, options: .atomic)
        return "A snapshot was written to \(file.path); run again to compare with it."
      }
      guard exists else {
        return "There is no snapshot \(file.path); run with TEMBLOR_RECORD=missing to write it."
      }
      let differences = played.differences(
        from: try PlayedHaptics(contentsOf: file), within: tolerance)
      if differences.isEmpty { return nil }
      return
        (["What was played differs from \(file.path):"] + differences.prefix(maximumListedCount)
        + (differences.count > maximumListedCount
          ? ["… and \(differences.count - maximumListedCount) more."] : []))
        .joined(
          separator: "\n  ")
    } catch let error as CHHapticError {
      return "The snapshot cannot be read: \(error.localizedDescription)"
    } catch {
      return "The snapshot \(file.path) cannot be written or read: \(error)"
    }
  }

  private static func fileName(_ name: String) -> String {
    String(
      name.prefix { $0 != "(" }.map { $0.isLetter || $0.isNumber || "-_. ".contains($0) ? $0 : "-" }
    )
  }
}
