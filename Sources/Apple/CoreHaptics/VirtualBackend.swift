internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization
package import HapticModel
package import HapticPlayback
package import HapticRender

/// Outputs in memory, in a time that only `advance` moves, with a record of all that happens.
package final class VirtualBackend: EngineBackend, @unchecked Sendable {
  /// The backend of a process that requests virtual output.
  package static let shared = VirtualBackend()
  /// The backend of engines that could be any of several tests'.
  package static let stray = VirtualBackend()

  /// Rounds of handlers that cause others, before time goes on without them.
  private static let maximumRounds = 1_000

  let lock = NSRecursiveLock()
  /// Frames per second.
  package let rate: Double
  private let profile: TransducerProfile
  private var clock = Duration.zero
  private var sessions: [ObjectIdentifier: VirtualSession] = [:]
  /// Sessions in which a player plays, is paused or waits.
  private var active: [ObjectIdentifier: VirtualSession] = [:]
  private var timers: [(due: Duration, body: @Sendable () -> Void)] = []
  private var firstDue: Duration?
  private var waits: [Wait] = []
  private var waitCount = 0
  private var storedMovesWaits = false
  /// Times of the system's clocks at the device's beginning, in nanoseconds.
  private let beginnings = systemClocks.map { clock in
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
  private static let systemClocks = [CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME]
  package let work = VirtualWork()
  /// Handler queues that have been given work since they were last waited for.
  private var busyQueues: [ObjectIdentifier: DispatchQueue] = [:]
  private var notes: [EngineNote] = []
  private var pastRecords: [SessionRecord] = []
  private var engineCount = 0
  private var playerCount = 0
  private var livePlayerCount = 0
  private var engines: [Int: WeakEngine] = [:]
  private var slots: [ObjectIdentifier: AnyObject] = [:]
  private var isOver = false
  private var storedTest: Test?
  private var storedMistakes = Mistakes()
  private var storedFaults = Faults()

  /// A wait of the application: until when, in which order it was asked for, and what is called
  /// then or at the end of the test with the time that remains.
  private struct Wait {
    var due: Duration
    var number: Int
    var fire: @Sendable () -> Void
    var leave: @Sendable (Duration) -> Void
  }

  private struct WeakEngine { weak var backing: EngineBacking? }

  /// What a test is refused for.
  package struct Mistakes: Sendable {
    /// How many waits were due in a step that could not call them.
    package var missedWaitCount = 0
    /// The calls that blocked their threads in real time, in order.
    package var blocks: [(call: String, seconds: Double)] = []
    /// Engines that could be any of several tests'; not part of the record, which other tests'
    /// engines would change.
    package var strayEngineCount = 0
    /// Tests whose engines this one used, in order.
    package var foreignTests: [String] = []
  }

  package struct Faults: Sendable {
    package var isPresent = true
    package var isInBackground = false
    /// Whether handlers that are called off their actor are noticed, instead of ending the process.
    package var watchesIsolation = false
    package var supportsHaptics = true
    package var playerLimit = Int.max
    package var starts: [Start] = []

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
    lock.withLock { storedFaults.isPresent && storedFaults.supportsHaptics }
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
      guard storedFaults.isPresent else {
        throw CHHapticError(.serverInitFailed, "the device is disconnected")
      }
      let session = VirtualSession(rate: rate, profile: profile, request, on: self, at: now)
      sessions[ObjectIdentifier(session)] = session
      return session
    }
  }

  package func after(_ seconds: Double, _ body: @escaping @Sendable () -> Void) {
    lock.withLock {
      let due = clock + .seconds(max(0, seconds))
      timers.append((due, body))
      firstDue = min(firstDue ?? due, due)
    }
  }

  /// Seconds that have gone by, to the nanosecond.
  package var now: Double { lock.withLock { rounded(clock / .seconds(1)) } }

  /// Lets time go by: everything is rendered, and handlers are called and have returned before it
  /// does. Any sum of steps leads to the same time. Time in which nothing plays costs nothing. What
  /// the application waits for is not called: nobody could wait for what it sets off.
  package func advance(by duration: Duration) {
    settle()
    let end = end(of: duration)
    while let due = step(to: end) {
      for body in due {
        body()
      }
      settle()
    }
    lock.withLock { storedMistakes.missedWaitCount += waits.count { $0.due <= clock } }
  }

  package func end(of duration: Duration) -> Duration {
    lock.withLock { clock + max(.zero, duration) }
  }

  /// Lets time go by for a caller that is blocked meanwhile, without waiting for handlers.
  func pass(seconds: Double) {
    let end = lock.withLock { clock + .seconds(max(0, seconds)) }
    while let due = step(to: end) {
      for body in due {
        body()
      }
    }
  }

  /// Moves the clock to what happens next, or to a wait of the application, which `takeWait()` then
  /// returns; returns what is due then, or nil at the end.
  package func step(to end: Duration, findsWaits: Bool = false) -> [@Sendable () -> Void]? {
    lock.withLock {
      guard clock < end else { return nil }
      var next = end
      if let firstDue {
        next = min(next, max(firstDue, clock))
      }
      if findsWaits, let wait = waits.map(\.due).min() {
        next = min(next, max(wait, clock))
      }
      // What plays is rendered by periods of the device's clock, so that handlers have their time.
      if !active.isEmpty {
        next = min(next, nextPeriod)
      }
      clock = next
      for session in active.values {
        session.render(to: now)
      }
      guard let firstDue, firstDue <= clock else { return [] }
      let due = timers.filter { $0.due <= clock }.sorted { $0.due < $1.due }
      timers.removeAll { $0.due <= clock }
      self.firstDue = timers.map(\.due).min()
      return due.map(\.body)
    }
  }

  /// Whether what the application waits for follows the device's time; not where its test has
  /// ended.
  package var movesWaits: Bool {
    get { lock.withLock { storedMovesWaits && !isOver } }
    set { lock.withLock { storedMovesWaits = newValue } }
  }

  /// Calls a closure once when a time has come, or another at the end of the test, with the time
  /// that remains.
  package func wait(
    _ delay: Duration, fire: @escaping @Sendable () -> Void,
    leave: @escaping @Sendable (Duration) -> Void
  ) {
    let isLate = lock.withLock {
      guard !isOver else { return true }
      waitCount += 1
      waits.append(
        Wait(due: clock + max(.zero, delay), number: waitCount, fire: fire, leave: leave))
      return false
    }
    if isLate {
      leave(delay)
    }
  }

  /// Takes the first wait that is due, by time and then by the order in which they were asked for.
  package func takeWait() -> (@Sendable () -> Void)? {
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

  /// Nanoseconds on a clock of the system by its number in C, as they are in the device's time.
  package func time(onClock number: Int32) -> Int64? {
    guard let index = Self.systemClocks.firstIndex(of: number) else { return nil }
    let (seconds, attoseconds) = lock.withLock { clock.components }
    return beginnings[index] + seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  package func noteBlock(_ call: String, seconds: Double) {
    lock.withLock { storedMistakes.blocks.append((call, seconds)) }
  }

  private var nextPeriod: Duration {
    let period = Double(VirtualSession.periodSize) / rate
    return .seconds(((clock / .seconds(1) / period + 1e-6).rounded(.down) + 1) * period)
  }

  /// Waits until all handlers that were due have returned, and those they caused; returns whether
  /// there were any.
  @discardableResult package func settle() -> Bool {
    for round in 0..<Self.maximumRounds {
      let queues = lock.withLock { exchange(&busyQueues, with: [:]) }
      if queues.isEmpty { return round > 0 }
      for queue in queues.values {
        queue.sync {}
      }
    }
    return true
  }

  /// Waits for what a handler queue is given, before time goes on.
  func noteWork(on queue: DispatchQueue) {
    lock.withLock { busyQueues[ObjectIdentifier(queue)] = queue }
  }

  func catchUp(_ session: VirtualSession) { lock.withLock { session.render(to: now) } }

  func noteActivity(_ isActive: Bool, of session: VirtualSession) {
    lock.withLock {
      session.render(to: now)
      session.setActive(isActive)
      let id = ObjectIdentifier(session)
      active[id] = isActive && sessions[id] != nil ? session : nil
    }
  }

  func forget(_ session: VirtualSession) {
    lock.withLock {
      session.render(to: now)
      session.finish()
      pastRecords.append(session.record)
      sessions[ObjectIdentifier(session)] = nil
      active[ObjectIdentifier(session)] = nil
    }
  }

  func adopt(_ backing: EngineBacking) -> Int {
    lock.withLock {
      engineCount += 1
      engines[engineCount] = WeakEngine(backing: backing)
      note(.engineMade, engine: engineCount)
      return engineCount
    }
  }

  func leave(_ number: Int) { lock.withLock { engines[number] = nil } }

  var livingEngines: [(number: Int, backing: EngineBacking)] {
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
    livingEngines.map { number, backing in
      let time = backing.currentTime
      return backing.with {
        (number, $0.session != nil, time, $0.active.count, $0.resetHandler != nil)
      }
    }
  }

  func adoptPlayer() throws -> Int {
    try lock.withLock {
      guard livePlayerCount < storedFaults.playerLimit else {
        throw CHHapticError(
          .resourceNotAvailable, "the test allows \(storedFaults.playerLimit) players at a time")
      }
      livePlayerCount += 1
      playerCount += 1
      return playerCount
    }
  }

  func leavePlayer() { lock.withLock { livePlayerCount -= 1 } }

  package func interruptAll(_ reason: CHHapticEngine.StoppedReason) {
    for engine in livingEngines {
      engine.backing.interrupt(reason)
    }
    settle()
  }

  package func resetAll() {
    for engine in livingEngines {
      engine.backing.requestReset()
    }
    settle()
  }

  package var faults: Faults {
    get { lock.withLock { storedFaults } }
    set { lock.withLock { storedFaults = newValue } }
  }

  /// Takes the delay that the next start has, in seconds; 0 where it has none.
  func takeStartDelay() -> Double {
    lock.withLock {
      guard case .delay(let seconds)? = storedFaults.starts.first else { return 0 }
      storedFaults.starts.removeFirst()
      return seconds
    }
  }

  package var isInBackground: Bool { lock.withLock { storedFaults.isInBackground } }

  /// Moves the application to the background or back: posts what a phone posts, and stops engines
  /// behind it.
  package func setInBackground(_ isInBackground: Bool) {
    guard isInBackground != self.isInBackground else { return }
    post(isInBackground ? .willResignActive : .willEnterForeground)
    lock.withLock { storedFaults.isInBackground = isInBackground }
    post(isInBackground ? .didEnterBackground : .didBecomeActive)
    if isInBackground {
      interruptAll(.applicationSuspended)
    }
  }

  /// Posts a notification; what its observers make belongs to this device.
  private func post(_ notification: LifeCycleNotification) {
    note(.application("\(notification)"))
    EngineBackends.$scoped.withValue(self) {
      NotificationCenter.default.post(name: Notification.Name(notification.rawValue), object: nil)
    }
    settle()
  }

  package func setPresent(_ isPresent: Bool) {
    let concerned = lock.withLock {
      storedFaults.isPresent = isPresent
      return Array(sessions.values)
    }
    for session in concerned {
      session.request.presenceHandler(isPresent)
    }
    settle()
  }

  package func note(_ action: EngineNote.Action, engine: Int? = nil, player: Int? = nil) {
    lock.withLock {
      notes.append(EngineNote(time: now, engine: engine, player: player, action: action))
    }
  }

  package var record: [EngineNote] { lock.withLock { notes } }

  package var sessionRecords: [SessionRecord] {
    lock.withLock {
      pastRecords
        + sessions.values.map { session in
          session.render(to: now)
          return session.record
        }
    }
  }

  package struct Test: Sendable {
    package var name: String
    /// Whether no other test with a device runs meanwhile.
    package var isAlone: Bool

    package init(name: String, isAlone: Bool) {
      self.name = name
      self.isAlone = isAlone
    }
  }

  package internal(set) var test: Test? {
    get { lock.withLock { storedTest } }
    set { lock.withLock { storedTest = newValue } }
  }

  package var mistakes: Mistakes { lock.withLock { storedMistakes } }

  func noteForeignEngine(of test: String) {
    lock.withLock {
      if !storedMistakes.foreignTests.contains(test) {
        storedMistakes.foreignTests.append(test)
      }
    }
  }

  func noteStrayEngine() { lock.withLock { storedMistakes.strayEngineCount += 1 } }

  /// One object of a kind for as long as the device is in place.
  package func slot<Kind: AnyObject>(_ kind: Kind.Type, _ make: () -> Kind) -> Kind {
    if let found = lock.withLock({ slots[ObjectIdentifier(kind)] as? Kind }) {
      return found
    }
    let made = make()
    return lock.withLock {
      if let found = slots[ObjectIdentifier(kind)] as? Kind { return found }
      slots[ObjectIdentifier(kind)] = made
      return made
    }
  }

  func releaseSlots() {
    // What they hold may call back as it goes.
    let slots = lock.withLock { exchange(&self.slots, with: [:]) }
    withExtendedLifetime(slots) {}
  }

  var hasEnded: Bool { lock.withLock { isOver } }

  func end() {
    settle()
    releaseSlots()
    let (left, now) = lock.withLock {
      isOver = true
      timers.removeAll()
      firstDue = nil
      active.removeAll()
      return (exchange(&waits, with: []), clock)
    }
    WorkMark.withoutDevice {
      for wait in left {
        wait.leave(max(.zero, wait.due - now))
      }
    }
  }
}

/// What the players of a session did, frame by frame.
package struct SessionRecord: Sendable {
  /// The device's time of frame 0, in seconds.
  package let origin: Double
  package let rate: Double
  package let hearsHaptics: Bool
  package let hearsAudio: Bool
  package var end: Int64 = 0
  package var plays: [(composition: HapticComposition, changes: [PlayerChange])] = []
}

/// A run in memory, rendered when somebody looks: what sounds with the clock, silence in one step.
package final class VirtualSession: EngineSession, @unchecked Sendable {
  static let periodSize = 64

  /// The device's time at which frame 0 is due, in seconds.
  package let origin: Double
  /// Frames that are rendered behind skipped silence, so that gates are open again: 20 ms.
  private let overlap: Int
  private let storedEngine: PlaybackEngine
  private let time = VirtualTimeSource()
  private let sink: VirtualSink
  private let loop: RenderLoop
  let request: SessionRequest
  private weak var backend: VirtualBackend?
  private var isActive = false
  private var isRunning = true
  private(set) var record: SessionRecord
  private var isRecording = true
  /// The players that the renderer has, with their places in the record.
  private var parts: [(play: Int, player: RenderPlayer)] = []

  init(
    rate: Double, profile: TransducerProfile, _ request: SessionRequest, on backend: VirtualBackend,
    at origin: Double
  ) {
    let engine = PlaybackEngine(
      rate: rate, routing: OutputRouting(channelCount: 2, buses: request.buses), profiles: [profile]
    )
    storedEngine = engine
    overlap = Int(rate / 50)
    sink = VirtualSink(
      SinkFormat(
        rate: rate, channelCount: engine.routing.channels.count, periodSize: Self.periodSize,
        bufferSize: Self.periodSize))
    loop = RenderLoop(engine: engine, sink: sink, time: time)
    self.request = request
    self.backend = backend
    self.origin = origin
    record = SessionRecord(
      origin: origin, rate: rate, hearsHaptics: request.buses != .audio,
      hearsAudio: request.buses != .haptics)
  }

  package var engine: PlaybackEngine {
    backend?.catchUp(self)
    return storedEngine
  }

  /// The device's time at which a command takes effect, in seconds.
  package func deviceTime(of time: PlaybackTime) -> Double {
    let rate = storedEngine.rate
    let frame =
      switch time {
      case .now: Int64(0)
      case .frame(let frame): frame
      case .seconds(let seconds): Int64((min(max(seconds, 0), 1e9) * rate).rounded())
      }
    return deviceTime(ofFrame: max(frame, engine.position))
  }

  package func deviceTime(ofFrame frame: Int64) -> Double {
    origin + Double(frame) / storedEngine.rate
  }

  package func noteActivity(_ isActive: Bool) { backend?.noteActivity(isActive, of: self) }

  package func close() { backend?.forget(self) }

  package func samples(ofChannel channel: Int) -> [Float] {
    guard let backend else { return sink.samples(ofChannel: channel) }
    backend.catchUp(self)
    return backend.lock.withLock { sink.samples(ofChannel: channel) }
  }

  func record(_ player: PatternPlayer, of composition: HapticComposition) {
    backend?.lock.withLock {
      parts.append((record.plays.count, player.firstPart))
      record.plays.append((composition, []))
    }
  }

  /// Ends the record; what sounds on, nobody has.
  func endRecord() {
    backend?.catchUp(self)
    backend?.lock.withLock { isRecording = false }
  }

  func setActive(_ isActive: Bool) { self.isActive = isActive }

  /// Renders the frames that are due at a time of the device: [lock].
  func render(to seconds: Double) {
    let rate = storedEngine.rate
    // A thousandth of a frame, since times are kept to the nanosecond.
    let end = Int64((max(0, seconds - origin) * rate + 1e-3).rounded(.down))
    while isRunning {
      let left = Int(end - storedEngine.position)
      guard left > 0 else { return }
      let isSilent = !isActive && sink.silentFrameCount >= min(sink.frameCount, Int(rate / 4))
      if isSilent, left > overlap {
        run(.missed(frameCount: left - overlap))
      } else {
        run(.room(frameCount: min(left, Self.periodSize)))
      }
    }
  }

  /// Fades out and ends: [lock].
  func finish() {
    isRecording = false
    loop.stop()
    while isRunning {
      run(.room(frameCount: Self.periodSize))
    }
  }

  private func run(_ readiness: SinkReadiness) {
    sink.next = readiness
    let before = storedEngine.position
    isRunning = loop.turn()
    time.advance(by: .seconds(Double(storedEngine.position - before) / storedEngine.rate))
    if exchange(&loop.hasChanged, with: false) {
      storedEngine.update()
    }
    guard isRecording else { return }
    record.end = storedEngine.position
    for (play, player) in parts {
      record.plays[play].changes += player.takeChanges()
    }
    parts.removeAll(where: \.player.isReleased)
  }
}

/// Takes as many frames as it is set to, and keeps them.
private final class VirtualSink: AudioSink {
  /// Below this magnitude nothing is heard or felt: −120 dBFS.
  private static let silence: Float = 1e-6

  let format: SinkFormat
  var next = SinkReadiness.woken
  /// Frames of silence at the end of what was taken.
  private(set) var silentFrameCount = 0
  private(set) var frameCount = 0
  /// Interleaved samples, each run with the frame at which it starts; between them is silence.
  private var runs: [(start: Int, samples: [Float])] = []
  private var isContiguous = false

  init(_ format: SinkFormat) { self.format = format }

  var delay: Int { 0 }

  func wait(_ wake: WakeSignal) -> SinkReadiness {
    let readiness = next
    if case .missed(let count) = readiness {
      frameCount += count
      silentFrameCount += count
      isContiguous = false
      next = .woken
    }
    return readiness
  }

  func write(_ frames: Span<Float>) {
    if !isContiguous {
      runs.append((frameCount, []))
      isContiguous = true
    }
    let count = frames.count / format.channelCount
    let isSilent = unsafe frames.withUnsafeBufferPointer { samples in
      unsafe runs[runs.count - 1].samples.append(contentsOf: samples)
      return unsafe !samples.contains { abs($0) > Self.silence }
    }
    frameCount += count
    silentFrameCount = isSilent ? silentFrameCount + count : 0
  }

  func finish(draining: Bool) {}

  func takeEvents() -> [SinkEvent] { [] }

  func samples(ofChannel channel: Int) -> [Float] {
    var samples = [Float](repeating: 0, count: frameCount)
    let channelCount = format.channelCount
    for run in runs {
      for index in 0..<run.samples.count / channelCount {
        samples[run.start + index] = run.samples[index * channelCount + channel]
      }
    }
    return samples
  }
}

/// What an application is notified of as it goes to the background and comes back; the names on
/// Apple's systems.
package enum LifeCycleNotification: String, Sendable {
  case willResignActive = "UIApplicationWillResignActiveNotification"
  case didEnterBackground = "UIApplicationDidEnterBackgroundNotification"
  case willEnterForeground = "UIApplicationWillEnterForegroundNotification"
  case didBecomeActive = "UIApplicationDidBecomeActiveNotification"
}

/// A time to the nanosecond, so that sums of seconds can be compared.
package func rounded(_ seconds: Double) -> Double { (seconds * 1e9).rounded() / 1e9 }
