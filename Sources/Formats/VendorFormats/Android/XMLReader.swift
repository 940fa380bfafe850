/// Parses an XML text of elements and attributes into a tree, without libexpat.
///
/// Accepts the documents that ``XMLTree`` accepts: UTF-8 without document type declaration, and
/// without text between elements. Names may have all characters outside of ASCII.
///
/// Source: Extensible Markup Language 1.0, 5th edition. Numbers in brackets are its productions.
struct XMLReader {
  typealias Element = XMLTree.Element
  typealias ParseError = XMLTree.ParseError

  private let textBytes: [UInt8]
  private let keepsComments: Bool
  private let maximumElementDepth: Int
  private var byteOffset = 0
  /// The stack of open elements, above a placeholder that contains the root.
  private var openElements = [Element(name: "", byteOffset: 0)]
  private var hasRoot = false

  init(textBytes text: [UInt8], keepsComments: Bool, maximumElementDepth maximumDepth: Int) {
    self.textBytes = text
    self.keepsComments = keepsComments
    self.maximumElementDepth = maximumDepth
  }

  /// Parses the text, and returns the root element with the comments before and after it.
  mutating func read() throws(ParseError) -> [Element] {
    if let invalidByteOffset = Self.invalidUTF8Offset(in: textBytes) {
      throw invalidTokenError(at: invalidByteOffset)
    }
    if starts(with: "\u{FEFF}") {
      byteOffset = 3
    }
    while byteOffset < textBytes.count {
      try readItem()
    }
    guard openElements.count == 1, hasRoot else {
      throw syntaxError("no element found", at: byteOffset)
    }
    return openElements[0].children
  }

  // MARK: - Markup

  /// Reads markup, or whitespace between markup.
  private mutating func readItem() throws(ParseError) {
    guard textBytes[byteOffset] == UInt8(ascii: "<") else { return try skipWhitespaceText() }
    if starts(with: "<!--") { return try readComment() }
    if starts(with: "<![CDATA[") { return try skipCharacterData() }
    if starts(with: "<!DOCTYPE") {
      throw ParseError(
        byteOffset: byteOffset, message: "document type declarations are not allowed",
        suggestion: "remove it")
    }
    if starts(with: "<?") { return try skipProcessingInstruction() }
    if starts(with: "</") { return try readEndTag() }
    try readStartTag()
  }

  /// Skips whitespace. Other text is an error.
  private mutating func skipWhitespaceText() throws(ParseError) {
    let isInElement = openElements.count > 1
    while let byte = byte(at: byteOffset), byte != UInt8(ascii: "<") {
      guard XMLTree.isWhitespace(byte) else {
        throw isInElement
          ? misplacedTextError(at: byteOffset) : syntaxError("syntax error", at: byteOffset)
      }
      byteOffset += 1
    }
  }

  /// Reads a comment [15].
  private mutating func readComment() throws(ParseError) {
    let commentStartOffset = byteOffset
    byteOffset += 4
    while byteOffset < textBytes.count, !starts(with: "--") {
      try checkCurrentCharacter()
      byteOffset += 1
    }
    guard starts(with: "-->") else { throw invalidTokenError(at: byteOffset) }
    byteOffset += 3
    guard keepsComments else { return }
    append(
      Element(
        name: String(decoding: textBytes[commentStartOffset..<byteOffset], as: UTF8.self),
        byteOffset: commentStartOffset))
  }

  /// Skips a CDATA section [18], which may contain only whitespace.
  private mutating func skipCharacterData() throws(ParseError) {
    let sectionStartOffset = byteOffset
    guard openElements.count > 1 else { throw invalidTokenError(at: sectionStartOffset) }
    byteOffset += 9
    while byteOffset < textBytes.count, !starts(with: "]]>") {
      guard XMLTree.isWhitespace(textBytes[byteOffset]) else {
        throw misplacedTextError(at: sectionStartOffset)
      }
      byteOffset += 1
    }
    guard byteOffset < textBytes.count else {
      throw syntaxError("unclosed CDATA section", at: sectionStartOffset)
    }
    byteOffset += 3
  }

  /// Skips a processing instruction [16].
  private mutating func skipProcessingInstruction() throws(ParseError) {
    let instructionStartOffset = byteOffset
    byteOffset += 2
    let instructionTarget = try readName()
    let isDeclaration = instructionTarget.lowercased() == "xml"
    if isDeclaration,
      !(instructionStartOffset == 0 || (instructionStartOffset == 3 && textBytes[0] == 0xEF))
        || instructionTarget != "xml"
    {
      throw syntaxError(
        "XML or text declaration not at start of entity", at: instructionStartOffset)
    }
    guard starts(with: "?>") || byte(at: byteOffset).map(XMLTree.isWhitespace) == true else {
      throw invalidTokenError(at: byteOffset)
    }
    while byteOffset < textBytes.count, !starts(with: "?>") {
      try checkCurrentCharacter()
      byteOffset += 1
    }
    guard byteOffset < textBytes.count else {
      throw syntaxError("unclosed token", at: instructionStartOffset)
    }
    byteOffset += 2
  }

