internal import Synchronization
@_exported public import CoreHaptics

/// A log of an application's calls on a virtual device, and of the device's events, in order.
public struct HapticLog: Equatable, Sendable, RandomAccessCollection, CustomStringConvertible {
  /// An entry of the log: a call of the application, or an event of the device.
  public typealias Entry = HapticLogEntry
  /// The action of an entry: the call or event with its arguments.
  public typealias Action = HapticLogEntry.Action
  /// A kind of handler of the application that the engine calls.
  public typealias HandlerKind = HapticLogEntry.HandlerKind
  /// A call of a feedback generator, with its style or type.
  public typealias FeedbackGeneratorCall = HapticLogEntry.FeedbackGeneratorCall
  /// A kind of feedback generator.
  public typealias FeedbackGeneratorKind = HapticLogEntry.FeedbackGeneratorKind

  var storedEntries: [Entry]

  /// The index of the first entry, 0.
  public var startIndex: Int { 0 }
  /// The index after the last entry.
  public var endIndex: Int { storedEntries.count }
  /// The entry at an index.
  public subscript(index: Int) -> Entry { storedEntries[index] }

  /// A description with one line for each entry.
  public var description: String {
    isEmpty ? "nothing happened" : storedEntries.map(\.description).joined(separator: "\n")
  }

  /// The actions of all entries, in order.
  ///
  /// They have no times and no numbers of engines and players.
  public var actions: [Action] { storedEntries.map(\.action) }

  /// The number of engines that the application has created.
  public var engineCount: Int { storedEntries.count { $0.action == .engineMade } }

  /// The number of engine starts that succeeded.
  public var startCount: Int { storedEntries.count { $0.action == .engineStarted } }

  /// The number of players that the application has created.
  public var playerCount: Int {
    storedEntries.count {
      if case .playerMade = $0.action {
        true
      } else {
        false
      }
    }
  }

  /// The number of times that any player was started.
  public var playerStartCount: Int {
    storedEntries.count {
      if case .started = $0.action {
        true
      } else {
        false
      }
    }
  }

  /// Returns the values that were sent for a dynamic parameter, in order.
  public func values(of id: CHHapticDynamicParameter.ID) -> [Float] {
    actions.compactMap {
      if case .sent(id, let value, _) = $0 {
        value
      } else {
        nil
      }
    }
  }

  /// The calls of feedback generators, in order.
  public var generators: [FeedbackGeneratorCall] {
    actions.compactMap {
      if case .generator(let call) = $0 {
        call
      } else {
        nil
      }
    }
  }

  /// The feedback generators that the application has prepared, in order.
  public var preparations: [FeedbackGeneratorKind] {
    actions.compactMap {
      if case .prepared(let generator) = $0 {
        generator
      } else {
        nil
      }
    }
  }

  /// The numbers of the system sounds that were played, in order.
  public var systemSounds: [Int] {
    actions.compactMap {
      if case .systemSound(let number) = $0 {
        number
      } else {
        nil
      }
    }
  }

  /// The reasons for the stops of engines, in order.
  ///
  /// A reason is nil for a stop that the application requested.
  public var stops: [CHHapticEngine.StoppedReason?] {
    actions.compactMap {
      if case .engineStopped(let reason) = $0 {
        .some(reason)
      } else {
        nil
      }
    }
  }

  /// The logged rule violations: uses that work on a virtual device but fail on a phone, in order.
  public var violations: [HapticViolation] {
    actions.compactMap {
      if case .violation(let violation) = $0 {
        violation
      } else {
        nil
      }
    }
  }
}

extension HapticLogEntry: CustomStringConvertible {
  /// A description of the entry, such as `0.300 s  engine 1: stopped by audioSessionInterrupt`.
  public var description: String {
    let engineName = engineNumber.map { "engine \($0)" }
    let playerName = playerNumber.map { "player \($0)" }
    let ownerNames = [engineName, playerName].compactMap { $0 }
    return "\(textRoundedToThousandths(time)) s  "
      + (ownerNames.isEmpty ? "" : ownerNames.joined(separator: ", ") + ": ")
      + "\(action)"
  }
}

