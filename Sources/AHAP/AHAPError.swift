public import JSONText

/// Why a file is no pattern, and where.
public struct AHAPError: Error, Equatable, Sendable {
  /// The first thing that keeps the file from being read.
  public var finding: Finding
  /// How many more such things the file has.
  public var otherErrorCount: Int

  /// Makes an error of a finding.
  public init(_ finding: Finding, otherErrorCount: Int = 0) {
    self.finding = finding
    self.otherErrorCount = otherErrorCount
  }

  /// The rule that names what has to be put right.
  public var rule: Rule { finding.rule }
  /// Where.
  public var place: TextPlace { finding.place }
  /// The code of the error Core Haptics would report, judged by its name.
  public var coreHapticsCode: Int {
    finding.coreHapticsCode ?? CoreHapticsCode.invalidPatternDictionary
  }
}

extension AHAPError: CustomStringConvertible {
  /// One line: `NAME:LINE:COLUMN: error: MESSAGE (PATH); HINT`.
  public var description: String { finding.description }
}

extension AHAPError {
  /// An error of the text itself.
  init(_ error: JSONError) {
    self.init(
      Finding(
        rule: .syntax, place: error.place, path: "", message: error.message,
        suggestion: error.suggestion, coreHapticsCode: CoreHapticsCode.invalidPatternData))
  }
}

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
