public import CoreHaptics
public import Foundation

/// Where in a controller, or in which, haptics are felt.
public struct GCHapticsLocality: RawRepresentable, Hashable, Sendable {
  /// The name on Apple's systems.
  public let rawValue: String

  /// Makes a locality of its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// What the controller does by default.
  public static let `default` = GCHapticsLocality(rawValue: "Default")
  /// All actuators.
  public static let all = GCHapticsLocality(rawValue: "All")
  /// The handles.
  public static let handles = GCHapticsLocality(rawValue: "Handles")
  /// The left handle.
  public static let leftHandle = GCHapticsLocality(rawValue: "LeftHandle")
  /// The right handle.
  public static let rightHandle = GCHapticsLocality(rawValue: "RightHandle")
  /// The triggers.
  public static let triggers = GCHapticsLocality(rawValue: "Triggers")
  /// The left trigger.
  public static let leftTrigger = GCHapticsLocality(rawValue: "LeftTrigger")
  /// The right trigger.
  public static let rightTrigger = GCHapticsLocality(rawValue: "RightTrigger")
}

/// The value of durations that do not end.
public let GCHapticDurationInfinite: Float = .infinity

/// The haptics of a controller.
open class GCDeviceHaptics: NSObject {
  /// Where engines can be made for.
  open var supportedLocalities: Set<GCHapticsLocality> { [.default, .all] }

  /// Makes an engine on the output of the process; nil for a place that the controller does not
  /// have.
  open func createEngine(withLocality locality: GCHapticsLocality) -> CHHapticEngine? {
    supportedLocalities.contains(locality) ? try? CHHapticEngine() : nil
  }
}

/// A game controller, as far as its haptics go.
///
/// None is ever connected by itself: `controllers()` is empty. A test makes one, and gives it
/// haptics or none.
open class GCController: NSObject {
  /// The controllers that are connected: none.
  open class func controllers() -> [GCController] { [] }

  /// The controller that was used last: none.
  open class var current: GCController? { nil }

  /// The haptics of the controller, or nil where it has none.
  open var haptics: GCDeviceHaptics?

  /// The name of the maker, or nil.
  open var vendorName: String?

  /// Makes a controller without haptics.
  public override init() { super.init() }

  /// Makes a controller with haptics, for tests.
  public convenience init(haptics: GCDeviceHaptics?) {
    self.init()
    self.haptics = haptics
  }
}

extension Notification.Name {
  /// Posted where a controller was connected; never here.
  public static let GCControllerDidConnect = Notification.Name("GCControllerDidConnectNotification")
  /// Posted where a controller was disconnected; never here.
  public static let GCControllerDidDisconnect = Notification.Name(
    "GCControllerDidDisconnectNotification")
}
