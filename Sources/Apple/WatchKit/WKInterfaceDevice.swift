@_exported public import Foundation
internal import HapticManagement

/// The haptics of a watch; raw values are WatchKit's.
public enum WKHapticType: Int, Sendable {
  /// Something to look at; a value that went up, or down.
  case notification = 0, directionUp, directionDown
  /// How it ended, or that it is to be tried again.
  case success = 3, failure, retry
  /// An activity that starts, or ends; a tick.
  case start = 6, stop, click
  /// The next turn.
  case navigationLeftTurn = 9, navigationRightTurn, navigationGenericManeuver
  /// A depth under water.
  case underwaterDepthPrompt = 12, underwaterDepthCriticalPrompt

  /// The shipped pattern that stands for it; Apple publishes none of them.
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

/// A watch, as far as haptics are played on it.
open class WKInterfaceDevice: NSObject, @unchecked Sendable {
  private static let shared = WKInterfaceDevice()

  /// The watch of this process.
  open class func current() -> WKInterfaceDevice { shared }

  /// Plays the shipped pattern that stands for a haptic of the watch; any thread may call.
  open func play(_ type: WKHapticType) {
    EngineLifecycle.shared.play(shipped: type.pattern, as: "watch \(type)")
  }
}
