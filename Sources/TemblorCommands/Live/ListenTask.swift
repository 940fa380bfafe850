internal import CommandLineKit
import HapticPlayback
internal import HapticRender
import Synchronization

/// Takes commands from standard input and a socket, and answers them, while an engine plays.
final class ListenTask: SessionTask {
  private let session: ListenSession
  private let standard: LineConnection
  private let listener: SocketListener?
  private let inbox: EventInbox
  private let time: any TimeSource
  private let period: Duration
  private let idleLimit: Duration?
  /// Since when nobody is connected and nothing plays.
  private var idleSince: Duration?
  private var standardQueue = ListenQueue()
  private var queues: [SocketListener.Client: ListenQueue] = [:]
  private var isFinishing = false

  /// A task without any command yet.
  ///
  /// - Parameters:
  ///   - listener: The socket; without one, the end of standard input is the end.
  ///   - inbox: What happens at the device.
  ///   - period: Time in which the engine takes commands.
  ///   - idleLimit: How long there may be no client and no sound before it is over; nil for ever.
  init(
    _ session: ListenSession, standard: LineConnection, listener: SocketListener?, inbox: EventInbox,
    time: any TimeSource, period: Duration, idleLimit: Duration? = nil
  ) {
    self.session = session
    self.standard = standard
    self.listener = listener
    self.inbox = inbox
    self.time = time
    self.period = period
    self.idleLimit = idleLimit
  }

  var watched: [PollDescriptor] {
    standard.isHeld = !standardQueue.isEmpty
    for client in listener?.clients ?? [] { listener?.hold(client, queues[client]?.isEmpty == false) }
    return standard.watched + (listener?.watched() ?? [])
  }

  var state: PlaybackStatus.State {
    switch session.activity {
    case .playing: .playing
    case .paused: .paused
    case .idle: .idle
    }
  }
  var place: (position: Double, duration: Double?) { (session.engine.seconds, nil) }

  func perform(at now: Duration) -> SessionStep {
    standard.flush()
    takeEvents()
    standardQueue.add(standard.lines())
    var isOver = standardQueue.execute(by: session, at: now, period: period) { standard.send($0) } != nil
    if obeyClients(at: now) { isOver = true }
    let next = [nextTime(at: now), session.foldedTimeout(at: now)].compactMap { $0 }.min()
    let step = isOver ? SessionStep.over : step(at: now, next: next)
    reportEvents()
    return step
  }

  /// Reports what is left to tell, when nothing plays any more.
  func finish() {
    takeEvents()
    session.reportFolded(at: nil)
    reportEvents()
    standard.finish(time)
  }

  /// Obeys what clients sent; returns whether one asked for the end of the program.
  private func obeyClients(at now: Duration) -> Bool {
    guard let listener else { return false }
    for event in listener.receive() {
      switch event {
      case .connected(let client): queues[client] = ListenQueue()
      case .line(let client, let line): queues[client]?.add([line])
      case .left(let client): queues[client] = nil
      }
    }
    var isOver = false
    for client in listener.clients {
      let ending = queues[client]?.execute(by: session, client: client, at: now, period: period) {
        listener.send($0, to: client)
      }
      if ending != nil { listener.end(client) }
      if ending == .shutdown { isOver = true }
    }
    return isOver
  }

  /// Whether nobody has been connected and nothing has played for long enough, and when to look again.
  private func idleStep(at now: Duration) -> (isOver: Bool, limit: Duration?) {
    guard let idleLimit, let listener, standard.isAtEnd, !listener.isServing, let left = session.secondsLeft() else {
      idleSince = nil
      return (false, nil)
    }
    // What has ended is still to be heard.
    if left > 0 { return (false, .inSeconds(left)) }
    let since = idleSince ?? now
    idleSince = since
    return (now - since >= idleLimit, max(.zero, since + idleLimit - now))
  }

  /// What comes next, and the end where standard input has ended and nobody else can command.
  private func step(at now: Duration, next: Duration?) -> SessionStep {
    let idle = idleStep(at: now)
    if idle.isOver { return .over }
    let limit = [next, standard.timeout, session.timeout(), idle.limit].compactMap { $0 }.min()
    guard standard.isAtEnd, standardQueue.isEmpty, listener == nil else { return .wait(limit) }
    if !isFinishing { isFinishing = session.finishPlaying() }
    guard isFinishing else { return .wait(period) }
    guard let left = session.secondsLeft() else { return .wait(limit) }
    return left > 0 ? .wait(.inSeconds(left)) : .over
  }

  private func nextTime(at now: Duration) -> Duration? {
    let queues = [standardQueue] + queues.values
    return queues.compactMap { $0.next(period: period) }.map { max(.zero, $0 - now) }.min()
  }

  private func takeEvents() {
    let now = time.now
    for case .notice(let notice) in inbox.take() { session.note(notice, at: now) }
    session.reportFolded(at: now)
  }

  private func reportEvents() {
    for event in session.takeEvents() {
      standard.send(event)
      listener?.sendToAll(event)
    }
  }
}

/// What happened on other threads, for the thread of a live verb to take.
final class EventInbox: Sendable {
  let wake = WakeSignal()
  private let events = Mutex<[LivePlayback.Event]>([])

  /// Puts an event in: [any thread].
  func put(_ event: LivePlayback.Event) {
    events.withLock { $0.append(event) }
    wake.raise()
  }

  func take() -> [LivePlayback.Event] {
    wake.lower()
    return events.withLock { events in
      let all = events
      events = []
      return all
    }
  }
}

/// A backend without keys, which plays without output where there is no device, so that scripts keep working.
final class ListenBackend: SessionBackend {
  let inbox = EventInbox()
  private let backend: any SessionBackend
  private let needsDevice: Bool
  private let report: @Sendable (String) -> Void
  private let granted = Mutex<DeviceSummary?>(nil)

  /// A backend in front of another.
  ///
  /// - Parameters:
  ///   - needsDevice: Whether it is an error that the device cannot be opened.
  ///   - report: Told when there is none.
  init(_ backend: any SessionBackend, needsDevice: Bool, report: @escaping @Sendable (String) -> Void) {
    self.backend = backend
    self.needsDevice = needsDevice
    self.report = report
  }

  var time: any TimeSource { backend.time }

  /// The device that plays, or nothing where none does.
  var device: DeviceSummary? { granted.withLock { $0 } }

  func keyboard() -> (any Keyboard)? { nil }

  func open(_ output: String, _ request: OutputRequest) throws(OutputError) -> sending OpenedOutput {
    do throws(OutputError) {
      let opened = try backend.open(output, request)
      let device = DeviceSummary(opened)
      granted.withLock { $0 = device }
      return opened
    } catch {
      guard !needsDevice else { throw error }
      report("\(error.message); continuing without sound")
      let nothing = OpenedOutput(sink: NullSink(request.format, time: time), name: "none")
      let device = DeviceSummary(nothing)
      granted.withLock { $0 = device }
      return nothing
    }
  }

  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) -> any EngineDriver {
    let inbox = inbox
    return backend.play(engine, through: output, recording: recording) { event in
      // First here: who is woken by the other finds it.
      inbox.put(event)
      eventHandler(event)
    }
  }
}
