@_exported public import Combine
@_exported public import Foundation
@_exported public import QuartzCore
internal import CoreHaptics
package import HapticManagement

/// What feedback generators have in common: the interface of UIKit's class of this name.
///
/// What they play is Temblor's own, from the shipped patterns: the number of taps is that which Apple publishes, their
/// strength and sharpness are not measured on any device. All generators of a process share one engine, which starts
/// at the first use and stops by itself; in a test with a virtual device they share one of that device. Where there is
/// no device they are silent.
@preconcurrency @MainActor open class UIFeedbackGenerator: NSObject {
  private nonisolated let ownLife: EngineLife?

  /// The engine that plays, started and restarted where it must be.
  var life: EngineLife { ownLife ?? .shared }

  /// Makes a generator.
  public nonisolated override init() {
    ownLife = nil
    super.init()
  }

  /// Makes a generator for a view, which is not regarded; iOS 17.5.
  public convenience init(view: UIView) {
    self.init()
    EngineBackends.noteNewAPI("UIFeedbackGenerator(view:)", iOS: 17, 5)
  }

  package nonisolated init(life: EngineLife) {
    ownLife = life
    super.init()
  }

  /// Starts the engine, so that the first feedback comes without delay; need not be called.
  open func prepare() {
    EngineBackends.virtual?.note(.prepared(.init(name: kind)))
    life.prepare()
  }

  /// What the record calls the generator.
  nonisolated var kind: String { "generator" }

  /// Plays a shipped pattern at a part of its strength, 0…1, and writes the call down where there is a record.
  ///
  /// - Parameter name: What the call is, where several play one pattern.
  func play(_ pattern: String, as name: String? = nil, intensity: CGFloat = 1) {
    if !MainQueue.isCurrent { EngineBackends.virtual?.note(.breach(.generatorOffMainThread)) }
    life.play(shipped: pattern, as: name ?? pattern, intensity: Double(intensity))
  }
}

/// The main queue, which a test process may serve from any thread.
private enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true || Thread.isMainThread }
}
