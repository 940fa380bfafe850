import Reading

/// A text, and changes of parts of it.
struct TextEdits {
  struct Edit {
    var range: Range<Int>
    var bytes: [UInt8]
  }

  private let text: [UInt8]

  init(_ text: [UInt8]) { self.text = text }

  /// The text, or a part of it, with some changes; of two that overlap, the one that begins earlier counts.
  func applying(_ edits: [Edit], within part: Range<Int>? = nil) -> [UInt8] {
    let part = part ?? text.indices
    var result: [UInt8] = []
    result.reserveCapacity(part.count)
    var position = part.lowerBound
    // What is inserted in front of what is removed comes first.
    let order = edits.indices.sorted {
      (edits[$0].range.lowerBound, edits[$0].range.upperBound, $0)
        < (edits[$1].range.lowerBound, edits[$1].range.upperBound, $1)
    }
    for index in order where edits[index].range.lowerBound >= position {
      result += text[position..<edits[index].range.lowerBound]
      result += edits[index].bytes
      position = edits[index].range.upperBound
    }
    result += text[position..<part.upperBound]
    return result
  }

  /// The bytes of a value, up to its closing bracket.
  static func extent(of value: JSONValue, in text: [UInt8]) -> Range<Int> {
    guard value.kind == .object || value.kind == .array else { return value.offset..<value.offset + value.lexeme.count }
    var depth = 0
    var isInString = false
    var position = value.offset
    while position < text.count {
      let byte = text[position]
      position += 1
      if isInString {
        if byte == UInt8(ascii: "\\") { position += 1 }
        if byte == UInt8(ascii: "\"") { isInString = false }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return value.offset..<position }
      default: continue
      }
    }
    return value.offset..<text.count
  }
}

/// Values that are removed from one object or array, and texts that are added to it.
struct ContentsEdit {
  /// The numbers of values.
  var removed: Set<Int> = []
  /// Texts by the number of the value they come behind, −1 for the front.
  private(set) var added: [Int: [[UInt8]]] = [:]
  /// What surrounds texts that are added to an empty container.
  var opening: [UInt8] = []
  var closing: [UInt8] = []

  mutating func add(_ bytes: [UInt8], behind value: Int?) { added[value ?? -1, default: []].append(bytes) }

  /// The edits of the text, set as the container is; `visited` grows by the bytes and values that were looked at.
  func edits(of container: JSONValue, visited: inout Int) -> [TextEdits.Edit] {
    let text = container.document.text
    let children = container.children
    visited += children.count
    var extents: [Int: Range<Int>] = [:]
    func extent(_ index: Int) -> Range<Int> {
      if let known = extents[index] { return known }
      let range = children[index].keyOffset..<TextEdits.extent(of: children[index], in: text).upperBound
      extents[index] = range
      visited += range.count
      return range
    }
    func separator(at index: Int) -> [UInt8] { [UInt8(ascii: ",")] + children.gap(at: index) }
    func joined(_ texts: [[UInt8]], at index: Int) -> [UInt8] {
      texts.enumerated().reduce(into: []) { $0 += ($1.offset == 0 ? [] : separator(at: index)) + $1.element }
    }
    let survives = !added.isEmpty || children.contains { !removed.contains($0.index) }
    guard !children.isEmpty, survives else {
      let inside = container.offset + 1..<TextEdits.extent(of: container, in: text).upperBound - 1
      visited += inside.count
      let texts = added[-1] ?? []
      guard let first = texts.first else { return [.init(range: inside, bytes: [])] }
      let rest = texts.dropFirst().flatMap { [UInt8(ascii: ",")] + opening + $0 }
      return [.init(range: inside, bytes: opening + first + rest + closing)]
    }
    var edits: [TextEdits.Edit] = []
    var hasPredecessor = false
    for (index, child) in children.enumerated() {
      let front = index == 0 ? added[-1] ?? [] : []
      let behind = added[child.index] ?? []
      guard removed.contains(child.index) else {
        hasPredecessor = true
        if !front.isEmpty {
          let start = child.keyOffset
          edits.append(.init(range: start..<start, bytes: joined(front, at: 0) + separator(at: 0)))
        }
        if !behind.isEmpty {
          let end = extent(index).upperBound
          edits.append(.init(range: end..<end, bytes: separator(at: index) + joined(behind, at: index)))
        }
        continue
      }
      if !(front + behind).isEmpty {
        edits.append(.init(range: extent(index), bytes: joined(front + behind, at: index)))
        hasPredecessor = true
      } else if hasPredecessor {
        edits.append(.init(range: extent(index - 1).upperBound..<extent(index).upperBound, bytes: []))
      } else {
        edits.append(.init(range: child.keyOffset..<children[index + 1].keyOffset, bytes: []))
      }
    }
    return edits
  }
}

extension JSONValue {
  /// The members of an object, or the elements of an array.
  var children: [JSONValue] { Array(kind == .object ? members : elements) }

  /// The space in front of the value, or of its key.
  var leadingSpace: [UInt8] {
    let text = document.text
    var start = keyOffset
    while start > 0, text[start - 1] <= 0x20 { start -= 1 }
    return Array(text[start..<keyOffset])
  }

  /// What stands between the value and its key; a line break there is a space.
  var colon: [UInt8] {
    let text = document.text
    var start = offset
    while start > 0, text[start - 1] != UInt8(ascii: "\"") { start -= 1 }
    let colon = Array(text[start..<offset])
    return colon.hasLineBreak ? Array(": ".utf8) : colon
  }

  /// Whether the text has spaces behind colons and commas: whether its first colon has.
  var isSpaced: Bool { document.root.members.first { _ in true }.map { $0.colon.count > 1 } ?? true }
}

extension [JSONValue] {
  /// The space between the comma behind a value and the next, as its neighbours have it.
  func gap(at index: Int) -> [UInt8] {
    if index > 0 || count > 1 { return self[Swift.max(index, 1)].leadingSpace }
    let space = self[0].leadingSpace
    return space.hasLineBreak ? space : self[0].isSpaced ? [0x20] : []
  }
}

extension [UInt8] {
  var hasLineBreak: Bool { contains { $0 == 0x0A || $0 == 0x0D } }
}
