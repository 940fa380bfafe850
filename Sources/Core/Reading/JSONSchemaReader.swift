/// The rules and policies of a schema reader.
package struct JSONSchemaRules: Sendable {
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

  package var missingKey: Rule
  package var recommendedKey: Rule?
  package var wrongType: Rule
  package var outOfRange: Rule
  /// The rule that unknown keys violate, or nil to accept unknown keys.
  package var unknownKey: Rule?
  package var unknownValue: Rule?
  /// The rule that empty strings violate, or nil to accept empty strings.
  package var emptyText: Rule?
  /// A Boolean value that indicates whether every value of a repeated key is checked, although only
  /// the last value applies.
  package var checksRepeatedKeys: Bool
  package var fractionHandling: FractionHandling
  package var nullHandling: NullHandling

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
/// A format can customize messages by implementing `reportMissing`, `reportUnknownKey`, or
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
    guard let rule = isRequired ? schemaRules.missingKey : recommendedRule else { return }
    findingLog.add(
      rule, at: object,
      "\(schema.nounWithArticle) \(isRequired ? "must" : "should") have the key \"\(key.name)\"",
      suggestion: schema.renameSuggestion(for: key.name, in: object), errorCode: schema.errorCode)
  }

  /// Reports an unknown key.
  package mutating func reportUnknownKey(_ member: JSONValue, in schema: JSONSchema) {
    guard wantsFindings, let rule = schemaRules.unknownKey, let key = member.key else { return }
    findingLog.add(
      rule, at: member, offset: member.keyOffset, "unknown key \(key.quoted()) is ignored",
      suggestion: schema.names.suggestion(for: key))
  }

  /// Reports a string that is not in a list of names.
  package mutating func reportUnknownValue(
    _ text: String, names: JSONNameList, key: JSONKey, at value: JSONValue
  ) {
    findingLog.add(
      key.rule ?? schemaRules.unknownValue ?? schemaRules.outOfRange, at: value,
      "unknown \(key.noun ?? key.name) \(text.quoted())",
      suggestion: names.suggestion(for: text), errorCode: key.errorCode)
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
    let isQuotedNumber = kind == .number && value.string.flatMap(Double.init) != nil
    findingLog.add(
      schemaRules.wrongType, at: value,
      "\(name()) must be \(kind.nounWithArticle), not \(value.kind.nounWithArticle)",
      suggestion: isQuotedNumber ? "write it without quotes" : nil, errorCode: errorCode)
    return false
  }

  /// Returns true if null counts as an absent key. Reports null if the rules require it.
  package mutating func acceptsNullAsAbsent(_ value: JSONValue) -> Bool {
    switch schemaRules.nullHandling {
    case .wrongType:
      return false
    case .absent:
      return true
    case .absentWithFinding(let rule):
      findingLog.add(
        rule, at: value, "\(value.key ?? "the value") is null, which counts as absent",
        suggestion: "omit the key")
      return true
    }
  }

  /// Reads a scalar. Reports an invalid value and returns nil.
  package mutating func readScalar<Value: JSONScalar>(_ value: JSONValue, key: JSONKey) -> Value? {
    switch key.type {
    case .number(let range):
      guard let number = readNumber(value, key: key) else { return nil }
      let nearest = Value.nearestRepresentable(to: number)
      guard let valid = checkRange(nearest, range: range, at: value, key: key) else { return nil }
      return Value.fromJSON(JSONScalarContent(numberValue: valid))
    case .integer(let range):
      let bounds = Double(range.lowerBound)...Double(range.upperBound)
      guard let number = readNumber(value, key: key),
        let integer = convertToInteger(number, at: value, key: key),
        let valid = checkRange(integer, range: bounds, at: value, key: key)
      else { return nil }
      return Value.fromJSON(JSONScalarContent(numberValue: valid))
    case .boolean:
      guard expectKind(.boolean, of: value, as: key.name, errorCode: key.errorCode) else {
        return nil
      }
      return value.boolean.flatMap { Value.fromJSON(JSONScalarContent(booleanValue: $0)) }
    case .string, .enumeration, .array, .object, .any:
      guard expectKind(.string, of: value, as: key.name, errorCode: key.errorCode) else {
        return nil
      }
      let text = value.string ?? ""
      if text.isEmpty, let rule = schemaRules.emptyText {
        findingLog.add(rule, at: value, "\(key.name) is empty")
        return nil
      }
      return Value.fromJSON(JSONScalarContent(textValue: text))
    }
  }

  private mutating func readNumber(_ value: JSONValue, key: JSONKey) -> Double? {
    if let number = value.number { return number }
    _ = expectKind(.number, of: value, as: key.name, errorCode: key.errorCode)
    return nil
  }

  private mutating func convertToInteger(_ number: Double, at value: JSONValue, key: JSONKey)
    -> Double?
  {
    let wholeNumber: Double
    let conversionRule: Rule
    switch schemaRules.fractionHandling {
    case .rejected:
      if number == number.rounded() { return number }
      findingLog.add(
        key.rule ?? schemaRules.outOfRange, at: value,
        "\(key.name) is \(value.truncatedLexeme); it must be a whole number",
        errorCode: key.errorCode)
      return nil
    case .truncated(let truncationRule):
      wholeNumber = number.rounded(.towardZero)
      conversionRule = truncationRule
    case .rounded(let roundingRule):
      wholeNumber = number.rounded()
      conversionRule = roundingRule
    }
    if wholeNumber != number {
      findingLog.add(
        conversionRule, at: value,
        "\(key.name) is \(value.truncatedLexeme); \(wholeNumber.shortText) is used")
    }
    if case .truncated = schemaRules.fractionHandling {
      return min(max(wholeNumber, Double(Int32.min)), Double(Int32.max))
    }
    return wholeNumber
  }

  /// Returns a number if it is in range. An out-of-range number is reported, and the nearest bound
  /// is returned if clamping is permitted, otherwise nil.
  ///
  /// - Parameters:
  ///   - number: The number to check.
  ///   - range: The valid range.
  ///   - value: The JSON value that contains the number, for findings.
  ///   - key: The key of the JSON value.
  package mutating func checkRange(
    _ number: Double, range: ClosedRange<Double>, at value: JSONValue, key: JSONKey
  ) -> Double? {
    if range.contains(number) { return number }
    let rule = key.rule ?? schemaRules.outOfRange
    let nearestInRange = min(max(number, range.lowerBound), range.upperBound)
    let usesNearestValue = rule.severity < .error
    let isNonnegativeRange = range.lowerBound == 0 && range.upperBound >= Double(Int32.max)
    let violation =
      if isNonnegativeRange {
        number < 0 ? "; it must not be negative" : "; it is too large"
      } else {
        ", outside \(range.lowerBound.shortText) to \(range.upperBound.shortText)"
      }
    let correction = usesNearestValue ? "; \(nearestInRange.shortText) is used" : ""
    findingLog.add(
      rule, at: value, "\(key.name) is \(value.truncatedLexeme)\(violation)\(correction)",
      errorCode: key.errorCode)
    return usesNearestValue ? nearestInRange : nil
  }

  /// Reads a string that must be in a list of names, and returns its index. Reports an unknown name
  /// and returns nil.
  package mutating func readName(_ value: JSONValue, names: JSONNameList, key: JSONKey) -> Int? {
    if let index = names.index(ofString: value) { return index }
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
    var elements: [Element] = []
    var elementCount = 0
    for object in value.elements {
      elementCount += 1
      var element = new
      if schema.read(object, into: &element, reader: &self) {
        elements.append(element)
      }
    }
    if case .array(_, let validCounts?) = key.type, !validCounts.contains(elementCount) {
      findingLog.add(
        key.rule ?? schemaRules.outOfRange, at: value,
        """
        \(key.name) has \(elementCount) \(elementCount == 1 ? "entry" : "entries"), outside \
        \(validCounts.lowerBound) to \(validCounts.upperBound)
        """
      )
    }
    return elements
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
      guard names.index(ofKey: member) == nil, let key = member.key,
        names.nearest(to: key) == name
      else {
        continue
      }
      return "rename \(key.quoted()) to \(name.quoted())"
    }
    return nil
  }
}
