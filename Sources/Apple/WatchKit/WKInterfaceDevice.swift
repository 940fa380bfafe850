@_exported public import Foundation
internal import HapticManagement

/// A haptic of a watch. Raw values are WatchKit's.
public enum WKHapticType: Int, Sendable {
  /// A notification, or an increased or decreased value.
  case notification = 0, directionUp, directionDown
  /// A success, a failure, or a request to retry.
  case success = 3, failure, retry
  /// The start or end of an activity, or a tick.
  case start = 6, stop, click
  /// A navigation instruction.
  case navigationLeftTurn = 9, navigationRightTurn, navigationGenericManeuver
  /// A depth warning under water.
  case underwaterDepthPrompt = 12, underwaterDepthCriticalPrompt

  /// The shipped pattern that represents the haptic. Apple does not publish the originals.
  fileprivate var pattern: String {
    switch self {
    case .success, .start, .directionUp: "success"
    case .failure, .underwaterDepthCriticalPrompt: "error"
    case .notification, .retry, .stop, .directionDown, .underwaterDepthPrompt: "warning"
    case .click: "selection"
    case .navigationLeftTurn, .navigationRightTurn, .navigationGenericManeuver: "heavy"
    }
  }
}

/// A watch, with the parts that haptic code uses.
open class WKInterfaceDevice: NSObject, @unchecked Sendable {
  private static let shared = WKInterfaceDevice()

  /// The watch of this process.
  open class func current() -> WKInterfaceDevice { shared }

  /// Plays the shipped pattern for a haptic. Any thread may call.
  open func play(_ type: WKHapticType) {
    EngineLifecycle.shared.play(shipped: type.pattern, as: "watch \(type)")
  }
}
