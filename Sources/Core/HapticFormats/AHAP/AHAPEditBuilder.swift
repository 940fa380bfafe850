import HapticModel
import Reading

/// Collects the changes to a document, grouped by the JSON values that they affect.
///
/// 1. `recordEdits` resolves the path of a change, and records a replacement, a new member, a new
///    event parameter, or an edit of a container.
/// 2. `collectedEdits` converts new members and parameters to container insertions, and all records
///    to byte edits.
struct AHAPEditBuilder {
  /// A key and its value as JSON text, to be added to an object.
  struct MemberText {
    var key: String
    var valueBytes: [UInt8]
  }

  /// An event parameter and its value as JSON text.
  private struct ParameterText {
    var parameterID: String
    var valueBytes: [UInt8]
  }

  let editor: AHAPEditor
  let sourceText: [UInt8]
  /// The replacement text of each changed value, by value index.
  private var replacementsByValueIndex: [Int: [UInt8]] = [:]
  /// The edits of objects and arrays, by value index.
  private var editsByContainerIndex: [Int: ContainerEdit] = [:]
  /// The members to add to objects, by value index.
  private var addedMembersByObjectIndex: [Int: [MemberText]] = [:]
  /// The parameters to add to events, by value index.
  private var addedParametersByEventValueIndex: [Int: [ParameterText]] = [:]
  /// A Boolean value that indicates whether any change affects a curve.
  private(set) var changesCurves = false
  /// The number of bytes and values visited so far, as a measure of the work done.
  private(set) var visitedValueCount = 0
  /// The control points of each resolved curve, by curve index.
  private var controlPointsByCurve: [Int: [JSONValue]] = [:]
  /// Cached results of `formattingSample`, by key.
  private var formattingSampleCache: [String: JSONValue?] = [:]

  init(of editor: AHAPEditor) {
    self.editor = editor
    sourceText = editor.text
  }

  var root: JSONValue { editor.document.jsonDocument.root }

  /// Records a change, or throws an error if the change is invalid.
  mutating func recordEdits(of change: PatternChange) throws(InputError) {
    switch change {
    case .add(let bytes, let path):
      return try addEntry(bytes, after: path)
    case .set(let path, to: let value):
      let path = try resolvePath(path)
      guard let field = path.namedField else {
        throw path.error(
          "the path must name a field",
          suggestion: "write \(path.pathText).\(path.elementKind.fields[0].rawValue)")
      }
      try setField(field, of: path, to: value)
    case .remove(let path):
      let path = try resolvePath(path)
      if let field = path.namedField {
        remove(field, of: path.containerValue)
      } else {
        remove(path.containerValue)
      }
    case .duplicate(let path):
      let path = try resolvePath(path)
      guard path.namedField == nil else {
        throw path.error("only an event, parameter, curve, or control point can be duplicated")
      }
      let entry = path.containerValue.enclosingEntry
      if let list = entry.parent {
        editsByContainerIndex[list.nodeIndex, default: ContainerEdit()].insert(
          entryBytes(of: path.containerValue), after: entry.nodeIndex)
      }
    case .addPoint(let time, let value, to: let path):
      let path = try resolvePath(path)
      guard path.elementKind == .curve, path.namedField == nil else {
        throw path.error("control points can only be added to a curve")
      }
      try addPoint(time, value, to: path)
    }
  }

  /// Returns the collected edits. Two edits overlap only if one removes a value that contains the
  /// other.
  mutating func collectedEdits() -> [TextEdits.Edit] {
    for (index, added) in addedParametersByEventValueIndex {
      insertParameters(added, into: editor.value(at: index))
    }
    removeEmptyParameterLists()
    for (index, added) in addedMembersByObjectIndex {
      insertMembers(added, into: editor.value(at: index))
    }
    var byteEdits = replacementsByValueIndex.map { index, bytes in
      let range = TextEdits.byteRange(of: editor.value(at: index), in: sourceText)
      return TextEdits.Edit(byteRange: range, replacementBytes: bytes)
    }
    for (index, edit) in editsByContainerIndex {
      byteEdits += edit.byteEdits(of: editor.value(at: index), visitedCount: &visitedValueCount)
    }
    visitedValueCount += byteEdits.reduce(0) { $0 + $1.replacementBytes.count + 1 }
    return byteEdits
  }

