/// The rules and policies of a schema reader.
package final class JSONSchemaRules: Sendable {
  /// The handling of a fractional number for an integer key.
  package enum FractionHandling: Sendable {
    /// The number is rejected with an error of the rule `outOfRange`.
    case rejected
    /// The number is truncated and clamped to the range of `Int32`, and a finding is reported.
    case truncated(Rule)
    /// The number is rounded, and a finding is reported.
    case rounded(Rule)
  }

  /// The handling of null for an optional key.
  package enum NullHandling: Sendable {
    /// Null is reported as a value of the wrong type.
    case wrongType
    /// Null is equivalent to an absent key.
    case absent
    /// Null is equivalent to an absent key, and a finding is reported.
    case absentWithFinding(Rule)
  }

  package let missingKey: Rule
  package let recommendedKey: Rule?
  package let wrongType: Rule
  package let outOfRange: Rule
  /// The rule that unknown keys violate, or nil to accept unknown keys.
  package let unknownKey: Rule?
  package let unknownValue: Rule?
  /// The rule that empty strings violate, or nil to accept empty strings.
  package let emptyText: Rule?
  /// A Boolean value that indicates whether every value of a repeated key is checked.
  ///
  /// Only the last value applies.
  package let checksRepeatedKeys: Bool
  package let fractionHandling: FractionHandling
  package let nullHandling: NullHandling

  package init(
    missingKey: Rule, recommendedKey: Rule? = nil, wrongType: Rule, outOfRange: Rule,
    unknownKey: Rule? = nil,
    unknownValue: Rule? = nil, emptyText: Rule? = nil, checksRepeatedKeys: Bool = false,
    fractionHandling: FractionHandling = .rejected,
    nullHandling: NullHandling = .wrongType
  ) {
    self.missingKey = missingKey
    self.recommendedKey = recommendedKey
    self.wrongType = wrongType
    self.outOfRange = outOfRange
    self.unknownKey = unknownKey
    self.unknownValue = unknownValue
    self.emptyText = emptyText
    self.checksRepeatedKeys = checksRepeatedKeys
    self.fractionHandling = fractionHandling
    self.nullHandling = nullHandling
  }
}

/// A type that reads JSON documents by ``JSONObjectSchema`` and logs violations.
///
/// A format can customize messages by implementing `reportMissingKey`, `reportUnknownKey`, or
/// `reportUnknownValue`. An out-of-range number is rejected if the severity of `outOfRange` is
/// `error`, and clamped otherwise.
package protocol JSONSchemaReader: Sendable {
  /// A Boolean value that indicates whether whole numbers are written without a decimal point.
  static var omitsPointInWholeNumbers: Bool { get }

  /// The log of findings so far.
  var findingLog: FindingLog { get set }
  /// The rules and policies that apply while reading.
  var schemaRules: JSONSchemaRules { get }
  /// A Boolean value that indicates whether unknown keys and missing recommended keys are reported.
  var wantsFindings: Bool { get }

  mutating func reportMissingKey(
    _ key: JSONKey, isRequired: Bool, of object: JSONValue, schema: JSONSchema)
  mutating func reportUnknownKey(_ member: JSONValue, in schema: JSONSchema)
  mutating func reportUnknownValue(
    _ text: String, names: JSONNameList, key: JSONKey, at value: JSONValue)
}

extension JSONSchemaReader {
  package static var omitsPointInWholeNumbers: Bool { false }

  package var wantsFindings: Bool { true }

  /// Reports a key that is missing from an object, unless the key is optional.
  package mutating func reportMissingKey(
    _ key: JSONKey, isRequired: Bool, of object: JSONValue, schema: JSONSchema
  ) {
    let recommendedRule = wantsFindings ? schemaRules.recommendedKey : nil
    guard let applicableRule = isRequired ? schemaRules.missingKey : recommendedRule else { return }
    findingLog.reportMissingKey(
      key, isRequired: isRequired, of: object, schema: schema, rule: applicableRule)
  }

