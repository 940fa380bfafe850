import Diagnostics
import HapticModel
import JSONText

/// Turns a document into a pattern, and notes what it meets on the way.
struct PatternDecoder {
  let json: JSONDocument
  let options: AHAPReadingOptions
  var log = FindingLog()
  var pattern = HapticPattern()
  /// The numbers of the values the events and curves were read from.
  var eventValues: [Int] = []
  var curveValues: [Int] = []
  /// The acceptable paths of sound files.
  var waveforms: [JSONValue] = []
  /// The list of entries and the metadata, once seen.
  var entries: JSONValue?
  var metadata: JSONValue?
  private var version: JSONValue?

  init(_ json: JSONDocument, options: AHAPReadingOptions) {
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
        hint: Self.misspelling(of: .pattern, in: root, scope: .file),
        code: CoreHapticsCode.invalidPatternDictionary)
    }
    return makeReading(usesAbsoluteCurveTimes: rebaseCurves())
  }

  private mutating func makeReading(usesAbsoluteCurveTimes: Bool) -> AHAPReading {
    var number: Double?
    if let version {
      number = self.number(
        of: version, as: "Version", code: CoreHapticsCode.invalidPatternDictionary)
    }
    var words = AHAPMetadata()
    if let metadata {
      for member in metadata.members {
        guard let name = member.key, let text = member.string else { continue }
        words.items.append(AHAPMetadata.Item(name: name, text: text))
      }
    }
    return AHAPReading(
      pattern: pattern, version: number, metadata: words,
      usesAbsoluteCurveTimes: usesAbsoluteCurveTimes)
  }

  private mutating func decodeEntry(_ entry: JSONValue) {
    guard expect(.object, entry, as: "an entry of Pattern", code: AHAPScope.entry.badEntryCode)
    else { return }
    var event: JSONValue?
    var parameter: JSONValue?
    var curve: JSONValue?
    for member in entry.members {
      switch Vocabulary.keys.name(ofKey: member) {
      case .event: event = member
      case .parameter: parameter = member
      case .parameterCurve: curve = member
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
      log.add(
        .unknownEntry, at: entry, "an entry should hold one thing; the \(count) here are all read")
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
      .unknownEntry, at: first, offset: first.keyOffset,
      "an entry with \(key.quoted()) is ignored",
      hint: AHAPScope.entry.hint(for: key))
  }

  private mutating func decodeParameter(_ value: JSONValue) {
    guard expect(.object, value, as: "Parameter", code: AHAPScope.parameter.badEntryCode) else {
      return
    }
    var id: JSONValue?
    var time: JSONValue?
    var amount: JSONValue?
    for member in value.members {
      switch Vocabulary.keys.name(ofKey: member) {
      case .parameterID: id = member
      case .time: time = member
      case .parameterValue: amount = member
      default: noteUnknownKey(member, in: .parameter)
      }
    }
    let name = dynamicParameter(id, of: value, scope: .parameter)
    let start = self.time(time, of: value, scope: .parameter)
    let number = parameterValue(amount, of: value, scope: .parameter)
    guard let name, let start, let amount, let number else { return }
    pattern.parameters.append(
      DynamicParameter(
        id: name, value: clamp(number, to: name.range, name.rawValue, at: amount), time: start))
  }
}
