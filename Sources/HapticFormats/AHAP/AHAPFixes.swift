package import Reading

extension AHAPDocument {
  /// The text with its mechanical mistakes corrected, all else byte for byte as it was.
  ///
  /// Corrected are byte-order marks, commas before closing brackets, the keys `Duration` and `Value`, names of
  /// parameters that one name is nearest to, control
  /// points out of order, and control points that count from the start of the pattern. Correcting a corrected
  /// text changes nothing.
  package func fixed() throws(InputError) -> [UInt8] {
    var text = TextEdits(json.text).applying(syntaxEdits)
    let renamed = try AHAPDocument(text: text, name: json.name)
    text = TextEdits(text).applying(renamed.orderEdits)
    let sorted = try AHAPDocument(text: text, name: json.name)
    return TextEdits(text).applying(sorted.timeEdits)
  }

  private var syntaxEdits: [TextEdits.Edit] {
    var edits: [TextEdits.Edit] = []
    for tolerance in json.tolerances {
      switch tolerance.kind {
      case .byteOrderMark: edits.append(.init(range: 0..<3, bytes: []))
      case .trailingComma: edits.append(.init(range: tolerance.offset..<tolerance.offset + 1, bytes: []))
      case .duplicateKey: continue
      }
    }
    for entry in entryValues {
      if let event = entry["Event"] {
        edits += renaming("Duration", to: "EventDuration", in: event)
        for parameter in event.list("EventParameters") {
          edits += renaming("Value", to: "ParameterValue", in: parameter)
          edits += correcting(parameter, to: AHAPVocabulary.eventParameters.list)
        }
      }
      if let parameter = entry["Parameter"] {
        edits += renaming("Value", to: "ParameterValue", in: parameter)
        edits += correcting(parameter, to: AHAPVocabulary.dynamicParameters.list)
      }
      if let curve = entry["ParameterCurve"] { edits += correcting(curve, to: AHAPVocabulary.dynamicParameters.list) }
      for point in entry["ParameterCurve"]?.list("ParameterCurveControlPoints") ?? [] {
        edits += renaming("Value", to: "ParameterValue", in: point)
      }
    }
    return edits
  }

  /// Renames a key where the right one is missing.
  private func renaming(_ key: String, to right: String, in object: JSONValue) -> [TextEdits.Edit] {
    guard object[right] == nil, let member = object[key] else { return [] }
    let range = member.keyOffset..<member.keyOffset + key.utf8.count + 2
    // An escaped spelling is left to its author.
    guard Array(json.text[range]) == Array("\"\(key)\"".utf8) else { return [] }
    return [TextEdits.Edit(range: range, bytes: Array("\"\(right)\"".utf8))]
  }

  /// Replaces the name of a parameter that is not known by the one that is nearest to it.
  private func correcting(_ parameter: JSONValue, to names: JSONNames) -> [TextEdits.Edit] {
    guard let value = parameter["ParameterID"], let text = value.string, names.index(ofString: value) == nil,
      let name = names.nearest(to: text), value.lexeme.count == text.utf8.count + 2
    else { return [] }
    return [TextEdits.Edit(range: value.offset..<value.offset + value.lexeme.count, bytes: Array("\"\(name)\"".utf8))]
  }

  /// Control points by time, each as it was written, in the places that the list has.
  private var orderEdits: [TextEdits.Edit] {
    guard reading != nil else { return [] }
    return curves.flatMap { curve -> [TextEdits.Edit] in
      let points = curve.list("ParameterCurveControlPoints")
      let times = points.map { $0["Time"]?.number ?? 0 }
      let order = points.indices.sorted { (times[$0], $0) < (times[$1], $1) }
      guard order != Array(points.indices) else { return [] }
      return zip(points, order).map { place, source in
        TextEdits.Edit(
          range: TextEdits.extent(of: place, in: json.text),
          bytes: Array(json.text[TextEdits.extent(of: points[source], in: json.text)]))
      }
    }
  }

  /// Control points that count from the start of their curve.
  var timeEdits: [TextEdits.Edit] {
    guard reading?.usesAbsoluteCurveTimes == true else { return [] }
    return curves.flatMap { curve -> [TextEdits.Edit] in
      guard let start = curve["Time"]?.number, start > 0 else { return [] }
      return curve.list("ParameterCurveControlPoints").compactMap { point in
        guard let value = point["Time"], let time = value.number else { return nil }
        // To the nanosecond, so that no binary remainder of a decimal appears.
        let relative = ((time - start) * 1e9).rounded() / 1e9 + 0
        let range = value.offset..<value.offset + value.lexeme.count
        return TextEdits.Edit(range: range, bytes: Array("\(relative)".utf8))
      }
    }
  }

  /// What the text says, or nothing where it has errors.
  private var reading: AHAPReading? { try? read() }

  private var entryValues: [JSONValue] { json.root.list("Pattern") }

  private var curves: [JSONValue] { entryValues.compactMap { $0["ParameterCurve"] } }
}

extension JSONValue {
  /// The elements of the list under a key.
  fileprivate func list(_ key: String) -> [JSONValue] { self[key].map { Array($0.elements) } ?? [] }
}
