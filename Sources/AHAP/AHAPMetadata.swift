/// What a file says about itself in words: names with texts, in the order of the file.
public struct AHAPMetadata: Equatable, Sendable {
  /// One name and its text.
  public struct Item: Equatable, Sendable {
    /// The name, as `Project`, `Created` or `Description`.
    public var name: String
    /// The text.
    public var text: String

    /// Makes an item.
    public init(name: String, text: String) {
      self.name = name
      self.text = text
    }
  }

  /// The names and texts; a name may repeat.
  public var items: [Item]

  /// Makes metadata of items.
  public init(items: [Item] = []) {
    self.items = items
  }

  /// The text of a name, the last where it repeats, or nothing.
  public subscript(name: String) -> String? { items.last { $0.name == name }?.text }
}

extension AHAPMetadata: ExpressibleByDictionaryLiteral {
  /// Makes metadata of names and texts in their order.
  public init(dictionaryLiteral elements: (String, String)...) {
    items = elements.map { Item(name: $0, text: $1) }
  }
}
