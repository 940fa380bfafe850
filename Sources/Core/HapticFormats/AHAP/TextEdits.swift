package import Reading

extension AHAPDocument {
  /// Returns the text with mechanical mistakes corrected and all other bytes unchanged.
  ///
  /// 1. Byte-order marks and trailing commas are removed; the keys `Duration` and `Value`, and
  ///    misspelled parameters, are renamed.
  /// 2. Control points are sorted by time.
  /// 3. Absolute times of control points are made relative.
  ///
  /// Correcting a corrected text changes nothing.
  package func correctedText() throws(InputError) -> [UInt8] {
    var text = TextEdits(json.text).applying(syntaxEdits)
    let renamed = try AHAPDocument(text: text, name: json.name)
    text = TextEdits(text).applying(renamed.pointOrderEdits)
    let sorted = try AHAPDocument(text: text, name: json.name)
    return TextEdits(text).applying(sorted.relativeTimeEdits)
  }

  private var syntaxEdits: [TextEdits.Edit] {
    var edits: [TextEdits.Edit] = []
    for tolerance in json.deviations {
      switch tolerance.kind {
      case .byteOrderMark:
        edits.append(.init(range: 0..<3, bytes: []))
      case .trailingComma:
        edits.append(.init(range: tolerance.offset..<tolerance.offset + 1, bytes: []))
      case .duplicateKey:
        continue
      }
    }
    for entry in entries {
      if let event = entry["Event"] {
        edits += keyRenameEdits("Duration", to: "EventDuration", in: event)
        for parameter in event.elements(under: "EventParameters") {
          edits += keyRenameEdits("Value", to: "ParameterValue", in: parameter)
          edits += parameterNameEdits(parameter, names: AHAPVocabulary.eventParameters.nameList)
        }
      }
      if let parameter = entry["Parameter"] {
        edits += keyRenameEdits("Value", to: "ParameterValue", in: parameter)
        edits += parameterNameEdits(parameter, names: AHAPVocabulary.dynamicParameters.nameList)
      }
      if let curve = entry["ParameterCurve"] {
        edits += parameterNameEdits(curve, names: AHAPVocabulary.dynamicParameters.nameList)
      }
      for point in entry["ParameterCurve"]?.elements(under: "ParameterCurveControlPoints") ?? [] {
        edits += keyRenameEdits("Value", to: "ParameterValue", in: point)
      }
    }
    return edits
  }

  private func keyRenameEdits(_ key: String, to right: String, in object: JSONValue) -> [TextEdits
    .Edit]
  {
    guard object[right] == nil, let member = object[key] else { return [] }
    let range = member.keyOffset..<member.keyOffset + key.utf8.count + 2
    // An escaped spelling stays as its author wrote it.
    guard Array(json.text[range]) == Array("\"\(key)\"".utf8) else { return [] }
    return [TextEdits.Edit(range: range, bytes: Array("\"\(right)\"".utf8))]
  }

  private func parameterNameEdits(_ parameter: JSONValue, names: JSONNameList) -> [TextEdits.Edit] {
    guard let value = parameter["ParameterID"], let text = value.string,
      names.index(ofString: value) == nil,
      let name = names.nearest(to: text), value.lexeme.count == text.utf8.count + 2
    else { return [] }
    return [
      TextEdits.Edit(
        range: value.offset..<value.offset + value.lexeme.count, bytes: Array("\"\(name)\"".utf8))
    ]
  }

  /// Sorts control points by time. Each keeps its spelling; the white space between them stays.
  private var pointOrderEdits: [TextEdits.Edit] {
    guard content != nil else { return [] }
    return curves.flatMap { curve -> [TextEdits.Edit] in
      let points = curve.elements(under: "ParameterCurveControlPoints")
      let times = points.map { $0["Time"]?.number ?? 0 }
      let order = points.indices.sorted { (times[$0], $0) < (times[$1], $1) }
      guard order != Array(points.indices) else { return [] }
      return zip(points, order).map { place, source in
        TextEdits.Edit(
          range: TextEdits.byteRange(of: place, in: json.text),
          bytes: Array(json.text[TextEdits.byteRange(of: points[source], in: json.text)]))
      }
    }
  }

