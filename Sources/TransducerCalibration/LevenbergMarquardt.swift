/// Least squares of a function that is not linear in its few parameters.
///
/// Levenberg, Quarterly of Applied Mathematics 2, 1944; Marquardt, Journal of SIAM 11, 1963.
enum LevenbergMarquardt {
  /// When a search ends: after so many rounds, or where a round gains less than a part of the squares.
  struct Precision {
    var rounds: Int
    var gain: Double

    static let full = Precision(rounds: 60, gain: 1e-10)
    /// Enough to compare starts.
    static let coarse = Precision(rounds: 30, gain: 1e-4)
  }

  /// The parameters for which the squares of the residuals sum to the least.
  ///
  /// - Parameters:
  ///   - start: Where to begin.
  ///   - steps: How far each parameter is moved to see what it does.
  ///   - bounds: What each is kept within.
  ///   - precision: When the search ends.
  ///   - residuals: As many for all parameters.
  static func fit(
    from start: [Double], steps: [Double], bounds: [ClosedRange<Double>], precision: Precision = .full,
    residuals: ([Double]) -> [Double]
  ) -> [Double] {
    var point = start
    var left = residuals(point)
    var cost = left.reduce(0) { $0 + $1 * $1 }
    var damping = 1e-3
    for _ in 0..<precision.rounds {
      let columns = point.indices.map { index in
        var moved = point
        moved[index] += steps[index]
        return zip(residuals(moved), left).map { ($0 - $1) / steps[index] }
      }
      var isBetter = false
      var isDone = false
      while damping < 1e8, !isBetter {
        guard let move = step(columns, left, damping: damping) else { return point }
        let next = point.indices.map { index in
          min(max(point[index] + move[index], bounds[index].lowerBound), bounds[index].upperBound)
        }
        let rest = residuals(next)
        let nextCost = rest.reduce(0) { $0 + $1 * $1 }
        isBetter = nextCost < cost
        damping = isBetter ? max(damping / 10, 1e-12) : damping * 10
        guard isBetter else { continue }
        isDone = cost - nextCost < precision.gain * cost
        point = next
        left = rest
        cost = nextCost
      }
      if !isBetter || isDone { return point }
    }
    return point
  }

  /// Solves (JᵀJ + damping·diagonal)·move = −Jᵀ·left by elimination.
  private static func step(_ columns: [[Double]], _ left: [Double], damping: Double) -> [Double]? {
    let count = columns.count
    var rows = (0..<count).map { row in (0..<count).map { dot(columns[row], columns[$0]) } + [-dot(columns[row], left)]
    }
    for index in 0..<count { rows[index][index] += damping * rows[index][index] + 1e-300 }
    return solve(rows)
  }

  /// The solution of linear equations whose matrix is symmetric and positive; each row ends with its right side.
  static func solve(_ rows: [[Double]]) -> [Double]? {
    var rows = rows
    let count = rows.count
    for pivot in 0..<count {
      // The matrix is symmetric and positive: no rows need to change places.
      guard rows[pivot][pivot] > 0, rows[pivot][pivot].isFinite else { return nil }
      for row in 0..<count where row != pivot {
        let factor = rows[row][pivot] / rows[pivot][pivot]
        for column in pivot...count { rows[row][column] -= factor * rows[pivot][column] }
      }
    }
    let found = (0..<count).map { rows[$0][count] / rows[$0][$0] }
    return found.allSatisfy(\.isFinite) ? found : nil
  }

  /// The diagonal of the inverse of JᵀJ, or nothing where it has none.
  static func inverse(of columns: [[Double]]) -> [Double]? {
    let count = columns.count
    var rows = (0..<count).map { row in
      (0..<count).map { dot(columns[row], columns[$0]) } + (0..<count).map { $0 == row ? 1 : 0 }
    }
    for pivot in 0..<count {
      let top = rows[pivot][pivot]
      guard top > 0, top.isFinite else { return nil }
      for column in rows[pivot].indices { rows[pivot][column] /= top }
      for row in 0..<count where row != pivot {
        let factor = rows[row][pivot]
        for column in rows[row].indices { rows[row][column] -= factor * rows[pivot][column] }
      }
    }
    let diagonal = (0..<count).map { rows[$0][count + $0] }
    return diagonal.allSatisfy { $0 >= 0 && $0.isFinite } ? diagonal : nil
  }

  private static func dot(_ left: [Double], _ right: [Double]) -> Double {
    var sum = 0.0
    for index in left.indices { sum += left[index] * right[index] }
    return sum
  }
}
