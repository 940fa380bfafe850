internal import HapticFormats
internal import Reading

extension VibrationDecoder {
  /// The name of an element, where it is one of vibration XML.
  func name(_ element: Int) -> VibrationName? { VibrationName(rawValue: tree.elements[element].name) }

  /// The elements in an element, without comments.
  func children(of element: Int) -> [Int] {
    tree.children(of: element).filter { tree.elements[$0].name != XMLTree.comment }
  }

  /// Adds a finding about an element.
  mutating func add(_ rule: Rule, at element: Int, _ message: @autoclosure () -> String, hint: String? = nil) {
    log.add(rule, value: element, offset: tree.elements[element].offset, message(), hint: hint)
  }

  /// Whether an element has a name; an error where it has another.
  mutating func expect(_ name: VibrationName, _ element: Int, in parent: Int) -> Bool {
    if self.name(element) == name { return true }
    unexpected(element, in: parent)
    return false
  }

  /// Notes an element that must not be where it is.
  mutating func unexpected(_ element: Int, in parent: Int) {
    let tree = tree
    let given = tree.name(of: element)
    if name(element) == .vendorEffect {
      return add(.androidVendorEffect, at: element, "a vendor effect cannot be read")
    }
    add(
      .androidElement, at: element, "unexpected element \(given.quoted()) in \(tree.name(of: parent))",
      hint: name(element) != nil
        ? nil
        : JSONNames(VibrationName.texts.filter { $0.contains("-") }).nearest(to: given).map {
          "did you mean \"\($0)\"?"
        })
  }

  /// Notes what is inside an element that must be empty.
  mutating func checkEmpty(_ element: Int) {
    guard tree.elements[element].end > element + 1 else { return }
    for child in children(of: element) { unexpected(child, in: element) }
  }

  /// Notes attributes of an element that it must not have.
  mutating func checkAttributes(of element: Int, _ names: VibrationName.Names) {
    for attribute in tree.elements[element].attributes where !names.contains(number: tree.attributes[attribute].name) {
      let (text, offset) = tree.place(of: attribute, in: element)
      log.add(
        .androidAttribute, value: element, offset: offset, "unexpected attribute \(text.quoted())",
        hint: JSONNames(names.texts).nearest(to: text).map { "did you mean \"\($0)\"?" })
    }
  }

  /// The number of an element's attribute, or nil where it has none of the name.
  func attribute(_ name: VibrationName, of element: Int) -> Int? {
    tree.elements[element].attributes.first { tree.attributes[$0].name == name.rawValue }
  }

  /// The number of an attribute; an error where it is missing and must not be.
  private mutating func attribute(_ name: VibrationName, of element: Int, isOptional: Bool) -> Int? {
    if let attribute = attribute(name, of: element) { return attribute }
    if !isOptional {
      let owner = tree.name(of: element)
      add(.androidMissingAttribute, at: element, "\(owner) must have the attribute \"\(name.text)\"")
    }
    return nil
  }

  /// Notes an attribute whose value is not one of those it can have.
  mutating func invalid(_ attribute: Int, of element: Int, _ reason: String) {
    let value = tree.string(tree.attributes[attribute])
    let (name, offset) = tree.place(of: attribute, in: element)
    log.add(.androidValue, value: element, offset: offset, "\(name) is \(value.quoted(limit: 24)); \(reason)")
  }

  /// A name out of a list, which must be there.
  mutating func word<Word: RawRepresentable & CaseIterable>(_ name: VibrationName, of element: Int, _ type: Word.Type)
    -> Word? where Word.RawValue == String
  {
    guard let attribute = attribute(name, of: element, isOptional: false) else { return nil }
    if let word = Word(rawValue: tree.string(tree.attributes[attribute])) { return word }
    invalid(attribute, of: element, "must be one of " + Word.allCases.map(\.rawValue).joined(separator: ", "))
    return nil
  }

  /// A number within a range.
  mutating func real(
    _ name: VibrationName, of element: Int, isOptional: Bool = false, _ range: ClosedRange<Float>, _ description: String
  ) -> Float? {
    guard let attribute = attribute(name, of: element, isOptional: isOptional) else { return nil }
    let value = tree.attributes[attribute].value
    if let number = DecimalText.number(tree.values.span, value), range.contains(Float(number)) { return Float(number) }
    invalid(attribute, of: element, "must be a number \(description)")
    return nil
  }

  /// A whole number within a range.
  mutating func whole(_ name: VibrationName, of element: Int, isOptional: Bool = false, _ range: ClosedRange<Int>)
    -> Int?
  {
    guard let attribute = attribute(name, of: element, isOptional: isOptional) else { return nil }
    let value = tree.attributes[attribute].value
    if let number = DecimalText.whole(tree.values.span, value), range.contains(number) { return number }
    invalid(
      attribute, of: element,
      range.upperBound == Int(Int32.max)
        ? "must be a whole number of at least \(range.lowerBound)"
        : "must be \(range.lowerBound) to \(range.upperBound)" + (name == .amplitude ? " or default" : ""))
    return nil
  }
}

/// Numbers in attributes: decimal digits with a sign, a point and an exponent.
enum DecimalText {
  /// The number that a range of bytes is, or nil where it is not one.
  static func number(_ text: Span<UInt8>, _ range: Range<Int>) -> Double? {
    var position = range.lowerBound
    let end = range.upperBound
    var digits = 0
    func skipDigits() {
      while position < end, 0x30...0x39 ~= text[position] {
        position += 1
        digits += 1
      }
    }
    if position < end, text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-") { position += 1 }
    let start = text[min(range.lowerBound, text.count - 1)] == UInt8(ascii: "+") ? 1 : 0
    skipDigits()
    if position < end, text[position] == UInt8(ascii: ".") {
      position += 1
      skipDigits()
    }
    guard digits > 0 else { return nil }
    if position < end, text[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < end, text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-") { position += 1 }
      digits = 0
      skipDigits()
      guard digits > 0 else { return nil }
    }
    guard position == end else { return nil }
    return JSONNumber.value(text, range.lowerBound + start..<end)
  }

  /// The whole number that a range of bytes is, or nil where it is not one of at most 18 digits.
  static func whole(_ text: Span<UInt8>, _ range: Range<Int>) -> Int? {
    var position = range.lowerBound
    var isNegative = false
    if position < range.upperBound, text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-") {
      isNegative = text[position] == UInt8(ascii: "-")
      position += 1
    }
    guard position < range.upperBound, range.upperBound - position <= 18 else { return nil }
    var number = 0
    while position < range.upperBound {
      guard 0x30...0x39 ~= text[position] else { return nil }
      number = number * 10 + Int(text[position] - 0x30)
      position += 1
    }
    return isNegative ? -number : number
  }
}
