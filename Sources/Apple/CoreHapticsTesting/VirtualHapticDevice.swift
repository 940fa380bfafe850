public import CoreHaptics
public import HapticRender

/// A device in virtual time for tests of code that uses Core Haptics: no sound card, no waiting.
///
/// Engines made while it is in place, by `makeEngine` or by `CHHapticEngine()` after `install`,
/// play into memory, and their clocks go on only by `advance`. Handlers have been called when
/// `advance` returns.
public final class VirtualHapticDevice: Sendable {
  package let backend: VirtualBackend

  /// A device that is there, at time 0.
  public init(rate: Double = 48_000, profile: TransducerProfile = .phone) {
    backend = VirtualBackend(rate: rate, profile: profile)
  }

  package init(_ backend: VirtualBackend) { self.backend = backend }

  /// The device of a process that runs with `TEMBLOR_OUTPUT=virtual`.
  public static let shared = VirtualHapticDevice(.shared)

  /// Lets `CHHapticEngine()` make engines on this device, from now on, in the whole process.
  public func install() { EngineBackends.use(backend) }

  /// Lets `CHHapticEngine()` make engines on what the environment names again.
  public static func uninstall() { EngineBackends.use(nil) }

  /// The device of the test whose task this is, the one that is installed, or that of the only test
  /// that runs.
  ///
  /// Nil where engines play in real time, and where several tests run and none can be named.
  public static var current: VirtualHapticDevice? {
    guard let backend = EngineBackends.virtual, backend !== VirtualBackend.unattributed else {
      return nil
    }
    return VirtualHapticDevice(backend)
  }

  /// Makes an engine on this device.
  public func makeEngine() -> CHHapticEngine { CHHapticEngine(backend: backend) }

  /// Seconds that have gone by.
  public var now: Double { backend.now }

  /// Lets time go by, and calls every handler that is due in it.
  ///
  /// Any number of steps of any length leads to the same time; negative and non-finite ones are
  /// none. What the application waits with is not moved: a test in which a wait was due fails; use
  /// ``advance(by:)`` there.
  public func advance(seconds: Double) {
    backend.advance(by: seconds.isFinite ? .seconds(seconds) : .zero)
  }

  /// What an engine has rendered since it was last started: the samples of one of two channels.
  public func samples(of engine: CHHapticEngine, channel: Int = 0) -> [Float] {
    engine.renderedSamples(ofChannel: channel)
  }

  /// Takes the device away: engines stop with `systemError`, and cannot be started.
  public func disconnect() { backend.setConnected(false) }

  /// Brings the device back: engines that were stopped by its loss are reset.
  public func reconnect() { backend.setConnected(true) }

  /// Stops an engine as the system does.
  public func stop(_ engine: CHHapticEngine, reason: CHHapticEngine.StoppedReason) {
    engine.interrupt(reason)
    backend.settle()
  }

  /// Resets an engine as the system does after a failure of its server.
  public func reset(_ engine: CHHapticEngine) {
    engine.simulateReset()
    backend.settle()
  }

  /// The engines that exist on the device, by number; also those that an application keeps private.
  public var engines: [EngineState] {
    backend.engineStates.map {
      EngineState(
        number: $0.number, isRunning: $0.isRunning, currentTime: $0.currentTime,
        activePlayerCount: $0.activePlayerCount, hasResetHandler: $0.hasResetHandler)
    }
  }

  /// What was asked of the device and what happened, in order.
  public var log: HapticLog { HapticLog(entries: backend.logEntries) }

  /// What was played up to now, event by event; O(n) in what was ever played.
  public var played: PlayedHaptics { PlayedHaptics(backend.sessionRecords) }

  /// Lets the next start of an engine throw this code, whichever engine it is; called again, the
  /// one after it too.
  public func failNextStart(_ code: CHHapticError.Code = .serverInitFailed) {
    backend.faults.starts.append(.fail(code))
  }

  /// Lets the next start of an engine take some seconds of the device's time.
  ///
  /// A start that blocks its caller moves the clock; one with a handler is done when the time has
  /// come.
  public func delayNextStart(by seconds: Double) {
    backend.faults.starts.append(.delay(seconds: seconds))
  }

  /// Whether the device plays haptics at all, as `capabilitiesForHardware()` reports; true at
  /// first.
  ///
  /// Where it does not, starts throw `notSupported`.
  public var supportsHaptics: Bool {
    get { backend.faults.supportsHaptics }
    set { backend.faults.supportsHaptics = newValue }
  }

  /// The most players at a time; one more throws `resourceNotAvailable`. No limit at first.
  public var playerLimit: Int {
    get { backend.faults.playerLimit }
    set { backend.faults.playerLimit = newValue }
  }

  /// Stops every engine that runs as the system does, by default as for a phone call.
  ///
  /// Stopped handlers have been called when it returns.
  public func interrupt(_ reason: CHHapticEngine.StoppedReason = .audioSessionInterrupt) {
    backend.interruptAll(reason)
  }

