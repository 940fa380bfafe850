internal import HapticFormats

/// The elements of an XML text with what is known of their names, and their attributes.
///
/// Read by libexpat, which opens no files. Declarations of document types are refused, so there are
/// no entities but those of XML itself. Names are those of a fixed list; others are unknown.
struct XMLTree: Sendable {
  /// An element, or a comment where comments are kept: small, since a large text has very many.
  struct Element: Sendable {
    /// The number of the name in the list, `unknown` or `comment`.
    let name: Int16
    /// Its place among the elements of its parent, from 0.
    let ordinal: UInt32
    private let start: UInt32
    private let above: Int32
    private var behind: UInt32
    private let firstAttribute: UInt32
    private let attributeEnd: UInt32

    init(name: Int16, ordinal: UInt32, offset: Int, parent: Int, end: Int, attributes: Range<Int>) {
      self.name = name
      self.ordinal = ordinal
      start = UInt32(truncatingIfNeeded: offset)
      above = Int32(truncatingIfNeeded: parent)
      behind = UInt32(truncatingIfNeeded: end)
      firstAttribute = UInt32(truncatingIfNeeded: attributes.lowerBound)
      attributeEnd = UInt32(truncatingIfNeeded: attributes.upperBound)
    }

    /// The byte of its `<`.
    var offset: Int { Int(start) }
    /// The number of its parent, −1 for the root.
    var parent: Int { Int(above) }
    /// The number of the element behind its last descendant.
    var end: Int {
      get { Int(behind) }
      set { behind = UInt32(truncatingIfNeeded: newValue) }
    }
    /// Its attributes.
    var attributes: Range<Int> { Int(firstAttribute)..<Int(attributeEnd) }
  }

  /// An attribute.
  struct Attribute: Sendable {
    /// The number of the name in the list, or `unknown`.
    let name: Int16
    private let start: UInt32
    private let end: UInt32

    init(name: Int16, value: Range<Int>) {
      self.name = name
      start = UInt32(truncatingIfNeeded: value.lowerBound)
      end = UInt32(truncatingIfNeeded: value.upperBound)
    }

    /// Its value in `values`.
    var value: Range<Int> { Int(start)..<Int(end) }
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
  private(set) var elements: [Element] = []
  private(set) var attributes: [Attribute] = []
  /// The values of attributes, one behind the other.
  private(set) var values: [UInt8] = []

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
      throw Fault(offset: 0, message: "the text has \(text.count) bytes; the limit is \(Limit.size)")
    }
    // The parser would read it, but places and names are those of bytes.
    if text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) {
      throw Fault(offset: 0, message: "the text is UTF-16", suggestion: "save it as UTF-8")
    }
    self.names = names
    self.text = text
    var reader = XMLTreeReader(names: names)
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
  func string(_ attribute: Attribute) -> String { String(decoding: values[attribute.value], as: UTF8.self) }

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
      if index == ordinal { return (String(decoding: text[start..<position], as: UTF8.self), start) }
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
    while end < text.count, !Self.isSpace(text[end]), ![0x2F, 0x3D, 0x3E].contains(text[end]) { end += 1 }
    return end
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

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
