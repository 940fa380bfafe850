import Glibc
import Synchronization

enum ListenCommand {
  private static let untilIdle = Option(
    "--until-idle", value: "SECONDS",
    help: "With a socket, exit once no client is connected and nothing plays for this long."
  ).double(in: 0...86_400)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "listen", abstract: "Play patterns on request from scripts and other programs.",
      discussion: """
        Commands are read from standard input and from clients of the Unix socket, which only yo\
        ur user can access. At the end of standard input, patterns play to their end, loops to the\
         end of the current pass or their scheduled stop, and the program exits. With --socket \
        it runs until a signal or the command shutdown stops it.

        As a service of systemd with socket activation it takes the socket that systemd has c\
        reated, reports when it is ready and what was lost, and feeds its watchdog while both comma\
        nds and sound go on; Examples/systemd has the units.

        After \(Int(idleDelay / .seconds(1))) seconds in which nothing plays the device is stopped \
        until the next command, so that it and the computer can sleep; time goes on. On a sound \
        server the first sound after that comes about 0.1 seconds later than others. --keep-awake \
        and --record prevent it; a JACK client keeps running.

        If the default device cannot be opened, commands still run, without output, so that scrip\
        ts keep working.


        """ + CommandGrammar.discussion,
      options: [
        Option(
          "--socket", value: "PATH", help: "Create a Unix socket and accept commands from it, too.",
          completion: .file),
        Option(
          "--folder", value: "DIR",
          help: "Open pattern files in and below this folder only; other names are relative to it.",
          completion: .file),
        Option(
          "--metrics", value: "FILE",
          help:
            "Write what stats counts to a file as OpenMetrics text, every \(metricsIntervalSeconds) seconds.",
          completion: .file, writes: []),
        untilIdle, LiveOptions.recordLimit, LiveOptions.recordRotate, LiveOptions.recordReserve,
        LiveOptions.quiet,
      ], groups: LiveOptions.groups,
      examples: [
        .init(
          "printf 'play heartbeat\\nplay pulse at +3\\n' | temblor listen",
          "Play two patterns in sequence."),
        .init(
          "temblor listen --socket $XDG_RUNTIME_DIR/temblor < /dev/null &",
          "Serve other programs until a signal stops it."),
      ]
    ) { arguments, terminal in
      try run(
        arguments, terminal, on: SystemEnvironment(), standard: LineConnection(), formats: formats)
    }
  }

  private static let metricsIntervalSeconds = Int(ServerMaintenance.fileInterval / .seconds(1))

  /// How long nothing plays before the device may sleep.
  static let idleDelay = Duration.seconds(10)

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on backend: any PlaybackEnvironment,
    standard: LineConnection,
    formats: FormatRegistry = .standard
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    try options.checkOutputs(reading: [])
    let listener =
      try arguments.value("--socket").map { path throws(FileError) in try SocketListener(path) }
      ?? ServiceManager.activatedSocket.map { SocketListener(activated: $0) }
    let idleLimit = try arguments[untilIdle].map(Duration.nanosecondRounded)
    let folder = try arguments.value("--folder").map { path throws(FileError) in
      guard FileSystem.entry(at: path) == .folder, let real = FileSystem.realPath(path) else {
        throw FileError(path, "is not a folder")
      }
      return real
    }
    let upkeep = ServerMaintenance(
      file: arguments.value("--metrics"), watchdogLimit: ServiceManager.watchdogLimit,
      notify: ServiceManager.notify
    ) { terminal.report($0) }
    let backend = FallbackEnvironment(backend, needsDevice: options.device.isExplicit) {
      terminal.report($0)
    }
    let session = LiveSession(
      in: backend, terminal: terminal,
      // Where lines are typed, no other is to be in their way.
      isQuiet: arguments.flag("--quiet") || standard.isTerminal, wantsBlockTimings: false)
    let (outcome, task) = try options.play(in: session, isListened: false) { engine in
      engine.idleDelay = idleDelay
      let device = backend.device
      // What just missed one period has the next.
      let period = Double(2 * (device?.format.periodSize ?? 0)) / engine.rate
      ServiceManager.notify("READY=1")
      return ServerActivity(
        CommandSession(
          engine, device: device?.name ?? "none", array: options.routing.array,
          startTime: time(nil),
          wake: session.wake,
          formats: formats, folder: folder, loadsInBackground: true, message: Failure.message(_:)),
        standard: standard,
        listener: listener, inbox: backend.inbox, time: backend.time,
        period: .nanosecondRounded(seconds: period),
        idleLimit: idleLimit,
        upkeep: upkeep)
    }
    ServiceManager.notify("STOPPING=1")
    task.finish()
    return outcome.status
  }
}

