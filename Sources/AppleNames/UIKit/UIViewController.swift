public import Foundation

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
  public nonisolated init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) { super.init() }

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
  public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat) { components = [red, green, blue, alpha] }

  /// A grey with an opacity, 0…1.
  public convenience init(white: CGFloat, alpha: CGFloat) {
    self.init(red: white, green: white, blue: white, alpha: alpha)
  }

  /// Whether all four numbers are equal.
  open override func isEqual(_ object: Any?) -> Bool { (object as? UIColor)?.components == components }

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