  /// Reads a start tag [40] or an empty-element tag [44].
  private mutating func readStartTag() throws(ParseError) {
    let tagStartOffset = byteOffset
    if openElements.count == 1, hasRoot {
      throw syntaxError("junk after document element", at: tagStartOffset)
    }
    byteOffset += 1
    var openedElement = Element(name: try readName(), byteOffset: tagStartOffset)
    while true {
      let hasSpace = skipWhitespace()
      if starts(with: "/>") || starts(with: ">") { break }
      guard hasSpace, byteOffset < textBytes.count else {
        throw syntaxError(
          byteOffset < textBytes.count ? "not well-formed (invalid token)" : "unclosed token",
          at: byteOffset < textBytes.count ? byteOffset : tagStartOffset)
      }
      let nameOffset = byteOffset
      let name = try readName()
      let isDuplicate = openedElement.attributes.contains { $0.name.utf8.elementsEqual(name.utf8) }
      guard !isDuplicate else { throw syntaxError("duplicate attribute", at: nameOffset) }
      skipWhitespace()
      try skipExpected("=")
      skipWhitespace()
      openedElement.attributes.append((name, try readAttributeValue()))
    }
    guard openElements.count <= maximumElementDepth else {
      throw ParseError(
        byteOffset: tagStartOffset,
        message: "elements are nested more than \(maximumElementDepth) levels deep")
    }
    hasRoot = true
    if starts(with: "/>") {
      byteOffset += 2
      append(openedElement)
    } else {
      byteOffset += 1
      openElements.append(openedElement)
    }
  }

  /// Reads an end tag [42].
  private mutating func readEndTag() throws(ParseError) {
    let tagStartOffset = byteOffset
    byteOffset += 2
    let endTagName = try readName()
    skipWhitespace()
    try skipExpected(">")
    guard openElements.count > 1, let openElement = openElements.popLast(),
      openElement.name.utf8.elementsEqual(endTagName.utf8)
    else { throw syntaxError("mismatched tag", at: tagStartOffset + 2) }
    append(openElement)
  }

  private mutating func append(_ element: Element) {
    openElements[openElements.count - 1].children.append(element)
  }

  // MARK: - Tokens

  /// Reads a name [5].
  private mutating func readName() throws(ParseError) -> String {
    let nameStartOffset = byteOffset
    while let byte = byte(at: byteOffset),
      Self.isNameByte(byte, isFirst: byteOffset == nameStartOffset)
    {
      byteOffset += 1
    }
    guard byteOffset > nameStartOffset else { throw invalidTokenError(at: byteOffset) }
    return String(decoding: textBytes[nameStartOffset..<byteOffset], as: UTF8.self)
  }

