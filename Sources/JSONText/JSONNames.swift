/// A fixed list of names that keys or strings are compared with, without making strings of them.
public struct JSONNames: Sendable {
  /// The names, in the order that gives them their numbers.
  public let names: [String]

  private let bytes: [UInt8]
  private let starts: [Int]

  /// Makes a list; the first of two equal names counts.
  public init(_ names: [String]) {
    self.names = names
    bytes = names.flatMap(\.utf8)
    var starts = [0]
    for name in names { starts.append(starts[starts.count - 1] + name.utf8.count) }
    self.starts = starts
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
    search: for index in names.indices {
      let start = starts[index]
      guard starts[index + 1] - start == range.count else { continue }
      for step in 0..<range.count where bytes[start + step] != text[range.lowerBound + step] {
        continue search
      }
      return index
    }
    return nil
  }
}
