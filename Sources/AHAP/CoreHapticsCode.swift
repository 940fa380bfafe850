/// Codes of `CHHapticError`.
///
/// Source: the header CHHapticErrors.h of Apple's SDK. Which input gives which code is not
/// documented; the names are the only guide.
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
