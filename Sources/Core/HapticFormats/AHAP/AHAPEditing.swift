package import HapticModel
package import Reading

/// An AHAP text that is edited in place.
///
/// A change replaces, inserts, or removes only the bytes of the value that it concerns. Layout,
/// unknown keys, and the spelling of numbers stay unchanged. A text in UTF-16 or UTF-32 becomes
/// UTF-8.
///
/// If the times of control points count from the start of the pattern, the first change of a curve
/// makes all of them relative, because a single moved point could change the interpretation of all.
///
/// An editor is a value: to undo a change, keep the previous editor.
package struct AHAPEditor: Sendable {
  package let document: AHAPDocument
  /// The content of the text. Control points are sorted, and relative to their curve.
  package let content: AHAPContent
  /// The number of bytes and values that the changes visited, without copying and parsing the text.
  package let visitedCount: Int
  /// The indices of the JSON values that the events, parameters, and curves were read from.
  let eventValueIndices: [Int]
  let parameterValueIndices: [Int]
  let curveValueIndices: [Int]

  package init(text: [UInt8], name: String) throws(InputError) {
    let document = try AHAPDocument(text: text, name: name)
    let (reading, decoder) = try document.decoded()
    self.init(document, reading, decoder, visitedCount: 0)
  }

  private init(
    _ document: AHAPDocument, _ reading: AHAPContent, _ decoder: AHAPDecoder, visitedCount: Int
  ) {
    self.document = document
    self.content = reading
    self.visitedCount = visitedCount
    eventValueIndices = decoder.eventValueIndices
    parameterValueIndices = decoder.parameterValueIndices
    curveValueIndices = decoder.curveValueIndices
  }

  package var text: [UInt8] { document.json.text }

  package var pattern: HapticPattern { content.pattern }

  /// Returns the text with all of the changes applied at once, or throws the first error.
  ///
  /// - All paths refer to the text before the changes. Of two values for one field, the last
  ///   applies. A change inside a removed part has no effect.
  /// - Numbers are rounded to 1e-6. A value equal to the existing one keeps the existing spelling.
  /// - A value out of range is written, since reading clamps it. A change that makes the text
  ///   invalid is an error.
  ///
  /// - Complexity: Proportional to the text, the changes, and the parts that they concern.
  package func applying(_ changes: [PatternChange]) throws(InputError) -> AHAPEditor {
    var edits = AHAPEditBuilder(of: self)
    for change in changes {
      try edits.add(change)
    }
    if edits.touchesCurves, hasAbsoluteTimes {
      return try edited(to: TextEdits(text).applying(document.relativeTimeEdits), by: changes)
        .applying(
          changes)
    }
    let list = edits.finish()
    let result = try edited(
      to: TextEdits(text).applying(list), by: changes, visitedCount: edits.visitedCount)
    guard !result.hasAbsoluteTimes || hasAbsoluteTimes else {
      throw changeError(
        at: changes.count == 1 ? changes[0].path : nil,
        message:
          "the control points of all curves would be read as counting from the start of the pattern",
        suggestion: "move one by a millisecond")
    }
    return result
  }

  /// Returns the bytes of a part as in the text: those of its entry in `Pattern`, or of a control
  /// point.
  package func bytes(of path: String) throws(InputError) -> [UInt8] {
    let part = try AHAPPath(path, in: self)
    return AHAPEditBuilder(of: self).entryBytes(of: part.value)
  }

  /// Returns the path indices of a curve's control points in the order of the pattern: by time, and
  /// equal times in the order of the text.
  package func pointOrder(ofCurve index: Int) -> [Int] {
    guard curveValueIndices.indices.contains(index) else { return [] }
    let times = controlPoints(ofCurve: index).map { $0["Time"]?.number ?? 0 }
    return times.indices.sorted { (times[$0], $0) < (times[$1], $1) }
  }

  /// Returns the path of the part that contains a value, or nil.
  ///
  /// - Parameter path: The path of the value in the text, such as `Pattern[3].Event.Time`.
  package func partPath(forValuePath path: String) -> String? {
    var entry = document.json.root
    var steps = path.utf8.split(whereSeparator: { ".[]".utf8.contains($0) }).map {
      String(Substring($0))
    }[...]
    guard steps.popFirst() == "Pattern", let number = steps.popFirst().flatMap({ Int($0) }),
      number >= 0,
      let list = entry["Pattern"], let key = steps.popFirst()
    else { return nil }
    guard let found = list.elements.dropFirst(number).first(where: { _ in true })?[key] else {
      return nil
    }
    entry = found
    func part(_ name: String, _ values: [Int]) -> String? {
      var low = 0
      var high = values.count
      while low < high {
        let middle = (low + high) / 2
        if values[middle] < entry.index {
          low = middle + 1
        } else {
          high = middle
        }
      }
      return low < values.count && values[low] == entry.index ? "\(name)[\(low)]" : nil
    }
    if let part = part("events", eventValueIndices) ?? part("parameters", parameterValueIndices) {
      return part
    }
    guard let curve = part("curves", curveValueIndices) else { return nil }
    guard steps.popFirst() == "ParameterCurveControlPoints", let point = steps.popFirst() else {
      return curve
    }
    return "\(curve).points[\(point)]"
  }

  func value(at index: Int) -> JSONValue { JSONValue(document: document.json, index: index) }

  func controlPoints(ofCurve curve: Int) -> [JSONValue] {
    value(at: curveValueIndices[curve])["ParameterCurveControlPoints"].map { Array($0.elements) }
      ?? []
  }

  private var hasAbsoluteTimes: Bool {
    content.usesAbsoluteCurveTimes
      && pattern.curves.contains { $0.time > 0 && !$0.controlPoints.isEmpty }
  }

  private func edited(to text: [UInt8], by changes: [PatternChange], visitedCount: Int = 0)
    throws(InputError) -> AHAPEditor
  {
    do throws(InputError) {
      let document = try AHAPDocument(text: text, name: document.json.name)
      let (reading, decoder) = try document.decoded()
      return AHAPEditor(document, reading, decoder, visitedCount: visitedCount)
    } catch {
      var error = error
      // The line of the error refers to a text that is not written.
      let path = changes.count == 1 ? changes[0].path : nil
      error.finding.location = FileLocation(
        name: error.location.name, path: path ?? error.location.path)
      throw error
    }
  }

  func changeError(at path: String?, message: String, suggestion: String? = nil) -> InputError {
    InputError(changing: path ?? "Pattern", of: document.json.name, message, suggestion)
  }
}

