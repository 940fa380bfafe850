import Diagnostics
import HapticModel
import JSONText

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
  static let rules = JSONNames(AHAPRules.all.map(\.id.text))
}
