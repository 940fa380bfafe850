import Reading
import HapticModel

/// Turns a document into a pattern, and notes what it finds.
struct PatternDecoder {
  let json: JSONDocument
  let options: ReadingOptions
  var log = FindingLog()
  var pattern = HapticPattern()
  /// The numbers of the values the events, parameters and curves were read from.
  var eventValues: [Int] = []
  var parameterValues: [Int] = []
  var curveValues: [Int] = []
  /// The acceptable paths of sound files.
  var waveforms: [JSONValue] = []
  /// The list of entries and the metadata, once seen.
  var entries: JSONValue?
  var metadata: JSONValue?
  private var version: JSONValue?
  /// Whether all times and durations of events are whole numbers, and the first of 100 or more.
  var hasWholeTimes = true
  var longTime: JSONValue?

  init(_ json: JSONDocument, options: ReadingOptions) {
    self.json = json
    self.options = options
  }

  /// Reads everything that can be read; what cannot is in the log as an error.
  mutating func decode() -> AHAPReading {
    let root = json.root
    guard root.kind == .object else {
      log.add(
        .structure, at: root, "a pattern file must be an object, not \(root.kind.noun)",
        code: CoreHapticsCode.invalidPatternDictionary)
      return makeReading(usesAbsoluteCurveTimes: false)
    }
    for member in root.members {
      switch Vocabulary.keys.name(ofKey: member) {
      case .version: version = member
      case .metadata: metadata = member
      case .pattern: entries = member
      default: noteUnknownKey(member, in: .file)
      }
    }
    if let entries, entries.kind == .array {
      for entry in entries.elements { decodeEntry(entry) }
    } else if let entries {
      log.add(
        .structure, at: entries, "Pattern must be an array, not \(entries.kind.noun)",
        code: CoreHapticsCode.invalidPatternDictionary)
    } else {
      log.add(
        .structure, at: root, "a pattern file must have the key \"Pattern\"",
        hint: Self.misspelling(of: .pattern, in: root, scope: .file), code: CoreHapticsCode.invalidPatternDictionary)
    }
    return makeReading(usesAbsoluteCurveTimes: rebaseCurves())
  }

  /// The versions that systems are known to have; Apple documents 1.0.
  private static let knownVersions = 1.0..<3.0

  private mutating func makeReading(usesAbsoluteCurveTimes: Bool) -> AHAPReading {
    var number: Double?
    if let version {
      number = self.number(of: version, as: "Version", code: CoreHapticsCode.invalidPatternDictionary)
      if let number, !Self.knownVersions.contains(number) {
        log.add(.oddVersion, at: version, "Version is \(number); patterns have version 1.0", hint: "write 1.0")
      }
    }
    var words = AHAPMetadata()
    if let metadata {
      for member in metadata.members {
        guard let name = member.key, let text = member.string else { continue }
        words.items.append(AHAPMetadata.Item(name: name, text: text))
      }
    }
    return AHAPReading(
      pattern: pattern, version: number, metadata: words, usesAbsoluteCurveTimes: usesAbsoluteCurveTimes)
  }

  private mutating func decodeEntry(_ entry: JSONValue) {
    guard expect(.object, entry, as: "an entry of Pattern", code: AHAPScope.entry.badEntryCode) else { return }
    let members = Vocabulary.keys.fields(of: entry)
    // As almost all entries are.
    if members.memberCount == 1, let event = members[.event], event.kind != .null { return decodeEvent(event) }
    var event: JSONValue?
    var parameter: JSONValue?
    var curve: JSONValue?
    for member in entry.members {
      switch Vocabulary.keys.name(ofKey: member) {
      case .event: event = present(member)
      case .parameter: parameter = present(member)
      case .parameterCurve: curve = present(member)
      default: continue
      }
    }
    if let event { decodeEvent(event) }
    if let parameter { decodeParameter(parameter) }
    if let curve { decodeCurve(curve) }
    let count = (event == nil ? 0 : 1) + (parameter == nil ? 0 : 1) + (curve == nil ? 0 : 1)
    if count == 0 {
      noteUnknownEntry(entry)
    } else {
      for member in entry.members { noteUnknownKey(member, in: .entry) }
      guard count > 1 else { return }
      log.add(.unknownEntry, at: entry, "an entry should hold one thing; the \(count) here are all read")
    }
  }

