/// Functions that remove the points of a line without a visible effect.
enum LineSimplification {
  /// The maximum number of points of a line without decimation.
  static let maximumUndecimatedPointCount = 4_000

  /// Returns a line decimated to at most four points per pixel column.
  ///
  /// The points are the first, the highest, the lowest, and the last.
  ///
  /// - Parameter points: The points by ascending `x`.
  static func decimated(_ points: [PlotPoint]) -> [PlotPoint] {
    guard points.count > maximumUndecimatedPointCount else { return points }
    var decimatedPoints: [PlotPoint] = []
    var columnStartIndex = 0
    while columnStartIndex < points.count {
      let column = points[columnStartIndex].x.rounded(.down)
      var end = columnStartIndex
      var topIndex = columnStartIndex
      var bottomIndex = columnStartIndex
      // The y axis points down.
      while end < points.count, points[end].x.rounded(.down) == column {
        if points[end].y < points[topIndex].y {
          topIndex = end
        }
        if points[end].y > points[bottomIndex].y {
          bottomIndex = end
        }
        end += 1
      }
      let inner = [min(topIndex, bottomIndex), max(topIndex, bottomIndex)]
      for index in [columnStartIndex] + inner + [end - 1]
      where decimatedPoints.last != points[index] {
        decimatedPoints.append(points[index])
      }
      columnStartIndex = end
    }
    return decimatedPoints
  }

  /// Returns the part of a line within a range of `x`.
  ///
  /// The ends have interpolated points.
  ///
  /// - Parameters:
  ///   - points: The points by ascending `x`.
  ///   - range: The range of `x`.
  static func clipped(_ points: [PlotPoint], to range: ClosedRange<Double>) -> [PlotPoint] {
    guard let firstPoint = points.first, let lastPoint = points.last,
      firstPoint.x < range.lowerBound || lastPoint.x > range.upperBound
    else { return points }
    var clippedPoints: [PlotPoint] = []
    for (index, point) in points.enumerated() {
      if index > 0 {
        let previous = points[index - 1]
        for edge in [range.lowerBound, range.upperBound] where previous.x < edge && point.x > edge {
          let fraction = (edge - previous.x) / (point.x - previous.x)
          clippedPoints.append(PlotPoint(edge, previous.y + (point.y - previous.y) * fraction))
        }
      }
      if range.contains(point.x) {
        clippedPoints.append(point)
      }
    }
    return clippedPoints
  }

  /// Returns a line without the points that are close to the straight line between their neighbors.
  ///
  /// Starting at a kept point, the corner, the interval of slopes that pass all following points
  /// within the tolerance narrows with each point. The point before the first whose slope is
  /// outside the interval is the next corner. This is the cone-intersection method; it takes linear
  /// time.
  ///
  /// - Parameters:
  ///   - points: The points by ascending `x`.
  ///   - tolerance: The maximum vertical distance of a removed point, in pixels.
  static func simplified(_ points: [PlotPoint], tolerance: Double) -> [PlotPoint] {
    guard var corner = points.first else { return [] }
    var simplifiedPoints = [corner]
    var minimumSlope = -Double.infinity
    var maximumSlope = Double.infinity
    for (previous, point) in zip(points, points.dropFirst()) {
      let distance = point.x - corner.x
      let slope = distance > 0 ? (point.y - corner.y) / distance : .infinity
      if !(minimumSlope...max(minimumSlope, maximumSlope)).contains(slope) {
        simplifiedPoints.append(previous)
        corner = previous
        minimumSlope = -Double.infinity
        maximumSlope = Double.infinity
      }
      let length = point.x - corner.x
      guard length > 0 else { continue }
      minimumSlope = max(minimumSlope, (point.y - tolerance - corner.y) / length)
      maximumSlope = min(maximumSlope, (point.y + tolerance - corner.y) / length)
    }
    if let lastPoint = points.last, simplifiedPoints.last != lastPoint {
      simplifiedPoints.append(lastPoint)
    }
    return simplifiedPoints
  }
}

extension Range<Int> {
  /// Returns the longest possible ranges of consecutive matching indices.
  package func runs(where matches: (Int) -> Bool) -> [Range<Int>] {
    filter(matches).reduce(into: []) { runs, index in
      if let last = runs.last, last.upperBound == index {
        runs[runs.count - 1] = last.lowerBound..<index + 1
      } else {
        runs.append(index..<index + 1)
      }
    }
  }
}
