internal import CMath

/// A symmetric positive-definite matrix in skyline storage, and its Cholesky factor.
///
/// Each row begins at its first nonzero element. The factor L has the same skyline.
package struct SkylineMatrix {
  /// The column of the first stored element of each row.
  private var firstStoredColumns: [Int] = []
  /// The stored elements of all rows in turn, each row up to its diagonal.
  private var storedElements: [Double] = []
  /// The offset of each row: the element of a row and a column is at the sum of the row's offset
  /// and the column.
  private var rowOffsets: [Int] = []

  /// The number of rows that are factorized together.
  private static let blockRowCount = SIMD4<Int>.scalarCount

  package init() {}

  /// The number of rows and columns of the matrix.
  package var rowCount: Int { rowOffsets.count }

  /// Appends a row of the lower triangle. The row's elements before `start` are zero.
  ///
  /// - Parameters:
  ///   - values: The elements up to the diagonal.
  ///   - start: The column of the first element.
  package mutating func appendRow(_ values: [Double], startingAt start: Int) {
    precondition(values.count == rowCount + 1 - start, "a row must end at the diagonal")
    firstStoredColumns.append(start)
    rowOffsets.append(storedElements.count - start)
    storedElements += values
  }

  /// The logarithm of the square root of the matrix's determinant. Call
  /// `factorize(regularization:)` first.
  package var logSquareRootOfDeterminant: Double {
    rowOffsets.indices.reduce(0) { $0 + log(diagonal(ofRow: $1)) }
  }

  private func diagonal(ofRow row: Int) -> Double { storedElements[rowOffsets[row] + row] }

  /// Replaces the matrix by its Cholesky factor.
  ///
  /// Rows that begin at the same column are computed in blocks, because their inner products with
  /// the preceding rows are independent of each other.
  ///
  /// - Parameter regularization: The fraction by which diagonal elements are increased first.
  package mutating func factorize(regularization: Double = 1e-6) {
    var row = 0
    while row < rowCount {
      let start = firstStoredColumns[row]
      let endBlockRow = row + Self.blockRowCount
      let isBlock =
        endBlockRow <= rowCount && firstStoredColumns[row..<endBlockRow].allSatisfy { $0 == start }
      if isBlock {
        factorizeBlock(firstRow: row)
        for blockRow in row..<endBlockRow {
          factorizeRow(blockRow, fromColumn: row, regularization: regularization)
        }
      } else {
        factorizeRow(row, fromColumn: start, regularization: regularization)
      }
      row = isBlock ? endBlockRow : row + 1
    }
  }

  /// Computes the elements of four rows up to the column before the first row's diagonal.
  private mutating func factorizeBlock(firstRow: Int) {
    let start = firstStoredColumns[firstRow]
    let blockOffsets = SIMD4(rowOffsets[firstRow..<firstRow + Self.blockRowCount])
    for column in start..<firstRow {
      let first = max(start, firstStoredColumns[column])
      let products = Vector.dots(
        storedElements, from: blockOffsets &+ first, storedElements,
        from: rowOffsets[column] + first, count: column - first)
      let columnDiagonal = diagonal(ofRow: column)
      for number in 0..<Self.blockRowCount {
        let index = blockOffsets[number] + column
        storedElements[index] = (storedElements[index] - products[number]) / columnDiagonal
      }
    }
  }

  /// Computes the elements of a row from a column to the diagonal.
  private mutating func factorizeRow(
    _ row: Int, fromColumn firstColumn: Int, regularization: Double
  ) {
    let start = firstStoredColumns[row]
    let offset = rowOffsets[row]
    for column in firstColumn...row {
      let first = max(start, firstStoredColumns[column])
      let product = Vector.dot(
        storedElements, from: offset + first, storedElements, from: rowOffsets[column] + first,
        count: column - first)
      let element = storedElements[offset + column]
      if column == row {
        let diagonal = element * (1 + regularization) + 1e-20
        storedElements[offset + row] = max(diagonal - product, 1e-9 * diagonal + 1e-20).squareRoot()
      } else {
        storedElements[offset + column] = (element - product) / diagonal(ofRow: column)
      }
    }
  }

  /// Returns the solution x of the equation A x = right side. Call `factorize(regularization:)`
  /// first.
  package func solution(of rightSide: [Double]) -> [Double] {
    var solutionVector = forwardSubstitution(of: rightSide)
    for row in rowOffsets.indices.reversed() {
      let start = firstStoredColumns[row]
      solutionVector[row] /= diagonal(ofRow: row)
      Vector.add(
        storedElements, from: rowOffsets[row] + start, times: -solutionVector[row],
        to: &solutionVector, at: start, count: row - start)
    }
    return solutionVector
  }

  /// Returns the solution x of the equation L x = right side, where L is the Cholesky factor. Call
  /// `factorize(regularization:)` first.
  package func forwardSubstitution(of rightSide: [Double]) -> [Double] {
    var solutionVector = rightSide
    for row in rowOffsets.indices {
      let start = firstStoredColumns[row]
      solutionVector[row] -= Vector.dot(
        storedElements, from: rowOffsets[row] + start, solutionVector, from: start,
        count: row - start)
      solutionVector[row] /= diagonal(ofRow: row)
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
          value -= storedElements[rowOffsets[row] + column] * inverseColumn[column - index]
        }
      }
      value /= diagonal(ofRow: row)
      inverseColumn[row - index] = value
      inverseColumnSquareSum += value * value
    }
    return inverseColumnSquareSum.squareRoot()
  }
}
