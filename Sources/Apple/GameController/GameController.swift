public import CoreHaptics
public import Foundation

/// A locality: the part of a game controller in which haptics are felt.
public struct GCHapticsLocality: RawRepresentable, Hashable, Sendable {
  /// The name of the locality on Apple's systems.
  public let rawValue: String

  /// Creates a locality from its name, which may be unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The default locality of the controller.
  public static let `default` = GCHapticsLocality(rawValue: "Default")
  /// The locality of all actuators of the game pad.
  public static let all = GCHapticsLocality(rawValue: "All")
  /// The locality of both handles.
  public static let handles = GCHapticsLocality(rawValue: "Handles")
  /// The locality of the left handle.
  public static let leftHandle = GCHapticsLocality(rawValue: "LeftHandle")
  /// The locality of the right handle.
  public static let rightHandle = GCHapticsLocality(rawValue: "RightHandle")
  /// The locality of both triggers.
  public static let triggers = GCHapticsLocality(rawValue: "Triggers")
  /// The locality of the left trigger.
  public static let leftTrigger = GCHapticsLocality(rawValue: "LeftTrigger")
  /// The locality of the right trigger.
  public static let rightTrigger = GCHapticsLocality(rawValue: "RightTrigger")
}

/// The duration that represents haptics without an end.
public let GCHapticDurationInfinite: Float = .infinity

/// The haptics of a game controller.
open class GCDeviceHaptics: NSObject {
  /// The localities for which engines can be created.
  open var supportedLocalities: Set<GCHapticsLocality> { [.default, .all] }

  /// Creates an engine for a locality, on the output of the process.
  ///
  /// Returns nil if the controller does not have the locality.
  open func createEngine(withLocality locality: GCHapticsLocality) -> CHHapticEngine? {
    supportedLocalities.contains(locality) ? try? CHHapticEngine() : nil
  }
}

/// A game controller, with only those properties that haptic code uses.
///
/// No controller is ever connected: `controllers()` is empty. A test creates a controller, with or
/// without haptics.
open class GCController: NSObject {
  /// The connected controllers: always an empty array.
  open class func controllers() -> [GCController] { [] }

  /// The most recently used controller: always nil.
  open class var current: GCController? { nil }

  /// The haptics of the controller, or nil for a controller without haptics.
  open var haptics: GCDeviceHaptics?

  /// The name of the controller's vendor, or nil if it is unknown.
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
  /// The name of the notification about a connected controller.
  ///
  /// On Linux, the notification is never posted.
  public static let GCControllerDidConnect = Notification.Name("GCControllerDidConnectNotification")
  /// The name of the notification about a disconnected controller.
  ///
  /// On Linux, the notification is never posted.
  public static let GCControllerDidDisconnect = Notification.Name(
    "GCControllerDidDisconnectNotification")
}
