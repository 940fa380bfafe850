package import HapticModel
import Reading

/// An editable field of a part. Raw values are the field names in paths.
package enum AHAPField: String, CaseIterable, Sendable {
  case time, value, duration, intensity, sharpness, attack, decay, sustained, release, volume, pan,
    pitch, brightness
  case kind, path, envelope, loop, id

  enum ValueKind: String, Sendable {
    case number = "a number"
    case text = "a text"
    case boolean = "true or false"
  }

  var valueKind: ValueKind {
    switch self {
    case .kind, .path, .id: .text
    case .envelope, .loop: .boolean
    default: .number
    }
  }

  private static let parametersByField: [AHAPField: EventParameterID] = [
    .intensity: .hapticIntensity, .sharpness: .hapticSharpness, .attack: .attackTime,
    .decay: .decayTime,
    .sustained: .sustained, .release: .releaseTime, .volume: .audioVolume, .pan: .audioPan,
    .pitch: .audioPitch,
    .brightness: .audioBrightness,
  ]
  private static let jsonKeysByField: [AHAPField: String] = [
    .time: "Time", .duration: "EventDuration", .kind: "EventType", .path: "EventWaveformPath",
    .envelope: "EventWaveformUseVolumeEnvelope", .loop: "EventWaveformLoopEnabled",
    .id: "ParameterID",
  ]

  /// The event parameter of the field, or nil if the field is a plain JSON key.
  package var eventParameter: EventParameterID? { Self.parametersByField[self] }

  /// The JSON key that stores the field.
  var jsonKey: String { Self.jsonKeysByField[self] ?? "ParameterValue" }

  /// A Boolean value that indicates whether the pattern stores the number as a `Float`.
  var isStoredAsFloat: Bool { self == .value || eventParameter != nil }
}

/// A resolved path: a part of a document and, optionally, one of its fields.
struct AHAPPath {
  enum ElementKind: String {
    case event, parameter, curve, point

    var nounWithArticle: String {
      switch self {
      case .event: "an event"
      case .parameter: "a parameter"
      case .curve: "a curve"
      case .point: "a control point"
      }
    }

    var fields: [AHAPField] {
      switch self {
      case .event: AHAPField.allCases.filter { $0 != .value && $0 != .id }
      case .parameter: [.time, .value, .id]
      case .curve: [.time, .id]
      case .point: [.time, .value]
      }
    }
  }

  let pathText: String
  let editor: AHAPEditor
  let elementKind: ElementKind
  /// The object that contains the fields. For an event, this is the `Event` object, not its entry.
  let containerValue: JSONValue
  let namedField: AHAPField?

  /// Resolves a path in a document, or throws an error if it does not exist.
  init(_ text: String, in editor: AHAPEditor) throws(InputError) {
    var controlPointCache: [Int: [JSONValue]] = [:]
    try self.init(text, in: editor, points: &controlPointCache)
  }

