internal import CoreHaptics
public import Foundation

/// The application, as far as haptic code follows its life: a test moves it to the background and
/// back.
@preconcurrency @MainActor open class UIApplication: UIResponder {
  /// Whether the application is in front, receives nothing, or is not in front; raw values are
  /// UIKit's.
  public enum State: Int, Sendable { case active, inactive, background }

  /// The application of this process.
  open class var shared: UIApplication { application }
  private static let application = UIApplication()

  /// Where it is: active, but in the background where the virtual device of a test is.
  open var applicationState: State {
    EngineBackends.virtual?.isInBackground == true ? .background : .active
  }

  /// Whether the screen stays on; kept, and not regarded.
  open var isIdleTimerDisabled = false

  /// Posted where the application has become active: by the virtual device, as are the others.
  public nonisolated static let didBecomeActiveNotification = notification("DidBecomeActive")

  /// Posted where the application is about to become inactive.
  public nonisolated static let willResignActiveNotification = notification("WillResignActive")

  /// Posted where the application has gone to the background.
  public nonisolated static let didEnterBackgroundNotification = notification("DidEnterBackground")

  /// Posted where the application is about to come from the background.
  public nonisolated static let willEnterForegroundNotification = notification(
    "WillEnterForeground")

  /// Posted where the application is about to end; never here.
  public nonisolated static let willTerminateNotification = notification("WillTerminate")

  private nonisolated static func notification(_ name: String) -> Notification.Name {
    Notification.Name("UIApplication\(name)Notification")
  }
}

/// What an object of an application receives events as.
@preconcurrency @MainActor open class UIResponder: NSObject {
  /// Makes a responder.
  public nonisolated override init() { super.init() }
}

/// The device, as far as haptic code asks what it can do.
@preconcurrency @MainActor open class UIDevice: NSObject {
  /// The device of this process.
  open class var current: UIDevice { device }

  private static let device = UIDevice()

  nonisolated override init() { super.init() }

  /// The kind of device.
  open var userInterfaceIdiom: UIUserInterfaceIdiom { .phone }

  /// A value by its name: `_feedbackSupportLevel`, which old code asks for, is 2 where haptics are
  /// there, else 0.
  open func value(forKey key: String) -> Any? {
    guard key == "_feedbackSupportLevel" || key == "feedbackSupportLevel" else { return nil }
    return CHHapticEngine.capabilitiesForHardware().supportsHaptics ? 2 : 0
  }
}

/// A kind of device; raw values are UIKit's.
public enum UIUserInterfaceIdiom: Int, Sendable { case unspecified = -1, phone, pad }

/// What the user has chosen, as far as haptic code regards it; nothing is chosen here.
public enum UIAccessibility {
  /// Whether motion is to be reduced.
  public static var isReduceMotionEnabled: Bool { false }
  /// Whether the screen is read aloud.
  public static var isVoiceOverRunning: Bool { false }
  /// Whether a switch is used.
  public static var isSwitchControlRunning: Bool { false }
}

/// A view, as far as feedback generators are given one: nothing is shown.
@preconcurrency @MainActor open class UIView: UIResponder {
  /// The background, which nobody sees.
  open var backgroundColor: UIColor?

  /// Makes a view.
  public nonisolated override init() { super.init() }

  /// Makes a view; the frame is not regarded.
  public convenience init(frame: CGRect) { self.init() }
}

/// A view controller, whose methods a test may call.
@preconcurrency @MainActor open class UIViewController: UIResponder {
  /// A view, made when it is first asked for.
  open lazy var view = UIView()

  /// Makes a controller.
  public nonisolated override init() { super.init() }

  /// Makes a controller; file and bundle are not regarded.
  public nonisolated init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {
    super.init()
  }

  /// Makes nothing: controllers are not decoded here.
  public nonisolated required init?(coder: NSCoder) { nil }

  /// Does nothing.
  open func viewDidLoad() {}
  /// Does nothing.
  open func viewWillAppear(_ animated: Bool) {}
  /// Does nothing.
  open func viewDidAppear(_ animated: Bool) {}
  /// Does nothing.
  open func viewWillDisappear(_ animated: Bool) {}
  /// Does nothing.
  open func viewDidDisappear(_ animated: Bool) {}
}

/// A colour as four numbers.
open class UIColor: NSObject, @unchecked Sendable {
  private let components: [CGFloat]

  /// A colour of red, green, blue and opacity, 0…1.
  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) {
    components = [red, green, blue, alpha]
  }

  /// A grey with an opacity, 0…1.
  public convenience init(white: CGFloat, alpha: CGFloat) {
    self.init(red: white, green: white, blue: white, alpha: alpha)
  }

  /// Whether all four numbers are equal.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? UIColor)?.components == components
  }

  /// Hashes the numbers.
  open override var hash: Int { components.hashValue }

  /// Black.
  open class var black: UIColor { UIColor(white: 0, alpha: 1) }
  /// White.
  open class var white: UIColor { UIColor(white: 1, alpha: 1) }
  /// Nothing.
  open class var clear: UIColor { UIColor(white: 0, alpha: 0) }
  /// Red.
  open class var red: UIColor { UIColor(red: 1, green: 0, blue: 0, alpha: 1) }
  /// Green.
  open class var green: UIColor { UIColor(red: 0, green: 1, blue: 0, alpha: 1) }
  /// Blue.
  open class var blue: UIColor { UIColor(red: 0, green: 0, blue: 1, alpha: 1) }
}
