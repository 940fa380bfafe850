import HapticModel
import Reading

/// Decodes a document into a pattern by the schemas of AHAP, and reports findings.
///
/// Each entry of `Pattern` is decoded in the order of the text. Members are accessed by the indices
/// of their keys in ``AHAPSchemas``, which avoids comparing strings. After the last entry, control
/// points with absolute times are converted (see `absoluteTimeEvidence`).
struct AHAPDecoder: JSONSchemaReader {
  let json: JSONDocument
  let options: ReadingOptions
  let rules = JSONSchemaRules(
    missingKey: .missingKey, wrongType: .wrongType, outOfRange: .outOfRange,
    unknownKey: .unknownKey,
    nullHandling: .absentWithFinding(.nullValue))
  var log = FindingLog()
  var pattern = HapticPattern()
  /// The indices of the JSON values that the events, parameters, and curves were read from.
  var eventValueIndices: [Int] = []
  var parameterValueIndices: [Int] = []
  var curveValueIndices: [Int] = []
  var waveformPathValues: [JSONValue] = []
  /// A Boolean value that indicates whether all times and durations of events are whole numbers, as
  /// in texts in milliseconds.
  private var hasOnlyWholeTimes = true
  private var firstLongTime: JSONValue?

  init(_ json: JSONDocument, options: ReadingOptions) {
    self.json = json
    self.options = options
  }

  /// The known versions of Core Haptics. Apple documents 1.0.
  private static let knownVersions = 1.0..<3.0

  /// The maximum number of control points that older systems are known to accept.
  ///
  /// Source: the exporter of Lofelt/NiceVibrations (5e58663) and the editor of apple/unityplugins.
  private static let maximumPointCount = 16

  /// The maximum difference, in seconds, between times that a tool wrote as equal.
  private static let timeTolerance = 1e-6

  var metadata: JSONValue? { json.root["Metadata"] }

  mutating func decode() -> AHAPContent {
    let root = json.root
    let file = AHAPSchemas.file
    var reading = AHAPContent()
    guard root.kind == .object else {
      log.add(
        .structure, at: root, "a pattern file must be an object, not \(root.kind.noun)",
        errorCode: file.errorCode)
      return reading
    }
    reportUnknownKeys(of: AHAPObject(root, file))
    if let entries = root["Pattern"] {
      if entries.kind != .array {
        log.add(
          .structure, at: entries, "Pattern must be an array, not \(entries.kind.noun)",
          errorCode: file.errorCode)
      }
      for entry in entries.elements {
        decodeEntry(entry)
      }
    } else {
      log.add(
        .structure, at: root, "a pattern file must have the key \"Pattern\"",
        suggestion: file.renameSuggestion(for: "Pattern", in: root), errorCode: file.errorCode)
    }
    reading.usesAbsoluteCurveTimes = convertAbsoluteTimes()
    if let version = root["Version"] {
      reading.version = readScalar(version, key: file.keys[0])
      if let number = reading.version, !Self.knownVersions.contains(number) {
        log.add(
          .unexpectedVersion, at: version, "Version is \(number); patterns have version 1.0",
          suggestion: "write 1.0")
      }
    }
    for member in metadata.map({ Array($0.members) }) ?? [] {
      if let name = member.key, let text = member.string {
        reading.metadata.items.append(.init(name: name, text: text))
      }
    }
    reading.pattern = pattern
    return reading
  }

  private mutating func decodeEntry(_ entry: JSONValue) {
    guard
      let entry = object(
        entry, schema: AHAPSchemas.entry, as: AHAPSchemas.entry.noun, reportsUnknownKeys: false)
    else {
      return
    }
    let event = optionalMember(of: entry, keyIndex: 0)
    if let event {
      decodeEvent(event)
    }
    // Almost all entries have only an event.
    if event != nil, entry.members.memberCount == 1 { return }
    let parameter = optionalMember(of: entry, keyIndex: 1)
    if let parameter {
      decodeParameter(parameter)
    }
    let curve = optionalMember(of: entry, keyIndex: 2)
    if let curve {
      decodeCurve(curve)
    }
    let count = [event, parameter, curve].count { $0 != nil }
    guard count > 0 else { return reportUnknownEntry(entry.value) }
    reportUnknownKeys(of: entry)
    if count > 1 {
      log.add(
        .unknownEntry, at: entry.value,
        "an entry should hold one thing; the \(count) here are all read")
    }
  }

