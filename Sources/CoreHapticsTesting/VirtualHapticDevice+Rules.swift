internal import CoreHaptics
internal import Foundation

extension VirtualHapticDevice {
  /// The rules of phones that a test checks; none at first.
  ///
  /// Set before the application makes its first engine. The trait `.virtualHaptics(rules:)` sets it, and fails the test
  /// for each breach.
  public var rules: Set<HapticRule> {
    get { ruleBox.rules }
    set {
      ruleBox.rules = newValue
      backend.watchesIsolation = newValue.contains(.handlersOnTheirActor)
    }
  }

  private var ruleBox: RuleBox { backend.slot(RuleBox.self) { RuleBox() } }

  /// The breaches of the rules so far, in order; the release of an engine counts once time has gone on.
  public var breaches: [HapticBreach] {
    let (rules, now) = (rules, now)
    return log.compactMap { entry in
      guard case .breach(let breach) = entry.action, rules.contains(where: { $0.covers(breach) }) else { return nil }
      // What a test releases as it ends is not what an application failed to keep.
      if breach == .engineReleased, entry.time >= now { return nil }
      return breach
    }
  }

  /// Why a rule cannot be checked, or nil where all can.
  public var ruleProblem: String? {
    guard rules.contains(.handlersOnTheirActor) else { return nil }
    return IsolationWatch.isAvailable
      ? nil : "this toolchain's runtime has no hook for isolation; .handlersOnTheirActor is not checked"
  }
}

/// The rules of a device, kept with it.
private final class RuleBox: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: Set<HapticRule> = []

  var rules: Set<HapticRule> {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }
}
