package import Reading

extension AHAPDocument {
  /// Returns the text with common mistakes corrected. All other bytes stay unchanged.
  ///
  /// 1. The contents of a bare entry are wrapped in an `Event`, `Parameter`, or `ParameterCurve`
  ///    object.
  /// 2. Byte-order marks and trailing commas are removed. The keys `Duration` and `Value` and
  ///    misspelled parameter names are renamed.
  /// 3. Control points are sorted by time.
  /// 4. Absolute control point times are made relative.
  ///
  /// Correcting an already corrected text changes nothing.
  package func correctedText() throws(InputError) -> [UInt8] {
    let wrappingEdits = bareEntryEdits
    if !wrappingEdits.isEmpty {
      let text = TextEdits(jsonDocument.text).applying(wrappingEdits)
      return try AHAPDocument(text: text, name: jsonDocument.name).correctedText()
    }
    var editedText = TextEdits(jsonDocument.text).applying(syntaxEdits)
    let documentWithRenamedKeys = try AHAPDocument(text: editedText, name: jsonDocument.name)
    editedText = TextEdits(editedText).applying(documentWithRenamedKeys.curvePointSortingEdits)
    let documentWithSortedPoints = try AHAPDocument(text: editedText, name: jsonDocument.name)
    return TextEdits(editedText).applying(documentWithSortedPoints.relativeCurveTimeEdits)
  }

  /// Edits that wrap the contents of bare entries in the missing object.
  private var bareEntryEdits: [TextEdits.Edit] {
    patternEntries.flatMap { entry -> [TextEdits.Edit] in
      guard let key = AHAPSchemas.missingEntryKey(of: entry) else { return [] }
      let range = TextEdits.byteRange(of: entry, in: jsonDocument.text)
      let openingBytes = Array("{\"\(key)\": ".utf8)
      return [
        TextEdits.Edit(
          byteRange: range.lowerBound..<range.lowerBound, replacementBytes: openingBytes),
        TextEdits.Edit(
          byteRange: range.upperBound..<range.upperBound, replacementBytes: Array("}".utf8)),
      ]
    }
  }

  /// Edits that remove byte-order marks and trailing commas, and rename keys and parameters.
  private var syntaxEdits: [TextEdits.Edit] {
    var collectedEdits: [TextEdits.Edit] = []
    for deviation in jsonDocument.deviations {
      switch deviation.kind {
      case .byteOrderMark:
        collectedEdits.append(.init(byteRange: 0..<3, replacementBytes: []))
      case .trailingComma:
        collectedEdits.append(
          .init(byteRange: deviation.byteOffset..<deviation.byteOffset + 1, replacementBytes: []))
      case .duplicateKey:
        continue
      }
    }
    for entry in patternEntries {
      collectedEdits += keyCorrectionEdits(in: entry)
    }
    return collectedEdits
  }

  /// Returns edits that rename obsolete keys and misspelled parameters of an entry.
  private func keyCorrectionEdits(in entry: JSONValue) -> [TextEdits.Edit] {
    var collectedEdits: [TextEdits.Edit] = []
    if let eventValue = entry["Event"] {
      collectedEdits += keyRenameEdits("Duration", to: "EventDuration", in: eventValue)
      for parameter in eventValue.elements(under: "EventParameters") {
        collectedEdits += keyRenameEdits("Value", to: "ParameterValue", in: parameter)
        collectedEdits += parameterNameCorrectionEdits(
          parameter, names: AHAPNames.eventParameters.nameList)
      }
    }
    if let parameterValue = entry["Parameter"] {
      collectedEdits += keyRenameEdits("Value", to: "ParameterValue", in: parameterValue)
      collectedEdits += parameterNameCorrectionEdits(
        parameterValue, names: AHAPNames.dynamicParameters.nameList)
    }
    if let curveValue = entry["ParameterCurve"] {
      collectedEdits += parameterNameCorrectionEdits(
        curveValue, names: AHAPNames.dynamicParameters.nameList)
    }
    for point in entry["ParameterCurve"]?.elements(under: "ParameterCurveControlPoints") ?? [] {
      collectedEdits += keyRenameEdits("Value", to: "ParameterValue", in: point)
    }
    return collectedEdits
  }