  private mutating func reportUnknownEntry(_ entry: JSONValue) {
    guard let first = entry.members.first(where: { _ in true }), let key = first.key else {
      return log.add(.unknownEntry, at: entry, "an empty entry is ignored")
    }
    // Some public descriptions of the format omit the object around an entry's contents.
    let named = entry["ParameterCurveControlPoints"] == nil ? "Parameter" : "ParameterCurve"
    let wrapper = entry["EventType"] != nil ? "Event" : entry["ParameterID"] != nil ? named : nil
    log.add(
      .unknownEntry, at: first, offset: first.keyOffset, "an entry with \(key.quoted()) is ignored",
      suggestion: wrapper.map { "put its contents into an object: {\"\($0)\": {…}}" }
        ?? AHAPSchemas.entry.names.suggestion(for: key)
    )
  }

  // MARK: - Events

  private mutating func decodeEvent(_ value: JSONValue) {
    guard let event = object(value, schema: AHAPSchemas.event, as: "Event") else { return }
    let kind = decodeName(of: event, keyIndex: 1, in: AHAPVocabulary.eventTypes)
    let time = decodeTime(of: event, keyIndex: 0)
    let durationValue = optionalMember(of: event, keyIndex: 2)
    let duration = durationValue.flatMap { decodeSeconds($0, schema: event.schema, keyIndex: 2) }
    let waveform = decodeWaveform(of: event, kind: kind)
    let parameters =
      optionalMember(of: event, keyIndex: 6).map { decodeEventParameters($0, kind: kind) }
      ?? EventParameters()
    guard let kind, let time else { return }
    if kind.isContinuous, durationValue == nil {
      log.add(
        .missingDuration, at: value, "a continuous event should have the key \"EventDuration\"",
        suggestion: event.schema.renameSuggestion(for: "EventDuration", in: value))
    } else if kind.isContinuous, let duration, let durationValue,
      duration > HapticEvent.defaultDuration
    {
      log.add(
        .eventLength, at: durationValue,
        "the event lasts \(duration) s; devices may cut it off at 30 s",
        suggestion: "split it into several events")
    }
    eventValueIndices.append(value.index)
    pattern.events.append(
      HapticEvent(
        kind: kind, time: time, duration: duration, parameters: parameters, waveform: waveform))
  }

  private mutating func decodeEventParameters(_ list: JSONValue, kind: HapticEvent.Kind?)
    -> EventParameters
  {
    var parameters = EventParameters()
    guard
      expectKind(
        .array, of: list, as: "EventParameters", errorCode: CoreHapticsCode.badParameterEntry)
    else {
      return parameters
    }
    for element in list.elements {
      guard
        let parameter = object(
          element, schema: AHAPSchemas.eventParameter, as: "an event parameter")
      else { continue }
      let id = decodeName(of: parameter, keyIndex: 0, in: AHAPVocabulary.eventParameters)
      let switched = id == .sustained ? parameter.members[1]?.boolean.map { $0 ? 1.0 : 0 } : nil
      guard let number = switched ?? decodeNumber(of: parameter, keyIndex: 1), let id else {
        continue
      }
      if parameters[id] != nil {
        log.add(
          .duplicateParameter, at: parameter.members[0] ?? element,
          "\(id.rawValue) is given again; this value is used, not the one before")
      }
      parameters[id] = clamp(
        number, to: id.range, name: id.rawValue, at: parameter.members[1] ?? element)
      if let kind, !kind.responds(to: id) {
        log.add(
          .parameterNotApplicable, at: parameter.members[0] ?? element,
          "\(id.rawValue) has no effect on \(kind.nounPhrase)")
      }
    }
    return parameters
  }

