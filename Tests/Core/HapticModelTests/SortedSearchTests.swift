import HapticModel
import Testing

/// Binary search in sorted collections.
@Suite struct SortedSearchTests {
  @Test("The end of a prefix is the index of the first element that does not belong to it")
  func endsOfPrefixes() {
    let values = [1, 1, 2, 4, 4, 4, 9]
    for value in 0...10 {
      #expect(values.prefixEndIndex { $0 < value } == values.count { $0 < value })
      #expect(values.prefixEndIndex { $0 <= value } == values.count { $0 <= value })
    }
    #expect([Int]().prefixEndIndex { $0 < 1 } == 0)
  }

  @Test("The search in a part of a collection stays in the part")
  func partsOfCollections() {
    let values = [0, 1, 2, 3, 4, 5]
    #expect(values[2..<4].prefixEndIndex { $0 < 0 } == 2)
    #expect(values[2..<4].prefixEndIndex { $0 < 3 } == 3)
    #expect((2..<4).prefixEndIndex { values[$0] < 9 } == 4)
  }
}