/// Collects the changes of one text by the values that they concern.
///
/// 1. `add` resolves the path of a change, and records a replacement, a new member, a new event
///    parameter, or an edit of a container.
/// 2. `finish` converts new members and parameters to insertions in containers, and all records to
///    edits of bytes.
struct AHAPEditBuilder {
  private let editor: AHAPEditor
  private let text: [UInt8]
  private var replacements: [Int: [UInt8]] = [:]
  private var containerEdits: [Int: ContainerEdit] = [:]
  /// The new members of objects, by the index of the object.
  private var addedMembers: [Int: [(key: String, bytes: [UInt8])]] = [:]
  private var addedParameters: [Int: [(id: String, bytes: [UInt8])]] = [:]
  private(set) var touchesCurves = false
  private(set) var visitedCount = 0
  private var pointCache: [Int: [JSONValue]] = [:]
  private var styleSampleCache: [String: JSONValue?] = [:]

  init(of editor: AHAPEditor) {
    self.editor = editor
    text = editor.text
  }

  private var root: JSONValue { editor.document.json.root }

  mutating func add(_ change: PatternChange) throws(InputError) {
    switch change {
    case .add(let bytes, let path):
      return try addEntry(bytes, after: path)
    case .set(let path, to: let value):
      let path = try resolve(path)
      guard let field = path.field else {
        throw path.error(
          "the path must end in a field",
          suggestion: "write \(path.text).\(path.part.fields[0].rawValue)")
      }
      try setField(field, of: path, to: value)
    case .remove(let path):
      let path = try resolve(path)
      if let field = path.field {
        remove(field, of: path.value)
      } else {
        remove(path.value)
      }
    case .duplicate(let path):
      let path = try resolve(path)
      guard path.field == nil else { throw path.error("only whole parts are duplicated") }
      let entry = path.value.enclosingEntry
      if let list = entry.parent {
        containerEdits[list.index, default: .init()].insert(
          entryBytes(of: path.value), after: entry.index)
      }
    case .addPoint(let time, let value, to: let path):
      let path = try resolve(path)
      guard path.part == .curve, path.field == nil else {
        throw path.error("control points are added to a curve")
      }
      try addPoint(time, value, to: path)
    }
  }

