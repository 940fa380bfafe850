internal import HapticFormats

#if SoundOutput
  internal import CExpat
#endif

/// The elements of an XML text.
///
/// Read by libexpat, which opens no files. Declarations of document types are refused, so there are
/// no entities but those of XML itself.
struct XMLTree: Sendable {
  /// An element; a comment, where comments are kept, has its text with the brackets for a name.
  struct Element: Sendable {
    var name: String
    var attributes: [(name: String, value: String)] = []
    var children: [Element] = []
    /// The byte of its `<`.
    var place: Int

    var isComment: Bool { name.hasPrefix("<") }
  }

  /// Why a text cannot be read, and where.
  struct Fault: Error {
    var offset: Int
    var message: String
    var suggestion: String?
  }

  /// Bytes of the largest text, and how deep elements are nested at most.
  private static let limits = (bytes: 10_000_000, depth: 32)

  let text: [UInt8]
  /// The root, with the comments before and behind it.
  let topLevel: [Element]

  var root: Element? { topLevel.first { !$0.isComment } }

  /// Reads a text, or refuses it with the place of the first character that cannot be accepted.
  init(_ text: [UInt8], keepsComments: Bool = false) throws(Fault) {
    guard text.count <= Self.limits.bytes else {
      throw Fault(offset: 0, message: "the text has \(text.count) bytes; at most 10 MB are read")
    }
    // The parser would read it, but places and names are those of bytes.
    if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
      throw Fault(offset: 0, message: "the text is UTF-16", suggestion: "save it as UTF-8")
    }
    self.text = text
    #if SoundOutput
      var reader = Reader(text: text)
      topLevel = try unsafe reader.read(keepsComments: keepsComments)
    #else
      throw Fault(offset: 0, message: "XML is read with the package trait SoundOutput")
    #endif
  }

  /// The byte at which an attribute of an element begins.
  func offset(ofAttribute index: Int, in element: Element) -> Int {
    var position = element.place + 1 + element.name.utf8.count
    func skip(to isEnd: (UInt8) -> Bool) { while position < text.count, !isEnd(text[position]) { position += 1 } }
    for _ in 0..<index {
      skip { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") }
      guard position < text.count else { break }
      let quote = text[position]
      position += 1
      skip { $0 == quote }
      position += 1
    }
    skip { !Self.isSpace($0) }
    return min(position, text.count)
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

  /// The way from the root to the element at a byte, as `vibration-effect.waveform-effect.waveform-entry[2]`.
  func path(to place: Int) -> String {
    guard var element = root else { return "" }
    var path = String(element.name.prefix(40))
    while element.place < place, let index = element.children.lastIndex(where: { $0.place <= place }) {
      element = element.children[index]
      path += ".\(element.name.prefix(40))[\(index)]"
    }
    return path
  }

  #if SoundOutput
    /// The state of one reading, which the functions that libexpat calls change.
    @safe private struct Reader {
      let text: [UInt8]
      private var parser: XML_Parser?
      /// What holds the root, and the open elements.
      private var open = [Element(name: "", place: 0)]
      private var fault: Fault?

      init(text: [UInt8]) { self.text = text }

      @unsafe mutating func read(keepsComments: Bool) throws(Fault) -> [Element] {
        guard temblor_has_expat() else {
          throw Fault(offset: 0, message: "XML needs libexpat; install the package libexpat1")
        }
        guard let parser = unsafe XML_ParserCreate("UTF-8") else {
          throw Fault(offset: 0, message: "there is no memory to read the text")
        }
        unsafe self.parser = parser
        defer { unsafe XML_ParserFree(parser) }
        let text = text
        let status = unsafe withUnsafeMutablePointer(to: &self) { state in
          unsafe XML_SetUserData(parser, state)
          unsafe XML_SetElementHandler(
            parser, { unsafe Reader.of($0)?.pointee.start($1, $2) },
            { data, _ in unsafe Reader.of(data)?.pointee.end() }
          )
          unsafe XML_SetCharacterDataHandler(
            parser, { unsafe Reader.of($0)?.pointee.characters(UnsafeBufferPointer(start: $1, count: Int($2))) })
          unsafe XML_SetStartDoctypeDeclHandler(
            parser,
            { data, _, _, _, _ in
              unsafe Reader.of(data)?.pointee.stop("a document type declaration is not accepted", hint: "remove it")
            })
          if keepsComments {
            unsafe XML_SetCommentHandler(parser, { data, _ in unsafe Reader.of(data)?.pointee.comment() })
          }
          return unsafe text.withUnsafeBytes { bytes in
            unsafe XML_Parse(parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), 1)
          }
        }
        if let fault { throw fault }
        guard status != XML_STATUS_OK else { return open[0].children }
        let reason = unsafe XML_ErrorString(XML_GetErrorCode(parser)).map { unsafe String(cString: $0) }
        throw Fault(
          offset: min(max(offset, 0), text.count), message: "the text is not valid XML: \(reason ?? "unknown error")",
          suggestion: text.prefix(2).contains(0) ? "save it as UTF-8" : nil)
      }

      @unsafe private static func of(_ data: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Reader>? {
        unsafe data?.assumingMemoryBound(to: Reader.self)
      }

      private var offset: Int { Int(unsafe XML_GetCurrentByteIndex(parser)) }

      private mutating func stop(_ message: String, hint: String? = nil) {
        if fault == nil { fault = Fault(offset: offset, message: message, suggestion: hint) }
        unsafe XML_StopParser(parser, XML_Bool(XML_FALSE))
      }

      @unsafe private mutating func start(
        _ name: UnsafePointer<CChar>?, _ given: UnsafeMutablePointer<UnsafePointer<CChar>?>?
      ) {
        guard fault == nil, let name = unsafe name else { return }
        guard open.count <= XMLTree.limits.depth else {
          return stop("elements are nested more than \(XMLTree.limits.depth) deep")
        }
        var element = Element(name: unsafe String(cString: name), place: offset)
        var index = 0
        while let key = unsafe given?[index], let value = unsafe given?[index + 1] {
          element.attributes.append((unsafe String(cString: key), unsafe String(cString: value)))
          index += 2
        }
        open.append(element)
      }

      private mutating func end() {
        guard fault == nil, let element = open.popLast() else { return }
        open[open.count - 1].children.append(element)
      }

      private mutating func comment() {
        guard fault == nil else { return }
        let bytes = text[offset..<offset + Int(unsafe XML_GetCurrentByteCount(parser))]
        open[open.count - 1].children.append(Element(name: String(decoding: bytes, as: UTF8.self), place: offset))
      }

      @unsafe private mutating func characters(_ text: UnsafeBufferPointer<CChar>) {
        for index in text.indices where !XMLTree.isSpace(UInt8(bitPattern: unsafe text[index])) {
          return stop("text is not accepted", hint: "use attributes and elements alone")
        }
      }
    }
  #endif

  /// The name of the first element, found by a quick look, empty where there is none; nil where the text is not XML.
  static func rootName(of text: Span<UInt8>) -> String? {
    var position = text.count >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF ? 3 : 0
    while true {
      while position < text.count, isSpace(text[position]) { position += 1 }
      guard position + 1 < text.count, text[position] == UInt8(ascii: "<") else {
        return position > 0 && position == text.count ? "" : nil
      }
      let start = position + 1
      guard text[start] == UInt8(ascii: "?") || text[start] == UInt8(ascii: "!") else {
        var name: [UInt8] = []
        while start + name.count < text.count, name.count < 64 {
          let byte = text[start + name.count]
          if isSpace(byte) || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") { break }
          name.append(byte)
        }
        return String(decoding: name, as: UTF8.self)
      }
      let isComment = hasDashes(text, at: start + 1)
      position = start + 1
      while position < text.count,
        text[position] != UInt8(ascii: ">") || (isComment && !hasDashes(text, at: position - 2))
      { position += 1 }
      position += 1
    }
  }

  private static func hasDashes(_ text: Span<UInt8>, at index: Int) -> Bool {
    index + 1 < text.count && text[index] == UInt8(ascii: "-") && text[index + 1] == UInt8(ascii: "-")
  }
}
