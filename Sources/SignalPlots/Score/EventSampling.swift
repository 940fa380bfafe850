internal import HapticModel
internal import HapticRender

/// Evaluates what controls and envelope make of an event, at the times where that bends.
struct EventSampling {
  /// The control that multiplies, where the pattern sets it.
  let strength: ControlTimeline?
  /// The control that is added, where the pattern sets it.
  let tone: ControlTimeline?
  /// The most times at which one event is looked at.
  let maximumTimeCount: Int
  private let strengthSlopes: Bool
  private let toneSlopes: Bool

  /// The most points of all events together, so that any pattern has a bounded score.
  private static let maximumPointCount = 400_000
  /// Parts of a range in which envelope and control move both, where their product is not a line.
  private static let parts = 6

  /// Evaluates with controls, each of which may be absent.
  init(strength: ControlTimeline?, tone: ControlTimeline?, eventCount: Int) {
    self.strength = strength
    self.tone = tone
    strengthSlopes = strength?.segments.contains { $0.slope != 0 } ?? false
    toneSlopes = tone?.segments.contains { $0.slope != 0 } ?? false
    maximumTimeCount = min(1_000, max(8, Self.maximumPointCount / max(1, eventCount)))
  }

  /// An event at a time, with its envelope at a level.
  func point(at time: Double, level: Double, intensity: Double, sharpness: Double) -> PatternScore.Point {
    let factor = strength?.value(at: time) ?? 1
    let shift = tone?.value(at: time) ?? 0
    return PatternScore.Point(
      time: time, intensity: Self.clamped(intensity * factor) * level, sharpness: Self.clamped(sharpness + shift))
  }

  /// An event along its envelope.
  func points(along corners: [PatternTimeline.Corner], intensity: Double, sharpness: Double) -> [PatternScore.Point] {
    guard let first = corners.first, let last = corners.last else { return [] }
    var points: [PatternScore.Point] = []
    for (from, to) in zip(corners, corners.dropFirst()) where to.time > from.time {
      func level(_ time: Double) -> Double {
        from.level + (to.level - from.level) * (time - from.time) / (to.time - from.time)
      }
      for time in times(from: from, to: to, whole: last.time - first.time) {
        let point = point(at: time, level: level(time), intensity: intensity, sharpness: sharpness)
        if points.last != point { points.append(point) }
      }
    }
    return points
  }

  /// The times between two corners at which the event bends, with both ends.
  ///
  /// A jump of a control is two times that lie a microsecond apart.
  private func times(from: PatternTimeline.Corner, to: PatternTimeline.Corner, whole: Double) -> [Double] {
    let room = max(2, Int(Double(maximumTimeCount) * (to.time - from.time) / whole))
    var bends: [Double] = [from.time]
    for control in [strength, tone].compactMap({ $0 }) {
      let segments = control.segments
      var index = control.index(at: from.time) + 1
      while index < segments.count, segments[index].start <= to.time {
        guard bends.count < room else { return even(from.time, to.time, count: room) }
        let start = segments[index].start
        if segments[index - 1].value(at: start) != segments[index].value { bends.append(max(from.time, start - 1e-6)) }
        if start < to.time { bends.append(start) }
        index += 1
      }
    }
    bends.append(to.time)
    bends.sort()
    // Between the corners, a product of two lines bends, and a sum where it is clamped.
    guard strengthSlopes && from.level != to.level || toneSlopes else { return bends }
    guard bends.count * Self.parts <= maximumTimeCount * 2 else { return bends }
    return zip(bends, bends.dropFirst()).flatMap { even($0, $1, count: Self.parts).dropLast() } + [to.time]
  }

  private func even(_ from: Double, _ to: Double, count: Int) -> [Double] {
    (0...count).map { $0 == count ? to : from + (to - from) * Double($0) / Double(count) }
  }

  private static func clamped(_ value: Double) -> Double { min(max(value, 0), 1) }
}
