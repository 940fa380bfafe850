public import CoreHaptics
public import HapticRender

/// A haptic device in virtual time, for tests of code that uses Core Haptics.
///
/// The tests need no sound card and do not wait.
///
/// Engines that are created with `makeEngine`, or with `CHHapticEngine()` after `install`, play
/// into memory, and only `advance` moves their clocks. Handlers have been called when `advance`
/// returns.
public final class VirtualHapticDevice: Sendable {
  package let backend: VirtualBackend

  /// Creates a connected device at time 0.
  public init(rate: Double = 48_000, profile: TransducerProfile = .phone) {
    backend = VirtualBackend(sampleRateHertz: rate, profile: profile)
  }

  package init(_ backend: VirtualBackend) { self.backend = backend }

  /// The shared device of a process that runs with `TEMBLOR_OUTPUT=virtual`.
  public static let shared = VirtualHapticDevice(.shared)

  /// Installs the device for the whole process.
  ///
  /// From now on, `CHHapticEngine()` creates engines on it.
  public func install() { EngineBackends.installBackend(backend) }

  /// Uninstalls the device.
  ///
  /// From now on, `CHHapticEngine()` creates engines on the output that the environment selects.
  public static func uninstall() { EngineBackends.installBackend(nil) }

  /// The current virtual device: the device of the current task's test, the installed device, or
  /// the device of the only running test.
  ///
  /// Nil if engines play in real time, or if several tests run and the current one is unknown.
  public static var current: VirtualHapticDevice? {
    guard let backend = EngineBackends.currentVirtualDevice, backend !== VirtualBackend.unattributed
    else {
      return nil
    }
    return VirtualHapticDevice(backend)
  }

  /// Returns a new engine on this device.
  public func makeEngine() -> CHHapticEngine { CHHapticEngine(backend: backend) }

  /// The elapsed time of the device, in seconds.
  public var now: Double { backend.elapsedSeconds }

  /// Advances the virtual clock, and calls every handler that becomes due.
  ///
  /// Any division into steps leads to the same time; negative and non-finite steps are ignored.
  /// Waits of the application are not advanced: if a wait becomes due, the test fails. In that
  /// case, use ``advance(by:)``.
  public func advance(seconds: Double) {
    let advanceDuration = seconds.isFinite ? Duration.seconds(seconds) : .zero
    backend.waitingCalls.recordingCall("advance(seconds:)") { backend.advance(by: advanceDuration) }
  }

  /// Returns the samples of one of two channels that an engine has rendered since its last start.
  public func samples(of engine: CHHapticEngine, channel: Int = 0) -> [Float] {
    engine.renderedSamples(ofChannel: channel)
  }

  /// Disconnects the device. Engines stop with `systemError` and cannot be started.
  public func disconnect() {
    backend.waitingCalls.recordingCall("disconnect()") { backend.setDeviceConnected(false) }
  }

  /// Reconnects the device. Engines that stopped because of its loss are reset.
  public func reconnect() {
    backend.waitingCalls.recordingCall("reconnect()") { backend.setDeviceConnected(true) }
  }

  /// Stops an engine as the system does.
  public func stop(_ engine: CHHapticEngine, reason: CHHapticEngine.StoppedReason) {
    engine.interrupt(reason)
    backend.waitingCalls.recordingCall("stop(_:reason:)") { _ = backend.waitForHandlers() }
  }

  /// Resets an engine as the system does after a failure of its server.
  public func reset(_ engine: CHHapticEngine) {
    engine.simulateReset()
    backend.waitingCalls.recordingCall("reset(_:)") { _ = backend.waitForHandlers() }
  }

  /// The states of all engines on the device, in the order of their numbers.
  ///
  /// They include engines that an application keeps private.
  public var engines: [EngineState] {
    backend.engineStates.map {
      EngineState(
        number: $0.number, isRunning: $0.isRunning, currentTime: $0.currentTime,
        activePlayerCount: $0.activePlayerCount, hasResetHandler: $0.hasResetHandler)
    }
  }

  /// The log of the calls on the device and of its events, in order.
  public var log: HapticLog { HapticLog(storedEntries: backend.logEntries) }

