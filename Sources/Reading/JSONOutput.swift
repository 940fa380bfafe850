/// The text being written and the state of the container it is in.
///
/// It moves into the writer of a container's contents and back, so only the innermost can write.
struct JSONOutput: ~Copyable {
  var bytes: [UInt8] = []
  private var layout: JSONWriter.Layout
  private var depth = 0
  private var isEmpty = true

  init(layout: JSONWriter.Layout) { self.layout = layout }

  private mutating func take() -> JSONOutput {
    var taken = JSONOutput(layout: layout)
    swap(&taken, &self)
    return taken
  }

  mutating func object<E: Error>(_ layout: JSONWriter.Layout?, _ contents: (inout JSONObjectWriter) throws(E) -> Void)
    throws(E)
  {
    let outer = open("{", layout)
    var writer = JSONObjectWriter(output: take())
    do { try contents(&writer) } catch {
      self = writer.output
      throw error
    }
    self = writer.output
    close("}", outer)
  }

  mutating func array<E: Error>(_ layout: JSONWriter.Layout?, _ contents: (inout JSONArrayWriter) throws(E) -> Void)
    throws(E)
  {
    let outer = open("[", layout)
    var writer = JSONArrayWriter(output: take())
    do { try contents(&writer) } catch {
      self = writer.output
      throw error
    }
    self = writer.output
    close("]", outer)
  }

  private mutating func open(_ bracket: Unicode.Scalar, _ inner: JSONWriter.Layout?) -> JSONWriter.Layout {
    bytes.append(UInt8(ascii: bracket))
    let outer = layout
    // A container on one line cannot hold one on several.
    if layout == .lines, let inner { layout = inner }
    depth += 1
    isEmpty = true
    return outer
  }

  private mutating func close(_ bracket: Unicode.Scalar, _ outer: JSONWriter.Layout) {
    depth -= 1
    if !isEmpty { breakLine(bracket == "]" ? "" : " ") }
    bytes.append(UInt8(ascii: bracket))
    layout = outer
    isEmpty = false
  }

  /// Goes to the place of the next element.
  mutating func separate() { separate("") }

  /// Writes a member's key and goes to the place of its value.
  mutating func key(_ key: String) {
    separate(" ")
    string(key)
    bytes.append(UInt8(ascii: ":"))
    if layout != .compact { bytes.append(UInt8(ascii: " ")) }
  }

  private mutating func separate(_ padding: String) {
    if isEmpty {
      breakLine(padding)
    } else {
      bytes.append(UInt8(ascii: ","))
      breakLine(" ")
    }
    isEmpty = false
  }

  private mutating func breakLine(_ padding: String) {
    switch layout {
    case .lines:
      bytes.append(UInt8(ascii: "\n"))
      bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    case .line: bytes.append(contentsOf: padding.utf8)
    case .compact: break
    }
  }

  mutating func verbatim(_ text: some Sequence<UInt8>) { bytes.append(contentsOf: text) }

  mutating func number(_ value: some BinaryFloatingPoint & CustomStringConvertible) {
    precondition(value.isFinite, "JSON has no numbers but finite ones")
    bytes.append(contentsOf: value.description.utf8)
  }

  mutating func string(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x08: bytes.append(contentsOf: "\\b".utf8)
      case 0x09: bytes.append(contentsOf: "\\t".utf8)
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case 0x0C: bytes.append(contentsOf: "\\f".utf8)
      case 0x0D: bytes.append(contentsOf: "\\r".utf8)
      case 0..<0x20, 0x7F: bytes.append(contentsOf: JSONString.unitText(UInt16(byte)).utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a value of a document; as deep as the document's limit, which recursion can take.
  mutating func copy(_ value: JSONValue) {
    switch value.kind {
    case .object:
      object(nil) { object in for member in value.members { object.member(member.key ?? "", copying: member) } }
    case .array: array(nil) { array in for element in value.elements { array.element(copying: element) } }
    case .string: string(value.string ?? "")
    case .number, .boolean, .null: verbatim(value.lexeme)
    }
  }
}
