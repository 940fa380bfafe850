import SignalAnalysis
import Testing

struct SkylineMatrixTests {
  /// The matrix 4 1 0, 1 3 1, 0 1 2, with its factor.
  private func factorized() -> SkylineMatrix {
    var matrix = SkylineMatrix()
    matrix.appendRow([4], startingAt: 0)
    matrix.appendRow([1, 3], startingAt: 0)
    matrix.appendRow([1, 2], startingAt: 1)
    matrix.factorize(regularization: 0)
    return matrix
  }

  @Test("The solution of an equation satisfies it")
  func solutionSatisfiesTheEquation() {
    let x = factorized().solution(of: [6, 10, 8])
    #expect(abs(4 * x[0] + x[1] - 6) < 1e-9)
    #expect(abs(x[0] + 3 * x[1] + x[2] - 10) < 1e-9)
    #expect(abs(x[1] + 2 * x[2] - 8) < 1e-9)
  }

  @Test("The factor has the root of the determinant, and yields the inverse")
  func factorYieldsDeterminantAndInverse() {
    // The determinant is 4 · (6 − 1) − 1 · 2 = 18, and the first cofactor 5.
    #expect(abs(factorized().logSquareRootOfDeterminant - 1.445_185_878_9) < 1e-9)
    #expect(abs(factorized().rootOfInverseDiagonal(at: 0) - 0.527_046_276_7) < 1e-9)
  }

  @Test("A matrix that is factorized in blocks of rows solves its equation", arguments: [0, 2])
  func blocksOfRowsSolveTheEquation(start: Int) {
    // The rows begin at the same column, except for the first rows.
    let elements = (0..<11).map { row in
      (min(start, row)...row).map { $0 == row ? 4 + Double(row) : 1 / Double(1 + row - $0) }
    }
    var matrix = SkylineMatrix()
    for (row, values) in elements.enumerated() {
      matrix.appendRow(values, startingAt: min(start, row))
    }
    matrix.factorize(regularization: 0)
    let rightSide = (0..<11).map { 1 + Double($0 % 3) }
    let solution = matrix.solution(of: rightSide)
    for row in 0..<11 {
      let product = (0..<11).reduce(0.0) { sum, column in
        let (lower, upper) = (max(row, column), min(row, column))
        let first = min(start, lower)
        return upper < first ? sum : sum + elements[lower][upper - first] * solution[column]
      }
      #expect(abs(product - rightSide[row]) < 1e-12)
    }
  }
}