  /// Resolves a path, using a cache of control points.
  ///
  /// - Parameters:
  ///   - text: The path, such as `events[3].time`.
  ///   - editor: The document that the path refers to.
  ///   - points: Cached control points, by curve index.
  init(_ text: String, in editor: AHAPEditor, points: inout [Int: [JSONValue]]) throws(InputError) {
    var pathSteps = PatternPathComponent.components(of: text)[...]
    func pathError(_ message: String, _ suggestion: String? = nil) -> InputError {
      editor.invalidChangeError(at: text, message: message, suggestion: suggestion)
    }
    guard let listStep = pathSteps.popFirst(), let listIndex = listStep.index else {
      throw pathError(
        "invalid path",
        "use events[3], parameters[0], curves[0].points[2], or a field of one of these")
    }
    let knownLists: [(name: String, part: ElementKind, valueIndices: [Int])] = [
      ("events", .event, editor.eventValueIndices),
      ("parameters", .parameter, editor.parameterValueIndices),
      ("curves", .curve, editor.curveValueIndices),
    ]
    guard let namedList = knownLists.first(where: { $0.name == listStep.name }) else {
      throw pathError(
        "unknown list \(listStep.name.quoted())",
        JSONNameList(knownLists.map { $0.name }).suggestion(for: listStep.name)
          ?? "use events, parameters, or curves"
      )
    }
    guard listIndex < namedList.valueIndices.count else {
      throw pathError(
        Self.missingElementMessage(
          for: listStep, count: namedList.valueIndices.count, owner: "the pattern"))
    }
    var resolvedPartKind = namedList.part
    var valueIndex = namedList.valueIndices[listIndex]
    if resolvedPartKind == .curve, let step = pathSteps.first, step.name == "points",
      let pointIndex = step.index
    {
      let controlPoints = points[listIndex] ?? editor.controlPoints(ofCurve: listIndex)
      points[listIndex] = controlPoints
      guard pointIndex < controlPoints.count else {
        throw pathError(
          Self.missingElementMessage(for: step, count: controlPoints.count, owner: "the curve"))
      }
      resolvedPartKind = .point
      valueIndex = controlPoints[pointIndex].nodeIndex
      pathSteps = pathSteps.dropFirst()
    }
    let resolvedField = try pathSteps.popFirst().map { step throws(InputError) in
      try Self.field(of: resolvedPartKind, at: step, error: pathError)
    }
    guard pathSteps.isEmpty else {
      throw pathError("the path continues after a field", "remove the rest of the path")
    }
    self.pathText = text
    self.editor = editor
    self.elementKind = resolvedPartKind
    self.namedField = resolvedField
    containerValue = editor.value(at: valueIndex)
  }

  /// Returns the field that a path component names, or throws an error if it is unknown.
  private static func field(
    of part: ElementKind, at step: PatternPathComponent,
    error: (_ message: String, _ suggestion: String?) -> InputError
  ) throws(InputError) -> AHAPField {
    let matchingField = step.index == nil ? part.fields.first { $0.rawValue == step.name } : nil
    guard let matchingField else {
      let names = JSONNameList(part.fields.map { $0.rawValue })
      throw error(
        "unknown field of \(part.nounWithArticle)",
        names.suggestion(for: step.name) ?? "use \(names.names.joined(separator: ", "))")
    }
    return matchingField
  }

  /// Creates an error that reports an invalid change at this path.
  func error(_ message: String, suggestion: String? = nil) -> InputError {
    editor.invalidChangeError(at: pathText, message: message, suggestion: suggestion)
  }

  /// Returns the error message for an index out of range.
  private static func missingElementMessage(
    for step: PatternPathComponent, count: Int, owner: String
  ) -> String {
    guard count > 0 else { return "\(owner) has no \(step.name)" }
    let lastStepText = count == 1 ? "" : " to \(step.name)[\(count - 1)]"
    return
      """
      \(owner) has \(count) \(count == 1 ? String(step.name.dropLast()) : step.name) \
      (\(step.name)[0]\(lastStepText))
      """
  }
}

/// A component of a path in a pattern: a name with an optional index in brackets.
///
/// Components whose indices differ only in leading zeros are equal.
package struct PatternPathComponent: Hashable, Sendable {
  let name: String
  let index: Int?

  /// Returns the components of a path, or an empty array if the path is invalid.
  package static func components(of path: String) -> [PatternPathComponent] {
    var components: [PatternPathComponent] = []
    for part in path.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      let name = part.prefix { $0 != UInt8(ascii: "[") }
      let subscriptText = part[name.endIndex...]
      var index: Int?
      if !subscriptText.isEmpty {
        let digits = subscriptText.dropFirst().dropLast()
        guard subscriptText.last == UInt8(ascii: "]"), 1...9 ~= digits.count,
          digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return [] }
        index = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
      }
      guard !name.isEmpty else { return [] }
      components.append(
        PatternPathComponent(name: String(decoding: name, as: UTF8.self), index: index))
    }
    return components
  }
}