extension HapticLogEntry.Action: CustomStringConvertible {
  /// A description of the action, such as `stopped by audioSessionInterrupt`.
  public var description: String {
    switch self {
    case .engineMade:
      "made"
    case .engineStarted:
      "started"
    case .engineStartFailed(let code):
      "start failed with \(code)"
    case .engineStopped(let reason):
      reason.map { "stopped by \($0)" } ?? "stopped on request"
    case .engineReset:
      "reset"
    case .hapticsMuted(let isMuted):
      isMuted ? "haptics muted" : "haptics unmuted"
    case .audioMuted(let isMuted):
      isMuted ? "audio muted" : "audio unmuted"
    case .handlerCalled(let handler):
      "\(handler.rawValue) handler called"
    case .playerMade(let count):
      "created with \(count) event\(count == 1 ? "" : "s")"
    case .started(let time):
      "started at \(textRoundedToThousandths(time)) s"
    case .stopped(let time):
      "stopped at \(textRoundedToThousandths(time)) s"
    case .paused(let time):
      "paused at \(textRoundedToThousandths(time)) s"
    case .resumed(let time):
      "resumed at \(textRoundedToThousandths(time)) s"
    case .sought(let offset):
      "sought to \(textRoundedToThousandths(offset)) s of the pattern"
    case .cancelled:
      "canceled"
    case .ended(let time):
      "ended at \(textRoundedToThousandths(time)) s"
    case .looping(let isOn):
      isOn ? "loops" : "does not loop"
    case .rate(let rate):
      "playback rate \(textRoundedToThousandths(rate))"
    case .muted(let isMuted):
      isMuted ? "muted" : "unmuted"
    case .sent(let id, let value, let time):
      "\(id.rawValue) \(textRoundedToThousandths(Double(value))) sent for "
        + "\(textRoundedToThousandths(time)) s"
    case .scheduledCurve(let id, let time):
      "curve of \(id.rawValue) scheduled for \(textRoundedToThousandths(time)) s"
    case .generator(let call):
      "generator: \(call)"
    case .prepared(.impact(let style)):
      "generator prepared: impact \(style.rawValue)"
    case .prepared(let generator):
      "generator prepared: \(generator)"
    case .systemSound(let number):
      "system sound \(number)"
    case .application(let name):
      "application: \(name)"
    case .violation(let violation):
      "\(violation)"
    }
  }
}

extension HapticLogEntry.FeedbackGeneratorCall: CustomStringConvertible {
  /// A description of the call, such as `impact heavy, intensity 0.700`.
  public var description: String {
    switch self {
    case .impact(let style, let intensity):
      "impact \(style.rawValue)"
        + (intensity == 1 ? "" : ", intensity \(textRoundedToThousandths(intensity))")
    case .notification(let type):
      "notification \(type.rawValue)"
    case .selection:
      "selection"
    case .alignment:
      "alignment"
    case .pathCompleted:
      "path completed"
    case .named(let name, let intensity):
      name + (intensity == 1 ? "" : ", intensity \(textRoundedToThousandths(intensity))")
    }
  }
}

/// A rule that phones enforce but a virtual device does not.
public enum HapticRule: Hashable, Sendable {
  /// A rule: handlers that are isolated to the main actor run on it.
  ///
  /// The check requires that the application is compiled with `-enable-actor-data-race-checks`.
  /// ``VirtualHapticDevice/ruleProblem`` reports whether the check is possible.
  case handlersOnTheirActor
  /// A rule: an engine has a reset handler before it starts a player or is reset.
  case resetHandler
  /// A rule: an engine is not released while it plays.
  case engineRetainedDuringPlayback
  /// A rule: continuous events last at most 30 s, the maximum on a phone.
  case eventLength
  /// A rule: players are not used after a reset of their engine.
  case playersAfterReset
  /// A rule: feedback generators are called on the main thread.
  case generatorsOnMainThread
  /// A rule: no used declaration requires a version of iOS newer than the given version, such as 15
  /// or 17.4.
  case iOS(Double)

