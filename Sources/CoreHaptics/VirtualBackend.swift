internal import Foundation
package import HapticPlayback
package import HapticRender
internal import Synchronization

/// Outputs in memory, in a time that only `advance` moves.
package final class VirtualBackend: EngineBackend, @unchecked Sendable {
  /// The backend of a process that requests virtual output.
  package static let shared = VirtualBackend()

  /// Frames rendered at a time.
  private static let periodSize = 64

  private let lock = NSRecursiveLock()
  private let rate: Double
  private let profile: TransducerProfile
  private var sessions: [VirtualSession] = []
  private var timers: [(due: Double, body: @Sendable () -> Void)] = []
  private var elapsed = 0.0
  private var isPresent = true
  private var queues: [DispatchQueue] = []

  /// A backend at time 0 with a device.
  package init(rate: Double = 48_000, profile: TransducerProfile = .phone) {
    self.rate = rate
    self.profile = profile
  }

  /// Whether the device is there.
  package var isAvailable: Bool { locked { isPresent } }

  /// Plays into memory.
  package func open(_ request: SessionRequest) throws -> any EngineSession {
    try locked {
      guard isPresent else {
        throw CHHapticError(
          .serverInitFailed, "the device is disconnected")
      }
      let engine = PlaybackEngine(
        rate: rate, routing: OutputRouting(channelCount: 2, buses: request.buses),
        profiles: [profile])
      let session = VirtualSession(
        engine, VirtualPlayback(engine, periodSize: Self.periodSize), request, on: self)
      sessions.append(session)
      return session
    }
  }

  /// Calls a closure when the time has come.
  package func after(_ seconds: Double, _ body: @escaping @Sendable () -> Void) {
    locked { timers.append((elapsed + seconds, body)) }
  }

  /// Seconds that have gone by.
  package var now: Double { locked { elapsed } }

  /// Lets time go by: everything is rendered, and handlers are called and have returned before it does.
  package func advance(seconds: Double) {
    let end = now + seconds
    let step = Double(Self.periodSize) / rate
    settle()
    while now < end - step / 2 {
      let due: [@Sendable () -> Void] = locked {
        elapsed += step
        for session in sessions { session.advance(seconds: step) }
        let due = timers.filter { $0.due <= elapsed }.map(\.body)
        timers.removeAll { $0.due <= elapsed }
        return due
      }
      for body in due { body() }
      settle()
    }
  }

  /// Takes the device away, or brings it back.
  package func setPresent(_ isPresent: Bool) {
    let concerned = locked {
      self.isPresent = isPresent
      return sessions
    }
    for session in concerned { session.tell(isPresent ? .deviceReconnected : .deviceDisconnected) }
    settle()
  }

  /// Waits for the handlers of an engine, too, before time goes on.
  func adopt(_ queue: DispatchQueue) { locked { queues.append(queue) } }

  /// Waits until all handlers that were due have returned, and those they caused.
  private func settle() {
    let queues = locked { self.queues }
    for _ in 0..<2 { for queue in queues { queue.sync {} } }
  }

  /// Releases a session.
  func forget(_ session: VirtualSession) {
    locked {
      session.finish()
      sessions.removeAll { $0 === session }
    }
  }

  func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }
}

/// A run in memory.
package final class VirtualSession: EngineSession, @unchecked Sendable {
  /// The engine.
  package let engine: PlaybackEngine
  private let playback: VirtualPlayback
  private let request: SessionRequest
  private weak var backend: VirtualBackend?

  init(
    _ engine: PlaybackEngine, _ playback: VirtualPlayback, _ request: SessionRequest,
    on backend: VirtualBackend
  ) {
    self.engine = engine
    self.playback = playback
    self.request = request
    self.backend = backend
  }

  /// Ends the run.
  package func close() { backend?.forget(self) }

  /// What was rendered, one channel of the two.
  package func samples(ofChannel channel: Int) -> [Float] {
    backend?.locked { playback.samples(ofChannel: channel) }
      ?? playback.samples(ofChannel: channel)
  }

  func advance(seconds: Double) { playback.advance(seconds: seconds) }

  func finish() { playback.stop() }

  func tell(_ event: SessionEvent) { request.eventHandler(event) }
}
