import Reading

/// The removals and insertions in one object or array.
struct ContainerEdit {
  /// The indices of the removed values.
  var removedIndices: Set<Int> = []
  /// The inserted texts, by the index of the value that precedes them; −1 for the start.
  private(set) var insertedTexts: [Int: [[UInt8]]] = [:]
  /// The white space after the opening bracket if the container was empty.
  var openingWhitespace: [UInt8] = []
  /// The white space before the closing bracket if the container was empty.
  var closingWhitespace: [UInt8] = []

  /// Inserts a text after a value, or at the start.
  mutating func insert(_ bytes: [UInt8], after valueIndex: Int?) {
    insertedTexts[valueIndex ?? -1, default: []].append(bytes)
  }

  /// Returns the byte edits, formatted in the style of the container.
  ///
  /// - Parameters:
  ///   - container: The object or array to edit.
  ///   - visitedCount: Increased by the number of bytes and values visited.
  func byteEdits(of container: JSONValue, visitedCount: inout Int) -> [TextEdits.Edit] {
    let children = container.children
    visitedCount += children.count
    let isEmptyAfterwards =
      insertedTexts.isEmpty && children.allSatisfy { removedIndices.contains($0.nodeIndex) }
    guard !children.isEmpty, !isEmptyAfterwards else {
      return [contentsEdit(of: container, visitedCount: &visitedCount)]
    }
    var childWriter = ChildEditWriter(children: children, text: container.document.text)
    for (index, child) in children.enumerated() {
      let textsBefore = index == 0 ? insertedTexts[-1] ?? [] : []
      let textsAfter = insertedTexts[child.nodeIndex] ?? []
      if removedIndices.contains(child.nodeIndex) {
        childWriter.removeChild(at: index, replacingBy: textsBefore + textsAfter)
      } else {
        childWriter.keepChild(at: index, textsBefore: textsBefore, textsAfter: textsAfter)
      }
    }
    visitedCount += childWriter.visitedByteCount
    return childWriter.byteEdits
  }

  /// Returns the edit of a container that was empty before or is empty afterward.
  private func contentsEdit(of container: JSONValue, visitedCount: inout Int) -> TextEdits.Edit {
    let documentText = container.document.text
    let closingBracketOffset = TextEdits.byteRange(of: container, in: documentText).upperBound - 1
    let contentsRange = container.byteOffset + 1..<closingBracketOffset
    visitedCount += contentsRange.count
    let textsAtStart = insertedTexts[-1] ?? []
    guard let firstText = textsAtStart.first else {
      return TextEdits.Edit(byteRange: contentsRange, replacementBytes: [])
    }
    let laterTexts = textsAtStart.dropFirst().flatMap {
      [UInt8(ascii: ",")] + openingWhitespace + $0
    }
    return TextEdits.Edit(
      byteRange: contentsRange,
      replacementBytes: openingWhitespace + firstText + laterTexts + closingWhitespace)
  }
}

/// Collects byte edits around the children of a container, in order.
private struct ChildEditWriter {
  let children: [JSONValue]
  let text: [UInt8]
  private(set) var byteEdits: [TextEdits.Edit] = []
  /// The number of bytes visited so far.
  private(set) var visitedByteCount = 0
  /// The byte range of each child with its key, by child index.
  private var childByteRanges: [Int: Range<Int>] = [:]
  /// A Boolean value that indicates whether a child or inserted text precedes the current child.
  private var hasPredecessor = false

  init(children: [JSONValue], text: [UInt8]) {
    self.children = children
    self.text = text
  }

  /// Keeps a child, and inserts texts before and after it.
  mutating func keepChild(at index: Int, textsBefore: [[UInt8]], textsAfter: [[UInt8]]) {
    hasPredecessor = true
    if !textsBefore.isEmpty {
      let start = children[index].keyOffset
      let bytes = joinedWithSeparators(textsBefore, at: 0) + separatorText(at: 0)
      byteEdits.append(TextEdits.Edit(byteRange: start..<start, replacementBytes: bytes))
    }
    if !textsAfter.isEmpty {
      let end = childByteRange(of: index).upperBound
      let bytes = separatorText(at: index) + joinedWithSeparators(textsAfter, at: index)
      byteEdits.append(TextEdits.Edit(byteRange: end..<end, replacementBytes: bytes))
    }
  }

