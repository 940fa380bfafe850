internal import CoreHaptics

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
