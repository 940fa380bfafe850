import Reading

// Encoding of new values as JSON text.

extension AHAPEditBuilder {
  /// Returns an encoded value in the notation of its field.
  ///
  /// Returns nil if the value equals the existing value.
  ///
  /// - Parameters:
  ///   - value: The new value.
  ///   - field: The field that receives the value.
  ///   - existing: The existing JSON value, or nil.
  ///   - path: The path of the field, for error messages.
  func encodedJSON(
    _ value: PatternChange.Value, for field: AHAPField, replacing existing: JSONValue?,
    at path: AHAPPath
  ) throws(InputError) -> [UInt8]? {
    switch (field.valueKind, value) {
    case (.number, .number(let number)):
      guard number.isFinite else { throw path.error("the number must be finite") }
      return encodedJSON(number, for: field, replacing: existing)
    case (.number, .text(let text)):
      guard let number = (try? JSONDocument(text: Array(text.utf8), name: ""))?.root.number else {
        throw path.error("expected a number, not \(text.quoted())")
      }
      return encodedJSON(number, for: field, replacing: existing)
    case (.number, .flag(let flag)) where field == .sustained:
      return encodedJSON(flag ? 1 : 0, for: field, replacing: existing)
    case (.boolean, .flag(let flag)):
      return encodedJSON(flag, replacing: existing)
    case (.boolean, .number(let number)) where number == 0 || number == 1:
      return encodedJSON(number == 1, replacing: existing)
    case (.boolean, .text("true")), (.boolean, .text("1")):
      return encodedJSON(true, replacing: existing)
    case (.boolean, .text("false")), (.boolean, .text("0")):
      return encodedJSON(false, replacing: existing)
    case (.text, .text(let text)):
      if existing?.string == text { return nil }
      var writer = JSONWriter(layout: .compact)
      writer.writeString(text)
      return writer.writtenBytes
    default:
      throw path.error("expected \(field.valueKind.rawValue)")
    }
  }

  /// Returns the encoded number, which must be finite, or nil if it equals the existing value. If
  /// the existing value is a Boolean, 0 and 1 are written as Booleans.
  private func encodedJSON(_ number: Double, for field: AHAPField, replacing existing: JSONValue?)
    -> [UInt8]?
  {
    if let existingNumber = existing?.number {
      let isEqual =
        field.isStoredAsFloat
        ? Float(existingNumber) == Float(number) : existingNumber == number
      if isEqual { return nil }
    }
    if let existingFlag = existing?.boolean, number == 0 || number == 1 {
      return existingFlag == (number == 1) ? nil : Self.booleanLiteral(number == 1)
    }
    let numberBytes = Self.numberText(number, like: existing?.sourceBytes)
    let isSameText = existing.map { $0.sourceBytes.elementsEqual(numberBytes) } == true
    return isSameText ? nil : numberBytes
  }

  /// Returns the encoded flag, or nil if it equals the existing value. A flag written as 0 or 1
  /// stays a number.
  private func encodedJSON(_ flag: Bool, replacing existing: JSONValue?) -> [UInt8]? {
    guard let existing, existing.kind == .number else {
      return existing?.boolean == flag ? nil : Self.booleanLiteral(flag)
    }
    if existing.number == (flag ? 1 : 0) { return nil }
    return [UInt8(ascii: flag ? "1" : "0")]
  }

  /// Returns the JSON literal `true` or `false`.
  private static func booleanLiteral(_ flag: Bool) -> [UInt8] {
    Array((flag ? "true" : "false").utf8)
  }

  /// Returns the text of a number rounded to 1e-6, which hides floating-point error.
  ///
  /// A whole number is written without a decimal point if the number it replaces has none.
  static func numberText(_ number: Double, like old: ArraySlice<UInt8>? = nil) -> [UInt8] {
    let roundedNumber = number.magnitude < 1e9 ? (number * 1e6).rounded() / 1e6 + 0 : number
    let numberBytes = Array("\(roundedNumber)".utf8)
    let replacesWholeNumber = old.map { old in
      !old.isEmpty
        && old.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-") }
    }
    let isWholeNumber = numberBytes.suffix(2) == Array(".0".utf8)[...]
    return replacesWholeNumber == true && isWholeNumber
      ? Array(numberBytes.dropLast(2)) : numberBytes
  }
}
