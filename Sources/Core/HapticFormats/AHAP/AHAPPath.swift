package import HapticModel
package import Reading

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
  enum Part: String {
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
  let part: Part
  /// The object that has the fields: for an event, the event instead of its entry.
  let value: JSONValue
  let field: AHAPField?

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
    let words = Self.steps(of: text)
    var steps = words[...]
    func refused(_ message: String, _ suggestion: String? = nil) -> InputError {
      editor.changeError(at: text, message: message, suggestion: suggestion)
    }
    guard let first = steps.popFirst(), let index = first.index else {
      throw refused(
        "the path is not valid",
        "write events[3], parameters[0], curves[0].points[2] or a field of them")
    }
    let lists: [(name: String, part: Part, values: [Int])] = [
      ("events", .event, editor.eventValueIndices),
      ("parameters", .parameter, editor.parameterValueIndices),
      ("curves", .curve, editor.curveValueIndices),
    ]
    guard let found = lists.first(where: { $0.name == first.name }) else {
      throw refused(
        "unknown list \(first.name.quoted())",
        JSONNameList(lists.map { $0.name }).suggestion(for: first.name)
          ?? "use events, parameters or curves"
      )
    }
    guard index < found.values.count else {
      throw refused(Self.missingText(for: first, count: found.values.count, owner: "the pattern"))
    }
    var part = found.part
    var place = found.values[index]
    if part == .curve, let step = steps.first, step.name == "points", let number = step.index {
      let list = points[index] ?? editor.controlPoints(ofCurve: index)
      points[index] = list
      guard number < list.count else {
        throw refused(Self.missingText(for: step, count: list.count, owner: "the curve"))
      }
      part = .point
      place = list[number].index
      steps = steps.dropFirst()
    }
    var field: AHAPField?
    if let step = steps.popFirst() {
      field = step.index == nil ? part.fields.first { $0.rawValue == step.name } : nil
      guard field != nil else {
        let names = JSONNameList(part.fields.map { $0.rawValue })
        throw refused(
          "unknown field of \(part.noun)",
          names.suggestion(for: step.name) ?? "use \(names.names.joined(separator: ", "))")
      }
    }
    guard steps.isEmpty else { throw refused("the path has more after a field", "end it there") }
    self.text = text
    self.editor = editor
    self.part = part
    self.field = field
    value = editor.value(at: place)
  }

  func error(_ message: String, suggestion: String? = nil) -> InputError {
    editor.changeError(at: text, message: message, suggestion: suggestion)
  }

  private typealias Step = (name: String, index: Int?)

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
    var words: [Step] = []
    for word in text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      let name = word.prefix { $0 != UInt8(ascii: "[") }
      let rest = word[name.endIndex...]
      var index: Int?
      if !rest.isEmpty {
        let digits = rest.dropFirst().dropLast()
        guard rest.last == UInt8(ascii: "]"), 1...9 ~= digits.count,
          digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
        else { return [] }
        index = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
      }
      guard !name.isEmpty else { return [] }
      words.append((String(decoding: name, as: UTF8.self), index))
    }
    return words
  }
}