  /// Returns the edits. Two of them overlap only if one removes the value that contains the other.
  mutating func finish() -> [TextEdits.Edit] {
    for (index, added) in addedParameters {
      insertParameters(added, into: editor.value(at: index))
    }
    for (index, edit) in containerEdits
    where !edit.removedIndices.isEmpty && edit.insertions.isEmpty {
      // An event without parameters needs no array for them.
      let list = editor.value(at: index)
      guard list.key == "EventParameters", list.children.count == edit.removedIndices.count,
        let event = list.parent
      else {
        continue
      }
      containerEdits[index] = nil
      remove("EventParameters", of: event)
    }
    for (index, added) in addedMembers {
      insertMembers(added, into: editor.value(at: index))
    }
    var edits = replacements.map { index, bytes in
      let range = TextEdits.byteRange(of: editor.value(at: index), in: text)
      return TextEdits.Edit(range: range, bytes: bytes)
    }
    for (index, edit) in containerEdits {
      edits += edit.edits(of: editor.value(at: index), visitedCount: &visitedCount)
    }
    visitedCount += edits.reduce(0) { $0 + $1.bytes.count + 1 }
    return edits
  }

  private mutating func resolve(_ path: String) throws(InputError) -> AHAPPath {
    let found = try AHAPPath(path, in: editor, points: &pointCache)
    if found.part == .curve || found.part == .point {
      touchesCurves = true
    }
    return found
  }

  // MARK: - Fields

  private mutating func setField(
    _ field: AHAPField, of path: AHAPPath, to value: PatternChange.Value
  )
    throws(InputError)
  {
    let object = path.value
    guard let id = field.parameter else {
      let old = object[field.jsonKey]
      if let bytes = try encoded(value, for: field, replacing: old, at: path) {
        replaceOrAddMember(bytes, key: field.jsonKey, existing: old, in: object)
      }
      return
    }
    let element = parameterElements(id, of: object).last
    let old = element?["ParameterValue"]
    visitedCount += element?.parent?.children.count ?? 0
    guard let bytes = try encoded(value, for: field, replacing: old, at: path) else { return }
    if let old {
      replacements[old.index] = bytes
    } else {
      addedParameters[object.index, default: []].removeAll { $0.id == id.rawValue }
      addedParameters[object.index, default: []].append((id.rawValue, bytes))
    }
  }

  private mutating func replaceOrAddMember(
    _ bytes: [UInt8], key: String, existing: JSONValue?, in object: JSONValue
  ) {
    if let existing {
      replacements[existing.index] = bytes
    } else {
      addedMembers[object.index, default: []].removeAll { $0.key == key }
      addedMembers[object.index, default: []].append((key, bytes))
    }
  }

