extension RandomAccessCollection where Index == Int {
  /// Returns the index of the first element that does not meet a condition, by binary search.
  ///
  /// Returns the end index if all elements meet the condition.
  ///
  /// In a sorted collection, the condition `{ $0 < value }` finds the first element that is at
  /// least the value, and the condition `{ $0 <= value }` the first element that exceeds it.
  ///
  /// - Parameter belongsToPrefix: The condition. All elements that meet it precede all others.
  /// - Complexity: O(log *n*).
  @inlinable package func prefixEndIndex(where belongsToPrefix: (Element) -> Bool) -> Int {
    var lowerIndex = startIndex
    var upperIndex = endIndex
    while lowerIndex < upperIndex {
      let middle = lowerIndex + (upperIndex - lowerIndex) / 2
      if belongsToPrefix(self[middle]) {
        lowerIndex = middle + 1
      } else {
        upperIndex = middle
      }
    }
    return lowerIndex
  }
}
