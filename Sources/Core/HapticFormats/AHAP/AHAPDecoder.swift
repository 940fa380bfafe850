import HapticModel
import Reading

/// Decodes an AHAP document into a pattern, and reports findings.
///
/// The entries of `Pattern` are decoded in document order. Members are accessed by the indices of
/// their keys in ``AHAPSchemas``, which avoids string comparisons. After the last entry, absolute
/// control point times are converted to relative times (see `evidenceOfAbsolutePointTimes`).
struct AHAPDecoder: JSONSchemaReader {
  let jsonDocument: JSONDocument
  let options: ReadingOptions
  let schemaRules = JSONSchemaRules(
    missingKey: .missingKey, wrongType: .wrongType, outOfRange: .valueOutOfRange,
    unknownKey: .unknownKey,
    nullHandling: .absentWithFinding(.nullValue))
  var findingLog = FindingLog()
  /// The pattern decoded so far.
  var pattern = HapticPattern()
  /// The index of the source JSON value of each event, parameter, and curve.
  var eventValueIndices: [Int] = []
  var parameterValueIndices: [Int] = []
  var curveValueIndices: [Int] = []
  /// The JSON strings that contain sound file paths.
  var waveformPathValues: [JSONValue] = []
  /// A Boolean value that indicates whether all event times and durations are whole numbers. Whole
  /// numbers suggest milliseconds.
  var hasOnlyIntegerTimes = true
  /// The first event time or duration of at least 100. Such a number suggests milliseconds.
  var firstMillisecondLikeTimeValue: JSONValue?

  init(_ json: JSONDocument, options: ReadingOptions) {
    self.jsonDocument = json
    self.options = options
  }

  /// The known versions of the AHAP format. Apple documents only version 1.0.
  private static let knownAHAPVersions = 1.0..<3.0

  /// The maximum number of control points per curve that older systems accept.
  ///
  /// Source: the exporter of Lofelt/NiceVibrations (5e58663) and the editor of apple/unityplugins.
  static let maximumCurvePointCount = 16

  /// The maximum difference, in seconds, between two times that count as equal.
  static let simultaneityToleranceSeconds = 1e-6

  var metadata: JSONValue? { jsonDocument.root["Metadata"] }

  /// Decodes the document. Errors are added to the log.
  mutating func decode() -> AHAPContent {
    let root = jsonDocument.root
    let fileSchema = AHAPSchemas.fileSchema
    var decodedContent = AHAPContent()
    guard root.kind == .object else {
      findingLog.add(
        .invalidStructure, at: root,
        "a pattern file must be an object, not \(root.kind.nounWithArticle)",
        errorCode: fileSchema.errorCode)
      return decodedContent
    }
    reportUnknownKeys(of: AHAPObject(root, fileSchema))
    decodePatternEntries(of: root)
    decodedContent.usesAbsoluteCurveTimes = convertAbsoluteTimes()
    if let versionValue = root["Version"] {
      decodedContent.coreHapticsVersion = readScalar(
        versionValue, key: fileSchema.keys[AHAPSchemas.FileKey.versionKeyIndex])
      if let number = decodedContent.coreHapticsVersion, !Self.knownAHAPVersions.contains(number) {
        findingLog.add(
          .unexpectedVersion, at: versionValue, "Version is \(number); patterns have version 1.0",
          suggestion: "write 1.0")
      }
    }
    for member in metadata.map({ Array($0.members) }) ?? [] {
      if let name = member.key, let text = member.string {
        decodedContent.metadata.items.append(.init(entryName: name, entryText: text))
      }
    }
    decodedContent.pattern = pattern
    return decodedContent
  }

  /// Decodes the entries of the `Pattern` array.
  private mutating func decodePatternEntries(of root: JSONValue) {
    let fileSchema = AHAPSchemas.fileSchema
    if let patternValue = root["Pattern"] {
      if patternValue.kind != .array {
        findingLog.add(
          .invalidStructure, at: patternValue,
          "Pattern must be an array, not \(patternValue.kind.nounWithArticle)",
          errorCode: fileSchema.errorCode)
      }
      for entry in patternValue.elements {
        decodePatternEntry(entry)
      }
    } else {
      findingLog.add(
        .invalidStructure, at: root, "a pattern file must have the key \"Pattern\"",
        suggestion: fileSchema.renameSuggestion(for: "Pattern", in: root),
        errorCode: fileSchema.errorCode)
    }
  }