  /// Returns the bytes of a value in the notation of its field, or nil if it equals the existing
  /// value.
  ///
  /// - Parameters:
  ///   - value: The new value.
  ///   - field: The field.
  ///   - old: The existing value, or nil.
  ///   - path: The path of the field, for errors.
  private func encoded(
    _ value: PatternChange.Value, for field: AHAPField, replacing old: JSONValue?, at path: AHAPPath
  )
    throws(InputError) -> [UInt8]?
  {
    switch (field.valueKind, value) {
    case (.number, .text(let text)):
      guard let number = (try? JSONDocument(text: Array(text.utf8), name: ""))?.root.number else {
        throw path.error("the field takes a number, not \(text.quoted())")
      }
      return try encoded(.number(number), for: field, replacing: old, at: path)
    case (.flag, .text("true")), (.flag, .text("1")):
      return try encoded(.flag(true), for: field, replacing: old, at: path)
    case (.flag, .text("false")), (.flag, .text("0")):
      return try encoded(.flag(false), for: field, replacing: old, at: path)
    case (.number, .number(let number)):
      guard number.isFinite else { throw path.error("the number must be finite") }
      if let same = old?.number,
        field.isSinglePrecision ? Float(same) == Float(number) : same == number
      {
        return nil
      }
      if let old = old?.boolean, number == 0 || number == 1 {
        return old == (number == 1) ? nil : Self.booleanLiteral(number == 1)
      }
      let bytes = Self.numberText(number, like: old?.lexeme)
      return old.map { $0.lexeme.elementsEqual(bytes) } == true ? nil : bytes
    case (.number, .flag(let flag)) where field == .sustained:
      return try encoded(.number(flag ? 1 : 0), for: field, replacing: old, at: path)
    case (.flag, .flag(let flag)):
      guard let old, old.kind == .number else {
        return old?.boolean == flag ? nil : Self.booleanLiteral(flag)
      }
      return old.number == (flag ? 1 : 0) ? nil : [UInt8(ascii: flag ? "1" : "0")]
    case (.flag, .number(let number)) where number == 0 || number == 1:
      return try encoded(.flag(number == 1), for: field, replacing: old, at: path)
    case (.text, .text(let text)):
      if old?.string == text { return nil }
      var writer = JSONWriter(layout: .compact)
      writer.string(text)
      return writer.bytes
    default:
      throw path.error("the field takes \(field.valueKind.rawValue)")
    }
  }

  private static func booleanLiteral(_ flag: Bool) -> [UInt8] {
    Array((flag ? "true" : "false").utf8)
  }

  /// Returns a number rounded to 1e-6, which hides binary rounding errors.
  ///
  /// A whole number is written without a decimal point if it replaces a number without one.
  static func numberText(_ number: Double, like old: ArraySlice<UInt8>? = nil) -> [UInt8] {
    let rounded = number.magnitude < 1e9 ? (number * 1e6).rounded() / 1e6 + 0 : number
    let bytes = Array("\(rounded)".utf8)
    let isPlain = old.map { old in
      !old.isEmpty
        && old.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-") }
    }
    return isPlain == true && bytes.suffix(2) == Array(".0".utf8)[...]
      ? Array(bytes.dropLast(2)) : bytes
  }

  private mutating func remove(_ field: AHAPField, of object: JSONValue) {
    guard let id = field.parameter else { return remove(field.jsonKey, of: object) }
    for element in parameterElements(id, of: object) {
      if let list = element.parent {
        containerEdits[list.index, default: .init()].removedIndices.insert(element.index)
      }
    }
  }

  private mutating func remove(_ key: String, of object: JSONValue) {
    for member in object.members where member.key == key {
      containerEdits[object.index, default: .init()].removedIndices.insert(member.index)
    }
  }

  private func parameterElements(_ id: EventParameterID, of event: JSONValue) -> [JSONValue] {
    event["EventParameters"].map { $0.elements.filter { $0["ParameterID"]?.string == id.rawValue } }
      ?? []
  }

  // MARK: - Parts

