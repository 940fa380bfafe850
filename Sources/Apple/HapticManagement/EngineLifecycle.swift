public import CoreHaptics
package import Foundation

/// A manager of a haptic engine's lifecycle, from creation to recovery.
///
/// The engine is created once, started on demand, restarted after a stop, and replaced after a
/// reset.
///
/// No call waits for the output, and no call fails: a pattern that cannot be played is dropped. The
/// output is opened on the engine's own queue. Patterns that are played in the meantime wait until
/// it is open. Any thread may call.
package final class EngineLifecycle: @unchecked Sendable {
  /// The lifecycle of the engine that the whole process shares. Each virtual device has its own.
  package static var shared: EngineLifecycle {
    guard let device = EngineBackends.currentVirtualDevice else { return liveLifecycle }
    return device.sharedObject(ofType: EngineLifecycle.self) {
      EngineLifecycle(
        EngineProvider(
          supportsHaptics: { [weak device] in device?.isOutputAvailable ?? false },
          now: { [weak device] in device?.elapsedSeconds ?? 0 }
        ) { [weak device] in
          guard let device else { throw CHHapticError(.notSupported) }
          return CHHapticEngine(backend: device)
        })
    }
  }

  private static let liveLifecycle = EngineLifecycle(.hardware)

  /// The maximum number of patterns that wait for the engine to start.
  ///
  /// Further patterns are dropped.
  static let maximumQueuedPlaybackCount = 16

  private typealias Playback = (pattern: CHHapticPattern, time: TimeInterval)

  private let engineProvider: EngineProvider
  private let lock = NSRecursiveLock()
  private var engine: CHHapticEngine?
  /// The number of the current engine. Handlers of earlier engines have a different number.
  private var engineNumber = 0
  /// The number of the latest attempt to start the engine.
  ///
  /// Completions of earlier attempts, which have other numbers, are ignored.
  private var startAttemptNumber = 0
  private var isEngineRunning = false
  private var isEngineStarting = false
  private var queuedPlaybacks: [Playback] = []
  private var lastStartAttemptSeconds = -Double.infinity
  private var storedIsEngineAvailable: Bool
  private var resetHandler: @Sendable () -> Void = {}
  private var availabilityHandler: @Sendable () -> Void = {}

  package init(_ source: EngineProvider) {
    self.engineProvider = source
    storedIsEngineAvailable = source.supportsHaptics()
  }

  /// Sets the handlers for stops and resets of the engine.
  ///
  /// - Parameters:
  ///   - reset: Called after a reset, before the new engine starts.
  ///   - availability: Called when the availability has changed.
  package func setHandlers(
    reset: @escaping @Sendable () -> Void, availability: @escaping @Sendable () -> Void
  ) {
    lock.withLock {
      resetHandler = reset
      availabilityHandler = availability
    }
  }

  package var isEngineAvailable: Bool { lock.withLock { storedIsEngineAvailable } }

  /// The time on the engine's clock, in seconds. The clock stops while the engine is stopped.
  package var currentTime: TimeInterval { lock.withLock { engine }?.currentTime ?? 0 }

  /// Plays a pattern once at a time on the engine's clock.
  ///
  /// A time in the past means immediately.
  package func playPattern(_ pattern: CHHapticPattern, atEngineSeconds time: TimeInterval = 0) {
    let playback = (pattern: pattern, time: time)
    let runningEngine: CHHapticEngine? = lock.withLock {
      if isEngineRunning { return engine }
      if queuedPlaybacks.count < Self.maximumQueuedPlaybackCount {
        queuedPlaybacks.append(playback)
      }
      return nil
    }
    if let runningEngine {
      perform(playback, on: runningEngine)
    } else {
      prepareEngine()
    }
  }

  package func prepareEngine() {
    guard let attemptNumber = beginStartIfAllowed() else { return }
    do {
      let engine = try lock.withLock { try self.engine ?? makeEngine() }
      engine.start { [weak self] error in self?.finishStartAttempt(attemptNumber, error: error) }
    } catch {
      finishStartAttempt(attemptNumber, error: error)
    }
  }

  /// Ends all playbacks immediately. The next playback starts the engine again.
  package func stopAllPlaybacks() {
    let engine = lock.withLock {
      // A pending start precedes the stop, so it no longer counts.
      startAttemptNumber += 1
      isEngineStarting = false
      isEngineRunning = false
      queuedPlaybacks.removeAll()
      return self.engine
    }
    engine?.stop(completionHandler: nil)
  }

  private func beginStartIfAllowed() -> Int? {
    lock.withLock {
      guard !isEngineRunning, !isEngineStarting else { return nil }
      let now = engineProvider.now()
      guard
        storedIsEngineAvailable
          || now - lastStartAttemptSeconds >= EngineProvider.startRetryIntervalSeconds
      else {
        queuedPlaybacks.removeAll()
        return nil
      }
      lastStartAttemptSeconds = now
      return makeStartAttemptNumber()
    }
  }

  /// Returns the number of a new attempt to start the engine, and invalidates earlier attempts.
  ///
  /// Requires the lock.
  private func makeStartAttemptNumber() -> Int {
    isEngineStarting = true
    startAttemptNumber += 1
    return startAttemptNumber
  }

  /// Records the result of an attempt to start the engine, and plays the waiting patterns.
  private func finishStartAttempt(_ number: Int, error: (any Error)?) {
    let (engine, due): (CHHapticEngine?, [Playback]) = lock.withLock {
      guard number == startAttemptNumber, isEngineStarting else { return (nil, []) }
      isEngineStarting = false
      isEngineRunning = error == nil
      let due = exchange(&queuedPlaybacks, with: [])
      return isEngineRunning ? (self.engine, due) : (nil, [])
    }
    setEngineAvailable(
      lock.withLock { number == startAttemptNumber ? error == nil : storedIsEngineAvailable })
    guard let engine else { return }
    for playback in due {
      perform(playback, on: engine)
    }
  }

  /// Creates the engine and sets its handlers. Requires the lock.
  private func makeEngine() throws -> CHHapticEngine {
    let engine = try engineProvider.makeEngine()
    engineNumber += 1
    let newEngineNumber = engineNumber
    engine.playsHapticsOnly = true
    engine.isAutoShutdownEnabled = true
    engine.stoppedHandler = { [weak self] reason in
      self?.handleEngineStop(engineNumber: newEngineNumber, reason: reason)
    }
    engine.resetHandler = { [weak self] in self?.handleEngineReset(engineNumber: newEngineNumber) }
    self.engine = engine
    return engine
  }

  private func perform(_ playback: Playback, on engine: CHHapticEngine) {
    do {
      let player = try engine.makePlayer(with: playback.pattern)
      try player.start(atTime: playback.time)
    } catch let error as CHHapticError {
      switch error.code {
      case .engineNotRunning, .serverInitFailed, .serverInterrupted, .engineStartTimeout,
        .notSupported:
        lock.withLock { isEngineRunning = false }
        setEngineAvailable(false)
      default:
        // The engine is full, or cannot play this pattern; the next pattern may succeed.
        break
      }
    } catch {}
  }

  /// Restarts the engine once after it has stopped, unless it was only idle.
  ///
  /// Runs on the engine's queue.
  private func handleEngineStop(engineNumber number: Int, reason: CHHapticEngine.StoppedReason) {
    let engine: CHHapticEngine? = lock.withLock {
      guard number == engineNumber else { return nil }
      isEngineRunning = false
      return self.engine
    }
    switch reason {
    case .idleTimeout, .notifyWhenFinished, .engineDestroyed: return
    default: break
    }
    guard let engine else { return }
    start(engine, attemptNumber: lock.withLock { makeStartAttemptNumber() })
  }

  /// Creates and starts a new engine after a reset, with handlers and with reloaded patterns.
  ///
  /// Runs on the engine's queue.
  private func handleEngineReset(engineNumber number: Int) {
    let restartAttemptNumber: Int? = lock.withLock {
      guard number == engineNumber else { return nil }
      isEngineRunning = false
      return makeStartAttemptNumber()
    }
    guard let restartAttemptNumber else { return }
    do {
      let engine = try lock.withLock { try makeEngine() }
      let watcher = lock.withLock { resetHandler }
      watcher()
      start(engine, attemptNumber: restartAttemptNumber)
    } catch {
      finishStartAttempt(restartAttemptNumber, error: error)
    }
  }

  /// Starts the engine synchronously. Runs on the engine's queue, on which no other work waits.
  private func start(_ engine: CHHapticEngine, attemptNumber number: Int) {
    do {
      try engine.start()
      finishStartAttempt(number, error: nil)
    } catch {
      finishStartAttempt(number, error: error)
    }
  }

  private func setEngineAvailable(_ isAvailable: Bool) {
    let availabilityWatcher: (@Sendable () -> Void)? = lock.withLock {
      guard storedIsEngineAvailable != isAvailable else { return nil }
      storedIsEngineAvailable = isAvailable
      return availabilityHandler
    }
    availabilityWatcher?()
  }

  /// Plays a shipped pattern, and logs the call on a virtual device.
  ///
  /// - Parameters:
  ///   - pattern: The name of the pattern.
  ///   - name: The name in the log.
  ///   - intensity: The factor on the intensity, clamped to 0…1; NaN is 0.
  package func playShippedPattern(_ pattern: String, as name: String, intensity: Double = 1) {
    let clampedIntensity = intensity.isNaN ? 0 : min(max(intensity, 0), 1)
    EngineBackends.virtualDeviceForCall()?.appendLogEntry(
      .generator(.init(name: name, intensity: clampedIntensity)))
    guard let shippedPattern = ParsedPatternCache.shipped.pattern(named: pattern),
      let scaledPattern = clampedIntensity < 1
        ? try? shippedPattern.withIntensity(scaledBy: Float(clampedIntensity)) : shippedPattern
    else { return }
    playPattern(scaledPattern)
  }
}

