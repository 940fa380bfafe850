import HapticModel
import Reading

/// Turns a document into a pattern by the shapes of AHAP, and notes what it finds.
struct PatternDecoder: JSONFieldReader {
  let json: JSONDocument
  let options: ReadingOptions
  let rules = JSONFieldRules(
    missingKey: .missingKey, wrongType: .wrongType, outOfRange: .outOfRange,
    unknownKey: .unknownKey,
    null: .noted(.nullValue))
  var log = FindingLog()
  var pattern = HapticPattern()
  /// The numbers of the values the events, parameters and curves were read from.
  var eventValues: [Int] = []
  var parameterValues: [Int] = []
  var curveValues: [Int] = []
  var waveforms: [JSONValue] = []
  /// Whether all times and durations of events are whole numbers, and the first of 100 or more.
  private var hasWholeTimes = true
  private var longTime: JSONValue?

  init(_ json: JSONDocument, options: ReadingOptions) {
    self.json = json
    self.options = options
  }

  /// The versions that systems are known to have; Apple documents 1.0.
  private static let knownVersions = 1.0..<3.0

  /// The most control points that older systems are known to take. Source: the exporter of
  /// Lofelt/NiceVibrations (5e58663) and the editor of apple/unityplugins.
  private static let pointLimit = 16

  /// How far apart, in seconds, two times may be that a tool wrote as the same.
  private static let timeTolerance = 1e-6

  var metadata: JSONValue? { json.root["Metadata"] }

