internal import Foundation
package import HapticPlayback
internal import HapticRender
internal import Synchronization

/// Where engines play: an output, and the time that goes by there.
package protocol EngineBackend: AnyObject, Sendable {
  /// Whether an output can be had.
  var isAvailable: Bool { get }

  /// Opens an output and plays through it until the session is closed.
  func open(_ request: SessionRequest) throws -> any EngineSession

  /// Calls a closure once after some seconds of its time, on any thread.
  func after(_ seconds: Double, _ body: @escaping @Sendable () -> Void)
}

/// What an engine requests of its backend.
package struct SessionRequest: Sendable {
  /// Whether audio is left out.
  package var playsHapticsOnly: Bool
  /// Whether haptics are left out.
  package var playsAudioOnly: Bool
  /// Called with what happens at the output, on any thread.
  package var eventHandler: @Sendable (SessionEvent) -> Void
}

/// What happens at an output.
package enum SessionEvent: Sendable {
  /// The device went away.
  case deviceDisconnected
  /// The device is back.
  case deviceReconnected
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

/// The backend of new engines of this process.
package enum EngineBackends {
  private static let chosen = Mutex<(any EngineBackend)?>(nil)

  /// The backend that a test has set, or the one that the environment names.
  package static var current: any EngineBackend {
    chosen.withLock { backend in
      if let backend { return backend }
      let asked = OutputConfiguration(ProcessInfo.processInfo.environment)
      let made: any EngineBackend =
        asked.output == nil ? VirtualBackend.shared : LiveBackend(asked)
      backend = made
      return made
    }
  }

  /// Sets the backend of engines made from now on; nil returns to the environment's.
  package static func use(_ backend: (any EngineBackend)?) { chosen.withLock { $0 = backend } }
}