  private mutating func decodeWaveform(of event: borrowing AHAPObject, kind: HapticEvent.Kind?)
    -> AudioWaveform?
  {
    if kind?.playsFile != true, event.members.nameBits & 0b111000 == 0 {
      return nil
    }
    if let kind, !kind.playsFile {
      // The values have no effect and may be anything: editors write null.
      for index in 3...5 {
        guard let value = event.members[index] else { continue }
        log.add(
          .parameterNotApplicable, at: value,
          "\(event.schema.keys[index].name) has no effect on \(kind.nounPhrase)")
      }
      return nil
    }
    let usesEnvelope = decodeFlag(of: event, keyIndex: 4) ?? true
    let isLooping = decodeFlag(of: event, keyIndex: 5) ?? false
    guard let path = optionalMember(of: event, keyIndex: 3) else {
      guard let kind else { return nil }
      log.add(
        .waveformPath, at: event.value,
        "\(kind.nounPhrase) must have the key \"EventWaveformPath\"",
        suggestion: event.schema.renameSuggestion(for: "EventWaveformPath", in: event.value),
        errorCode: CoreHapticsCode.invalidAudioResource)
      return nil
    }
    return self.decodePath(path, key: event.schema.keys[3]).map {
      AudioWaveform(path: $0, usesVolumeEnvelope: usesEnvelope, isLooping: isLooping)
    }
  }

  /// Reads the path of a sound file, which must stay inside the folder of the pattern.
  private mutating func decodePath(_ value: JSONValue, key: JSONKey) -> String? {
    guard let path: String = readScalar(value, key: key) else { return nil }
    let problems = [
      (path.isEmpty, "is empty"), (path.utf8.contains(0), "has a NUL character"),
      (path.utf8.contains(UInt8(ascii: "\\")), "contains a backslash; use / between folders"),
      (path.hasPrefix("/"), "is absolute; it must begin in the pattern's folder"),
      (path.split(separator: "/").contains(".."), "leaves the pattern's folder by \"..\""),
    ]
    guard let problem = problems.first(where: { $0.0 })?.1 else {
      waveformPathValues.append(value)
      return path
    }
    log.add(.waveformPath, at: value, "\(key.name) \(problem)", errorCode: key.errorCode)
    return nil
  }

  /// Reads a flag, written as a boolean, 0, or 1. Any other value is an error.
  private mutating func decodeFlag(of object: borrowing AHAPObject, keyIndex: Int) -> Bool? {
    guard let value = optionalMember(of: object, keyIndex: keyIndex) else { return nil }
    if let boolean = value.boolean { return boolean }
    if let number = value.number, number == 0 || number == 1 {
      return number == 1
    }
    log.add(
      .wrongType, at: value,
      "\(object.schema.keys[keyIndex].name) must be true or false, not "
        + (value.kind == .number ? String(decoding: value.lexeme, as: UTF8.self) : value.kind.noun),
      errorCode: CoreHapticsCode.invalidAudioResource)
    return nil
  }

  // MARK: - Parameters and curves

  private mutating func decodeParameter(_ value: JSONValue) {
    guard let parameter = object(value, schema: AHAPSchemas.parameter, as: "Parameter") else {
      return
    }
    let id = decodeName(of: parameter, keyIndex: 0, in: AHAPVocabulary.dynamicParameters)
    let time = decodeTime(of: parameter, keyIndex: 1)
    let number = decodeNumber(of: parameter, keyIndex: 2)
    guard let id, let time, let number else { return }
    let level = clamp(number, to: id.range, name: id.rawValue, at: parameter.members[2] ?? value)
    parameterValueIndices.append(value.index)
    pattern.parameters.append(DynamicParameter(id: id, value: level, time: time))
  }

