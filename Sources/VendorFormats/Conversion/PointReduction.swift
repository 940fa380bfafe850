internal import HapticFormats

/// Fewer corners for the same curve, by the algorithm of Douglas and Peucker: of each segment the
/// corner farthest from its chord is kept.
///
/// Source: D. Douglas, T. Peucker, Algorithms for the reduction of the number of points required to
/// represent a digitized line, 1973; distances are those of values at a time.
struct PointReduction {
  /// The corners that are kept; the first and the last are always.
  private(set) var points: [EnvelopePoint]
  /// How far the curve is from the given one at most.
  private(set) var error: Double

  /// Corners of one block are compared with all others of it at worst, so that work is bounded.
  private static let block = 2048

  /// Keeps as few corners as a tolerance allows.
  ///
  /// - Parameter sharpnessWeight: What differences of sharpness count beside those of level; 0 for
  ///   curves of one value.
  init(_ given: [EnvelopePoint], tolerance: Double, sharpnessWeight: Double = 1) {
    var kept: [Int] = []
    var worst = 0.0
    var start = 0
    while start < given.count - 1 {
      let end = min(start + Self.block, given.count - 1)
      var stack = [(start, end)]
      while let (from, to) = stack.popLast() {
        let (error, index) = Self.farthest(given, from, to, sharpnessWeight)
        if error > tolerance, let index {
          stack.append((index, to))
          stack.append((from, index))
        } else {
          worst = max(worst, error)
          kept.append(from)
        }
      }
      start = end
    }
    if let last = given.indices.last { kept.append(last) }
    points = kept.map { given[$0] }
    error = worst
  }

  /// Keeps the most important corners up to a count of at least two, and no more than a tolerance
  /// needs.
  init(_ given: [EnvelopePoint], count: Int, tolerance: Double = 0, sharpnessWeight: Double = 1) {
    guard given.count > 2 else {
      points = given
      error = 0
      return
    }
    typealias Segment = (error: Double, from: Int, to: Int, index: Int?)
    func segment(_ from: Int, _ to: Int) -> Segment {
      let (error, index) = Self.farthest(given, from, to, sharpnessWeight)
      return (error, from, to, index)
    }
    var segments = [segment(0, given.count - 1)]
    while segments.count + 1 < count, let worst = segments.indices.max(by: { segments[$0].error < segments[$1].error }),
      segments[worst].error > tolerance, let index = segments[worst].index
    {
      let (_, from, to, _) = segments[worst]
      segments[worst] = segment(from, index)
      segments.insert(segment(index, to), at: worst + 1)
    }
    points = segments.map { given[$0.from] } + [given[given.count - 1]]
    error = segments.map(\.error).max() ?? 0
  }

  /// The corner between two that is farthest from their chord, and how far it is.
  private static func farthest(_ points: [EnvelopePoint], _ from: Int, _ to: Int, _ weight: Double) -> (Double, Int?) {
    guard to - from > 1 else { return (0, nil) }
    let (first, last) = (points[from], points[to])
    var worst = -1.0
    var index: Int?
    for candidate in from + 1..<to {
      let point = points[candidate]
      let line = EnvelopePoint.between(first, last, at: point.time)
      let error = max(abs(point.level - line.level), weight * abs(point.sharpness - line.sharpness))
      if error > worst { (worst, index) = (error, candidate) }
    }
    return (worst, index)
  }
}