  /// Removes a control point, or the entry of a part. If the entry contains further parts, only the
  /// part is removed.
  private mutating func remove(_ value: JSONValue) {
    let entry = value.enclosingEntry
    if let key = value.key, entry.holdsSeveralParts {
      remove(key, of: entry)
    } else if let list = entry.parent {
      containerEdits[list.index, default: .init()].removedIndices.insert(entry.index)
    }
  }

  /// Returns the bytes of a control point, or of an entry that contains only a part.
  func entryBytes(of value: JSONValue) -> [UInt8] {
    let entry = value.enclosingEntry
    guard let key = value.key, entry.holdsSeveralParts else {
      return Array(text[TextEdits.byteRange(of: entry, in: text)])
    }
    return objectText([(key, Array(text[TextEdits.byteRange(of: value, in: text)]))], like: nil)
  }

  private mutating func addEntry(_ bytes: [UInt8], after path: String?) throws(InputError) {
    let entry: JSONValue
    do throws(JSONError) {
      entry = try JSONDocument(text: bytes, name: "entry").root
    } catch {
      throw editor.changeError(
        at: path, message: "the entry is not JSON: \(error.message)\(error.location.position)",
        suggestion: error.suggestion)
    }
    guard entry.kind == .object, AHAPSchemas.entry.keys.contains(where: { entry[$0.name] != nil })
    else {
      throw editor.changeError(
        at: path, message: "an entry must be an object with an Event, Parameter or ParameterCurve",
        suggestion: "write {\"Event\": {…}}")
    }
    if entry["ParameterCurve"] != nil {
      touchesCurves = true
    }
    guard let list = root["Pattern"] else { return }
    var neighbor = Array(list.elements).last
    if let path {
      let found = try resolve(path)
      guard found.part != .point, found.field == nil else {
        throw found.error("an entry is added behind an event, parameter or curve")
      }
      neighbor = found.value.enclosingEntry
    }
    let (start, unit) = entryLayout(after: neighbor, in: list)
    if neighbor == nil, start.hasLineBreak {
      containerEdits[list.index, default: .init()].openingText = start
      containerEdits[list.index, default: .init()].closingText = Array(start.dropLast(unit.count))
    }
    containerEdits[list.index, default: .init()].insert(
      entryText(entry, lineStart: start, indentation: unit), after: neighbor?.index)
  }

  /// Returns the line break with the indentation of an entry after another, and the indentation per
  /// level. The line break is empty if entries are written on one line.
  private func entryLayout(after neighbor: JSONValue?, in list: JSONValue) -> (
    start: [UInt8], unit: [UInt8]
  ) {
    let usual: [UInt8] = [0x20, 0x20]
    guard let neighbor else {
      let start = list.leadingWhitespace
      guard start.hasLineBreak else { return ([], usual) }
      let unit = Array(start.drop { $0 == 0x0A || $0 == 0x0D })
      return (start + (unit.isEmpty ? usual : unit), unit.isEmpty ? usual : unit)
    }
    guard let inner = neighbor.children.first?.leadingWhitespace, inner.hasLineBreak else {
      return ([], usual)
    }
    let outer = neighbor.leadingWhitespace
    let isIndented = outer.hasLineBreak && inner.count > outer.count && inner.starts(with: outer)
    return (isIndented ? outer : inner, isIndented ? Array(inner[outer.count...]) : usual)
  }

  /// Returns the text of an entry on one line, or on several lines that begin with `start`.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - start: A line break and the indentation of the entry, or empty for one line.
  ///   - unit: The indentation per level.
  private func entryText(_ entry: JSONValue, lineStart: [UInt8], indentation: [UInt8])
    -> [UInt8]
  {
    guard lineStart.hasLineBreak else {
      var writer = JSONWriter(layout: root.hasSpacesAfterColons ? .singleLine : .compact)
      writer.value(copying: entry)
      return writer.bytes
    }
    var result: [UInt8] = []
    for (index, line) in AHAPSchemas.entry.canonicalText(of: entry).split(separator: 0x0A)
      .enumerated()
    {
      let depth = line.prefix { $0 == 0x20 }.count / 2
      if index > 0 {
        result += lineStart + (0..<depth).flatMap { _ in indentation }
      }
      result += line.drop { $0 == 0x20 }
    }
    return result
  }