  /// Reads one curve. Its points are sorted; their times are those of the file.
  private mutating func decodeCurve(_ value: JSONValue) {
    guard let curve = object(value, schema: AHAPSchemas.curve, as: "ParameterCurve") else { return }
    let id = decodeName(of: curve, keyIndex: 0, in: AHAPVocabulary.dynamicParameters)
    let time = decodeTime(of: curve, keyIndex: 1)
    guard let list = requiredMember(of: curve, keyIndex: 2) else { return }
    let points = decodeControlPoints(list, of: id)
    guard let id, let time else { return }
    curveValueIndices.append(value.index)
    pattern.curves.append(ParameterCurve(id: id, time: time, controlPoints: points))
  }

  private mutating func decodeControlPoints(_ list: JSONValue, of id: DynamicParameterID?)
    -> [ParameterCurve.ControlPoint]
  {
    guard
      expectKind(
        .array, of: list, as: "ParameterCurveControlPoints",
        errorCode: CoreHapticsCode.badParameterEntry)
    else {
      return []
    }
    var points: [ParameterCurve.ControlPoint] = []
    var isSorted = true
    for element in list.elements {
      guard let point = object(element, schema: AHAPSchemas.point, as: "a control point") else {
        continue
      }
      let time = decodeTime(of: point, keyIndex: 0)
      let number = decodeNumber(of: point, keyIndex: 1)
      guard let time, let number, let id else { continue }
      if let last = points.last, time < last.time, isSorted {
        isSorted = false
        log.add(
          .curveOrder, at: element,
          "control points out of order: \(time) s after \(last.time) s; they are sorted")
      }
      let level = clamp(number, to: id.range, name: id.rawValue, at: point.members[1] ?? element)
      points.append(ParameterCurve.ControlPoint(time: time, value: level))
    }
    if !isSorted {
      points.sort { $0.time < $1.time }
    }
    if points.count > Self.maximumPointCount {
      log.add(
        .curvePointCount, at: list,
        """
        the curve has \(points.count) control points; older devices accept at most \
        \(Self.maximumPointCount)
        """,
        suggestion: "split it into several curves")
    } else if list.elements.isEmpty {
      log.add(.curvePointCount, at: list, "the curve has no control points and no effect")
    }
    return points
  }

  // MARK: - Members, by the numbers of their keys

  private mutating func object(
    _ value: JSONValue, schema: JSONSchema, as name: @autoclosure () -> String,
    reportsUnknownKeys: Bool = true
  ) -> AHAPObject? {
    guard
      value.kind == .object
        || expectKind(.object, of: value, as: name(), errorCode: schema.errorCode)
    else {
      return nil
    }
    let object = AHAPObject(value, schema)
    if reportsUnknownKeys, !object.members.hasDistinctNames(among: .max) {
      reportUnknownKeys(of: object)
    }
    return object
  }

  private mutating func reportUnknownKeys(of object: borrowing AHAPObject) {
    for member in object.value.members where object.schema.names.index(ofKey: member) == nil {
      reportUnknownKey(member, in: object.schema)
    }
  }

  mutating func reportUnknownKey(_ member: JSONValue, in shape: JSONSchema) {
    guard let key = member.key else { return }
    let isEvent = shape === AHAPSchemas.event
    if isEvent, key == "Name" { return }
    let isFormer =
      isEvent ? key == "Duration" : key == "Value" && shape.key(named: "ParameterValue") != nil
    log.add(
      isFormer ? .durationKey : .unknownKey, at: member, offset: member.keyOffset,
      "\(isFormer ? "the" : "unknown") key \(key.quoted()) is ignored",
      suggestion: shape.names.suggestion(for: key))
  }

  mutating func reportUnknownValue(
    _ text: String, names: JSONNameList, key: JSONKey, at value: JSONValue
  ) {
    let isIgnored = key.rule == .unknownParameter && !options.rejectsUnknownParameters
    log.add(
      key.rule ?? .wrongType, at: value, severity: isIgnored ? .warning : .error,
      "unknown \(key.noun ?? key.name) \(text.quoted())" + (isIgnored ? " is ignored" : ""),
      suggestion: names.suggestion(for: text), errorCode: key.errorCode)
  }

