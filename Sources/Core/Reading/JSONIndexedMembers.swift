/// The members of an object, indexed by the names of their keys in a list.
package struct JSONIndexedMembers: ~Copyable {
  /// The number of members, including members with unknown keys.
  package private(set) var memberCount = 0
  /// The set of names that occur as keys, as bits.
  package private(set) var presentNameBits: UInt32 = 0
  private let document: JSONDocument
  private var memberNodeIndices = InlineArray<32, UInt32>(repeating: 0)

  init(of document: JSONDocument) { self.document = document }

  /// Adds the next member.
  ///
  /// - Parameters:
  ///   - nameIndex: The index of its key in the list, or nil for an unknown key.
  ///   - memberIndex: The index of its value.
  mutating func add(nameIndex: Int?, memberIndex: Int) {
    memberCount += 1
    guard let nameIndex else { return }
    presentNameBits |= 1 << UInt32(nameIndex)
    memberNodeIndices[nameIndex] = UInt32(truncatingIfNeeded: memberIndex)
  }

  /// Returns whether every member has a different key, out of a set of names given as bits.
  package func hasDistinctNames(among permitted: UInt32) -> Bool {
    presentNameBits & ~permitted == 0 && presentNameBits.nonzeroBitCount == memberCount
  }

  /// The last member with a name, by the index of the name; nil if there is none.
  package subscript(name: Int) -> JSONValue? {
    presentNameBits & 1 << UInt32(name) == 0
      ? nil : JSONValue(document, uncheckedIndex: Int(memberNodeIndices[name]))
  }
}
