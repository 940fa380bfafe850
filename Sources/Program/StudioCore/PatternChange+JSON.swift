internal import HapticFormats
internal import Reading

extension [PatternChange] {
  /// Parses a JSON list of changes to a pattern, in the following forms:
  ///
  /// - `{"set": "events[3].time", "to": 1.25}`
  /// - `{"remove": "curves[0].points[2]"}`
  /// - `{"add": {…}, "after": "events[3]"}`
  /// - `{"duplicate": "events[3]"}`
  /// - `{"addPoint": {"time": 0.2, "value": 0.5}, "to": "curves[0]"}`
  init(json text: [UInt8]) throws(InputError) {
    let document: JSONDocument
    do {
      document = try JSONDocument(text: text, name: "changes")
    } catch {
      throw InputError(changing: "", of: "changes", error.message, error.suggestion)
    }
    guard document.root.kind == .array else {
      throw InputError(
        changing: "", of: "changes", "the changes are not a list", "use [...] around the changes")
    }
    self = []
    for element in document.root.elements {
      append(try PatternChange(element))
    }
  }
}

extension PatternChange {
  /// Parses a single change to a pattern from JSON.
  fileprivate init(_ json: JSONValue) throws(InputError) {
    let toValue = json["to"]
    if let path = json["set"]?.string, let toValue {
      if let number = toValue.number {
        self = .set(path, to: .number(number))
        return
      }
      if let text = toValue.string {
        self = .set(path, to: .text(text))
        return
      }
      if let flag = toValue.boolean {
        self = .set(path, to: .flag(flag))
        return
      }
    }
    if let path = json["remove"]?.string {
      self = .remove(path)
    } else if let path = json["duplicate"]?.string {
      self = .duplicate(path)
    } else if let addedEntry = json["add"] {
      var writer = JSONWriter(layout: .compact)
      writer.writeValue(copying: addedEntry)
      self = .add(writer.writtenBytes, after: json["after"]?.string)
    } else if let addedPoint = json["addPoint"], let pointSeconds = addedPoint["time"]?.number,
      let value = addedPoint["value"]?.number,
      let path = toValue?.string
    {
      self = .addPoint(time: pointSeconds, value: value, to: path)
    } else {
      throw InputError(
        changing: json.path, of: "changes", "invalid change",
        "use 'set' with 'to', 'remove', 'duplicate', 'add', or 'addPoint' with 'to'")
    }
  }
}
