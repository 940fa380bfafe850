/// Leaves out of a long line what no pixel can show.
enum PolylineThinning {
  /// From how many points on a line is thinned.
  static let mostPoints = 4_000

  /// The line with at most its first, highest, lowest and last point in each column of pixels.
  ///
  /// - Parameter points: By rising `x`.
  static func thinned(_ points: [PlotPoint]) -> [PlotPoint] {
    guard points.count > mostPoints else { return points }
    var result: [PlotPoint] = []
    var start = 0
    while start < points.count {
      let column = points[start].x.rounded(.down)
      var end = start
      var (high, low) = (start, start)
      while end < points.count, points[end].x.rounded(.down) == column {
        if points[end].y < points[high].y { high = end }
        if points[end].y > points[low].y { low = end }
        end += 1
      }
      for index in [start, min(high, low), max(high, low), end - 1]
      where result.last != points[index] {
        result.append(points[index])
      }
      start = end
    }
    return result
  }

  /// The line without points that lie nearly on the straight line between those that are kept.
  ///
  /// - Parameter tolerance: How far in pixels a point that is left out may lie from the line, up or down.
  static func straightened(_ points: [PlotPoint], tolerance: Double) -> [PlotPoint] {
    guard var corner = points.first else { return [] }
    var result = [corner]
    // The steepest and flattest lines from the corner that pass all points since by the tolerance.
    var (least, most) = (-Double.infinity, Double.infinity)
    for (last, point) in zip(points, points.dropFirst()) {
      let run = point.x - corner.x
      let slope = run > 0 ? (point.y - corner.y) / run : .infinity
      if !(least...max(least, most)).contains(slope) {
        result.append(last)
        corner = last
        (least, most) = (-Double.infinity, Double.infinity)
      }
      let length = point.x - corner.x
      guard length > 0 else { continue }
      least = max(least, (point.y - tolerance - corner.y) / length)
      most = min(most, (point.y + tolerance - corner.y) / length)
    }
    if let last = points.last, result.last != last { result.append(last) }
    return result
  }
}
