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
  package func formatted() -> [UInt8] { AHAPScope.fileShape.canonical(json.root, normalizesNumbers: true) }
}

extension AHAPDocument: Equatable {
  /// Whether two files say the same: whether their canonical texts are equal.
  package static func == (left: AHAPDocument, right: AHAPDocument) -> Bool { left.formatted() == right.formatted() }
}

extension AHAPScope {
  /// The keys of files in canonical order, with those of all that is inside.
  fileprivate static let fileShape: JSONShape = {
    let number = JSONType.anyNumber
    func list(_ key: AHAPKey, of shape: JSONShape) -> JSONKey {
      JSONKey(key.rawValue, .list(.object { shape }), layout: .line)
    }
    func key(_ key: AHAPKey, _ type: JSONType) -> JSONKey { JSONKey(key.rawValue, type) }
    let eventParameter = JSONShape("an event parameter", [key(.parameterID, .any), key(.parameterValue, number)])
    let point = JSONShape("a control point", [key(.time, number), key(.parameterValue, number)])
    let event = JSONShape(
      "an event",
      [
        key(.time, number), key(.eventType, .any), key(.eventDuration, number), key(.eventWaveformPath, .any),
        key(.eventWaveformUseVolumeEnvelope, .any), key(.eventWaveformLoopEnabled, .any),
        list(.eventParameters, of: eventParameter),
      ])
    let parameter = JSONShape(
      "a parameter", [key(.parameterID, .any), key(.time, number), key(.parameterValue, number)])
    let curve = JSONShape(
      "a curve", [key(.parameterID, .any), key(.time, number), list(.parameterCurveControlPoints, of: point)])
    let entry = JSONShape(
      "an entry",
      [
        key(.event, .object { event }), JSONKey(AHAPKey.parameter.rawValue, .object { parameter }, layout: .line),
        key(.parameterCurve, .object { curve }),
      ])
    return JSONShape(
      "a pattern file",
      [key(.version, number), key(.metadata, .any), key(.pattern, .list(.object { entry }))])
  }()
}