  func forbids(_ violation: HapticViolation) -> Bool {
    switch (self, violation) {
    case (.handlersOnTheirActor, .handlerOffMainActor), (.resetHandler, .noResetHandler),
      (.engineRetainedDuringPlayback, .engineReleased), (.eventLength, .longEvent),
      (.playersAfterReset, .playerUsedAfterReset),
      (.generatorsOnMainThread, .generatorOffMainThread):
      true
    case (.iOS(let version), .newerAPI(_, let since)):
      (Double(since) ?? 0) > version
    default:
      false
    }
  }
}

extension Set<HapticRule> {
  /// The set of all rules except the rule of an iOS version.
  public static let all: Set<HapticRule> = [
    .handlersOnTheirActor, .resetHandler, .engineRetainedDuringPlayback, .eventLength,
    .playersAfterReset,
    .generatorsOnMainThread,
  ]
}

/// A rule violation: a use that works on a virtual device but fails on a phone.
public typealias HapticViolation = HapticLogEntry.Violation

extension HapticLogEntry.Violation: CustomStringConvertible {
  /// The message of the violation, which is a sentence with a remedy.
  public var description: String {
    switch self {
    case .handlerOffMainActor(let handler):
      """
      the \(handler.rawValue) handler is isolated to the main actor but was called off it, which \
      crashes on an iPhone; write { @Sendable … in Task { @MainActor in … } }
      """
    case .noResetHandler:
      "an engine without a reset handler was used; set one before the first player starts"
    case .engineReleased:
      "an engine was released while it played; keep it in a property"
    case .longEvent(let seconds):
      "a continuous event lasts \(textRoundedToThousandths(seconds)) s; "
        + "an iPhone ends it after 30 s"
    case .playerUsedAfterReset:
      "a player was used after its engine was reset; create new players in the reset handler"
    case .generatorOffMainThread:
      "a feedback generator was called off the main thread"
    case .newerAPI(let name, let version):
      "\(name) requires iOS \(version)"
    }
  }
}

extension VirtualHapticDevice {
  /// The rules of phones that the device checks during a test. By default, no rule is checked.
  ///
  /// Set the rules before the application creates its first engine. The trait
  /// `.virtualHaptics(rules:)` sets them, and fails the test for each violation.
  public var rules: Set<HapticRule> {
    get { ruleStorage.rules.withLock { $0 } }
    set {
      ruleStorage.rules.withLock { $0 = newValue }
      backend.injectedFaults.detectsIsolationViolations = newValue.contains(.handlersOnTheirActor)
    }
  }

  private var ruleStorage: RuleStorage {
    backend.sharedObject(ofType: RuleStorage.self) { RuleStorage() }
  }

  /// The violations of the rules so far, in order.
  ///
  /// The release of an engine counts when the clock has advanced.
  public var violations: [HapticViolation] {
    let rules = rules
    let now = now
    return log.compactMap { entry in
      guard case .violation(let violation) = entry.action,
        rules.contains(where: { $0.forbids(violation) })
      else { return nil }
      // An engine that is released at the end of a test was not lost by the application.
      if violation == .engineReleased, entry.time >= now { return nil }
      return violation
    }
  }

  /// The reason that one of the rules cannot be checked, or nil if all can be checked.
  public var ruleProblem: String? {
    guard rules.contains(.handlersOnTheirActor) else { return nil }
    return IsolationMonitor.isExecutorCheckHookAvailable
      ? nil
      : """
      the runtime of this toolchain has no isolation hook, so .handlersOnTheirActor is not checked
      """
  }
}

private final class RuleStorage: Sendable { let rules = Mutex<Set<HapticRule>>([]) }
