/// Which lines of a text another text has not, in order.
enum LineDiff {
  /// The most pairs of lines that are held against each other; beyond, lines are looked up without order.
  private static let mostPairs = 4_000_000

  /// Whether each line is missing from the longest common sequence of lines.
  static func marks(in lines: [String], against other: [String]) -> [Bool] {
    var first = 0
    while first < lines.count, first < other.count, lines[first] == other[first] { first += 1 }
    var last = 0
    while last < lines.count - first, last < other.count - first,
      lines[lines.count - 1 - last] == other[other.count - 1 - last]
    {
      last += 1
    }
    let middle = Array(lines[first..<lines.count - last])
    let opposite = Array(other[first..<other.count - last])
    let marks =
      middle.count * opposite.count > mostPairs
      ? unordered(middle, opposite) : ordered(middle, opposite)
    return Array(repeating: false, count: first) + marks + Array(repeating: false, count: last)
  }

  private static func ordered(_ lines: [String], _ other: [String]) -> [Bool] {
    let width = other.count + 1
    // The length of the longest common sequence behind each pair of places.
    var lengths = [Int32](repeating: 0, count: (lines.count + 1) * width)
    for row in lines.indices.reversed() {
      for column in other.indices.reversed() {
        lengths[row * width + column] =
          lines[row] == other[column]
          ? lengths[(row + 1) * width + column + 1] + 1
          : max(lengths[(row + 1) * width + column], lengths[row * width + column + 1])
      }
    }
    var marks = [Bool](repeating: true, count: lines.count)
    var (row, column) = (0, 0)
    while row < lines.count, column < other.count {
      if lines[row] == other[column] {
        marks[row] = false
        row += 1
        column += 1
      } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
        row += 1
      } else {
        column += 1
      }
    }
    return marks
  }

  private static func unordered(_ lines: [String], _ other: [String]) -> [Bool] {
    let known = Set(other)
    return lines.map { !known.contains($0) }
  }
}
