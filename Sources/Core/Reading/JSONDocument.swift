/// A parsed JSON text, stored as its bytes and a fixed-size record for each value.
///
/// Parsing is iterative and takes linear time. Strings and numbers are decoded on access. Documents
/// are immutable and can be shared between threads.
public final class JSONDocument: Sendable {
  /// The name of the document in locations and errors.
  public let name: String
  /// The bytes of the original text.
  public let text: [UInt8]
  /// The accepted deviations from strict JSON, sorted by offset.
  public let deviations: [JSONDeviation]

  let nodes: [JSONNode]
  private let lineIndex = LineIndex()

  /// Parses a text, or throws an error at the first invalid character.
  ///
  /// Strings must be valid UTF-8 with complete escape sequences, and numbers must be in the range
  /// of `Double`. Byte-order marks, trailing commas, and duplicate keys are accepted and recorded
  /// in `deviations`.
  public init(text: [UInt8], name: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var jsonParser = JSONParser(limits: limits)
    do {
      try jsonParser.read(text.span)
    } catch {
      throw JSONError(error, text: text, name: name)
    }
    self.name = name
    self.text = text
    nodes = jsonParser.nodes
    deviations = jsonParser.deviations.sorted { $0.byteOffset < $1.byteOffset }
  }

  /// The outermost value of the document.
  public var root: JSONValue { JSONValue(document: self, index: 0) }

  /// Returns the line and column of a byte offset. The first call builds a line index.
  public func location(at offset: Int) -> FileLocation {
    lineIndex.location(of: offset, in: text, name: name)
  }

  /// Returns the location of a value or of a byte offset within it.
  package func location(ofValue index: Int, at offset: Int? = nil) -> FileLocation {
    let locatedValue = JSONValue(document: self, index: index)
    var valueLocation = location(at: offset ?? locatedValue.byteOffset)
    valueLocation.path = locatedValue.path
    return valueLocation
  }

  /// Returns the value affected by a deviation: the container of a trailing comma, or the value of
  /// a duplicate key.
  public func value(of deviation: JSONDeviation) -> JSONValue {
    JSONValue(document: self, index: deviation.valueIndex)
  }
}

extension JSONError {
  fileprivate init(_ error: JSONParseError, text: [UInt8], name: String) {
    let lineIndex = LineIndex()
    var errorMessage = error.message
    if let openingBracketOffset = error.openingBracketOffset {
      let begin = lineIndex.lineAndColumn(of: openingBracketOffset, in: text)
      errorMessage += " \(begin.line):\(begin.column)"
    }
    self.init(
      kind: error.kind, location: lineIndex.location(of: error.byteOffset, in: text, name: name),
      message: errorMessage,
      suggestion: error.suggestion)
  }
}

/// Limits on the size of a document.
public struct JSONLimits: Equatable, Sendable {
  /// The maximum length of the text, in bytes. It is at most 256 MiB, because offsets and key
  /// lengths are stored in 28 bits.
  public let maximumTextByteCount: Int
  /// The maximum number of values of any kind. Each value occupies 24 bytes.
  public let maximumValueCount: Int
  /// The maximum nesting depth of objects and arrays.
  public let maximumNestingDepth: Int

  /// Creates limits. The length and count are clamped to the capacity of a document.
  ///
  /// - Parameters:
  ///   - maximumTextBytes: The maximum length of the text, in bytes.
  ///   - maximumValueCount: The maximum number of values.
  ///   - maximumDepth: The maximum nesting depth of objects and arrays.
  public init(
    maximumTextByteCount maximumTextBytes: Int = 1 << 28, maximumValueCount: Int = 20_000_000,
    maximumNestingDepth maximumDepth: Int = 256
  ) {
    self.maximumTextByteCount = min(maximumTextBytes, 1 << 28)
    self.maximumValueCount = min(maximumValueCount, 1 << 28)
    self.maximumNestingDepth = maximumDepth
  }
}

/// A deviation from strict JSON that the parser accepts.
///
/// Examples are a trailing comma and a duplicate key.
public struct JSONDeviation: Equatable, Sendable {
  /// The kind of a deviation.
  public enum Kind: Equatable, Sendable {
    /// U+FEFF at the start of the text.
    case byteOrderMark
    /// A comma before a closing bracket.
    case trailingComma
    /// A key that occurs more than once in its object. The last value applies.
    case duplicateKey
  }

  /// The kind of the deviation from strict JSON.
  public var kind: Kind
  /// The byte offset of the deviation.
  public var byteOffset: Int
  /// The index of the affected value: the container of a comma, or the value of a key.
  var valueIndex: Int
}

extension FindingLog {
  /// Adds a finding about a value.
  ///
  /// - Parameters:
  ///   - rule: The violated rule.
  ///   - value: The affected value.
  ///   - offset: The byte offset in the text, or nil for the start of the value.
  ///   - severity: The severity, or nil to use the default of the rule.
  ///   - message: A sentence without a final period.
  ///   - suggestion: A suggested correction, or nil.
  ///   - errorCode: The corresponding error code of another API.
  public mutating func add(
    _ rule: Rule, at value: JSONValue, offset: Int? = nil, severity: Severity? = nil,
    _ message: @autoclosure () -> String, suggestion: @autoclosure () -> String? = nil,
    errorCode: Int? = nil
  ) {
    add(
      rule, valueIndex: value.nodeIndex, offset: offset ?? value.byteOffset, severity: severity,
      message(),
      suggestion: suggestion(),
      errorCode: errorCode)
  }

  /// Returns the findings about values of a document, in document order.
  public func findings(in document: JSONDocument) -> [Finding] {
    findings { document.location(ofValue: $0, at: $1) }
  }
}