  /// Moves the application to the background: posts `willResignActive` and `didEnterBackground` of
  /// `UIApplication`, and stops the engines that still run with `applicationSuspended`.
  ///
  /// Observers and stopped handlers have been called when it returns. Notifications reach all
  /// objects of the process, so that a test that runs beside others fails: give it
  /// `.virtualHaptics(.alone)`. Does nothing in the background.
  public func background() { backend.setInBackground(true) }

  /// Brings the application back: posts `willEnterForeground` and `didBecomeActive`; the
  /// application starts engines.
  ///
  /// Observers have been called when it returns. Does nothing in front.
  public func foreground() { backend.setInBackground(false) }

  /// Resets every engine, as after a failure of the system's haptic server: players are dead.
  ///
  /// Reset handlers have been called when it returns.
  public func reset() { backend.resetAll() }

  /// Loses media services, and has them back some seconds of the device's time later.
  ///
  /// Engines stop with `systemError` now, starts throw `serverInitFailed` until then, and engines
  /// are reset then.
  public func loseMediaServices(for seconds: Double = 0.5) {
    backend.setConnected(false)
    let backend = backend
    backend.schedule(after: seconds) { backend.setConnected(true) }
  }

  /// Lets time go by, and waits until what handlers and waits of the application set off has run.
  ///
  /// With the trait `.virtualHaptics` of `HapticTesting`, what the application waits with
  /// (`Task.sleep`, clocks,
  /// `asyncAfter`, `Timer`) waits in the device's time: each wait ends at its own time, in order,
  /// and what it sets off has run before time goes on.
  ///
  /// - Returns: Whether everything became quiet; false where something runs all the time, which is
  ///   waited for no longer than 2 s.
  @discardableResult nonisolated(nonsending) public func advance(by duration: Duration) async
    -> Bool
  {
    _ = await RuntimeQuiescence.settle(backend)
    backend.settle()
    let end = backend.end(of: duration)
    var waitsAtOnce = 0
    while true {
      if let fire = backend.popDueWait() {
        waitsAtOnce += 1
        guard waitsAtOnce <= Self.maximumSimultaneousWaits else { return false }
        fire()
        _ = await RuntimeQuiescence.settle(backend)
        backend.settle()
      } else if let due = backend.step(to: end, stopsAtWaits: true) {
        waitsAtOnce = 0
        for body in due {
          body()
        }
        if backend.settle() {
          _ = await RuntimeQuiescence.settle(backend)
        }
      } else {
        break
      }
    }
    return await RuntimeQuiescence.settle(backend)
  }

  /// Waits that may end at one time before the rest is left to the next step.
  private static let maximumSimultaneousWaits = 10_000

  /// A clock that goes on with the device, for applications that are given their clock.
  public var clock: VirtualHapticClock { VirtualHapticClock(backend) }
}

/// An engine of an application, as a test sees it.
public struct EngineState: Equatable, Sendable, CustomStringConvertible {
  /// The engine's number on its device, from 1, in the order in which engines were made.
  public var number: Int
  /// Whether it was started and has not stopped.
  public var isRunning: Bool
  /// Seconds on its own clock, `currentTime`.
  public var currentTime: Double
  /// Players that play, are paused, or wait for their start.
  public var activePlayerCount: Int
  /// Whether the application has set a reset handler.
  public var hasResetHandler: Bool

  /// One line, such as `engine 1: running, 0.500 s, 1 active player, no reset handler`.
  public var description: String {
    "engine \(number): \(isRunning ? "running" : "stopped"), \(formattedThousandths(currentTime)) s, "
      + "\(activePlayerCount) active player\(activePlayerCount == 1 ? "" : "s"), "
      + (hasResetHandler ? "reset handler" : "no reset handler")
  }
}

func formattedThousandths(_ value: Double) -> String {
  guard abs(value) < 1e12 else { return "\(value)" }
  let scaled = Int((value * 1_000).rounded())
  let rest = String(abs(scaled) % 1_000)
  return "\(scaled < 0 ? "-" : "")\(abs(scaled) / 1_000)."
    + String(repeating: "0", count: 3 - rest.count) + rest
}

/// A clock that goes on with a virtual device.
public struct VirtualHapticClock: Clock {
  /// A time of the device.
  public struct Instant: InstantProtocol {
    var offset: Duration

    /// The time some seconds later.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The seconds to another time.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether a time is before another.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let backend: VirtualBackend

  init(_ backend: VirtualBackend) { self.backend = backend }

  /// The device's time.
  public var now: Instant { Instant(offset: .seconds(backend.now)) }

  /// The shortest step.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Returns when the device's time has come, or throws where the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    // A stream ends where its reader is cancelled, too.
    let (awaited, end) = AsyncStream<Void>.makeStream()
    let seconds = (deadline.offset - now.offset) / .seconds(1)
    if seconds <= 0 {
      end.finish()
    } else {
      backend.schedule(after: seconds) { end.finish() }
    }
    for await _ in awaited {}
    try Task.checkCancellation()
  }
}
