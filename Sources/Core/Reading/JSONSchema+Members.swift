/// A step of reading an object that depends on the types of its owner and its reader.
enum JSONMemberStep {
  /// Returns true if the property with an index applies to the owner.
  case checkCondition(index: Int)
  /// Reads the value of a property. Returns false if the value is invalid.
  case readValue(JSONValue, index: Int)
  /// Returns true if null counts as an absent key.
  case acceptNull(JSONValue)
  /// Reports that the object lacks a key. Returns false if the key is required.
  case reportMissingKey(index: Int, isRequired: Bool)
  /// Reports a member with a key that the schema does not permit.
  case reportUnknownKey(JSONValue)
}

extension JSONSchema {
  /// Reads the members of an object in the order of the keys.
  ///
  /// The function is the part of `JSONObjectSchema.read(_:into:reader:)` that does not depend on
  /// types. It is compiled once, not once for each type of owner and reader.
  ///
  /// - Parameters:
  ///   - object: The object to read.
  ///   - checksRepeatedKeys: True to read the overridden values of repeated keys, too.
  ///   - perform: Performs a step, and returns its result.
  /// - Returns: True if all required keys have valid values.
  func readMembers(
    of object: JSONValue, checksRepeatedKeys: Bool, perform: (JSONMemberStep) -> Bool
  ) -> Bool {
    let members = keyNames.indexedMembers(of: object)
    let applicableKeyBits = permittedAndExpectedKeyBits(of: object)
    if !members.hasDistinctNames(among: applicableKeyBits.permitted) {
      checkExtraMembers(
        of: object, members, permitted: applicableKeyBits.permitted,
        checksRepeatedKeys: checksRepeatedKeys, perform: perform)
    }
    var isComplete = true
    var unreadKeyBits =
      (members.presentNameBits | applicableKeyBits.expected) & applicableKeyBits.permitted
    while unreadKeyBits != 0 {
      let index = unreadKeyBits.trailingZeroBitCount
      unreadKeyBits &= unreadKeyBits - 1
      guard perform(.checkCondition(index: index)) else { continue }
      let isExpected = applicableKeyBits.expected & 1 << UInt32(index) != 0
      let isRequired = isExpected && keys[index].presence != .recommended
      guard let value = members[index] else {
        if !perform(.reportMissingKey(index: index, isRequired: isRequired)) {
          isComplete = false
        }
        continue
      }
      if value.kind == .null, !isRequired, perform(.acceptNull(value)) { continue }
      if !perform(.readValue(value, index: index)), isRequired {
        isComplete = false
      }
    }
    return isComplete
  }

  /// Returns the permitted keys and the expected keys of an object, as bit sets.
  private func permittedAndExpectedKeyBits(of object: JSONValue) -> (
    permitted: UInt32, expected: UInt32
  ) {
    var permittedKeyBits = allKeyBits
    var expectedKeyBits = self.expectedKeyBits
    guard discriminator != nil else { return (permittedKeyBits, expectedKeyBits) }
    let applicableKeys = self.keys(in: object)
    for (index, key) in keys.enumerated() {
      if !applicableKeys.permitted.contains(where: { $0.name == key.name }) {
        permittedKeyBits &= ~(1 << UInt32(index))
      }
      if applicableKeys.required.contains(key.name) {
        expectedKeyBits |= 1 << UInt32(index)
      }
    }
    return (permittedKeyBits, expectedKeyBits)
  }

  /// Reports unknown keys, and reads the overridden values of repeated keys.
  private func checkExtraMembers(
    of object: JSONValue, _ members: borrowing JSONIndexedMembers, permitted: UInt32,
    checksRepeatedKeys: Bool, perform: (JSONMemberStep) -> Bool
  ) {
    for member in object.members {
      guard let index = keyNames.index(ofKey: member), permitted & 1 << UInt32(index) != 0 else {
        _ = perform(.reportUnknownKey(member))
        continue
      }
      let isRepeated = members[index]?.nodeIndex != member.nodeIndex
      if isRepeated, checksRepeatedKeys {
        _ = perform(.readValue(member, index: index))
      }
    }
  }
}
