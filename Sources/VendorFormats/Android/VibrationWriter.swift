internal import HapticFormats

/// Writes effects as vibration XML.
struct VibrationWriter {
  private var bytes: [UInt8] = []
  private var depth = 0

  /// The text of a file.
  static func text(_ effect: VibrationEffect) -> [UInt8] {
    var writer = VibrationWriter()
    writer.element(.vibrationEffect) { $0.content(effect, bareEntries: false) }
    return writer.bytes
  }

  private mutating func content(_ effect: VibrationEffect, bareEntries: Bool) {
    switch effect {
    case .predefined(let name): element(.predefinedEffect, [(.name, name.rawValue)])
    case .primitives(let primitives):
      for primitive in primitives {
        var attributes: [(VibrationName, String)] = [(.name, primitive.name.rawValue)]
        if primitive.scale != 1 { attributes.append((.scale, "\(primitive.scale)")) }
        if primitive.delay != 0 { attributes.append((.delayMs, "\(primitive.delay)")) }
        if primitive.isFromStart { attributes.append((.delayType, "relative_start_offset")) }
        element(.primitiveEffect, attributes)
      }
    case .waveform(let steps, _) where bareEntries: entries(steps[...])
    case .waveform(let steps, let repeatIndex):
      element(.waveformEffect) { writer in
        writer.entries(steps[..<(repeatIndex ?? steps.count)])
        if let repeatIndex { writer.element(.repeating) { $0.entries(steps[repeatIndex...]) } }
      }
    case .basicEnvelope(let initial, let points):
      element(.basicEnvelopeEffect, initial.map { [(.initialSharpness, "\($0)")] } ?? []) { writer in
        for point in points {
          writer.element(
            .controlPoint,
            [
              (.intensity, "\(point.intensity)"), (.sharpness, "\(point.sharpness)"),
              (.durationMs, "\(point.duration)"),
            ])
        }
      }
    case .waveformEnvelope(let initial, let points):
      element(.waveformEnvelopeEffect, initial.map { [(.initialFrequencyHz, "\($0)")] } ?? []) { writer in
        for point in points {
          writer.element(
            .controlPoint,
            [(.amplitude, "\(point.amplitude)"), (.frequencyHz, "\(point.hertz)"), (.durationMs, "\(point.duration)")])
        }
      }
    case .repeating(let preamble, let repeating):
      element(.repeatingEffect) { writer in
        if let preamble { writer.element(.preamble) { $0.content(preamble, bareEntries: true) } }
        writer.element(.repeating) { $0.content(repeating, bareEntries: true) }
      }
    }
  }

  private mutating func entries(_ steps: ArraySlice<VibrationEffect.Step>) {
    for step in steps {
      element(
        .waveformEntry, [(.durationMs, "\(step.duration)"), (.amplitude, step.amplitude.map { "\($0)" } ?? "default")])
    }
  }

  private mutating func element(
    _ name: VibrationName, _ attributes: [(VibrationName, String)] = [],
    _ contents: ((inout VibrationWriter) -> Void)? = nil
  ) {
    start(name.text, attributes.map { ($0.0.text, $0.1) }, isEmpty: contents == nil)
    guard let contents else { return }
    contents(&self)
    end(name.text)
  }

  private mutating func start(_ name: String, _ attributes: [(String, String)], isEmpty: Bool) {
    line("<" + name)
    for (name, value) in attributes {
      append(" \(name)=\"")
      append(Self.escaped(value))
      append("\"")
    }
    append(isEmpty ? " />\n" : ">\n")
    if !isEmpty { depth += 1 }
  }

  private mutating func end(_ name: String) {
    depth -= 1
    line("</\(name)>\n")
  }

  private mutating func line(_ text: String) {
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    append(text)
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private static func escaped(_ value: String) -> String {
    guard value.utf8.contains(where: { [0x26, 0x3C, 0x22, 0x09, 0x0A, 0x0D].contains($0) }) else { return value }
    var text = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case "\"": text += "&quot;"
      case "\t", "\n", "\r": text += "&#\(scalar.value);"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  // MARK: Canonical text

  /// The elements of a tree in a fixed layout, with attributes in a fixed order and all comments.
  static func text(_ tree: XMLTree) -> [UInt8] {
    var writer = VibrationWriter()
    if !tree.elements.isEmpty { for element in tree.topLevel { writer.copy(element, of: tree) } }
    return writer.bytes
  }

  /// The order in which attributes are written; no element has two in another.
  private static let order: [VibrationName] = [
    .name, .initialSharpness, .initialFrequencyHz, .intensity, .sharpness, .amplitude, .frequencyHz, .scale, .delayMs,
    .delayType, .durationMs,
  ]

  private mutating func copy(_ element: Int, of tree: XMLTree) {
    if tree.elements[element].name == XMLTree.comment {
      let range = tree.attributes[tree.elements[element].attributes.lowerBound].value
      line("")
      bytes.append(contentsOf: tree.text[range])
      append("\n")
      return
    }
    let attributes = Array(tree.elements[element].attributes)
    let isStep = VibrationName(rawValue: tree.elements[element].name) == .waveformEntry
    func rank(_ attribute: Int) -> Int {
      guard let name = VibrationName(rawValue: tree.attributes[attribute].name) else { return .max }
      if isStep, name == .durationMs { return -1 }
      return Self.order.firstIndex(of: name) ?? .max
    }
    let sorted = attributes.sorted { (rank($0), $0) < (rank($1), $1) }
    let children = Array(tree.children(of: element))
    start(
      tree.name(of: element), sorted.map { (tree.place(of: $0, in: element).name, tree.string(tree.attributes[$0])) },
      isEmpty: children.isEmpty)
    guard !children.isEmpty else { return }
    for child in children { copy(child, of: tree) }
    end(tree.name(of: element))
  }
}