  /// Removes the parameter array of each event that loses all of its parameters.
  private mutating func removeEmptyParameterLists() {
    for (index, edit) in editsByContainerIndex
    where !edit.removedIndices.isEmpty && edit.insertedTexts.isEmpty {
      let list = editor.value(at: index)
      guard list.key == "EventParameters", list.children.count == edit.removedIndices.count,
        let event = list.parent
      else { continue }
      editsByContainerIndex[index] = nil
      remove("EventParameters", of: event)
    }
  }

  /// Resolves a path, and records that curves change if it refers to one.
  private mutating func resolvePath(_ path: String) throws(InputError) -> AHAPPath {
    let resolvedPath = try AHAPPath(path, in: editor, points: &controlPointsByCurve)
    if resolvedPath.elementKind == .curve || resolvedPath.elementKind == .point {
      changesCurves = true
    }
    return resolvedPath
  }

  // MARK: - Fields

  private mutating func setField(
    _ field: AHAPField, of path: AHAPPath, to value: PatternChange.Value
  ) throws(InputError) {
    let containerValue = path.containerValue
    guard let eventParameterID = field.eventParameter else {
      let existing = containerValue[field.jsonKey]
      if let bytes = try encodedJSON(value, for: field, replacing: existing, at: path) {
        replaceOrAddMember(bytes, key: field.jsonKey, existing: existing, in: containerValue)
      }
      return
    }
    let parameterElement = parameterElements(eventParameterID, of: containerValue).last
    let existingValue = parameterElement?["ParameterValue"]
    visitedValueCount += parameterElement?.parent?.children.count ?? 0
    guard let encodedBytes = try encodedJSON(value, for: field, replacing: existingValue, at: path)
    else {
      return
    }
    if let existingValue {
      replacementsByValueIndex[existingValue.nodeIndex] = encodedBytes
    } else {
      addedParametersByEventValueIndex[containerValue.nodeIndex, default: []].removeAll {
        $0.parameterID == eventParameterID.rawValue
      }
      addedParametersByEventValueIndex[containerValue.nodeIndex, default: []].append(
        ParameterText(parameterID: eventParameterID.rawValue, valueBytes: encodedBytes))
    }
  }

  private mutating func replaceOrAddMember(
    _ bytes: [UInt8], key: String, existing: JSONValue?, in object: JSONValue
  ) {
    if let existing {
      replacementsByValueIndex[existing.nodeIndex] = bytes
    } else {
      addedMembersByObjectIndex[object.nodeIndex, default: []].removeAll { $0.key == key }
      addedMembersByObjectIndex[object.nodeIndex, default: []].append(
        MemberText(key: key, valueBytes: bytes))
    }
  }

  private mutating func remove(_ field: AHAPField, of object: JSONValue) {
    guard let eventParameterID = field.eventParameter else {
      return remove(field.jsonKey, of: object)
    }
    for element in parameterElements(eventParameterID, of: object) {
      if let list = element.parent {
        editsByContainerIndex[list.nodeIndex, default: ContainerEdit()].removedIndices.insert(
          element.nodeIndex)
      }
    }
  }

  private mutating func remove(_ key: String, of object: JSONValue) {
    for member in object.members where member.key == key {
      editsByContainerIndex[object.nodeIndex, default: ContainerEdit()].removedIndices.insert(
        member.nodeIndex)
    }
  }

  private func parameterElements(_ id: EventParameterID, of event: JSONValue) -> [JSONValue] {
    event["EventParameters"].map { $0.elements.filter { $0["ParameterID"]?.string == id.rawValue } }
      ?? []
  }

  // MARK: - Parts

  /// Removes a control point, or the entry that contains a part. If the entry contains other parts,
  /// only the given part is removed.
  private mutating func remove(_ value: JSONValue) {
    let enclosingEntry = value.enclosingEntry
    if let partKey = value.key, enclosingEntry.hasSeveralPatternElements {
      remove(partKey, of: enclosingEntry)
    } else if let list = enclosingEntry.parent {
      editsByContainerIndex[list.nodeIndex, default: ContainerEdit()].removedIndices.insert(
        enclosingEntry.nodeIndex)
    }
  }

