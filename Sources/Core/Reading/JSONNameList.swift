/// A list of names for comparison with keys and strings without allocation.
public struct JSONNameList: Sendable {
  /// The names of the list, in index order.
  public let names: [String]

  private let nameBytes: [[UInt8]]

  /// Creates a list. If a name occurs more than once, its first index applies.
  public init(_ names: [String]) {
    self.names = names
    nameBytes = names.map { Array($0.utf8) }
  }

  /// Returns the index of the name that equals the key of a value, or nil.
  public func index(ofKey value: JSONValue) -> Int? {
    let valueNode = value.node
    let documentText = value.document.text
    return nameIndex(documentText.span, valueNode.keyByteRange, isEscaped: valueNode.isKeyEscaped)
  }

  /// Indexes the members of an object by key, in a single pass. The list may contain at most 32
  /// names.
  package func indexedMembers(of object: JSONValue) -> JSONIndexedMembers {
    var indexedMembers = JSONIndexedMembers(of: object.document)
    let allNodes = object.document.nodes
    let allText = object.document.text
    let nodeSpan = allNodes.span
    let textSpan = allText.span
    let objectEndIndex =
      nodeSpan[object.nodeIndex].encoding == .object
      ? Int(nodeSpan[object.nodeIndex].lengthOrEndIndex) : 0
    var memberNodeIndex = object.nodeIndex + 1
    while memberNodeIndex < objectEndIndex {
      let node = nodeSpan[memberNodeIndex]
      indexedMembers.add(
        nameIndex: nameIndex(textSpan, node.keyByteRange, isEscaped: node.isKeyEscaped),
        memberIndex: memberNodeIndex)
      memberNodeIndex = node.isContainer ? Int(node.lengthOrEndIndex) : memberNodeIndex + 1
    }
    return indexedMembers
  }

  /// Returns the index of the name that equals a string value, or nil.
  public func index(ofString value: JSONValue) -> Int? {
    let valueNode = value.node
    guard valueNode.encoding == .plainString || valueNode.encoding == .escapedString else {
      return nil
    }
    let documentText = value.document.text
    return nameIndex(
      documentText.span, JSONValue.contentRange(of: valueNode.scalarByteRange),
      isEscaped: valueNode.encoding == .escapedString)
  }

  private func nameIndex(_ text: Span<UInt8>, _ range: Range<Int>, isEscaped: Bool) -> Int? {
    if isEscaped {
      let decoded = JSONString.decode(text, range, isEscaped: true)
      return nameIndex(decoded.span, 0..<decoded.count, isEscaped: false)
    }
    search: for (index, name) in nameBytes.enumerated() where name.count == range.count {
      for offset in name.indices where name[offset] != text[range.lowerBound + offset] {
        continue search
      }
      return index
    }
    return nil
  }

  /// Returns the name that the user probably meant, for "did you mean …?", or nil.
  ///
  /// - The name with the smallest edit distance, ignoring case, if at most a third of the text
  ///   differs.
  /// - Otherwise, the shortest name that contains the text or is contained in it.
  ///
  /// For texts longer than 64 bytes, the result is nil.
  public func nearest(to text: String) -> String? {
    guard !text.isEmpty, text.utf8.count <= 64 else { return nil }
    let textBytes = Array(text.lowercased().utf8)
    var nearestCandidate: (name: String, distance: Int)?
    for name in names where name != text {
      let nameBytes = Array(name.lowercased().utf8)
      let limit = nearestCandidate?.distance ?? (max(textBytes.count, 3) / 3 + 1)
      // The difference in length is a lower bound of the distance, which excludes most names.
      guard abs(nameBytes.count - textBytes.count) < limit else { continue }
      let distance = Self.editDistance(textBytes, nameBytes)
      if distance < limit {
        nearestCandidate = (name, distance)
      }
    }
    if let nearestCandidate { return nearestCandidate.name }
    guard textBytes.count >= 4 else { return nil }
    let relatedNames = names.filter { name in
      let nameBytes = Array(name.lowercased().utf8)
      guard name != text, nameBytes.count >= 4 else { return false }
      return Self.contains(nameBytes, subsequence: textBytes)
        || Self.contains(textBytes, subsequence: nameBytes)
    }
    return relatedNames.min { $0.utf8.count < $1.utf8.count }
  }

  private static func contains(_ text: [UInt8], subsequence: [UInt8]) -> Bool {
    text.indices.contains { text[$0...].starts(with: subsequence) }
  }

  /// Returns the edit distance between two texts.
  ///
  /// It is the number of insertions, deletions, substitutions, and adjacent transpositions that
  /// turn one text into the other.
  ///
  /// Source: the optimal string alignment distance (L. Boytsov, Indexing methods for approximate
  /// dictionary searching, 2011, section 2).
  static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    // Keep three rows of the prefix distance table: the current row and the previous two.
    var rowBeforePrevious = Array(0...right.count)
    var previousRow = rowBeforePrevious
    var currentRow = rowBeforePrevious
    for i in left.indices {
      currentRow[0] = i + 1
      for j in right.indices {
        let replacement = previousRow[j] + (left[i] == right[j] ? 0 : 1)
        var cost = min(currentRow[j] + 1, previousRow[j + 1] + 1, replacement)
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
          cost = min(cost, rowBeforePrevious[j - 1] + 1)
        }
        currentRow[j + 1] = cost
      }
      (rowBeforePrevious, previousRow, currentRow) = (previousRow, currentRow, rowBeforePrevious)
    }
    return previousRow[right.count]
  }
}
