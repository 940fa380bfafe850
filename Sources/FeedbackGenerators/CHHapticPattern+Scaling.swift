internal import CoreHaptics
internal import Foundation

extension CHHapticPattern {
  /// The same pattern with the intensity of every event multiplied, as a control from its start on.
  func scaled(by factor: Float) throws -> CHHapticPattern {
    var dictionary = try exportDictionary()
    let control: [Key: Any] = [
      .parameter: [
        .parameterID: CHHapticDynamicParameter.ID.hapticIntensityControl.rawValue,
        .time: 0.0, .parameterValue: Double(factor),
      ] as [Key: Any]
    ]
    dictionary[.pattern] = [control] + (dictionary[.pattern] as? [[Key: Any]] ?? [])
    return try CHHapticPattern(dictionary: dictionary)
  }
}
