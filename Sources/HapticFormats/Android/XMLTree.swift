#if SoundOutput
  internal import CExpat
#endif
internal import Diagnostics

/// The elements of an XML text with what is known of their names, and their attributes.
///
/// Read by libexpat, which opens no files. Declarations of document types are refused, so there are
/// no entities but those of XML itself. Names are those of a fixed list; others are unknown.
struct XMLTree: Sendable {
  /// An element, or a comment where comments are kept.
  struct Element: Sendable {
    /// The number of the name in the list, `unknown` or `comment`.
    var name: Int16
    /// Its place among the elements of its parent, from 0.
    var ordinal: UInt32
    /// The byte of its `<`.
    var offset: Int
    /// The number of its parent, −1 for the root.
    var parent: Int
    /// The number of the element behind its last descendant.
    var end: Int
    /// Its attributes.
    var attributes: Range<Int>
  }

  /// An attribute.
  struct Attribute: Sendable {
    /// The number of the name in the list, or `unknown`.
    var name: Int16
    /// Its value in `values`.
    var value: Range<Int>
  }

  /// The name of an element or attribute that is not in the list.
  static let unknown: Int16 = -1
  /// The name of a comment.
  static let comment: Int16 = -2

  /// The list of names.
  let names: [String]
  /// The text.
  let text: [UInt8]
  /// The elements in the order of the text; the first is the root.
  fileprivate(set) var elements: [Element] = []
  fileprivate(set) var attributes: [Attribute] = []
  /// The values of attributes, one behind the other.
  fileprivate(set) var values: [UInt8] = []

  /// How much a text may hold before it is refused.
  enum Limit {
    /// Elements in elements.
    static let depth = 32
    /// Elements and attributes together.
    static let count = 20_000_000
    /// Bytes.
    static let size = 1 << 28
  }

  /// Why a text cannot be read, and where.
  struct Fault: Error {
    var offset: Int
    var message: String
    var suggestion: String?
  }

  /// Reads a text, or refuses it with the place of the first character that cannot be accepted.
  init(_ text: [UInt8], names: [String], keepsComments: Bool = false) throws(Fault) {
    guard text.count <= Limit.size else {
      throw Fault(
        offset: 0, message: "the text has \(text.count) bytes; the limit is \(Limit.size)")
    }
    // The parser would read it, but places and names are those of bytes.
    if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
      throw Fault(offset: 0, message: "the text is UTF-16", suggestion: "save it as UTF-8")
    }
    self.names = names
    self.text = text
    let reader = XMLTreeReader(names: names)
    try unsafe reader.parse(text, keepsComments: keepsComments)
    elements = reader.elements
    attributes = reader.attributes
    values = reader.values
  }

  /// The root, with the comments before and behind it.
  var topLevel: [Int] {
    var found: [Int] = []
    var index = 0
    while index < elements.count {
      found.append(index)
      index = elements[index].end
    }
    return found
  }

  /// The children of an element.
  func children(of element: Int) -> Children { Children(tree: self, element: element) }

  /// The numbers of an element's children.
  struct Children: Sequence, IteratorProtocol {
    private let tree: XMLTree
    private var position: Int
    private let end: Int

    fileprivate init(tree: XMLTree, element: Int) {
      self.tree = tree
      position = element + 1
      end = tree.elements[element].end
    }

    mutating func next() -> Int? {
      guard position < end else { return nil }
      defer { position = tree.elements[position].end }
      return position
    }
  }

  /// The value of an attribute as text.
  func string(_ attribute: Attribute) -> String {
    String(decoding: values[attribute.value], as: UTF8.self)
  }

  /// The name of an element as the text has it.
  func name(of element: Int) -> String {
    let start = elements[element].offset + 1
    return String(decoding: text[start..<nameEnd(from: start)], as: UTF8.self)
  }

  /// The name of an attribute as the text has it, and where it begins.
  func place(of attribute: Int, in element: Int) -> (name: String, offset: Int) {
    let ordinal = attribute - elements[element].attributes.lowerBound
    var position = nameEnd(from: elements[element].offset + 1)
    for index in 0...ordinal {
      while position < text.count, Self.isSpace(text[position]) { position += 1 }
      let start = position
      position = nameEnd(from: start)
      if index == ordinal {
        return (String(decoding: text[start..<position], as: UTF8.self), start)
      }
      while position < text.count, text[position] != 0x22, text[position] != 0x27 { position += 1 }
      guard position < text.count else { break }
      let quote = text[position]
      position += 1
      while position < text.count, text[position] != quote { position += 1 }
      position += 1
    }
    return ("", elements[element].offset)
  }

  private func nameEnd(from start: Int) -> Int {
    var end = start
    while end < text.count, !Self.isSpace(text[end]), ![0x2F, 0x3D, 0x3E].contains(text[end]) {
      end += 1
    }
    return end
  }

  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  /// The way to an element from the root, as `vibration-effect.waveform-effect.waveform-entry[2]`.
  func path(to element: Int) -> String {
    var steps: [String] = []
    var index = element
    while index >= 0 {
      let step = elements[index]
      let name = step.name >= 0 ? names[Int(step.name)] : String(self.name(of: index).prefix(40))
      steps.append(step.parent < 0 ? name : "\(name)[\(step.ordinal)]")
      index = step.parent
    }
    return steps.reversed().joined(separator: ".")
  }
}

