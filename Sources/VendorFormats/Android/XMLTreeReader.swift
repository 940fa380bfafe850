internal import HapticFormats

#if SoundOutput
  internal import CExpat

  /// The state of one reading, which the functions that libexpat calls change.
  @safe struct XMLTreeReader {
    /// The names, one behind the other, by their lengths.
    private let names: [UInt8]
    /// The numbers of the names in this order.
    private let numbers: [Int16]
    /// Of each length, where its names begin and which is the first of them; one length more than there is.
    private let lengths: [(start: Int, first: Int)]
    private var parser: XML_Parser?
    /// The numbers of the open elements, with how many children each has so far.
    private var open: [(element: Int, children: UInt32)] = []
    private var fault: XMLTree.Fault?
    private(set) var elements: [XMLTree.Element] = []
    private(set) var attributes: [XMLTree.Attribute] = []
    private(set) var values: [UInt8] = []

    init(names: [String]) {
      let longest = names.map(\.utf8.count).max() ?? 0
      var bytes: [UInt8] = []
      var numbers: [Int16] = []
      var lengths: [(start: Int, first: Int)] = []
      for length in 0...longest + 1 {
        lengths.append((bytes.count, numbers.count))
        for (number, name) in names.enumerated() where name.utf8.count == length {
          bytes += name.utf8
          numbers.append(Int16(number))
        }
      }
      (self.names, self.numbers, self.lengths) = (bytes, numbers, lengths)
    }

    @unsafe mutating func parse(_ text: [UInt8], keepsComments: Bool) throws(XMLTree.Fault) {
      guard let parser = unsafe XML_ParserCreate("UTF-8") else {
        throw XMLTree.Fault(offset: 0, message: "there is no memory to read the text")
      }
      unsafe self.parser = parser
      // Points of an envelope have 60 to 80 bytes; memory that is not needed is never touched.
      elements.reserveCapacity(text.count / 50)
      attributes.reserveCapacity(text.count / 25)
      values.reserveCapacity(text.count / 8)
      defer { unsafe XML_ParserFree(parser) }
      let status = unsafe withUnsafeMutablePointer(to: &self) { state in
        unsafe Self.parse(text, with: parser, state, keepsComments: keepsComments)
      }
      if let fault { throw fault }
      guard status != XML_STATUS_OK else { return }
      let code = unsafe XML_GetErrorCode(parser)
      let offset = Int(unsafe XML_GetCurrentByteIndex(parser))
      let reason = unsafe XML_ErrorString(code).map { unsafe String(cString: $0) } ?? "unknown error"
      let isWide = text.prefix(2).contains(0)
      throw XMLTree.Fault(
        offset: min(max(offset, 0), text.count), message: "the text is not valid XML: \(reason)",
        suggestion: isWide ? "save it as UTF-8" : nil)
    }

    @unsafe private static func parse(
      _ text: [UInt8], with parser: XML_Parser, _ state: UnsafeMutablePointer<XMLTreeReader>, keepsComments: Bool
    ) -> XML_Status {
      unsafe XML_SetUserData(parser, state)
      unsafe XML_SetElementHandler(
        parser, { unsafe XMLTreeReader.of($0)?.pointee.start($1, $2) },
        { data, _ in unsafe XMLTreeReader.of(data)?.pointee.end() })
      unsafe XML_SetCharacterDataHandler(
        parser, { unsafe XMLTreeReader.of($0)?.pointee.characters(UnsafeBufferPointer(start: $1, count: Int($2))) })
      unsafe XML_SetStartDoctypeDeclHandler(
        parser,
        { data, _, _, _, _ in
          unsafe XMLTreeReader.of(data)?.pointee.stop("a document type declaration is not accepted", hint: "remove it")
        })
      if keepsComments {
        unsafe XML_SetCommentHandler(parser, { data, _ in unsafe XMLTreeReader.of(data)?.pointee.comment() })
      }
      return unsafe text.withUnsafeBytes { bytes in
        unsafe XML_Parse(parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), 1)
      }
    }

    @unsafe private static func of(_ data: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<XMLTreeReader>? {
      unsafe data?.assumingMemoryBound(to: XMLTreeReader.self)
    }

    private var offset: Int { Int(unsafe XML_GetCurrentByteIndex(parser)) }

    private mutating func stop(_ message: String, hint: String? = nil) {
      if fault == nil { fault = XMLTree.Fault(offset: offset, message: message, suggestion: hint) }
      unsafe XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    /// The number of a name in the list.
    @unsafe private func number(_ name: UnsafePointer<CChar>) -> Int16 {
      var length = 0
      while unsafe name[length] != 0 { length += 1 }
      guard length + 1 < lengths.count else { return XMLTree.unknown }
      var start = lengths[length].start
      search: for place in lengths[length].first..<lengths[length + 1].first {
        defer { start += length }
        for position in 0..<length where unsafe UInt8(bitPattern: name[position]) != names[start + position] {
          continue search
        }
        return numbers[place]
      }
      return XMLTree.unknown
    }

    private mutating func add(_ name: Int16, attributes: Range<Int>) {
      let parent = open.last
      if parent != nil { open[open.count - 1].children += 1 }
      elements.append(
        XMLTree.Element(
          name: name, ordinal: parent?.children ?? 0, offset: offset, parent: parent?.element ?? -1,
          end: elements.count + 1, attributes: attributes))
      if elements.count + self.attributes.count > XMLTree.Limit.count {
        stop("the text has more than \(XMLTree.Limit.count) elements and attributes")
      }
    }

    @unsafe private mutating func start(
      _ name: UnsafePointer<CChar>?, _ given: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
      guard fault == nil, let name = unsafe name else { return }
      guard open.count < XMLTree.Limit.depth else {
        return stop("elements are nested more than \(XMLTree.Limit.depth) deep")
      }
      let first = attributes.count
      var index = 0
      while let key = unsafe given?[index], let value = unsafe given?[index + 1] {
        let begin = values.count
        var length = 0
        while unsafe value[length] != 0 { length += 1 }
        unsafe UnsafeRawBufferPointer(start: value, count: length).withMemoryRebound(to: UInt8.self) {
          unsafe values.append(contentsOf: $0)
        }
        attributes.append(XMLTree.Attribute(name: unsafe number(key), value: begin..<values.count))
        index += 2
      }
      add(unsafe number(name), attributes: first..<attributes.count)
      open.append((elements.count - 1, 0))
    }

    private mutating func end() {
      guard let (element, _) = open.popLast() else { return }
      elements[element].end = elements.count
    }

    /// Adds a comment, whose only attribute has as its value where it is in the text.
    private mutating func comment() {
      guard fault == nil else { return }
      let begin = offset
      attributes.append(
        XMLTree.Attribute(name: XMLTree.comment, value: begin..<begin + Int(unsafe XML_GetCurrentByteCount(parser))))
      add(XMLTree.comment, attributes: attributes.count - 1..<attributes.count)
    }

    @unsafe private mutating func characters(_ text: UnsafeBufferPointer<CChar>) {
      for index in text.indices where !XMLTree.isSpace(UInt8(bitPattern: unsafe text[index])) {
        return stop("text is not accepted", hint: "use attributes and elements alone")
      }
    }
  }
#else
  /// Refuses every text: libexpat comes with the package trait SoundOutput.
  struct XMLTreeReader {
    let elements: [XMLTree.Element] = []
    let attributes: [XMLTree.Attribute] = []
    let values: [UInt8] = []

    init(names: [String]) {}

    mutating func parse(_ text: [UInt8], keepsComments: Bool) throws(XMLTree.Fault) {
      throw XMLTree.Fault(offset: 0, message: "XML is read with the package trait SoundOutput")
    }
  }
#endif
