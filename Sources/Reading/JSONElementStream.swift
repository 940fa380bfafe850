/// Reads a large text, the bulk of which is one array of the outermost object, in pieces, so that neither the text nor its
/// values are ever in memory together.
///
/// Nothing is said of what is wrong, or where: a text that is not read to its end has to be read as a `JSONDocument`.
package struct JSONElementStream {
  /// Appends a number of bytes of the text, fewer at its end; false where it has ended.
  package typealias Source = (_ bytes: inout [UInt8], _ count: Int) throws -> Bool

  /// Why a text has to be read as a whole.
  private struct Irregularity: Error {}

  private let key: [UInt8]
  private let pieceSize: Int
  private let source: Source
  private let limits = JSONLimits()
  /// The text up to the bracket of the array, and behind its last element.
  private var head: [UInt8]?
  private var tail: [UInt8]?
  /// What was taken from the source and not read yet.
  private var rest: [UInt8]
  private var isAtEnd = false
  private var byteCount: Int
  private var valueCount = 0

  /// A text that begins with some bytes, up to an array with a key.
  ///
  /// - Parameters:
  ///   - key: The key of the array, which must be within the first bytes.
  ///   - start: The first bytes of the text.
  ///   - pieceSize: Bytes that are read together.
  ///   - source: Where the other bytes come from.
  package init(key: String, start: [UInt8], pieceSize: Int, source: @escaping Source) {
    self.key = Array(key.utf8)
    self.pieceSize = pieceSize
    self.source = source
    rest = start
    byteCount = start.count
  }

  /// The next elements, as an array of their own; nil behind the last.
  package mutating func next() throws -> JSONDocument? {
    if head == nil {
      var reader = JSONReader(limits: limits)
      guard try reader.readStart(rest.span, ofArray: key) else { throw Irregularity() }
      head = Array(rest[..<reader.position])
      rest.removeFirst(reader.position)
    }
    var size = pieceSize
    while tail == nil {
      try fill(size)
      var reader = JSONReader(limits: limits)
      let (end, isLast) = try reader.readElements(rest.span)
      guard isLast || end > 0 else {
        // One element is longer than the piece.
        guard !isAtEnd else { throw Irregularity() }
        size = rest.count * 2
        continue
      }
      valueCount += reader.nodes.count - 1
      guard valueCount <= limits.values else { throw Irregularity() }
      let document = JSONDocument(elements: reader.nodes, of: rest)
      rest = Array(rest[(isLast ? end - 1 : end)...])
      if isLast { tail = rest }
      return document
    }
    return nil
  }

  /// The text without the elements, once all were read.
  package mutating func remainder() throws -> JSONDocument {
    guard let head, tail != nil else { throw Irregularity() }
    while !isAtEnd { try fill(rest.count + pieceSize) }
    let document = try JSONDocument(text: head + rest, name: "", limits: limits)
    // Of a key that repeats the last counts.
    let arrays = document.root.members.filter { member in member.key.map { Array($0.utf8) == key } ?? false }
    guard arrays.count == 1, valueCount + document.valueCount <= limits.values else { throw Irregularity() }
    return document
  }

  private mutating func fill(_ size: Int) throws {
    guard !isAtEnd, rest.count < size else { return }
    let old = rest.count
    isAtEnd = try !source(&rest, size - rest.count)
    byteCount += rest.count - old
    guard byteCount <= limits.textBytes else { throw Irregularity() }
  }
}
