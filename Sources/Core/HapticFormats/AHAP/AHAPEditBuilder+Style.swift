import Reading

// The formatting of inserted parts, which follows their neighbors or similar parts.

extension AHAPEditBuilder {
  /// Returns the line break and the indentation per level for an entry after another entry.
  ///
  /// The line break is empty if entries share a line.
  func entryLayout(after neighbor: JSONValue?, in list: JSONValue) -> (
    lineStart: [UInt8], indentation: [UInt8]
  ) {
    let defaultIndentation: [UInt8] = [0x20, 0x20]
    guard let neighbor else {
      let listStart = list.leadingWhitespace
      guard listStart.hasLineBreak else { return ([], defaultIndentation) }
      let listIndentation = Array(listStart.drop { $0 == 0x0A || $0 == 0x0D })
      let indentation = listIndentation.isEmpty ? defaultIndentation : listIndentation
      return (listStart + indentation, indentation)
    }
    guard let innerWhitespace = neighbor.children.first?.leadingWhitespace,
      innerWhitespace.hasLineBreak
    else {
      return ([], defaultIndentation)
    }
    let outerWhitespace = neighbor.leadingWhitespace
    let isIndented =
      outerWhitespace.hasLineBreak && innerWhitespace.count > outerWhitespace.count
      && innerWhitespace.starts(with: outerWhitespace)
    guard isIndented else { return (innerWhitespace, defaultIndentation) }
    return (outerWhitespace, Array(innerWhitespace[outerWhitespace.count...]))
  }

  /// Returns the text of an entry, on one line or with each new line beginning with `lineStart`.
  ///
  /// - Parameters:
  ///   - entry: The entry to format.
  ///   - lineStart: A line break followed by the indentation of the entry; empty for a single line.
  ///   - indentation: The indentation per level.
  func entryText(_ entry: JSONValue, lineStart: [UInt8], indentation: [UInt8]) -> [UInt8] {
    guard lineStart.hasLineBreak else {
      var writer = JSONWriter(layout: root.hasSpacesAfterColons ? .singleLine : .compact)
      writer.writeValue(copying: entry)
      return writer.writtenBytes
    }
    var entryTextBytes: [UInt8] = []
    let canonicalLines = AHAPSchemas.entrySchema.canonicalText(of: entry).split(separator: 0x0A)
    for (index, line) in canonicalLines.enumerated() {
      let depth = line.prefix { $0 == 0x20 }.count / 2
      if index > 0 {
        entryTextBytes += lineStart + (0..<depth).flatMap { _ in indentation }
      }
      entryTextBytes += line.drop { $0 == 0x20 }
    }
    return entryTextBytes
  }

  /// Returns the white space before the closing bracket of an array.
  func closingWhitespace(of list: JSONValue) -> [UInt8] {
    let closingBracketOffset = TextEdits.byteRange(of: list, in: sourceText).upperBound - 1
    var whitespaceStartOffset = closingBracketOffset
    while whitespaceStartOffset > 0, sourceText[whitespaceStartOffset - 1] <= 0x20 {
      whitespaceStartOffset -= 1
    }
    return Array(sourceText[whitespaceStartOffset..<closingBracketOffset])
  }

  /// Returns the text of an object on one line or in the style of an existing object.
  ///
  /// The existing object must have the same keys.
  func objectText(_ members: [MemberText], like sample: JSONValue?) -> [UInt8] {
    if let sample, sample.children.count == members.count {
      let edits = members.compactMap { member in
        sample[member.key].map {
          TextEdits.Edit(
            byteRange: TextEdits.byteRange(of: $0, in: sourceText),
            replacementBytes: member.valueBytes)
        }
      }
      if edits.count == members.count {
        return TextEdits(sourceText).applying(
          edits, within: TextEdits.byteRange(of: sample, in: sourceText))
      }
    }
    let colonSpacing: [UInt8] = root.hasSpacesAfterColons ? [0x20] : []
    var objectBytes = [UInt8(ascii: "{")]
    for (index, member) in members.enumerated() {
      if index > 0 {
        objectBytes += [UInt8(ascii: ",")] + colonSpacing
      }
      objectBytes += Array("\"\(member.key)\":".utf8) + colonSpacing + member.valueBytes
    }
    return objectBytes + [UInt8(ascii: "}")]
  }
}

extension JSONValue {
  /// The array element that is, or directly contains, this value.
  var enclosingEntry: JSONValue {
    parent.flatMap { $0.kind == .object ? $0 : nil } ?? self
  }

  /// A Boolean value that indicates whether an entry of `Pattern` contains more than one part.
  var hasSeveralPatternElements: Bool {
    AHAPSchemas.entrySchema.keys.count { self[$0.name].map { $0.kind != .null } == true } > 1
  }
}