final class ServerActivity: PlaybackActivity {
  private let session: CommandSession
  private let standard: LineConnection
  private let listener: SocketListener?
  private let inbox: EventInbox
  private let time: any TimeSource
  private let period: Duration
  private let idleLimit: Duration?
  private let upkeep: ServerMaintenance
  /// Since when nobody is connected and nothing plays.
  private var idleSince: Duration?
  private var standardQueue = CommandQueue()
  private var queues: [SocketListener.Client: CommandQueue] = [:]
  private var isFinishing = false

  /// - Parameter idleLimit: How long there may be no client and no sound before it is over; nil for
  ///   ever.
  init(
    _ session: CommandSession, standard: LineConnection, listener: SocketListener?,
    inbox: EventInbox,
    time: any TimeSource, period: Duration, idleLimit: Duration? = nil,
    upkeep: ServerMaintenance = ServerMaintenance()
  ) {
    self.session = session
    self.standard = standard
    self.listener = listener
    self.inbox = inbox
    self.time = time
    self.period = period
    self.idleLimit = idleLimit
    self.upkeep = upkeep
  }

  var watchedDescriptors: [PollDescriptor] {
    standard.isPaused = !standardQueue.isEmpty
    for client in listener?.clients ?? [] {
      listener?.setPaused(client, queues[client]?.isEmpty == false)
    }
    return standard.watchedDescriptors + (listener?.watchedDescriptors() ?? [])
  }

  var state: PlaybackStatus.State { session.activity }
  var progress: (position: Double, duration: Double?) { (session.engine.seconds, nil) }

  func update(at now: Duration) -> ActivityStep {
    standard.flush()
    handleEvents()
    standardQueue.add(standard.readLines())
    var isOver =
      standardQueue.execute(by: session, at: now, period: period) { standard.send($0) } != nil
    if executeClientCommands(at: now) {
      isOver = true
    }
    let due = ([standardQueue] + queues.values).compactMap { $0.nextTime(period: period) }.map {
      max(.zero, $0 - now)
    }
    let next = [
      due.min(), session.heldEventsTimeout(at: now), upkeep.perform(at: now, on: session),
    ]
    .compactMap(\.self).min()
    let step = isOver ? ActivityStep.finished : step(at: now, next: next)
    reportEvents()
    return step
  }

  func finish() {
    handleEvents()
    session.reportHeldEvents(at: nil)
    reportEvents()
    standard.finish(time)
  }

  private func executeClientCommands(at now: Duration) -> Bool {
    guard let listener else { return false }
    for event in listener.receive() {
      switch event {
      case .connected(let client): queues[client] = CommandQueue()
      case .line(let client, let line): queues[client]?.add([line])
      case .disconnected(let client): queues[client] = nil
      }
    }
    var isOver = false
    for client in listener.clients {
      let ending = queues[client]?.execute(by: session, client: client, at: now, period: period) {
        listener.send($0, to: client)
      }
      if ending != nil {
        listener.disconnect(client)
      }
      if ending == .shutdown {
        isOver = true
      }
    }
    return isOver
  }

  private func idleStep(at now: Duration) -> (isOver: Bool, limit: Duration?) {
    guard let idleLimit, let listener, standard.isAtEnd, !listener.isServing,
      let left = session.remainingSeconds()
    else {
      idleSince = nil
      return (false, nil)
    }
    // What has ended is still to be heard.
    if left > 0 { return (false, .nanosecondRounded(seconds: left)) }
    let since = idleSince ?? now
    idleSince = since
    return (now - since >= idleLimit, max(.zero, since + idleLimit - now))
  }

  private func step(at now: Duration, next: Duration?) -> ActivityStep {
    let idle = idleStep(at: now)
    if idle.isOver { return .finished }
    let limit = [next, standard.timeout, session.timeout(), idle.limit].compactMap { $0 }.min()
    guard standard.isAtEnd, standardQueue.isEmpty, listener == nil else { return .wait(limit) }
    if !isFinishing {
      isFinishing = session.finishPlaying()
    }
    guard isFinishing else { return .wait(period) }
    guard let left = session.remainingSeconds() else { return .wait(limit) }
    return left > 0 ? .wait(.nanosecondRounded(seconds: left)) : .finished
  }

