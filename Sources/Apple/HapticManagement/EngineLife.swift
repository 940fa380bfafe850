public import CoreHaptics
package import Foundation

/// One engine through its whole life: made once, started when first needed, restarted, replaced. No
/// call waits for the output, and none fails: what cannot be played is not played. The output is
/// opened on the engine's own queue; what is asked for meanwhile plays as soon as it is open. Any
/// thread may call.
package final class EngineLifecycle: @unchecked Sendable {
  /// The engine that everything in this process shares unless it brings its own; of each virtual
  /// device another.
  package static var shared: EngineLifecycle {
    guard let device = EngineBackends.virtual else { return live }
    return device.sharedObject(EngineLifecycle.self) {
      EngineLifecycle(
        EngineProvider(
          supportsHaptics: { [weak device] in device?.isAvailable ?? false },
          now: { [weak device] in device?.now ?? 0 }
        ) { [weak device] in
          guard let device else { throw CHHapticError(.notSupported) }
          return CHHapticEngine(backend: device)
        })
    }
  }

  private static let live = EngineLifecycle(.hardware)

  /// Playbacks that wait at most for an engine that starts; those beyond are dropped.
  static let maximumWaitingCount = 16

  private typealias Playback = (pattern: CHHapticPattern, time: TimeInterval)

  private let provider: EngineProvider
  private let lock = NSRecursiveLock()
  private var engine: CHHapticEngine?
  /// Grows with every engine, so that handlers of an older one can be distinguished.
  private var engineNumber = 0
  /// Grows whenever an earlier start no longer counts.
  private var startNumber = 0
  private var isRunning = false
  private var isStarting = false
  private var waitingPlaybacks: [Playback] = []
  private var lastAttemptTime = -Double.infinity
  private var storedIsAvailable: Bool
  private var resetHandler: @Sendable () -> Void = {}
  private var availabilityHandler: @Sendable () -> Void = {}

  package init(_ source: EngineProvider) {
    self.provider = source
    storedIsAvailable = source.supportsHaptics()
  }

  /// Sets what is called after a reset, before the new engine starts, and when availability has
  /// changed.
  package func setHandlers(
    reset: @escaping @Sendable () -> Void, availability: @escaping @Sendable () -> Void
  ) {
    lock.withLock {
      resetHandler = reset
      availabilityHandler = availability
    }
  }

  package var isAvailable: Bool { lock.withLock { storedIsAvailable } }

  /// Seconds on the engine's clock, which stops while the engine is stopped.
  package var currentTime: TimeInterval { lock.withLock { engine }?.currentTime ?? 0 }

  /// Plays a pattern once, at a time of the engine's clock; times that have passed mean now.
  package func play(_ pattern: CHHapticPattern, at time: TimeInterval = 0) {
    let playback = (pattern: pattern, time: time)
    let running: CHHapticEngine? = lock.withLock {
      if isRunning { return engine }
      if waitingPlaybacks.count < Self.maximumWaitingCount {
        waitingPlaybacks.append(playback)
      }
      return nil
    }
    if let running {
      perform(playback, on: running)
    } else {
      prepare()
    }
  }

  package func prepare() {
    guard let number = beginStart() else { return }
    do {
      let engine = try lock.withLock { try self.engine ?? makeEngine() }
      engine.start { [weak self] error in self?.endStart(number, error) }
    } catch {
      endStart(number, error)
    }
  }

  /// Ends at once whatever plays or waits; the next playback starts the engine again.
  package func stopAll() {
    let engine = lock.withLock {
      // A start that is under way comes before the stop, so it no longer counts.
      startNumber += 1
      isStarting = false
      isRunning = false
      waitingPlaybacks.removeAll()
      return self.engine
    }
    engine?.stop(completionHandler: nil)
  }

  private func beginStart() -> Int? {
    lock.withLock {
      guard !isRunning, !isStarting else { return nil }
      let now = provider.now()
      guard storedIsAvailable || now - lastAttemptTime >= EngineProvider.retryInterval else {
        waitingPlaybacks.removeAll()
        return nil
      }
      lastAttemptTime = now
      return nextStart()
    }
  }

  /// Numbers a start, after which earlier ones no longer count: [lock].
  private func nextStart() -> Int {
    isStarting = true
    startNumber += 1
    return startNumber
  }

  /// Notes how a start ended, and plays what has waited for it.
  private func endStart(_ number: Int, _ error: (any Error)?) {
    let (engine, due): (CHHapticEngine?, [Playback]) = lock.withLock {
      guard number == startNumber, isStarting else { return (nil, []) }
      isStarting = false
      isRunning = error == nil
      let due = exchange(&waitingPlaybacks, with: [])
      return isRunning ? (self.engine, due) : (nil, [])
    }
    setAvailable(lock.withLock { number == startNumber ? error == nil : storedIsAvailable })
    guard let engine else { return }
    for playback in due {
      perform(playback, on: engine)
    }
  }

  /// Makes the engine and registers handlers with it: [lock].
  private func makeEngine() throws -> CHHapticEngine {
    let engine = try provider.makeEngine()
    engineNumber += 1
    let number = engineNumber
    engine.playsHapticsOnly = true
    engine.isAutoShutdownEnabled = true
    engine.stoppedHandler = { [weak self] reason in self?.engineStopped(number, reason) }
    engine.resetHandler = { [weak self] in self?.engineWasReset(number) }
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
        lock.withLock { isRunning = false }
        setAvailable(false)
      default:
        // The engine is full, or cannot play this pattern: the next may be heard.
        break
      }
    } catch {}
  }

  /// One attempt to go on, except where the engine merely rests: [the engine's queue].
  private func engineStopped(_ number: Int, _ reason: CHHapticEngine.StoppedReason) {
    let engine: CHHapticEngine? = lock.withLock {
      guard number == engineNumber else { return nil }
      isRunning = false
      return self.engine
    }
    switch reason {
    case .idleTimeout, .notifyWhenFinished, .engineDestroyed: return
    default: break
    }
    guard let engine else { return }
    start(engine, lock.withLock { nextStart() })
  }

  /// A new engine, handlers registered again, patterns cached again, started: [the engine's queue].
  private func engineWasReset(_ number: Int) {
    let restart: Int? = lock.withLock {
      guard number == engineNumber else { return nil }
      isRunning = false
      return nextStart()
    }
    guard let restart else { return }
    do {
      let engine = try lock.withLock { try makeEngine() }
      let watcher = lock.withLock { resetHandler }
      watcher()
      start(engine, restart)
    } catch {
      endStart(restart, error)
    }
  }

  /// Starts here and now: [the engine's queue], where waiting keeps nobody else.
  private func start(_ engine: CHHapticEngine, _ number: Int) {
    do {
      try engine.start()
      endStart(number, nil)
    } catch {
      endStart(number, error)
    }
  }

  private func setAvailable(_ isAvailable: Bool) {
    let watcher: (@Sendable () -> Void)? = lock.withLock {
      guard storedIsAvailable != isAvailable else { return nil }
      storedIsAvailable = isAvailable
      return availabilityHandler
    }
    watcher?()
  }

  /// Plays a shipped pattern at a part of its strength, 0…1, and writes the call down by a name
  /// where there is a record; values outside are moved to the nearest bound, NaN is 0.
  package func play(shipped pattern: String, as name: String, intensity: Double = 1) {
    let intensity = intensity.isNaN ? 0 : min(max(intensity, 0), 1)
    EngineBackends.virtualForCall()?.append(.generator(.init(name: name, intensity: intensity)))
    guard let found = ParsedPatternCache.shipped.pattern(named: pattern),
      let scaled = intensity < 1 ? try? found.scaled(by: Float(intensity)) : found
    else { return }
    play(scaled)
  }
}

