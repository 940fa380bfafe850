/// A curve simplified by the Ramer–Douglas–Peucker algorithm: a segment is divided at the point
/// farthest from its chord for as long as the distance exceeds the tolerance. Distances are
/// measured between values at the same time.
///
/// Source: D. Douglas, T. Peucker, *Algorithms for the reduction of the number of points required
/// to represent a digitized line*, 1973.
struct PointReduction {
  /// The remaining points, including the first and the last.
  private(set) var remainingPoints: [EnvelopePoint]
  /// The maximum distance between the simplified curve and the original.
  private(set) var maximumCurveDeviation: Double

  /// The number of points that are simplified together. It bounds the worst case, which is
  /// quadratic.
  private static let pointsPerBlock = 2048

  /// Simplifies a curve by removing as many points as a tolerance allows.
  ///
  /// - Parameters:
  ///   - original: The points, sorted by time.
  ///   - tolerance: The maximum distance.
  ///   - sharpnessWeight: The weight of sharpness differences relative to level differences; 0 for
  ///     curves with one value.
  init(_ original: [EnvelopePoint], tolerance: Double, sharpnessWeight: Double = 1) {
    var keptIndices: [Int] = []
    var maximumBlockError = 0.0
    var blockStartIndex = 0
    while blockStartIndex < original.count - 1 {
      let end = min(blockStartIndex + Self.pointsPerBlock, original.count - 1)
      var stack = [(blockStartIndex, end)]
      while let (from, to) = stack.popLast() {
        let (error, index) = Self.pointFarthestFromChord(
          in: original, from: from, to: to, sharpnessWeight: sharpnessWeight)
        if error > tolerance, let index {
          stack.append((index, to))
          stack.append((from, index))
        } else {
          maximumBlockError = max(maximumBlockError, error)
          keptIndices.append(from)
        }
      }
      blockStartIndex = end
    }
    if let lastIndex = original.indices.last {
      keptIndices.append(lastIndex)
    }
    remainingPoints = keptIndices.map { original[$0] }
    maximumCurveDeviation = maximumBlockError
  }

  /// Simplifies a curve to a maximum number of points by keeping the most important ones.
  ///
  /// - Parameters:
  ///   - original: The points, sorted by time.
  ///   - maximumCount: The maximum number of points, at least 2.
  ///   - tolerance: The distance at which no more points are added.
  ///   - sharpnessWeight: The weight of sharpness differences relative to level differences.
  init(
    _ original: [EnvelopePoint], maximumCount: Int, tolerance: Double = 0,
    sharpnessWeight: Double = 1
  ) {
    guard original.count > 2 else {
      remainingPoints = original
      maximumCurveDeviation = 0
      return
    }
    typealias Segment = (error: Double, from: Int, to: Int, index: Int?)
    func makeSegment(_ from: Int, _ to: Int) -> Segment {
      let (error, index) = Self.pointFarthestFromChord(
        in: original, from: from, to: to, sharpnessWeight: sharpnessWeight)
      return (error, from, to, index)
    }
    var openSegments = [makeSegment(0, original.count - 1)]
    while openSegments.count + 1 < maximumCount,
      let worstIndex = openSegments.indices.max(by: {
        openSegments[$0].error < openSegments[$1].error
      }),
      openSegments[worstIndex].error > tolerance, let index = openSegments[worstIndex].index
    {
      let (_, from, to, _) = openSegments[worstIndex]
      openSegments[worstIndex] = makeSegment(from, index)
      openSegments.insert(makeSegment(index, to), at: worstIndex + 1)
    }
    remainingPoints = openSegments.map { original[$0.from] } + [original[original.count - 1]]
    maximumCurveDeviation = openSegments.map { $0.error }.max() ?? 0
  }

  /// Returns the point between two points that is farthest from their chord, and its distance.
  private static func pointFarthestFromChord(
    in points: [EnvelopePoint], from: Int, to: Int, sharpnessWeight: Double
  )
    -> (Double, Int?)
  {
    guard to - from > 1 else { return (0, nil) }
    let firstPoint = points[from]
    let lastPoint = points[to]
    var maximumError = -1.0
    var farthestIndex: Int?
    for candidate in from + 1..<to {
      let point = points[candidate]
      let line = EnvelopePoint.interpolated(from: firstPoint, to: lastPoint, at: point.timeSeconds)
      let error = max(
        abs(point.level - line.level), sharpnessWeight * abs(point.sharpness - line.sharpness))
      if error > maximumError {
        maximumError = error
        farthestIndex = candidate
      }
    }
    return (maximumError, farthestIndex)
  }
}