  /// Returns the value of an optional key. Null counts as absent.
  private mutating func optionalMember(of object: borrowing AHAPObject, keyIndex: Int)
    -> JSONValue?
  {
    guard let value = object.members[keyIndex] else { return nil }
    return value.kind == .null && acceptsNullAsAbsent(value) ? nil : value
  }

  private mutating func requiredMember(of object: borrowing AHAPObject, keyIndex: Int)
    -> JSONValue?
  {
    if let value = object.members[keyIndex] { return value }
    reportMissing(
      object.schema.keys[keyIndex], isRequired: true, of: object.value, schema: object.schema)
    return nil
  }

  private mutating func decodeName<Name>(
    of object: borrowing AHAPObject, keyIndex: Int, in names: AHAPNameTable<Name>
  ) -> Name? {
    guard let value = requiredMember(of: object, keyIndex: keyIndex) else { return nil }
    return
      (names.nameList.index(ofString: value)
      ?? readName(value, names: names.nameList, key: object.schema.keys[keyIndex]))
      .map {
        names.cases[$0]
      }
  }

  private mutating func decodeNumber(of object: borrowing AHAPObject, keyIndex: Int)
    -> Double?
  {
    guard let value = requiredMember(of: object, keyIndex: keyIndex) else { return nil }
    return value.number ?? readScalar(value, key: object.schema.keys[keyIndex])
  }

  private mutating func decodeTime(of object: borrowing AHAPObject, keyIndex: Int) -> Double?
  {
    guard let value = requiredMember(of: object, keyIndex: keyIndex) else { return nil }
    return decodeSeconds(value, schema: object.schema, keyIndex: keyIndex)
  }

  /// Reads a time or duration, which must not be negative. Those of events are evidence for their
  /// unit.
  private mutating func decodeSeconds(
    _ value: JSONValue, schema: JSONSchema, keyIndex: Int
  ) -> Double? {
    guard let seconds: Double = value.number ?? readScalar(value, key: schema.keys[keyIndex]) else {
      return nil
    }
    guard seconds >= 0 else {
      let key = schema.keys[keyIndex]
      log.add(
        key.rule ?? .negativeTime, at: value, "\(key.name) is \(seconds); it must not be negative",
        errorCode: key.errorCode)
      return nil
    }
    if schema === AHAPSchemas.event {
      if seconds.rounded() != seconds {
        hasOnlyWholeTimes = false
      }
      // A time that would be too long in milliseconds, too, is not one in milliseconds.
      if firstLongTime == nil, 100...FrameConversion.maximumSeconds * 1_000 ~= seconds {
        firstLongTime = value
      }
    }
    return seconds
  }

  private mutating func clamp(
    _ number: Double, to range: ClosedRange<Float>, name: String, at value: JSONValue
  )
    -> Float
  {
    let nearest = min(max(number, Double(range.lowerBound)), Double(range.upperBound))
    if nearest != number {
      log.add(
        .outOfRange, at: value,
        """
        \(name) is \(number), outside \(range.lowerBound) to \(range.upperBound); \(nearest) is \
        used
        """,
        suggestion: 2...100 ~= number ? "values are not percent: write \(number / 100)" : nil)
    }
    return Float(nearest)
  }

  // MARK: - The text as a whole

  mutating func checkDocument() {
    log.addDeviations(
      of: json, byteOrderMark: .byteOrderMark, trailingComma: .trailingComma,
      duplicateKey: .duplicateKey)
    if let firstLongTime, hasOnlyWholeTimes, let number = firstLongTime.number {
      log.add(
        .timeUnit, at: firstLongTime,
        "\(firstLongTime.key ?? "Time") is \(number) s; times are in seconds",
        suggestion: "if milliseconds are meant, write \(number / 1_000)")
    }
    let root = json.root
    guard root.kind == .object else { return }
    if root["Version"] == nil {
      log.add(
        .missingVersion, at: root, "missing key \"Version\"", suggestion: "add \"Version\": 1.0")
    }
    if let metadata, metadata.kind != .object {
      log.add(
        .wrongType, at: metadata, severity: .warning,
        "Metadata should be an object, not \(metadata.kind.noun); it is ignored")
    }
  }