  /// Returns an edit that renames a key, unless the object already has the new key.
  private func keyRenameEdits(_ key: String, to newKey: String, in object: JSONValue)
    -> [TextEdits.Edit]
  {
    guard object[newKey] == nil, let renamedMember = object[key] else { return [] }
    let keyByteRange = renamedMember.keyOffset..<renamedMember.keyOffset + key.utf8.count + 2
    // A key that is written with escape sequences is not renamed.
    guard Array(jsonDocument.text[keyByteRange]) == Array("\"\(key)\"".utf8) else { return [] }
    return [TextEdits.Edit(byteRange: keyByteRange, replacementBytes: Array("\"\(newKey)\"".utf8))]
  }

  /// Returns an edit that replaces an unknown parameter name by the closest known name.
  private func parameterNameCorrectionEdits(_ parameter: JSONValue, names: JSONNameList)
    -> [TextEdits.Edit]
  {
    guard let parameterIDValue = parameter["ParameterID"], let statedName = parameterIDValue.string,
      names.index(ofString: parameterIDValue) == nil,
      let name = names.nearest(to: statedName),
      parameterIDValue.sourceBytes.count == statedName.utf8.count + 2
    else { return [] }
    return [
      TextEdits.Edit(
        byteRange: parameterIDValue.byteOffset..<parameterIDValue.byteOffset
          + parameterIDValue.sourceBytes.count,
        replacementBytes: Array("\"\(name)\"".utf8))
    ]
  }

  /// Edits that sort control points by time. The text of each point and the white space between
  /// points are preserved.
  private var curvePointSortingEdits: [TextEdits.Edit] {
    guard content != nil else { return [] }
    return curves.flatMap { curve -> [TextEdits.Edit] in
      let points = curve.elements(under: "ParameterCurveControlPoints")
      let times = points.map { $0["Time"]?.number ?? 0 }
      let order = points.indices.sorted { (times[$0], $0) < (times[$1], $1) }
      guard order != Array(points.indices) else { return [] }
      return zip(points, order).map { oldPoint, sourceIndex in
        let oldRange = TextEdits.byteRange(of: oldPoint, in: jsonDocument.text)
        let newRange = TextEdits.byteRange(of: points[sourceIndex], in: jsonDocument.text)
        return TextEdits.Edit(
          byteRange: oldRange, replacementBytes: Array(jsonDocument.text[newRange]))
      }
    }
  }

  /// Edits that make absolute control point times relative to the start of their curve.
  var relativeCurveTimeEdits: [TextEdits.Edit] {
    guard content?.usesAbsoluteCurveTimes == true else { return [] }
    return curves.flatMap { curve -> [TextEdits.Edit] in
      guard let start = curve["Time"]?.number, start > 0 else { return [] }
      return curve.elements(under: "ParameterCurveControlPoints").compactMap { point in
        guard let value = point["Time"], let time = value.number else { return nil }
        // Round to nanoseconds to remove floating-point error from the subtraction.
        let relative = ((time - start) * 1e9).rounded() / 1e9 + 0
        let range = value.byteOffset..<value.byteOffset + value.sourceBytes.count
        return TextEdits.Edit(byteRange: range, replacementBytes: Array("\(relative)".utf8))
      }
    }
  }

  /// The decoded content of the document, or nil if it has errors.
  private var content: AHAPContent? { try? read() }

  private var patternEntries: [JSONValue] { jsonDocument.root.elements(under: "Pattern") }

  private var curves: [JSONValue] { patternEntries.compactMap { $0["ParameterCurve"] } }
}

extension JSONValue {
  fileprivate func elements(under key: String) -> [JSONValue] {
    self[key].map { Array($0.elements) } ?? []
  }
}
