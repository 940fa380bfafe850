/// A page with places to fill, each written `{{name}}`.
///
/// What is filled in is never searched for places, so that no text can ask for another's.
struct PageTemplate {
  private let text: [UInt8]

  /// A template from a resource.
  init(_ text: [UInt8]) { self.text = text }

  /// The page with every place filled; a name without a filling stays empty.
  ///
  /// - Parameter capacity: About how many bytes the fillings have together.
  func filled(with fillings: [String: [UInt8]], capacity: Int = 0) -> [UInt8] {
    var page: [UInt8] = []
    page.reserveCapacity(text.count + capacity)
    var index = 0
    while index < text.count {
      if let place = place(at: index) {
        page += fillings[place.name] ?? []
        index = place.end
      } else {
        page.append(text[index])
        index += 1
      }
    }
    return page
  }

  /// The names of all places, in order.
  var names: [String] {
    text.indices.compactMap { place(at: $0)?.name }
  }

  private func place(at index: Int) -> (name: String, end: Int)? {
    let brace = UInt8(ascii: "{")
    guard text[index] == brace, index + 1 < text.count, text[index + 1] == brace else { return nil }
    var end = index + 2
    while end < text.count, text[end].isNameByte { end += 1 }
    guard end > index + 2, end + 1 < text.count else { return nil }
    guard text[end] == UInt8(ascii: "}"), text[end + 1] == UInt8(ascii: "}") else { return nil }
    return (String(decoding: text[index + 2..<end], as: UTF8.self), end + 2)
  }
}

extension UInt8 {
  /// Whether the byte can stand in the name of a place.
  fileprivate var isNameByte: Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
  }
}