  private mutating func addPoint(_ time: Double, _ value: Double, to path: AHAPPath)
    throws(InputError)
  {
    guard time.isFinite, value.isFinite else { throw path.error("the numbers must be finite") }
    let curve = path.value
    guard let list = curve["ParameterCurveControlPoints"] else { return }
    let elements = Array(list.elements)
    visitedCount += elements.count
    let earlier = elements.last { ($0["Time"]?.number ?? 0) <= time }
    let sample =
      elements.last ?? styleSample("ParameterCurveControlPoints", of: editor.curveValueIndices)
    let point = objectText(
      [("Time", Self.numberText(time)), ("ParameterValue", Self.numberText(value))], like: sample)
    if elements.isEmpty {
      setDelimiters(of: list.index, like: sample?.parent)
    }
    containerEdits[list.index, default: .init()].insert(point, after: earlier?.index)
  }

  // MARK: - In the style of the text

  /// Copies the white space after the opening and before the closing bracket of an array to an
  /// empty one.
  private mutating func setDelimiters(of list: Int, like sample: JSONValue?) {
    guard let sample, let first = sample.children.first else { return }
    containerEdits[list, default: .init()].openingText = first.leadingWhitespace
    containerEdits[list, default: .init()].closingText = closingWhitespace(of: sample)
  }

  private func closingWhitespace(of list: JSONValue) -> [UInt8] {
    let end = TextEdits.byteRange(of: list, in: text).upperBound - 1
    var start = end
    while start > 0, text[start - 1] <= 0x20 {
      start -= 1
    }
    return Array(text[start..<end])
  }

  /// Returns an object on one line, or in the style of an existing object with the same keys.
  private func objectText(_ members: [(key: String, bytes: [UInt8])], like sample: JSONValue?)
    -> [UInt8]
  {
    if let sample, sample.children.count == members.count {
      let edits = members.compactMap { member in
        sample[member.key].map {
          TextEdits.Edit(range: TextEdits.byteRange(of: $0, in: text), bytes: member.bytes)
        }
      }
      if edits.count == members.count {
        return TextEdits(text).applying(edits, within: TextEdits.byteRange(of: sample, in: text))
      }
    }
    let space: [UInt8] = root.hasSpacesAfterColons ? [0x20] : []
    var result = [UInt8(ascii: "{")]
    for (index, member) in members.enumerated() {
      if index > 0 {
        result += [UInt8(ascii: ",")] + space
      }
      result += Array("\"\(member.key)\":".utf8) + space + member.bytes
    }
    return result + [UInt8(ascii: "}")]
  }

  private mutating func insertParameters(
    _ added: [(id: String, bytes: [UInt8])], into event: JSONValue
  ) {
    let list = event["EventParameters"]
    let own = list?.children.last
    let sample = own ?? styleSample("EventParameters", of: editor.eventValueIndices)
    let texts = added.map { parameter in
      objectText(
        [("ParameterID", Array("\"\(parameter.id)\"".utf8)), ("ParameterValue", parameter.bytes)],
        like: sample)
    }
    if let list, list.kind == .array {
      if own == nil {
        setDelimiters(of: list.index, like: sample?.parent)
      }
      for text in texts {
        containerEdits[list.index, default: .init()].insert(text, after: own?.index)
      }
      return
    }
    let others = sample?.parent?.children ?? []
    let gap =
      others.isEmpty ? (root.hasSpacesAfterColons ? [0x20] : []) : others.separatorWhitespace(at: 0)
    var bytes = [UInt8(ascii: "[")] + (others.first?.leadingWhitespace ?? [])
    for (index, text) in texts.enumerated() {
      bytes += (index > 0 ? [UInt8(ascii: ",")] + gap : []) + text
    }
    bytes += (sample?.parent.map(closingWhitespace) ?? []) + [UInt8(ascii: "]")]
    replaceOrAddMember(bytes, key: "EventParameters", existing: list, in: event)
  }

