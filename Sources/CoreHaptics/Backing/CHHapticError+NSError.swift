public import Foundation

/// Lets casts between this error and `NSError` succeed, as they do on Apple's systems.
///
/// Without it, `catch let error as NSError` would let a ``CHHapticError`` through.
extension CHHapticError: _ObjectiveCBridgeable {
  /// The error as the class.
  public func _bridgeToObjectiveC() -> NSError { error }

  /// Makes the structure of the class; a foreign error leaves nothing.
  public static func _forceBridgeFromObjectiveC(
    _ source: NSError, result: inout CHHapticError?
  ) {
    result = CHHapticError(source)
  }

  /// Makes the structure of the class, or tells that the error is a foreign one.
  public static func _conditionallyBridgeFromObjectiveC(
    _ source: NSError, result: inout CHHapticError?
  ) -> Bool {
    result = CHHapticError(source)
    return result != nil
  }

  /// Makes the structure of the class; a foreign error counts as unknown.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CHHapticError {
    source.flatMap { CHHapticError($0) } ?? CHHapticError(.unknownError)
  }

  /// Makes the structure of an error with this domain and a known code.
  private init?(_ source: NSError) {
    guard source.domain == CoreHapticsErrorDomain, let code = Code(rawValue: source.code) else {
      return nil
    }
    self.init(code, userInfo: source.userInfo)
  }
}
