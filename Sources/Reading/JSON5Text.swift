/// A text in JSON5 as JSON, with where each byte came from.
///
/// Comments become spaces, keys without quotes and strings in single quotes get double ones, and
/// numbers that begin or end with a point or begin with a plus get the digits that JSON wants. Other
/// things that JSON5 allows stay as they are, and a reader of JSON refuses them.
///
/// Source: the JSON5 Data Interchange Format, version 1.0.0.
package struct JSON5Text: Sendable {
  /// The text as JSON, apart from commas before closing brackets.
  package private(set) var json: [UInt8] = []
  private var origins: [Int] = []
  private let text: [UInt8]

  /// Turns a text into JSON; takes time in proportion to it.
  package init(_ text: [UInt8]) {
    self.text = text
    json.reserveCapacity(text.count + text.count / 8)
    origins.reserveCapacity(text.count + text.count / 8)
    var position = 0
    while position < text.count {
      switch text[position] {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): position = copyString(from: position)
      case UInt8(ascii: "/"): position = copyComment(from: position)
      case let byte where Self.isInName(byte): position = copyWord(from: position)
      default:
        append(text[position], position)
        position += 1
      }
    }
  }

  /// The place in the given text of a place in the JSON.
  package func place(of place: SourcePlace) -> SourcePlace {
    guard case .text(let line, let column) = place.position else { return place }
    let index = LineIndex()
    // Lines are those of the given text, since nothing adds or removes one; only columns differ.
    var low = 0
    var high = json.count
    while low < high {
      let middle = (low + high) / 2
      let position = index.position(of: middle, in: json)
      if (position.line, position.column) < (line, column) { low = middle + 1 } else { high = middle }
    }
    let origin = low < origins.count ? origins[low] : text.count
    return LineIndex().place(of: origin, in: text, name: place.name, path: place.path)
  }

  private mutating func append(_ byte: UInt8, _ origin: Int) {
    json.append(byte)
    origins.append(origin)
  }

  private mutating func copyString(from start: Int) -> Int {
    let quote = text[start]
    append(UInt8(ascii: "\""), start)
    var position = start + 1
    while position < text.count, text[position] != quote, text[position] != UInt8(ascii: "\n") {
      if text[position] == UInt8(ascii: "\\"), position + 1 < text.count {
        // An escaped single quote needs no escape in JSON.
        if text[position + 1] != UInt8(ascii: "'") { append(text[position], position) }
        position += 1
      } else if text[position] == UInt8(ascii: "\"") {
        append(UInt8(ascii: "\\"), position)
      }
      append(text[position], position)
      position += 1
    }
    guard position < text.count, text[position] == quote else { return position }
    append(UInt8(ascii: "\""), position)
    return position + 1
  }

  private mutating func copyComment(from start: Int) -> Int {
    let next = start + 1 < text.count ? text[start + 1] : 0
    guard next == UInt8(ascii: "/") || next == UInt8(ascii: "*") else {
      append(text[start], start)
      return start + 1
    }
    var position = start
    while position < text.count {
      let byte = text[position]
      let isBreak = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
      if next == UInt8(ascii: "/"), isBreak { return position }
      append(isBreak ? byte : UInt8(ascii: " "), position)
      position += 1
      if next == UInt8(ascii: "*"), byte == UInt8(ascii: "/"), position >= start + 4,
        text[position - 2] == UInt8(ascii: "*")
      {
        return position
      }
    }
    return position
  }

  private mutating func copyWord(from start: Int) -> Int {
    var end = start
    while end < text.count, Self.isInName(text[end]) { end += 1 }
    var next = end
    while next < text.count, text[next] <= 0x20 { next += 1 }
    let isKey = next < text.count && text[next] == UInt8(ascii: ":")
    if isKey { append(UInt8(ascii: "\""), start) }
    let isNumber = !isKey && [UInt8(ascii: "."), UInt8(ascii: "+")].contains(text[start])
    for position in start..<end {
      if isNumber, position == start {
        if text[position] == UInt8(ascii: "+") { continue }
        append(UInt8(ascii: "0"), position)
      }
      append(text[position], position)
    }
    if isKey { append(UInt8(ascii: "\""), end - 1) }
    if !isKey, text[end - 1] == UInt8(ascii: "."), end - start > 1 { append(UInt8(ascii: "0"), end - 1) }
    return end
  }

  private static func isInName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "."), UInt8(ascii: "+"),
      UInt8(ascii: "-"), 0x80...:
      true
    default: false
    }
  }
}
