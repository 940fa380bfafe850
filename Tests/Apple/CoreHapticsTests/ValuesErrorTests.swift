import CoreHaptics
import Foundation
import Testing

/// Errors that client code throws, catches, and reads.
@Suite struct ValuesErrorTests {
  struct KnownCode: Sendable, CustomTestStringConvertible {
    let code: CHHapticError.Code
    let value: Int
    let sentence: String

    init(_ code: CHHapticError.Code, _ value: Int, _ sentence: String) {
      self.code = code
      self.value = value
      self.sentence = sentence
    }

    var testDescription: String { "\(code)" }
  }

  static let codes: [KnownCode] = [
    KnownCode(CHHapticError.engineNotRunning, -4805, "The haptic engine is not running."),
    KnownCode(CHHapticError.operationNotPermitted, -4806, "The operation is not permitted."),
    KnownCode(CHHapticError.engineStartTimeout, -4808, "The haptic engine took too long to start."),
    KnownCode(CHHapticError.notSupported, -4809, "The device does not support this operation."),
    KnownCode(CHHapticError.serverInitFailed, -4810, "The haptic output could not be opened."),
    KnownCode(
      CHHapticError.serverInterrupted, -4811, "The haptic output failed while it was running."),
    KnownCode(
      CHHapticError.invalidPatternPlayer, -4812, "The player is no longer valid; create a new one."),
    KnownCode(CHHapticError.invalidPatternData, -4813, "The pattern data cannot be read."),
    KnownCode(CHHapticError.invalidPatternDictionary, -4814, "The dictionary is not a pattern."),
    KnownCode(CHHapticError.invalidAudioSession, -4815, "The audio session cannot be used."),
    KnownCode(
      CHHapticError.invalidEngineParameter, -4816,
      "The engine received an invalid value."),
    KnownCode(CHHapticError.invalidParameterType, -4820, "Unknown parameter identifier."),
    KnownCode(CHHapticError.invalidEventType, -4821, "Unknown event type."),
    KnownCode(CHHapticError.invalidEventTime, -4822, "The event time is invalid."),
    KnownCode(CHHapticError.invalidEventDuration, -4823, "The event duration is invalid."),
    KnownCode(
      CHHapticError.invalidAudioResource, -4824, "The audio file or resource cannot be used."),
    KnownCode(
      CHHapticError.resourceNotAvailable, -4825, "No more audio resources can be registered."),
    KnownCode(CHHapticError.badEventEntry, -4830, "An event of the pattern is malformed."),
    KnownCode(CHHapticError.badParameterEntry, -4831, "A parameter of the pattern is malformed."),
    KnownCode(CHHapticError.invalidTime, -4840, "The time is not valid."),
    KnownCode(CHHapticError.fileNotFound, -4851, "File not found."),
    KnownCode(CHHapticError.insufficientPower, -4897, "Not enough power for haptics."),
    KnownCode(CHHapticError.unknownError, -4898, "An unknown haptic error occurred."),
    KnownCode(CHHapticError.memoryError, -4899, "There is not enough memory."),
  ]

  @Test(arguments: codes) func codeHasItsValueAndSentence(_ known: KnownCode) {
    #expect(known.code.rawValue == known.value)
    #expect(CHHapticError.Code(rawValue: known.value) == known.code)
    let error: any Error = CHHapticError(known.code)
    #expect(error.localizedDescription == known.sentence)
    #expect((error as? CHHapticError)?.localizedDescription == known.sentence)
    #expect((error as NSError).domain == "com.apple.CoreHaptics")
    #expect((error as NSError).code == known.value)
    #expect((error as NSError).localizedDescription == known.sentence)
  }

  @Test func everyCodeIsListed() {
    let known = (-9_999...9_999).compactMap(CHHapticError.Code.init(rawValue:))
    #expect(Set(known) == Set(Self.codes.map(\.code)))
    #expect(Self.codes.count == 24)
    #expect(CHHapticError.Code(rawValue: -4804) == nil)
  }

  @Test func catchClausesMatchTheCode() {
    func caught(_ error: any Error) -> String {
      do {
        throw error
      } catch CHHapticError.engineNotRunning {
        return "engine not running"
      } catch let error
        as CHHapticError where error.code == .notSupported
      {
        return "not supported"
      } catch let error as CHHapticError {
        return "other \(error.errorCode)"
      } catch {
        return "foreign"
      }
    }
    #expect(caught(CHHapticError(.engineNotRunning)) == "engine not running")
    #expect(caught(CHHapticError(.notSupported)) == "not supported")
    #expect(caught(CHHapticError(.memoryError)) == "other -4899")
    #expect(caught(NSError(domain: CoreHapticsErrorDomain, code: -4805)) == "engine not running")
    #expect(caught(NSError(domain: "elsewhere", code: -4805)) == "foreign")
  }

  @Test func errorAndNSErrorAreBridged() throws {
    let hapticError: any Error = CHHapticError(.fileNotFound, userInfo: ["Place": 7])
    do {
      throw hapticError
    } catch let error as NSError {
      #expect(error.domain == "com.apple.CoreHaptics")
      #expect(error.code == -4851)
      #expect(error.userInfo["Place"] as? Int == 7)
    }
    let bridgedError: any Error = NSError(
      domain: CoreHapticsErrorDomain, code: -4809, userInfo: ["Place": 8])
    let error = try #require(bridgedError as? CHHapticError)
    #expect(error.code == .notSupported)
    #expect(error.userInfo["Place"] as? Int == 8)
    let undocumented: any Error = NSError(domain: CoreHapticsErrorDomain, code: -4804)
    #expect(undocumented as? CHHapticError == nil)
  }

  @Test func userInformationIsKept() throws {
    let error: any Error = CHHapticError(
      .fileNotFound, userInfo: [NSLocalizedDescriptionKey: "no boom.ahap", "Place": 7])
    let hapticError = try #require(error as? CHHapticError)
    #expect(hapticError.code == .fileNotFound)
    #expect(hapticError.errorCode == -4851)
    #expect(hapticError.userInfo["Place"] as? Int == 7)
    #expect(hapticError.errorUserInfo["Place"] as? Int == 7)
    #expect((error as NSError).userInfo["Place"] as? Int == 7)
    #expect(error.localizedDescription == "no boom.ahap")
    #expect("\(error)" == "CHHapticError.fileNotFound (-4851): no boom.ahap")
    #expect(CHHapticError.errorDomain == CoreHapticsErrorDomain)
  }

  @Test func errorsAreEqualByCodeAndUserInformation() {
    #expect(CHHapticError(.notSupported) == CHHapticError(.notSupported))
    #expect(CHHapticError(.notSupported) != CHHapticError(.memoryError))
    #expect(
      CHHapticError(.notSupported, userInfo: ["a": 1])
        == CHHapticError(.notSupported, userInfo: ["a": 1]))
    #expect(CHHapticError(.notSupported, userInfo: ["a": 1]) != CHHapticError(.notSupported))
    #expect(Set([CHHapticError(.notSupported), CHHapticError(.notSupported)]).count == 1)
  }
}
