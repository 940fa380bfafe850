internal import CMath

/// A symmetric positive-definite matrix in skyline storage, and its Cholesky factor.
///
/// Each row begins at its first nonzero element. The factor L has the same skyline.
package struct SkylineMatrix {
  /// The column of the first stored element of each row.
  private var firstStoredColumns: [Int] = []
  /// The elements of each row, up to the diagonal.
  private var storedRows: [[Double]] = []

  package init() {}

  /// The number of rows and columns of the matrix.
  package var rowCount: Int { storedRows.count }

  /// Appends a row of the lower triangle. The row's elements before `start` are zero.
  ///
  /// - Parameters:
  ///   - values: The elements up to the diagonal.
  ///   - start: The column of the first element.
  package mutating func appendRow(_ values: [Double], startingAt start: Int) {
    firstStoredColumns.append(start)
    storedRows.append(values)
  }

  /// The logarithm of the square root of the matrix's determinant. Call
  /// `factorize(regularization:)` first.
  package var logSquareRootOfDeterminant: Double {
    storedRows.indices.reduce(0) { sum, row in
      sum + log(storedRows[row][row - firstStoredColumns[row]])
    }
  }

  /// Replaces the matrix by its Cholesky factor.
  ///
  /// - Parameter regularization: The fraction by which diagonal elements are increased first.
  package mutating func factorize(regularization: Double = 1e-6) {
    for row in storedRows.indices {
      let start = firstStoredColumns[row]
      var values = storedRows[row]
      for column in start...row {
        let columnStart = firstStoredColumns[column]
        let first = max(start, columnStart)
        let product = Vector.dot(
          values, from: first - start, column == row ? values : storedRows[column],
          from: first - columnStart,
          count: column - first
        )
        if column == row {
          let diagonal = values[column - start] * (1 + regularization) + 1e-20
          values[column - start] = max(diagonal - product, 1e-9 * diagonal + 1e-20).squareRoot()
        } else {
          values[column - start] =
            (values[column - start] - product) / storedRows[column][column - columnStart]
        }
      }
      storedRows[row] = values
    }
  }

  /// Returns the solution x of the equation A x = right side. Call `factorize(regularization:)`
  /// first.
  package func solution(of rightSide: [Double]) -> [Double] {
    var solutionVector = forwardSubstitution(of: rightSide)
    for row in storedRows.indices.reversed() {
      let start = firstStoredColumns[row]
      solutionVector[row] /= storedRows[row][row - start]
      Vector.add(
        storedRows[row], times: -solutionVector[row], to: &solutionVector, at: start,
        count: row - start)
    }
    return solutionVector
  }

  /// Returns the solution x of the equation L x = right side, where L is the Cholesky factor. Call
  /// `factorize(regularization:)` first.
  package func forwardSubstitution(of rightSide: [Double]) -> [Double] {
    var solutionVector = rightSide
    for row in storedRows.indices {
      let start = firstStoredColumns[row]
      solutionVector[row] -= Vector.dot(
        storedRows[row], from: 0, solutionVector, from: start, count: row - start)
      solutionVector[row] /= storedRows[row][row - start]
    }
    return solutionVector
  }

  /// Returns the square root of a diagonal element of the inverse matrix. Call
  /// `factorize(regularization:)` first.
  ///
  /// The inverse is L⁻ᵀ L⁻¹, so the element is the energy of a column of L⁻¹.
  package func rootOfInverseDiagonal(at index: Int) -> Double {
    var inverseColumn = [Double](repeating: 0, count: rowCount - index)
    var inverseColumnSquareSum = 0.0
    for row in index..<rowCount {
      let start = firstStoredColumns[row]
      var value = row == index ? 1.0 : 0
      let first = max(start, index)
      if first < row {
        for column in first..<row {
          value -= storedRows[row][column - start] * inverseColumn[column - index]
        }
      }
      value /= storedRows[row][row - start]
      inverseColumn[row - index] = value
      inverseColumnSquareSum += value * value
    }
    return inverseColumnSquareSum.squareRoot()
  }
}
