internal import CMath

/// A symmetric positive-definite matrix in skyline storage, and its Cholesky factor.
///
/// Each row begins at its first nonzero element. The factor L has the same skyline.
package struct SkylineMatrix {
  /// The column of the first stored element of each row.
  private var starts: [Int] = []
  /// The elements of each row, up to the diagonal.
  private var rows: [[Double]] = []

  package init() {}

  /// The number of rows.
  package var count: Int { rows.count }

  /// Appends a row.
  ///
  /// - Parameters:
  ///   - values: The elements up to the diagonal.
  ///   - start: The column of the first element.
  package mutating func append(_ values: [Double], from start: Int) {
    starts.append(start)
    rows.append(values)
  }

  /// The logarithm of the root of the determinant. Call `factorize(regularization:)` first.
  package var logDeterminantRoot: Double {
    rows.indices.reduce(0) { sum, row in sum + log(rows[row][row - starts[row]]) }
  }

  /// Replaces the matrix by its Cholesky factor.
  ///
  /// - Parameter regularization: The fraction by which diagonal elements are increased first.
  package mutating func factorize(regularization: Double = 1e-6) {
    for row in rows.indices {
      let start = starts[row]
      var values = rows[row]
      for column in start...row {
        let columnStart = starts[column]
        let first = max(start, columnStart)
        let product = Vector.dot(
          values, from: first - start, column == row ? values : rows[column],
          from: first - columnStart,
          count: column - first
        )
        if column == row {
          let diagonal = values[column - start] * (1 + regularization) + 1e-20
          values[column - start] = max(diagonal - product, 1e-9 * diagonal + 1e-20).squareRoot()
        } else {
          values[column - start] =
            (values[column - start] - product) / rows[column][column - columnStart]
        }
      }
      rows[row] = values
    }
  }

  /// Returns the solution x of the equation A x = right side. Call `factorize(regularization:)`
  /// first.
  package func solution(of rightSide: [Double]) -> [Double] {
    var x = forwardSubstitution(of: rightSide)
    for row in rows.indices.reversed() {
      let start = starts[row]
      x[row] /= rows[row][row - start]
      Vector.add(rows[row], times: -x[row], to: &x, at: start, count: row - start)
    }
    return x
  }

  /// Returns the solution x of the equation L x = right side. Call `factorize(regularization:)`
  /// first.
  package func forwardSubstitution(of rightSide: [Double]) -> [Double] {
    var x = rightSide
    for row in rows.indices {
      let start = starts[row]
      x[row] -= Vector.dot(rows[row], from: 0, x, from: start, count: row - start)
      x[row] /= rows[row][row - start]
    }
    return x
  }

  /// Returns the root of a diagonal element of the inverse. Call `factorize(regularization:)`
  /// first.
  ///
  /// The inverse is L⁻ᵀ L⁻¹, so the element is the energy of a column of L⁻¹.
  package func inverseDiagonalRoot(at index: Int) -> Double {
    var z = [Double](repeating: 0, count: count - index)
    var sum = 0.0
    for row in index..<count {
      let start = starts[row]
      var value = row == index ? 1.0 : 0
      let first = max(start, index)
      if first < row {
        for column in first..<row {
          value -= rows[row][column - start] * z[column - index]
        }
      }
      value /= rows[row][row - start]
      z[row - index] = value
      sum += value * value
    }
    return sum.squareRoot()
  }
}
