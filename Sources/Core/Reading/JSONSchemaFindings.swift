// The checks and messages of schema readers that do not depend on the type of a reader.
//
// A generic function is compiled once for each of the readers and for each of the types that they
// read. The functions in this file are compiled once.

extension FindingLog {
  /// Reports a key that is missing from an object.
  mutating func reportMissingKey(
    _ key: JSONKey, isRequired: Bool, of object: JSONValue, schema: JSONSchema, rule: Rule
  ) {
    add(
      rule, at: object,
      "\(schema.nounWithArticle) \(isRequired ? "must" : "should") have the key \"\(key.name)\"",
      suggestion: schema.renameSuggestion(for: key.name, in: object), errorCode: schema.errorCode)
  }

  /// Reports an unknown key.
  mutating func reportUnknownKey(_ member: JSONValue, in schema: JSONSchema, rule: Rule) {
    guard let key = member.key else { return }
    add(
      rule, at: member, offset: member.keyOffset, "unknown key \(key.quoted()) is ignored",
      suggestion: schema.keyNames.suggestion(for: key))
  }

  /// Reports a string that is not in a list of names.
  mutating func reportUnknownValue(
    _ text: String, names: JSONNameList, key: JSONKey, at value: JSONValue, rules: JSONSchemaRules
  ) {
    add(
      key.outOfRangeRule ?? rules.unknownValue ?? rules.outOfRange, at: value,
      "unknown \(key.valueNoun ?? key.name) \(text.quoted())",
      suggestion: names.suggestion(for: text), errorCode: key.errorCode)
  }

  /// Reports a value that does not have the expected JSON type.
  mutating func reportWrongKind(
    of value: JSONValue, expected kind: JSONValue.Kind, name: String, errorCode: Int?,
    rules: JSONSchemaRules
  ) {
    let isQuotedNumber = kind == .number && value.string.flatMap(Double.init) != nil
    add(
      rules.wrongType, at: value,
      "\(name) must be \(kind.nounWithArticle), not \(value.kind.nounWithArticle)",
      suggestion: isQuotedNumber ? "write it without quotes" : nil, errorCode: errorCode)
  }

  /// Returns true if null counts as an absent key. Reports null if the rules require it.
  mutating func acceptsNullAsAbsent(_ value: JSONValue, rules: JSONSchemaRules) -> Bool {
    switch rules.nullHandling {
    case .wrongType:
      return false
    case .absent:
      return true
    case .absentWithFinding(let rule):
      add(
        rule, at: value, "\(value.key ?? "the value") is null, which counts as absent",
        suggestion: "omit the key")
      return true
    }
  }

  /// Reports an array with more or fewer elements than its key permits.
  mutating func checkElementCount(of array: JSONValue, key: JSONKey, rules: JSONSchemaRules) {
    guard case .array(_, let validCounts?) = key.type else { return }
    var elementCount = 0
    for _ in array.elements {
      elementCount += 1
    }
    if validCounts.contains(elementCount) { return }
    add(
      key.outOfRangeRule ?? rules.outOfRange, at: array,
      """
      \(key.name) has \(elementCount) \(elementCount == 1 ? "entry" : "entries"), outside \
      \(validCounts.lowerBound) to \(validCounts.upperBound)
      """
    )
  }

  /// Reads the content of a scalar. Reports an invalid value and returns nil.
  ///
  /// - Parameters:
  ///   - value: The JSON value.
  ///   - key: The key of the JSON value.
  ///   - type: The expected type.
  ///   - hasSinglePrecision: True to round a number to single precision before the range check.
  ///   - rules: The rules of the reader.
  mutating func scalarContent(
    of value: JSONValue, key: JSONKey, type: JSONType, hasSinglePrecision: Bool,
    rules: JSONSchemaRules
  ) -> JSONScalarContent? {
    switch type {
    case .number(let range):
      guard let number = readNumber(value, key: key, rules: rules) else { return nil }
      let nearest = hasSinglePrecision ? Double(Float(number)) : number
      let valid = checkRange(nearest, range: range, at: value, key: key, rules: rules)
      return valid.map { JSONScalarContent(numberValue: $0) }
    case .integer(let range):
      let bounds = Double(range.lowerBound)...Double(range.upperBound)
      guard let number = readNumber(value, key: key, rules: rules),
        let integer = convertToInteger(number, at: value, key: key, rules: rules),
        let valid = checkRange(integer, range: bounds, at: value, key: key, rules: rules)
      else { return nil }
      return JSONScalarContent(numberValue: valid)
    case .boolean:
      guard let boolean = value.boolean else {
        reportWrongKind(
          of: value, expected: .boolean, name: key.name, errorCode: key.errorCode, rules: rules)
        return nil
      }
      return JSONScalarContent(booleanValue: boolean)
    case .string, .enumeration, .array, .object, .any:
      guard value.kind == .string else {
        reportWrongKind(
          of: value, expected: .string, name: key.name, errorCode: key.errorCode, rules: rules)
        return nil
      }
      let text = value.string ?? ""
      if text.isEmpty, let rule = rules.emptyText {
        add(rule, at: value, "\(key.name) is empty")
        return nil
      }
      return JSONScalarContent(textValue: text)
    }
  }

  private mutating func readNumber(_ value: JSONValue, key: JSONKey, rules: JSONSchemaRules)
    -> Double?
  {
    if let number = value.number { return number }
    reportWrongKind(
      of: value, expected: .number, name: key.name, errorCode: key.errorCode, rules: rules)
    return nil
  }

  private mutating func convertToInteger(
    _ number: Double, at value: JSONValue, key: JSONKey, rules: JSONSchemaRules
  ) -> Double? {
    let wholeNumber: Double
    let conversionRule: Rule
    switch rules.fractionHandling {
    case .rejected:
      if number == number.rounded() { return number }
      add(
        key.outOfRangeRule ?? rules.outOfRange, at: value,
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
      add(
        conversionRule, at: value,
        "\(key.name) is \(value.truncatedLexeme); \(wholeNumber.shortText) is used")
    }
    if case .truncated = rules.fractionHandling {
      return min(max(wholeNumber, Double(Int32.min)), Double(Int32.max))
    }
    return wholeNumber
  }

  /// Returns a number if it is in range. An out-of-range number is reported, and the nearest bound
  /// is returned if clamping is permitted, otherwise nil.
  private mutating func checkRange(
    _ number: Double, range: ClosedRange<Double>, at value: JSONValue, key: JSONKey,
    rules: JSONSchemaRules
  ) -> Double? {
    if range.contains(number) { return number }
    let rangeRule = key.outOfRangeRule ?? rules.outOfRange
    let nearestInRange = min(max(number, range.lowerBound), range.upperBound)
    let usesNearestValue = rangeRule.severity < .error
    let isNonnegativeRange = range.lowerBound == 0 && range.upperBound >= Double(Int32.max)
    let violationText =
      if isNonnegativeRange {
        number < 0
          ? "; it must not be negative" : "; it must be at most \(range.upperBound.shortText)"
      } else {
        ", outside \(range.lowerBound.shortText) to \(range.upperBound.shortText)"
      }
    let correctionText = usesNearestValue ? "; \(nearestInRange.shortText) is used" : ""
    add(
      rangeRule, at: value,
      "\(key.name) is \(value.truncatedLexeme)\(violationText)\(correctionText)",
      errorCode: key.errorCode)
    return usesNearestValue ? nearestInRange : nil
  }
}
