/// A nonlinear least-squares solver for functions of a few parameters.
///
/// Each iteration solves the damped normal equations (JᵀJ + λ · diag JᵀJ) Δ = −Jᵀr, where J is the
/// Jacobian of the residuals r. A step that lowers the cost is accepted and divides the damping λ
/// by ten; any other step is rejected and multiplies it by ten.
///
/// Source: K. Levenberg, Quarterly of Applied Mathematics 2, 1944; D. Marquardt, Journal of SIAM
/// 11, 1963.
enum LevenbergMarquardt {
  /// The condition that ends a search for the minimum.
  struct TerminationCriteria {
    /// The maximum number of iterations.
    var maximumIterationCount: Int
    /// The minimum relative decrease of the cost per iteration. A smaller decrease ends the search.
    var minimumRelativeCostDecrease: Double

    static let full = TerminationCriteria(
      maximumIterationCount: 60, minimumRelativeCostDecrease: 1e-10)
    static let coarse = TerminationCriteria(
      maximumIterationCount: 30, minimumRelativeCostDecrease: 1e-4)
  }

  /// The maximum damping factor of a step. The search ends at a larger factor.
  private static let maximumDampingFactor = 1e8
  private static let minimumDampingFactor = 1e-12
  private static let initialDampingFactor = 1e-3

  /// Returns the parameters that minimize the sum of the squared residuals.
  ///
  /// - Parameters:
  ///   - start: The initial parameters.
  ///   - steps: The step of each parameter for the numerical derivative.
  ///   - bounds: The range of each parameter.
  ///   - termination: The condition under which the search ends.
  ///   - residuals: A function that returns the residuals at a point, always equally many.
  static func fit(
    from start: [Double], steps: [Double], bounds: [ClosedRange<Double>],
    termination: TerminationCriteria = .full, residuals: ([Double]) -> [Double]
  ) -> [Double] {
    var parameterValues = start
    var currentResiduals = residuals(parameterValues)
    var currentCost = sumOfSquares(currentResiduals)
    var dampingFactor = initialDampingFactor
    for _ in 0..<termination.maximumIterationCount {
      let jacobian = jacobian(
        at: parameterValues, steps: steps, residuals: currentResiduals, residuals)
      var isImproved = false
      var hasConverged = false
      while dampingFactor < maximumDampingFactor, !isImproved {
        guard
          let step = parameterStep(jacobian, residuals: currentResiduals, damping: dampingFactor)
        else {
          return parameterValues
        }
        let nextPoint = parameterValues.indices.map { index in
          min(
            max(parameterValues[index] + step[index], bounds[index].lowerBound),
            bounds[index].upperBound)
        }
        let next = residuals(nextPoint)
        let nextCost = sumOfSquares(next)
        isImproved = nextCost < currentCost
        dampingFactor =
          isImproved ? max(dampingFactor / 10, minimumDampingFactor) : dampingFactor * 10
        guard isImproved else { continue }
        hasConverged =
          currentCost - nextCost < termination.minimumRelativeCostDecrease * currentCost
        parameterValues = nextPoint
        currentResiduals = next
        currentCost = nextCost
      }
      if !isImproved || hasConverged { return parameterValues }
    }
    return parameterValues
  }

  /// Returns the partial derivatives of the residuals, approximated by forward differences.
  ///
  /// - Parameters:
  ///   - point: The parameters.
  ///   - steps: The step of each parameter.
  ///   - current: The residuals at the point.
  ///   - residuals: A function that returns the residuals at a point.
  /// - Returns: A column for each parameter.
  static func jacobian(
    at point: [Double], steps: [Double], residuals current: [Double],
    _ residuals: ([Double]) -> [Double]
  ) -> [[Double]] {
    point.indices.map { index in
      var moved = point
      moved[index] += steps[index]
      return zip(residuals(moved), current).map { ($0 - $1) / steps[index] }
    }
  }

  /// Solves the damped normal equations for the next step of the parameters.
  private static func parameterStep(
    _ jacobian: [[Double]], residuals: [Double], damping: Double
  ) -> [Double]? {
    let parameterCount = jacobian.count
    var equationRows = (0..<parameterCount).map { row in
      (0..<parameterCount).map { dotProduct(jacobian[row], jacobian[$0]) } + [
        -dotProduct(jacobian[row], residuals)
      ]
    }
    for index in 0..<parameterCount {
      equationRows[index][index] += damping * equationRows[index][index] + 1e-300
    }
    return solveLinearSystem(equationRows)
  }

  /// Solves linear equations with a symmetric positive definite matrix by Gauss–Jordan elimination.
  ///
  /// - Parameter rows: The rows of the matrix, each followed by its right side.
  /// - Returns: The solution, or nil if the matrix is singular.
  static func solveLinearSystem(_ rows: [[Double]]) -> [Double]? {
    var reducedRows = rows
    let rowCount = reducedRows.count
    for pivot in 0..<rowCount {
      // A symmetric positive definite matrix requires no exchange of rows.
      guard reducedRows[pivot][pivot] > 0, reducedRows[pivot][pivot].isFinite else { return nil }
      for row in 0..<rowCount where row != pivot {
        let factor = reducedRows[row][pivot] / reducedRows[pivot][pivot]
        for column in pivot...rowCount {
          reducedRows[row][column] -= factor * reducedRows[pivot][column]
        }
      }
    }
    let solution = (0..<rowCount).map { reducedRows[$0][rowCount] / reducedRows[$0][$0] }
    return solution.allSatisfy(\.isFinite) ? solution : nil
  }

  /// Returns the diagonal of the inverse of JᵀJ, or nil if JᵀJ is singular.
  static func inverseDiagonal(of jacobian: [[Double]]) -> [Double]? {
    let normalMatrix = jacobian.map { row in jacobian.map { dotProduct(row, $0) } }
    var inverseElements: [Double] = []
    for index in normalMatrix.indices {
      let rows = normalMatrix.enumerated().map { $1 + [$0 == index ? 1 : 0] }
      guard let column = solveLinearSystem(rows), column[index] >= 0 else { return nil }
      inverseElements.append(column[index])
    }
    return inverseElements
  }

  private static func dotProduct(_ first: [Double], _ second: [Double]) -> Double {
    var productSum = 0.0
    for index in first.indices {
      productSum += first[index] * second[index]
    }
    return productSum
  }

  private static func sumOfSquares(_ values: [Double]) -> Double {
    values.reduce(0) { $0 + $1 * $1 }
  }
}
