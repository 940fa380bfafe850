/// Writes one JSON value as text.
///
/// Closures write the contents of objects and arrays through a nested writer, so that commas,
/// brackets, and keys are always correct.
///
/// ```swift
/// var json = JSONWriter()
/// json.object { tap in
///   tap.member("Time", 0.1)
///   tap.array("Notes") { notes in notes.element("short") }
/// }
/// ```
///
/// The text moves into the nested writer and back, so that only the innermost writer can write.
public struct JSONWriter: ~Copyable {
  /// The layout of the contents of an object or array.
  public enum Layout: Sendable {
    /// One member or element per line, indented by two spaces.
    case multiline
    /// All on one line, with spaces.
    case singleLine
    /// All on one line, without spaces.
    case compact
  }

  /// The text so far. It is a complete document after one value has been written.
  public private(set) var bytes: [UInt8] = []
  private var layout: Layout
  private var depth = 0
  private var isEmpty = true

  /// Creates an empty writer with a default layout for all containers.
  public init(layout: Layout = .multiline) { self.layout = layout }

  /// Returns the text with a final line break.
  public consuming func finish() -> [UInt8] {
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  /// Writes an object.
  ///
  /// - Parameters:
  ///   - layout: The layout of the object, or nil for that of the writer.
  ///   - contents: Writes the members.
  public mutating func object<E: Error>(
    layout: Layout? = nil, _ contents: (inout JSONObjectWriter) throws(E) -> Void
  )
    throws(E)
  {
    let outerLayout = openContainer("{", layout: layout)
    var writer = JSONObjectWriter(output: detach())
    do {
      try contents(&writer)
    } catch {
      self = writer.output
      throw error
    }
    self = writer.output
    closeContainer("}", restoring: outerLayout)
  }

  /// Writes an array.
  ///
  /// - Parameters:
  ///   - layout: The layout of the array, or nil for that of the writer.
  ///   - contents: Writes the elements.
  public mutating func array<E: Error>(
    layout: Layout? = nil, _ contents: (inout JSONArrayWriter) throws(E) -> Void
  )
    throws(E)
  {
    let outerLayout = openContainer("[", layout: layout)
    var writer = JSONArrayWriter(output: detach())
    do {
      try contents(&writer)
    } catch {
      self = writer.output
      throw error
    }
    self = writer.output
    closeContainer("]", restoring: outerLayout)
  }

  /// Writes a string.
  public mutating func string(_ value: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0x08: bytes += "\\b".utf8
      case 0x09: bytes += "\\t".utf8
      case 0x0A: bytes += "\\n".utf8
      case 0x0C: bytes += "\\f".utf8
      case 0x0D: bytes += "\\r".utf8
      case 0..<0x20, 0x7F: bytes += JSONString.unicodeEscape(UInt16(byte)).utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Writes a copy of a value with its order, its duplicate keys, and the digits of its numbers.
  public mutating func value(copying value: JSONValue) {
    // The depth of recursion is limited by the maximum depth of a document.
    switch value.kind {
    case .object:
      object { object in
        for member in value.members {
          object.member(member.key ?? "", copying: member)
        }
      }
    case .array:
      array { array in
        for element in value.elements {
          array.element(copying: element)
        }
      }
    case .string:
      string(value.string ?? "")
    case .number, .boolean, .null:
      writeVerbatim(value.lexeme)
    }
  }

  private mutating func detach() -> JSONWriter {
    var detached = JSONWriter(layout: layout)
    swap(&detached, &self)
    return detached
  }

  private mutating func openContainer(_ bracket: Unicode.Scalar, layout: Layout?) -> Layout {
    bytes.append(UInt8(ascii: bracket))
    let outerLayout = self.layout
    // A container on one line cannot contain one on several lines.
    if outerLayout == .multiline, let layout {
      self.layout = layout
    }
    depth += 1
    isEmpty = true
    return outerLayout
  }

  private mutating func closeContainer(_ bracket: Unicode.Scalar, restoring outerLayout: Layout) {
    depth -= 1
    if !isEmpty {
      writeLineBreak(padding: bracket == "]" ? "" : " ")
    }
    bytes.append(UInt8(ascii: bracket))
    layout = outerLayout
    isEmpty = false
  }

  /// Writes the comma and the white space before the next element or member, and the key of a
  /// member.
  fileprivate mutating func writeSeparator(key: String? = nil) {
    if !isEmpty {
      bytes.append(UInt8(ascii: ","))
    }
    writeLineBreak(padding: isEmpty && key == nil ? "" : " ")
    isEmpty = false
    guard let key else { return }
    string(key)
    bytes.append(UInt8(ascii: ":"))
    if layout != .compact {
      bytes.append(UInt8(ascii: " "))
    }
  }

  private mutating func writeLineBreak(padding: String) {
    switch layout {
    case .multiline:
      bytes.append(UInt8(ascii: "\n"))
      bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    case .singleLine:
      bytes += padding.utf8
    case .compact:
      break
    }
  }

  fileprivate mutating func writeVerbatim(_ text: some Sequence<UInt8>) {
    bytes.append(contentsOf: text)
  }

  fileprivate mutating func writeNumber(_ value: some BinaryFloatingPoint & CustomStringConvertible)
  {
    precondition(value.isFinite, "JSON numbers must be finite")
    writeVerbatim(value.description.utf8)
  }
}

/// Writes the members of one object.
public struct JSONObjectWriter: ~Copyable {
  fileprivate var output: JSONWriter

  /// Writes a string, a number or a boolean.
  public mutating func member(_ key: String, _ value: some JSONWritable) {
    output.writeSeparator(key: key)
    value.write(to: &output)
  }

  /// Writes `null`.
  public mutating func null(_ key: String) {
    output.writeSeparator(key: key)
    output.writeVerbatim("null".utf8)
  }

  /// Writes a copy of a value with its order, its duplicate keys, and the digits of its numbers.
  public mutating func member(_ key: String, copying value: JSONValue) {
    output.writeSeparator(key: key)
    output.value(copying: value)
  }

  /// Writes a member that is an object.
  ///
  /// - Parameters:
  ///   - key: The key of the member.
  ///   - layout: The layout of the object, or nil for that of the writer.
  ///   - contents: Writes the members of the object.
  public mutating func object<E: Error>(
    _ key: String, layout: JSONWriter.Layout? = nil,
    _ contents: (inout JSONObjectWriter) throws(E) -> Void
  ) throws(E) {
    output.writeSeparator(key: key)
    try output.object(layout: layout, contents)
  }

  /// Writes a member that is an array.
  ///
  /// - Parameters:
  ///   - key: The key of the member.
  ///   - layout: The layout of the array, or nil for that of the writer.
  ///   - contents: Writes the elements.
  public mutating func array<E: Error>(
    _ key: String, layout: JSONWriter.Layout? = nil,
    _ contents: (inout JSONArrayWriter) throws(E) -> Void
  ) throws(E) {
    output.writeSeparator(key: key)
    try output.array(layout: layout, contents)
  }
}

/// Writes the elements of one array.
public struct JSONArrayWriter: ~Copyable {
  fileprivate var output: JSONWriter

  /// Writes a string, a number or a boolean.
  public mutating func element(_ value: some JSONWritable) {
    output.writeSeparator()
    value.write(to: &output)
  }

  /// Writes `null`.
  public mutating func null() {
    output.writeSeparator()
    output.writeVerbatim("null".utf8)
  }

  /// Writes a copy of a value with its order, its duplicate keys, and the digits of its numbers.
  public mutating func element(copying value: JSONValue) {
    output.writeSeparator()
    output.value(copying: value)
  }

  /// Writes an element that is an object.
  ///
  /// - Parameters:
  ///   - layout: The layout of the object, or nil for that of the writer.
  ///   - contents: Writes the members.
  public mutating func object<E: Error>(
    layout: JSONWriter.Layout? = nil, _ contents: (inout JSONObjectWriter) throws(E) -> Void
  ) throws(E) {
    output.writeSeparator()
    try output.object(layout: layout, contents)
  }

  /// Writes an element that is an array.
  ///
  /// - Parameters:
  ///   - layout: The layout of the array, or nil for that of the writer.
  ///   - contents: Writes the elements.
  public mutating func array<E: Error>(
    layout: JSONWriter.Layout? = nil, _ contents: (inout JSONArrayWriter) throws(E) -> Void
  ) throws(E) {
    output.writeSeparator()
    try output.array(layout: layout, contents)
  }
}

/// A Swift value that is one JSON scalar.
public protocol JSONWritable {
  /// Writes the value. A number must be finite; it is written as the shortest decimal that reads
  /// back equal.
  func write(to json: inout JSONWriter)
}

extension String: JSONWritable {
  /// Writes the text in quotes.
  public func write(to json: inout JSONWriter) { json.string(self) }
}

extension Double: JSONWritable {
  /// Writes the number.
  public func write(to json: inout JSONWriter) { json.writeNumber(self) }
}

extension Float: JSONWritable {
  /// Writes the number.
  public func write(to json: inout JSONWriter) { json.writeNumber(self) }
}

extension Int: JSONWritable {
  /// Writes the number.
  public func write(to json: inout JSONWriter) { json.writeVerbatim(description.utf8) }
}

extension Bool: JSONWritable {
  /// Writes `true` or `false`.
  public func write(to json: inout JSONWriter) { json.writeVerbatim(description.utf8) }
}
