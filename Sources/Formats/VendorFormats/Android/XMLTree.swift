internal import HapticFormats

#if SoundOutput
  internal import CExpat
#endif

/// The tree of elements in an XML text.
///
/// The text is read by libexpat without opening other files, or by ``XMLReader`` in builds without
/// libexpat. Document type declarations are rejected, so there are only the predefined entities.
struct XMLTree: Sendable {
  /// An XML element, or a comment if comments are kept. The name of a comment is its text including
  /// the delimiters.
  struct Element: Sendable {
    var name: String
    var attributes: [(name: String, value: String)] = []
    var children: [Element] = []
    /// The offset of the element's `<`, in bytes from the start of the text.
    var byteOffset: Int

    var isComment: Bool { name.hasPrefix("<") }
  }

  /// An XML syntax error with its offset in bytes.
  struct ParseError: Error {
    var byteOffset: Int
    var message: String
    var suggestion: String?
  }

  /// The maximum size of a text in bytes, and the maximum nesting depth of elements.
  static let sizeLimits = (bytes: 10_000_000, depth: 32)

  let textBytes: [UInt8]
  /// The root element, with the comments before and after it.
  let topLevelItems: [Element]

  var root: Element? { topLevelItems.first { !$0.isComment } }

  init(_ text: [UInt8], keepsComments: Bool = false) throws(ParseError) {
    guard text.count <= Self.sizeLimits.bytes else {
      throw ParseError(
        byteOffset: 0, message: "the text has \(text.count) bytes; the limit is 10 MB")
    }
    // libexpat would decode it, but offsets and names refer to bytes.
    if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
      throw ParseError(byteOffset: 0, message: "the text is UTF-16", suggestion: "save it as UTF-8")
    }
    self.textBytes = text
    #if SoundOutput
      var reader = ExpatReader(text: text)
      topLevelItems = try unsafe reader.read(keepsComments: keepsComments)
    #else
      var reader = XMLReader(
        textBytes: text, keepsComments: keepsComments,
        maximumElementDepth: Self.sizeLimits.depth)
      topLevelItems = try reader.read()
    #endif
  }

  /// Returns the offset of an attribute in the text, in bytes.
  func offset(ofAttribute index: Int, in element: Element) -> Int {
    var textByteOffset = element.byteOffset + 1 + element.name.utf8.count
    func skipBytes(to isEnd: (UInt8) -> Bool) {
      while textByteOffset < textBytes.count, !isEnd(textBytes[textByteOffset]) {
        textByteOffset += 1
      }
    }
    for _ in 0..<index {
      skipBytes { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }
      guard textByteOffset < textBytes.count else { break }
      let quote = textBytes[textByteOffset]
      textByteOffset += 1
      skipBytes { $0 == quote }
      textByteOffset += 1
    }
    skipBytes { !Self.isWhitespace($0) }
    return min(textByteOffset, textBytes.count)
  }

  static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  /// Returns the path from the root to the element at an offset.
  ///
  /// An example is `vibration-effect.waveform-effect.waveform-entry[2]`.
  func path(to offset: Int) -> String {
    guard var currentElement = root else { return "" }
    var elementPath = String(currentElement.name.prefix(40))
    while currentElement.byteOffset < offset,
      let index = currentElement.children.lastIndex(where: { $0.byteOffset <= offset })
    {
      currentElement = currentElement.children[index]
      elementPath += ".\(currentElement.name.prefix(40))[\(index)]"
    }
    return elementPath
  }

  #if SoundOutput
    /// The state of the parser, which the callbacks of libexpat change.
    @safe private struct ExpatReader {
      let text: [UInt8]
      private var parser: XML_Parser?
      /// The stack of open elements, above a placeholder that contains the root.
      private var openElements = [Element(name: "", byteOffset: 0)]
      private var parseError: ParseError?

      init(text: [UInt8]) { self.text = text }

      @unsafe mutating func read(keepsComments: Bool) throws(ParseError) -> [Element] {
        guard temblor_has_expat() else {
          throw ParseError(
            byteOffset: 0, message: "requires libexpat; install the package libexpat1")
        }
        guard let parser = unsafe XML_ParserCreate("UTF-8") else {
          throw ParseError(byteOffset: 0, message: "out of memory")
        }
        unsafe self.parser = parser
        defer { unsafe XML_ParserFree(parser) }
        let text = text
        let status = unsafe withUnsafeMutablePointer(to: &self) { state in
          unsafe XML_SetUserData(parser, state)
          unsafe XML_SetElementHandler(
            parser,
            { unsafe ExpatReader.reader(from: $0)?.pointee.startElement($1, attributes: $2) },
            { data, _ in unsafe ExpatReader.reader(from: data)?.pointee.endElement() })
          unsafe XML_SetCharacterDataHandler(
            parser,
            {
              unsafe ExpatReader.reader(from: $0)?.pointee.checkCharacters(
                UnsafeBufferPointer(start: $1, count: Int($2)))
            })
          unsafe XML_SetStartDoctypeDeclHandler(
            parser,
            { data, _, _, _, _ in
              unsafe ExpatReader.reader(from: data)?.pointee.stop(
                "document type declarations are not allowed", hint: "remove it")
            })
          if keepsComments {
            unsafe XML_SetCommentHandler(
              parser, { data, _ in unsafe ExpatReader.reader(from: data)?.pointee.appendComment() })
          }
          return unsafe text.withUnsafeBytes { bytes in
            unsafe XML_Parse(
              parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), 1)
          }
        }
        if let parseError { throw parseError }
        guard status != XML_STATUS_OK else { return openElements[0].children }
        let reason = unsafe XML_ErrorString(XML_GetErrorCode(parser)).map {
          unsafe String(cString: $0)
        }
        throw ParseError(
          byteOffset: min(max(offset, 0), text.count),
          message: "the text is not valid XML: \(reason ?? "unknown error")",
          suggestion: text.prefix(2).contains(0) ? "save it as UTF-8" : nil)
      }

      @unsafe private static func reader(
        from data: UnsafeMutableRawPointer?
      ) -> UnsafeMutablePointer<ExpatReader>? {
        unsafe data?.assumingMemoryBound(to: ExpatReader.self)
      }

      private var offset: Int { Int(unsafe XML_GetCurrentByteIndex(parser)) }

      private mutating func stop(_ message: String, hint: String? = nil) {
        if parseError == nil {
          parseError = ParseError(byteOffset: offset, message: message, suggestion: hint)
        }
        unsafe XML_StopParser(parser, XML_Bool(XML_FALSE))
      }

      @unsafe private mutating func startElement(
        _ name: UnsafePointer<CChar>?,
        attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
      ) {
        guard parseError == nil, let name = unsafe name else { return }
        guard openElements.count <= XMLTree.sizeLimits.depth else {
          return stop("elements are nested more than \(XMLTree.sizeLimits.depth) levels deep")
        }
        var element = Element(name: unsafe String(cString: name), byteOffset: offset)
        var index = 0
        while let key = unsafe attributes?[index], let value = unsafe attributes?[index + 1] {
          element.attributes.append((unsafe String(cString: key), unsafe String(cString: value)))
          index += 2
        }
        openElements.append(element)
      }

      private mutating func endElement() {
        guard parseError == nil, let element = openElements.popLast() else { return }
        openElements[openElements.count - 1].children.append(element)
      }

      private mutating func appendComment() {
        guard parseError == nil else { return }
        let bytes = text[offset..<offset + Int(unsafe XML_GetCurrentByteCount(parser))]
        openElements[openElements.count - 1].children.append(
          Element(name: String(decoding: bytes, as: UTF8.self), byteOffset: offset))
      }

      @unsafe private mutating func checkCharacters(_ text: UnsafeBufferPointer<CChar>) {
        for index in text.indices where !XMLTree.isWhitespace(UInt8(bitPattern: unsafe text[index]))
        {
          return stop("text content is not allowed", hint: "use only elements and attributes")
        }
      }
    }
  #endif

  /// Returns the name of the first element without parsing the text.
  ///
  /// The name is empty if there is no element, and nil if the text is not XML.
  static func rootName(of text: Span<UInt8>) -> String? {
    var textByteOffset = ByteOrderMark.utf8Length(in: text)
    while true {
      while textByteOffset < text.count, isWhitespace(text[textByteOffset]) {
        textByteOffset += 1
      }
      guard textByteOffset + 1 < text.count, text[textByteOffset] == UInt8(ascii: "<") else {
        return textByteOffset > 0 && textByteOffset == text.count ? "" : nil
      }
      let start = textByteOffset + 1
      guard text[start] == UInt8(ascii: "?") || text[start] == UInt8(ascii: "!") else {
        var name: [UInt8] = []
        while start + name.count < text.count, name.count < 64 {
          let byte = text[start + name.count]
          if isWhitespace(byte) || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") {
            break
          }
          name.append(byte)
        }
        return String(decoding: name, as: UTF8.self)
      }
      let isComment = hasCommentDashes(text, at: start + 1)
      textByteOffset = start + 1
      while textByteOffset < text.count,
        text[textByteOffset] != UInt8(ascii: ">")
          || (isComment && !hasCommentDashes(text, at: textByteOffset - 2))
      {
        textByteOffset += 1
      }
      textByteOffset += 1
    }
  }

  private static func hasCommentDashes(_ text: Span<UInt8>, at index: Int) -> Bool {
    index + 1 < text.count && text[index] == UInt8(ascii: "-")
      && text[index + 1] == UInt8(ascii: "-")
  }
}
