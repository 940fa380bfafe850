/// Pairs the members of two sequences without crossing, so that the whole costs least.
enum SequenceMatching {
  /// What leaving one member without a partner costs; a pair that costs more than two of it is not made.
  static let gapCost = 0.5

  /// The most cells of an exact search; longer sequences are paired by time alone, from the start on.
  static let longestSearch = 1 << 20

  /// The most seconds between two that are paired by their times alone.
  static let greatestDistance = 0.5

  /// Pairs of indices, rising in both.
  ///
  /// Exact while the product of the counts stays below `longestSearch`, else in one pass: linear time.
  ///
  /// - Parameters:
  ///   - times: The members' times, rising.
  ///   - cost: What a pair costs, 0 for equals.
  static func pairs(_ times: [Double], _ otherTimes: [Double], cost: (Int, Int) -> Double) -> [(Int, Int)] {
    guard !times.isEmpty, !otherTimes.isEmpty else { return [] }
    let (cells, overflow) = times.count.multipliedReportingOverflow(by: otherTimes.count)
    return overflow || cells > longestSearch
      ? passing(times, otherTimes) : searching(times.count, otherTimes.count, cost: cost)
  }

  private static func searching(_ count: Int, _ otherCount: Int, cost: (Int, Int) -> Double) -> [(Int, Int)] {
    enum Step: UInt8 { case pair, left, right }
    var steps = [Step](repeating: .left, count: (count + 1) * (otherCount + 1))
    let width = otherCount + 1
    var above = (0...otherCount).map { Double($0) * gapCost }
    for index in 1..<width { steps[index] = .right }
    for i in 1...count {
      var row = [Double](repeating: Double(i) * gapCost, count: width)
      for j in 1...otherCount {
        let left = above[j] + gapCost
        let right = row[j - 1] + gapCost
        let pair = above[j - 1] + cost(i - 1, j - 1)
        // Of equals the pair, so that as much as possible is a change.
        if pair <= left, pair <= right {
          row[j] = pair
          steps[i * width + j] = .pair
        } else {
          row[j] = min(left, right)
          steps[i * width + j] = left <= right ? .left : .right
        }
      }
      above = row
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
      case .left: i -= 1
      case .right: j -= 1
      }
    }
    return pairs.reversed()
  }

  /// Goes through both by their times alone: values that differ everywhere must not pull pairs apart.
  private static func passing(_ times: [Double], _ otherTimes: [Double]) -> [(Int, Int)] {
    func distance(_ i: Int, _ j: Int) -> Double {
      i < times.count && j < otherTimes.count ? abs(times[i] - otherTimes[j]) : .infinity
    }
    var pairs: [(Int, Int)] = []
    var i = 0
    var j = 0
    while i < times.count, j < otherTimes.count {
      let here = distance(i, j)
      if here <= greatestDistance, here <= distance(i + 1, j), here <= distance(i, j + 1) {
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
