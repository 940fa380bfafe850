package import HapticModel
package import Reading

/// An AHAP document that is edited in place.
///
/// A change affects only the bytes of the value that it replaces, inserts, or removes. Layout,
/// unknown keys, and number notation are preserved. UTF-16 and UTF-32 documents are converted to
/// UTF-8.
///
/// If control point times count from the start of the pattern, the first change to a curve makes
/// all of them relative. Otherwise, moving a single point could change how the others are
/// interpreted.
///
/// An editor is a value. To undo a change, keep the previous editor.
package struct AHAPEditor: Sendable {
  /// The current document.
  package let document: AHAPDocument
  /// The decoded content of the document, with control points sorted and relative to their curve.
  package let content: AHAPContent
  /// The number of bytes and values visited by the changes, not counting copying and parsing.
  package let visitedValueCount: Int
  /// The index of the source JSON value of each event, parameter, and curve.
  let eventValueIndices: [Int]
  let parameterValueIndices: [Int]
  let curveValueIndices: [Int]

  /// Creates an editor for a text, or throws the first error in the text.
  package init(text: [UInt8], name: String) throws(InputError) {
    let document = try AHAPDocument(text: text, name: name)
    let (content, decoder) = try document.decodedWithFindings()
    self.init(document, content, decoder, visitedCount: 0)
  }

  private init(
    _ document: AHAPDocument, _ content: AHAPContent, _ decoder: AHAPDecoder, visitedCount: Int
  ) {
    self.document = document
    self.content = content
    self.visitedValueCount = visitedCount
    eventValueIndices = decoder.eventValueIndices
    parameterValueIndices = decoder.parameterValueIndices
    curveValueIndices = decoder.curveValueIndices
  }

  package var text: [UInt8] { document.jsonDocument.text }

  package var pattern: HapticPattern { content.pattern }

  /// The locations of the elements of the pattern in the document.
  package var sourceMap: SourceMap {
    document.sourceMap(
      events: eventValueIndices, parameters: parameterValueIndices, curves: curveValueIndices)
  }

  /// Returns an editor with all changes applied at once, or throws the first error.
  ///
  /// - All paths refer to the document before the changes. If a field is set more than once, the
  ///   last value applies. A change inside a removed part has no effect.
  /// - Numbers are rounded to 1e-6. A value equal to the existing one keeps the existing spelling.
  /// - Out-of-range values are written unchanged, because reading clamps them. A change that makes
  ///   the document invalid is an error.
  ///
  /// - Complexity: Linear in the length of the document, the number of changes, and the size of the
  ///   parts that they affect.
  package func applying(_ changes: [PatternChange]) throws(InputError) -> AHAPEditor {
    var editBuilder = AHAPEditBuilder(of: self)
    for change in changes {
      try editBuilder.recordEdits(of: change)
    }
    if editBuilder.changesCurves, hasAbsoluteCurveTimes {
      let relativeText = TextEdits(text).applying(document.relativeCurveTimeEdits)
      return try editor(for: relativeText, changedBy: changes).applying(changes)
    }
    let editedText = TextEdits(text).applying(editBuilder.collectedEdits())
    let changedEditor = try editor(
      for: editedText, changedBy: changes, visitedCount: editBuilder.visitedValueCount)
    guard !changedEditor.hasAbsoluteCurveTimes || hasAbsoluteCurveTimes else {
      throw invalidChangeError(
        at: changes.count == 1 ? changes[0].path : nil,
        message:
          "the control points of all curves would become relative to the start of the pattern",
        suggestion: "move one control point by 1 ms")
    }
    return changedEditor
  }

  /// Returns the text of a part: a control point, or the entry of `Pattern` that contains the part.
  package func bytes(of path: String) throws(InputError) -> [UInt8] {
    let resolvedPath = try AHAPPath(path, in: self)
    return AHAPEditBuilder(of: self).entryBytes(of: resolvedPath.containerValue)
  }

  /// Returns the path indices of a curve's control points, sorted by time. Points with equal times
  /// stay in document order.
  package func controlPointOrder(ofCurve index: Int) -> [Int] {
    guard curveValueIndices.indices.contains(index) else { return [] }
    let pointTimes = controlPoints(ofCurve: index).map { $0["Time"]?.number ?? 0 }
    return pointTimes.indices.sorted { (pointTimes[$0], $0) < (pointTimes[$1], $1) }
  }

  /// Returns the path of the part that contains a JSON value, or nil if no part does.
  ///
  /// - Parameter path: The JSON path of the value, such as `Pattern[3].Event.Time`.
  package func patternElementPath(forJSONPath path: String) -> String? {
    let pathComponents = path.utf8.split(whereSeparator: { ".[]".utf8.contains($0) })
    var remainingSteps = pathComponents.map { String(Substring($0)) }[...]
    guard remainingSteps.popFirst() == "Pattern",
      let number = remainingSteps.popFirst().flatMap({ Int($0) }),
      number >= 0, let list = document.jsonDocument.root["Pattern"],
      let key = remainingSteps.popFirst(),
      let part = list.elements.dropFirst(number).first(where: { _ in true })?[key]
    else { return nil }
    if let eventIndex = Self.indexInSortedValues(of: part.nodeIndex, in: eventValueIndices) {
      return "events[\(eventIndex)]"
    }
    if let parameterIndex = Self.indexInSortedValues(of: part.nodeIndex, in: parameterValueIndices)
    {
      return "parameters[\(parameterIndex)]"
    }
    guard let curveIndex = Self.indexInSortedValues(of: part.nodeIndex, in: curveValueIndices)
    else {
      return nil
    }
    guard remainingSteps.popFirst() == "ParameterCurveControlPoints",
      let point = remainingSteps.popFirst()
    else {
      return "curves[\(curveIndex)]"
    }
    return "curves[\(curveIndex)].points[\(point)]"
  }

  /// Returns the index of a value in a sorted array, or nil if it is absent.
  private static func indexInSortedValues(of value: Int, in values: [Int]) -> Int? {
    let index = values.prefixEndIndex { $0 < value }
    return index < values.count && values[index] == value ? index : nil
  }

  /// Returns the JSON value with the given index.
  func value(at index: Int) -> JSONValue {
    JSONValue(document: document.jsonDocument, index: index)
  }

  /// Returns the JSON values of a curve's control points, in document order.
  func controlPoints(ofCurve curve: Int) -> [JSONValue] {
    value(at: curveValueIndices[curve])["ParameterCurveControlPoints"].map { Array($0.elements) }
      ?? []
  }

  /// A Boolean value that indicates whether control point times are interpreted as absolute.
  private var hasAbsoluteCurveTimes: Bool {
    content.usesAbsoluteCurveTimes
      && pattern.curves.contains { $0.time > 0 && !$0.controlPoints.isEmpty }
  }

  /// Returns an editor for the changed text.
  ///
  /// Throws the first error, located at the changed path.
  private func editor(for text: [UInt8], changedBy changes: [PatternChange], visitedCount: Int = 0)
    throws(InputError) -> AHAPEditor
  {
    do throws(InputError) {
      let document = try AHAPDocument(text: text, name: document.jsonDocument.name)
      let (content, decoder) = try document.decodedWithFindings()
      return AHAPEditor(document, content, decoder, visitedCount: visitedCount)
    } catch {
      var error = error
      // Do not report a line number, because the faulty text is never written.
      let path = changes.count == 1 ? changes[0].path : nil
      error.finding.location = FileLocation(
        name: error.location.name, path: path ?? error.location.path)
      throw error
    }
  }

  /// Creates an error that reports an invalid change.
  func invalidChangeError(at path: String?, message: String, suggestion: String? = nil)
    -> InputError
  {
    InputError(changing: path ?? "Pattern", of: document.jsonDocument.name, message, suggestion)
  }
}
