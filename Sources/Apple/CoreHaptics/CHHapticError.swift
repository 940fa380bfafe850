import Reading
public import Foundation

/// The domain of all errors of this module.
public let CoreHapticsErrorDomain = "com.apple.CoreHaptics"

/// An error: a code, and a sentence for people.
///
/// This structure is thrown. It matches `catch CHHapticError.notSupported` and casts to `NSError`.
/// `NSLocalizedDescriptionKey` of `userInfo` contains the sentence.
public struct CHHapticError: CustomNSError, CustomStringConvertible, Hashable, Sendable {
  /// The domain of all errors of this module.
  public static var errorDomain: String { CoreHapticsErrorDomain }

  /// The code that names the kind of the error.
  public let code: Code
  let error: NSError

  /// Creates an error. Without a description in `userInfo`, the error has that of its code.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    var userInfo = userInfo
    if userInfo[NSLocalizedDescriptionKey] == nil {
      userInfo[NSLocalizedDescriptionKey] = code.sentence
    }
    error = NSError(domain: CoreHapticsErrorDomain, code: code.rawValue, userInfo: userInfo)
  }

  /// The user information, including the description.
  public var userInfo: [String: Any] { error.userInfo }

  /// The code as a number.
  public var errorCode: Int { code.rawValue }

  /// The user information of a bridged `NSError`.
  public var errorUserInfo: [String: Any] { error.userInfo }

  /// The sentence for people: the given description, or that of the code.
  public var localizedDescription: String { error.localizedDescription }

  /// Returns whether two errors have the same code and the same user information.
  public static func == (left: CHHapticError, right: CHHapticError) -> Bool {
    left.error == right.error
  }

  /// Hashes the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  /// The kind of an error, as in the static properties of the error.
  ///
  /// Source of the values: the header CHHapticErrors.h of Apple's SDK.
  public enum Code: Int, Sendable {
    case engineNotRunning = -4805
    case operationNotPermitted = -4806
    case engineStartTimeout = -4808
    case notSupported = -4809
    case serverInitFailed = -4810
    case serverInterrupted = -4811
    case invalidPatternPlayer = -4812
    case invalidPatternData = -4813
    case invalidPatternDictionary = -4814
    case invalidAudioSession = -4815
    case invalidEngineParameter = -4816
    case invalidParameterType = -4820
    case invalidEventType = -4821
    case invalidEventTime = -4822
    case invalidEventDuration = -4823
    case invalidAudioResource = -4824
    case resourceNotAvailable = -4825
    case badEventEntry = -4830
    case badParameterEntry = -4831
    case invalidTime = -4840
    case fileNotFound = -4851
    case insufficientPower = -4897
    case unknownError = -4898
    case memoryError = -4899
  }

  /// A player was used while the engine is not running.
  public static var engineNotRunning: Code { .engineNotRunning }
  /// The operation is not possible with this object, such as exporting registered sounds.
  public static var operationNotPermitted: Code { .operationNotPermitted }
  /// The engine took too long to start.
  public static var engineStartTimeout: Code { .engineStartTimeout }
  /// The hardware does not support the operation.
  public static var notSupported: Code { .notSupported }
  /// The output could not be opened.
  public static var serverInitFailed: Code { .serverInitFailed }
  /// The output failed while it was running.
  public static var serverInterrupted: Code { .serverInterrupted }
  /// The player belongs to an engine that was reset.
  public static var invalidPatternPlayer: Code { .invalidPatternPlayer }
  /// The pattern cannot be read.
  public static var invalidPatternData: Code { .invalidPatternData }
  /// The dictionary is not a valid pattern.
  public static var invalidPatternDictionary: Code { .invalidPatternDictionary }
  /// The audio session cannot be used.
  public static var invalidAudioSession: Code { .invalidAudioSession }
  /// A value that was given to an engine cannot be used.
  public static var invalidEngineParameter: Code { .invalidEngineParameter }
  /// The parameter does not exist.
  public static var invalidParameterType: Code { .invalidParameterType }
  /// The event type does not exist.
  public static var invalidEventType: Code { .invalidEventType }
  /// The time of an event is negative or not a number.
  public static var invalidEventTime: Code { .invalidEventTime }
  /// The duration of an event is negative or not a number.
  public static var invalidEventDuration: Code { .invalidEventDuration }
  /// The sound cannot be used.
  public static var invalidAudioResource: Code { .invalidAudioResource }
  /// There are too many registered sounds.
  public static var resourceNotAvailable: Code { .resourceNotAvailable }
  /// An event of a dictionary is malformed.
  public static var badEventEntry: Code { .badEventEntry }
  /// A parameter or curve of a dictionary is malformed.
  public static var badParameterEntry: Code { .badParameterEntry }
  /// A time is negative or not a number.
  public static var invalidTime: Code { .invalidTime }
  /// The file does not exist.
  public static var fileNotFound: Code { .fileNotFound }
  /// There is not enough power to play.
  public static var insufficientPower: Code { .insufficientPower }
  /// Something else failed.
  public static var unknownError: Code { .unknownError }
  /// There was not enough memory.
  public static var memoryError: Code { .memoryError }

  init(_ code: Code, _ sentence: String) {
    self.init(code, userInfo: [NSLocalizedDescriptionKey: sentence])
  }

  /// Creates the error of an invalid pattern text, with line, column, and reason.
  init(_ error: InputError) {
    self.init(
      error.finding.errorCode.flatMap(Code.init(rawValue:)) ?? .invalidPatternData,
      error.description)
  }

  /// A description on one line: the name and number of the code, and the sentence.
  public var description: String { "CHHapticError.\(code) (\(errorCode)): \(localizedDescription)" }
}