  /// The haptics that the device has played so far.
  ///
  /// The complexity is O(*n*), where *n* is the number of everything ever played.
  public var played: PlayedHaptics { PlayedHaptics(backend.sessionRecords) }

  /// Makes the next start of any engine fail with an error code.
  ///
  /// Each further call affects one more start.
  public func failNextStart(_ code: CHHapticError.Code = .serverInitFailed) {
    backend.injectedFaults.nextStartResults.append(.fail(code))
  }

  /// Delays the next start of an engine by a number of seconds on the device's clock.
  ///
  /// A blocking start advances the clock. A start with a handler completes when the time has
  /// passed.
  public func delayNextStart(by seconds: Double) {
    backend.injectedFaults.nextStartResults.append(.delay(seconds: seconds))
  }

  /// A Boolean value that indicates whether the device supports haptics.
  ///
  /// `capabilitiesForHardware()` reports the value. The default is true.
  ///
  /// If it is false, starts throw `notSupported`.
  public var supportsHaptics: Bool {
    get { backend.injectedFaults.supportsHaptics }
    set { backend.injectedFaults.supportsHaptics = newValue }
  }

  /// The maximum number of simultaneously existing players; unlimited by default.
  ///
  /// An additional player throws `resourceNotAvailable`.
  public var playerLimit: Int {
    get { backend.injectedFaults.playerLimit }
    set { backend.injectedFaults.playerLimit = newValue }
  }

  /// Stops every running engine as the system does in an interruption.
  ///
  /// The default interruption is a phone call.
  ///
  /// Stopped handlers have been called when the method returns.
  public func interrupt(_ reason: CHHapticEngine.StoppedReason = .audioSessionInterrupt) {
    backend.waitingCalls.recordingCall("interrupt()") { backend.interruptAllEngines(reason) }
  }

  /// Moves the application to the background.
  ///
  /// The method posts `willResignActive` and `didEnterBackground` of `UIApplication`, and stops the
  /// remaining engines with `applicationSuspended`.
  ///
  /// Observers and stopped handlers have been called when the method returns. Notifications reach
  /// all objects of the process, so a test that runs in parallel with other tests fails: use
  /// `.virtualHaptics(.alone)`. Has no effect in the background.
  public func background() {
    backend.waitingCalls.recordingCall("background()") { backend.setApplicationInBackground(true) }
  }

  /// Moves the application to the foreground.
  ///
  /// The method posts `willEnterForeground` and `didBecomeActive`. The application starts its
  /// engines.
  ///
  /// Observers have been called when the method returns. Has no effect in the foreground.
  public func foreground() {
    backend.waitingCalls.recordingCall("foreground()") { backend.setApplicationInBackground(false) }
  }

  /// Resets every engine, as after a failure of the system's haptic server.
  ///
  /// The reset invalidates players.
  ///
  /// Reset handlers have been called when the method returns.
  public func reset() {
    backend.waitingCalls.recordingCall("reset()") { backend.resetAllEngines() }
  }

  /// Interrupts the media services for a number of seconds in the device's time.
  ///
  /// Engines stop with `systemError`, starts throw `serverInitFailed` during the interruption, and
  /// engines are reset at its end.
  public func loseMediaServices(for seconds: Double = 0.5) {
    backend.setDeviceConnected(false)
    let backend = backend
    backend.schedule(after: seconds) { backend.setDeviceConnected(true) }
  }

