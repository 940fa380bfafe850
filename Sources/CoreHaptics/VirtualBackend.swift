internal import Dispatch
internal import Foundation
package import HapticRender
internal import Synchronization

/// Outputs in memory, in a time that only `advance` moves, with a record of all that happens.
package final class VirtualBackend: EngineBackend, @unchecked Sendable {
  /// The backend of a process that requests virtual output.
  package static let shared = VirtualBackend()
  /// The backend of engines that could be any of several tests'.
  package static let stray = VirtualBackend()

  /// Rounds of handlers that cause others, before time goes on without them.
  private static let maximumRounds = 1_000

  private let lock = NSRecursiveLock()
  /// Frames per second.
  package let rate: Double
  private let profile: TransducerProfile
  private var clock = Duration.zero
  private var sessions: [ObjectIdentifier: VirtualSession] = [:]
  /// Sessions in which a player plays, is paused or waits.
  private var active: [ObjectIdentifier: VirtualSession] = [:]
  private var timers: [(due: Duration, body: @Sendable () -> Void)] = []
  /// The due time of the first timer.
  private var firstDue: Duration?
  /// Handler queues that have been given work since they were last waited for.
  private var busyQueues: [ObjectIdentifier: DispatchQueue] = [:]
  private var notes: [EngineNote] = []
  /// Of sessions that were closed.
  private var pastRecords: [SessionRecord] = []
  private var engineCount = 0
  private var storedStrayEngineCount = 0
  private var playerCount = 0
  private var engines: [Int: WeakEngine] = [:]
  private var slots: [ObjectIdentifier: AnyObject] = [:]
  private var isOver = false
  private var storedWatchesIsolation = false
  private var storedFaults = Faults()

  private struct WeakEngine { weak var backing: EngineBacking? }

  /// What a test requests to go wrong.
  package struct Faults: Sendable {
    /// Whether the device is connected.
    package var isPresent = true
    /// Whether the device can play haptics at all.
    package var supportsHaptics = true
    /// The most players at a time.
    package var playerLimit = Int.max
    /// What the next starts do, the first first.
    package var starts: [Start] = []
    /// Players that exist.
    var livePlayerCount = 0

    /// What a start does.
    package enum Start: Sendable {
      case fail(CHHapticError.Code)
      case delay(seconds: Double)
    }
  }

  /// A backend at time 0 with a device.
  package init(rate: Double = 48_000, profile: TransducerProfile = .phone) {
    self.rate = rate
    self.profile = profile
  }

  /// Whether the device is there and plays haptics.
  package var isAvailable: Bool { locked { storedFaults.isPresent && storedFaults.supportsHaptics } }

  /// Plays into memory.
  package func open(_ request: SessionRequest) throws -> any EngineSession {
    try locked {
      if case .fail(let code)? = storedFaults.starts.first {
        storedFaults.starts.removeFirst()
        throw CHHapticError(code, "the test requested that this start fails")
      }
      guard storedFaults.supportsHaptics else { throw CHHapticError(.notSupported, "the device has no haptics") }
      guard storedFaults.isPresent else { throw CHHapticError(.serverInitFailed, "the device is disconnected") }
      let session = VirtualSession(rate: rate, profile: profile, request, on: self, at: now)
      sessions[ObjectIdentifier(session)] = session
      return session
    }
  }

  // MARK: Time

  /// Calls a closure when the time has come.
  package func after(_ seconds: Double, _ body: @escaping @Sendable () -> Void) {
    locked {
      let due = clock + .seconds(max(0, seconds))
      timers.append((due, body))
      firstDue = min(firstDue ?? due, due)
    }
  }

  /// Seconds that have gone by, to the nanosecond.
  package var now: Double { locked { (clock.inSeconds * 1e9).rounded() / 1e9 } }

  /// Lets time go by: everything is rendered, and handlers are called and have returned before it does.
  ///
  /// Any sum of steps leads to the same time. Time in which nothing plays costs nothing.
  package func advance(by duration: Duration) {
    settle()
    let end = locked { clock + max(.zero, duration) }
    while let due = step(to: end) {
      for body in due { body() }
      settle()
    }
  }

  /// Lets time go by for a caller that is blocked meanwhile, without waiting for handlers.
  func pass(seconds: Double) {
    let end = locked { clock + .seconds(max(0, seconds)) }
    while let due = step(to: end) { for body in due { body() } }
  }

  /// Moves the clock to what happens next; returns what is due then, or nil at the end.
  private func step(to end: Duration) -> [@Sendable () -> Void]? {
    locked {
      guard clock < end else { return nil }
      var next = end
      if let firstDue { next = min(next, max(firstDue, clock)) }
      // What plays is rendered by periods of the device's clock, so that handlers have their time.
      if !active.isEmpty { next = min(next, nextPeriod) }
      clock = next
      for session in active.values { session.render(to: now) }
      guard let firstDue, firstDue <= clock else { return [] }
      let due = timers.filter { $0.due <= clock }.sorted { $0.due < $1.due }
      timers.removeAll { $0.due <= clock }
      self.firstDue = timers.map(\.due).min()
      return due.map(\.body)
    }
  }

  private var nextPeriod: Duration {
    let period = Double(VirtualSession.periodSize) / rate
    return .seconds(((clock.inSeconds / period + 1e-6).rounded(.down) + 1) * period)
  }

  /// Waits until all handlers that were due have returned, and those they caused.
  package func settle() {
    for _ in 0..<Self.maximumRounds {
      let queues = locked {
        let queues = busyQueues
        busyQueues.removeAll()
        return queues
      }
      if queues.isEmpty { return }
      for queue in queues.values { queue.sync {} }
    }
  }

  /// Waits for what a handler queue is given, before time goes on.
  func noteWork(on queue: DispatchQueue) { locked { busyQueues[ObjectIdentifier(queue)] = queue } }

  // MARK: Sessions

  func catchUp(_ session: VirtualSession) { locked { session.render(to: now) } }

  func noteActivity(_ isActive: Bool, of session: VirtualSession) {
    locked {
      session.render(to: now)
      session.setActive(isActive)
      let id = ObjectIdentifier(session)
      active[id] = isActive && sessions[id] != nil ? session : nil
    }
  }

  /// Releases a session.
  func forget(_ session: VirtualSession) {
    locked {
      session.render(to: now)
      session.finish()
      pastRecords.append(session.record)
      sessions[ObjectIdentifier(session)] = nil
      active[ObjectIdentifier(session)] = nil
    }
  }

  // MARK: Engines

  /// Takes an engine in and gives it a number.
  func adopt(_ backing: EngineBacking) -> Int {
    locked {
      engineCount += 1
      engines[engineCount] = WeakEngine(backing: backing)
      note(.engineMade, engine: engineCount)
      return engineCount
    }
  }

  /// Forgets an engine that was released or has moved.
  func leave(_ number: Int) { locked { engines[number] = nil } }

  /// Numbers and engines that exist, in order.
  var livingEngines: [(number: Int, backing: EngineBacking)] {
    locked { engines.sorted { $0.key < $1.key }.compactMap { number, engine in engine.backing.map { (number, $0) } } }
  }

  /// What an engine that exists is and does.
  package struct EngineSummary: Sendable {
    package var number: Int
    package var isRunning: Bool
    package var currentTime: Double
    package var activePlayerCount: Int
    package var hasResetHandler: Bool
  }

  /// The engines that exist, by number.
  package var engineStates: [EngineSummary] {
    livingEngines.map { number, backing in
      let time = backing.currentTime
      return backing.with { state in
        EngineSummary(
          number: number, isRunning: state.session != nil, currentTime: time, activePlayerCount: state.active.count,
          hasResetHandler: state.hasResetHandler)
      }
    }
  }

  /// Numbers a player, or refuses one that is too many.
  func adoptPlayer() throws -> Int {
    try locked {
      guard storedFaults.livePlayerCount < storedFaults.playerLimit else {
        throw CHHapticError(.resourceNotAvailable, "the test allows \(storedFaults.playerLimit) players at a time")
      }
      storedFaults.livePlayerCount += 1
      playerCount += 1
      return playerCount
    }
  }

  func leavePlayer() { locked { storedFaults.livePlayerCount -= 1 } }

  /// Stops every engine as the system does.
  package func interruptAll(_ reason: CHHapticEngine.StoppedReason) {
    for engine in livingEngines { engine.backing.interrupt(reason) }
    settle()
  }

  /// Resets every engine as the system does.
  package func resetAll() {
    for engine in livingEngines { engine.backing.requestReset() }
    settle()
  }

  /// What goes wrong on request.
  package var faults: Faults {
    get { locked { storedFaults } }
    set { locked { storedFaults = newValue } }
  }

  /// Takes the delay that the next start has, in seconds; 0 where it has none.
  func takeStartDelay() -> Double {
    locked {
      guard case .delay(let seconds)? = storedFaults.starts.first else { return 0 }
      storedFaults.starts.removeFirst()
      return seconds
    }
  }

  /// Takes the device away, or brings it back.
  package func setPresent(_ isPresent: Bool) {
    let concerned = locked {
      storedFaults.isPresent = isPresent
      return Array(sessions.values)
    }
    for session in concerned { session.send(isPresent ? .deviceReconnected : .deviceDisconnected) }
    settle()
  }

  /// Whether handlers that are called off their actor are noticed, instead of ending the process.
  package var watchesIsolation: Bool {
    get { locked { storedWatchesIsolation } }
    set { locked { storedWatchesIsolation = newValue } }
  }

  // MARK: Record

  /// Writes down what happened.
  package func note(_ action: EngineNote.Action, engine: Int? = nil, player: Int? = nil) {
    locked { notes.append(EngineNote(time: now, engine: engine, player: player, action: action)) }
  }

  /// All that has happened, in order.
  package var record: [EngineNote] { locked { notes } }

  /// What was played in all sessions up to now.
  package var sessionRecords: [SessionRecord] {
    locked {
      pastRecords
        + sessions.values.map { session in
          session.render(to: now)
          return session.record
        }
    }
  }

  // MARK: The life of a test

  /// Engines that were made while this device's test ran and could be any of several tests'.
  package var strayEngineCount: Int { locked { storedStrayEngineCount } }

  /// Counts an engine that could be any of several tests'.
  ///
  /// It is not part of the record, which other tests' engines would change.
  func noteStrayEngine() { locked { storedStrayEngineCount += 1 } }

  /// One object of a kind for as long as the device is in place.
  package func slot<Kind: AnyObject>(_ kind: Kind.Type, _ make: () -> Kind) -> Kind {
    if let found = locked({ slots[ObjectIdentifier(kind)] as? Kind }) { return found }
    let made = make()
    return locked {
      if let found = slots[ObjectIdentifier(kind)] as? Kind { return found }
      slots[ObjectIdentifier(kind)] = made
      return made
    }
  }

  func releaseSlots() {
    let slots = locked {
      let slots = self.slots
      self.slots = [:]
      return slots
    }
    withExtendedLifetime(slots) {}
  }

  /// Whether the test it belonged to has ended.
  var hasEnded: Bool { locked { isOver } }

  /// Ends the device: nothing plays on it any more.
  func end() {
    settle()
    releaseSlots()
    locked {
      isOver = true
      timers.removeAll()
      firstDue = nil
      active.removeAll()
    }
  }

  func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }
}

extension Duration {
  /// The duration in seconds.
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