extension CHHapticError.Code {
  /// Returns whether a caught error has this code, as in `catch CHHapticError.engineNotRunning`.
  public static func ~= (code: CHHapticError.Code, error: any Error) -> Bool {
    (error as? CHHapticError)?.code == code
  }

  var sentence: String {
    switch self {
    case .engineNotRunning: "The haptic engine is not running."
    case .operationNotPermitted: "The operation is not permitted."
    case .engineStartTimeout: "The haptic engine took too long to start."
    case .notSupported: "The device does not support this operation."
    case .serverInitFailed: "The haptic output could not be opened."
    case .serverInterrupted: "The haptic output failed while it was running."
    case .invalidPatternPlayer: "The player is no longer valid; create a new one."
    case .invalidPatternData: "The pattern data cannot be read."
    case .invalidPatternDictionary: "The dictionary is not a pattern."
    case .invalidAudioSession: "The audio session cannot be used."
    case .invalidEngineParameter: "The engine received an invalid value."
    case .invalidParameterType: "Unknown parameter identifier."
    case .invalidEventType: "Unknown event type."
    case .invalidEventTime: "The event time is invalid."
    case .invalidEventDuration: "The event duration is invalid."
    case .invalidAudioResource: "The audio file or resource cannot be used."
    case .resourceNotAvailable: "No more audio resources can be registered."
    case .badEventEntry: "An event of the pattern is malformed."
    case .badParameterEntry: "A parameter of the pattern is malformed."
    case .invalidTime: "The time is not valid."
    case .fileNotFound: "File not found."
    case .insufficientPower: "Not enough power for haptics."
    case .unknownError: "An unknown haptic error occurred."
    case .memoryError: "There is not enough memory."
    }
  }
}

/// Casts between this error and `NSError` succeed as on Apple's systems. Without the conformance,
/// `catch let error as NSError` would not catch a ``CHHapticError``.
extension CHHapticError: _ObjectiveCBridgeable {
  /// Returns the error as an `NSError`.
  public func _bridgeToObjectiveC() -> NSError { error }

  /// Creates the structure from an `NSError`; nil for an error of another domain.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CHHapticError?) {
    result = CHHapticError(source)
  }

  /// Creates the structure from an `NSError`, and returns false for an error of another domain.
  public static func _conditionallyBridgeFromObjectiveC(
    _ source: NSError, result: inout CHHapticError?
  ) -> Bool {
    result = CHHapticError(source)
    return result != nil
  }

  /// Creates the structure from an `NSError`. An error of another domain becomes `unknownError`.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CHHapticError {
    source.flatMap { CHHapticError($0) } ?? CHHapticError(.unknownError)
  }

  private init?(_ source: NSError) {
    guard source.domain == CoreHapticsErrorDomain, let code = Code(rawValue: source.code) else {
      return nil
    }
    self.init(code, userInfo: source.userInfo)
  }
}