  mutating func decode() -> AHAPReading {
    let root = json.root
    let file = AHAPShapes.file
    var reading = AHAPReading()
    guard root.kind == .object else {
      log.add(
        .structure, at: root, "a pattern file must be an object, not \(root.kind.noun)",
        code: file.code)
      return reading
    }
    noteUnknownKeys(of: AHAPObject(root, file))
    if let entries = root["Pattern"] {
      if entries.kind != .array {
        log.add(
          .structure, at: entries, "Pattern must be an array, not \(entries.kind.noun)",
          code: file.code)
      }
      for entry in entries.elements {
        decodeEntry(entry)
      }
    } else {
      log.add(
        .structure, at: root, "a pattern file must have the key \"Pattern\"",
        hint: file.misspelling(of: "Pattern", in: root), code: file.code)
    }
    reading.usesAbsoluteCurveTimes = rebaseCurves()
    if let version = root["Version"] {
      reading.version = scalar(version, file.keys[0])
      if let number = reading.version, !Self.knownVersions.contains(number) {
        log.add(
          .oddVersion, at: version, "Version is \(number); patterns have version 1.0",
          hint: "write 1.0")
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
        entry, AHAPShapes.entry, as: AHAPShapes.entry.noun, notesUnknownKeys: false)
    else {
      return
    }
    let event = present(entry, 0)
    if let event {
      decodeEvent(event)
    }
    // As almost all entries are.
    if event != nil, entry.members.memberCount == 1 { return }
    let parameter = present(entry, 1)
    if let parameter {
      decodeParameter(parameter)
    }
    let curve = present(entry, 2)
    if let curve {
      decodeCurve(curve)
    }
    let count = [event, parameter, curve].count { $0 != nil }
    guard count > 0 else { return noteUnknownEntry(entry.value) }
    noteUnknownKeys(of: entry)
    if count > 1 {
      log.add(
        .unknownEntry, at: entry.value,
        "an entry should hold one thing; the \(count) here are all read")
    }
  }

  private mutating func noteUnknownEntry(_ entry: JSONValue) {
    guard let first = entry.members.first(where: { _ in true }), let key = first.key else {
      return log.add(.unknownEntry, at: entry, "an empty entry is ignored")
    }
    // Some public descriptions of the format have the contents straight in an entry.
    let named = entry["ParameterCurveControlPoints"] == nil ? "Parameter" : "ParameterCurve"
    let wrapper = entry["EventType"] != nil ? "Event" : entry["ParameterID"] != nil ? named : nil
    log.add(
      .unknownEntry, at: first, offset: first.keyOffset, "an entry with \(key.quoted()) is ignored",
      hint: wrapper.map { "put its contents into an object: {\"\($0)\": {…}}" }
        ?? AHAPShapes.entry.names.hint(for: key)
    )
  }

  // MARK: - Events

  private mutating func decodeEvent(_ value: JSONValue) {
    guard let event = object(value, AHAPShapes.event, as: "Event") else { return }
    let kind = name(event, 1, in: AHAPVocabulary.eventTypes)
    let time = time(event, 0)
    let durationValue = present(event, 2)
    let duration = durationValue.flatMap { seconds($0, event.shape, 2) }
    let waveform = waveform(event, kind)
    let parameters = present(event, 6).map { eventParameters($0, kind) } ?? EventParameters()
    guard let kind, let time else { return }
    if kind.isContinuous, durationValue == nil {
      log.add(
        .missingDuration, at: value, "a continuous event should have the key \"EventDuration\"",
        hint: event.shape.misspelling(of: "EventDuration", in: value))
    } else if kind.isContinuous, let duration, let durationValue,
      duration > HapticEvent.unlimitedDuration
    {
      log.add(
        .eventLength, at: durationValue,
        "the event lasts \(duration) s; devices may cut it off at 30 s",
        hint: "split it into several events")
    }
    eventValues.append(value.index)
    pattern.events.append(
      HapticEvent(
        kind: kind, time: time, duration: duration, parameters: parameters, waveform: waveform))
  }

  private mutating func eventParameters(_ list: JSONValue, _ kind: HapticEvent.Kind?)
    -> EventParameters
  {
    var parameters = EventParameters()
    guard expect(.array, list, as: "EventParameters", code: CoreHapticsCode.badParameterEntry)
    else {
      return parameters
    }
    for element in list.elements {
      guard let parameter = object(element, AHAPShapes.eventParameter, as: "an event parameter")
      else { continue }
      let id = name(parameter, 0, in: AHAPVocabulary.eventParameters)
      let switched = id == .sustained ? parameter.members[1]?.boolean.map { $0 ? 1.0 : 0 } : nil
      guard let number = switched ?? number(parameter, 1), let id else { continue }
      if parameters[id] != nil {
        log.add(
          .duplicateParameter, at: parameter.members[0] ?? element,
          "\(id.rawValue) is given again; this value is used, not the one before")
      }
      parameters[id] = clamp(number, to: id.range, id.rawValue, at: parameter.members[1] ?? element)
      if let kind, !kind.responds(to: id) {
        log.add(
          .parameterNotApplicable, at: parameter.members[0] ?? element,
          "\(id.rawValue) has no effect on \(kind.text)")
      }
    }
    return parameters
  }

  private mutating func waveform(_ event: borrowing AHAPObject, _ kind: HapticEvent.Kind?)
    -> AudioWaveform?
  {
    if kind?.playsFile != true, event.members.names & 0b111000 == 0 {
      return nil
    }
    if let kind, !kind.playsFile {
      // Nothing depends on them, whatever they hold: editors write null.
      for index in 3...5 {
        guard let value = event.members[index] else { continue }
        log.add(
          .parameterNotApplicable, at: value,
          "\(event.shape.keys[index].name) has no effect on \(kind.text)")
      }
      return nil
    }
    let usesEnvelope = flag(event, 4) ?? true
    let isLooping = flag(event, 5) ?? false
    guard let path = present(event, 3) else {
      guard let kind else { return nil }
      log.add(
        .waveformPath, at: event.value, "\(kind.text) must have the key \"EventWaveformPath\"",
        hint: event.shape.misspelling(of: "EventWaveformPath", in: event.value),
        code: CoreHapticsCode.invalidAudioResource)
      return nil
    }
    return self.path(path, event.shape.keys[3]).map {
      AudioWaveform(path: $0, usesVolumeEnvelope: usesEnvelope, isLooping: isLooping)
    }
  }

  /// The path of a sound file, which must stay inside the pattern's folder.
  private mutating func path(_ value: JSONValue, _ key: JSONKey) -> String? {
    guard let path: String = scalar(value, key) else { return nil }
    let problems = [
      (path.isEmpty, "is empty"), (path.utf8.contains(0), "has a NUL character"),
      (path.utf8.contains(UInt8(ascii: "\\")), "contains a backslash; use / between folders"),
      (path.hasPrefix("/"), "is absolute; it must begin in the pattern's folder"),
      (path.split(separator: "/").contains(".."), "leaves the pattern's folder by \"..\""),
    ]
    guard let problem = problems.first(where: { $0.0 })?.1 else {
      waveforms.append(value)
      return path
    }
    log.add(.waveformPath, at: value, "\(key.name) \(problem)", code: key.code)
    return nil
  }

  /// A switch, written as a boolean, 0 or 1; an error where it is something else.
  private mutating func flag(_ object: borrowing AHAPObject, _ index: Int) -> Bool? {
    guard let value = present(object, index) else { return nil }
    if let boolean = value.boolean { return boolean }
    if let number = value.number, number == 0 || number == 1 {
      return number == 1
    }
    log.add(
      .wrongType, at: value,
      "\(object.shape.keys[index].name) must be true or false, not "
        + (value.kind == .number ? String(decoding: value.lexeme, as: UTF8.self) : value.kind.noun),
      code: CoreHapticsCode.invalidAudioResource)
    return nil
  }

  // MARK: - Parameters and curves

  private mutating func decodeParameter(_ value: JSONValue) {
    guard let parameter = object(value, AHAPShapes.parameter, as: "Parameter") else { return }
    let id = name(parameter, 0, in: AHAPVocabulary.dynamicParameters)
    let time = time(parameter, 1)
    let number = number(parameter, 2)
    guard let id, let time, let number else { return }
    let level = clamp(number, to: id.range, id.rawValue, at: parameter.members[2] ?? value)
    parameterValues.append(value.index)
    pattern.parameters.append(DynamicParameter(id: id, value: level, time: time))
  }

  /// Reads one curve; its points are sorted, their times as the file has them.
  private mutating func decodeCurve(_ value: JSONValue) {
    guard let curve = object(value, AHAPShapes.curve, as: "ParameterCurve") else { return }
    let id = name(curve, 0, in: AHAPVocabulary.dynamicParameters)
    let time = time(curve, 1)
    guard let list = required(curve, 2) else { return }
    let points = controlPoints(list, of: id)
    guard let id, let time else { return }
    curveValues.append(value.index)
    pattern.curves.append(ParameterCurve(id: id, time: time, controlPoints: points))
  }

  private mutating func controlPoints(_ list: JSONValue, of id: DynamicParameterID?)
    -> [ParameterCurve.ControlPoint]
  {
    guard
      expect(
        .array, list, as: "ParameterCurveControlPoints", code: CoreHapticsCode.badParameterEntry)
    else {
      return []
    }
    var points: [ParameterCurve.ControlPoint] = []
    var isSorted = true
    for element in list.elements {
      guard let point = object(element, AHAPShapes.point, as: "a control point") else { continue }
      let time = time(point, 0)
      let number = number(point, 1)
      guard let time, let number, let id else { continue }
      if let last = points.last, time < last.time, isSorted {
        isSorted = false
        log.add(
          .curveOrder, at: element,
          "control points out of order: \(time) s after \(last.time) s; they are sorted")
      }
      let level = clamp(number, to: id.range, id.rawValue, at: point.members[1] ?? element)
      points.append(ParameterCurve.ControlPoint(time: time, value: level))
    }
    if !isSorted {
      points.sort { $0.time < $1.time }
    }
    if points.count > Self.pointLimit {
      log.add(
        .curvePointCount, at: list,
        """
        the curve has \(points.count) control points; older devices accept at most \
        \(Self.pointLimit)
        """,
        hint: "split it into several curves")
    } else if list.elements.isEmpty {
      log.add(.curvePointCount, at: list, "the curve has no control points and no effect")
    }
    return points
  }

  // MARK: - Members, by the numbers of their keys

  private mutating func object(
    _ value: JSONValue, _ shape: JSONShape, as name: @autoclosure () -> String,
    notesUnknownKeys: Bool = true
  ) -> AHAPObject? {
    guard value.kind == .object || expect(.object, value, as: name(), code: shape.code) else {
      return nil
    }
    let object = AHAPObject(value, shape)
    if notesUnknownKeys, !object.members.areDistinct(among: .max) {
      noteUnknownKeys(of: object)
    }
    return object
  }

  private mutating func noteUnknownKeys(of object: borrowing AHAPObject) {
    for member in object.value.members where object.shape.names.index(ofKey: member) == nil {
      noteUnknownKey(member, in: object.shape)
    }
  }

  mutating func noteUnknownKey(_ member: JSONValue, in shape: JSONShape) {
    guard let key = member.key else { return }
    let isEvent = shape === AHAPShapes.event
    if isEvent, key == "Name" { return }
    let isFormer =
      isEvent ? key == "Duration" : key == "Value" && shape.key(named: "ParameterValue") != nil
    log.add(
      isFormer ? .durationKey : .unknownKey, at: member, offset: member.keyOffset,
      "\(isFormer ? "the" : "unknown") key \(key.quoted()) is ignored",
      hint: shape.names.hint(for: key))
  }

  mutating func noteUnknownWord(
    _ text: String, _ names: JSONNames, _ key: JSONKey, at value: JSONValue
  ) {
    let isIgnored = key.rule == .unknownParameter && !options.refusesUnknownParameters
    log.add(
      key.rule ?? .wrongType, at: value, severity: isIgnored ? .warning : .error,
      "unknown \(key.noun ?? key.name) \(text.quoted())" + (isIgnored ? " is ignored" : ""),
      hint: names.hint(for: text), code: key.code)
  }

  /// The value of a key that may be left out; null counts as absent.
  private mutating func present(_ object: borrowing AHAPObject, _ index: Int) -> JSONValue? {
    guard let value = object.members[index] else { return nil }
    return value.kind == .null && ignoresNull(value) ? nil : value
  }

  private mutating func required(_ object: borrowing AHAPObject, _ index: Int) -> JSONValue? {
    if let value = object.members[index] { return value }
    noteMissing(object.shape.keys[index], isRequired: true, of: object.value, object.shape)
    return nil
  }

  private mutating func name<Name>(
    _ object: borrowing AHAPObject, _ index: Int, in names: AHAPNames<Name>
  ) -> Name? {
    guard let value = required(object, index) else { return nil }
    return (names.list.index(ofString: value) ?? word(value, names.list, object.shape.keys[index]))
      .map {
        names.cases[$0]
      }
  }

  private mutating func number(_ object: borrowing AHAPObject, _ index: Int) -> Double? {
    guard let value = required(object, index) else { return nil }
    return value.number ?? scalar(value, object.shape.keys[index])
  }

  private mutating func time(_ object: borrowing AHAPObject, _ index: Int) -> Double? {
    guard let value = required(object, index) else { return nil }
    return seconds(value, object.shape, index)
  }

  /// A time or duration that is not negative; those of events are evidence of their unit.
  private mutating func seconds(_ value: JSONValue, _ shape: JSONShape, _ index: Int) -> Double? {
    guard let seconds: Double = value.number ?? scalar(value, shape.keys[index]) else { return nil }
    guard seconds >= 0 else {
      let key = shape.keys[index]
      log.add(
        key.rule ?? .negativeTime, at: value, "\(key.name) is \(seconds); it must not be negative",
        code: key.code)
      return nil
    }
    if shape === AHAPShapes.event {
      if seconds.rounded() != seconds {
        hasWholeTimes = false
      }
      // What would be too long in milliseconds, too, is not meant in them.
      if longTime == nil, 100...FrameConversion.longest * 1_000 ~= seconds {
        longTime = value
      }
    }
    return seconds
  }

  private mutating func clamp(
    _ number: Double, to range: ClosedRange<Float>, _ name: String, at value: JSONValue
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
        hint: 2...100 ~= number ? "values are not percent: write \(number / 100)" : nil)
    }
    return Float(nearest)
  }

  // MARK: - The text as a whole

  mutating func checkText() {
    log.addDeviations(
      of: json, byteOrderMark: .byteOrderMark, trailingComma: .trailingComma,
      duplicateKey: .duplicateKey)
    if let longTime, hasWholeTimes, let number = longTime.number {
      log.add(
        .timeUnit, at: longTime, "\(longTime.key ?? "Time") is \(number) s; times are in seconds",
        hint: "if milliseconds are meant, write \(number / 1_000)")
    }
    let root = json.root
    guard root.kind == .object else { return }
    if root["Version"] == nil {
      log.add(.missingVersion, at: root, "missing key \"Version\"", hint: "add \"Version\": 1.0")
    }
    if let metadata, metadata.kind != .object {
      log.add(
        .wrongType, at: metadata, severity: .warning,
        "Metadata should be an object, not \(metadata.kind.noun); it is ignored")
    }
  }

  /// The rules that the file's metadata allows it to break, with a reason, under `AllowedRules`; of
  /// a repeated one the last.
  mutating func allowances() -> [Examination.Allowance] {
    guard let list = metadata?["AllowedRules"] else { return [] }
    guard list.kind == .object else {
      log.add(
        .wrongType, at: list, severity: .warning,
        "AllowedRules should be an object, not \(list.kind.noun)")
      return []
    }
    var allowances: [Examination.Allowance] = []
    for member in list.members {
      guard let reason = member.string else {
        log.add(
          .wrongType, at: member, severity: .warning,
          "the reason for an allowed rule should be a string, not \(member.kind.noun)")
        continue
      }
      let rule = RuleID(member.key ?? "")
      var place = json.place(at: member.keyOffset)
      place.path = member.path
      allowances.removeAll { $0.rule == rule }
      let line = reason.unicodeScalars.prefix(200).map { $0.isUnseen ? " " : $0 }
      allowances.append(.init(rule, reason: String(String.UnicodeScalarView(line)), place: place))
    }
    return allowances
  }

  // MARK: - Times of control points

  /// Makes control points relative that count from the start of the pattern; whether any did.
  private mutating func rebaseCurves() -> Bool {
    let evidence = evidenceOfAbsoluteTimes
    let isAbsolute =
      options.curveTimes == .absolute || options.curveTimes == .automatic && evidence == .proof
    let late = pattern.curves.indices.filter { pattern.curves[$0].time > 0 }
    if !isAbsolute {
      if evidence != .none, let first = late.first {
        log.add(
          .curveAbsoluteTimes, at: JSONValue(document: json, index: curveValues[first]),
          "times of control points look absolute; they are read as relative to the curve",
          hint: "if the curve comes too late, use --curve-times absolute")
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
        .curveAbsoluteTimes, at: JSONValue(document: json, index: curveValues[first]),
        "the control points of \(curves) have absolute times; they are converted",
        hint: "make the times relative to the start of the curve")
    }
    return true
  }

  /// How much speaks for control points that count from the start of the pattern.
  private enum Evidence { case none, appearance, proof }

  /// How much all curves together speak for control points that count from the start of the
  /// pattern. They seem to if a control has more than one curve and each curve that begins after 0
  /// has its first point at its own time. It is taken as proven if, besides, each curve's last
  /// point is where the next of its control begins: so Lofelt's converter and its relatives write.
  /// By Apple's documentation such points are relative.
  private var evidenceOfAbsoluteTimes: Evidence {
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
    return !hasSequel ? .none : isChain ? .proof : .appearance
  }
}

extension HapticEvent.Kind {
  var text: String { "\(rawValue.utf8.first == UInt8(ascii: "A") ? "an" : "a") \(rawValue) event" }
}
