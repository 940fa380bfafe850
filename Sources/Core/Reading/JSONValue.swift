/// A reference to a value in a JSON document. The value is decoded on access.
public struct JSONValue: Sendable {
  /// The type of a value.
  public enum Kind: String, Sendable {
    /// A set of members with keys, in braces.
    case object
    /// A list of elements, in brackets.
    case array
    /// A quoted text.
    case string
    /// A number in decimal notation.
    case number
    /// The literal `true` or `false`.
    case boolean
    /// The literal `null`.
    case null
  }

  /// The document that contains the value.
  public let document: JSONDocument
  /// The index of the value in document order, from 0. A container precedes its contents.
  public let nodeIndex: Int

  /// Creates a reference to a value.
  ///
  /// - Parameters:
  ///   - document: The document that contains the value.
  ///   - index: The index of the value, which must be less than the number of values.
  public init(document: JSONDocument, index: Int) {
    precondition(
      document.nodes.indices.contains(index), "a value's number is below the document's count")
    self.init(document, uncheckedIndex: index)
  }

  /// Creates a reference to an existing value without checking the index.
  init(_ document: JSONDocument, uncheckedIndex index: Int) {
    self.document = document
    self.nodeIndex = index
  }

  var node: JSONNode { document.nodes[nodeIndex] }

  /// The type of the value.
  public var kind: Kind {
    switch node.encoding {
    case .object: .object
    case .array: .array
    case .plainString, .escapedString: .string
    case .number: .number
    case .true, .false: .boolean
    case .null: .null
    }
  }

  /// The decoded string, or nil if the value is not a string.
  public var string: String? {
    let node = node
    guard kind == .string else { return nil }
    return decodedString(
      Self.contentRange(of: node.scalarByteRange), isEscaped: node.encoding == .escapedString)
  }

  private func decodedString(_ range: Range<Int>, isEscaped: Bool, limit: Int = .max) -> String {
    let documentText = document.text
    return String(
      decoding: JSONString.decode(documentText.span, range, isEscaped: isEscaped, limit: limit),
      as: UTF8.self)
  }

  /// The nearest finite `Double`, or nil if the value is not a number.
  public var number: Double? {
    let node = node
    guard node.encoding == .number else { return nil }
    let documentText = document.text
    return JSONNumber.parsedValue(in: documentText.span, range: node.scalarByteRange)
  }

  /// The Boolean, or nil if the value is not a Boolean.
  public var boolean: Bool? {
    switch node.encoding {
    case .true: true
    case .false: false
    default: nil
    }
  }

  /// The bytes of a scalar as written in the document; empty for a container.
  public var sourceBytes: ArraySlice<UInt8> {
    let node = node
    return node.isContainer ? [] : document.text[node.scalarByteRange]
  }

  /// Returns the byte range between the quotes of a string.
  static func contentRange(of range: Range<Int>) -> Range<Int> {
    range.lowerBound + 1..<range.upperBound - 1
  }

  /// The key of the value, or nil if it is not a member of an object.
  public var key: String? {
    hasKey ? decodedString(node.keyByteRange, isEscaped: node.isKeyEscaped) : nil
  }

  var hasKey: Bool { parent?.kind == .object }

  /// The enclosing container, or nil for the root.
  public var parent: JSONValue? {
    let parentIndex = node.parentIndex
    return parentIndex == JSONNode.noParent
      ? nil : JSONValue(document, uncheckedIndex: Int(parentIndex))
  }

  /// The members of an object in document order, including duplicates; empty for other types.
  public var members: JSONChildren { JSONChildren(of: self, if: .object) }

  /// The elements of an array; empty for other types.
  public var elements: JSONChildren { JSONChildren(of: self, if: .array) }

