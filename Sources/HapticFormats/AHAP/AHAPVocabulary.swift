import HapticModel
import JSONText

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
  var keys: [AHAPKey] {
    switch self {
    case .file: [.version, .metadata, .pattern]
    case .entry: [.event, .parameter, .parameterCurve]
    case .event:
      [
        .time, .eventType, .eventDuration, .eventWaveformPath, .eventWaveformUseVolumeEnvelope,
        .eventWaveformLoopEnabled, .eventParameters,
      ]
    case .eventParameter: [.parameterID, .parameterValue]
    case .parameter: [.parameterID, .time, .parameterValue]
    case .curve: [.parameterID, .time, .parameterCurveControlPoints]
    case .controlPoint: [.time, .parameterValue]
    case .entries, .eventParameters, .controlPoints, .unknown: []
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
struct AHAPNames<Name: RawRepresentable & CaseIterable & Sendable>: Sendable
where Name.RawValue == String {
  private let cases = Array(Name.allCases)
  private let list = JSONNames(Name.allCases.map(\.rawValue))

  /// The name that is a member's key, or nothing.
  func name(ofKey member: JSONValue) -> Name? { list.index(ofKey: member).map { cases[$0] } }

  /// The name that is a string, or nothing.
  func name(ofString value: JSONValue) -> Name? { list.index(ofString: value).map { cases[$0] } }

  /// The name that was probably meant, as a hint.
  func hint(for text: String) -> String? {
    list.nearest(to: text).map { "did you mean \"\($0)\"?" }
  }
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
  package init(items: [Item] = []) {
    self.items = items
  }

  /// The text of a name, the last where it repeats, or nothing.
  package subscript(name: String) -> String? { items.last { $0.name == name }?.text }
}

extension AHAPMetadata: ExpressibleByDictionaryLiteral {
  /// Makes metadata of names and texts in their order.
  package init(dictionaryLiteral elements: (String, String)...) {
    items = elements.map { Item(name: $0, text: $1) }
  }
}