  /// Returns the text of a control point, or of an entry that contains only the given part.
  func entryBytes(of value: JSONValue) -> [UInt8] {
    let enclosingEntry = value.enclosingEntry
    guard let partKey = value.key, enclosingEntry.hasSeveralPatternElements else {
      return Array(sourceText[TextEdits.byteRange(of: enclosingEntry, in: sourceText)])
    }
    let partBytes = Array(sourceText[TextEdits.byteRange(of: value, in: sourceText)])
    return objectText([MemberText(key: partKey, valueBytes: partBytes)], like: nil)
  }

  /// Parses a new entry, or throws an error if the entry is invalid.
  private func parseEntry(_ bytes: [UInt8], after path: String?) throws(InputError) -> JSONValue {
    let parsedEntry: JSONValue
    do throws(JSONError) {
      parsedEntry = try JSONDocument(text: bytes, name: "entry").root
    } catch {
      throw editor.invalidChangeError(
        at: path,
        message: "the entry is not valid JSON: \(error.message)\(error.location.position)",
        suggestion: error.suggestion)
    }
    guard parsedEntry.kind == .object,
      AHAPSchemas.entrySchema.keys.contains(where: { parsedEntry[$0.name] != nil })
    else {
      throw editor.invalidChangeError(
        at: path, message: "an entry must be an object with an Event, Parameter, or ParameterCurve",
        suggestion: "write {\"Event\": {…}}")
    }
    return parsedEntry
  }

  /// Inserts an entry after a part, or at the end of the pattern.
  private mutating func addEntry(_ bytes: [UInt8], after path: String?) throws(InputError) {
    let newEntry = try parseEntry(bytes, after: path)
    if newEntry["ParameterCurve"] != nil {
      changesCurves = true
    }
    guard let patternList = root["Pattern"] else { return }
    var precedingEntry = Array(patternList.elements).last
    if let path {
      let resolved = try resolvePath(path)
      guard resolved.elementKind != .point, resolved.namedField == nil else {
        throw resolved.error("entries can only be added after an event, parameter, or curve")
      }
      precedingEntry = resolved.containerValue.enclosingEntry
    }
    let (lineStart, indentation) = entryLayout(after: precedingEntry, in: patternList)
    var containerEdit = editsByContainerIndex[patternList.nodeIndex] ?? ContainerEdit()
    if precedingEntry == nil, lineStart.hasLineBreak {
      containerEdit.openingWhitespace = lineStart
      containerEdit.closingWhitespace = Array(lineStart.dropLast(indentation.count))
    }
    let newEntryText = entryText(newEntry, lineStart: lineStart, indentation: indentation)
    containerEdit.insert(newEntryText, after: precedingEntry?.nodeIndex)
    editsByContainerIndex[patternList.nodeIndex] = containerEdit
  }

  /// Inserts a control point after all points that are not later.
  private mutating func addPoint(_ time: Double, _ value: Double, to path: AHAPPath)
    throws(InputError)
  {
    guard time.isFinite, value.isFinite else { throw path.error("the numbers must be finite") }
    let curveValue = path.containerValue
    guard let pointList = curveValue["ParameterCurveControlPoints"] else { return }
    let pointElements = Array(pointList.elements)
    visitedValueCount += pointElements.count
    let precedingPoint = pointElements.last { ($0["Time"]?.number ?? 0) <= time }
    let samplePoint =
      pointElements.last
      ?? formattingSample("ParameterCurveControlPoints", of: editor.curveValueIndices)
    let pointMembers = [
      MemberText(key: "Time", valueBytes: Self.numberText(time)),
      MemberText(key: "ParameterValue", valueBytes: Self.numberText(value)),
    ]
    let pointText = objectText(pointMembers, like: samplePoint)
    if pointElements.isEmpty {
      copyInnerWhitespace(of: pointList.nodeIndex, like: samplePoint?.parent)
    }
    editsByContainerIndex[pointList.nodeIndex, default: ContainerEdit()].insert(
      pointText, after: precedingPoint?.nodeIndex)
  }

