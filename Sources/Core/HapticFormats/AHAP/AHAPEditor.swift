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
  /// The text that is edited.
  package let document: AHAPDocument
  /// The content of the text. Control points are sorted, and relative to their curve.
  package let content: AHAPContent
  /// The number of bytes and values that the changes visited, without copying and parsing the text.
  package let visitedValueCount: Int
  /// The indices of the JSON values that the events, parameters, and curves were read from.
  let eventValueIndices: [Int]
  let parameterValueIndices: [Int]
  let curveValueIndices: [Int]

  /// Reads a text, or throws its first error.
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
    var builder = AHAPEditBuilder(of: self)
    for change in changes {
      try builder.recordEdits(of: change)
    }
    if builder.changesCurves, hasAbsoluteTimes {
      let relativeText = TextEdits(text).applying(document.relativeTimeEdits)
      return try edited(to: relativeText, by: changes).applying(changes)
    }
    let editedText = TextEdits(text).applying(builder.finish())
    let result = try edited(to: editedText, by: changes, visitedCount: builder.visitedValueCount)
    guard !result.hasAbsoluteTimes || hasAbsoluteTimes else {
      throw changeError(
        at: changes.count == 1 ? changes[0].path : nil,
        message:
          "the control points of all curves would become relative to the start of the pattern",
        suggestion: "move one control point by 1 ms")
    }
    return result
  }

  /// Returns the bytes of a part as in the text: those of its entry in `Pattern`, or of a control
  /// point.
  package func bytes(of path: String) throws(InputError) -> [UInt8] {
    let resolvedPath = try AHAPPath(path, in: self)
    return AHAPEditBuilder(of: self).entryBytes(of: resolvedPath.value)
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
  package func changePath(forJSONPath path: String) -> String? {
    let separated = path.utf8.split(whereSeparator: { ".[]".utf8.contains($0) })
    var remainingSteps = separated.map { String(Substring($0)) }[...]
    guard remainingSteps.popFirst() == "Pattern",
      let number = remainingSteps.popFirst().flatMap({ Int($0) }),
      number >= 0, let list = document.json.root["Pattern"], let key = remainingSteps.popFirst(),
      let part = list.elements.dropFirst(number).first(where: { _ in true })?[key]
    else { return nil }
    if let eventIndex = Self.sortedPosition(of: part.nodeIndex, in: eventValueIndices) {
      return "events[\(eventIndex)]"
    }
    if let parameterIndex = Self.sortedPosition(of: part.nodeIndex, in: parameterValueIndices) {
      return "parameters[\(parameterIndex)]"
    }
    guard let curveIndex = Self.sortedPosition(of: part.nodeIndex, in: curveValueIndices) else {
      return nil
    }
    guard remainingSteps.popFirst() == "ParameterCurveControlPoints",
      let point = remainingSteps.popFirst()
    else {
      return "curves[\(curveIndex)]"
    }
    return "curves[\(curveIndex)].points[\(point)]"
  }

  /// Returns the position of a value in an ascending list, found by bisection; nil if it is absent.
  private static func sortedPosition(of value: Int, in values: [Int]) -> Int? {
    var lowerIndex = 0
    var upperIndex = values.count
    while lowerIndex < upperIndex {
      let middle = (lowerIndex + upperIndex) / 2
      if values[middle] < value {
        lowerIndex = middle + 1
      } else {
        upperIndex = middle
      }
    }
    return lowerIndex < values.count && values[lowerIndex] == value ? lowerIndex : nil
  }

  /// Returns the JSON value with an index.
  func value(at index: Int) -> JSONValue { JSONValue(document: document.json, index: index) }

  /// Returns the JSON values of a curve's control points.
  func controlPoints(ofCurve curve: Int) -> [JSONValue] {
    value(at: curveValueIndices[curve])["ParameterCurveControlPoints"].map { Array($0.elements) }
      ?? []
  }

  /// A Boolean value that indicates whether times of control points depend on their interpretation
  /// as absolute.
  private var hasAbsoluteTimes: Bool {
    content.usesAbsoluteCurveTimes
      && pattern.curves.contains { $0.time > 0 && !$0.controlPoints.isEmpty }
  }

  /// Returns an editor of a changed text, or throws its first error at the path of the change.
  private func edited(to text: [UInt8], by changes: [PatternChange], visitedCount: Int = 0)
    throws(InputError) -> AHAPEditor
  {
    do throws(InputError) {
      let document = try AHAPDocument(text: text, name: document.json.name)
      let (content, decoder) = try document.decodedWithFindings()
      return AHAPEditor(document, content, decoder, visitedCount: visitedCount)
    } catch {
      var error = error
      // The line of the error refers to a text that is not written.
      let path = changes.count == 1 ? changes[0].path : nil
      error.finding.location = FileLocation(
        name: error.location.name, path: path ?? error.location.path)
      throw error
    }
  }

  /// Creates the error for an invalid change.
  func changeError(at path: String?, message: String, suggestion: String? = nil) -> InputError {
    InputError(changing: path ?? "Pattern", of: document.json.name, message, suggestion)
  }
}
