internal import CoreHaptics
public import Foundation

/// The application, as far as haptic code follows its life: a test moves it to the background and back.
@preconcurrency @MainActor open class UIApplication: UIResponder {
  /// Whether the application is in front, receives nothing, or is not in front; raw values are UIKit's.
  public enum State: Int, Sendable { case active, inactive, background }

  /// The application of this process.
  open class var shared: UIApplication { application }

  private static let application = UIApplication()

  /// Where it is: active, but in the background where the virtual device of a test is.
  open var applicationState: State { EngineBackends.virtual?.isInBackground == true ? .background : .active }

  /// Whether the screen stays on; kept, and not regarded.
  open var isIdleTimerDisabled = false

  /// Posted where the application has become active: by the virtual device, as are the others.
  public nonisolated static let didBecomeActiveNotification = Notification.Name(
    "UIApplicationDidBecomeActiveNotification")

  /// Posted where the application is about to become inactive.
  public nonisolated static let willResignActiveNotification = Notification.Name(
    "UIApplicationWillResignActiveNotification")

  /// Posted where the application has gone to the background.
  public nonisolated static let didEnterBackgroundNotification = Notification.Name(
    "UIApplicationDidEnterBackgroundNotification")

  /// Posted where the application is about to come from the background.
  public nonisolated static let willEnterForegroundNotification = Notification.Name(
    "UIApplicationWillEnterForegroundNotification")

  /// Posted where the application is about to end; never here.
  public nonisolated static let willTerminateNotification = Notification.Name("UIApplicationWillTerminateNotification")
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

  /// Makes a device.
  nonisolated override init() { super.init() }

  /// The kind of device.
  open var userInterfaceIdiom: UIUserInterfaceIdiom { .phone }

  /// A value by its name: `_feedbackSupportLevel`, which old code asks for, is 2 where haptics are there, else 0.
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
