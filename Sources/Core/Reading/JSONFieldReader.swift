/// The rules by which tables judge objects.
package struct JSONFieldRules: Sendable {
  /// What becomes of a fraction where an integer should be.
  package enum Fraction: Sendable {
    /// It is an error of `outOfRange`.
    case refused
    /// It is dropped, and the number moved into the range of `Int32`; noted by a rule.
    case dropped(Rule)
    /// The number is rounded; noted by a rule.
    case rounded(Rule)
  }

  /// What a null counts as under a key that may be left out.
  package enum Null: Sendable {
    /// A value of a wrong type.
    case wrongType
    /// Nothing.
    case absent
    /// Nothing; noted by a rule.
    case noted(Rule)
  }

  package var missingKey: Rule
  package var expectedKey: Rule?
  package var wrongType: Rule
  package var outOfRange: Rule
  /// Nil where unknown keys are nobody's business.
  package var unknownKey: Rule?
  package var unknownWord: Rule?
  /// Nil where texts may be empty.
  package var emptyText: Rule?
  /// Whether values under a key that repeats are checked too, though the last one counts.
  package var checksRepeatedKeys: Bool
  package var fraction: Fraction
  package var null: Null

  package init(
    missingKey: Rule, expectedKey: Rule? = nil, wrongType: Rule, outOfRange: Rule,
    unknownKey: Rule? = nil,
    unknownWord: Rule? = nil, emptyText: Rule? = nil, checksRepeatedKeys: Bool = false,
    fraction: Fraction = .refused,
    null: Null = .wrongType
  ) {
    self.missingKey = missingKey
    self.expectedKey = expectedKey
    self.wrongType = wrongType
    self.outOfRange = outOfRange
    self.unknownKey = unknownKey
    self.unknownWord = unknownWord
    self.emptyText = emptyText
    self.checksRepeatedKeys = checksRepeatedKeys
    self.fraction = fraction
    self.null = null
  }
}

/// Reads a text by tables, see ``JSONTable``, and notes what is wrong with it. A reader may word
/// what concerns keys in its own way by having `noteMissing`, `noteUnknownKey` or `noteUnknownWord`
/// itself. Numbers out of range are moved to the nearest bound where `outOfRange` is a warning or
/// note, else not used.
package protocol JSONFieldReader: Sendable {
  /// Whether texts that are written have whole numbers without a point.
  static var writesShortNumbers: Bool { get }

  var log: FindingLog { get set }
  var rules: JSONFieldRules { get }
  var wantsFindings: Bool { get }

  mutating func noteMissing(
    _ key: JSONKey, isRequired: Bool, of object: JSONValue, _ shape: JSONShape)
  mutating func noteUnknownKey(_ member: JSONValue, in shape: JSONShape)
  mutating func noteUnknownWord(
    _ text: String, _ names: JSONNames, _ key: JSONKey, at value: JSONValue)
}

extension JSONFieldReader {
  package static var writesShortNumbers: Bool { false }

  package var wantsFindings: Bool { true }

  package mutating func noteMissing(
    _ key: JSONKey, isRequired: Bool, of object: JSONValue, _ shape: JSONShape
  ) {
    guard let rule = isRequired ? rules.missingKey : wantsFindings ? rules.expectedKey : nil else {
      return
    }
    log.add(
      rule, at: object,
      "\(shape.noun) \(isRequired ? "must" : "should") have the key \"\(key.name)\"",
      hint: shape.misspelling(of: key.name, in: object), code: shape.code)
  }

  package mutating func noteUnknownKey(_ member: JSONValue, in shape: JSONShape) {
    guard wantsFindings, let rule = rules.unknownKey, let key = member.key else { return }
    log.add(
      rule, at: member, offset: member.keyOffset, "unknown key \(key.quoted()) is ignored",
      hint: shape.names.hint(for: key))
  }

