import Reading
public import Foundation

/// The error domain of Core Haptics.
public let CoreHapticsErrorDomain = "com.apple.CoreHaptics"

/// An error of Core Haptics, which consists of a code and a description.
///
/// This structure is thrown. It matches `catch CHHapticError.notSupported` and casts to `NSError`.
/// `NSLocalizedDescriptionKey` of `userInfo` contains the description.
public struct CHHapticError: CustomNSError, CustomStringConvertible, Hashable, Sendable {
  /// The error domain of Core Haptics.
  public static var errorDomain: String { CoreHapticsErrorDomain }

  /// The code that identifies the kind of the error.
  public let code: Code
  let bridgedError: NSError

  /// Creates an error with a code.
  ///
  /// If `userInfo` contains no description, the error has the description of its code.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    var userInfo = userInfo
    if userInfo[NSLocalizedDescriptionKey] == nil {
      userInfo[NSLocalizedDescriptionKey] = code.defaultDescription
    }
    bridgedError = NSError(domain: CoreHapticsErrorDomain, code: code.rawValue, userInfo: userInfo)
  }

  /// The user information of the error, including its description.
  public var userInfo: [String: Any] { bridgedError.userInfo }

  /// The raw value of the error's code.
  public var errorCode: Int { code.rawValue }

  /// The user information of a bridged `NSError`.
  public var errorUserInfo: [String: Any] { bridgedError.userInfo }

  /// The localized description: the description in `userInfo`, or otherwise that of the code.
  public var localizedDescription: String { bridgedError.localizedDescription }

  /// Returns true if two errors have the same code and the same user information.
  public static func == (left: CHHapticError, right: CHHapticError) -> Bool {
    left.bridgedError == right.bridgedError
  }

  /// Hashes the code of the error.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  /// The code of an error. The static properties of `CHHapticError` describe each code.
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

  /// The code for a use of a player while the engine is not running.
  public static var engineNotRunning: Code { .engineNotRunning }
  /// The code for an operation that the object does not allow, such as exporting registered sounds.
  public static var operationNotPermitted: Code { .operationNotPermitted }
  /// The code for an engine that took too long to start.
  public static var engineStartTimeout: Code { .engineStartTimeout }
  /// The code for an operation that the hardware does not support.
  public static var notSupported: Code { .notSupported }
  /// The code for an output that could not be opened.
  public static var serverInitFailed: Code { .serverInitFailed }
  /// The code for an output that failed while it was running.
  public static var serverInterrupted: Code { .serverInterrupted }
  /// The code for the use of a player after its engine was reset.
  public static var invalidPatternPlayer: Code { .invalidPatternPlayer }
  /// The code for a pattern that cannot be read.
  public static var invalidPatternData: Code { .invalidPatternData }
  /// The code for a dictionary that is not a valid pattern.
  public static var invalidPatternDictionary: Code { .invalidPatternDictionary }
  /// The code for an audio session that cannot be used.
  public static var invalidAudioSession: Code { .invalidAudioSession }
  /// The code for a value that an engine cannot use.
  public static var invalidEngineParameter: Code { .invalidEngineParameter }
  /// The code for a parameter that does not exist.
  public static var invalidParameterType: Code { .invalidParameterType }
  /// The code for an event type that does not exist.
  public static var invalidEventType: Code { .invalidEventType }
  /// The code for an event time that is negative or not a number.
  public static var invalidEventTime: Code { .invalidEventTime }
  /// The code for an event duration that is negative or not a number.
  public static var invalidEventDuration: Code { .invalidEventDuration }
  /// The code for a sound that cannot be used.
  public static var invalidAudioResource: Code { .invalidAudioResource }
  /// The code for too many registered sounds.
  public static var resourceNotAvailable: Code { .resourceNotAvailable }
  /// The code for a malformed event in a dictionary.
  public static var badEventEntry: Code { .badEventEntry }
  /// The code for a malformed parameter or curve in a dictionary.
  public static var badParameterEntry: Code { .badParameterEntry }
  /// The code for a time that is negative or not a number.
  public static var invalidTime: Code { .invalidTime }
  /// The code for a file that does not exist.
  public static var fileNotFound: Code { .fileNotFound }
  /// The code for a device without enough power to play.
  public static var insufficientPower: Code { .insufficientPower }
  /// The code for a failure that has no specific code.
  public static var unknownError: Code { .unknownError }
  /// The code for a lack of memory.
  public static var memoryError: Code { .memoryError }

  init(_ code: Code, _ sentence: String) {
    self.init(code, userInfo: [NSLocalizedDescriptionKey: sentence])
  }

  /// Creates the error of an invalid pattern file.
  ///
  /// The description contains the line, column, and reason.
  init(_ error: InputError) {
    self.init(
      error.finding.errorCode.flatMap(Code.init(rawValue:)) ?? .invalidPatternData,
      error.description)
  }

  /// A description on one line: the name and number of the code, and the localized description.
  public var description: String { "CHHapticError.\(code) (\(errorCode)): \(localizedDescription)" }
}

extension CHHapticError.Code {
  /// Returns true if a caught error has this code, as in `catch CHHapticError.engineNotRunning`.
  public static func ~= (code: CHHapticError.Code, error: any Error) -> Bool {
    (error as? CHHapticError)?.code == code
  }

  var defaultDescription: String {
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

/// The conformance that allows casts between this error and `NSError`.
///
/// Apple's systems allow these casts. Without the conformance, `catch let error as NSError` would
/// not catch a ``CHHapticError``.
extension CHHapticError: _ObjectiveCBridgeable {
  /// Returns the error as an `NSError`.
  public func _bridgeToObjectiveC() -> NSError { bridgedError }

  /// Creates a `CHHapticError` from an `NSError`. The result is nil for an error of another domain.
  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CHHapticError?) {
    result = CHHapticError(source)
  }

  /// Creates a `CHHapticError` from an `NSError`. Returns false for another domain.
  public static func _conditionallyBridgeFromObjectiveC(
    _ source: NSError, result: inout CHHapticError?
  ) -> Bool {
    result = CHHapticError(source)
    return result != nil
  }

  /// Creates a `CHHapticError` from an `NSError`.
  ///
  /// An error of another domain becomes `unknownError`.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CHHapticError {
    source.flatMap { CHHapticError($0) } ?? CHHapticError(.unknownError)
  }

  private init?(_ source: NSError) {
    guard source.domain == CoreHapticsErrorDomain, let errorCode = Code(rawValue: source.code)
    else {
      return nil
    }
    self.init(errorCode, userInfo: source.userInfo)
  }
}