  /// Removes a child with one adjacent comma, or replaces it with new texts.
  mutating func removeChild(at index: Int, replacingBy texts: [[UInt8]]) {
    if !texts.isEmpty {
      byteEdits.append(
        TextEdits.Edit(
          byteRange: childByteRange(of: index),
          replacementBytes: joinedWithSeparators(texts, at: index)))
      hasPredecessor = true
    } else if hasPredecessor {
      let start = childByteRange(of: index - 1).upperBound
      byteEdits.append(
        TextEdits.Edit(
          byteRange: start..<childByteRange(of: index).upperBound, replacementBytes: []))
    } else {
      let end = children[index + 1].keyOffset
      byteEdits.append(
        TextEdits.Edit(byteRange: children[index].keyOffset..<end, replacementBytes: []))
    }
  }

  private mutating func childByteRange(of index: Int) -> Range<Int> {
    if let cachedRange = childByteRanges[index] { return cachedRange }
    let childEndOffset = TextEdits.byteRange(of: children[index], in: text).upperBound
    let childRange = children[index].keyOffset..<childEndOffset
    childByteRanges[index] = childRange
    visitedByteCount += childRange.count
    return childRange
  }

  private func separatorText(at index: Int) -> [UInt8] {
    [UInt8(ascii: ",")] + children.separatorWhitespace(at: index)
  }

  private func joinedWithSeparators(_ texts: [[UInt8]], at index: Int) -> [UInt8] {
    var joinedBytes: [UInt8] = []
    for (position, text) in texts.enumerated() {
      if position > 0 {
        joinedBytes += separatorText(at: index)
      }
      joinedBytes += text
    }
    return joinedBytes
  }
}

extension JSONValue {
  /// The members of an object, or the elements of an array.
  var children: [JSONValue] { Array(kind == .object ? members : elements) }

  /// The white space before the value, or before its key if it is an object member.
  var leadingWhitespace: [UInt8] {
    let documentText = document.text
    var whitespaceStartOffset = keyOffset
    while whitespaceStartOffset > 0, documentText[whitespaceStartOffset - 1] <= 0x20 {
      whitespaceStartOffset -= 1
    }
    return Array(documentText[whitespaceStartOffset..<keyOffset])
  }

  /// The text between the key and the value of a member, or `: ` if that text contains a line
  /// break.
  var keySeparator: [UInt8] {
    let documentText = document.text
    var separatorStartOffset = byteOffset
    while separatorStartOffset > 0, documentText[separatorStartOffset - 1] != UInt8(ascii: "\"") {
      separatorStartOffset -= 1
    }
    let separatorBytes = Array(documentText[separatorStartOffset..<byteOffset])
    return separatorBytes.hasLineBreak ? Array(": ".utf8) : separatorBytes
  }

  /// A Boolean value that indicates whether the first colon in the text is followed by a space.
  var hasSpacesAfterColons: Bool {
    document.root.members.first { _ in true }.map { $0.keySeparator.count > 1 } ?? true
  }
}

extension [JSONValue] {
  /// Returns the white space between two elements, in the style of neighboring elements.
  func separatorWhitespace(at index: Int) -> [UInt8] {
    if index > 0 || count > 1 { return self[Swift.max(index, 1)].leadingWhitespace }
    let firstWhitespace = self[0].leadingWhitespace
    if firstWhitespace.hasLineBreak { return firstWhitespace }
    return self[0].hasSpacesAfterColons ? [0x20] : []
  }
}

extension [UInt8] {
  var hasLineBreak: Bool { contains { $0 == 0x0A || $0 == 0x0D } }
}
