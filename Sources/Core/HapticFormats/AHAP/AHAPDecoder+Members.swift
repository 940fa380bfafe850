import HapticModel
import Reading

// Access to the members of JSON objects by key index.

extension AHAPDecoder {
  /// Returns an object with its members indexed by the keys of a schema, and reports unknown keys.
  mutating func decodeObject(
    _ value: JSONValue, schema: JSONSchema, as name: @autoclosure () -> String,
    reportsUnknownKeys: Bool = true
  ) -> AHAPObject? {
    guard
      value.kind == .object
        || expectKind(.object, of: value, as: name(), errorCode: schema.errorCode)
    else {
      return nil
    }
    let ahapObject = AHAPObject(value, schema)
    if reportsUnknownKeys, !ahapObject.indexedMembers.hasDistinctNames(among: .max) {
      reportUnknownKeys(of: ahapObject)
    }
    return ahapObject
  }

  /// Reports every key of an object that its schema does not define.
  mutating func reportUnknownKeys(of object: borrowing AHAPObject) {
    for member in object.objectValue.members
    where object.schema.keyNames.index(ofKey: member) == nil {
      reportUnknownKey(member, in: object.schema)
    }
  }

  /// Reports an unknown key. Keys of earlier format versions get a specific message.
  mutating func reportUnknownKey(_ member: JSONValue, in schema: JSONSchema) {
    guard let key = member.key else { return }
    let isEvent = schema === AHAPSchemas.eventSchema
    if isEvent, key == "Name" { return }
    let isFormerName =
      isEvent ? key == "Duration" : key == "Value" && schema.key(named: "ParameterValue") != nil
    findingLog.add(
      isFormerName ? .ignoredDurationKey : .unknownKey, at: member, offset: member.keyOffset,
      "\(isFormerName ? "the" : "unknown") key \(key.quoted()) is ignored",
      suggestion: schema.keyNames.suggestion(for: key))
  }

  /// Reports an unknown name. An unknown parameter is only a warning unless the options reject it.
  mutating func reportUnknownValue(
    _ text: String, names: JSONNameList, key: JSONKey, at value: JSONValue
  ) {
    let isIgnored = key.outOfRangeRule == .unknownParameter && !options.rejectsUnknownParameters
    findingLog.add(
      key.outOfRangeRule ?? .wrongType, at: value, severity: isIgnored ? .warning : .error,
      "unknown \(key.valueNoun ?? key.name) \(text.quoted())" + (isIgnored ? " is ignored" : ""),
      suggestion: names.suggestion(for: text), errorCode: key.errorCode)
  }

  /// Returns the value of an optional key, or nil if the key is absent or its value is null.
  mutating func readOptionalMember(of object: borrowing AHAPObject, keyIndex: Int)
    -> JSONValue?
  {
    guard let value = object.indexedMembers[keyIndex] else { return nil }
    return value.kind == .null && acceptsNullAsAbsent(value) ? nil : value
  }

  /// Returns the value of a required key. Reports a missing key and returns nil.
  mutating func readRequiredMember(of object: borrowing AHAPObject, keyIndex: Int)
    -> JSONValue?
  {
    if let value = object.indexedMembers[keyIndex] { return value }
    reportMissingKey(
      object.schema.keys[keyIndex], isRequired: true, of: object.objectValue, schema: object.schema)
    return nil
  }

  /// Reads a string that must be one of the names in a table.
  mutating func decodeName<Name>(
    of object: borrowing AHAPObject, keyIndex: Int, in names: AHAPNameTable<Name>
  ) -> Name? {
    guard let value = readRequiredMember(of: object, keyIndex: keyIndex) else { return nil }
    let nameIndex =
      names.nameList.index(ofString: value)
      ?? readName(value, names: names.nameList, key: object.schema.keys[keyIndex])
    return nameIndex.map { names.allNames[$0] }
  }

  /// Reads a required number. Returns nil and reports an error if it is missing or invalid.
  mutating func decodeNumber(of object: borrowing AHAPObject, keyIndex: Int) -> Double? {
    guard let value = readRequiredMember(of: object, keyIndex: keyIndex) else { return nil }
    return value.number ?? readScalar(value, key: object.schema.keys[keyIndex])
  }

  /// Reads a required time, which must not be negative.
  mutating func decodeTime(of object: borrowing AHAPObject, keyIndex: Int) -> Double? {
    guard let value = readRequiredMember(of: object, keyIndex: keyIndex) else { return nil }
    return decodeSeconds(value, schema: object.schema, keyIndex: keyIndex)
  }

  /// Reads a time or duration, which must not be negative. Event times also serve as evidence of
  /// whether the file uses seconds or milliseconds.
  mutating func decodeSeconds(_ value: JSONValue, schema: JSONSchema, keyIndex: Int)
    -> Double?
  {
    guard let seconds: Double = value.number ?? readScalar(value, key: schema.keys[keyIndex]) else {
      return nil
    }
    guard seconds >= 0 else {
      let key = schema.keys[keyIndex]
      findingLog.add(
        key.outOfRangeRule ?? .negativeTime, at: value,
        "\(key.name) is \(seconds); it must not be negative",
        errorCode: key.errorCode)
      return nil
    }
    if schema === AHAPSchemas.eventSchema {
      if seconds.rounded() != seconds {
        hasOnlyIntegerTimes = false
      }
      // Skip a time that would exceed the maximum pattern length even in milliseconds.
      if firstMillisecondLikeTimeValue == nil,
        100...FrameConversion.maximumSeconds * 1_000 ~= seconds
      {
        firstMillisecondLikeTimeValue = value
      }
    }
    return seconds
  }

  /// Returns a number clamped to a range, and reports a number outside the range.
  mutating func clampReportingExcess(
    _ number: Double, to range: ClosedRange<Float>, name: String, at value: JSONValue
  ) -> Float {
    let nearestValue = min(max(number, Double(range.lowerBound)), Double(range.upperBound))
    if nearestValue != number {
      findingLog.add(
        .valueOutOfRange, at: value,
        """
        \(name) is \(number), outside \(range.lowerBound) to \(range.upperBound); \
        \(nearestValue) is used
        """,
        suggestion: 2...100 ~= number ? "the value is not a percentage; write \(number / 100)" : nil
      )
    }
    return Float(nearestValue)
  }
}
