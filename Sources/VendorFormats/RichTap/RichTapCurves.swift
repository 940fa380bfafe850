internal import HapticFormats
internal import HapticModel

/// The curves of one layer, as those that each bend one event alone.
struct RichTapCurves {
  /// A corner: seconds from the start of the event, the factor on intensity, what is added to
  /// sharpness.
  struct Point: Equatable {
    var time: Double
    var gain: Double
    var offset: Double
  }

  /// The curves and steps of one control by rising start.
  private struct Track {
    var starts: [Double] = []
    var curves: [ParameterCurve?] = []

    /// The only curve active in a range, without points where there is none; nil if there are several, or one that
    /// began before.
    func onlyCurve(in range: ClosedRange<Double>, _ id: DynamicParameterID) -> ParameterCurve? {
      let onset = range.lowerBound
      // The first that starts at or after the onset.
      var (low, high) = (0, starts.count)
      while low < high {
        let middle = (low + high) / 2
        if starts[middle] < onset { low = middle + 1 } else { high = middle }
      }
      let next = low < starts.count && starts[low] == onset ? low + 1 : low
      if next < starts.count, starts[next] < range.upperBound { return nil }
      if next > low { return curves[low] }
      return low == 0 ? ParameterCurve(id: id, time: onset, controlPoints: []) : nil
    }
  }

  private var intensity = Track()
  private var sharpness = Track()
  private let hasEnvelopeControls: Bool

  init(of pattern: HapticPattern) {
    hasEnvelopeControls =
      pattern.parameters.contains { $0.id.target.isEnvelopeTime }
      || pattern.curves.contains { $0.id.target.isEnvelopeTime }
    intensity = Self.track(of: .hapticIntensityControl, in: pattern)
    sharpness = Self.track(of: .hapticSharpnessControl, in: pattern)
  }

  private static func track(of id: DynamicParameterID, in pattern: HapticPattern) -> Track {
    var all: [(start: Double, curve: ParameterCurve?)] = pattern.parameters.filter { $0.id == id }.map {
      ($0.time, nil)
    }
    all += pattern.curves.filter { $0.id == id }.map { curve in
      (curve.time, curve.interpolation == .linear && !curve.controlPoints.isEmpty ? curve : nil)
    }
    let order = all.indices.sorted { (all[$0].start, $0) < (all[$1].start, $1) }
    return Track(starts: order.map { all[$0].start }, curves: order.map { all[$0].curve })
  }

  /// The corners that bend an event and nothing else: empty where nothing does, nil where the event
  /// is not one of a file.
  func curve(of event: HapticEvent) -> [Point]? {
    guard let duration = event.duration, duration > 0, !hasEnvelopeControls,
      ![.attackTime, .decayTime, .releaseTime].contains(where: { event.value(of: $0) != 0 }),
      event.value(of: .sustained) >= 0.5,
      let intensity = intensity.onlyCurve(in: event.time...event.time + duration, .hapticIntensityControl),
      let sharpness = sharpness.onlyCurve(in: event.time...event.time + duration, .hapticSharpnessControl)
    else { return nil }
    let gains = Self.points(intensity)
    let offsets = Self.points(sharpness)
    if gains.isEmpty, offsets.isEmpty { return [] }
    if gains.map({ $0.time }) == offsets.map({ $0.time }) || offsets.isEmpty || gains.isEmpty {
      let times = (gains.isEmpty ? offsets : gains).map { $0.time }
      guard times.allSatisfy({ $0 >= 0 && $0 <= duration + 0.0005 }) else { return nil }
      return times.indices.map { index in
        Point(
          time: times[index], gain: gains.isEmpty ? 1 : gains[index].value,
          offset: offsets.isEmpty ? 0 : offsets[index].value)
      }
    }
    return nil
  }

  private static func points(_ curve: ParameterCurve) -> [(time: Double, value: Double)] {
    let points = curve.controlPoints
    return points.indices.sorted { (points[$0].time, $0) < (points[$1].time, $1) }.map {
      (points[$0].time, curve.id.clamped(points[$0].value))
    }
  }
}

