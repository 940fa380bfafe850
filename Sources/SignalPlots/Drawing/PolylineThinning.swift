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
}
