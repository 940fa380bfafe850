/// The rules that a schema reader reports, and its policies.
package struct JSONSchemaRules: Sendable {
  /// The policy for a fraction where an integer is expected.
  package enum FractionHandling: Sendable {
    /// The fraction is an error of `outOfRange`.
    case rejected
    /// The fraction is truncated, the result clamped to the range of `Int32`, and a finding of the
    /// rule added.
    case truncated(Rule)
    /// The number is rounded, and a finding of the rule added.
    case rounded(Rule)
  }

  /// The policy for null as the value of an optional key.
  package enum NullHandling: Sendable {
    /// Null is a value of a wrong type.
    case wrongType
    /// Null stands for an absent key.
    case absent
    /// Null stands for an absent key, and a finding of the rule is added.
    case absentWithFinding(Rule)
  }

  package var missingKey: Rule
  package var recommendedKey: Rule?
  package var wrongType: Rule
  package var outOfRange: Rule
  /// The rule for unknown keys, or nil to accept them.
  package var unknownKey: Rule?
  package var unknownValue: Rule?
  /// The rule for empty strings, or nil to accept them.
  package var emptyText: Rule?
  /// A Boolean value that indicates whether every value of a repeated key is checked, though only
  /// the last applies.
  package var checksRepeatedKeys: Bool
  package var fractionHandling: FractionHandling
  package var nullHandling: NullHandling

  package init(
    missingKey: Rule, recommendedKey expectedKey: Rule? = nil, wrongType: Rule, outOfRange: Rule,
    unknownKey: Rule? = nil,
    unknownValue unknownWord: Rule? = nil, emptyText: Rule? = nil, checksRepeatedKeys: Bool = false,
    fractionHandling fraction: FractionHandling = .rejected,
    nullHandling null: NullHandling = .wrongType
  ) {
    self.missingKey = missingKey
    self.recommendedKey = expectedKey
    self.wrongType = wrongType
    self.outOfRange = outOfRange
    self.unknownKey = unknownKey
    self.unknownValue = unknownWord
    self.emptyText = emptyText
    self.checksRepeatedKeys = checksRepeatedKeys
    self.fractionHandling = fraction
    self.nullHandling = null
  }
}

/// A reader of texts by ``JSONObjectSchema``, which reports violations to its log.
///
/// A format can report keys in its own words by implementing `reportMissing`, `reportUnknownKey`,
/// or `reportUnknownValue`. A number out of range is clamped if the severity of `outOfRange` is
/// below `error`, and rejected otherwise.
package protocol JSONSchemaReader: Sendable {
  /// A Boolean value that indicates whether whole numbers are written without a decimal point.
  static var writesShortNumbers: Bool { get }

  var log: FindingLog { get set }
  var rules: JSONSchemaRules { get }
  var wantsFindings: Bool { get }

  mutating func reportMissing(
    _ key: JSONKey, isRequired: Bool, of object: JSONValue, schema shape: JSONSchema)
  mutating func reportUnknownKey(_ member: JSONValue, in shape: JSONSchema)
  mutating func reportUnknownValue(
    _ text: String, names: JSONNameList, key: JSONKey, at value: JSONValue)
}

extension JSONSchemaReader {
  package static var writesShortNumbers: Bool { false }

  package var wantsFindings: Bool { true }

  package mutating func reportMissing(
    _ key: JSONKey, isRequired: Bool, of object: JSONValue, schema shape: JSONSchema
  ) {
    guard let rule = isRequired ? rules.missingKey : wantsFindings ? rules.recommendedKey : nil
    else {
      return
    }
    log.add(
      rule, at: object,
      "\(shape.noun) \(isRequired ? "must" : "should") have the key \"\(key.name)\"",
      suggestion: shape.renameSuggestion(for: key.name, in: object), errorCode: shape.errorCode)
  }

  package mutating func reportUnknownKey(_ member: JSONValue, in shape: JSONSchema) {
    guard wantsFindings, let rule = rules.unknownKey, let key = member.key else { return }
    log.add(
      rule, at: member, offset: member.keyOffset, "unknown key \(key.quoted()) is ignored",
      suggestion: shape.names.suggestion(for: key))
  }

  package mutating func reportUnknownValue(
    _ text: String, names: JSONNameList, key: JSONKey, at value: JSONValue
  ) {
    log.add(
      key.rule ?? rules.unknownValue ?? rules.outOfRange, at: value,
      "unknown \(key.noun ?? key.name) \(text.quoted())",
      suggestion: names.suggestion(for: text), errorCode: key.errorCode)
  }

