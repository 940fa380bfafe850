import JSONText

/// Values of a text in which nothing was found wrong: each has the kind its key asks for.
extension JSONValue {
  /// The number under a key, or nothing where the key is absent.
  func number(_ key: String) -> Double? { self[key]?.number }

  /// The number under a key that is there.
  func known(_ key: String) -> Double { number(key) ?? .nan }

  /// The texts of a list; none where the key is absent.
  func texts(_ key: String) -> [String] { list(key) { $0.string ?? "" } ?? [] }

  /// What a function makes of every element of a list, or nothing where the key is absent.
  func list<Element>(_ key: String, _ read: (JSONValue) -> Element) -> [Element]? {
    self[key].map { $0.elements.map(read) }
  }

  /// `low` to `high` of the object under a key, or nothing where the key is absent.
  func span(_ key: String) -> ClosedRange<Double>? {
    self[key].map { $0.known("low")...$0.known("high") }
  }
}