  /// Decodes all parts of an entry: its event, parameter, and curve.
  private mutating func decodePatternEntry(_ entry: JSONValue) {
    guard
      let entry = decodeObject(
        entry, schema: AHAPSchemas.entrySchema, as: AHAPSchemas.entrySchema.nounWithArticle,
        reportsUnknownKeys: false)
    else {
      return
    }
    let eventMember = readOptionalMember(of: entry, keyIndex: AHAPSchemas.EntryKey.eventKeyIndex)
    if let eventMember {
      decodeEvent(eventMember)
    }
    // Return early: nearly all entries contain only an event.
    if eventMember != nil, entry.indexedMembers.totalMemberCount == 1 { return }
    let parameterMember = readOptionalMember(
      of: entry, keyIndex: AHAPSchemas.EntryKey.parameterKeyIndex)
    if let parameterMember {
      decodeParameter(parameterMember)
    }
    let curveMember = readOptionalMember(of: entry, keyIndex: AHAPSchemas.EntryKey.curveKeyIndex)
    if let curveMember {
      decodeCurve(curveMember)
    }
    let partCount = [eventMember, parameterMember, curveMember].count { $0 != nil }
    guard partCount > 0 else { return reportUnknownPatternEntry(entry.objectValue) }
    reportUnknownKeys(of: entry)
    if partCount > 1 {
      findingLog.add(
        .unknownEntry, at: entry.objectValue,
        "an entry should contain one object, not \(partCount); all of them are read")
    }
  }

  /// Reports an entry that contains no event, parameter, or curve.
  private mutating func reportUnknownPatternEntry(_ entry: JSONValue) {
    guard let firstMember = entry.members.first(where: { _ in true }), let key = firstMember.key
    else {
      return findingLog.add(.unknownEntry, at: entry, "an empty entry is ignored")
    }
    if let missingKey = AHAPSchemas.missingEntryKey(of: entry) {
      return findingLog.add(
        .bareEntry, at: entry,
        "the contents of an entry must be in an object \(missingKey.quoted())",
        suggestion: "write {\"\(missingKey)\": {…}}, or run 'temblor check --fix'",
        errorCode: AHAPSchemas.entrySchema.errorCode)
    }
    findingLog.add(
      .unknownEntry, at: firstMember, offset: firstMember.keyOffset,
      "an entry with the key \(key.quoted()) is ignored",
      suggestion: AHAPSchemas.entrySchema.keyNames.suggestion(for: key))
  }

  /// Checks the document as a whole after its entries have been decoded.
  mutating func checkWholeDocument() {
    findingLog.addSyntaxDeviations(
      of: jsonDocument, byteOrderMark: .unexpectedByteOrderMark, trailingComma: .trailingComma,
      duplicateKey: .duplicateKey)
    if let firstMillisecondLikeTimeValue, hasOnlyIntegerTimes,
      let number = firstMillisecondLikeTimeValue.number
    {
      findingLog.add(
        .timesInMilliseconds, at: firstMillisecondLikeTimeValue,
        "\(firstMillisecondLikeTimeValue.key ?? "Time") is \(number) s; times are in seconds",
        suggestion: "if milliseconds were intended, write \(number / 1_000)")
    }
    let root = jsonDocument.root
    guard root.kind == .object else { return }
    if root["Version"] == nil {
      findingLog.add(
        .missingVersion, at: root, "missing key \"Version\"", suggestion: "add \"Version\": 1.0")
    }
    if let metadata, metadata.kind != .object {
      findingLog.add(
        .wrongType, at: metadata, severity: .warning,
        "Metadata should be an object, not \(metadata.kind.nounWithArticle); it is ignored")
    }
  }

  /// Returns the suppressions in the metadata object `AllowedRules`. The last one for a rule
  /// applies.
  mutating func decodeSuppressions() -> [ReadResult.Suppression] {
    guard let allowedRulesList = metadata?["AllowedRules"] else { return [] }
    guard allowedRulesList.kind == .object else {
      findingLog.add(
        .wrongType, at: allowedRulesList, severity: .warning,
        "AllowedRules should be an object, not \(allowedRulesList.kind.nounWithArticle)")
      return []
    }
    var suppressions: [ReadResult.Suppression] = []
    for member in allowedRulesList.members {
      guard let reason = member.string else {
        findingLog.add(
          .wrongType, at: member, severity: .warning,
          "the reason for an allowed rule should be a string, not \(member.kind.nounWithArticle)")
        continue
      }
      let rule = RuleID(member.key ?? "")
      var location = jsonDocument.location(at: member.keyOffset)
      location.path = member.path
      suppressions.removeAll { $0.ruleID == rule }
      let visibleScalars = reason.unicodeScalars.prefix(200).map { $0.isInvisible ? " " : $0 }
      let line = String(String.UnicodeScalarView(visibleScalars))
      suppressions.append(.init(rule, reason: line, location: location))
    }
    return suppressions
  }
}