  /// Advances the virtual clock, and waits for all work that the advance triggers.
  ///
  /// The work is that of the application's handlers and waits.
  ///
  /// With the trait `.virtualHaptics` of `HapticTesting`, waits of the application (`Task.sleep`,
  /// clocks, `asyncAfter`, `Timer`) follow the device's time: each wait ends at its own time, in
  /// order, and the work that it triggers has finished before the clock continues.
  ///
  /// - Returns: Whether all work has finished; false if some work is endless, after at most 2 s.
  @discardableResult nonisolated(nonsending) public func advance(by duration: Duration) async
    -> Bool
  {
    backend.waitingCalls.beginCall("advance(by:)")
    defer { backend.waitingCalls.endCall("advance(by:)") }
    _ = await RuntimeQuiescence.waitForQuiescence(of: backend)
    backend.waitForHandlers()
    let endTime = backend.advanceEndTime(after: duration)
    var immediateWaitCount = 0
    while true {
      if let fire = backend.popDueWait() {
        immediateWaitCount += 1
        guard immediateWaitCount <= Self.maximumSimultaneousWaitCount else { return false }
        fire()
        _ = await RuntimeQuiescence.waitForQuiescence(of: backend)
        backend.waitForHandlers()
      } else if let due = backend.advanceToNextEvent(until: endTime, stopsAtWaits: true) {
        immediateWaitCount = 0
        for body in due {
          body()
        }
        if backend.waitForHandlers() {
          _ = await RuntimeQuiescence.waitForQuiescence(of: backend)
        }
      } else {
        break
      }
    }
    return await RuntimeQuiescence.waitForQuiescence(of: backend)
  }

  /// The maximum number of the application's waits that end at one time.
  ///
  /// The remaining waits end in the next step of the clock.
  private static let maximumSimultaneousWaitCount = 10_000

  /// A clock that follows the device, for applications whose clock can be injected.
  public var clock: VirtualHapticClock { VirtualHapticClock(backend) }
}

/// The state of an engine on a virtual device.
public struct EngineState: Equatable, Sendable, CustomStringConvertible {
  /// The number of the engine on its device, from 1, in order of creation.
  public var number: Int
  /// A Boolean value that indicates whether the engine is running.
  public var isRunning: Bool
  /// The time on the engine's own clock in seconds, as its property `currentTime` returns it.
  public var currentTime: Double
  /// The number of players that play, are paused, or wait for their start.
  public var activePlayerCount: Int
  /// A Boolean value that indicates whether the application has set a reset handler.
  public var hasResetHandler: Bool

  /// A description of the state, such as `engine 1: running, 0.500 s, 1 active player, no reset
  /// handler`.
  public var description: String {
    "engine \(number): \(isRunning ? "running" : "stopped"), "
      + "\(textRoundedToThousandths(currentTime)) s, "
      + "\(activePlayerCount) active player\(activePlayerCount == 1 ? "" : "s"), "
      + (hasResetHandler ? "reset handler" : "no reset handler")
  }
}

func textRoundedToThousandths(_ value: Double) -> String {
  guard abs(value) < 1e12 else { return "\(value)" }
  let scaled = Int((value * 1_000).rounded())
  let fractionDigits = String(abs(scaled) % 1_000)
  return "\(scaled < 0 ? "-" : "")\(abs(scaled) / 1_000)."
    + String(repeating: "0", count: 3 - fractionDigits.count) + fractionDigits
}

/// A clock that follows the time of a virtual device.
public struct VirtualHapticClock: Clock {
  /// An instant on the clock of a virtual device.
  public struct Instant: InstantProtocol {
    var elapsedTime: Duration

    /// Returns the instant after a duration from this instant.
    public func advanced(by duration: Duration) -> Instant {
      Instant(elapsedTime: elapsedTime + duration)
    }

    /// Returns the duration from this instant to another instant.
    public func duration(to other: Instant) -> Duration { other.elapsedTime - elapsedTime }

    /// Returns true if an instant is before another instant.
    public static func < (left: Instant, right: Instant) -> Bool {
      left.elapsedTime < right.elapsedTime
    }
  }

  private let backend: VirtualBackend

  init(_ backend: VirtualBackend) { self.backend = backend }

  /// The current instant of the device.
  public var now: Instant { Instant(elapsedTime: .seconds(backend.elapsedSeconds)) }

  /// The minimum step of the device's clock.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Suspends the task until the device has reached an instant.
  ///
  /// Throws an error if the task is canceled.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    // The stream also ends if its reader is canceled.
    let (awaited, end) = AsyncStream<Void>.makeStream()
    let remainingSeconds = (deadline.elapsedTime - now.elapsedTime) / .seconds(1)
    if remainingSeconds <= 0 {
      end.finish()
    } else {
      backend.schedule(after: remainingSeconds) { end.finish() }
    }
    for await _ in awaited {}
    try Task.checkCancellation()
  }
}
