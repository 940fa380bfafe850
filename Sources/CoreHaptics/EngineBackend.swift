internal import Foundation
package import HapticPlayback
internal import HapticRender
internal import Synchronization

/// What engines stand on: an output, and the time that goes by there.
package protocol EngineBackend: AnyObject, Sendable {
  /// Whether an output can be had.
  var isAvailable: Bool { get }

  /// Opens an output and plays through it until the session is closed.
  func open(_ request: SessionRequest) throws -> any EngineSession

  /// Calls a closure once after some seconds of the ground's time, on any thread.
  func after(_ seconds: Double, _ body: @escaping @Sendable () -> Void)
}

/// What an engine asks of its ground.
package struct SessionRequest: Sendable {
  /// Whether audio is left out.
  package var playsHapticsOnly: Bool
  /// Whether haptics are left out.
  package var playsAudioOnly: Bool
  /// Is told what happens at the output, on any thread.
  package var eventHandler: @Sendable (SessionEvent) -> Void
}

/// What happens at an output.
package enum SessionEvent: Sendable {
  /// The device went away.
  case lost
  /// The device is back.
  case returned
  /// The output has ended for good.
  case ended
}

/// A running output with the engine that plays through it.
package protocol EngineSession: AnyObject, Sendable {
  /// The engine.
  var engine: PlaybackEngine { get }

  /// Fades out and closes the output; returns when that is done.
  func close()
}

/// Which ground new engines of this process stand on.
package enum EngineBackends {
  private static let chosen = Mutex<(any EngineBackend)?>(nil)

  /// The ground that a test has put in place, or the one the environment asks for.
  package static var current: any EngineBackend {
    chosen.withLock { ground in
      if let ground { return ground }
      let asked = OutputConfiguration(ProcessInfo.processInfo.environment)
      let made: any EngineBackend =
        asked.output == nil ? VirtualBackend.shared : LiveBackend(asked)
      ground = made
      return made
    }
  }

  /// Puts another ground in place for engines made from now on; nothing returns to the environment's.
  package static func use(_ ground: (any EngineBackend)?) { chosen.withLock { $0 = ground } }
}
