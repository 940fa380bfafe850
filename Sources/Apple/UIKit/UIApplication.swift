internal import CoreHaptics
public import Foundation

/// The application, with only those properties that haptic code uses.
///
/// A test moves the application to the background and back.
@preconcurrency @MainActor open class UIApplication: UIResponder {
  /// The state of the application. The raw values are UIKit's.
  public enum State: Int, Sendable { case active, inactive, background }

  /// The application of the process.
  open class var shared: UIApplication { application }
  private static let application = UIApplication()

  /// The state of the application: in the background or active.
  ///
  /// The application is in the background if a test has moved its virtual device there.
  open var applicationState: State {
    EngineBackends.currentVirtualDevice?.isApplicationInBackground == true ? .background : .active
  }

  /// A Boolean value that indicates whether the idle timer is disabled.
  ///
  /// A disabled idle timer keeps the screen on. The value has no effect.
  open var isIdleTimerDisabled = false

  /// The notification that the application has become active, posted by the virtual device.
  public nonisolated static let didBecomeActiveNotification = notification("DidBecomeActive")

  /// The notification that the application is about to become inactive.
  ///
  /// The virtual device posts the notification.
  public nonisolated static let willResignActiveNotification = notification("WillResignActive")

  /// The notification that the application has entered the background.
  ///
  /// The virtual device posts the notification.
  public nonisolated static let didEnterBackgroundNotification = notification("DidEnterBackground")

  /// The notification that the application is about to leave the background.
  ///
  /// The virtual device posts the notification.
  public nonisolated static let willEnterForegroundNotification = notification(
    "WillEnterForeground")

  /// The notification that the application is about to terminate.
  ///
  /// On Linux, the notification is never posted.
  public nonisolated static let willTerminateNotification = notification("WillTerminate")

  private nonisolated static func notification(_ name: String) -> Notification.Name {
    Notification.Name("UIApplication\(name)Notification")
  }
}

/// The base class of objects that respond to events.
@preconcurrency @MainActor open class UIResponder: NSObject {
  /// Creates a responder.
  public nonisolated override init() { super.init() }
}

/// The device, with only those properties that haptic code uses.
@preconcurrency @MainActor open class UIDevice: NSObject {
  /// The device of the process.
  open class var current: UIDevice { device }

  private static let device = UIDevice()

  nonisolated override init() { super.init() }

  /// The kind of device: always a phone.
  open var userInterfaceIdiom: UIUserInterfaceIdiom { .phone }

  /// Returns the value of a private property by its key, if haptic code uses it.
  ///
  /// `_feedbackSupportLevel`, which older code uses, is 2 if haptics are available, otherwise 0.
  open func value(forKey key: String) -> Any? {
    guard key == "_feedbackSupportLevel" || key == "feedbackSupportLevel" else { return nil }
    return CHHapticEngine.capabilitiesForHardware().supportsHaptics ? 2 : 0
  }
}

/// A kind of device, such as a phone. The raw values are UIKit's.
public enum UIUserInterfaceIdiom: Int, Sendable { case unspecified = -1, phone, pad }

/// The accessibility settings that haptic code uses. All settings are off.
public enum UIAccessibility {
  /// A Boolean value that indicates whether motion is reduced.
  public static var isReduceMotionEnabled: Bool { false }
  /// A Boolean value that indicates whether VoiceOver is running.
  public static var isVoiceOverRunning: Bool { false }
  /// A Boolean value that indicates whether Switch Control is running.
  public static var isSwitchControlRunning: Bool { false }
}

/// A view that can be passed to feedback generators, but is never displayed.
@preconcurrency @MainActor open class UIView: UIResponder {
  /// The background color, which is not displayed.
  open var backgroundColor: UIColor?

  /// Creates a view.
  public nonisolated override init() { super.init() }

  /// Creates a view. Its frame is ignored.
  public convenience init(frame: CGRect) { self.init() }
}

/// A view controller that is never displayed, but whose methods a test can call.
@preconcurrency @MainActor open class UIViewController: UIResponder {
  /// The view of the controller, created on first use.
  open lazy var view = UIView()

  /// Creates a controller.
  public nonisolated override init() { super.init() }

  /// Creates a controller. Its file and bundle are ignored.
  public nonisolated init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {
    super.init()
  }

  /// Returns nil, because Temblor cannot decode view controllers.
  public nonisolated required init?(coder: NSCoder) { nil }

  /// Called after the view has loaded; subclasses can override the method.
  ///
  /// This class does nothing.
  open func viewDidLoad() {}
  /// Called before the view appears; subclasses can override the method.
  ///
  /// This class does nothing.
  open func viewWillAppear(_ animated: Bool) {}
  /// Called after the view has appeared; subclasses can override the method.
  ///
  /// This class does nothing.
  open func viewDidAppear(_ animated: Bool) {}
  /// Called before the view disappears; subclasses can override the method.
  ///
  /// This class does nothing.
  open func viewWillDisappear(_ animated: Bool) {}
  /// Called after the view has disappeared; subclasses can override the method.
  ///
  /// This class does nothing.
  open func viewDidDisappear(_ animated: Bool) {}
}

/// A color with the components red, green, blue, and opacity.
open class UIColor: NSObject, @unchecked Sendable {
  private let rgbaComponents: [CGFloat]

  /// Creates a color from red, green, blue, and opacity, each 0…1.
  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    rgbaComponents = [red, green, blue, alpha]
  }

  /// Creates a gray color from its white level and opacity, each 0…1.
  public convenience init(white: CGFloat, alpha: CGFloat) {
    self.init(red: white, green: white, blue: white, alpha: alpha)
  }

  /// Returns true if all four components of two colors are equal.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? UIColor)?.rgbaComponents == rgbaComponents
  }

  /// The hash of the color's components.
  open override var hash: Int { rgbaComponents.hashValue }

  /// The color black.
  open class var black: UIColor { UIColor(white: 0, alpha: 1) }
  /// The color white.
  open class var white: UIColor { UIColor(white: 1, alpha: 1) }
  /// The color black with an opacity of 0.
  open class var clear: UIColor { UIColor(white: 0, alpha: 0) }
  /// The color red.
  open class var red: UIColor { UIColor(red: 1, green: 0, blue: 0, alpha: 1) }
  /// The color green.
  open class var green: UIColor { UIColor(red: 0, green: 1, blue: 0, alpha: 1) }
  /// The color blue.
  open class var blue: UIColor { UIColor(red: 0, green: 0, blue: 1, alpha: 1) }
}