  package mutating func noteUnknownWord(
    _ text: String, _ names: JSONNames, _ key: JSONKey, at value: JSONValue
  ) {
    log.add(
      key.rule ?? rules.unknownWord ?? rules.outOfRange, at: value,
      "unknown \(key.noun ?? key.name) \(text.quoted())",
      hint: names.hint(for: text), code: key.code)
  }

  package mutating func expect(
    _ kind: JSONValue.Kind, _ value: JSONValue, as name: @autoclosure () -> String, code: Int? = nil
  ) -> Bool {
    if value.kind == kind { return true }
    log.add(
      rules.wrongType, at: value, "\(name()) must be \(kind.noun), not \(value.kind.noun)",
      hint: kind == .number && value.string.flatMap(Double.init) != nil
        ? "write it without quotes" : nil, code: code)
    return false
  }

  /// Whether a null under a key that may be left out counts as nothing.
  package mutating func ignoresNull(_ value: JSONValue) -> Bool {
    switch rules.null {
    case .wrongType:
      return false
    case .absent:
      return true
    case .noted(let rule):
      log.add(
        rule, at: value, "\(value.key ?? "the value") is null and counts as absent",
        hint: "leave the key out")
      return true
    }
  }

  /// The scalar of a key; nil where it cannot be used, which is noted.
  package mutating func scalar<Value: JSONScalar>(_ value: JSONValue, _ key: JSONKey) -> Value? {
    switch key.type {
    case .number(let range):
      return number(value, key).flatMap { inRange(Value.nearest(to: $0), range, value, key) }
        .flatMap {
          Value.of(JSONContent(number: $0))
        }
    case .integer(let range):
      guard let number = number(value, key).flatMap({ integer($0, value, key) }) else { return nil }
      return inRange(number, Double(range.lowerBound)...Double(range.upperBound), value, key)
        .flatMap {
          Value.of(JSONContent(number: $0))
        }
    case .boolean:
      guard expect(.boolean, value, as: key.name, code: key.code) else { return nil }
      return value.boolean.flatMap { Value.of(JSONContent(boolean: $0)) }
    case .text, .word, .list, .object, .any:
      guard expect(.string, value, as: key.name, code: key.code) else { return nil }
      let text = value.string ?? ""
      if text.isEmpty, let rule = rules.emptyText {
        log.add(rule, at: value, "\(key.name) is empty")
        return nil
      }
      return Value.of(JSONContent(text: text))
    }
  }

  private mutating func number(_ value: JSONValue, _ key: JSONKey) -> Double? {
    if let number = value.number { return number }
    _ = expect(.number, value, as: key.name, code: key.code)
    return nil
  }

  private mutating func integer(_ number: Double, _ value: JSONValue, _ key: JSONKey) -> Double? {
    let whole: Double
    let rule: Rule
    switch rules.fraction {
    case .refused:
      if number == number.rounded() { return number }
      log.add(
        key.rule ?? rules.outOfRange, at: value,
        "\(key.name) is \(value.shortLexeme); it must be a whole number",
        code: key.code)
      return nil
    case .dropped(let noted):
      whole = number.rounded(.towardZero)
      rule = noted
    case .rounded(let noted):
      whole = number.rounded()
      rule = noted
    }
    if whole != number {
      log.add(rule, at: value, "\(key.name) is \(value.shortLexeme); \(whole.shortText) is used")
    }
    if case .dropped = rules.fraction {
      return min(max(whole, Double(Int32.min)), Double(Int32.max))
    }
    return whole
  }

