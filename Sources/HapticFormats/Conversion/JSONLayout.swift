package import Reading

/// How the canonical text of a JSON format is set: known keys in an order, others behind them in
/// their own; every scalar as it was written.
package indirect enum JSONLayout: Sendable {
  /// An object with keys in their order, the layouts of some of its values, and whether it stands on
  /// one line.
  case object([String], [String: JSONLayout] = [:], isLine: Bool = false)
  /// An array whose elements have a layout.
  case array(of: JSONLayout)

  /// The text of a value.
  package func text(of value: JSONValue) -> [UInt8] {
    var writer = JSONWriter()
    switch (self, value.kind) {
    case (.object(let keys, let inner, _), .object): writer.object { Self.write(value, keys, inner, to: &$0) }
    default: writer.value(copying: value)
    }
    return writer.finish()
  }

  private static func write(
    _ value: JSONValue, _ keys: [String], _ inner: [String: JSONLayout], to object: inout JSONObjectWriter
  ) {
    var members: [(key: String, value: JSONValue)] = []
    for member in value.members { members.append((member.key ?? "", member)) }
    let known = keys.flatMap { key in members.filter { $0.key == key } }
    for member in known + members.filter({ !keys.contains($0.key) }) {
      switch (inner[member.key], member.value.kind) {
      case (.object(let keys, let deeper, let isLine), .object):
        object.object(member.key, layout: isLine ? .line : nil) { contents in
          write(member.value, keys, deeper, to: &contents)
        }
      case (.array(let element), .array):
        object.array(member.key) { contents in
          for value in member.value.elements { write(value, element, to: &contents) }
        }
      default: object.member(member.key, copying: member.value)
      }
    }
  }

  private static func write(_ value: JSONValue, _ layout: JSONLayout, to array: inout JSONArrayWriter) {
    guard case .object(let keys, let inner, let isLine) = layout, value.kind == .object else {
      array.element(copying: value)
      return
    }
    array.object(layout: isLine ? .line : nil) { write(value, keys, inner, to: &$0) }
  }
}
