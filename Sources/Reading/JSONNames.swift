/// A fixed list of names that keys or strings are compared with, without making strings of them.
public struct JSONNames: Sendable {
  /// The names, in the order that gives them their numbers.
  public let names: [String]

  private let bytes: [UInt8]
  private let starts: [Int]
  /// For each length the first name that has it, and for each name the next of its length; −1 is none.
  private let firsts: [Int]
  private let nexts: [Int]

  /// Makes a list; the first of two equal names counts.
  public init(_ names: [String]) {
    self.names = names
    bytes = names.flatMap { $0.utf8 }
    var starts = [0]
    for name in names { starts.append(starts[starts.count - 1] + name.utf8.count) }
    self.starts = starts
    var firsts = Array(repeating: -1, count: (names.map { $0.utf8.count }.max() ?? 0) + 1)
    var nexts = Array(repeating: -1, count: names.count)
    for index in names.indices.reversed() {
      let length = names[index].utf8.count
      nexts[index] = firsts[length]
      firsts[length] = index
    }
    self.firsts = firsts
    self.nexts = nexts
  }

  /// The number of the name that is a value's key, or nothing.
  public func index(ofKey value: JSONValue) -> Int? {
    let node = value.node
    let text = value.document.text
    return index(text.span, node.keyRange, isEscaped: node.isKeyEscaped)
  }

  /// The members of an object by the numbers of their keys, found in one pass; at most 32 names.
  package func fields(of object: JSONValue) -> JSONFields {
    var fields = JSONFields(of: object.document)
    let (allNodes, allText) = (object.document.nodes, object.document.text)
    let nodes = allNodes.span
    let text = allText.span
    let end = nodes[object.index].form == .object ? Int(nodes[object.index].extent) : 0
    var member = object.index + 1
    while member < end {
      let node = nodes[member]
      fields.add(index(text, node.keyRange, isEscaped: node.isKeyEscaped), at: member)
      member = node.isContainer ? Int(node.extent) : member + 1
    }
    return fields
  }

  /// The number of the name that is a string value's text, or nothing.
  public func index(ofString value: JSONValue) -> Int? {
    let node = value.node
    guard node.form == .plainString || node.form == .escapedString else { return nil }
    let text = value.document.text
    return index(text.span, JSONValue.inside(node.range), isEscaped: node.form == .escapedString)
  }

  private func index(_ text: Span<UInt8>, _ range: Range<Int>, isEscaped: Bool) -> Int? {
    if isEscaped {
      let decoded = JSONString.decode(text, range, isEscaped: true)
      return index(decoded.span, 0..<decoded.count, isEscaped: false)
    }
    guard range.count < firsts.count else { return nil }
    var index = firsts[range.count]
    search: while index >= 0 {
      let start = starts[index]
      for step in 0..<range.count where bytes[start + step] != text[range.lowerBound + step] {
        index = nexts[index]
        continue search
      }
      return index
    }
    return nil
  }

  /// The name that was probably meant by another, for "did you mean …?", or nothing.
  ///
  /// The nearest by edit distance if no more than a third of the text would have to change,
  /// capitals aside; else the shortest that contains the text, or is contained in it. Texts of more
  /// than 64 bytes have no neighbours.
  public func nearest(to text: String) -> String? {
    guard !text.isEmpty, text.utf8.count <= 64 else { return nil }
    let wanted = Array(text.lowercased().utf8)
    var best: (name: String, distance: Int)?
    for name in names where name != text {
      let other = Array(name.lowercased().utf8)
      let limit = best?.distance ?? (max(wanted.count, 3) / 3 + 1)
      // No text is nearer than the difference in length, which rules out most.
      guard abs(other.count - wanted.count) < limit else { continue }
      let distance = Self.distance(wanted, other)
      if distance < limit { best = (name, distance) }
    }
    if let best { return best.name }
    guard wanted.count >= 4 else { return nil }
    return names.filter { name in
      let other = Array(name.lowercased().utf8)
      return name != text && other.count >= 4 && (Self.contains(other, wanted) || Self.contains(wanted, other))
    }.min { $0.utf8.count < $1.utf8.count }
  }

  private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    text.indices.contains { text[$0...].starts(with: part) }
  }

  /// How many insertions, deletions, replacements and swaps of neighbours turn one text into
  /// another.
  ///
  /// Source: the optimal string alignment distance (L. Boytsov, Indexing methods for approximate
  /// dictionary searching, 2011, section 2).
  static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var before = Array(0...right.count)
    var last = before
    var row = before
    for i in left.indices {
      row[0] = i + 1
      for j in right.indices {
        var cost = min(row[j] + 1, last[j + 1] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] { cost = min(cost, before[j - 1] + 1) }
        row[j + 1] = cost
      }
      (before, last, row) = (last, row, before)
    }
    return last[right.count]
  }
}

/// The members of an object by the numbers of their keys in a list of names.
package struct JSONFields: ~Copyable {
  /// How many members the object has.
  package private(set) var memberCount = 0
  /// The names that are keys, as bits.
  package private(set) var names: UInt32 = 0
  private let document: JSONDocument
  private var members = InlineArray<32, UInt32>(repeating: 0)

  init(of document: JSONDocument) { self.document = document }

  /// Notes the next member and the number of its key, where that has one.
  mutating func add(_ name: Int?, at member: Int) {
    memberCount += 1
    guard let name else { return }
    names |= 1 << UInt32(name)
    members[name] = UInt32(truncatingIfNeeded: member)
  }

  /// Whether each member has a name of its own, out of some given as bits.
  package func areDistinct(among allowed: UInt32) -> Bool {
    names & ~allowed == 0 && names.nonzeroBitCount == memberCount
  }

  /// The last member whose key is a name, or nil.
  package subscript(name: Int) -> JSONValue? {
    names & 1 << UInt32(name) == 0 ? nil : JSONValue(document, known: Int(members[name]))
  }
}
