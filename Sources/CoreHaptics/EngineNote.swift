package import HapticModel

/// One thing that an application asked of a virtual device, or that happened to it.
package struct EngineNote: Sendable {
  /// What it was; times are seconds on the device's clock.
  package enum Action: Sendable {
    case engineMade
    case engineStarted(playsHaptics: Bool, playsAudio: Bool, at: Double)
    case engineStartFailed(CHHapticError.Code)
    /// The reason is nil where the application requested the stop.
    case engineStopped(CHHapticEngine.StoppedReason?, at: Double)
    case engineReset
    case hapticsMuted(Bool, at: Double)
    case audioMuted(Bool, at: Double)
    case handlerCalled(Handler)
    case playerMade(HapticComposition, at: Double)
    /// The player was loaded into a session: seconds of a pass, and until nothing sounds any more.
    case playerLoaded(passLength: Double, length: Double, at: Double)
    case started(at: Double)
    case stopped(at: Double)
    case paused(at: Double)
    case resumed(at: Double)
    case cancelled(at: Double)
    case sought(to: Double, at: Double)
    /// The player has come to its end, by itself or by a stop.
    case ended(at: Double)
    /// The end is nil for the pattern's own.
    case looped(Bool, end: Double?, at: Double)
    case rateChanged(Double, at: Double)
    case playerMuted(Bool, at: Double)
    case sent(CHHapticDynamicParameter.ID, Float, at: Double)
    /// The curve's own time counts from `at`.
    case scheduled(ParameterCurve, at: Double)
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
  /// The engine's number on its device, from 1.
  package var engine: Int?
  /// The player's number on its device, from 1.
  package var player: Int?
  /// What it was.
  package var action: Action
}
