/// What was played on a device, event by event, in time.
///
/// From the renderer's own record of its players: loops, pauses, seeks, rates, mutes, controls of patterns and
/// controls that were sent count. Envelopes of events do not.
public struct PlayedHaptics: Equatable, Sendable, RandomAccessCollection, CustomStringConvertible {
  /// One event.
  public struct Event: Equatable, Sendable, CustomStringConvertible {
    /// What an event is.
    public enum Kind: String, Sendable {
      /// One short impulse, a tap.
      case transient
      /// A vibration that lasts, a hum.
      case continuous
      /// A sound, which is heard and not felt.
      case audio
    }

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

  // MARK: What can be asked

  /// When transients were felt, in seconds: the times of taps.
  public var transients: Moments { Moments(events.filter { $0.kind == .transient && $0.isFelt }.map(\.time)) }

  /// When events began that were felt, transient and continuous ones, in seconds.
  public var onsets: Moments { Moments(events.filter(\.isFelt).map(\.time)) }

  /// The events that begin in a range of time, with times from its start.
  public func from(_ start: Double, to end: Double = .infinity) -> PlayedHaptics {
    PlayedHaptics(
      events.filter { $0.time >= start && $0.time < end }.map { event in
        var event = event
        event.time -= start
        return event
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
}

extension PlayedHaptics.Event {
  fileprivate func peak(from start: Double, to end: Double) -> Double {
    if kind == .transient { return intensity }
    let (start, end) = (Swift.max(0, start), Swift.min(duration, end))
    let inside = levels.filter { $0.time > start && $0.time < end }.map(\.intensity)
    return ([level(at: start).intensity, level(at: end.nextDown).intensity] + inside).max() ?? 0
  }
}

extension PlayedHaptics: ExpressibleByArrayLiteral {
  /// Expected events, as in `[.transient(at: 0), .continuous(at: 0.5, for: 1)]`.
  public init(arrayLiteral elements: Event...) { self.init(elements) }
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