  package mutating func expectKind(
    _ kind: JSONValue.Kind, of value: JSONValue, as name: @autoclosure () -> String,
    errorCode code: Int? = nil
  ) -> Bool {
    if value.kind == kind { return true }
    log.add(
      rules.wrongType, at: value, "\(name()) must be \(kind.noun), not \(value.kind.noun)",
      suggestion: kind == .number && value.string.flatMap(Double.init) != nil
        ? "write it without quotes" : nil, errorCode: code)
    return false
  }

  /// Returns whether null stands for an absent key, and reports it if the policy says so.
  package mutating func acceptsNullAsAbsent(_ value: JSONValue) -> Bool {
    switch rules.nullHandling {
    case .wrongType:
      return false
    case .absent:
      return true
    case .absentWithFinding(let rule):
      log.add(
        rule, at: value, "\(value.key ?? "the value") is null and counts as absent",
        suggestion: "leave the key out")
      return true
    }
  }

  /// Reads a scalar. Returns nil for an invalid value, after reporting it.
  package mutating func readScalar<Value: JSONScalar>(_ value: JSONValue, key: JSONKey) -> Value? {
    switch key.type {
    case .number(let range):
      return readNumber(value, key: key).flatMap {
        checkRange(Value.nearest(to: $0), range: range, at: value, key: key)
      }
      .flatMap {
        Value.value(of: JSONScalarContent(number: $0))
      }
    case .integer(let range):
      guard
        let number = readNumber(value, key: key).flatMap({
          convertToInteger($0, at: value, key: key)
        })
      else { return nil }
      return checkRange(
        number, range: Double(range.lowerBound)...Double(range.upperBound), at: value, key: key
      )
      .flatMap {
        Value.value(of: JSONScalarContent(number: $0))
      }
    case .boolean:
      guard expectKind(.boolean, of: value, as: key.name, errorCode: key.errorCode) else {
        return nil
      }
      return value.boolean.flatMap { Value.value(of: JSONScalarContent(boolean: $0)) }
    case .string, .enumeration, .array, .object, .any:
      guard expectKind(.string, of: value, as: key.name, errorCode: key.errorCode) else {
        return nil
      }
      let text = value.string ?? ""
      if text.isEmpty, let rule = rules.emptyText {
        log.add(rule, at: value, "\(key.name) is empty")
        return nil
      }
      return Value.value(of: JSONScalarContent(text: text))
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
    let whole: Double
    let rule: Rule
    switch rules.fractionHandling {
    case .rejected:
      if number == number.rounded() { return number }
      log.add(
        key.rule ?? rules.outOfRange, at: value,
        "\(key.name) is \(value.truncatedLexeme); it must be a whole number",
        errorCode: key.errorCode)
      return nil
    case .truncated(let noted):
      whole = number.rounded(.towardZero)
      rule = noted
    case .rounded(let noted):
      whole = number.rounded()
      rule = noted
    }
    if whole != number {
      log.add(
        rule, at: value, "\(key.name) is \(value.truncatedLexeme); \(whole.shortText) is used")
    }
    if case .truncated = rules.fractionHandling {
      return min(max(whole, Double(Int32.min)), Double(Int32.max))
    }
    return whole
  }

  /// Returns a number in a range, the nearest bound if clamping is permitted, or nil. A number out
  /// of range is reported.
  ///
  /// - Parameters:
  ///   - number: The number.
  ///   - range: The valid range.
  ///   - value: The value of the number, for the report.
  ///   - key: The key of the value.
  package mutating func checkRange(
    _ number: Double, range: ClosedRange<Double>, at value: JSONValue, key: JSONKey
  )
    -> Double?
  {
    if range.contains(number) { return number }
    let rule = key.rule ?? rules.outOfRange
    let nearest = min(max(number, range.lowerBound), range.upperBound)
    let isUsed = rule.severity < .error
    let text =
      range.lowerBound == 0 && range.upperBound >= Double(Int32.max)
      ? number < 0 ? "it must not be negative" : "it is too large" : nil
    log.add(
      rule, at: value,
      "\(key.name) is \(value.truncatedLexeme)"
        + (text.map { "; \($0)" }
          ?? ", outside \(range.lowerBound.shortText) to \(range.upperBound.shortText)")
        + (isUsed ? "; \(nearest.shortText) is used" : ""), errorCode: key.errorCode)
    return isUsed ? nearest : nil
  }

  /// Reads one of a list of names. Returns its index, or nil for an unknown name, after reporting
  /// it.
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

  /// Reads an array of objects. Incomplete objects are skipped. Returns nil for a value of another
  /// type.
  package mutating func readElements<Element>(
    of value: JSONValue, _ key: JSONKey, _ table: JSONObjectSchema<Element, Self>, _ new: Element
  ) -> [Element]? {
    guard expectKind(.array, of: value, as: key.name, errorCode: key.errorCode) else { return nil }
    var elements: [Element] = []
    var found = 0
    for object in value.elements {
      found += 1
      var element = new
      if table.read(object, into: &element, reader: &self) {
        elements.append(element)
      }
    }
    if case .array(_, let count?) = key.type, !count.contains(found) {
      log.add(
        key.rule ?? rules.outOfRange, at: value,
        """
        \(key.name) has \(found) \(found == 1 ? "entry" : "entries"), outside \
        \(count.lowerBound) to \(count.upperBound)
        """
      )
    }
    return elements
  }
}

extension JSONNameList {
  /// Returns the question for the name that was probably meant by a text: `did you mean "x"?`.
  package func suggestion(for text: String) -> String? {
    nearest(to: text).map { "did you mean \"\($0)\"?" }
  }
}

extension JSONValue {
  /// The first 24 bytes of a scalar as in the text.
  package var truncatedLexeme: String { String(decoding: lexeme.prefix(24), as: UTF8.self) }
}

extension JSONSchema {
  /// Returns a suggestion to rename an unknown key of an object that is similar to a missing one.
  package func renameSuggestion(for name: String, in object: JSONValue) -> String? {
    for member in object.members {
      guard names.index(ofKey: member) == nil, let written = member.key,
        names.nearest(to: written) == name
      else {
        continue
      }
      return "rename \(written.quoted()) to \(name.quoted())"
    }
    return nil
  }
}

// MARK: - Canonical text

extension JSONSchema {
  /// Returns a text in canonical form.
  ///
  /// Known keys come first, in the order of the schema; unknown keys follow in their own order.
  /// Values keep their spelling. An object with the layout `singleLine` is written on one line only
  /// if all of its contents permit that.
  ///
  /// - Parameters:
  ///   - root: The value to write.
  ///   - normalizesNumbers: True to write the numbers of known keys as the shortest decimal with a
  ///     point.
  package func canonicalText(of root: JSONValue, normalizesNumbers: Bool = false) -> [UInt8] {
    var writer = JSONWriter()
    if root.kind == .object {
      writer.object { writeCanonical(root, normalizesNumbers: normalizesNumbers, to: &$0) }
    } else {
      writer.value(copying: root)
    }
    return writer.finish()
  }

