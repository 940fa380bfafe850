/// Pairs the elements of two sequences in order.
///
/// Short sequences are aligned at the minimum total cost by dynamic programming (S. Needleman and
/// C. Wunsch, Journal of Molecular Biology 48, 1970). Long sequences are paired by time.
enum SequenceAlignment {
  /// The cost of an unpaired element.
  ///
  /// Elements are not paired if their pair costs more than two unpaired elements.
  static let gapCost = 0.5
  /// The maximum number of cells in the dynamic-programming table.
  ///
  /// Longer sequences are paired by time.
  static let maximumTableCellCount = 1 << 20
  /// The maximum time between paired elements of long sequences, in seconds.
  static let maximumPairDistanceSeconds = 0.5

  /// Returns the index pairs of two aligned sequences, ascending in both sequences.
  ///
  /// - Parameters:
  ///   - times: The times of the first sequence, ascending.
  ///   - otherTimes: The times of the second sequence, ascending.
  ///   - cost: Returns the cost of a pair of indices.
  /// - Complexity: O(*m* *n*) up to `maximumTableCellCount` cells; otherwise linear.
  static func pairs(
    _ times: [Double], _ otherTimes: [Double], cost: (Int, Int) -> Double
  ) -> [(Int, Int)] {
    guard !times.isEmpty, !otherTimes.isEmpty else { return [] }
    let (cells, overflow) = times.count.multipliedReportingOverflow(by: otherTimes.count)
    return overflow || cells > maximumTableCellCount
      ? nearestPairs(times, otherTimes) : optimalPairs(times.count, otherTimes.count, cost: cost)
  }

  /// Returns the index pairs with the minimum total cost, by dynamic programming.
  private static func optimalPairs(
    _ count: Int, _ otherCount: Int, cost: (Int, Int) -> Double
  ) -> [(Int, Int)] {
    enum Step: UInt8 {
      case pair
      case skipFirst
      case skipSecond
    }
    var backtrackSteps = [Step](repeating: .skipFirst, count: (count + 1) * (otherCount + 1))
    let rowWidth = otherCount + 1
    var previousRowCosts = (0...otherCount).map { Double($0) * gapCost }
    for index in 1..<rowWidth {
      backtrackSteps[index] = .skipSecond
    }
    for i in 1...count {
      var rowCosts = [Double](repeating: Double(i) * gapCost, count: rowWidth)
      for j in 1...otherCount {
        let skipFirst = previousRowCosts[j] + gapCost
        let skipSecond = rowCosts[j - 1] + gapCost
        let pair = previousRowCosts[j - 1] + cost(i - 1, j - 1)
        // Prefer pairs at equal costs, so that as many differences as possible are changes.
        if pair <= skipFirst, pair <= skipSecond {
          rowCosts[j] = pair
          backtrackSteps[i * rowWidth + j] = .pair
        } else {
          rowCosts[j] = min(skipFirst, skipSecond)
          backtrackSteps[i * rowWidth + j] = skipFirst <= skipSecond ? .skipFirst : .skipSecond
        }
      }
      previousRowCosts = rowCosts
    }
    var indexPairs: [(Int, Int)] = []
    var index = count
    var otherIndex = otherCount
    while index > 0 || otherIndex > 0 {
      switch backtrackSteps[index * rowWidth + otherIndex] {
      case .pair:
        index -= 1
        otherIndex -= 1
        indexPairs.append((index, otherIndex))
      case .skipFirst:
        index -= 1
      case .skipSecond:
        otherIndex -= 1
      }
    }
    return indexPairs.reversed()
  }

  /// Pairs the elements of two sequences that are nearest in time.
  ///
  /// Values are ignored, so that many different values don't separate pairs.
  private static func nearestPairs(_ times: [Double], _ otherTimes: [Double]) -> [(Int, Int)] {
    func timeDistance(_ i: Int, _ j: Int) -> Double {
      i < times.count && j < otherTimes.count ? abs(times[i] - otherTimes[j]) : .infinity
    }
    var indexPairs: [(Int, Int)] = []
    var index = 0
    var otherIndex = 0
    while index < times.count, otherIndex < otherTimes.count {
      let pairDistance = timeDistance(index, otherIndex)
      if pairDistance <= maximumPairDistanceSeconds,
        pairDistance <= timeDistance(index + 1, otherIndex),
        pairDistance <= timeDistance(index, otherIndex + 1)
      {
        indexPairs.append((index, otherIndex))
        index += 1
        otherIndex += 1
      } else if times[index] <= otherTimes[otherIndex] {
        index += 1
      } else {
        otherIndex += 1
      }
    }
    return indexPairs
  }
}