  /// Returns the elements of an array if all are whole numbers in a range, or nil otherwise. The
  /// elements are decoded in a single pass.
  package func integerElements(in range: ClosedRange<Int32>) -> [Int32]? {
    let node = node
    guard node.encoding == .array else { return nil }
    let documentNodes = document.nodes
    let documentText = document.text
    let elementIndices = nodeIndex + 1..<Int(node.lengthOrEndIndex)
    var integerElements: [Int32] = []
    integerElements.reserveCapacity(elementIndices.count)
    for index in elementIndices {
      guard documentNodes[index].encoding == .number,
        let number = Int32(
          exactly: JSONNumber.parsedValue(
            in: documentText.span, range: documentNodes[index].scalarByteRange)),
        range.contains(number)
      else { return nil }
      integerElements.append(number)
    }
    return integerElements
  }

  /// The last member with a key.
  ///
  /// The member is nil if the object has no such member or the value is not an object.
  public subscript(key: String) -> JSONValue? {
    var lastMatchingMember: JSONValue?
    for member in members where member.key == key {
      lastMatchingMember = member
    }
    return lastMatchingMember
  }

  /// The byte offset of the value in the text.
  public var byteOffset: Int { Int(node.startOffset) }

  /// The line, column, and path of the value.
  public var location: FileLocation { document.location(ofValue: nodeIndex) }

  /// The byte offset of the key's opening quote, or of the value if there is no key.
  public var keyOffset: Int { hasKey ? node.keyByteRange.lowerBound - 1 : byteOffset }

  /// The path from the root to the value, such as `Pattern[3].Event.Time`; empty for the root.
  ///
  /// Keys that are not identifiers are written as `["key"]` and shortened to 40 characters.
  public var path: String {
    var pathSteps: [String] = []
    var currentValue = self
    while let parent = currentValue.parent {
      if parent.kind == .object {
        let key = currentValue.truncatedKey
        let isName = !key.isEmpty && key.utf8.count <= 64 && key.utf8.allSatisfy(Self.isNameByte)
        pathSteps.append(isName ? "." + key : "[\(key.quoted(limit: 40))]")
      } else {
        pathSteps.append("[\(currentValue.node.siblingIndex)]")
      }
      currentValue = parent
    }
    let joinedPath = pathSteps.reversed().joined()
    return joinedPath.hasPrefix(".") ? String(joinedPath.dropFirst()) : joinedPath
  }

  /// The key, truncated to 200 bytes to bound the cost of a path.
  private var truncatedKey: String {
    decodedString(node.keyByteRange, isEscaped: node.isKeyEscaped, limit: 200)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    JSONString.isLetter(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
      || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }
}

extension JSONValue.Kind {
  /// The type as a noun with an article, for messages.
  public var nounWithArticle: String {
    switch self {
    case .null: rawValue
    case .object, .array: "an " + rawValue
    case .string, .number, .boolean: "a " + rawValue
    }
  }
}

/// The members of an object, or the elements of an array.
public struct JSONChildren: Sequence, IteratorProtocol, Sendable {
  /// A Boolean value that indicates whether the sequence has no further values.
  public var isEmpty: Bool { nextNodeIndex >= endNodeIndex }

  private let document: JSONDocument
  private var nextNodeIndex: Int
  private let endNodeIndex: Int

  init(of value: JSONValue, if form: JSONNode.Encoding) {
    let valueNode = value.node
    document = value.document
    nextNodeIndex = value.nodeIndex + 1
    endNodeIndex = valueNode.encoding == form ? Int(valueNode.lengthOrEndIndex) : nextNodeIndex
  }

  /// Returns the next value, or nil after the last.
  public mutating func next() -> JSONValue? {
    guard nextNodeIndex < endNodeIndex else { return nil }
    let nextValue = JSONValue(document, uncheckedIndex: nextNodeIndex)
    let nextNode = document.nodes[nextNodeIndex]
    nextNodeIndex = nextNode.isContainer ? Int(nextNode.lengthOrEndIndex) : nextNodeIndex + 1
    return nextValue
  }
}
