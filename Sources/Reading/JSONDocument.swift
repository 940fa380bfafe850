/// A JSON text that was read: its bytes, and one small fixed-size record per value.
///
/// Reading is iterative and takes time in proportion to the text. Nothing is decoded before it is
/// asked for. Documents are immutable and may be shared between threads.
public final class JSONDocument: Sendable {
  /// The text's name in places and errors.
  public let name: String
  /// The text as it was given.
  public let text: [UInt8]
  /// What strict JSON forbids, or leaves open, and was read nevertheless, in order of offset.
  public let tolerances: [JSONDeviation]

  let nodes: [JSONNode]
  private let lines = LineIndex()

  /// Reads a text, or refuses it with the place of the first character that cannot be accepted.
  ///
  /// Strings must be UTF-8, escapes complete, numbers within the range of `Double`. A byte-order
  /// mark, trailing commas and duplicate keys are recorded in `tolerances`.
  public init(text: [UInt8], name: String, limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var reader = JSONReader(limits: limits)
    do { try reader.read(text.span) } catch { throw JSONError(error, text: text, name: name) }
    self.name = name
    self.text = text
    nodes = reader.nodes
    tolerances = reader.tolerances.sorted { $0.offset < $1.offset }
  }

  /// The outermost value.
  public var root: JSONValue { JSONValue(document: self, index: 0) }

  /// The number of values, containers included.
  public var valueCount: Int { nodes.count }

  /// The line and column of a byte; the first call counts the lines once.
  public func place(at offset: Int) -> SourcePlace { lines.place(of: offset, in: text, name: name) }

  /// The value a tolerance concerns: the container of a comma, the value of a repeated key.
  public func value(of tolerance: JSONDeviation) -> JSONValue { JSONValue(document: self, index: tolerance.node) }
}

extension JSONError {
  fileprivate init(_ fault: JSONFault, text: [UInt8], name: String) {
    let lines = LineIndex()
    var message = fault.message
    if let origin = fault.origin {
      let begin = lines.position(of: origin, in: text)
      message += " \(begin.line):\(begin.column)"
    }
    self.init(
      kind: fault.kind, place: lines.place(of: fault.offset, in: text, name: name), message: message,
      suggestion: fault.suggestion)
  }
}

/// How much a document may hold before it is refused.
public struct JSONLimits: Equatable, Sendable {
  /// Bytes of text, at most 256 MiB: offsets and key lengths are kept in 28 bits.
  public let textBytes: Int
  /// Values of any kind; each takes 24 bytes of memory.
  public let values: Int
  /// Containers within containers.
  public let depth: Int

  /// Makes limits; text and values beyond what a document can number are lowered to it.
  public init(textBytes: Int = 1 << 28, values: Int = 20_000_000, depth: Int = 256) {
    self.textBytes = min(textBytes, 1 << 28)
    self.values = min(values, 1 << 28)
    self.depth = depth
  }
}

/// Something strict JSON forbids, or leaves open, that was read nevertheless.
public struct JSONDeviation: Equatable, Sendable {
  /// What was tolerated.
  public enum Kind: Equatable, Sendable {
    /// U+FEFF in front of the text.
    case byteOrderMark
    /// A comma in front of a closing bracket.
    case trailingComma
    /// A key its object already has; the last one counts.
    case duplicateKey
  }

  /// What was tolerated.
  public var kind: Kind
  /// Where, in bytes from the start of the text.
  public var offset: Int
  /// The number of the value concerned: the container of a comma, the value of a key.
  var node: Int
}
