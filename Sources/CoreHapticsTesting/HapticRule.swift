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

  /// Whether a breach is one of this rule.
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