  /// Returns the first element with two members in the arrays of a key, as a style for new
  /// elements.
  private mutating func styleSample(_ key: String, of values: [Int]) -> JSONValue? {
    if let known = styleSampleCache[key] { return known }
    for index in values {
      guard let first = editor.value(at: index)[key]?.elements.first(where: { _ in true }),
        first.children.count == 2
      else {
        continue
      }
      styleSampleCache[key] = first
      return first
    }
    styleSampleCache.updateValue(nil, forKey: key)
    return nil
  }

  /// Adds members, each after those that precede it in canonical order.
  private mutating func insertMembers(
    _ added: [(key: String, bytes: [UInt8])], into object: JSONValue
  ) {
    let names = AHAPSchemas.event.names.names
    func rank(_ key: String?) -> Int { key.flatMap { names.firstIndex(of: $0) } ?? names.count }
    let children = object.children
    for member in added.sorted(by: { rank($0.key) < rank($1.key) }) {
      let before = children.last { rank($0.key) < rank(member.key) }
      let colon = (before ?? children.first)?.keySeparator ?? Array(": ".utf8)
      containerEdits[object.index, default: .init()].insert(
        Array("\"\(member.key)\"".utf8) + colon + member.bytes, after: before?.index)
    }
  }
}

extension JSONValue {
  /// The element of an array that the value is, or is a member of.
  fileprivate var enclosingEntry: JSONValue {
    parent.flatMap { $0.kind == .object ? $0 : nil } ?? self
  }

  /// A Boolean value that indicates whether an entry of `Pattern` contains several parts.
  fileprivate var holdsSeveralParts: Bool {
    AHAPSchemas.entry.keys.count { self[$0.name].map { $0.kind != .null } == true } > 1
  }
}

extension PatternChange {
  /// Returns the names of the fields of a list's parts: `events`, `parameters`, `curves`, or
  /// `points`.
  package static func fields(of list: String) -> [String] {
    AHAPPath.Part(rawValue: String(list.dropLast()))?.fields.map { $0.rawValue } ?? []
  }

  /// Returns the event parameter of a field, or nil.
  package static func parameter(of field: String) -> EventParameterID? {
    AHAPField(rawValue: field)?.parameter
  }
}

/// A change of a pattern's text.
///
/// Paths such as `events[3].time` and `curves[0].points[2]` identify parts and fields. Events,
/// parameters, curves, and the points of a curve are each numbered from 0 in the order of the text.
/// Times of points are relative to the start of their curve, in seconds.
package enum PatternChange: Equatable, Sendable {
  package enum Value: Equatable, Sendable {
    /// A finite number. Flags accept 0 and 1.
    case number(Double)
    /// A name or a path. Number and flag fields accept their values as text.
    case text(String)
    /// A flag.
    case flag(Bool)
  }

  /// Sets a field, or inserts it into a part that does not have it.
  case set(String, to: Value)
  /// Removes a part or a field.
  case remove(String)
  /// Inserts a copy of a part, as it was before all changes, after the part.
  case duplicate(String)
  /// Inserts an entry of `Pattern`, given as JSON, after a part or at the end.
  case add([UInt8], after: String? = nil)
  /// Inserts a control point after the points of its curve that are not later.
  case addPoint(time: Double, value: Double, to: String)

  package var path: String? {
    switch self {
    case .set(let path, _), .remove(let path), .duplicate(let path), .addPoint(_, _, let path): path
    case .add(_, let path): path
    }
  }
}

extension InputError {
  package init(
    changing path: String, of name: String, _ message: String, _ suggestion: String? = nil
  ) {
    self.init(
      Finding(
        .invalidChange, location: FileLocation(name: name, path: path), message,
        suggestion: suggestion))
  }
}
