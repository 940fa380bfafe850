/// Pairs the elements of two sequences in order.
///
/// Short sequences are aligned at the minimum total cost by dynamic programming (S. Needleman and
/// C. Wunsch, Journal of Molecular Biology 48, 1970). Long sequences are paired by time.
enum SequenceAlignment {
  /// The cost of an unpaired element. A pair whose cost exceeds that of two unpaired elements is
  /// not made.
  static let gapCost = 0.5
  /// The maximum number of cells of the dynamic-programming table. Longer sequences are paired by
  /// time.
  static let maximumCellCount = 1 << 20
  /// The maximum time between two elements that are paired by time, in seconds.
  static let maximumDistanceSeconds = 0.5

  /// Returns pairs of indices that ascend in both sequences.
  ///
  /// - Parameters:
  ///   - times: The times of the first sequence, ascending.
  ///   - otherTimes: The times of the second sequence, ascending.
  ///   - cost: Returns the cost of a pair of indices.
  /// - Complexity: O(*m* *n*) up to `maximumCellCount` cells; otherwise linear.
  static func pairs(
    _ times: [Double], _ otherTimes: [Double], cost: (Int, Int) -> Double
  ) -> [(Int, Int)] {
    guard !times.isEmpty, !otherTimes.isEmpty else { return [] }
    let (cells, overflow) = times.count.multipliedReportingOverflow(by: otherTimes.count)
    return overflow || cells > maximumCellCount
      ? nearestPairs(times, otherTimes) : optimalPairs(times.count, otherTimes.count, cost: cost)
  }

  /// Returns the pairs with the minimum total cost.
  private static func optimalPairs(
    _ count: Int, _ otherCount: Int, cost: (Int, Int) -> Double
  ) -> [(Int, Int)] {
    enum Step: UInt8 {
      case pair
      case skipFirst
      case skipSecond
    }
    var steps = [Step](repeating: .skipFirst, count: (count + 1) * (otherCount + 1))
    let width = otherCount + 1
    var previousRow = (0...otherCount).map { Double($0) * gapCost }
    for index in 1..<width {
      steps[index] = .skipSecond
    }
    for i in 1...count {
      var row = [Double](repeating: Double(i) * gapCost, count: width)
      for j in 1...otherCount {
        let skipFirst = previousRow[j] + gapCost
        let skipSecond = row[j - 1] + gapCost
        let pair = previousRow[j - 1] + cost(i - 1, j - 1)
        // Prefer pairs at equal costs, so that as many differences as possible are changes.
        if pair <= skipFirst, pair <= skipSecond {
          row[j] = pair
          steps[i * width + j] = .pair
        } else {
          row[j] = min(skipFirst, skipSecond)
          steps[i * width + j] = skipFirst <= skipSecond ? .skipFirst : .skipSecond
        }
      }
      previousRow = row
    }
    var pairs: [(Int, Int)] = []
    var i = count
    var j = otherCount
    while i > 0 || j > 0 {
      switch steps[i * width + j] {
      case .pair:
        i -= 1
        j -= 1
        pairs.append((i, j))
      case .skipFirst:
        i -= 1
      case .skipSecond:
        j -= 1
      }
    }
    return pairs.reversed()
  }

  /// Pairs the elements with the nearest times. Values are ignored, so that many different values
  /// don't separate pairs.
  private static func nearestPairs(_ times: [Double], _ otherTimes: [Double]) -> [(Int, Int)] {
    func distance(_ i: Int, _ j: Int) -> Double {
      i < times.count && j < otherTimes.count ? abs(times[i] - otherTimes[j]) : .infinity
    }
    var pairs: [(Int, Int)] = []
    var i = 0
    var j = 0
    while i < times.count, j < otherTimes.count {
      let pairDistance = distance(i, j)
      if pairDistance <= maximumDistanceSeconds, pairDistance <= distance(i + 1, j),
        pairDistance <= distance(i, j + 1)
      {
        pairs.append((i, j))
        i += 1
        j += 1
      } else if times[i] <= otherTimes[j] {
        i += 1
      } else {
        j += 1
      }
    }
    return pairs
  }
}
