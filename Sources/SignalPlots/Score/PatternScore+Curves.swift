internal import HapticModel
internal import HapticRender

extension PatternScore.Curve {
  /// The line of a control and the points that its author gave, or nothing where there are none.
  init?(
    _ id: DynamicParameterID, of pattern: HapticPattern, control: ControlTimeline?,
    until end: Double
  ) {
    guard let control else { return nil }
    self.id = id
    var line: [Point] = []
    func append(_ time: Double, _ value: Double) {
      let point = Point(time: time, value: value)
      if line.last != point { line.append(point) }
    }
    let segments = control.segments
    for (index, segment) in segments.enumerated() where segment.start <= end || index == 0 {
      append(segment.start, segment.value)
      let next = index + 1 < segments.count ? min(segments[index + 1].start, end) : end
      if next > segment.start { append(next, segment.value(at: next)) }
    }
    self.line = line
    handles = Self.handles(id, of: pattern, control: control, until: end)
  }

  /// What the author gave, where it is in force: the line passes through it.
  private static func handles(
    _ id: DynamicParameterID, of pattern: HapticPattern, control: ControlTimeline,
    until end: Double
  ) -> [Point] {
    var given: [Point] = []
    for parameter in pattern.parameters where parameter.id == id {
      given.append(Point(time: parameter.time, value: Double(parameter.value)))
    }
    for curve in pattern.curves where curve.id == id {
      for point in curve.controlPoints {
        given.append(Point(time: curve.time + point.time, value: Double(point.value)))
      }
    }
    let (low, high) = (Double(id.range.lowerBound), Double(id.range.upperBound))
    return
      given
      .map { Point(time: $0.time, value: min(max($0.value, low), high)) }
      .filter { point in
        guard point.time >= 0, point.time <= end + 1e-4 else { return false }
        // Points lie on frames, so the nearest half frame of 48 kHz counts as the same time.
        let around = [point.time, point.time + 2e-5, point.time - 2e-5]
        return around.contains { time in
          abs(control.value(at: time) - point.value) < 2e-3
        }
      }
      .sorted { $0.time < $1.time }
  }
}
