/// The members of an object, indexed by their keys in a list of names.
package struct JSONIndexedMembers: ~Copyable {
  /// The number of members, including members with unknown keys.
  package private(set) var totalMemberCount = 0
  /// A bit set of the names that occur as keys.
  package private(set) var presentNameBits: UInt32 = 0
  private let document: JSONDocument
  private var memberNodeIndices = InlineArray<32, UInt32>(repeating: 0)

  init(of document: JSONDocument) { self.document = document }

  /// Records the next member of the object, with the index of its name if the name is known.
  ///
  /// - nameIndex: The index of the key in the list, or nil for an unknown key.
  ///   - memberIndex: The node index of the value.
  ///   - memberIndex: The index of its value.
  mutating func add(nameIndex: Int?, memberIndex: Int) {
    totalMemberCount += 1
    guard let nameIndex else { return }
    presentNameBits |= 1 << UInt32(nameIndex)
    memberNodeIndices[nameIndex] = UInt32(truncatingIfNeeded: memberIndex)
  }

  /// Returns true if all members have distinct keys from a bit set of permitted names.
  package func hasDistinctNames(among permitted: UInt32) -> Bool {
    presentNameBits & ~permitted == 0 && presentNameBits.nonzeroBitCount == totalMemberCount
  }

  /// The last member with a key that has the given name index, or nil if there is none.
  package subscript(name: Int) -> JSONValue? {
    presentNameBits & 1 << UInt32(name) == 0
      ? nil : JSONValue(document, uncheckedIndex: Int(memberNodeIndices[name]))
  }
}
