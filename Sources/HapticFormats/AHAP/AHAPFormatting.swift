import Reading

extension AHAPDocument {
  /// The canonical text: the same for all files that say the same, and easy to compare by line.
  ///
  /// Two spaces per level; known keys in the order below, others behind them in their own; event
  /// parameters, control points and parameters on one line each; known numbers as the shortest
  /// decimal with a point, others as written; strings with no escape they do not need; a line break
  /// at the end. Formatting it again changes nothing.
  ///
  /// - A file: `Version`, `Metadata`, `Pattern`.
  /// - An event: `Time`, `EventType`, `EventDuration`, `EventWaveformPath`,
  ///   `EventWaveformUseVolumeEnvelope`, `EventWaveformLoopEnabled`, `EventParameters`.
  /// - An event parameter: `ParameterID`, `ParameterValue`.
  /// - A parameter: `ParameterID`, `Time`, `ParameterValue`.
  /// - A curve: `ParameterID`, `Time`, `ParameterCurveControlPoints`.
  /// - A control point: `Time`, `ParameterValue`.
  package func formatted() -> [UInt8] {
    var writer = JSONWriter()
    let root = json.root
    if root.kind == .object {
      writer.object { Self.write(root, as: .file, to: &$0) }
    } else {
      writer.value(copying: root)
    }
    return writer.finish()
  }

  private static func write(_ value: JSONValue, as scope: AHAPScope, to object: inout JSONObjectWriter) {
    for known in scope.keys {
      for member in value.members where Vocabulary.keys.name(ofKey: member) == known {
        write(member, known, in: scope, to: &object)
      }
    }
    for member in value.members {
      if let known = Vocabulary.keys.name(ofKey: member), scope.keys.contains(known) { continue }
      object.member(member.key ?? "", copying: member)
    }
  }

  private static func write(_ member: JSONValue, _ key: AHAPKey, in scope: AHAPScope, to object: inout JSONObjectWriter)
  {
    let inner = scope.scope(of: key)
    switch member.kind {
    case .object where inner != .unknown:
      object.object(key.rawValue, layout: inner.layout(of: member)) { contents in
        write(member, as: inner, to: &contents)
      }
    case .array where inner.element != .unknown:
      object.array(key.rawValue) { contents in
        for element in member.elements { write(element, as: inner.element, to: &contents) }
      }
    default:
      if key.isReal, let number = member.number {
        object.member(key.rawValue, number)
      } else {
        object.member(key.rawValue, copying: member)
      }
    }
  }

  private static func write(_ element: JSONValue, as scope: AHAPScope, to array: inout JSONArrayWriter) {
    guard element.kind == .object else {
      array.element(copying: element)
      return
    }
    array.object(layout: scope.layout(of: element)) { write(element, as: scope, to: &$0) }
  }
}

extension AHAPDocument: Equatable {
  /// Whether two files say the same: whether their canonical texts are equal.
  package static func == (left: AHAPDocument, right: AHAPDocument) -> Bool { left.formatted() == right.formatted() }
}

extension AHAPKey {
  /// Whether numbers of this key are measures, and so written with a point.
  fileprivate var isReal: Bool {
    switch self {
    case .version, .time, .eventDuration, .parameterValue: true
    default: false
    }
  }
}

extension AHAPScope {
  /// What the value of a key stands for.
  fileprivate func scope(of key: AHAPKey) -> AHAPScope {
    switch key {
    case .pattern: .entries
    case .event: .event
    case .parameter: .parameter
    case .parameterCurve: .curve
    case .eventParameters: .eventParameters
    case .parameterCurveControlPoints: .controlPoints
    default: .unknown
    }
  }

  /// What the elements of a list stand for.
  fileprivate var element: AHAPScope {
    switch self {
    case .entries: .entry
    case .eventParameters: .eventParameter
    case .controlPoints: .controlPoint
    default: .unknown
    }
  }

  /// One line for the rows of a table, if nothing in them needs more.
  fileprivate func layout(of object: JSONValue) -> JSONWriter.Layout? {
    switch self {
    case .eventParameter, .controlPoint, .parameter:
      object.members.contains { $0.kind == .object || $0.kind == .array } ? nil : .line
    default: nil
    }
  }
}