  private mutating func noteUnknownEntry(_ entry: JSONValue) {
    var first: JSONValue?
    for member in entry.members where first == nil { first = member }
    guard let first, let key = first.key else {
      log.add(.unknownEntry, at: entry, "an empty entry is ignored")
      return
    }
    log.add(
      .unknownEntry, at: first, offset: first.keyOffset, "an entry with \(key.quoted()) is ignored",
      hint: Self.wrapper(of: entry).map { "put its contents into an object: {\"\($0.rawValue)\": {…}}" }
        ?? AHAPScope.entry.hint(for: key))
  }

  /// The key whose contents stand straight in an entry, as some public descriptions of the format have it.
  private static func wrapper(of entry: JSONValue) -> AHAPKey? {
    if entry[AHAPKey.eventType.rawValue] != nil { return .event }
    guard entry[AHAPKey.parameterID.rawValue] != nil else { return nil }
    return entry[AHAPKey.parameterCurveControlPoints.rawValue] != nil ? .parameterCurve : .parameter
  }

  /// The value of an optional key; null counts as absent.
  mutating func present(_ member: JSONValue) -> JSONValue? {
    guard member.kind == .null else { return member }
    log.add(
      .nullValue, at: member, "\(member.key ?? "the value") is null and counts as absent", hint: "leave the key out")
    return nil
  }

  private mutating func decodeParameter(_ value: JSONValue) {
    guard expect(.object, value, as: "Parameter", code: AHAPScope.parameter.badEntryCode) else { return }
    let members = Vocabulary.keys.fields(of: value)
    noteUnknownKeys(of: value, members, in: .parameter)
    let amount = members[.parameterValue]
    let name = dynamicParameter(members[.parameterID], of: value, scope: .parameter)
    let start = self.time(members[.time], of: value, scope: .parameter)
    let number = parameterValue(amount, of: value, scope: .parameter)
    guard let name, let start, let amount, let number else { return }
    parameterValues.append(value.index)
    pattern.parameters.append(
      DynamicParameter(id: name, value: clamp(number, to: name.range, name.rawValue, at: amount), time: start))
  }

  /// Whether a value is of a kind; an error where it is not.
  mutating func expect(_ kind: JSONValue.Kind, _ value: JSONValue, as name: String, code: Int) -> Bool {
    if value.kind == kind { return true }
    log.add(
      .wrongType, at: value, "\(name) must be \(kind.noun), not \(value.kind.noun)",
      hint: kind == .number && value.string.flatMap(Double.init) != nil ? "write it without quotes" : nil, code: code)
    return false
  }

  /// A number; an error where it is none.
  mutating func number(of value: JSONValue, as name: String, code: Int) -> Double? {
    if let number = value.number { return number }
    _ = expect(.number, value, as: name, code: code)
    return nil
  }

  /// A switch, written as a boolean, 0 or 1; an error where it is something else.
  mutating func flag(of value: JSONValue, as name: String, code: Int) -> Bool? {
    if let boolean = value.boolean { return boolean }
    if let number = value.number, number == 0 || number == 1 { return number == 1 }
    log.add(
      .wrongType, at: value,
      "\(name) must be true or false, not "
        + (value.kind == .number ? String(decoding: value.lexeme, as: UTF8.self) : value.kind.noun), code: code)
    return nil
  }

  /// A value moved to the nearest bound of a range.
  mutating func clamp(_ number: Double, to range: ClosedRange<Float>, _ name: String, at value: JSONValue) -> Float {
    let nearest = min(max(number, Double(range.lowerBound)), Double(range.upperBound))
    if nearest != number {
      let isPercent = number >= 2 && number <= 100
      log.add(
        .outOfRange, at: value,
        "\(name) is \(number), outside \(range.lowerBound) to \(range.upperBound); " + "\(nearest) is used",
        hint: isPercent ? "values are not percent: write \(number / 100)" : nil)
    }
    return Float(nearest)
  }

  /// The time of an event, parameter, curve or control point, which must be there and not negative.
  mutating func time(_ time: JSONValue?, of owner: JSONValue, scope: AHAPScope) -> Double? {
    guard let time = require(time, .time, of: owner, scope: scope) else { return nil }
    let code = scope == .event ? CoreHapticsCode.invalidEventTime : CoreHapticsCode.invalidTime
    guard let seconds = number(of: time, as: "Time", code: code) else { return nil }
    guard seconds >= 0 else {
      log.add(.negativeTime, at: time, "Time is \(seconds); it must not be negative", code: code)
      return nil
    }
    if scope == .event { noteUnit(of: seconds, time) }
    return seconds
  }