extension CHHapticPattern {
  /// Returns the pattern with the intensity of every event multiplied by a factor.
  fileprivate func withIntensity(scaledBy factor: Float) throws -> CHHapticPattern {
    var patternDictionary = try exportDictionary()
    let controlEntry: [Key: Any] = [
      .parameter: [
        .parameterID: CHHapticDynamicParameter.ID.hapticIntensityControl.rawValue, .time: 0.0,
        .parameterValue: Double(factor),
      ] as [Key: Any]
    ]
    patternDictionary[.pattern] =
      [controlEntry] + (patternDictionary[.pattern] as? [[Key: Any]] ?? [])
    return try CHHapticPattern(dictionary: patternDictionary)
  }
}

/// A provider of engines, which lets a test supply an engine in virtual time.
public struct EngineProvider: Sendable {
  /// The minimum interval between attempts to start an engine without a device, in seconds.
  public static let startRetryIntervalSeconds = 1.0

  /// A closure that returns true if haptics can be felt.
  ///
  /// It is called once, before the other closures.
  public var supportsHaptics: @Sendable () -> Bool
  /// A closure that creates an engine. It is called for the first engine, and after every reset.
  public var makeEngine: @Sendable () throws -> CHHapticEngine
  /// A closure that returns the time of a monotonic clock in seconds.
  ///
  /// The interval between attempts is measured on this clock.
  public var now: @Sendable () -> Double

  /// Creates a provider of engines.
  public init(
    supportsHaptics: @escaping @Sendable () -> Bool = { true },
    now: @escaping @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime },
    makeEngine: @escaping @Sendable () throws -> CHHapticEngine
  ) {
    self.supportsHaptics = supportsHaptics
    self.now = now
    self.makeEngine = makeEngine
  }

  /// The provider of engines that play on the output of the process.
  public static let hardware = EngineProvider(supportsHaptics: {
    CHHapticEngine.capabilitiesForHardware().supportsHaptics
  }) { try CHHapticEngine() }
}