  /// A number within a range, the nearest of it where that is allowed, or nil; noted where it is
  /// outside.
  package mutating func inRange(
    _ number: Double, _ range: ClosedRange<Double>, _ value: JSONValue, _ key: JSONKey
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
      "\(key.name) is \(value.shortLexeme)"
        + (text.map { "; \($0)" }
          ?? ", outside \(range.lowerBound.shortText) to \(range.upperBound.shortText)")
        + (isUsed ? "; \(nearest.shortText) is used" : ""), code: key.code)
    return isUsed ? nearest : nil
  }

  /// The number of a word in a list; nil where it is not there, which is noted.
  package mutating func word(_ value: JSONValue, _ names: JSONNames, _ key: JSONKey) -> Int? {
    if let index = names.index(ofString: value) { return index }
    guard expect(.string, value, as: key.name, code: key.code), let text = value.string else {
      return nil
    }
    noteUnknownWord(text, names, key, at: value)
    return nil
  }

  /// The elements of an array of objects that are complete; nil where it is something else.
  package mutating func elements<Element>(
    of value: JSONValue, _ key: JSONKey, _ table: JSONTable<Element, Self>, _ new: Element
  ) -> [Element]? {
    guard expect(.array, value, as: key.name, code: key.code) else { return nil }
    var elements: [Element] = []
    var found = 0
    for object in value.elements {
      found += 1
      var element = new
      if table.read(object, into: &element, &self) {
        elements.append(element)
      }
    }
    if case .list(_, let count?) = key.type, !count.contains(found) {
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

extension JSONNames {
  /// The name that was probably meant by another, as a hint.
  package func hint(for text: String) -> String? {
    nearest(to: text).map { "did you mean \"\($0)\"?" }
  }
}

extension JSONValue {
  /// A scalar as the file writes it, shortened.
  package var shortLexeme: String { String(decoding: lexeme.prefix(24), as: UTF8.self) }
}

extension JSONShape {
  /// A hint at the key of an object that may be a missing one with another spelling.
  package func misspelling(of name: String, in object: JSONValue) -> String? {
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

extension JSONShape {
  /// A text in canonical form: known keys in the order of the rows, others behind them in their
  /// own; everything as it was written, but numbers of known keys as the shortest decimal with a
  /// point where that is wanted. Objects that are set on one line are so if nothing in them needs
  /// more.
  package func canonical(_ root: JSONValue, normalizesNumbers: Bool = false) -> [UInt8] {
    var writer = JSONWriter()
    if root.kind == .object {
      writer.object { write(root, normalizesNumbers, to: &$0) }
    } else {
      writer.value(copying: root)
    }
    return writer.finish()
  }

  fileprivate func write(_ object: JSONValue, _ normalizes: Bool, to writer: inout JSONObjectWriter)
  {
    for index in keys.indices {
      for member in object.members where names.index(ofKey: member) == index {
        keys[index].write(member, normalizes, to: &writer)
      }
    }
    for member in object.members where names.index(ofKey: member) == nil {
      writer.member(member.key ?? "", copying: member)
    }
  }

  fileprivate func write(
    element: JSONValue, _ layout: JSONWriter.Layout?, _ normalizes: Bool,
    to list: inout JSONArrayWriter
  ) {
    guard element.kind == .object else { return list.element(copying: element) }
    list.object(layout: self.layout(of: element, layout)) { object in
      write(element, normalizes, to: &object)
    }
  }

  /// A layout on one line only for objects of which all contents fit on it.
  fileprivate func layout(of object: JSONValue, _ layout: JSONWriter.Layout?) -> JSONWriter.Layout?
  {
    guard layout == .line else { return layout }
    let fits = object.members.allSatisfy { member in
      guard member.kind == .object || member.kind == .array else { return true }
      return names.index(ofKey: member).map { keys[$0].layout == .line } ?? false
    }
    return fits ? layout : nil
  }
}

extension JSONKey {
  fileprivate func write(_ member: JSONValue, _ normalizes: Bool, to writer: inout JSONObjectWriter)
  {
    switch (type, member.kind) {
    case (.object(let shape), .object):
      let shape = shape()
      writer.object(name, layout: shape.layout(of: member, layout)) {
        shape.write(member, normalizes, to: &$0)
      }
    case (.list(.object(let shape), _), .array):
      let shape = shape()
      writer.array(name) { list in
        for element in member.elements {
          shape.write(element: element, layout, normalizes, to: &list)
        }
      }
    case (.list, .array):
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
