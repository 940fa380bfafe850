/// Writes a JSON document as text.
///
/// The contents of objects and arrays are written by closures through a nested writer, so that
/// commas, brackets, and keys are always well formed.
///
/// ```swift
/// var json = JSONWriter()
/// json.writeObject { tap in
///   tap.writeMember("Time", 0.1)
///   tap.writeArray("Notes") { notes in notes.writeElement("short") }
/// }
/// ```
///
/// The text moves into the nested writer and back, so that only the innermost writer can write to
/// it.
public struct JSONWriter: ~Copyable {
  /// The layout of the contents of an object or array.
  public enum Layout: Sendable {
    /// One member or element per line, indented by two spaces.
    case multiline
    /// All members or elements on one line, with spaces after colons and commas.
    case singleLine
    /// All members or elements on one line, without white space.
    case compact
  }

  /// The text written so far. It is a complete document once a value has been written.
  public private(set) var writtenBytes: [UInt8] = []
  private var layout: Layout
  private var nestingDepth = 0
  private var isContainerEmpty = true

  /// Creates an empty writer. The layout is the default for all containers.
  public init(layout: Layout = .multiline) { self.layout = layout }

  /// Returns the text with a final line break.
  public consuming func finishedText() -> [UInt8] {
    writtenBytes.append(UInt8(ascii: "\n"))
    return writtenBytes
  }

  /// Writes a JSON object with members that a closure writes.
  ///
  /// - Parameters:
  ///   - layout: The layout of the object, or nil to use that of the writer.
  ///   - contents: Writes the members.
  public mutating func writeObject<E: Error>(
    layout: Layout? = nil, _ contents: (inout JSONObjectWriter) throws(E) -> Void
  )
    throws(E)
  {
    let outerLayout = openContainer("{", layout: layout)
    var objectWriter = JSONObjectWriter(output: detachOutput())
    do {
      try contents(&objectWriter)
    } catch {
      self = objectWriter.output
      throw error
    }
    self = objectWriter.output
    closeContainer("}", restoring: outerLayout)
  }

  /// Writes a JSON array with elements that a closure writes.
  ///
  /// - Parameters:
  ///   - layout: The layout of the array, or nil to use that of the writer.
  ///   - contents: Writes the elements.
  public mutating func writeArray<E: Error>(
    layout: Layout? = nil, _ contents: (inout JSONArrayWriter) throws(E) -> Void
  )
    throws(E)
  {
    let outerLayout = openContainer("[", layout: layout)
    var arrayWriter = JSONArrayWriter(output: detachOutput())
    do {
      try contents(&arrayWriter)
    } catch {
      self = arrayWriter.output
      throw error
    }
    self = arrayWriter.output
    closeContainer("]", restoring: outerLayout)
  }

  /// Writes a JSON string in quotes.
  public mutating func writeString(_ value: String) {
    writtenBytes.append(UInt8(ascii: "\""))
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): writtenBytes += [UInt8(ascii: "\\"), byte]
      case 0x08: writtenBytes += "\\b".utf8
      case 0x09: writtenBytes += "\\t".utf8
      case 0x0A: writtenBytes += "\\n".utf8
      case 0x0C: writtenBytes += "\\f".utf8
      case 0x0D: writtenBytes += "\\r".utf8
      case 0..<0x20, 0x7F: writtenBytes += JSONString.unicodeEscape(UInt16(byte)).utf8
      default: writtenBytes.append(byte)
      }
    }
    writtenBytes.append(UInt8(ascii: "\""))
  }

  /// Writes a copy of a JSON value, preserving its order, duplicate keys, and number notation.
  public mutating func writeValue(copying value: JSONValue) {
    // Recursion is bounded by the maximum nesting depth of a document.
    switch value.kind {
    case .object:
      writeObject { object in
        for member in value.members {
          object.writeMember(member.key ?? "", copying: member)
        }
      }
    case .array:
      writeArray { array in
        for element in value.elements {
          array.writeElement(copying: element)
        }
      }
    case .string:
      writeString(value.string ?? "")
    case .number, .boolean, .null:
      writeVerbatim(value.sourceBytes)
    }
  }

  private mutating func detachOutput() -> JSONWriter {
    var detachedWriter = JSONWriter(layout: layout)
    swap(&detachedWriter, &self)
    return detachedWriter
  }

  private mutating func openContainer(_ bracket: Unicode.Scalar, layout: Layout?) -> Layout {
    writtenBytes.append(UInt8(ascii: bracket))
    let outerLayout = self.layout
    // A single-line container cannot contain a multiline container.
    if outerLayout == .multiline, let layout {
      self.layout = layout
    }
    nestingDepth += 1
    isContainerEmpty = true
    return outerLayout
  }

  private mutating func closeContainer(_ bracket: Unicode.Scalar, restoring outerLayout: Layout) {
    nestingDepth -= 1
    if !isContainerEmpty {
      writeLineBreak(padding: bracket == "]" ? "" : " ")
    }
    writtenBytes.append(UInt8(ascii: bracket))
    layout = outerLayout
    isContainerEmpty = false
  }

  /// Writes the comma and white space before the next element or member, and the key of a member.
  fileprivate mutating func writeSeparator(key: String? = nil) {
    if !isContainerEmpty {
      writtenBytes.append(UInt8(ascii: ","))
    }
    writeLineBreak(padding: isContainerEmpty && key == nil ? "" : " ")
    isContainerEmpty = false
    guard let key else { return }
    writeString(key)
    writtenBytes.append(UInt8(ascii: ":"))
    if layout != .compact {
      writtenBytes.append(UInt8(ascii: " "))
    }
  }

  private mutating func writeLineBreak(padding: String) {
    switch layout {
    case .multiline:
      writtenBytes.append(UInt8(ascii: "\n"))
      writtenBytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * nestingDepth))
    case .singleLine:
      writtenBytes += padding.utf8
    case .compact:
      break
    }
  }

  fileprivate mutating func writeVerbatim(_ text: some Sequence<UInt8>) {
    writtenBytes.append(contentsOf: text)
  }

  fileprivate mutating func writeNumber(_ value: some BinaryFloatingPoint & CustomStringConvertible)
  {
    precondition(value.isFinite, "JSON numbers must be finite")
    writeVerbatim(value.description.utf8)
  }
}

