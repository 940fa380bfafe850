/// One thing that an application asked of a virtual device, or that happened to it.
package struct EngineNote: Sendable {
  /// What it was; `at` is when it takes effect, in seconds on the device's clock.
  package enum Action: Sendable {
    case engineMade
    case engineStarted
    case engineStartFailed(CHHapticError.Code)
    /// The reason is nil where the application requested the stop.
    case engineStopped(CHHapticEngine.StoppedReason?)
    case engineReset
    case hapticsMuted(Bool)
    case audioMuted(Bool)
    case handlerCalled(Handler)
    case playerMade(eventCount: Int)
    case started(at: Double)
    case stopped(at: Double)
    case paused(at: Double)
    case resumed(at: Double)
    case cancelled
    case sought(to: Double)
    /// The player has come to its end, by itself or by a stop.
    case ended(at: Double)
    case looped(Bool)
    case rateChanged(Double)
    case playerMuted(Bool)
    case sent(CHHapticDynamicParameter.ID, Float, at: Double)
    case scheduled(CHHapticDynamicParameter.ID, at: Double)
    case generatorCalled(name: String, intensity: Double)
    case systemSoundPlayed(Int)
    case breach(Breach)
  }

  /// The handlers of an application that an engine calls.
  package enum Handler: String, Sendable { case start, stop, finished, stopped, reset, completion }

  /// What works on a virtual device and breaks on a phone.
  package enum Breach: Equatable, Sendable {
    case handlerOffMainActor(Handler)
    case noResetHandler
    case engineReleased
    case longEvent(seconds: Double)
    case playerUsedAfterReset
    case generatorOffMainThread(name: String)
    case newerAPI(name: String, major: Int, minor: Int)
  }

  /// Seconds on the device's clock.
  package var time: Double
  /// Numbers on the device, from 1.
  package var engine: Int?
  package var player: Int?
  package var action: Action
}
