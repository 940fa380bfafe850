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
    bytes = names.flatMap(\.utf8)
    var starts = [0]
    for name in names { starts.append(starts[starts.count - 1] + name.utf8.count) }
    self.starts = starts
    var firsts = Array(repeating: -1, count: (names.map(\.utf8.count).max() ?? 0) + 1)
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

  /// The number of the name that is a string value's text, or nothing.
  public func index(ofString value: JSONValue) -> Int? {
    let node = value.node
    guard node.form == .plainString || node.form == .escapedString else { return nil }
    let text = value.document.text
    return index(
      text.span, JSONValue.inside(node.range),
      isEscaped: node.form == .escapedString)
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
}
