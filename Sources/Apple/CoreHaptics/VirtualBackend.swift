internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization
internal import HapticModel
internal import HapticPlayback
package import HapticRender

/// A device in memory, with a clock that only `advance` moves, and a log of all calls and events.
package final class VirtualBackend: EngineBackend, @unchecked Sendable {
  /// The backend of a process that requests virtual output.
  package static let shared = VirtualBackend()
  /// The backend of engines that cannot be attributed to one of several tests.
  package static let unattributed = VirtualBackend()

  /// The maximum number of rounds of handlers that trigger other handlers, before the clock
  /// advances without waiting for them.
  private static let maximumSettleRounds = 1_000

  let lock = NSRecursiveLock()
  /// The sample rate, in hertz.
  package let rate: Double
  private let profile: TransducerProfile
  private var clock = Duration.zero
  private var sessions: [ObjectIdentifier: VirtualSession] = [:]
  /// The sessions with a player that plays, is paused, or waits for its start.
  private var activeSessions: [ObjectIdentifier: VirtualSession] = [:]
  private var timers: [(due: Duration, body: @Sendable () -> Void)] = []
  private var nextTimer: Duration?
  private var waits: [Wait] = []
  private var waitCount = 0
  private var storedControlsWaits = false
  private let clocks = DeviceClocks()
  package let work = VirtualWork()
  package let mainQueueService = MainQueueService()
  package let waitingCalls = WaitingCalls()
  /// The handler queues with work since they were last waited for.
  private var pendingQueues: [ObjectIdentifier: DispatchQueue] = [:]
  private var log: [HapticLogEntry] = []
  private var pastRecords: [SessionRecord] = []
  private var engineCount = 0
  private var playerCount = 0
  private var livePlayerCount = 0
  private var engines: [Int: WeakEngine] = [:]
  private var sharedObjects: [ObjectIdentifier: AnyObject] = [:]
  private var isEnded = false
  private var storedTest: Test?
  private var storedMisuse = TestMisuse()
  private var storedFaults = InjectedFaults()

  /// A wait of the application: its due time, its number in the order of requests, and two
  /// closures. `fire` is called at the due time; `cancel` is called if the test ends first, with
  /// the remaining time.
  private struct Wait {
    var due: Duration
    var number: Int
    var fire: @Sendable () -> Void
    var cancel: @Sendable (Duration) -> Void
  }

  /// A weak reference to an engine.
  private struct WeakEngine { weak var backing: EngineBacking? }

  /// Misuse of the device for which a test fails.
  package struct TestMisuse: Sendable {
    /// The number of waits that became due in a step that could not end them.
    package var missedWaitCount = 0
    /// The calls that blocked their threads in real time, in order.
    package var blockingCalls: [(call: String, seconds: Double)] = []
    /// The number of engines that could belong to any of several tests. They are not part of the
    /// log, so that it does not depend on other tests.
    package var unattributedEngineCount = 0
    /// The tests whose engines this test used, in order.
    package var foreignEngineOwners: [String] = []
  }

  /// Faults and conditions that a test injects.
  package struct InjectedFaults: Sendable {
    package var isConnected = true
    package var isInBackground = false
    /// A Boolean value that indicates whether handlers on the wrong actor are detected instead of
    /// ending the process.
    package var detectsIsolationViolations = false
    package var supportsHaptics = true
    package var playerLimit = Int.max
    package var starts: [Start] = []

    /// An injected result of a start.
    package enum Start: Sendable {
      case fail(CHHapticError.Code)
      case delay(seconds: Double)
    }
  }

  package init(rate: Double = 48_000, profile: TransducerProfile = .phone) {
    self.rate = rate
    self.profile = profile
  }

  package var isAvailable: Bool {
    lock.withLock { storedFaults.isConnected && storedFaults.supportsHaptics }
  }

  package func open(_ request: SessionRequest) throws -> any EngineSession {
    try lock.withLock {
      if case .fail(let code)? = storedFaults.starts.first {
        storedFaults.starts.removeFirst()
        throw CHHapticError(code, "the test requested that this start fails")
      }
      guard storedFaults.supportsHaptics else {
        throw CHHapticError(.notSupported, "the device has no haptics")
      }
      guard storedFaults.isConnected else {
        throw CHHapticError(.serverInitFailed, "the device is disconnected")
      }
      let session = VirtualSession(rate: rate, profile: profile, request, on: self, at: now)
      sessions[ObjectIdentifier(session)] = session
      return session
    }
  }

  package func schedule(after seconds: Double, _ body: @escaping @Sendable () -> Void) {
    lock.withLock {
      let due = clock + .seconds(max(0, seconds))
      timers.append((due, body))
      nextTimer = min(nextTimer ?? due, due)
    }
  }

  /// The elapsed time in seconds, rounded to the nanosecond.
  package var now: Double { lock.withLock { roundedToNanosecond(clock / .seconds(1)) } }

  /// Advances the virtual clock. All players have advanced, and all handlers that become due
  /// have returned when this method returns.
  ///
  /// Any division into steps leads to the same time. Silent intervals are free. Waits of the
  /// application are not ended, because their continuations could not be awaited.
  package func advance(by duration: Duration) {
    settle()
    let end = end(of: duration)
    while let due = step(to: end) {
      for body in due {
        body()
      }
      settle()
    }
    lock.withLock { storedMisuse.missedWaitCount += waits.count { $0.due <= clock } }
  }

  package func end(of duration: Duration) -> Duration {
    lock.withLock { clock + max(.zero, duration) }
  }

  /// Advances the virtual clock for a caller that is blocked, without waiting for handlers.
  func advanceBlocked(seconds: Double) {
    let end = lock.withLock { clock + .seconds(max(0, seconds)) }
    while let due = step(to: end) {
      for body in due {
        body()
      }
    }
  }

  /// Advances the clock to the next event.
  ///
  /// - Parameters:
  ///   - end: The time at which the advance ends.
  ///   - stopsAtWaits: A Boolean value that indicates whether to stop at waits of the application,
  ///     which `popDueWait()` then returns.
  /// - Returns: The closures that are due, or nil at the end.
  package func step(to end: Duration, stopsAtWaits: Bool = false)
    -> [@Sendable () -> Void]?
  {
    lock.withLock {
      guard clock < end else { return nil }
      var next = end
      if let nextTimer {
        next = min(next, max(nextTimer, clock))
      }
      if stopsAtWaits, let wait = waits.map(\.due).min() {
        next = min(next, max(wait, clock))
      }
      for session in activeSessions.values {
        if let changeTime = session.nextChangeTime {
          next = min(next, nextPeriod(notBefore: changeTime))
        }
      }
      clock = next
      for session in activeSessions.values {
        session.advance(toDeviceTime: now)
      }
      guard let nextTimer, nextTimer <= clock else { return [] }
      let due = timers.filter { $0.due <= clock }.sorted { $0.due < $1.due }
      timers.removeAll { $0.due <= clock }
      self.nextTimer = timers.map(\.due).min()
      return due.map(\.body)
    }
  }

  /// A Boolean value that indicates whether waits of the application follow the device's time. It
  /// is false after the test has ended.
  package var controlsWaits: Bool {
    get { lock.withLock { storedControlsWaits && !isEnded } }
    set { lock.withLock { storedControlsWaits = newValue } }
  }

  /// Schedules a wait of the application.
  ///
  /// - Parameters:
  ///   - delay: The time until the wait ends.
  ///   - fire: Called once when the time has come.
  ///   - cancel: Called instead if the test ends first, with the remaining time.
  package func scheduleWait(
    _ delay: Duration, fire: @escaping @Sendable () -> Void,
    cancel: @escaping @Sendable (Duration) -> Void
  ) {
    let isLate = lock.withLock {
      guard !isEnded else { return true }
      waitCount += 1
      waits.append(
        Wait(due: clock + max(.zero, delay), number: waitCount, fire: fire, cancel: cancel))
      return false
    }
    if isLate {
      cancel(delay)
    }
  }

  /// Removes and returns the first due wait, in the order of due times and requests.
  package func popDueWait() -> (@Sendable () -> Void)? {
    lock.withLock {
      let due = waits.indices.filter { waits[$0].due <= clock }
      guard
        let first = due.min(by: {
          (waits[$0].due, waits[$0].number) < (waits[$1].due, waits[$1].number)
        })
      else {
        return nil
      }
      return waits.remove(at: first).fire
    }
  }

  /// Returns the nanoseconds on a system clock, by its number in C, in the device's time.
  package func nanoseconds(onClock number: Int32) -> Int64? {
    lock.withLock { clocks.nanoseconds(onClock: number, elapsed: clock) }
  }

  /// The time on the monotonic clock in the device's time, in seconds.
  var mediaTime: Double {
    let nanoseconds = lock.withLock {
      clocks.nanoseconds(onClock: CLOCK_MONOTONIC, elapsed: clock)
    }
    return Double(nanoseconds ?? 0) / 1e9
  }

  /// Values that change while a test makes progress.
  package struct Progress: Equatable, Sendable {
    var time: Duration
    var logEntryCount: Int
    var jobCount: Int
    var waitCount: Int
  }

  /// The progress of the test, or nil while a thread holds the device's lock.
  package var progress: Progress? {
    guard lock.try() else { return nil }
    defer { lock.unlock() }
    return Progress(
      time: clock, logEntryCount: log.count, jobCount: work.startedCount, waitCount: waitCount)
  }

  /// The number of waits of the application, and the due time of the first, in seconds.
  package var pendingWaits: (count: Int, firstDue: Double)? {
    guard lock.try() else { return nil }
    defer { lock.unlock() }
    guard let first = waits.map(\.due).min() else { return nil }
    return (waits.count, roundedToNanosecond(first / .seconds(1)))
  }

  package func recordBlockingCall(_ call: String, seconds: Double) {
    lock.withLock { storedMisuse.blockingCalls.append((call, seconds)) }
  }

  /// Returns the start of the first period of the device's clock after the current time and not
  /// before a time in seconds. Handlers of players are called at these times.
  private func nextPeriod(notBefore seconds: Double) -> Duration {
    let period = Double(VirtualSession.periodSize) / rate
    let following = (clock / .seconds(1) / period + 1e-6).rounded(.down) + 1
    // Sessions round times to frames with the same margin of a thousandth of a frame.
    let requested = ((seconds - 1e-3 / rate) / period).rounded(.up)
    return .seconds(max(following, requested) * period)
  }

  /// Waits until all due handlers have returned, and the handlers that they triggered. Returns
  /// whether there were any.
  @discardableResult package func settle() -> Bool {
    for round in 0..<Self.maximumSettleRounds {
      let queues = lock.withLock { exchange(&pendingQueues, with: [:]) }
      if queues.isEmpty { return round > 0 }
      for queue in queues.values {
        mainQueueService.waitForBlocks(of: queue)
      }
    }
    return true
  }

  /// Registers work on a handler queue, so that the clock waits for it.
  func recordWork(on queue: DispatchQueue) {
    lock.withLock { pendingQueues[ObjectIdentifier(queue)] = queue }
  }

  func advanceToNow(_ session: VirtualSession) {
    lock.withLock { session.advance(toDeviceTime: now) }
  }

  func updateActivity(_ isActive: Bool, of session: VirtualSession) {
    lock.withLock {
      session.advance(toDeviceTime: now)
      session.setActive(isActive)
      let id = ObjectIdentifier(session)
      activeSessions[id] = isActive && sessions[id] != nil ? session : nil
    }
  }

  func close(_ session: VirtualSession) {
    lock.withLock {
      session.advance(toDeviceTime: now)
      session.finish()
      pastRecords.append(session.record)
      sessions[ObjectIdentifier(session)] = nil
      activeSessions[ObjectIdentifier(session)] = nil
    }
  }

  func register(_ backing: EngineBacking) -> Int {
    lock.withLock {
      engineCount += 1
      engines[engineCount] = WeakEngine(backing: backing)
      append(.engineMade, engine: engineCount)
      return engineCount
    }
  }

  func unregister(_ number: Int) { lock.withLock { engines[number] = nil } }

  var liveEngines: [(number: Int, backing: EngineBacking)] {
    lock.withLock {
      engines.sorted { $0.key < $1.key }.compactMap { number, engine in
        engine.backing.map { (number, $0) }
      }
    }
  }

  package var engineStates:
    [(
      number: Int, isRunning: Bool, currentTime: Double, activePlayerCount: Int,
      hasResetHandler: Bool
    )]
  {
    liveEngines.map { number, backing in
      let time = backing.currentTime
      return backing.withState {
        (number, $0.session != nil, time, $0.activePlayers.count, $0.resetHandler != nil)
      }
    }
  }

  func registerPlayer() throws -> Int {
    try lock.withLock {
      guard livePlayerCount < storedFaults.playerLimit else {
        throw CHHapticError(
          .resourceNotAvailable,
          "the test allows at most \(storedFaults.playerLimit) players at a time")
      }
      livePlayerCount += 1
      playerCount += 1
      return playerCount
    }
  }

  func unregisterPlayer() { lock.withLock { livePlayerCount -= 1 } }

  package func interruptAll(_ reason: CHHapticEngine.StoppedReason) {
    for engine in liveEngines {
      engine.backing.interrupt(reason)
    }
    settle()
  }

  package func resetAll() {
    for engine in liveEngines {
      engine.backing.requestReset()
    }
    settle()
  }

  package var faults: InjectedFaults {
    get { lock.withLock { storedFaults } }
    set { lock.withLock { storedFaults = newValue } }
  }

  /// Removes and returns the delay of the next start, in seconds; 0 if it is not delayed.
  func popStartDelay() -> Double {
    lock.withLock {
      guard case .delay(let seconds)? = storedFaults.starts.first else { return 0 }
      storedFaults.starts.removeFirst()
      return seconds
    }
  }

  package var isInBackground: Bool { lock.withLock { storedFaults.isInBackground } }

  /// Moves the application to the background or back. Posts the notifications of a phone, and
  /// interrupts engines in the background.
  package func setInBackground(_ isInBackground: Bool) {
    guard isInBackground != self.isInBackground else { return }
    post(isInBackground ? .willResignActive : .willEnterForeground)
    lock.withLock { storedFaults.isInBackground = isInBackground }
    post(isInBackground ? .didEnterBackground : .didBecomeActive)
    if isInBackground {
      interruptAll(.applicationSuspended)
    }
  }

  /// Posts a notification. Engines that its observers create belong to this device.
  private func post(_ notification: LifecycleNotification) {
    append(.application("\(notification)"))
    EngineBackends.$scoped.withValue(self) {
      NotificationCenter.default.post(name: Notification.Name(notification.rawValue), object: nil)
    }
    settle()
  }

  package func setConnected(_ isPresent: Bool) {
    let concerned = lock.withLock {
      storedFaults.isConnected = isPresent
      return Array(sessions.values)
    }
    for session in concerned {
      session.request.presenceHandler(isPresent)
    }
    settle()
  }

  package func append(_ action: HapticLogEntry.Action, engine: Int? = nil, player: Int? = nil) {
    lock.withLock {
      log.append(HapticLogEntry(time: now, engine: engine, player: player, action: action))
    }
  }

  package var logEntries: [HapticLogEntry] { lock.withLock { log } }

  package var sessionRecords: [SessionRecord] {
    lock.withLock {
      pastRecords
        + sessions.values.map { session in
          session.advance(toDeviceTime: now)
          return session.record
        }
    }
  }

  /// The test that a device belongs to.
  package struct Test: Sendable {
    package var name: String
    /// A Boolean value that indicates whether no other test with a device runs at the same time.
    package var runsAlone: Bool

    package init(name: String, runsAlone isAlone: Bool) {
      self.name = name
      self.runsAlone = isAlone
    }
  }

  package internal(set) var test: Test? {
    get { lock.withLock { storedTest } }
    set { lock.withLock { storedTest = newValue } }
  }

  package var misuse: TestMisuse { lock.withLock { storedMisuse } }

  func recordForeignEngine(of test: String) {
    lock.withLock {
      if !storedMisuse.foreignEngineOwners.contains(test) {
        storedMisuse.foreignEngineOwners.append(test)
      }
    }
  }

  func recordUnattributedEngine() { lock.withLock { storedMisuse.unattributedEngineCount += 1 } }

  /// Returns the object of a type that is shared for the lifetime of the device, and creates it if
  /// necessary.
  package func sharedObject<Kind: AnyObject>(_ kind: Kind.Type, make: () -> Kind) -> Kind {
    if let existing = lock.withLock({ sharedObjects[ObjectIdentifier(kind)] as? Kind }) {
      return existing
    }
    let object = make()
    return lock.withLock {
      if let existing = sharedObjects[ObjectIdentifier(kind)] as? Kind { return existing }
      sharedObjects[ObjectIdentifier(kind)] = object
      return object
    }
  }

  func releaseSharedObjects() {
    // The objects may call back while they are released.
    let slots = lock.withLock { exchange(&self.sharedObjects, with: [:]) }
    withExtendedLifetime(slots) {}
  }

  var hasEnded: Bool { lock.withLock { isEnded } }

  func end() {
    settle()
    releaseSharedObjects()
    let (remainingWaits, now) = lock.withLock {
      isEnded = true
      timers.removeAll()
      nextTimer = nil
      activeSessions.removeAll()
      return (exchange(&waits, with: []), clock)
    }
    WorkOwner.withoutDevice {
      for wait in remainingWaits {
        wait.cancel(max(.zero, wait.due - now))
      }
    }
  }
}

/// The notifications of an application that moves to the background or back, with their names on
/// Apple's systems.
package enum LifecycleNotification: String, Sendable {
  case willResignActive = "UIApplicationWillResignActiveNotification"
  case didEnterBackground = "UIApplicationDidEnterBackgroundNotification"
  case willEnterForeground = "UIApplicationWillEnterForegroundNotification"
  case didBecomeActive = "UIApplicationDidBecomeActiveNotification"
}

/// Returns a time rounded to the nanosecond, so that sums of seconds can be compared.
package func roundedToNanosecond(_ seconds: Double) -> Double { (seconds * 1e9).rounded() / 1e9 }
