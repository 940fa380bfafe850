/// The shared and the individual differences of several channels or body locations.
///
/// - Complexity: O(*n* · *m*) in the number of all differences *n* and of shared differences *m*.
struct SharedDifferences<Element> {
  /// The differences that occur in all lists.
  let sharedElements: [Element]
  /// The remaining differences of each list.
  let individualElements: [[Element]]

  /// Separates the shared differences from the individual differences of several lists.
  ///
  /// - Parameters:
  ///   - lists: The differences of each channel or location; at least two lists.
  ///   - areEqual: A closure that returns true if two differences are one difference of the whole.
  init(of lists: [[Element]], areEqual: (Element, Element) -> Bool) {
    let shared = lists[0].filter { candidate in
      lists.dropFirst().allSatisfy { list in
        list.contains { areEqual(candidate, $0) }
      }
    }
    self.sharedElements = shared
    individualElements = lists.map { list in
      list.filter { difference in !shared.contains { areEqual($0, difference) } }
    }
  }
}

extension Double {
  /// Returns true if another amount differs by at most a fraction of this amount.
  func isNearlyEqual(to amount: Double, tolerance: Double) -> Bool {
    abs(self - amount) <= tolerance * abs(self) + 1e-9
  }
}