extension EventParameterID {
  /// Whether it is one of the times of an envelope.
  fileprivate var isEnvelopeTime: Bool { self == .attackTime || self == .decayTime || self == .releaseTime }
}

/// Makes points into a curve that devices accept.
struct RichTapCurveFitting {
  private var points: [RichTapDocument.CurvePoint]
  private let duration: Int
  /// How far the curve is from the points at most.
  private(set) var error = 0.0

  init(_ points: [RichTapDocument.CurvePoint], duration: Int) {
    self.points = points
    self.duration = duration
  }

  /// Whether the points change nothing.
  var isFlat: Bool { points.allSatisfy { $0.gain == 1 && $0.offset == 0 } }

  /// Makes the curve begin and end with nothing; whether it did not.
  mutating func closeEnds() -> Bool {
    guard let first = points.first, let last = points.last else { return false }
    var isChanged = false
    let edge = RichTapDialect.edge
    if first.time != 0 || first.gain != 0 {
      isChanged = isChanged || first.gain != 0
      for index in points.indices where points[index].time < edge { points[index].time = edge }
      points.insert(.init(time: 0, gain: 0, offset: first.offset), at: 0)
    }
    if last.time != duration || last.gain != 0 {
      isChanged = isChanged || last.gain != 0
      for index in points.indices where points[index].time > duration - edge { points[index].time = duration - edge }
      points.append(.init(time: duration, gain: 0, offset: last.offset))
    }
    return isChanged
  }

  /// The curve, with as many points as are allowed, at rising times within the event.
  mutating func finish() -> [RichTapDocument.CurvePoint] {
    reduceToMaximum()
    separateEqualTimes()
    padToMinimum()
    return points
  }

  /// Leaves out what matters least of too many points.
  private mutating func reduceToMaximum() {
    let most = max(2, min(RichTapDialect.curvePointCounts.upperBound, duration + 1))
    guard points.count > most else { return }
    let reduced = PointReduction(
      points.enumerated().map { index, point in
        EnvelopePoint(time: Double(point.time), level: Double(point.gain), sharpness: Double(point.offset) / 100)
      }, count: most)
    error = max(error, reduced.error)
    points = reduced.points.map { point in
      .init(
        time: FrameConversion.integer(point.time), gain: Float(point.level),
        offset: FrameConversion.integer(point.sharpness * 100))
    }
  }

  /// Moves points of one time, such as those of jumps, one millisecond apart.
  private mutating func separateEqualTimes() {
    for index in points.indices.dropFirst() where points[index].time <= points[index - 1].time {
      points[index].time = points[index - 1].time + 1
    }
    var end = duration
    for index in points.indices.reversed() {
      points[index].time = min(points[index].time, end)
      end = points[index].time - 1
    }
    points.removeAll { $0.time < 0 }
  }

  /// Adds points on the longest lines of a curve with too few.
  private mutating func padToMinimum() {
    while points.count < RichTapDialect.curvePointCounts.lowerBound, let last = points.last {
      var longest: Int?
      for index in points.indices.dropLast() {
        let span = points[index + 1].time - points[index].time
        let most = longest.map { points[$0 + 1].time - points[$0].time } ?? 1
        if span > most { longest = index }
      }
      guard let index = longest else {
        // No place between: hold the last value, or the first.
        if last.time < duration {
          points.append(.init(time: last.time + 1, gain: last.gain, offset: last.offset))
        } else if points[0].time > 0 {
          points.insert(.init(time: points[0].time - 1, gain: points[0].gain, offset: points[0].offset), at: 0)
        } else {
          return
        }
        continue
      }
      let (from, to) = (points[index], points[index + 1])
      let time = (from.time + to.time) / 2
      let share = Float(time - from.time) / Float(to.time - from.time)
      points.insert(
        .init(
          time: time, gain: from.gain + (to.gain - from.gain) * share,
          offset: FrameConversion.integer(Double(Float(from.offset) + Float(to.offset - from.offset) * share))),
        at: index + 1)
    }
  }
}
