public import CoreHaptics
internal import Foundation
internal import HapticFormats
internal import HapticModel
internal import HapticRender

/// What was played on a device, event by event, in time.
///
/// From the renderer's own record of its players: loops, pauses, seeks, rates, mutes, controls of
/// patterns and controls that were sent count. Envelopes of events do not.
public struct PlayedHaptics: Equatable, Sendable, RandomAccessCollection, ExpressibleByArrayLiteral,
  CustomStringConvertible
{
  /// One event.
  public struct Event: Equatable, Sendable, CustomStringConvertible {
    /// What an event is: a short tap, a hum that lasts, or a sound, which is heard and not felt.
    public enum Kind: String, Sendable { case transient, continuous, audio }

    /// How strong and sharp an event is from a moment on; between two, both move along straight
    /// lines.
    public struct Level: Equatable, Sendable {
      /// Seconds from the start of the event.
      public var time: Double
      /// 0…1, with controls and mutes.
      public var intensity: Double
      /// 0…1, with controls.
      public var sharpness: Double

      /// Makes a level.
      public init(time: Double, intensity: Double, sharpness: Double) {
        self.time = time
        self.intensity = intensity
        self.sharpness = sharpness
      }

      fileprivate func shifted(by seconds: Double) -> Level {
        Level(time: time + seconds, intensity: intensity, sharpness: sharpness)
      }
    }

    /// What it is.
    public var kind: Kind
    /// Seconds on the device's clock.
    public var time: Double
    /// Seconds it lasts, up to now at most; 0 of a transient, and of a sound file that plays to its
    /// own end.
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
      let from = levels[next - 1]
      let to = levels[next]
      let share = to.time > from.time ? (time - from.time) / (to.time - from.time) : 1
      return Level(
        time: time, intensity: from.intensity + (to.intensity - from.intensity) * share,
        sharpness: from.sharpness + (to.sharpness - from.sharpness) * share)
    }

    /// A transient.
    public static func transient(at time: Double, intensity: Double = 0.75, sharpness: Double = 0.5)
      -> Event
    {
      Event(
        kind: .transient, time: time, duration: 0,
        levels: [Level(time: 0, intensity: intensity, sharpness: sharpness)])
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
      """
      \(formattedThousandths(time)) s  \(kind)\(kind == .transient ? "" : " for \(formattedThousandths(duration)) s")
      """
        + ", \(kind == .audio ? "volume" : "intensity") \(formattedThousandths(intensity))"
        + (kind == .audio ? "" : ", sharpness \(formattedThousandths(sharpness))")
        + (levels.count > 1 ? ", moving" : "")
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
  public var description: String {
    isEmpty ? "nothing was played" : events.map(\.description).joined(separator: "\n")
  }

  /// When transients were felt, in seconds: the times of taps.
  public var transients: Moments {
    Moments(events.filter { $0.kind == .transient && $0.isFelt }.map(\.time))
  }

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
      event.isFelt && event.time < end
        && (event.time >= start || event.time + event.duration > start)
        && event.peakIntensity(from: start - event.time, to: end - event.time) > 0
    }
  }

  /// The strongest intensity at a time, to a millionth, so that it equals what was written; a
  /// transient counts for 30 ms.
  public func strength(at time: Double) -> Double {
    events.filter { event in
      event.isFelt && event.time <= time
        && time < event.time + (event.kind == .transient ? Self.transientDuration : event.duration)
    }.map { ($0.level(at: time - $0.time).intensity * 1e6).rounded() / 1e6 }.max() ?? 0
  }

  /// Seconds for which a transient is felt.
  static let transientDuration = 0.03

  /// The greatest distance between two events that are taken for one, in seconds.
  private static let maximumPairingDistance = 0.1

  /// What differs from what is expected, one sentence each, in order of time; none where it is the
  /// same.
  ///
  /// Continuous events that follow each other without a gap count as one. Sounds, and what was
  /// muted all the time, are not compared. O(n²) for n events within 0.1 s of each other.
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

  /// What a pattern plays from time 0 on.
  public init(_ pattern: CHHapticPattern) { self.init(pattern.composition) }

  /// What an AHAP file plays from time 0 on.
  ///
  /// Throws a `CHHapticError` where the file is not a pattern.
  public init(contentsOf url: URL) throws { self.init(try CHHapticPattern(contentsOf: url)) }

  /// What was felt as AHAP text that plays the same: what a snapshot keeps.
  ///
  /// Values are rounded to three digits. A continuous event whose intensity or sharpness moves
  /// becomes a row of events that follow each other without a gap, each within 0.02 of what was
  /// played.
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

  /// Expected events, as in `[.transient(at: 0), .continuous(at: 0.5, for: 1)]`.
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

  /// The event without what cannot be felt at its start and end.
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
    // Sums of times are a little off, whatever the tolerance.
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

  /// Where a value differs most, and both values; two steps of an event are a hundredth of a second
  /// apart.
  private func maximumDifference(from expected: PlayedHaptics.Event, of value: (Level) -> Double)
    -> (
      time: Double, found: Double, expected: Double
    )?
  {
    let length = kind == .transient ? 0 : min(duration, expected.duration)
    var times = [0.0]
    // Steps lie between frames; levels are looked at in the middle of hundredths.
    if levels.count > 1 || expected.levels.count > 1 {
      times += stride(from: 0.005, to: min(length, 3_600), by: 0.01)
    }
    return times.map { time in (time, value(level(at: time)), value(expected.level(at: time))) }.max
    {
      abs($0.1 - $0.2) < abs($1.1 - $1.2)
    }
  }

  private static let snapshotStep = 0.02
  /// The shortest piece, in seconds.
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

