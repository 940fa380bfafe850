internal import CoreHaptics
internal import Foundation

/// A rule of phones that a virtual device does not enforce by itself.
public enum HapticRule: Hashable, Sendable {
  /// Handlers that belong to the main actor are not called off it.
  ///
  /// Needs `-enable-actor-data-race-checks` when the application is compiled; ``VirtualHapticDevice/ruleProblem``
  /// says whether it can be checked.
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
public enum HapticBreach: Equatable, Sendable, CustomStringConvertible {
  /// A handler that the compiler took for one of the main actor was called off it; a phone traps.
  case handlerOffMainActor(HapticLog.Handler)
  /// An engine was started without a reset handler; on a phone it falls silent for good one day.
  case noResetHandler
  /// An engine was released while it played; a phone falls silent.
  case engineReleased
  /// A continuous event is longer than the 30 s that a phone plays.
  case longEvent(seconds: Double)
  /// A player was used after a reset of its engine.
  case playerUsedAfterReset
  /// A feedback generator was called off the main thread.
  case generatorOffMainThread
  /// A member was used that came with a version of iOS.
  case newerAPI(String, version: String)

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

  init(_ breach: EngineNote.Breach) {
    switch breach {
    case .handlerOffMainActor(let handler): self = .handlerOffMainActor(.init(handler))
    case .noResetHandler: self = .noResetHandler
    case .engineReleased: self = .engineReleased
    case .longEvent(let seconds): self = .longEvent(seconds: seconds)
    case .playerUsedAfterReset: self = .playerUsedAfterReset
    case .generatorOffMainThread: self = .generatorOffMainThread
    case .newerAPI(let name, let major, let minor):
      self = .newerAPI(name, version: minor == 0 ? "\(major)" : "\(major).\(minor)")
    }
  }
}

extension VirtualHapticDevice {
  /// The rules of phones that a test checks; none at first.
  ///
  /// Set before the application makes its first engine. The trait `.virtualHaptics(rules:)` sets it, and fails the test
  /// for each breach.
  public var rules: Set<HapticRule> {
    get { ruleBox.rules }
    set {
      ruleBox.rules = newValue
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

private final class RuleBox: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: Set<HapticRule> = []

  var rules: Set<HapticRule> {
    get { lock.withLock { stored } }
    set { lock.withLock { stored = newValue } }
  }
}
