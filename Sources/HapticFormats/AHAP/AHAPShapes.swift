import HapticModel
import Reading

/// The objects of AHAP, keys in the order of canonical text, which numbers their members.
enum AHAPShapes {
  static let file = JSONShape(
    "a pattern file",
    [
      JSONKey("Version", .anyNumber, code: CoreHapticsCode.invalidPatternDictionary), JSONKey("Metadata", .any),
      JSONKey("Pattern", .list(.object { entry })),
    ], code: CoreHapticsCode.invalidPatternDictionary)

  static let entry = JSONShape(
    "an entry of Pattern",
    [
      JSONKey("Event", .object { event }), JSONKey("Parameter", .object { parameter }, layout: .line),
      JSONKey("ParameterCurve", .object { curve }),
    ], code: CoreHapticsCode.invalidPatternDictionary)

  static let event = JSONShape(
    "an event",
    [
      JSONKey("Time", .anyNumber, rule: .negativeTime, code: CoreHapticsCode.invalidEventTime),
      JSONKey(
        "EventType", .any, noun: "event type", rule: .unknownEventType, code: CoreHapticsCode.invalidEventType),
      JSONKey("EventDuration", .anyNumber, rule: .negativeDuration, code: CoreHapticsCode.invalidEventDuration),
      JSONKey("EventWaveformPath", .text(), code: CoreHapticsCode.invalidAudioResource),
      JSONKey("EventWaveformUseVolumeEnvelope", .any, code: CoreHapticsCode.invalidAudioResource),
      JSONKey("EventWaveformLoopEnabled", .any, code: CoreHapticsCode.invalidAudioResource),
      JSONKey(
        "EventParameters", .list(.object { eventParameter }), code: CoreHapticsCode.badParameterEntry, layout: .line),
    ], code: CoreHapticsCode.badEventEntry)

  static let eventParameter = JSONShape(
    "an event parameter", [name("event parameter"), amount], code: CoreHapticsCode.badParameterEntry)

  static let parameter = JSONShape(
    "a parameter", [name("dynamic parameter"), time, amount], code: CoreHapticsCode.badParameterEntry)

  static let curve = JSONShape(
    "a curve",
    [
      name("dynamic parameter"), time,
      JSONKey(
        "ParameterCurveControlPoints", .list(.object { point }), code: CoreHapticsCode.badParameterEntry, layout: .line),
    ], code: CoreHapticsCode.badParameterEntry)

  static let point = JSONShape("a control point", [time, amount], code: CoreHapticsCode.badParameterEntry)

  private static let time = JSONKey("Time", .anyNumber, rule: .negativeTime, code: CoreHapticsCode.invalidTime)
  private static let amount = JSONKey("ParameterValue", .anyNumber, code: CoreHapticsCode.badParameterEntry)

  private static func name(_ noun: String) -> JSONKey {
    JSONKey(
      "ParameterID", .any, noun: noun, rule: .unknownParameter, code: CoreHapticsCode.invalidParameterType)
  }
}

/// The names of one closed list.
struct AHAPNames<Name: RawRepresentable<String> & CaseIterable & Sendable>: Sendable {
  let cases = Array(Name.allCases)
  let list = JSONNames(Name.allCases.map { $0.rawValue })
}

/// The closed lists of AHAP.
enum AHAPVocabulary {
  static let eventTypes = AHAPNames<HapticEvent.Kind>()
  static let eventParameters = AHAPNames<EventParameterID>()
  static let dynamicParameters = AHAPNames<DynamicParameterID>()
}

/// An object of a text, and its members by the numbers of their keys in its shape.
struct AHAPObject: ~Copyable {
  let value: JSONValue
  let shape: JSONShape
  let members: JSONFields

  init(_ value: JSONValue, _ shape: JSONShape) {
    self.value = value
    self.shape = shape
    members = shape.names.fields(of: value)
  }
}