  private static func isNameByte(_ byte: UInt8, isFirst: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"), UInt8(ascii: ":"), 0x80...:
      true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
      !isFirst
    default:
      false
    }
  }

  /// Reads a quoted attribute value [10].
  ///
  /// Its references are replaced, and its whitespace is normalized.
  private mutating func readAttributeValue() throws(ParseError) -> String {
    guard let quoteByte = byte(at: byteOffset),
      quoteByte == UInt8(ascii: "\"") || quoteByte == UInt8(ascii: "'")
    else { throw invalidTokenError(at: byteOffset) }
    byteOffset += 1
    var valueBytes: [UInt8] = []
    while let byte = byte(at: byteOffset), byte != quoteByte {
      switch byte {
      case UInt8(ascii: "<"):
        throw invalidTokenError(at: byteOffset)
      case UInt8(ascii: "&"):
        valueBytes += Array(String(try readReference()).utf8)
      case 0x0D where self.byte(at: byteOffset + 1) == 0x0A:
        byteOffset += 1
      default:
        try checkCurrentCharacter()
        valueBytes.append(XMLTree.isWhitespace(byte) ? 0x20 : byte)
        byteOffset += 1
      }
    }
    guard byteOffset < textBytes.count else { throw syntaxError("unclosed token", at: byteOffset) }
    byteOffset += 1
    return String(decoding: valueBytes, as: UTF8.self)
  }

  /// Reads a reference to a character [66] or a predefined entity.
  private mutating func readReference() throws(ParseError) -> Character {
    let referenceStartOffset = byteOffset
    byteOffset += 1
    var referenceName: [UInt8] = []
    while let byte = byte(at: byteOffset), byte != UInt8(ascii: ";"), referenceName.count < 10 {
      referenceName.append(byte)
      byteOffset += 1
    }
    try skipExpected(";")
    let predefinedEntities: [(name: StaticString, character: Character)] = [
      ("lt", "<"), ("gt", ">"), ("amp", "&"), ("quot", "\""), ("apos", "'"),
    ]
    if let predefinedEntity = predefinedEntities.first(where: {
      Self.isEqual(referenceName[...], $0.name)
    }) {
      return predefinedEntity.character
    }
    guard referenceName.first == UInt8(ascii: "#") else {
      throw syntaxError("undefined entity", at: referenceStartOffset)
    }
    let isHexadecimal = referenceName.dropFirst().first == UInt8(ascii: "x")
    let codePointDigits = String(
      decoding: referenceName.dropFirst(isHexadecimal ? 2 : 1), as: UTF8.self)
    guard let firstDigit = codePointDigits.utf8.first, firstDigit != UInt8(ascii: "+"),
      firstDigit != UInt8(ascii: "-"),
      let number = UInt32(codePointDigits, radix: isHexadecimal ? 16 : 10),
      let scalar = Unicode.Scalar(number), Self.isAllowedCharacter(number)
    else { throw syntaxError("reference to invalid character number", at: referenceStartOffset) }
    return Character(scalar)
  }

  /// Returns true for a character that XML allows [2].
  private static func isAllowedCharacter(_ number: UInt32) -> Bool {
    switch number {
    case 0x09, 0x0A, 0x0D: true
    case 0..<0x20, 0xFFFE, 0xFFFF: false
    default: true
    }
  }

  /// Throws an error for a control character, which XML does not allow.
  private func checkCurrentCharacter() throws(ParseError) {
    let byte = textBytes[byteOffset]
    guard byte >= 0x20 || XMLTree.isWhitespace(byte) else {
      throw invalidTokenError(at: byteOffset)
    }
  }

  /// Skips whitespace [3]. Returns true if there was any.
  @discardableResult private mutating func skipWhitespace() -> Bool {
    let whitespaceStartOffset = byteOffset
    while let byte = byte(at: byteOffset), XMLTree.isWhitespace(byte) {
      byteOffset += 1
    }
    return byteOffset > whitespaceStartOffset
  }

  /// Skips an expected ASCII character, or throws an error if the next character is different.
  private mutating func skipExpected(_ character: StaticString) throws(ParseError) {
    guard starts(with: character) else {
      throw invalidTokenError(at: byteOffset)
    }
    byteOffset += 1
  }

  // MARK: - Bytes

  private func byte(at index: Int) -> UInt8? { index < textBytes.count ? textBytes[index] : nil }

  private func starts(with prefix: StaticString) -> Bool {
    let comparedEndOffset = min(byteOffset + prefix.utf8CodeUnitCount, textBytes.count)
    return Self.isEqual(textBytes[min(byteOffset, comparedEndOffset)..<comparedEndOffset], prefix)
  }

  private static func isEqual(_ bytes: ArraySlice<UInt8>, _ text: StaticString) -> Bool {
    text.withUTF8Buffer { unsafe bytes.elementsEqual($0) }
  }

  private func syntaxError(_ reason: String, at offset: Int) -> ParseError {
    ParseError(
      byteOffset: min(offset, textBytes.count), message: "the text is not valid XML: \(reason)",
      suggestion: textBytes.prefix(2).contains(0) ? "save it as UTF-8" : nil)
  }

  private func invalidTokenError(at offset: Int) -> ParseError {
    syntaxError("not well-formed (invalid token)", at: offset)
  }

  private func misplacedTextError(at offset: Int) -> ParseError {
    ParseError(
      byteOffset: offset, message: "text content is not allowed",
      suggestion: "use only elements and attributes")
  }

  /// Returns the offset of the first byte that is not valid UTF-8, or nil.
  private static func invalidUTF8Offset(in text: [UInt8]) -> Int? {
    var textByteOffset = 0
    while textByteOffset < text.count {
      guard text[textByteOffset] >= 0x80 else {
        textByteOffset += 1
        continue
      }
      // A sequence has at most 4 bytes.
      let end = min(textByteOffset + 4, text.count)
      var iterator = text[textByteOffset..<end].makeIterator()
      var decoder = UTF8()
      guard case .scalarValue(let scalar) = decoder.decode(&iterator),
        isAllowedCharacter(scalar.value)
      else { return textByteOffset }
      textByteOffset += UTF8.width(scalar)
    }
    return nil
  }
}
