extension JSONSchema {
  /// Returns the text of a value in canonical form.
  ///
  /// Known keys are in schema order, followed by unknown keys in document order. Values keep their
  /// notation. An object with the layout `singleLine` is written on one line only if all of its
  /// contents can be.
  ///
  /// - Parameters:
  ///   - root: The value to write.
  ///   - normalizesNumbers: True to write the numbers of known keys as the shortest decimal with a
  ///     decimal point.
  package func canonicalText(of root: JSONValue, normalizesNumbers: Bool = false) -> [UInt8] {
    var jsonWriter = JSONWriter()
    if root.kind == .object {
      jsonWriter.writeObject { writeCanonical(root, normalizesNumbers: normalizesNumbers, to: &$0) }
    } else {
      jsonWriter.writeValue(copying: root)
    }
    return jsonWriter.finishedText()
  }

  fileprivate func writeCanonical(
    _ object: JSONValue, normalizesNumbers: Bool, to writer: inout JSONObjectWriter
  ) {
    for index in keys.indices {
      for member in object.members where keyNames.index(ofKey: member) == index {
        keys[index].writeCanonical(member, normalizesNumbers: normalizesNumbers, to: &writer)
      }
    }
    for member in object.members where keyNames.index(ofKey: member) == nil {
      writer.writeMember(member.key ?? "", copying: member)
    }
  }

  fileprivate func writeCanonical(
    element: JSONValue, layout: JSONWriter.Layout?, normalizesNumbers: Bool,
    to array: inout JSONArrayWriter
  ) {
    guard element.kind == .object else { return array.writeElement(copying: element) }
    array.writeObject(layout: self.layout(of: element, preferred: layout)) { object in
      writeCanonical(element, normalizesNumbers: normalizesNumbers, to: &object)
    }
  }

  /// Returns the preferred layout. Returns `singleLine` only if all contents of the object permit
  /// it.
  fileprivate func layout(of object: JSONValue, preferred layout: JSONWriter.Layout?)
    -> JSONWriter.Layout?
  {
    guard layout == .singleLine else { return layout }
    let fitsOnLine = object.members.allSatisfy { member in
      guard member.kind == .object || member.kind == .array else { return true }
      return keyNames.index(ofKey: member).map { keys[$0].layout == .singleLine } ?? false
    }
    return fitsOnLine ? layout : nil
  }
}

extension JSONKey {
  fileprivate func writeCanonical(
    _ member: JSONValue, normalizesNumbers: Bool, to writer: inout JSONObjectWriter
  ) {
    switch (type, member.kind) {
    case (.object(let makeSchema), .object):
      let schema = makeSchema()
      writer.writeObject(name, layout: schema.layout(of: member, preferred: layout)) {
        schema.writeCanonical(member, normalizesNumbers: normalizesNumbers, to: &$0)
      }
    case (.array(.object(let makeSchema), _), .array):
      let schema = makeSchema()
      writer.writeArray(name) { list in
        for element in member.elements {
          schema.writeCanonical(
            element: element, layout: layout, normalizesNumbers: normalizesNumbers, to: &list)
        }
      }
    case (.array, .array):
      writer.writeArray(name, layout: layout) { list in
        for element in member.elements {
          list.writeElement(copying: element)
        }
      }
    case (.number, .number) where normalizesNumbers:
      writer.writeMember(name, member.number ?? 0)
    default:
      writer.writeMember(name, copying: member)
    }
  }
}