  private func handleEvents() {
    let now = time.now
    for case .sinkEvent(let notice) in inbox.drain() {
      session.record(notice, at: now)
    }
    session.reportHeldEvents(at: now)
  }

  private func reportEvents() {
    for event in session.drainEvents() {
      standard.send(event)
      listener?.sendToAll(event)
    }
  }
}

/// What happened on other threads, for the thread of a live verb to take.
final class EventInbox: Sendable {
  let wake = WakeSignal.makeOrInert()
  private let events = Mutex<[LivePlayback.Event]>([])

  /// Puts an event in: [any thread].
  func append(_ event: LivePlayback.Event) {
    events.withLock { $0.append(event) }
    wake.raise()
  }

  func drain() -> [LivePlayback.Event] {
    wake.lower()
    return events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}

/// A backend without keys, which plays without output where there is no device, so that scripts
/// keep working.
final class FallbackEnvironment: PlaybackEnvironment {
  let inbox = EventInbox()
  private let environment: any PlaybackEnvironment
  private let needsDevice: Bool
  private let report: @Sendable (String) -> Void
  private let openedDevice = Mutex<DeviceSummary?>(nil)

  init(
    _ backend: any PlaybackEnvironment, needsDevice: Bool,
    report: @escaping @Sendable (String) -> Void
  ) {
    self.environment = backend
    self.needsDevice = needsDevice
    self.report = report
  }

  var time: any TimeSource { environment.time }
  var device: DeviceSummary? { openedDevice.withLock { $0 } }
  func keyboard() -> (any Keyboard)? { nil }

  func open(_ output: String, _ request: OutputRequest) throws(OutputError) -> sending OpenedOutput
  {
    let opened: OpenedOutput
    do throws(OutputError) {
      opened = try environment.open(output, request)
    } catch {
      guard !needsDevice else { throw error }
      report("\(error.message); continuing without sound")
      opened = OpenedOutput(sink: NullSink(request.requestedFormat, time: time), name: "none")
    }
    let device = DeviceSummary(opened)
    openedDevice.withLock { $0 = device }
    return opened
  }

  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) throws(PlaybackError) -> any EngineDriver {
    let inbox = inbox
    return try environment.play(engine, through: output, recording: recording) { event in
      // First here: who is woken by the other finds it.
      inbox.append(event)
      eventHandler(event)
    }
  }
}

/// What a service manager such as systemd exchanges with a program through its environment.
package enum ServiceManager {
  /// The first socket that was created for this process: `LISTEN_PID` and `LISTEN_FDS` of
  /// sd_listen_fds(3).
  package static var activatedSocket: Int32? {
    guard environmentValue("LISTEN_PID").flatMap({ pid_t($0) }) == getpid(),
      let count = environmentValue("LISTEN_FDS").flatMap({ Int($0) }), count > 0
    else { return nil }
    // Passed descriptors begin behind the standard streams.
    return 3
  }

  /// How long the service manager waits for a sign of life, where it does: `WATCHDOG_USEC` of
  /// sd_watchdog_enabled(3).
  package static var watchdogLimit: Duration? {
    guard environmentValue("WATCHDOG_PID").map({ pid_t($0) == getpid() }) ?? true else {
      return nil
    }
    return environmentValue("WATCHDOG_USEC").flatMap { Int64($0) }.flatMap {
      $0 > 0 ? .microseconds($0) : nil
    }
  }

  /// Reports a state to the service manager, such as `READY=1`, where it wants to know:
  /// sd_notify(3).
  package static func notify(_ state: String) {
    guard let path = environmentValue("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@"),
      var address = try? SocketFile.address(path)
    else { return }
    // A name without a file begins with a zero.
    if path.hasPrefix("@") {
      address.sun_path.0 = 0
    }
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let text = Array(state.utf8)
    _ = unsafe SocketFile.withAddress(
      &address, length: MemoryLayout<sa_family_t>.size + path.utf8.count
    ) {
      unsafe sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), $0, $1)
    }
  }

  private static func environmentValue(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }
}
