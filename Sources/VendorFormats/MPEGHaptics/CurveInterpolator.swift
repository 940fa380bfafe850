internal import HapticFormats

/// The samples of a curve effect: its amplitude is the signal.
struct CurveInterpolator {
  /// A key, its place in samples from the start.
  struct Point: Equatable {
    var x: Double
    var y: Double
  }

  /// Sorted by place.
  let points: [Point]

  /// Curves of one place have one value there, the last given, unless they jump along lines.
  private var distinct: [Point] {
    var distinct: [Point] = []
    for point in points {
      if distinct.last?.x == point.x { distinct.removeLast() }
      distinct.append(point)
    }
    return distinct
  }

  /// The samples from 0 to the last key.
  func samples(_ kind: MPEGCurveKind) -> [Double] {
    guard points.count > 1, let last = points.last, last.x >= 0 else { return [] }
    var samples = [Double](repeating: 0, count: Int(last.x) + 1)
    if points.count == 2 {
      addLines(to: &samples) { $0 }
      return samples
    }
    switch kind {
    case .linear: addLines(to: &samples) { $0 }
    case .cubic, .unknown: addLines(to: &samples) { (3 - 2 * $0) * $0 * $0 }
    case .akima: addAkima(distinct, to: &samples)
    case .bezier: addBezier(distinct, to: &samples)
    case .bSpline: addSpline(distinct, to: &samples)
    }
    return samples
  }

  /// Between two keys each, with a law of how far the curve is at a share of the time.
  private func addLines(to samples: inout [Double], _ law: (Double) -> Double) {
    for (from, to) in zip(points, points.dropFirst()) where to.x > from.x {
      for index in Self.indices(from.x, to.x, in: samples) {
        let share = law((Double(index) - from.x) / (to.x - from.x))
        samples[index] = from.y + (to.y - from.y) * share
      }
    }
  }

  /// The samples from one place to another, both included.
  private static func indices(_ from: Double, _ to: Double, in samples: [Double]) -> ClosedRange<Int> {
    let first = min(max(Int(from.rounded(.up)), 0), samples.count - 1)
    return first...max(first, min(Int(to), samples.count - 1))
  }

  /// Source: H. Akima, A new method of interpolation and smooth curve fitting based on local procedures,
  /// 1970; two slopes are extrapolated at each end.
  private func addAkima(_ points: [Point], to samples: inout [Double]) {
    guard points.count > 2 else { return CurveInterpolator(points: points).addLines(to: &samples) { $0 } }
    let inner = zip(points, points.dropFirst()).map { ($1.y - $0.y) / ($1.x - $0.x) }
    let (first, second) = (inner[0], inner[1])
    let (last, next) = (inner[inner.count - 1], inner[inner.count - 2])
    let slopes = [3 * first - 2 * second, 2 * first - second] + inner + [2 * last - next, 3 * last - 2 * next]
    let changes = zip(slopes, slopes.dropFirst()).map { abs($1 - $0) }
    let weights = points.indices.map { changes[$0 + 2] + changes[$0] }
    let threshold = 1e-8 * (weights.max() ?? 0)
    let tangents = points.indices.map { index in
      guard weights[index] > threshold else { return slopes[index + 1] }
      return (changes[index + 2] * slopes[index + 1] + changes[index] * slopes[index + 2]) / weights[index]
    }
    for (index, (from, to)) in zip(points, points.dropFirst()).enumerated() {
      let width = to.x - from.x
      let (start, end) = (tangents[index], tangents[index + 1])
      let square = (3 * inner[index] - 2 * start - end) / width
      let cube = (start + end - 2 * inner[index]) / (width * width)
      for sample in Self.indices(from.x, to.x, in: samples) {
        let x = Double(sample) - from.x
        samples[sample] = ((x * cube + square) * x + start) * x + from.y
      }
    }
  }

  /// Quadratic curves, every second key a control point.
  private func addBezier(_ points: [Point], to samples: inout [Double]) {
    var index = 0
    while index + 2 < points.count {
      Self.addArc(points[index], points[index + 1], points[index + 2], to: &samples)
      index += 2
    }
    if index + 2 == points.count {
      CurveInterpolator(points: Array(points[index...])).addLines(to: &samples) { $0 }
    }
  }

  /// A quadratic Bézier curve, at the places of the samples.
  private static func addArc(_ start: Point, _ control: Point, _ end: Point, to samples: inout [Double]) {
    guard end.x > start.x else { return }
    let bend = start.x - 2 * control.x + end.x
    let rise = control.x - start.x
    for index in indices(start.x, end.x, in: samples) {
      let x = Double(index) - start.x
      let t: Double
      if abs(bend) > 1e-9 * (end.x - start.x) {
        t = (max(rise * rise + bend * x, 0).squareRoot() - rise) / bend
      } else {
        t = x / (2 * rise)
      }
      samples[index] = (1 - t) * (1 - t) * start.y + 2 * t * (1 - t) * control.y + t * t * end.y
    }
  }

  /// A quadratic B-spline with uniform knots, clamped: arcs that meet in the middle between keys.
  private func addSpline(_ points: [Point], to samples: inout [Double]) {
    guard points.count > 2 else { return CurveInterpolator(points: points).addLines(to: &samples) { $0 } }
    func middle(_ index: Int) -> Point {
      Point(x: (points[index].x + points[index + 1].x) / 2, y: (points[index].y + points[index + 1].y) / 2)
    }
    let last = points.count - 3
    for index in 0...last {
      Self.addArc(
        index == 0 ? points[0] : middle(index), points[index + 1], index == last ? points[last + 2] : middle(index + 1),
        to: &samples)
    }
  }
}
