package import HapticModel
import Reading

/// A field of a part of a pattern, by its name in paths.
package enum AHAPField: String, CaseIterable, Sendable {
  case time, value, duration, intensity, sharpness, attack, decay, sustained, release, volume, pan,
    pitch, brightness
  case kind, path, envelope, loop, id

  enum ValueKind: String, Sendable {
    case number = "a number"
    case text = "a text"
    case flag = "true or false"
  }

  var valueKind: ValueKind {
    switch self {
    case .kind, .path, .id: .text
    case .envelope, .loop: .flag
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

  /// The event parameter of the field, or nil for a field that is a key.
  package var parameter: EventParameterID? { Self.parametersByField[self] }

  /// The JSON key of a field that is not an event parameter.
  var jsonKey: String { Self.jsonKeysByField[self] ?? "ParameterValue" }

  /// A Boolean value that indicates whether the pattern stores the number as a `Float`.
  var isSinglePrecision: Bool { self == .value || parameter != nil }
}

/// A resolved path: the part of a text that it leads to, and optionally a field of it.
struct AHAPPath {
  enum PartKind: String {
    case event, parameter, curve, point

    var noun: String {
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

  let text: String
  let editor: AHAPEditor
  let partKind: PartKind
  /// The object that has the fields: for an event, the event instead of its entry.
  let value: JSONValue
  let field: AHAPField?

  /// Resolves a path.
  init(_ text: String, in editor: AHAPEditor) throws(InputError) {
    var points: [Int: [JSONValue]] = [:]
    try self.init(text, in: editor, points: &points)
  }

  /// Resolves a path.
  ///
  /// - Parameters:
  ///   - text: The path, such as `events[3].time`.
  ///   - editor: The text with its parts.
  ///   - points: A cache of the control points of curves.
  init(_ text: String, in editor: AHAPEditor, points: inout [Int: [JSONValue]]) throws(InputError) {
    var steps = Self.steps(of: text)[...]
    func error(_ message: String, _ suggestion: String? = nil) -> InputError {
      editor.changeError(at: text, message: message, suggestion: suggestion)
    }
    guard let first = steps.popFirst(), let index = first.index else {
      throw error(
        "invalid path",
        "use events[3], parameters[0], curves[0].points[2], or a field of one of these")
    }
    let lists: [(name: String, part: PartKind, valueIndices: [Int])] = [
      ("events", .event, editor.eventValueIndices),
      ("parameters", .parameter, editor.parameterValueIndices),
      ("curves", .curve, editor.curveValueIndices),
    ]
    guard let list = lists.first(where: { $0.name == first.name }) else {
      throw error(
        "unknown list \(first.name.quoted())",
        JSONNameList(lists.map { $0.name }).suggestion(for: first.name)
          ?? "use events, parameters, or curves"
      )
    }
    guard index < list.valueIndices.count else {
      throw error(
        Self.missingText(for: first, count: list.valueIndices.count, owner: "the pattern"))
    }
    var part = list.part
    var valueIndex = list.valueIndices[index]
    if part == .curve, let step = steps.first, step.name == "points", let number = step.index {
      let controlPoints = points[index] ?? editor.controlPoints(ofCurve: index)
      points[index] = controlPoints
      guard number < controlPoints.count else {
        throw error(Self.missingText(for: step, count: controlPoints.count, owner: "the curve"))
      }
      part = .point
      valueIndex = controlPoints[number].nodeIndex
      steps = steps.dropFirst()
    }
    let field = try steps.popFirst().map { step throws(InputError) in
      try Self.field(of: part, at: step, error: error)
    }
    guard steps.isEmpty else {
      throw error("the path continues after a field", "remove the rest of the path")
    }
    self.text = text
    self.editor = editor
    self.partKind = part
    self.field = field
    value = editor.value(at: valueIndex)
  }

  /// Returns the field of a part that a step names, or throws an error for an unknown one.
  private static func field(
    of part: PartKind, at step: Step,
    error: (_ message: String, _ suggestion: String?) -> InputError
  ) throws(InputError) -> AHAPField {
    let field = step.index == nil ? part.fields.first { $0.rawValue == step.name } : nil
    guard let field else {
      let names = JSONNameList(part.fields.map { $0.rawValue })
      throw error(
        "unknown field of \(part.noun)",
        names.suggestion(for: step.name) ?? "use \(names.names.joined(separator: ", "))")
    }
    return field
  }

  /// Creates the error for an invalid change at the path.
  func error(_ message: String, suggestion: String? = nil) -> InputError {
    editor.changeError(at: text, message: message, suggestion: suggestion)
  }

  /// A name with an optional index in brackets.
  private typealias Step = (name: String, index: Int?)

  /// Returns the message for an index out of range.
  private static func missingText(for step: Step, count: Int, owner: String) -> String {
    guard count > 0 else { return "\(owner) has no \(step.name)" }
    let last = count == 1 ? "" : " to \(step.name)[\(count - 1)]"
    return
      """
      \(owner) has \(count) \(count == 1 ? String(step.name.dropLast()) : step.name) \
      (\(step.name)[0]\(last))
      """
  }

  /// Returns the steps of a path; empty for an invalid path.
  private static func steps(of text: String) -> [Step] {
    var steps: [Step] = []
    for part in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
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
      steps.append((String(decoding: name, as: UTF8.self), index))
    }
    return steps
  }
}
