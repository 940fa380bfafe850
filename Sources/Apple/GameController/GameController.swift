public import CoreHaptics
public import Foundation

/// The location of haptics in a controller.
public struct GCHapticsLocality: RawRepresentable, Hashable, Sendable {
  /// The name on Apple's systems.
  public let rawValue: String

  /// Creates a locality from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The default of the controller.
  public static let `default` = GCHapticsLocality(rawValue: "Default")
  /// The locality of all actuators of the game pad.
  public static let all = GCHapticsLocality(rawValue: "All")
  /// The locality of both handles.
  public static let handles = GCHapticsLocality(rawValue: "Handles")
  /// The left handle.
  public static let leftHandle = GCHapticsLocality(rawValue: "LeftHandle")
  /// The right handle.
  public static let rightHandle = GCHapticsLocality(rawValue: "RightHandle")
  /// The locality of both triggers.
  public static let triggers = GCHapticsLocality(rawValue: "Triggers")
  /// The left trigger.
  public static let leftTrigger = GCHapticsLocality(rawValue: "LeftTrigger")
  /// The right trigger.
  public static let rightTrigger = GCHapticsLocality(rawValue: "RightTrigger")
}

/// The duration of haptics without end.
public let GCHapticDurationInfinite: Float = .infinity

/// The haptics of a controller.
open class GCDeviceHaptics: NSObject {
  /// The localities for which engines can be created.
  open var supportedLocalities: Set<GCHapticsLocality> { [.default, .all] }

  /// Creates an engine on the output of the process, or returns nil for a locality that the
  /// controller does not have.
  open func createEngine(withLocality locality: GCHapticsLocality) -> CHHapticEngine? {
    supportedLocalities.contains(locality) ? try? CHHapticEngine() : nil
  }
}

/// A game controller, with the parts that haptic code uses.
///
/// No controller is ever connected: `controllers()` is empty. A test creates a controller, with or
/// without haptics.
open class GCController: NSObject {
  /// The connected controllers: none.
  open class func controllers() -> [GCController] { [] }

  /// The most recently used controller: none.
  open class var current: GCController? { nil }

  /// The haptics of the controller, or nil.
  open var haptics: GCDeviceHaptics?

  /// The name of the vendor, or nil.
  open var vendorName: String?

  /// Creates a controller without haptics.
  public override init() { super.init() }

  /// Creates a controller with haptics, for tests.
  public convenience init(haptics: GCDeviceHaptics?) {
    self.init()
    self.haptics = haptics
  }
}

extension Notification.Name {
  /// Posted when a controller was connected; never on Linux.
  public static let GCControllerDidConnect = Notification.Name("GCControllerDidConnectNotification")
  /// Posted when a controller was disconnected; never on Linux.
  public static let GCControllerDidDisconnect = Notification.Name(
    "GCControllerDidDisconnectNotification")
}
