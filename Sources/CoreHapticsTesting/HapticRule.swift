public import CoreHaptics
internal import Synchronization

/// A rule of phones that a virtual device does not enforce by itself.
public enum HapticRule: Hashable, Sendable {
  /// Handlers that belong to the main actor are not called off it. Needs `-enable-actor-data-race-checks` when the
  /// application is compiled; ``VirtualHapticDevice/ruleProblem`` says whether it can be checked.
  case handlersOnTheirActor
  /// An engine has a reset handler when it starts.
  case resetHandler
  /// An engine that plays is kept.
  case keptEngine
  /// Continuous events last 30 s at most.
  case eventLength
  /// Players are not used after a reset.
  case playersAfterReset
  /// Feedback generators are called on the main thread.
  case generatorsOnMainThread
  /// No member is used that is newer than a version of iOS, such as 15 or 17.4.
  case iOS(Double)

  func covers(_ breach: HapticBreach) -> Bool {
    switch (self, breach) {
    case (.handlersOnTheirActor, .handlerOffMainActor), (.resetHandler, .noResetHandler),
      (.keptEngine, .engineReleased), (.eventLength, .longEvent), (.playersAfterReset, .playerUsedAfterReset),
      (.generatorsOnMainThread, .generatorOffMainThread):
      true
    case (.iOS(let version), .newerAPI(_, let since)): (Double(since) ?? 0) > version
    default: false
    }
  }
}

extension Set<HapticRule> {
  /// All rules but that about a version of iOS.
  public static let all: Set<HapticRule> = [
    .handlersOnTheirActor, .resetHandler, .keptEngine, .eventLength, .playersAfterReset, .generatorsOnMainThread,
  ]
}

/// What works on a virtual device and breaks on a phone.
public typealias HapticBreach = EngineNote.Breach

extension EngineNote.Breach: CustomStringConvertible {
  /// One sentence that says what to do.
  public var description: String {
    switch self {
    case .handlerOffMainActor(let handler):
      "the \(handler.rawValue) handler belongs to the main actor and was called off it, which traps on a "
        + "phone; write { @Sendable … in Task { @MainActor in … } }"
    case .noResetHandler: "an engine was started without a reset handler; set one before the first start"
    case .engineReleased: "an engine was released while it played; keep it in a property"
    case .longEvent(let seconds): "a continuous event lasts \(thousandths(seconds)) s; a phone ends it after 30 s"
    case .playerUsedAfterReset: "a player was used after a reset of its engine; make new players in the reset handler"
    case .generatorOffMainThread: "a feedback generator was called off the main thread"
    case .newerAPI(let name, let version): "\(name) requires iOS \(version)"
    }
  }
}

extension VirtualHapticDevice {
  /// The rules of phones that a test checks; none at first.
  ///
  /// Set before the application makes its first engine. The trait `.virtualHaptics(rules:)` sets it, and fails the test
  /// for each breach.
  public var rules: Set<HapticRule> {
    get { ruleBox.rules.withLock { $0 } }
    set {
      ruleBox.rules.withLock { $0 = newValue }
      backend.faults.watchesIsolation = newValue.contains(.handlersOnTheirActor)
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

private final class RuleBox: Sendable { let rules = Mutex<Set<HapticRule>>([]) }
