internal import HapticModel
internal import Reading
internal import SignalPlots

/// The intensity and the sharpness control of one layer over time, as lines.
struct PageControls: Equatable {
  /// A value at a time.
  struct Point: Equatable {
    /// Seconds from the start of the pattern.
    let time: Double
    /// The control's value.
    let value: Double
  }

  /// The line of the intensity control; empty where the layer leaves it alone. Where it jumps, two
  /// points share a time.
  let intensity: [Point]
  /// The line of the sharpness control.
  let sharpness: [Point]

  /// Whether the layer leaves both alone.
  var isEmpty: Bool { intensity.isEmpty && sharpness.isEmpty }

  /// The most points that a page holds of one control.
  private static let maximumPointCount = 2_000

  /// Evaluates the controls of a layer until the composition ends.
  init(of pattern: HapticPattern, until end: Double) {
    intensity = Self.line(.hapticIntensityControl, of: pattern, until: end)
    sharpness = Self.line(.hapticSharpnessControl, of: pattern, until: end)
  }

  private static func line(_ id: DynamicParameterID, of pattern: HapticPattern, until end: Double) -> [Point] {
    let segments = ControlTimeline(of: id, in: pattern).segments
    guard segments.count > 1 || segments.first?.origin != nil else { return [] }
    var points: [Point] = []
    for (index, segment) in segments.enumerated().prefix(maximumPointCount / 2) where segment.start <= end {
      points.append(Point(time: segment.start, value: segment.value))
      let next = index + 1 < segments.count ? min(segments[index + 1].start, end) : end
      if next > segment.start { points.append(Point(time: next, value: segment.value(at: next))) }
    }
    return points
  }

  /// Writes the controls as members of an object: time and value in turn.
  func write(to json: inout JSONObjectWriter) {
    for (name, line) in [("intensity", intensity), ("sharpness", sharpness)] where !line.isEmpty {
      json.array(name) { list in
        for point in line {
          list.element(rounded(point.time))
          list.element(rounded(point.value))
        }
      }
    }
  }
}

extension SignalTrack {
  /// Writes the track as members of an object.
  func write(to json: inout JSONObjectWriter) {
    json.member("step", step)
    json.array("levels") { list in for level in levels { list.element((level * 10).rounded() / 10) } }
    json.array("frequencies") { list in for hertz in frequencies { list.element(hertz.rounded()) } }
  }
}

/// Lines with fewer points.
enum Polyline {
  /// What a level may be off by where a point is left out.
  private static let tolerance = 0.001

  /// The points that a line of intensity and sharpness needs; no more than a count, spread evenly
  /// where these are too many.
  static func reduced(_ points: [PatternScore.Point], to maximumCount: Int) -> [PatternScore.Point] {
    var kept = needed(points)
    guard kept.count > maximumCount else { return kept }
    let step = Double(kept.count - 1) / Double(maximumCount - 1)
    kept = (0..<maximumCount).map { kept[Int((Double($0) * step).rounded())] }
    return kept
  }

  /// Leaves out points that lie on the line between those kept (Reumann and Witkam's corridor).
  private static func needed(_ points: [PatternScore.Point]) -> [PatternScore.Point] {
    guard points.count > 2 else { return points }
    var kept = [points[0]]
    var start = 0
    for index in 2..<points.count where !isStraight(points, from: start, to: index) {
      kept.append(points[index - 1])
      start = index - 1
    }
    kept.append(points[points.count - 1])
    return kept
  }

  private static func isStraight(_ points: [PatternScore.Point], from: Int, to: Int) -> Bool {
    let (first, last) = (points[from], points[to])
    let width = last.time - first.time
    // A jump is kept, and a long line is checked in parts so that time stays linear.
    guard width > 0, to - from <= 64 else { return false }
    return (from + 1..<to).allSatisfy { index in
      let share = (points[index].time - first.time) / width
      let intensity = first.intensity + (last.intensity - first.intensity) * share
      let sharpness = first.sharpness + (last.sharpness - first.sharpness) * share
      return abs(points[index].intensity - intensity) <= tolerance
        && abs(points[index].sharpness - sharpness) <= tolerance
    }
  }
}