#if SoundOutput
  /// The state of one reading, which the functions that libexpat calls change.
  @safe
  private final class XMLTreeReader {
    private let names: [[UInt8]]
    private var parser: XML_Parser?
    /// The numbers of the open elements, with how many children each has so far.
    private var open: [(element: Int, children: UInt32)] = []
    private var fault: XMLTree.Fault?
    private(set) var elements: [XMLTree.Element] = []
    private(set) var attributes: [XMLTree.Attribute] = []
    private(set) var values: [UInt8] = []

    init(names: [String]) {
      self.names = names.map { Array($0.utf8) }
    }

    @unsafe
    func parse(_ text: [UInt8], keepsComments: Bool) throws(XMLTree.Fault) {
      guard let parser = unsafe XML_ParserCreate("UTF-8") else {
        throw XMLTree.Fault(offset: 0, message: "there is no memory to read the text")
      }
      unsafe self.parser = parser
      defer { unsafe XML_ParserFree(parser) }
      unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
      unsafe XML_SetElementHandler(
        parser, { unsafe XMLTreeReader.of($0).start($1, $2) },
        { data, _ in unsafe XMLTreeReader.of(data).end() })
      unsafe XML_SetCharacterDataHandler(
        parser,
        { unsafe XMLTreeReader.of($0).characters(UnsafeBufferPointer(start: $1, count: Int($2))) })
      unsafe XML_SetStartDoctypeDeclHandler(
        parser,
        { data, _, _, _, _ in
          unsafe XMLTreeReader.of(data).stop(
            "a document type declaration is not accepted", hint: "remove it")
        })
      if keepsComments {
        unsafe XML_SetCommentHandler(parser, { data, _ in unsafe XMLTreeReader.of(data).comment() })
      }
      let status = unsafe text.withUnsafeBytes { bytes in
        unsafe XML_Parse(
          parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), 1)
      }
      if let fault { throw fault }
      guard status != XML_STATUS_OK else { return }
      let code = unsafe XML_GetErrorCode(parser)
      let offset = Int(unsafe XML_GetCurrentByteIndex(parser))
      let reason =
        unsafe XML_ErrorString(code).map { unsafe String(cString: $0) } ?? "unknown error"
      let isWide = text.prefix(2).contains(0)
      throw XMLTree.Fault(
        offset: min(max(offset, 0), text.count), message: "the text is not valid XML: \(reason)",
        suggestion: isWide ? "save it as UTF-8" : nil)
    }

    @unsafe
    private static func of(_ data: UnsafeMutableRawPointer?) -> XMLTreeReader {
      guard let data = unsafe data else { return XMLTreeReader(names: []) }
      return unsafe Unmanaged<XMLTreeReader>.fromOpaque(data).takeUnretainedValue()
    }

    private var offset: Int { Int(unsafe XML_GetCurrentByteIndex(parser)) }

    private func stop(_ message: String, hint: String? = nil) {
      if fault == nil {
        fault = XMLTree.Fault(offset: offset, message: message, suggestion: hint)
      }
      unsafe XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    /// The number of a name in the list.
    @unsafe
    private func number(_ name: UnsafePointer<CChar>) -> Int16 {
      search: for index in names.indices {
        let known = names[index]
        for position in known.indices
        where unsafe UInt8(bitPattern: name[position]) != known[position] { continue search }
        if unsafe name[known.count] == 0 { return Int16(index) }
      }
      return XMLTree.unknown
    }

    private func add(_ name: Int16, attributes: Range<Int>) {
      let parent = open.last
      if parent != nil { open[open.count - 1].children += 1 }
      elements.append(
        XMLTree.Element(
          name: name, ordinal: parent?.children ?? 0, offset: offset,
          parent: parent?.element ?? -1, end: elements.count + 1, attributes: attributes))
      if elements.count + self.attributes.count > XMLTree.Limit.count {
        stop("the text has more than \(XMLTree.Limit.count) elements and attributes")
      }
    }

    @unsafe
    private func start(
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
        unsafe UnsafeRawBufferPointer(start: value, count: length).withMemoryRebound(
          to: UInt8.self
        ) { unsafe values.append(contentsOf: $0) }
        attributes.append(
          XMLTree.Attribute(name: unsafe number(key), value: begin..<values.count))
        index += 2
      }
      add(unsafe number(name), attributes: first..<attributes.count)
      open.append((elements.count - 1, 0))
    }

    private func end() {
      guard let (element, _) = open.popLast() else { return }
      elements[element].end = elements.count
    }

    /// Adds a comment, whose only attribute has as its value where it is in the text.
    private func comment() {
      guard fault == nil else { return }
      let begin = offset
      attributes.append(
        XMLTree.Attribute(
          name: XMLTree.comment, value: begin..<begin + Int(unsafe XML_GetCurrentByteCount(parser)))
      )
      add(XMLTree.comment, attributes: attributes.count - 1..<attributes.count)
    }

    @unsafe
    private func characters(_ text: UnsafeBufferPointer<CChar>) {
      for index in text.indices
      where !XMLTree.isSpace(UInt8(bitPattern: unsafe text[index])) {
        return stop("text is not accepted", hint: "use attributes and elements alone")
      }
    }
  }
#else
  /// Refuses every text: libexpat comes with the package trait SoundOutput.
  private final class XMLTreeReader {
    let elements: [XMLTree.Element] = []
    let attributes: [XMLTree.Attribute] = []
    let values: [UInt8] = []

    init(names: [String]) {}

    func parse(_ text: [UInt8], keepsComments: Bool) throws(XMLTree.Fault) {
      throw XMLTree.Fault(offset: 0, message: "XML is read with the package trait SoundOutput")
    }
  }
#endif