  /// Returns the suppressions under `AllowedRules` of the metadata. The last one of a rule applies.
  mutating func suppressions() -> [ReadResult.Suppression] {
    guard let list = metadata?["AllowedRules"] else { return [] }
    guard list.kind == .object else {
      log.add(
        .wrongType, at: list, severity: .warning,
        "AllowedRules should be an object, not \(list.kind.noun)")
      return []
    }
    var allowances: [ReadResult.Suppression] = []
    for member in list.members {
      guard let reason = member.string else {
        log.add(
          .wrongType, at: member, severity: .warning,
          "the reason for an allowed rule should be a string, not \(member.kind.noun)")
        continue
      }
      let rule = RuleID(member.key ?? "")
      var place = json.location(at: member.keyOffset)
      place.path = member.path
      allowances.removeAll { $0.rule == rule }
      let line = reason.unicodeScalars.prefix(200).map { $0.isInvisible ? " " : $0 }
      allowances.append(
        .init(rule, reason: String(String.UnicodeScalarView(line)), location: place))
    }
    return allowances
  }

  // MARK: - Times of control points

  /// Converts absolute times of control points to relative ones. Returns whether any were
  /// converted.
  private mutating func convertAbsoluteTimes() -> Bool {
    let evidence = absoluteTimeEvidence
    let isAbsolute =
      options.curveTimes == .absolute || options.curveTimes == .automatic && evidence == .conclusive
    let late = pattern.curves.indices.filter { pattern.curves[$0].time > 0 }
    if !isAbsolute {
      if evidence != .none, let first = late.first {
        log.add(
          .curveAbsoluteTimes, at: JSONValue(document: json, index: curveValueIndices[first]),
          "times of control points look absolute; they are read as relative to the curve",
          suggestion: "if the curve comes too late, use --curve-times absolute")
      }
      return false
    }
    let moved = late.filter { !pattern.curves[$0].controlPoints.isEmpty }
    for index in moved {
      let start = pattern.curves[index].time
      for point in pattern.curves[index].controlPoints.indices {
        pattern.curves[index].controlPoints[point].time -= start
      }
    }
    if let first = moved.first {
      let curves = moved.count == 1 ? "this curve" : "this and \(moved.count - 1) more curves"
      log.add(
        .curveAbsoluteTimes, at: JSONValue(document: json, index: curveValueIndices[first]),
        "the control points of \(curves) have absolute times; they are converted",
        suggestion: "make the times relative to the start of the curve")
    }
    return true
  }

  /// The evidence for control points whose times count from the start of the pattern.
  private enum Evidence { case none, suggestive, conclusive }

  /// The evidence of all curves together for control points whose times count from the start of the
  /// pattern.
  ///
  /// - Suggestive: a control has more than one curve, and the first point of each curve that begins
  ///   after 0 is at the time of the curve.
  /// - Conclusive: in addition, the last point of each curve is at the start of the control's next
  ///   curve. Lofelt's converter and its relatives write such files.
  ///
  /// By Apple's documentation, times of control points are relative.
  private var absoluteTimeEvidence: Evidence {
    let curves = pattern.curves.sorted { ($0.id.rawValue, $0.time) < ($1.id.rawValue, $1.time) }
    var hasSequel = false
    var isChain = true
    for (index, curve) in curves.enumerated() {
      guard let first = curve.controlPoints.first, let last = curve.controlPoints.last else {
        return .none
      }
      if curve.time > 0, abs(first.time - curve.time) > Self.timeTolerance {
        return .none
      }
      guard index + 1 < curves.count, curves[index + 1].id == curve.id else { continue }
      hasSequel = true
      if abs(last.time - curves[index + 1].time) > Self.timeTolerance {
        isChain = false
      }
    }
    return !hasSequel ? .none : isChain ? .conclusive : .suggestive
  }
}

extension HapticEvent.Kind {
  var nounPhrase: String {
    "\(rawValue.utf8.first == UInt8(ascii: "A") ? "an" : "a") \(rawValue) event"
  }
}
