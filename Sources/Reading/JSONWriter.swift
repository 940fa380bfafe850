/// Writes one JSON value as text.
///
/// Objects and arrays are written by closures, which are handed the writer of their contents; so
/// commas, brackets and keys cannot go wrong.
///
/// ```swift
/// var json = JSONWriter()
/// json.object { tap in
///   tap.member("Time", 0.1)
///   tap.array("Notes") { notes in notes.element("short") }
/// }
/// ```
public struct JSONWriter: ~Copyable {
  /// How the contents of an object or array are set.
  public enum Layout: Sendable {
    /// Each on a line of its own, two spaces further in.
    case lines
    /// All on one line, with spaces.
    case line
    /// All on one line, without spaces.
    case compact
  }

  var output: JSONOutput

  /// Makes an empty writer with the layout of all containers that are given no other.
  public init(layout: Layout = .lines) { output = JSONOutput(layout: layout) }

  /// The text so far; a complete document once one value has been written.
  public var bytes: [UInt8] { output.bytes }

  /// The text, with a line break at its end.
  public consuming func finish() -> [UInt8] {
    output.bytes.append(UInt8(ascii: "\n"))
    return output.bytes
  }

  /// Writes an object.
  public mutating func object<E: Error>(_ contents: (inout JSONObjectWriter) throws(E) -> Void) throws(E) {
    try output.object(nil, contents)
  }

  /// Writes an array.
  public mutating func array<E: Error>(_ contents: (inout JSONArrayWriter) throws(E) -> Void) throws(E) {
    try output.array(nil, contents)
  }

  /// Writes a string.
  public mutating func string(_ value: String) { output.string(value) }

  /// Writes a value as another document has it: order, repeated keys and the digits of numbers
  /// kept.
  public mutating func value(copying value: JSONValue) { output.copy(value) }
}

/// Writes the members of one object.
public struct JSONObjectWriter: ~Copyable {
  var output: JSONOutput

  /// Writes a string.
  public mutating func member(_ key: String, _ value: String) {
    output.key(key)
    output.string(value)
  }

  /// Writes a number as the shortest decimal that reads back equal; it must be finite.
  public mutating func member(_ key: String, _ value: Double) {
    output.key(key)
    output.number(value)
  }

  /// Writes a number as the shortest decimal that reads back equal; it must be finite.
  public mutating func member(_ key: String, _ value: Float) {
    output.key(key)
    output.number(value)
  }

  /// Writes an integer.
  public mutating func member(_ key: String, _ value: Int) {
    output.key(key)
    output.verbatim(value.description.utf8)
  }

  /// Writes `true` or `false`.
  public mutating func member(_ key: String, _ value: Bool) {
    output.key(key)
    output.verbatim(value.description.utf8)
  }

  /// Writes `null`.
  public mutating func null(_ key: String) {
    output.key(key)
    output.verbatim("null".utf8)
  }

  /// Writes a value as another document has it: order, repeated keys and the digits of numbers
  /// kept.
  public mutating func member(_ key: String, copying value: JSONValue) {
    output.key(key)
    output.copy(value)
  }

  /// Writes an object, in a layout of its own where one is given.
  public mutating func object<E: Error>(
    _ key: String, layout: JSONWriter.Layout? = nil, _ contents: (inout JSONObjectWriter) throws(E) -> Void
  ) throws(E) {
    output.key(key)
    try output.object(layout, contents)
  }

  /// Writes an array, in a layout of its own where one is given.
  public mutating func array<E: Error>(
    _ key: String, layout: JSONWriter.Layout? = nil, _ contents: (inout JSONArrayWriter) throws(E) -> Void
  ) throws(E) {
    output.key(key)
    try output.array(layout, contents)
  }
}

/// Writes the elements of one array.
public struct JSONArrayWriter: ~Copyable {
  var output: JSONOutput

  /// Writes a string.
  public mutating func element(_ value: String) {
    output.separate()
    output.string(value)
  }

  /// Writes a number as the shortest decimal that reads back equal; it must be finite.
  public mutating func element(_ value: Double) {
    output.separate()
    output.number(value)
  }

  /// Writes an integer.
  public mutating func element(_ value: Int) {
    output.separate()
    output.verbatim(value.description.utf8)
  }

  /// Writes `null`.
  public mutating func null() {
    output.separate()
    output.verbatim("null".utf8)
  }

  /// Writes a value as another document has it: order, repeated keys and the digits of numbers
  /// kept.
  public mutating func element(copying value: JSONValue) {
    output.separate()
    output.copy(value)
  }

  /// Writes an object, in a layout of its own where one is given.
  public mutating func object<E: Error>(
    layout: JSONWriter.Layout? = nil, _ contents: (inout JSONObjectWriter) throws(E) -> Void
  ) throws(E) {
    output.separate()
    try output.object(layout, contents)
  }

  /// Writes an array, in a layout of its own where one is given.
  public mutating func array<E: Error>(
    layout: JSONWriter.Layout? = nil, _ contents: (inout JSONArrayWriter) throws(E) -> Void
  ) throws(E) {
    output.separate()
    try output.array(layout, contents)
  }
}
