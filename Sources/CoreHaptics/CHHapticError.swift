public import Foundation

/// The domain of all errors of this module.
public let CoreHapticsErrorDomain = "com.apple.CoreHaptics"

/// Why something could not be done: a code, and a sentence for a person.
///
/// What is thrown is this structure; it matches `catch CHHapticError.notSupported` and casts to
/// `NSError`. `NSLocalizedDescriptionKey` of `userInfo` holds the sentence.
public struct CHHapticError: CustomNSError, Hashable, Sendable {
  /// The domain of all errors of this module.
  public static var errorDomain: String { CoreHapticsErrorDomain }

  /// What has to be put right.
  public let code: Code
  /// The error as the class.
  let error: NSError

  /// Makes an error; without a description in `userInfo` it gets that of its code.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    var userInfo = userInfo
    if userInfo[NSLocalizedDescriptionKey] == nil {
      userInfo[NSLocalizedDescriptionKey] = code.sentence
    }
    error = NSError(domain: CoreHapticsErrorDomain, code: code.rawValue, userInfo: userInfo)
  }

  /// What else is known: what was given, and the description.
  public var userInfo: [String: Any] { error.userInfo }

  /// The code as a number.
  public var errorCode: Int { code.rawValue }

  /// What an `NSError` made of this one knows.
  public var errorUserInfo: [String: Any] { error.userInfo }

  /// The sentence for a person: the one given, else that of the code.
  public var localizedDescription: String { error.localizedDescription }

  /// Whether two errors have the same code and the same user information.
  public static func == (left: CHHapticError, right: CHHapticError) -> Bool {
    left.error == right.error
  }

  /// Hashes the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension CHHapticError: CustomStringConvertible {
  /// One line: the code's name and number and the sentence.
  public var description: String { "CHHapticError.\(code) (\(errorCode)): \(localizedDescription)" }
}