  /// Makes absolute times of control points relative to their curve.
  var relativeTimeEdits: [TextEdits.Edit] {
    guard content?.usesAbsoluteCurveTimes == true else { return [] }
    return curves.flatMap { curve -> [TextEdits.Edit] in
      guard let start = curve["Time"]?.number, start > 0 else { return [] }
      return curve.elements(under: "ParameterCurveControlPoints").compactMap { point in
        guard let value = point["Time"], let time = value.number else { return nil }
        // Rounding to the nanosecond hides binary rounding errors.
        let relative = ((time - start) * 1e9).rounded() / 1e9 + 0
        let range = value.offset..<value.offset + value.lexeme.count
        return TextEdits.Edit(range: range, bytes: Array("\(relative)".utf8))
      }
    }
  }

  /// The content of the text, or nil if it has errors.
  private var content: AHAPContent? { try? read() }

  private var entries: [JSONValue] { json.root.elements(under: "Pattern") }

  private var curves: [JSONValue] { entries.compactMap { $0["ParameterCurve"] } }
}

extension JSONValue {
  fileprivate func elements(under key: String) -> [JSONValue] {
    self[key].map { Array($0.elements) } ?? []
  }
}

struct TextEdits {
  struct Edit {
    var range: Range<Int>
    var bytes: [UInt8]
  }

  private let text: [UInt8]

  init(_ text: [UInt8]) { self.text = text }

  /// Returns the text, or a part of it, with edits applied. Of two edits that overlap, the one that
  /// begins first applies.
  func applying(_ edits: [Edit], within part: Range<Int>? = nil) -> [UInt8] {
    let part = part ?? text.indices
    var result: [UInt8] = []
    result.reserveCapacity(part.count)
    var position = part.lowerBound
    // An insertion precedes a removal at the same position.
    let order = edits.indices.sorted {
      let one = edits[$0].range
      let other = edits[$1].range
      return (one.lowerBound, one.upperBound, $0) < (other.lowerBound, other.upperBound, $1)
    }
    for index in order where edits[index].range.lowerBound >= position {
      result += text[position..<edits[index].range.lowerBound]
      result += edits[index].bytes
      position = edits[index].range.upperBound
    }
    result += text[position..<part.upperBound]
    return result
  }

  /// Returns the range of a value, including its closing bracket.
  static func byteRange(of value: JSONValue, in text: [UInt8]) -> Range<Int> {
    guard value.kind == .object || value.kind == .array else {
      return value.offset..<value.offset + value.lexeme.count
    }
    var depth = 0
    var isInString = false
    var position = value.offset
    while position < text.count {
      let byte = text[position]
      position += 1
      if isInString {
        if byte == UInt8(ascii: "\\") {
          position += 1
        }
        if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return value.offset..<position }
      default:
        continue
      }
    }
    return value.offset..<text.count
  }
}

/// The values that are removed from one object or array, and the texts that are inserted.
struct ContainerEdit {
  var removedIndices: Set<Int> = []
  /// The inserted texts by the index of the preceding value, or −1 for the start.
  private(set) var insertions: [Int: [[UInt8]]] = [:]
  /// The text after the opening bracket of a container that was empty.
  var openingText: [UInt8] = []
  var closingText: [UInt8] = []

  mutating func insert(_ bytes: [UInt8], after value: Int?) {
    insertions[value ?? -1, default: []].append(bytes)
  }

