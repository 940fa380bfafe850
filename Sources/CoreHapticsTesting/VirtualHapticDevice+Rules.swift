internal import CoreHaptics
internal import Synchronization

extension VirtualHapticDevice {
  /// The rules of phones that a test checks; none at first.
  ///
  /// Set before the application makes its first engine. The trait `.virtualHaptics(rules:)` sets it, and fails the test
  /// for each breach.
  public var rules: Set<HapticRule> {
    get { ruleBox.rules.withLock { $0 } }
    set {
      ruleBox.rules.withLock { $0 = newValue }
      backend.watchesIsolation = newValue.contains(.handlersOnTheirActor)
    }
  }

  private var ruleBox: RuleBox { backend.slot(RuleBox.self) { RuleBox() } }

  /// The breaches of the rules so far, in order.
  public var breaches: [HapticBreach] {
    let rules = rules
    return log.breaches.filter { breach in rules.contains { $0.covers(breach) } }
  }

  /// Why a rule cannot be checked, or nil where all can.
  public var ruleProblem: String? {
    guard rules.contains(.handlersOnTheirActor) else { return nil }
    return IsolationWatch.isAvailable
      ? nil
      : "this toolchain's runtime has no hook for isolation; .handlersOnTheirActor is not checked"
  }
}

/// The rules of a device, kept with it.
private final class RuleBox: Sendable {
  let rules = Mutex<Set<HapticRule>>([])
}
