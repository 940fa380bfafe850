package import HapticPlayback
internal import HapticRender

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
