import HapticModel
import Reading

/// Error codes of Core Haptics, from `CHHapticError`.
///
/// Source: the header CHHapticErrors.h of Apple's SDK. Apple does not document which input causes
/// which code, so the codes are assigned by name.
enum CoreHapticsErrorCode {
  static let invalidPatternData = -4813
  static let invalidPatternDictionary = -4814
  static let invalidParameterType = -4820
  static let invalidEventType = -4821
  static let invalidEventTime = -4822
  static let invalidEventDuration = -4823
  static let invalidAudioResource = -4824
  static let badEventEntry = -4830
  static let badParameterEntry = -4831
  static let invalidTime = -4840
}

/// The JSON schemas of AHAP. Keys are in canonical order, and their indices identify members.
enum AHAPSchemas {
  /// The key indices of the root object.
  enum FileKey {
    static let versionKeyIndex = 0
  }

  /// The key indices of an entry of `Pattern`.
  enum EntryKey {
    static let eventKeyIndex = 0
    static let parameterKeyIndex = 1
    static let curveKeyIndex = 2
  }

  /// The key indices of an event.
  enum EventKey {
    static let timeKeyIndex = 0
    static let typeKeyIndex = 1
    static let durationKeyIndex = 2
    static let waveformPathKeyIndex = 3
    static let usesVolumeEnvelopeKeyIndex = 4
    static let isLoopingKeyIndex = 5
    static let parametersKeyIndex = 6

    /// A bit set of the waveform keys.
    static let waveformKeyBits: UInt32 =
      1 << waveformPathKeyIndex | 1 << usesVolumeEnvelopeKeyIndex | 1 << isLoopingKeyIndex
  }

  /// The key indices of an event parameter.
  enum EventParameterKey {
    static let idKeyIndex = 0
    static let valueKeyIndex = 1
  }

  /// The key indices of a dynamic parameter.
  enum ParameterKey {
    static let idKeyIndex = 0
    static let timeKeyIndex = 1
    static let valueKeyIndex = 2
  }

  /// The key indices of a curve.
  enum CurveKey {
    static let idKeyIndex = 0
    static let timeKeyIndex = 1
    static let controlPointsKeyIndex = 2
  }

  /// The key indices of a control point.
  enum PointKey {
    static let timeKeyIndex = 0
    static let valueKeyIndex = 1
  }

  private typealias ErrorCode = CoreHapticsErrorCode

  static let fileSchema = JSONSchema(
    "a pattern file",
    [
      JSONKey("Version", .unboundedNumber, errorCode: ErrorCode.invalidPatternDictionary),
      JSONKey("Metadata", .any),
      JSONKey("Pattern", .array(.object { entrySchema })),
    ], errorCode: ErrorCode.invalidPatternDictionary)

  static let entrySchema = JSONSchema(
    "an entry of Pattern",
    [
      JSONKey("Event", .object { eventSchema }),
      JSONKey("Parameter", .object { dynamicParameterSchema }, layout: .singleLine),
      JSONKey("ParameterCurve", .object { curveSchema }),
    ], errorCode: ErrorCode.invalidPatternDictionary)

  /// Returns the key of the object that is missing around a bare entry's members.
  ///
  /// Returns nil if the entry has such a key or unknown members. Some public descriptions of the
  /// format omit the object.
  static func missingEntryKey(of entry: JSONValue) -> String? {
    guard entry.kind == .object, !entry.members.contains(where: { isEntryKey($0) }) else {
      return nil
    }
    if entry["EventType"] != nil { return "Event" }
    guard entry["ParameterID"] != nil else { return nil }
    return entry["ParameterCurveControlPoints"] != nil ? "ParameterCurve" : "Parameter"
  }

  private static func isEntryKey(_ member: JSONValue) -> Bool {
    entrySchema.keyNames.index(ofKey: member) != nil
  }

  static let eventSchema = JSONSchema(
    "an event",
    [
      JSONKey(
        "Time", .unboundedNumber, outOfRangeRule: .negativeTime,
        errorCode: ErrorCode.invalidEventTime),
      JSONKey(
        "EventType", .any, valueNoun: "event type", outOfRangeRule: .unknownEventType,
        errorCode: ErrorCode.invalidEventType),
      JSONKey(
        "EventDuration", .unboundedNumber, outOfRangeRule: .negativeDuration,
        errorCode: ErrorCode.invalidEventDuration),
      JSONKey("EventWaveformPath", .string(), errorCode: ErrorCode.invalidAudioResource),
      JSONKey("EventWaveformUseVolumeEnvelope", .any, errorCode: ErrorCode.invalidAudioResource),
      JSONKey("EventWaveformLoopEnabled", .any, errorCode: ErrorCode.invalidAudioResource),
      JSONKey(
        "EventParameters", .array(.object { eventParameterSchema }),
        errorCode: ErrorCode.badParameterEntry,
        layout: .singleLine),
    ], errorCode: ErrorCode.badEventEntry)

  static let eventParameterSchema = JSONSchema(
    "an event parameter", [nameKey("event parameter"), valueKey],
    errorCode: ErrorCode.badParameterEntry)

  static let dynamicParameterSchema = JSONSchema(
    "a parameter", [nameKey("dynamic parameter"), timeKey, valueKey],
    errorCode: ErrorCode.badParameterEntry)

  static let curveSchema = JSONSchema(
    "a curve",
    [
      nameKey("dynamic parameter"), timeKey,
      JSONKey(
        "ParameterCurveControlPoints", .array(.object { controlPointSchema }),
        errorCode: ErrorCode.badParameterEntry,
        layout: .singleLine),
    ], errorCode: ErrorCode.badParameterEntry)

  static let controlPointSchema = JSONSchema(
    "a control point", [timeKey, valueKey], errorCode: ErrorCode.badParameterEntry)

  private static let timeKey = JSONKey(
    "Time", .unboundedNumber, outOfRangeRule: .negativeTime, errorCode: ErrorCode.invalidTime)
  private static let valueKey = JSONKey(
    "ParameterValue", .unboundedNumber, errorCode: ErrorCode.badParameterEntry)

  private static func nameKey(_ noun: String) -> JSONKey {
    JSONKey(
      "ParameterID", .any, valueNoun: noun, outOfRangeRule: .unknownParameter,
      errorCode: ErrorCode.invalidParameterType
    )
  }
}

struct AHAPNameTable<Name: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
  let allNames = Array(Name.allCases)
  let nameList = JSONNameList(Name.allCases.map { $0.rawValue })
}

enum AHAPNames {
  static let eventTypes = AHAPNameTable<HapticEvent.Kind>()
  static let eventParameters = AHAPNameTable<EventParameterID>()
  static let dynamicParameters = AHAPNameTable<DynamicParameterID>()
}

/// A JSON object with members indexed by the keys of its schema.
struct AHAPObject: ~Copyable {
  let objectValue: JSONValue
  let schema: JSONSchema
  let indexedMembers: JSONIndexedMembers

  init(_ value: JSONValue, _ schema: JSONSchema) {
    self.objectValue = value
    self.schema = schema
    indexedMembers = schema.keyNames.indexedMembers(of: value)
  }
}