  /// Collects what speaks for times in milliseconds.
  mutating func noteUnit(of seconds: Double, _ value: JSONValue) {
    if seconds.rounded() != seconds { hasWholeTimes = false }
    // What would be too long in milliseconds, too, is not meant in them.
    let milliseconds = 100...FrameConversion.longest * 1_000
    if longTime == nil, milliseconds.contains(seconds) { longTime = value }
  }

  /// The value of a parameter or control point, which must be there.
  mutating func parameterValue(_ value: JSONValue?, of owner: JSONValue, scope: AHAPScope) -> Double? {
    guard let value = require(value, .parameterValue, of: owner, scope: scope) else { return nil }
    return number(of: value, as: "ParameterValue", code: scope.badEntryCode)
  }

  /// The control that a parameter or curve moves.
  mutating func dynamicParameter(_ id: JSONValue?, of owner: JSONValue, scope: AHAPScope) -> DynamicParameterID? {
    name(
      id, .parameterID, of: owner, scope: scope, in: Vocabulary.dynamicParameters, otherwise: .unknownParameter,
      "dynamic parameter", code: CoreHapticsCode.invalidParameterType)
  }

  /// A name out of a closed list, which must be there.
  mutating func name<Name>(
    _ value: JSONValue?, _ key: AHAPKey, of owner: JSONValue, scope: AHAPScope, in names: AHAPNames<Name>,
    otherwise rule: Rule, _ noun: String, code: Int
  ) -> Name? {
    guard let value = require(value, key, of: owner, scope: scope) else { return nil }
    if let name = names.name(ofString: value) { return name }
    guard expect(.string, value, as: key.rawValue, code: code), let text = value.string else { return nil }
    log.add(rule, at: value, "unknown \(noun) \(text.quoted())", hint: names.hint(for: text), code: code)
    return nil
  }

  /// A value that must be there; an error where it is not.
  mutating func require(_ value: JSONValue?, _ key: AHAPKey, of owner: JSONValue, scope: AHAPScope) -> JSONValue? {
    if value == nil {
      log.add(
        .missingKey, at: owner, "\(scope.name) must have the key \"\(key.rawValue)\"",
        hint: Self.misspelling(of: key, in: owner, scope: scope), code: scope.badEntryCode)
    }
    return value
  }

  /// A hint at the key that may be a missing one with another spelling.
  static func misspelling(of key: AHAPKey, in owner: JSONValue, scope: AHAPScope) -> String? {
    for member in owner.members {
      guard let written = member.key, scope.nearest(to: written) == key else { continue }
      return "rename \(written.quoted()) to \(key.rawValue.quoted())"
    }
    return nil
  }

  /// Notes the keys that an object cannot have.
  mutating func noteUnknownKeys(of value: JSONValue, _ members: borrowing JSONFields, in scope: AHAPScope) {
    if members.areDistinct(among: scope.keyBits) { return }
    for member in value.members { noteUnknownKey(member, in: scope) }
  }

  /// Notes a key that its object cannot have.
  mutating func noteUnknownKey(_ member: JSONValue, in scope: AHAPScope) {
    if let known = Vocabulary.keys.name(ofKey: member), scope.keys.contains(known) { return }
    guard let key = member.key else { return }
    switch (scope, key) {
    case (.event, "Name"): return
    case (.event, "Duration"), (.eventParameter, "Value"), (.parameter, "Value"), (.controlPoint, "Value"):
      log.add(
        .durationKey, at: member, offset: member.keyOffset, "the key \(key.quoted()) is ignored",
        hint: scope.hint(for: key))
    default:
      log.add(
        .unknownKey, at: member, offset: member.keyOffset, "unknown key \(key.quoted()) is ignored",
        hint: scope.hint(for: key))
    }
  }

  /// Checks what the text as a whole has or lacks.
  mutating func checkText() {
    log.addDeviations(
      of: json, byteOrderMark: .byteOrderMark, trailingComma: .trailingComma, duplicateKey: .duplicateKey)
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
}

extension AHAPScope {
  /// The key of this scope that was probably meant by another, or nothing.
  func nearest(to text: String) -> AHAPKey? { JSONNames(keys.map(\.rawValue)).nearest(to: text).flatMap(AHAPKey.init) }

  /// The key of this scope that was probably meant by another, as a hint.
  func hint(for text: String) -> String? { nearest(to: text).map { "did you mean \"\($0.rawValue)\"?" } }
}
