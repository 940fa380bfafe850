internal import Foundation
package import HapticPlayback
internal import HapticRender

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

  /// Notes whether a player plays, is paused or waits for its start.
  func noteActivity(_ isActive: Bool)

  /// Fades out and closes the output; returns when that is done.
  func close()
}

extension EngineSession {
  /// Outputs in real time play on anyway.
  package func noteActivity(_ isActive: Bool) {}
}

/// The backend of new engines of this process.
package enum EngineBackends {
  /// The device of the test whose task this is, or of the engine whose handler runs.
  @TaskLocal package static var scoped: VirtualBackend?

  private static let installed = Locked<(any EngineBackend)?>(nil)
  /// Devices of tests that run.
  private static let running = Locked<[VirtualBackend]>([])
  /// What the environment names.
  private static let environment: any EngineBackend = {
    let asked = OutputConfiguration(ProcessInfo.processInfo.environment)
    return asked.output == nil ? VirtualBackend.shared : LiveBackend(asked)
  }()

  /// The task's device, else the one that was installed, else that of the only test that runs, else
  /// what the environment names.
  ///
  /// Where several tests run and none can be named, a device that belongs to no test.
  package static var current: any EngineBackend {
    if let scoped { return scoped }
    if let installed = installed.withLock({ $0 }) { return installed }
    let tests = running.withLock { $0 }
    switch tests.count {
    case 0: return environment
    case 1: return tests[0]
    default: return VirtualBackend.stray
    }
  }

  /// The backend of a new engine; running tests are notified where it could be any of theirs.
  static func takeCurrent() -> any EngineBackend {
    let current = current
    if current === VirtualBackend.stray { for test in running.withLock({ $0 }) { test.noteStrayEngine() } }
    return current
  }

  /// The virtual device that a call of now plays on, reported like a new engine's; nil in real time.
  package static func takeVirtual() -> VirtualBackend? { takeCurrent() as? VirtualBackend }

  /// The virtual device of here and now, or nil where engines play in real time.
  package static var virtual: VirtualBackend? { current as? VirtualBackend }

  /// Writes down that a member was used that came with a version of iOS.
  package static func noteNewAPI(_ name: String, iOS major: Int, _ minor: Int = 0) {
    virtual?.note(.breach(.newerAPI(name: name, major: major, minor: minor)))
  }

  /// Sets the backend of engines made from now on; nil returns to the environment's.
  package static func use(_ backend: (any EngineBackend)?) {
    let old = installed.withLock { installed in
      let old = installed
      installed = backend
      return old
    }
    if old !== backend { (old as? VirtualBackend)?.releaseSlots() }
  }

  /// Counts the device of a test among those that run.
  package static func begin(_ backend: VirtualBackend) { running.withLock { $0.append(backend) } }

  /// Ends the device of a test: engines that outlive it move to the next one.
  package static func end(_ backend: VirtualBackend) {
    running.withLock { $0.removeAll { $0 === backend } }
    backend.end()
  }
}