  /// Reports an unknown key.
  package mutating func reportUnknownKey(_ member: JSONValue, in schema: JSONSchema) {
    guard wantsFindings, let rule = schemaRules.unknownKey else { return }
    findingLog.reportUnknownKey(member, in: schema, rule: rule)
  }

  /// Reports a string that is not in a list of names.
  package mutating func reportUnknownValue(
    _ text: String, names: JSONNameList, key: JSONKey, at value: JSONValue
  ) {
    findingLog.reportUnknownValue(text, names: names, key: key, at: value, rules: schemaRules)
  }

  /// Returns true if a value has the expected JSON type. Otherwise, reports the value.
  ///
  /// - Parameters:
  ///   - kind: The expected type.
  ///   - value: The value to check.
  ///   - name: The name of the value in messages.
  ///   - errorCode: The corresponding error code of another API.
  package mutating func expectKind(
    _ kind: JSONValue.Kind, of value: JSONValue, as name: @autoclosure () -> String,
    errorCode: Int? = nil
  ) -> Bool {
    if value.kind == kind { return true }
    findingLog.reportWrongKind(
      of: value, expected: kind, name: name(), errorCode: errorCode, rules: schemaRules)
    return false
  }

  /// Returns true if null counts as an absent key. Reports null if the rules require it.
  package mutating func acceptsNullAsAbsent(_ value: JSONValue) -> Bool {
    findingLog.acceptsNullAsAbsent(value, rules: schemaRules)
  }

  /// Reads a scalar. Reports an invalid value and returns nil.
  ///
  /// - Parameters:
  ///   - value: The JSON value of the key.
  ///   - key: The key.
  ///   - type: The type of the value, or nil to use that of the key.
  package mutating func readScalar<Value: JSONScalar>(
    _ value: JSONValue, key: JSONKey, type: JSONType? = nil
  ) -> Value? {
    let scalarContent = findingLog.scalarContent(
      of: value, key: key, type: type ?? key.type, hasSinglePrecision: Value.hasSinglePrecision,
      rules: schemaRules)
    guard let scalarContent else { return nil }
    return Value.fromJSON(scalarContent)
  }

  /// Reads a string that must be in a list of names, and returns its index. Reports an unknown name
  /// and returns nil.
  package mutating func readName(_ value: JSONValue, names: JSONNameList, key: JSONKey) -> Int? {
    if let nameIndex = names.index(ofString: value) { return nameIndex }
    guard expectKind(.string, of: value, as: key.name, errorCode: key.errorCode),
      let text = value.string
    else {
      return nil
    }
    reportUnknownValue(text, names: names, key: key, at: value)
    return nil
  }

  /// Reads an array of objects, and skips incomplete objects. Returns nil if the value is not an
  /// array.
  package mutating func readElements<Element>(
    of value: JSONValue, key: JSONKey, schema: JSONObjectSchema<Element, Self>, new: Element
  ) -> [Element]? {
    guard expectKind(.array, of: value, as: key.name, errorCode: key.errorCode) else { return nil }
    var decodedElements: [Element] = []
    for object in value.elements {
      var element = new
      if schema.read(object, into: &element, reader: &self) {
        decodedElements.append(element)
      }
    }
    findingLog.checkElementCount(of: value, key: key, rules: schemaRules)
    return decodedElements
  }
}

extension JSONNameList {
  /// Returns a question that suggests the closest name, such as `did you mean "x"?`, or nil.
  package func suggestion(for text: String) -> String? {
    nearest(to: text).map { "did you mean \"\($0)\"?" }
  }
}

extension JSONValue {
  /// The first 24 bytes of a scalar, as written in the document.
  package var truncatedLexeme: String { String(decoding: sourceBytes.prefix(24), as: UTF8.self) }
}

extension JSONSchema {
  /// Returns a suggestion to rename an unknown key that resembles a missing key, or nil.
  package func renameSuggestion(for name: String, in object: JSONValue) -> String? {
    for member in object.members {
      guard keyNames.index(ofKey: member) == nil, let key = member.key,
        keyNames.nearest(to: key) == name
      else {
        continue
      }
      return "rename \(key.quoted()) to \(name.quoted())"
    }
    return nil
  }
}