  fileprivate func writeCanonical(
    _ object: JSONValue, normalizesNumbers normalizes: Bool, to writer: inout JSONObjectWriter
  ) {
    for index in keys.indices {
      for member in object.members where names.index(ofKey: member) == index {
        keys[index].writeCanonical(member, normalizesNumbers: normalizes, to: &writer)
      }
    }
    for member in object.members where names.index(ofKey: member) == nil {
      writer.member(member.key ?? "", copying: member)
    }
  }

  fileprivate func writeCanonical(
    element: JSONValue, layout: JSONWriter.Layout?, normalizesNumbers normalizes: Bool,
    to list: inout JSONArrayWriter
  ) {
    guard element.kind == .object else { return list.element(copying: element) }
    list.object(layout: self.layout(of: element, preferred: layout)) { object in
      writeCanonical(element, normalizesNumbers: normalizes, to: &object)
    }
  }

  /// Returns the preferred layout, but `singleLine` only if all contents of the object permit it.
  fileprivate func layout(of object: JSONValue, preferred layout: JSONWriter.Layout?) -> JSONWriter
    .Layout?
  {
    guard layout == .singleLine else { return layout }
    let fits = object.members.allSatisfy { member in
      guard member.kind == .object || member.kind == .array else { return true }
      return names.index(ofKey: member).map { keys[$0].layout == .singleLine } ?? false
    }
    return fits ? layout : nil
  }
}

extension JSONKey {
  fileprivate func writeCanonical(
    _ member: JSONValue, normalizesNumbers normalizes: Bool, to writer: inout JSONObjectWriter
  ) {
    switch (type, member.kind) {
    case (.object(let shape), .object):
      let shape = shape()
      writer.object(name, layout: shape.layout(of: member, preferred: layout)) {
        shape.writeCanonical(member, normalizesNumbers: normalizes, to: &$0)
      }
    case (.array(.object(let shape), _), .array):
      let shape = shape()
      writer.array(name) { list in
        for element in member.elements {
          shape.writeCanonical(
            element: element, layout: layout, normalizesNumbers: normalizes, to: &list)
        }
      }
    case (.array, .array):
      writer.array(name, layout: layout) { list in
        for element in member.elements {
          list.element(copying: element)
        }
      }
    case (.number, .number) where normalizes:
      writer.member(name, member.number ?? 0)
    default:
      writer.member(name, copying: member)
    }
  }
}