  // MARK: - Collected edits

  /// Inserts new parameters into an event, and creates the parameter array if necessary.
  private mutating func insertParameters(
    _ added: [ParameterText], into event: JSONValue
  ) {
    let parameterList = event["EventParameters"]
    let lastParameter = parameterList?.children.last
    let sampleParameter =
      lastParameter ?? formattingSample("EventParameters", of: editor.eventValueIndices)
    let parameterTexts = added.map { parameter in
      objectText(
        [
          MemberText(key: "ParameterID", valueBytes: Array("\"\(parameter.parameterID)\"".utf8)),
          MemberText(key: "ParameterValue", valueBytes: parameter.valueBytes),
        ], like: sampleParameter)
    }
    if let parameterList, parameterList.kind == .array {
      if lastParameter == nil {
        copyInnerWhitespace(of: parameterList.nodeIndex, like: sampleParameter?.parent)
      }
      for text in parameterTexts {
        editsByContainerIndex[parameterList.nodeIndex, default: ContainerEdit()].insert(
          text, after: lastParameter?.nodeIndex)
      }
      return
    }
    let sampleSiblings = sampleParameter?.parent?.children ?? []
    let defaultGap: [UInt8] = root.hasSpacesAfterColons ? [0x20] : []
    let separatorGap =
      sampleSiblings.isEmpty ? defaultGap : sampleSiblings.separatorWhitespace(at: 0)
    var arrayBytes = [UInt8(ascii: "[")] + (sampleSiblings.first?.leadingWhitespace ?? [])
    for (index, text) in parameterTexts.enumerated() {
      if index > 0 {
        arrayBytes += [UInt8(ascii: ",")] + separatorGap
      }
      arrayBytes += text
    }
    arrayBytes += (sampleParameter?.parent.map(closingWhitespace) ?? []) + [UInt8(ascii: "]")]
    replaceOrAddMember(arrayBytes, key: "EventParameters", existing: parameterList, in: event)
  }

  /// Inserts members into an object at their positions in canonical key order.
  private mutating func insertMembers(
    _ added: [MemberText], into object: JSONValue
  ) {
    let canonicalKeyOrder = AHAPSchemas.eventSchema.keyNames.names
    func keyRank(_ key: String?) -> Int {
      key.flatMap { canonicalKeyOrder.firstIndex(of: $0) } ?? canonicalKeyOrder.count
    }
    let existingMembers = object.children
    for member in added.sorted(by: { keyRank($0.key) < keyRank($1.key) }) {
      let predecessor = existingMembers.last { keyRank($0.key) < keyRank(member.key) }
      let colon = (predecessor ?? existingMembers.first)?.keySeparator ?? Array(": ".utf8)
      let text = Array("\"\(member.key)\"".utf8) + colon + member.valueBytes
      editsByContainerIndex[object.nodeIndex, default: ContainerEdit()].insert(
        text, after: predecessor?.nodeIndex)
    }
  }

  /// Returns the first element of an existing array as a formatting model for new elements. The
  /// array is stored under a key of one of the given values, and its first element has two members.
  private mutating func formattingSample(_ key: String, of valueIndices: [Int]) -> JSONValue? {
    if let cachedSample = formattingSampleCache[key] { return cachedSample }
    for index in valueIndices {
      guard let first = editor.value(at: index)[key]?.elements.first(where: { _ in true }),
        first.children.count == 2
      else {
        continue
      }
      formattingSampleCache[key] = first
      return first
    }
    formattingSampleCache.updateValue(nil, forKey: key)
    return nil
  }

  /// Formats an empty array in the style of another array.
  ///
  /// The white space inside the other array's brackets is copied.
  private mutating func copyInnerWhitespace(of list: Int, like sample: JSONValue?) {
    guard let sample, let firstSampleChild = sample.children.first else { return }
    editsByContainerIndex[list, default: ContainerEdit()].openingWhitespace =
      firstSampleChild.leadingWhitespace
    editsByContainerIndex[list, default: ContainerEdit()].closingWhitespace = closingWhitespace(
      of: sample)
  }
}
