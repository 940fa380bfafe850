internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization
internal import HapticModel
internal import HapticPlayback
package import HapticRender

/// A haptic device in memory, with a virtual clock and a log of all calls and events.
///
/// Only `advance` moves the clock.
package final class VirtualBackend: EngineBackend, @unchecked Sendable {
  /// The shared backend of a process that requests virtual output.
  package static let shared = VirtualBackend()
  /// The backend for engines that cannot be attributed to one of several running tests.
  package static let unattributed = VirtualBackend()

  /// The maximum number of rounds in which handlers trigger further handlers.
  ///
  /// After these rounds, the clock advances without waiting for the handlers.
  private static let maximumHandlerRoundCount = 1_000

  let lock = NSRecursiveLock()
  /// The sample rate of the device, in hertz.
  package let sampleRateHertz: Double
  private let profile: TransducerProfile
  private var elapsedTime = Duration.zero
  private var openSessions: [ObjectIdentifier: VirtualSession] = [:]
  /// The sessions with an active player: one that plays, is paused, or waits for its start.
  private var activeSessions: [ObjectIdentifier: VirtualSession] = [:]
  private var pendingTimers: [(due: Duration, body: @Sendable () -> Void)] = []
  private var nextTimerDueTime: Duration?
  private var pendingApplicationWaits: [ApplicationWait] = []
  private var lastWaitNumber = 0
  private var controlsWaitsDuringTest = false
  private let deviceClocks = DeviceClocks()
  package let dispatchedWork = VirtualWork()
  package let mainQueueService = MainQueueService()
  package let waitingCalls = WaitingCalls()
  /// The handler queues that have received work since the device last waited for them.
  private var queuesWithPendingWork: [ObjectIdentifier: DispatchQueue] = [:]
  private var storedLogEntries: [HapticLogEntry] = []
  private var closedSessionRecords: [SessionRecord] = []
  private var lastEngineNumber = 0
  private var lastPlayerNumber = 0
  private var livePlayerCount = 0
  private var enginesByNumber: [Int: WeakEngine] = [:]
  private var sharedObjectsByType: [ObjectIdentifier: AnyObject] = [:]
  private var storedHasTestEnded = false
  private var storedTest: DeviceTest?
  private var storedMisuse = TestMisuse()
  private var storedFaults = InjectedFaults()

  /// A pending wait of the application, such as a sleep.
  ///
  /// A wait has its due time and its number in the order of requests. `fire` is called at the due
  /// time. `cancel` is called if the test ends first, with the remaining time.
  private struct ApplicationWait {
    var dueTime: Duration
    var requestNumber: Int
    var fire: @Sendable () -> Void
    var cancel: @Sendable (Duration) -> Void
  }

  /// A weak reference to an engine.
  private struct WeakEngine { weak var backing: EngineBacking? }

  /// A record of a test's misuse of its device, which makes the test fail.
  package struct TestMisuse: Sendable {
    /// The number of waits that became due while the clock was advanced synchronously.
    ///
    /// A synchronous advance cannot end a wait.
    package var missedWaitCount = 0
    /// The calls that blocked their threads in real time, in order.
    package var realTimeBlockingCalls: [(call: String, seconds: Double)] = []
    /// The number of engines that could belong to any of several tests.
    ///
    /// They are not part of the log, so that it does not depend on other tests.
    package var unattributedEngineCount = 0
    /// The names of the tests whose engines this test used, in order.
    package var foreignEngineTestNames: [String] = []
  }

  /// The faults and conditions that a test injects into its device.
  package struct InjectedFaults: Sendable {
    package var isDeviceConnected = true
    package var isApplicationInBackground = false
    /// A Boolean value that indicates whether calls on the wrong actor are recorded.
    ///
    /// Otherwise, a handler that runs on the wrong actor ends the process.
    package var detectsIsolationViolations = false
    package var supportsHaptics = true
    package var playerLimit = Int.max
    package var nextStartResults: [StartResult] = []

    /// A result that a test injects for the next start of an engine.
    package enum StartResult: Sendable {
      case fail(CHHapticError.Code)
      case delay(seconds: Double)
    }
  }

  package init(sampleRateHertz: Double = 48_000, profile: TransducerProfile = .phone) {
    self.sampleRateHertz = sampleRateHertz
    self.profile = profile
  }

  package var isOutputAvailable: Bool {
    lock.withLock { storedFaults.isDeviceConnected && storedFaults.supportsHaptics }
  }

  package func openSession(_ request: SessionRequest) throws -> any EngineSession {
    try lock.withLock {
      if case .fail(let code)? = storedFaults.nextStartResults.first {
        storedFaults.nextStartResults.removeFirst()
        throw CHHapticError(code, "the test requested that this start fails")
      }
      guard storedFaults.supportsHaptics else {
        throw CHHapticError(.notSupported, "the device has no haptics")
      }
      guard storedFaults.isDeviceConnected else {
        throw CHHapticError(.serverInitFailed, "the device is disconnected")
      }
      let session = VirtualSession(
        rate: sampleRateHertz, profile: profile, request, on: self, at: elapsedSeconds)
      openSessions[ObjectIdentifier(session)] = session
      return session
    }
  }

  package func schedule(after seconds: Double, _ body: @escaping @Sendable () -> Void) {
    lock.withLock {
      let due = elapsedTime + .seconds(max(0, seconds))
      pendingTimers.append((due, body))
      nextTimerDueTime = min(nextTimerDueTime ?? due, due)
    }
  }

  /// The elapsed time of the device in seconds, rounded to the nanosecond.
  package var elapsedSeconds: Double {
    lock.withLock { roundedToNanosecond(elapsedTime / .seconds(1)) }
  }

  /// Advances the virtual clock.
  ///
  /// When this method returns, all players have advanced, and all handlers that become due have
  /// returned.
  ///
  /// Any division into steps leads to the same time. Silent intervals are free. Waits of the
  /// application are not ended, because their continuations could not be awaited.
  package func advance(by duration: Duration) {
    waitForHandlers()
    let targetTime = advanceEndTime(after: duration)
    while let dueHandlers = advanceToNextEvent(until: targetTime) {
      for body in dueHandlers {
        body()
      }
      waitForHandlers()
    }
    lock.withLock {
      storedMisuse.missedWaitCount += pendingApplicationWaits.count { $0.dueTime <= elapsedTime }
    }
  }

  package func advanceEndTime(after duration: Duration) -> Duration {
    lock.withLock { elapsedTime + max(.zero, duration) }
  }

  /// Advances the virtual clock for a caller that is blocked, without waiting for handlers.
  func advanceWithoutHandlers(seconds: Double) {
    let targetTime = lock.withLock { elapsedTime + .seconds(max(0, seconds)) }
    while let dueHandlers = advanceToNextEvent(until: targetTime) {
      for body in dueHandlers {
        body()
      }
    }
  }

  /// Advances the virtual clock to the next event.
  ///
  /// - Parameters:
  ///   - end: The time at which the advance ends.
  ///   - stopsAtWaits: A Boolean value that indicates whether to stop at waits of the application,
  ///     which `popDueWait()` then returns.
  /// - Returns: The closures that are due, or nil at the end.
  package func advanceToNextEvent(until end: Duration, stopsAtWaits: Bool = false)
    -> [@Sendable () -> Void]?
  {
    lock.withLock {
      guard elapsedTime < end else { return nil }
      var next = end
      if let nextTimerDueTime {
        next = min(next, max(nextTimerDueTime, elapsedTime))
      }
      if stopsAtWaits, let wait = pendingApplicationWaits.map(\.dueTime).min() {
        next = min(next, max(wait, elapsedTime))
      }
      for session in activeSessions.values {
        if let changeTime = session.deviceSecondsOfNextChange {
          next = min(next, nextRenderPeriodStart(notBefore: changeTime))
        }
      }
      elapsedTime = next
      for session in activeSessions.values {
        session.advance(toDeviceSeconds: elapsedSeconds)
      }
      guard let nextTimerDueTime, nextTimerDueTime <= elapsedTime else { return [] }
      let due = pendingTimers.filter { $0.due <= elapsedTime }.sorted { $0.due < $1.due }
      pendingTimers.removeAll { $0.due <= elapsedTime }
      self.nextTimerDueTime = pendingTimers.map(\.due).min()
      return due.map(\.body)
    }
  }

  /// A Boolean value that indicates whether waits end in the device's time.
  ///
  /// Otherwise, waits of the application end in real time, such as after the end of the test.
  package var controlsWaits: Bool {
    get { lock.withLock { controlsWaitsDuringTest && !storedHasTestEnded } }
    set { lock.withLock { controlsWaitsDuringTest = newValue } }
  }

  /// Schedules a wait of the application in the device's time.
  ///
  /// - Parameters:
  ///   - delay: The time until the wait ends.
  ///   - fire: A closure that is called once when the wait ends.
  ///   - cancel: A closure that is called instead if the test ends first, with the remaining time.
  package func scheduleWait(
    _ delay: Duration, fire: @escaping @Sendable () -> Void,
    cancel: @escaping @Sendable (Duration) -> Void
  ) {
    let isAfterTestEnd = lock.withLock {
      guard !storedHasTestEnded else { return true }
      lastWaitNumber += 1
      pendingApplicationWaits.append(
        ApplicationWait(
          dueTime: elapsedTime + max(.zero, delay), requestNumber: lastWaitNumber, fire: fire,
          cancel: cancel))
      return false
    }
    if isAfterTestEnd {
      cancel(delay)
    }
  }

  /// Removes and returns the first due wait.
  ///
  /// Waits are ordered by their due times and then by their requests.
  package func popDueWait() -> (@Sendable () -> Void)? {
    lock.withLock {
      let due = pendingApplicationWaits.indices.filter {
        pendingApplicationWaits[$0].dueTime <= elapsedTime
      }
      guard
        let first = due.min(by: {
          (pendingApplicationWaits[$0].dueTime, pendingApplicationWaits[$0].requestNumber) < (
            pendingApplicationWaits[$1].dueTime, pendingApplicationWaits[$1].requestNumber
          )
        })
      else {
        return nil
      }
      return pendingApplicationWaits.remove(at: first).fire
    }
  }

  /// Returns the virtual time on a system clock, in nanoseconds.
  ///
  /// The number is the C identifier of the clock.
  package func nanoseconds(onClock number: Int32) -> Int64? {
    lock.withLock { deviceClocks.nanoseconds(onClock: number, elapsed: elapsedTime) }
  }

  /// The virtual time on the monotonic clock, in seconds.
  var mediaClockSeconds: Double {
    let monotonicNanoseconds = lock.withLock {
      deviceClocks.nanoseconds(onClock: CLOCK_MONOTONIC, elapsed: elapsedTime)
    }
    return Double(monotonicNanoseconds ?? 0) / 1e9
  }

  /// A snapshot of the values that change while a test makes progress.
  package struct TestProgress: Equatable, Sendable {
    var elapsedTime: Duration
    var logEntryCount: Int
    var startedJobCount: Int
    var requestedWaitCount: Int
  }

  /// The current progress of the test, or nil while a thread holds the device's lock.
  package var currentTestProgress: TestProgress? {
    guard lock.try() else { return nil }
    defer { lock.unlock() }
    return TestProgress(
      elapsedTime: elapsedTime, logEntryCount: storedLogEntries.count,
      startedJobCount: dispatchedWork.startedJobCount, requestedWaitCount: lastWaitNumber)
  }

  /// The number of pending waits of the application, and the due time of the first wait.
  ///
  /// The time is in seconds. The value is nil if there are no pending waits.
  package var pendingWaitSummary: (count: Int, firstDue: Double)? {
    guard lock.try() else { return nil }
    defer { lock.unlock() }
    guard let firstDueTime = pendingApplicationWaits.map(\.dueTime).min() else { return nil }
    return (pendingApplicationWaits.count, roundedToNanosecond(firstDueTime / .seconds(1)))
  }

  package func recordRealTimeBlockingCall(_ call: String, seconds: Double) {
    lock.withLock { storedMisuse.realTimeBlockingCalls.append((call, seconds)) }
  }

  /// Returns the start of the first render period at or after a time in seconds.
  ///
  /// Handlers of players are called at the starts of render periods.
  private func nextRenderPeriodStart(notBefore seconds: Double) -> Duration {
    let periodSeconds = Double(VirtualSession.renderPeriodFrameCount) / sampleRateHertz
    let followingPeriodNumber =
      (elapsedTime / .seconds(1) / periodSeconds + 1e-6).rounded(.down) + 1
    // Sessions round times to frames with the same margin of a thousandth of a frame.
    let requestedPeriodNumber = ((seconds - 1e-3 / sampleRateHertz) / periodSeconds).rounded(.up)
    return .seconds(max(followingPeriodNumber, requestedPeriodNumber) * periodSeconds)
  }

  /// Waits until all due handlers, and the handlers that they triggered, have returned.
  ///
  /// Returns whether there were any.
  @discardableResult package func waitForHandlers() -> Bool {
    for round in 0..<Self.maximumHandlerRoundCount {
      let queues = lock.withLock { exchange(&queuesWithPendingWork, with: [:]) }
      if queues.isEmpty { return round > 0 }
      for queue in queues.values {
        mainQueueService.waitForSubmittedBlocks(of: queue)
      }
    }
    return true
  }

  /// Registers a handler queue with submitted work, so that the clock waits for the work.
  func registerHandlerWork(on queue: DispatchQueue) {
    lock.withLock { queuesWithPendingWork[ObjectIdentifier(queue)] = queue }
  }

  func advanceToCurrentTime(_ session: VirtualSession) {
    lock.withLock { session.advance(toDeviceSeconds: elapsedSeconds) }
  }

  func updatePlayerActivity(_ isActive: Bool, of session: VirtualSession) {
    lock.withLock {
      session.advance(toDeviceSeconds: elapsedSeconds)
      session.setHasActivePlayer(isActive)
      let id = ObjectIdentifier(session)
      activeSessions[id] = isActive && openSessions[id] != nil ? session : nil
    }
  }

  func close(_ session: VirtualSession) {
    lock.withLock {
      session.advance(toDeviceSeconds: elapsedSeconds)
      session.endSession()
      closedSessionRecords.append(session.sessionRecord)
      openSessions[ObjectIdentifier(session)] = nil
      activeSessions[ObjectIdentifier(session)] = nil
    }
  }

  func registerEngine(_ backing: EngineBacking) -> Int {
    lock.withLock {
      lastEngineNumber += 1
      enginesByNumber[lastEngineNumber] = WeakEngine(backing: backing)
      appendLogEntry(.engineMade, engine: lastEngineNumber)
      return lastEngineNumber
    }
  }

  func unregisterEngine(_ number: Int) { lock.withLock { enginesByNumber[number] = nil } }

  var liveEngines: [(number: Int, backing: EngineBacking)] {
    lock.withLock {
      enginesByNumber.sorted { $0.key < $1.key }.compactMap { number, engine in
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
      let time = backing.currentSeconds
      return backing.withLockedState {
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
      lastPlayerNumber += 1
      return lastPlayerNumber
    }
  }

  func unregisterPlayer() { lock.withLock { livePlayerCount -= 1 } }

  package func interruptAllEngines(_ reason: CHHapticEngine.StoppedReason) {
    for engine in liveEngines {
      engine.backing.interrupt(reason)
    }
    waitForHandlers()
  }

  package func resetAllEngines() {
    for engine in liveEngines {
      engine.backing.requestReset()
    }
    waitForHandlers()
  }

  package var injectedFaults: InjectedFaults {
    get { lock.withLock { storedFaults } }
    set { lock.withLock { storedFaults = newValue } }
  }

  /// Removes and returns the injected delay of an engine's next start, in seconds.
  ///
  /// The delay is 0 if the start is not delayed.
  func popStartDelay() -> Double {
    lock.withLock {
      guard case .delay(let seconds)? = storedFaults.nextStartResults.first else { return 0 }
      storedFaults.nextStartResults.removeFirst()
      return seconds
    }
  }

  package var isApplicationInBackground: Bool {
    lock.withLock { storedFaults.isApplicationInBackground }
  }

  /// Moves the application to the background or to the foreground.
  ///
  /// Posts the notifications of a phone, and interrupts engines in the background.
  package func setApplicationInBackground(_ isInBackground: Bool) {
    guard isInBackground != self.isApplicationInBackground else { return }
    postNotification(isInBackground ? .willResignActive : .willEnterForeground)
    lock.withLock { storedFaults.isApplicationInBackground = isInBackground }
    postNotification(isInBackground ? .didEnterBackground : .didBecomeActive)
    if isInBackground {
      interruptAllEngines(.applicationSuspended)
    }
  }

  /// Posts a notification of the application.
  ///
  /// Engines that its observers create belong to this device.
  private func postNotification(_ notification: LifecycleNotification) {
    appendLogEntry(.application("\(notification)"))
    EngineBackends.$scopedDevice.withValue(self) {
      NotificationCenter.default.post(name: Notification.Name(notification.rawValue), object: nil)
    }
    waitForHandlers()
  }

  package func setDeviceConnected(_ isPresent: Bool) {
    let affectedSessions = lock.withLock {
      storedFaults.isDeviceConnected = isPresent
      return Array(openSessions.values)
    }
    for session in affectedSessions {
      session.sessionRequest.devicePresenceHandler(isPresent)
    }
    waitForHandlers()
  }

  package func appendLogEntry(
    _ action: HapticLogEntry.Action, engine: Int? = nil, player: Int? = nil
  ) {
    lock.withLock {
      storedLogEntries.append(
        HapticLogEntry(
          time: elapsedSeconds, engineNumber: engine, playerNumber: player, action: action))
    }
  }

  package var logEntries: [HapticLogEntry] { lock.withLock { storedLogEntries } }

  package var sessionRecords: [SessionRecord] {
    lock.withLock {
      closedSessionRecords
        + openSessions.values.map { session in
          session.advance(toDeviceSeconds: elapsedSeconds)
          return session.sessionRecord
        }
    }
  }

  /// A running test whose engines play on this virtual device.
  package struct DeviceTest: Sendable {
    package var name: String
    /// A Boolean value that indicates whether no other test with a device runs at the same time.
    package var runsAlone: Bool

    package init(name: String, runsAlone isAlone: Bool) {
      self.name = name
      self.runsAlone = isAlone
    }
  }

  package internal(set) var currentTest: DeviceTest? {
    get { lock.withLock { storedTest } }
    set { lock.withLock { storedTest = newValue } }
  }

  package var testMisuse: TestMisuse { lock.withLock { storedMisuse } }

  func recordForeignEngine(of test: String) {
    lock.withLock {
      if !storedMisuse.foreignEngineTestNames.contains(test) {
        storedMisuse.foreignEngineTestNames.append(test)
      }
    }
  }

  func recordUnattributedEngine() { lock.withLock { storedMisuse.unattributedEngineCount += 1 } }

  /// Returns the device's shared object of a type, and creates it if necessary.
  ///
  /// The object is shared for the lifetime of the device.
  package func sharedObject<Kind: AnyObject>(ofType kind: Kind.Type, make: () -> Kind) -> Kind {
    if let existingObject = lock.withLock({ sharedObjectsByType[ObjectIdentifier(kind)] as? Kind })
    {
      return existingObject
    }
    let newObject = make()
    return lock.withLock {
      if let existing = sharedObjectsByType[ObjectIdentifier(kind)] as? Kind { return existing }
      sharedObjectsByType[ObjectIdentifier(kind)] = newObject
      return newObject
    }
  }

  func releaseSharedObjects() {
    // The objects may call back while they are released.
    let releasedObjects = lock.withLock { exchange(&self.sharedObjectsByType, with: [:]) }
    withExtendedLifetime(releasedObjects) {}
  }

  var hasTestEnded: Bool { lock.withLock { storedHasTestEnded } }

  func endTest() {
    waitForHandlers()
    releaseSharedObjects()
    let (remainingWaits, now) = lock.withLock {
      storedHasTestEnded = true
      pendingTimers.removeAll()
      nextTimerDueTime = nil
      activeSessions.removeAll()
      return (exchange(&pendingApplicationWaits, with: []), elapsedTime)
    }
    WorkOwner.withoutDevice {
      for wait in remainingWaits {
        wait.cancel(max(.zero, wait.dueTime - now))
      }
    }
  }
}

/// A notification about the application's move to the background or the foreground.
///
/// The raw values are the names on Apple's systems.
package enum LifecycleNotification: String, Sendable {
  case willResignActive = "UIApplicationWillResignActiveNotification"
  case didEnterBackground = "UIApplicationDidEnterBackgroundNotification"
  case willEnterForeground = "UIApplicationWillEnterForegroundNotification"
  case didBecomeActive = "UIApplicationDidBecomeActiveNotification"
}

/// Returns a time rounded to the nanosecond, so that sums of seconds can be compared.
package func roundedToNanosecond(_ seconds: Double) -> Double { (seconds * 1e9).rounded() / 1e9 }