  /// Returns the edits of the text in the style of the container.
  ///
  /// - Parameters:
  ///   - container: The object or array.
  ///   - visited: The number of visited bytes and values, which is increased.
  func edits(of container: JSONValue, visitedCount: inout Int) -> [TextEdits.Edit] {
    let text = container.document.text
    let children = container.children
    visitedCount += children.count
    var extents: [Int: Range<Int>] = [:]
    func extent(_ index: Int) -> Range<Int> {
      if let known = extents[index] { return known }
      let range =
        children[index].keyOffset..<TextEdits.byteRange(of: children[index], in: text).upperBound
      extents[index] = range
      visitedCount += range.count
      return range
    }
    func separator(at index: Int) -> [UInt8] {
      [UInt8(ascii: ",")] + children.separatorWhitespace(at: index)
    }
    func joined(_ texts: [[UInt8]], at index: Int) -> [UInt8] {
      texts.enumerated().reduce(into: []) {
        $0 += ($1.offset == 0 ? [] : separator(at: index)) + $1.element
      }
    }
    let survives = !insertions.isEmpty || children.contains { !removedIndices.contains($0.index) }
    guard !children.isEmpty, survives else {
      let inside =
        container.offset + 1..<TextEdits.byteRange(of: container, in: text).upperBound - 1
      visitedCount += inside.count
      let texts = insertions[-1] ?? []
      guard let first = texts.first else { return [.init(range: inside, bytes: [])] }
      let rest = texts.dropFirst().flatMap { [UInt8(ascii: ",")] + openingText + $0 }
      return [.init(range: inside, bytes: openingText + first + rest + closingText)]
    }
    var edits: [TextEdits.Edit] = []
    var hasPredecessor = false
    for (index, child) in children.enumerated() {
      let front = index == 0 ? insertions[-1] ?? [] : []
      let behind = insertions[child.index] ?? []
      guard removedIndices.contains(child.index) else {
        hasPredecessor = true
        if !front.isEmpty {
          let start = child.keyOffset
          edits.append(.init(range: start..<start, bytes: joined(front, at: 0) + separator(at: 0)))
        }
        if !behind.isEmpty {
          let end = extent(index).upperBound
          edits.append(
            .init(range: end..<end, bytes: separator(at: index) + joined(behind, at: index)))
        }
        continue
      }
      if !(front + behind).isEmpty {
        edits.append(.init(range: extent(index), bytes: joined(front + behind, at: index)))
        hasPredecessor = true
      } else if hasPredecessor {
        edits.append(
          .init(range: extent(index - 1).upperBound..<extent(index).upperBound, bytes: []))
      } else {
        edits.append(.init(range: child.keyOffset..<children[index + 1].keyOffset, bytes: []))
      }
    }
    return edits
  }
}

extension JSONValue {
  var children: [JSONValue] { Array(kind == .object ? members : elements) }

  var leadingWhitespace: [UInt8] {
    let text = document.text
    var start = keyOffset
    while start > 0, text[start - 1] <= 0x20 {
      start -= 1
    }
    return Array(text[start..<keyOffset])
  }

  /// The bytes between the key and the value. A line break becomes a space.
  var keySeparator: [UInt8] {
    let text = document.text
    var start = offset
    while start > 0, text[start - 1] != UInt8(ascii: "\"") {
      start -= 1
    }
    let colon = Array(text[start..<offset])
    return colon.hasLineBreak ? Array(": ".utf8) : colon
  }

  /// A Boolean value that indicates whether the first colon of the text is followed by a space.
  var hasSpacesAfterColons: Bool {
    document.root.members.first { _ in true }.map { $0.keySeparator.count > 1 } ?? true
  }
}

extension [JSONValue] {
  /// Returns the white space between an element and the next, in the style of its neighbors.
  func separatorWhitespace(at index: Int) -> [UInt8] {
    if index > 0 || count > 1 { return self[Swift.max(index, 1)].leadingWhitespace }
    let space = self[0].leadingWhitespace
    return space.hasLineBreak ? space : self[0].hasSpacesAfterColons ? [0x20] : []
  }
}

extension [UInt8] { var hasLineBreak: Bool { contains { $0 == 0x0A || $0 == 0x0D } } }
