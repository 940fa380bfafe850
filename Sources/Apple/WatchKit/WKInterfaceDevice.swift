@_exported public import Foundation
internal import HapticManagement

/// A type of haptic of a watch. The raw values are WatchKit's.
public enum WKHapticType: Int, Sendable {
  /// The haptics of a notification, and of an increased or decreased value.
  case notification = 0, directionUp, directionDown
  /// The haptics of a success, a failure, and a request to retry.
  case success = 3, failure, retry
  /// The haptics for the start of an activity, the end of an activity, and a click.
  case start = 6, stop, click
  /// The haptics of a navigation instruction.
  case navigationLeftTurn = 9, navigationRightTurn, navigationGenericManeuver
  /// The haptics of a depth warning under water.
  case underwaterDepthPrompt = 12, underwaterDepthCriticalPrompt

  /// The name of the shipped pattern that represents the haptic.
  ///
  /// Apple does not publish the originals.
  fileprivate var shippedPatternName: String {
    switch self {
    case .success, .start, .directionUp: "success"
    case .failure, .underwaterDepthCriticalPrompt: "error"
    case .notification, .retry, .stop, .directionDown, .underwaterDepthPrompt: "warning"
    case .click: "selection"
    case .navigationLeftTurn, .navigationRightTurn, .navigationGenericManeuver: "heavy"
    }
  }
}

/// A watch, with only those methods that haptic code uses.
open class WKInterfaceDevice: NSObject, @unchecked Sendable {
  private static let shared = WKInterfaceDevice()

  /// The watch of the process.
  open class func current() -> WKInterfaceDevice { shared }

  /// Plays the shipped pattern for a haptic. Any thread may call.
  open func play(_ type: WKHapticType) {
    EngineLifecycle.shared.playShippedPattern(type.shippedPatternName, as: "watch \(type)")
  }
}
