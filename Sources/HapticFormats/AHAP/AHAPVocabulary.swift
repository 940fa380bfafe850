import HapticModel
import Reading

/// The keys of AHAP.
enum AHAPKey: String, CaseIterable {
  case version = "Version"
  case metadata = "Metadata"
  case pattern = "Pattern"

  case event = "Event"
  case parameter = "Parameter"
  case parameterCurve = "ParameterCurve"

  case parameterID = "ParameterID"
  case time = "Time"
  case eventType = "EventType"
  case eventDuration = "EventDuration"
  case eventWaveformPath = "EventWaveformPath"
  case eventWaveformUseVolumeEnvelope = "EventWaveformUseVolumeEnvelope"
  case eventWaveformLoopEnabled = "EventWaveformLoopEnabled"
  case eventParameters = "EventParameters"
  case parameterValue = "ParameterValue"
  case parameterCurveControlPoints = "ParameterCurveControlPoints"

  /// The place in declaration order, which is also that of the keys of one object in canonical text.
  var index: Int {
    switch self {
    case .version: 0
    case .metadata: 1
    case .pattern: 2
    case .event: 3
    case .parameter: 4
    case .parameterCurve: 5
    case .parameterID: 6
    case .time: 7
    case .eventType: 8
    case .eventDuration: 9
    case .eventWaveformPath: 10
    case .eventWaveformUseVolumeEnvelope: 11
    case .eventWaveformLoopEnabled: 12
    case .eventParameters: 13
    case .parameterValue: 14
    case .parameterCurveControlPoints: 15
    }
  }

  /// The place as a bit of a mask.
  var bit: UInt32 { 1 << UInt32(index) }

  /// The keys that only events with a sound file need.
  static let waveformBits = eventWaveformPath.bit | eventWaveformUseVolumeEnvelope.bit | eventWaveformLoopEnabled.bit
}

extension JSONFields {
  /// The last member with a key, or nil.
  subscript(key: AHAPKey) -> JSONValue? { self[key.index] }
}

/// A place in the grammar: what an object or array stands for.
enum AHAPScope {
  case file, entries, entry
  case event, eventParameters, eventParameter
  case parameter
  case curve, controlPoints, controlPoint
  /// Contents that AHAP says nothing about.
  case unknown

  /// The keys that objects of this scope can have, in the order of canonical text.
  var keys: [AHAPKey] { AHAPKey.allCases.filter { keyBits & $0.bit != 0 } }

  /// The keys that objects of this scope can have, as bits.
  var keyBits: UInt32 {
    switch self {
    case .file: AHAPKey.version.bit | AHAPKey.metadata.bit | AHAPKey.pattern.bit
    case .entry: AHAPKey.event.bit | AHAPKey.parameter.bit | AHAPKey.parameterCurve.bit
    case .event:
      AHAPKey.time.bit | AHAPKey.eventType.bit | AHAPKey.eventDuration.bit | AHAPKey.waveformBits
        | AHAPKey.eventParameters.bit
    case .eventParameter: AHAPKey.parameterID.bit | AHAPKey.parameterValue.bit
    case .parameter: AHAPKey.parameterID.bit | AHAPKey.time.bit | AHAPKey.parameterValue.bit
    case .curve: AHAPKey.parameterID.bit | AHAPKey.time.bit | AHAPKey.parameterCurveControlPoints.bit
    case .controlPoint: AHAPKey.time.bit | AHAPKey.parameterValue.bit
    case .entries, .eventParameters, .controlPoints, .unknown: 0
    }
  }

  /// What an object of this scope is called in messages.
  var name: String {
    switch self {
    case .file: "a pattern file"
    case .entry: "an entry"
    case .event: "an event"
    case .eventParameter: "an event parameter"
    case .parameter: "a parameter"
    case .curve: "a curve"
    case .controlPoint: "a control point"
    case .entries, .eventParameters, .controlPoints, .unknown: "a list"
    }
  }

  /// What a wrong entry of this scope is called by Core Haptics.
  var badEntryCode: Int {
    switch self {
    case .event: CoreHapticsCode.badEventEntry
    case .eventParameter, .eventParameters, .parameter, .curve, .controlPoints, .controlPoint:
      CoreHapticsCode.badParameterEntry
    case .file, .entries, .entry, .unknown: CoreHapticsCode.invalidPatternDictionary
    }
  }
}

/// The names of one closed list, as a file has them.
struct AHAPNames<Name: RawRepresentable & CaseIterable & Sendable>: Sendable where Name.RawValue == String {
  private let cases = Array(Name.allCases)
  private let list = JSONNames(Name.allCases.map(\.rawValue))

  /// The name that is a member's key, or nothing.
  func name(ofKey member: JSONValue) -> Name? { list.index(ofKey: member).map { cases[$0] } }

  /// The members of an object by their keys.
  func fields(of object: JSONValue) -> JSONFields { list.fields(of: object) }

  /// The name that is a string, or nothing.
  func name(ofString value: JSONValue) -> Name? { list.index(ofString: value).map { cases[$0] } }

  /// The name that was probably meant, as a hint.
  func hint(for text: String) -> String? { list.nearest(to: text).map { "did you mean \"\($0)\"?" } }
}

/// The closed lists of AHAP.
enum Vocabulary {
  static let keys = AHAPNames<AHAPKey>()
  static let eventTypes = AHAPNames<HapticEvent.Kind>()
  static let eventParameters = AHAPNames<EventParameterID>()
  static let dynamicParameters = AHAPNames<DynamicParameterID>()
}

/// What a file says about itself in words: names with texts, in the order of the file.
package struct AHAPMetadata: Equatable, Sendable {
  /// One name and its text.
  package struct Item: Equatable, Sendable {
    /// The name, as `Project`, `Created` or `Description`.
    package var name: String
    /// The text.
    package var text: String

    /// Makes an item.
    package init(name: String, text: String) {
      self.name = name
      self.text = text
    }
  }

  /// The names and texts; a name may repeat.
  package var items: [Item]

  /// Makes metadata of items.
  package init(items: [Item] = []) { self.items = items }

  /// The text of a name, the last where it repeats, or nothing.
  package subscript(name: String) -> String? { items.last { $0.name == name }?.text }
}

extension AHAPMetadata: ExpressibleByDictionaryLiteral {
  /// Makes metadata of names and texts in their order.
  package init(dictionaryLiteral elements: (String, String)...) { items = elements.map { Item(name: $0, text: $1) } }
}