extension CHHapticPattern {
  /// The same pattern with the intensity of every event multiplied, as a control from its start on.
  fileprivate func scaled(by factor: Float) throws -> CHHapticPattern {
    var dictionary = try exportDictionary()
    let control: [Key: Any] = [
      .parameter: [
        .parameterID: CHHapticDynamicParameter.ID.hapticIntensityControl.rawValue, .time: 0.0,
        .parameterValue: Double(factor),
      ] as [Key: Any]
    ]
    dictionary[.pattern] = [control] + (dictionary[.pattern] as? [[Key: Any]] ?? [])
    return try CHHapticPattern(dictionary: dictionary)
  }
}

/// Where a manager gets its engine from, so that a test can give it one in virtual time.
public struct EngineProvider: Sendable {
  /// Seconds between two attempts at a device that is not there.
  public static let retryInterval = 1.0

  /// Whether haptics can be felt at all; asked once, before anything else.
  public var supportsHaptics: @Sendable () -> Bool
  /// Makes an engine; called for the first, and again after every reset.
  public var makeEngine: @Sendable () throws -> CHHapticEngine
  /// Seconds on a clock that only goes forward; attempts at an absent device are spaced by it.
  public var now: @Sendable () -> Double

  /// A source of engines.
  public init(
    supportsHaptics: @escaping @Sendable () -> Bool = { true },
    now: @escaping @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime },
    makeEngine: @escaping @Sendable () throws -> CHHapticEngine
  ) {
    self.supportsHaptics = supportsHaptics
    self.now = now
    self.makeEngine = makeEngine
  }

  /// Engines on the output that the process has.
  public static let hardware = EngineProvider(supportsHaptics: {
    CHHapticEngine.capabilitiesForHardware().supportsHaptics
  }) { try CHHapticEngine() }
}
