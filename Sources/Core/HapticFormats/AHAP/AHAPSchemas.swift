import HapticModel
import Reading

/// Error codes of Core Haptics, from `CHHapticError`.
///
/// Source: the header CHHapticErrors.h of Apple's SDK. Apple does not document which input causes
/// which code, so the codes are assigned by name.
enum CoreHapticsCode {
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
    static let version = 0
  }

  /// The key indices of an entry of `Pattern`.
  enum EntryKey {
    static let event = 0
    static let parameter = 1
    static let curve = 2
  }

  /// The key indices of an event.
  enum EventKey {
    static let time = 0
    static let type = 1
    static let duration = 2
    static let waveformPath = 3
    static let usesVolumeEnvelope = 4
    static let isLooping = 5
    static let parameters = 6

    /// A bit set of the waveform keys.
    static let waveformBits: UInt32 = 1 << waveformPath | 1 << usesVolumeEnvelope | 1 << isLooping
  }

  /// The key indices of an event parameter.
  enum EventParameterKey {
    static let id = 0
    static let value = 1
  }

  /// The key indices of a dynamic parameter.
  enum ParameterKey {
    static let id = 0
    static let time = 1
    static let value = 2
  }

  /// The key indices of a curve.
  enum CurveKey {
    static let id = 0
    static let time = 1
    static let controlPoints = 2
  }

  /// The key indices of a control point.
  enum PointKey {
    static let time = 0
    static let value = 1
  }

  private typealias Code = CoreHapticsCode

  static let fileSchema = JSONSchema(
    "a pattern file",
    [
      JSONKey("Version", .unboundedNumber, errorCode: Code.invalidPatternDictionary),
      JSONKey("Metadata", .any),
      JSONKey("Pattern", .array(.object { entrySchema })),
    ], errorCode: Code.invalidPatternDictionary)

  static let entrySchema = JSONSchema(
    "an entry of Pattern",
    [
      JSONKey("Event", .object { eventSchema }),
      JSONKey("Parameter", .object { dynamicParameterSchema }, layout: .singleLine),
      JSONKey("ParameterCurve", .object { curveSchema }),
    ], errorCode: Code.invalidPatternDictionary)

  /// Returns the key of the object that a bare entry's members must be wrapped in, or nil if the
  /// entry has such a key or unknown members. Some public descriptions of the format omit the
  /// object.
  static func missingEntryKey(of entry: JSONValue) -> String? {
    guard entry.kind == .object, !entry.members.contains(where: { isEntryKey($0) }) else {
      return nil
    }
    if entry["EventType"] != nil { return "Event" }
    guard entry["ParameterID"] != nil else { return nil }
    return entry["ParameterCurveControlPoints"] != nil ? "ParameterCurve" : "Parameter"
  }

  private static func isEntryKey(_ member: JSONValue) -> Bool {
    entrySchema.names.index(ofKey: member) != nil
  }

  static let eventSchema = JSONSchema(
    "an event",
    [
      JSONKey("Time", .unboundedNumber, rule: .negativeTime, errorCode: Code.invalidEventTime),
      JSONKey(
        "EventType", .any, noun: "event type", rule: .unknownEventType,
        errorCode: Code.invalidEventType),
      JSONKey(
        "EventDuration", .unboundedNumber, rule: .negativeDuration,
        errorCode: Code.invalidEventDuration),
      JSONKey("EventWaveformPath", .string(), errorCode: Code.invalidAudioResource),
      JSONKey("EventWaveformUseVolumeEnvelope", .any, errorCode: Code.invalidAudioResource),
      JSONKey("EventWaveformLoopEnabled", .any, errorCode: Code.invalidAudioResource),
      JSONKey(
        "EventParameters", .array(.object { eventParameterSchema }),
        errorCode: Code.badParameterEntry,
        layout: .singleLine),
    ], errorCode: Code.badEventEntry)

  static let eventParameterSchema = JSONSchema(
    "an event parameter", [nameKey("event parameter"), valueKey], errorCode: Code.badParameterEntry)

  static let dynamicParameterSchema = JSONSchema(
    "a parameter", [nameKey("dynamic parameter"), timeKey, valueKey],
    errorCode: Code.badParameterEntry)

  static let curveSchema = JSONSchema(
    "a curve",
    [
      nameKey("dynamic parameter"), timeKey,
      JSONKey(
        "ParameterCurveControlPoints", .array(.object { controlPointSchema }),
        errorCode: Code.badParameterEntry,
        layout: .singleLine),
    ], errorCode: Code.badParameterEntry)

  static let controlPointSchema = JSONSchema(
    "a control point", [timeKey, valueKey], errorCode: Code.badParameterEntry)

  private static let timeKey = JSONKey(
    "Time", .unboundedNumber, rule: .negativeTime, errorCode: Code.invalidTime)
  private static let valueKey = JSONKey(
    "ParameterValue", .unboundedNumber, errorCode: Code.badParameterEntry)

  private static func nameKey(_ noun: String) -> JSONKey {
    JSONKey(
      "ParameterID", .any, noun: noun, rule: .unknownParameter, errorCode: Code.invalidParameterType
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

/// A JSON object whose members are indexed by the keys of its schema.
struct AHAPObject: ~Copyable {
  let objectValue: JSONValue
  let schema: JSONSchema
  let indexedMembers: JSONIndexedMembers

  init(_ value: JSONValue, _ schema: JSONSchema) {
    self.objectValue = value
    self.schema = schema
    indexedMembers = schema.names.indexedMembers(of: value)
  }
}