/// Times that are equal within a millisecond, so that `played.transients == [0, 0.1, 0.2]` can be
/// written.
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
    left.count == right.count
      && zip(left.seconds, right.seconds).allSatisfy { abs($0 - $1) <= 0.001 }
  }

  /// The same for times that are computed.
  public static func == (left: Moments, right: [Double]) -> Bool { left == Moments(right) }

  /// The times in a line, such as `[0.000, 0.500] s`.
  public var description: String {
    "[\(seconds.map(formattedThousandths).joined(separator: ", "))] s"
  }
}

private func roundedToThousandth(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }

extension [PlayedHaptics.Event] {
  /// Continuous events that follow each other without a gap as one that moves.
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
    self.seconds = seconds
    self.intensity = intensity
    self.sharpness = sharpness
  }

  /// Roundings alone: 1 ms, 0.001, 0.001.
  public static let exact = HapticTolerance(seconds: 0.001, intensity: 0.001, sharpness: 0.001)

  /// What a hand does not notice: 5 ms, 0.05, 0.1.
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

/// Finds the events of a pattern in the changes of its player, and how strong each was.
private struct PlayerChangeReader {
  private struct ScheduledEvent {
    var event: HapticEvent
    var layer: Int
    var onset: Int64
    var length: Int64
  }

  /// An event that sounds, or waits for the end of a pause.
  private struct ActiveEvent {
    var scheduled: ScheduledEvent
    /// The position at which its pass began.
    var passOrigin: Int64
    /// What it has played since its start or the last pause; empty while it waits.
    var levels: [(frame: Int64, intensity: Double, sharpness: Double)] = []
    var start: Int64?
  }

  private static let controlIDs: [DynamicParameterID] = [
    .hapticIntensityControl, .hapticSharpnessControl, .audioVolumeControl,
  ]

  private let rate: Double
  private let playsHaptics: Bool
  private let playsAudio: Bool
  /// By rising onset.
  private let events: [ScheduledEvent]
  private let controls: [[DynamicParameterID: ControlTimeline]]
  private var state = PlayerChange()
  private var frame: Int64 = 0
  private var nextEvent = 0
  private var activeEvents: [ActiveEvent] = []
  /// Times count from frame 0.
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

  /// What was played up to a frame; the origin is added to all times.
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

  /// Plays on as before up to a frame; to the end of a pass where the next one begins there.
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

  /// Adds the corners of an event's levels up to a frame.
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
      // The line ends where the next one starts, from the left.
      if next - 1 > frame {
        appendLevel(at: next - 1, to: &event)
      }
    }
  }

  private func appendLevel(at frame: Int64, to event: inout ActiveEvent) {
    let (intensity, sharpness) = level(of: event, at: frame)
    // Three points of one height are a line of two.
    let last = event.levels.suffix(2)
    if last.count == 2, last.allSatisfy({ $0.intensity == intensity && $0.sharpness == sharpness })
    {
      event.levels[event.levels.count - 1].frame = frame
    } else {
      event.levels.append((frame, intensity, sharpness))
    }
  }

  /// Intensity, or volume, and sharpness of an event at a frame.
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
    // Without the digits that `Float` adds: 0.32, not 0.3199999928.
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

  /// Lets what sounds end now; it may go on after a pause.
  private mutating func endActiveEvents() {
    for index in activeEvents.indices {
      record(activeEvents[index], end: frame)
      activeEvents[index].levels = []
      activeEvents[index].start = nil
    }
  }
}

/// What a test played, kept as AHAP beside the test, and compared with what it plays now.
///
/// The file is `__Haptics__/TESTFILE/NAME.ahap` in the folder of the test. The environment decides
/// whether it is written:
/// `TEMBLOR_RECORD=all` writes always, `missing` where there is none (the default on a desk),
/// `never` not at all (the default where `CI` is set).
public enum HapticSnapshot {
  private static let maximumListedCount = 12

  /// Compares what was played with its snapshot, or writes it; the name is that of the file without
  /// extension.
  ///
  /// A snapshot that was just written is a failure too, once: nothing was compared.
  ///
  /// - Returns: Why the test fails, in a sentence for each difference, or nil where it does not.
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
