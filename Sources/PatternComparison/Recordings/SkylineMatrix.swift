internal import CMath

/// A symmetric positive matrix whose rows start where they are first not zero, and its factor.
struct SkylineMatrix {
  /// The column of the first value of each row.
  private(set) var starts: [Int] = []
  /// The values of each row from there to the diagonal.
  private(set) var rows: [[Double]] = []

  /// How many rows there are.
  var count: Int { rows.count }

  /// Adds a row.
  mutating func append(_ values: [Double], from start: Int) {
    starts.append(start)
    rows.append(values)
  }

  /// Replaces the matrix by its Cholesky factor, each diagonal raised by a millionth.
  mutating func factor() {
    for row in rows.indices {
      let start = starts[row]
      for column in start...row {
        let other = starts[column]
        var sum = rows[row][column - start]
        if column == row { sum = sum * (1 + 1e-6) + 1e-20 }
        let first = max(start, other)
        if first < column {
          for index in first..<column { sum -= rows[row][index - start] * rows[column][index - other] }
        }
        if column == row {
          rows[row][column - start] = max(sum, 1e-9 * rows[row][column - start] + 1e-20).squareRoot()
        } else {
          rows[row][column - start] = sum / rows[column][column - other]
        }
      }
    }
  }

  /// Solves for a right side, after `factor`.
  func solution(of right: [Double]) -> [Double] {
    var x = right
    for row in rows.indices {
      let start = starts[row]
      for column in start..<row { x[row] -= rows[row][column - start] * x[column] }
      x[row] /= rows[row][row - start]
    }
    for row in rows.indices.reversed() {
      let start = starts[row]
      x[row] /= rows[row][row - start]
      for column in start..<row { x[column] -= rows[row][column - start] * x[row] }
    }
    return x
  }

  /// The root of a diagonal element of the inverse, after `factor`.
  func rootOfInverse(at place: Int) -> Double {
    var z = [Double](repeating: 0, count: count - place)
    var sum = 0.0
    for row in place..<count {
      let start = starts[row]
      var value = row == place ? 1.0 : 0
      let first = max(start, place)
      if first < row { for column in first..<row { value -= rows[row][column - start] * z[column - place] } }
      value /= rows[row][row - start]
      z[row - place] = value
      sum += value * value
    }
    return sum.squareRoot()
  }
}