/// Writes the members of an object.
public struct JSONObjectWriter: ~Copyable {
  fileprivate var output: JSONWriter

  /// Writes a member with a string, number, or Boolean as its value.
  public mutating func writeMember(_ key: String, _ value: some JSONWritable) {
    output.writeSeparator(key: key)
    value.write(to: &output)
  }

  /// Writes a member with the value null.
  public mutating func writeNull(_ key: String) {
    output.writeSeparator(key: key)
    output.writeVerbatim("null".utf8)
  }

  /// Writes a member with a copy of a JSON value.
  ///
  /// The copy preserves order, duplicate keys, and number notation.
  public mutating func writeMember(_ key: String, copying value: JSONValue) {
    output.writeSeparator(key: key)
    output.writeValue(copying: value)
  }

  /// Writes a member that is an object.
  ///
  /// - Parameters:
  ///   - key: The key of the member.
  ///   - layout: The layout of the object, or nil to use that of the writer.
  ///   - contents: Writes the members of the object.
  public mutating func writeObject<E: Error>(
    _ key: String, layout: JSONWriter.Layout? = nil,
    _ contents: (inout JSONObjectWriter) throws(E) -> Void
  ) throws(E) {
    output.writeSeparator(key: key)
    try output.writeObject(layout: layout, contents)
  }

  /// Writes a member that is an array.
  ///
  /// - Parameters:
  ///   - key: The key of the member.
  ///   - layout: The layout of the array, or nil to use that of the writer.
  ///   - contents: Writes the elements.
  public mutating func writeArray<E: Error>(
    _ key: String, layout: JSONWriter.Layout? = nil,
    _ contents: (inout JSONArrayWriter) throws(E) -> Void
  ) throws(E) {
    output.writeSeparator(key: key)
    try output.writeArray(layout: layout, contents)
  }
}

/// Writes the elements of an array.
public struct JSONArrayWriter: ~Copyable {
  fileprivate var output: JSONWriter

  /// Writes a string, number, or Boolean.
  public mutating func writeElement(_ value: some JSONWritable) {
    output.writeSeparator()
    value.write(to: &output)
  }

  /// Writes `null`.
  public mutating func writeNull() {
    output.writeSeparator()
    output.writeVerbatim("null".utf8)
  }

  /// Writes a copy of a JSON value, preserving its order, duplicate keys, and number notation.
  public mutating func writeElement(copying value: JSONValue) {
    output.writeSeparator()
    output.writeValue(copying: value)
  }

  /// Writes an object as an element. A closure writes the members.
  ///
  /// - Parameters:
  ///   - layout: The layout of the object, or nil to use that of the writer.
  ///   - contents: Writes the members.
  public mutating func writeObject<E: Error>(
    layout: JSONWriter.Layout? = nil, _ contents: (inout JSONObjectWriter) throws(E) -> Void
  ) throws(E) {
    output.writeSeparator()
    try output.writeObject(layout: layout, contents)
  }

  /// Writes an array as an element. A closure writes the elements.
  ///
  /// - Parameters:
  ///   - layout: The layout of the array, or nil to use that of the writer.
  ///   - contents: Writes the elements.
  public mutating func writeArray<E: Error>(
    layout: JSONWriter.Layout? = nil, _ contents: (inout JSONArrayWriter) throws(E) -> Void
  ) throws(E) {
    output.writeSeparator()
    try output.writeArray(layout: layout, contents)
  }
}

/// A Swift value that can be written as a JSON scalar.
public protocol JSONWritable {
  /// Writes the value. A number must be finite, and is written as the shortest decimal that reads
  /// back as the same value.
  func write(to json: inout JSONWriter)
}

extension String: JSONWritable {
  /// Writes the string in quotes, with escape sequences where necessary.
  public func write(to json: inout JSONWriter) { json.writeString(self) }
}

extension Double: JSONWritable {
  /// Writes the number as a JSON number.
  public func write(to json: inout JSONWriter) { json.writeNumber(self) }
}

extension Float: JSONWritable {
  /// Writes the number as a JSON number.
  public func write(to json: inout JSONWriter) { json.writeNumber(self) }
}

extension Int: JSONWritable {
  /// Writes the number as a JSON number.
  public func write(to json: inout JSONWriter) { json.writeVerbatim(description.utf8) }
}

extension Bool: JSONWritable {
  /// Writes `true` or `false`.
  public func write(to json: inout JSONWriter) { json.writeVerbatim(description.utf8) }
}
