import CommandLineKit
import CommandServer
import Glibc
import HapticFormats
import HapticPlayback
import PatternWorkflows
import PlaybackSessions
import Synchronization
import SystemSupport
import VendorFormats

/// The command `listen`, which plays patterns on request of other programs.
enum ListenCommand {
  private static let untilIdleOption = Option(
    "--until-idle", value: "SECONDS",
    help: """
      With --socket, exit when no client has been connected and nothing has played for this time.
      """
  ).double(in: 0...86_400)

  static func definition(_ formats: FormatRegistry = .standard, _ settings: Settings = .none)
    -> Command
  {
    Command(
      "listen", abstract: "Play patterns on request from scripts and other programs.",
      discussion: """
        Temblor reads commands from standard input. With --socket, it also accepts commands from \
        clients of a Unix socket, which only your user account can access. When standard input \
        ends, patterns play to their end, and loops play to the end of the current pass or to \
        their scheduled stop. Then the program exits. With --socket, it continues to run until it \
        receives a signal or the command shutdown.

        As a systemd service with socket activation, the program uses the socket that systemd \
        created. It notifies systemd when it is ready, reports the amount of lost audio in the \
        service status, and notifies the watchdog as long as both command processing and sound \
        output continue. For unit files, see Examples/systemd.

        After \(Int(deviceIdleDelay / .seconds(1))) seconds without sound, Temblor stops the \
        device \
        until the next command, so that the device and the computer can sleep. The session time \
        continues to advance. On a sound server, the first sound after such a stop is delayed by \
        about 0.1 seconds. --keep-awake and --record prevent the stop. Output through JACK never \
        stops.

        If the default device cannot be opened, commands run without output, so that scripts \
        continue to work. With a socket, the program starts even if the device is absent. It \
        accepts commands and advances the session time while it waits, and sound starts when the \
        device appears.

        With --state, loops continue after a restart, with their names, strengths, and priorities. \
        The overall strength, muting, and ducking settings are also restored. The command reload \
        applies changed settings, profiles, and arrays without a restart.


        """ + CommandGrammar.discussion,
      options: [
        socketOption, folderOption, metricsOption, stateFileOption,
        untilIdleOption, LiveOptions.recordLimitOption, LiveOptions.recordRotateOption,
        LiveOptions.recordReserveOption,
        SharedOptions.curveTimesOption, SharedOptions.frequencyHandlingOption,
        LiveOptions.quietOption,
      ], optionGroups: LiveOptions.optionGroups,
      examples: [
        .init(
          "printf 'play heartbeat\\nplay pulse at +3\\n' | temblor listen",
          "Play two patterns in sequence."),
        .init(
          "temblor listen --socket $XDG_RUNTIME_DIR/temblor < /dev/null &",
          "Accept commands from other programs until a signal arrives."),
      ]
    ) { arguments, terminal in
      try run(
        arguments, terminal, on: SystemEnvironment(), standard: LineConnection(), formats: formats,
        settings: settings)
    }
  }

  private static let metricsIntervalSeconds = Int(
    ServerMaintenance.metricsFileInterval / .seconds(1))

  /// The time without sound after which the device is stopped.
  static let deviceIdleDelay = Duration.seconds(10)

  private static let socketOption = Option(
    "--socket", value: "PATH",
    help: "Create a Unix socket at this path, and also accept commands from its clients.",
    completion: .file
  ).text()
  private static let folderOption = Option(
    "--folder", value: "DIR",
    help: "Open only pattern files in this folder. Relative paths are resolved from this folder.",
    completion: .file
  ).text()
  private static let metricsOption = Option(
    "--metrics", value: "FILE",
    help: """
      Write the counters shown by the command stats to a file, as OpenMetrics text, every \
      \(metricsIntervalSeconds) seconds.
      """, completion: .file, writes: []
  ).text()

  private static let stateFileOption = Option(
    "--state", value: "FILE",
    help: "Save loops and the settings of sounds to a file, and restore them after a restart.",
    completion: .file, writes: []
  ).text()

  struct Options {
    let liveOptions: LiveOptions
    let socketPath: String?
    let idleTimeout: Duration?
    /// The folder to which pattern files are restricted.
    let patternFolder: String?
    let metricsPath: String?
    let statePath: String?
    /// The options for reading patterns.
    let readingOptions: ReadingOptions
    let isQuiet: Bool

    init(_ arguments: ParsedArguments) throws {
      liveOptions = try LiveOptions(arguments)
      socketPath = try arguments[socketOption]
      idleTimeout = try arguments[untilIdleOption].map(Duration.roundedToNanoseconds)
      patternFolder = try arguments[ListenCommand.folderOption].map { path throws(FileError) in
        guard FileSystem.entryKind(at: path) == .folder, let real = FileSystem.realPath(path) else {
          throw FileError(path, "is not a folder")
        }
        return real
      }
      metricsPath = try arguments[metricsOption]
      statePath = try arguments[stateFileOption]
      readingOptions = try SharedOptions.parseReadingOptions(arguments)
      isQuiet = try arguments[LiveOptions.quietOption.flag()]
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    standard: LineConnection, formats: FormatRegistry = .standard, settings: Settings = .none
  ) throws -> ExitStatus {
    let options = try Options(arguments)
    try options.liveOptions.checkOutputs(reading: [])
    let listener =
      try options.socketPath.map { path throws(FileError) in try SocketListener(path) }
      ?? ServiceManager.activatedSocket.map { SocketListener(activated: $0) }
    let maintenance = ServerMaintenance(
      file: options.metricsPath, watchdogLimit: ServiceManager.watchdogInterval,
      notify: ServiceManager.notifyServiceManager
    ) { terminal.report($0) }
    let environment = FallbackEnvironment(
      environment, needsDevice: options.liveOptions.deviceOptions.isDeviceExplicit,
      waitsForDevice: listener != nil
    ) { terminal.report($0) }
    let state = options.statePath.map { path in StateFile(path) { terminal.report($0) } }
    let serverRun = ServerRun(
      terminal: terminal, environment: environment, standard: standard, listener: listener,
      maintenance: maintenance, formats: formats, stateFile: state)
    // A signal between two sessions ends the next one.
    let interruption = InterruptSignal()
    defer { _ = interruption.descriptor }
    return try serverRun.run(options) {
      var reloaded = arguments.removingDefaultValues
      try settings.applyDefaults(to: &reloaded, on: terminal)
      return try Options(reloaded)
    }
  }
}

/// Runs the sessions of a command server one after another. A new session begins when the settings
/// are reloaded, or when a device appears with a format that differs from the requested format.
private final class ServerRun {
  /// The maximum time for each of the last two saves of the state. A busy disk may stall for
  /// seconds.
  private static let finalSaveTimeout = Duration.seconds(2)

  private let terminal: Terminal
  private let environment: FallbackEnvironment
  private let standardStreamConnection: LineConnection
  private let listener: SocketListener?
  private let maintenance: ServerMaintenance
  private let formats: FormatRegistry
  private let stateFile: StateFile?
  private let startTime = time(nil)
  /// The settings of the next session.
  private var nextSessionOptions: ListenCommand.Options?
  /// The latest probe of a device for changed settings.
  private var latestDeviceProbe: (device: String, request: OutputRequest, probe: OutputProbe)?

  init(
    terminal: Terminal, environment: FallbackEnvironment, standard: LineConnection,
    listener: SocketListener?, maintenance: ServerMaintenance, formats: FormatRegistry,
    stateFile: StateFile?
  ) {
    self.terminal = terminal
    self.environment = environment
    self.standardStreamConnection = standard
    self.listener = listener
    self.maintenance = maintenance
    self.formats = formats
    self.stateFile = stateFile
  }

  /// Runs sessions until one of them ends and no other session must follow.
  ///
  /// - Parameters:
  ///   - options: The settings of the first session.
  ///   - readOptions: A closure that reads the settings again.
  func run(
    _ options: ListenCommand.Options,
    readOptions: @escaping () throws -> ListenCommand.Options
  ) throws -> ExitStatus {
    var options = options
    var previousActivity: ServerActivity?
    let initialState = try stateFile?.read() ?? ""
    while true {
      let (outcome, activity) = try playSession(
        options, after: previousActivity,
        restoring: previousActivity?.session.stateText ?? initialState
      ) { [self] in
        try beginSettingsCheck(of: try readOptions(), isRecording: options.liveOptions.isRecorded)
      }
      // A device that was awaited has another format than requested.
      let hasOtherFormat = outcome.ending == .deviceEnded && environment.isWaitingForDevice
      guard activity.session.isReloading || hasOtherFormat else {
        ServiceManager.notifyServiceManager("STOPPING=1")
        stateFile?.saveFinalState(from: activity.session, within: Self.finalSaveTimeout)
        activity.finishSession()
        return outcome.exitStatus
      }
      if activity.session.isReloading {
        // The old session has ended, so a device that fails now is awaited.
        environment.prepareForReload()
        options = nextSessionOptions ?? options
      }
      previousActivity = activity
    }
  }

  private func playSession(
    _ options: ListenCommand.Options, after previous: ServerActivity?, restoring state: String,
    reload: @escaping () throws -> SettingsCheck
  ) throws -> (outcome: LiveOutcome, task: ServerActivity) {
    let session = LiveSession(
      in: environment, terminal: terminal,
      // Status lines would interfere with typed commands.
      isQuiet: options.isQuiet || standardStreamConnection.isTerminal, wantsBlockTimings: false)
    return try options.liveOptions.play(in: session, isListened: false) { engine in
      engine.idleDelay = ListenCommand.deviceIdleDelay
      let device = environment.device
      // A command that just missed a period is executed in the next period.
      let retryInterval = Double(2 * (device?.format.periodSize ?? 0)) / engine.rate
      let isPresent = device.map { $0.isPresent && $0.name != "none" }
      let server = CommandSession(
        engine, device: device?.name ?? "none", isDevicePresent: isPresent ?? false,
        array: options.liveOptions.channelRouting.transducerArray,
        startTime: startTime, wake: session.wakeSignal, formats: formats,
        reading: options.readingOptions,
        folder: options.patternFolder, loadsInBackground: true,
        message: ErrorReporting.messageText(_:))
      server.settingsReloadHandler = reload
      if let previous {
        server.continueStatistics(of: previous.session)
      }
      let restoration = StateRestoration(state) { [terminal] problem in
        terminal.report("the saved state is incomplete: \(problem)")
      }
      ServiceManager.notifyServiceManager("READY=1\nSTATUS=" + server.statusSummary)
      return ServerActivity(
        server, standard: standardStreamConnection, listener: listener,
        eventInbox: environment.eventInbox,
        time: environment.time, retryInterval: .roundedToNanoseconds(seconds: retryInterval),
        idleLimit: options.idleTimeout, maintenance: maintenance, state: self.stateFile,
        restoring: restoration, continuing: previous)
    }
  }

  /// Begins to check settings, and throws an error if no session can run with them.
  private func beginSettingsCheck(
    of options: ListenCommand.Options, isRecording: Bool
  ) throws -> SettingsCheck {
    if isRecording, !options.liveOptions.rotatesRecording {
      throw UsageError("a recording without '--record-rotate' cannot continue after 'reload'")
    }
    let currentDevice = environment.device
    if let currentDevice, currentDevice.name == options.liveOptions.deviceOptions.reportedOutputName
    {
      try options.liveOptions.checkDevice(currentDevice)
      return SettingsCheck { [self] in nextSessionOptions = options }
    }
    // Another device can be opened while the current one plays.
    let deviceProbe = try probeDevice(options.liveOptions.deviceOptions)
    return SettingsCheck(isFinished: { deviceProbe.result != nil }) { [self] in
      if let device = try deviceProbe.result?.get() {
        try options.liveOptions.checkDevice(device)
      }
      nextSessionOptions = options
    }
  }

  /// Returns a probe of a device. Clients that reload at the same time share one probe, because an
  /// exclusive device can be opened only once.
  private func probeDevice(_ options: DeviceOptions) throws(OutputError) -> OutputProbe {
    if let pendingProbe = latestDeviceProbe, pendingProbe.probe.result == nil,
      pendingProbe.device == options.deviceName, pendingProbe.request == options.outputRequest
    {
      return pendingProbe.probe
    }
    // The probe may outlive its session, so it raises the signal that all sessions watch.
    let newProbe = try environment.beginProbe(
      of: options.deviceName, options.outputRequest, wake: environment.eventInbox.wakeSignal)
    latestDeviceProbe = (options.deviceName, options.outputRequest, newProbe)
    return newProbe
  }
}

/// The activity of a live session that runs the command server.
final class ServerActivity: PlaybackActivity {
  let session: CommandSession
  private let standardStreamConnection: LineConnection
  private let listener: SocketListener?
  private let eventInbox: EventInbox
  private let time: any TimeSource
  /// The delay before a command that failed with `busy` is executed again.
  private let busyRetryInterval: Duration
  private let idleTimeout: Duration?
  private let maintenance: ServerMaintenance
  private let stateFile: StateFile?
  private var restoration: StateRestoration?
  /// The time at which the server became idle: no client is connected, and nothing plays.
  private var idleStartTime: Duration?
  private var standardStreamQueue = CommandQueue()
  private var queuesByClient: [SocketListener.ClientID: CommandQueue] = [:]
  private var isSessionFinishing = false

  /// Creates the activity of a server.
  ///
  /// - Parameters:
  ///   - session: The command server.
  ///   - standard: The connection to standard input and output.
  ///   - listener: The socket, or nil without a socket.
  ///   - eventInbox: The events from other threads.
  ///   - time: The clock.
  ///   - retryInterval: The time until a command that the device was too busy for is executed
  ///     again.
  ///   - idleLimit: The time without clients and sound after which the activity ends, or nil for no
  ///     limit.
  ///   - maintenance: The periodic tasks: the metrics file and the watchdog of the service manager.
  ///   - state: The file of the session's state; nil without one.
  ///   - restoration: The state to restore first; nil without one.
  ///   - previous: The activity whose clients continue; nil for the first.
  init(
    _ session: CommandSession, standard: LineConnection, listener: SocketListener?,
    eventInbox: EventInbox,
    time: any TimeSource, retryInterval: Duration, idleLimit: Duration? = nil,
    maintenance: ServerMaintenance = ServerMaintenance(), state: StateFile? = nil,
    restoring restoration: StateRestoration? = nil, continuing previous: ServerActivity? = nil
  ) {
    self.session = session
    self.standardStreamConnection = standard
    self.listener = listener
    self.eventInbox = eventInbox
    self.time = time
    self.busyRetryInterval = retryInterval
    self.idleTimeout = idleLimit
    self.maintenance = maintenance
    stateFile = state
    self.restoration = restoration
    guard let previous else { return }
    standardStreamQueue = previous.standardStreamQueue
    queuesByClient = previous.queuesByClient
    standardStreamQueue.interruptPreparation()
    for client in queuesByClient.keys {
      queuesByClient[client]?.interruptPreparation()
    }
  }

  var watchedDescriptors: [PollDescriptor] {
    standardStreamConnection.isReadingPaused = !standardStreamQueue.isEmpty
    for client in listener?.clientIDs ?? [] {
      listener?.setPaused(client, queuesByClient[client]?.isEmpty == false)
    }
    return [PollDescriptor(eventInbox.wakeSignal.descriptor)]
      + standardStreamConnection.watchedDescriptors
      + (listener?.watchedDescriptors() ?? [])
  }

  var playbackState: PlaybackStatus.State { session.playbackState }
  var playbackProgress: (position: Double, duration: Double?) {
    (session.engine.positionSeconds, nil)
  }

  func updateActivity(at now: Duration) -> ActivityStep {
    standardStreamConnection.flush()
    handlePlaybackEvents()
    standardStreamQueue.addLines(standardStreamConnection.readLines())
    receiveClientCommands()
    let isOver = executeCommands(at: now)
    session.clientCount = listener?.clientIDs.count ?? 0
    if session.isReloading {
      reportSessionEvents()
      return .finished
    }
    let requestTimes =
      restoration.map { [$0.nextRequestTime(period: busyRetryInterval)] }
      ?? ([standardStreamQueue] + queuesByClient.values).map {
        $0.nextRequestTime(period: busyRetryInterval)
      }
    let requestDelays = requestTimes.compactMap(\.self).map { max(.zero, $0 - now) }
    let nextUpdateDelay = [
      requestDelays.min(), session.timeUntilHeldBackReport(at: now),
      maintenance.performDueTasks(at: now, on: session),
      stateFile?.saveIfChanged(from: session, at: now),
    ]
    .compactMap(\.self).min()
    let activityStep = isOver ? ActivityStep.finished : waitStep(at: now, next: nextUpdateDelay)
    reportSessionEvents()
    return activityStep
  }

  func finishSession() {
    handlePlaybackEvents()
    session.reportHeldBackEvents(at: nil)
    reportSessionEvents()
    standardStreamConnection.finishSending(time)
  }

  private func receiveClientCommands() {
    guard let listener else { return }
    for event in listener.receive() {
      switch event {
      case .connected(let client): queuesByClient[client] = CommandQueue()
      case .line(let client, let line): queuesByClient[client]?.addLines([line])
      case .disconnected(let client): queuesByClient[client] = nil
      }
    }
  }

  /// Executes the commands that can run now, beginning with the commands that restore the state.
  /// Returns true if a command ends the server.
  private func executeCommands(at now: Duration) -> Bool {
    restoration?.advance(on: session, at: now, period: busyRetryInterval)
    guard restoration?.isFinished ?? true else { return false }
    restoration = nil
    let standardEnding = standardStreamQueue.execute(
      by: session, at: now, period: busyRetryInterval
    ) {
      standardStreamConnection.send($0)
    }
    var isOver = standardEnding != nil
    guard let listener else { return isOver }
    for client in listener.clientIDs {
      let clientEnding = queuesByClient[client]?.execute(
        by: session, client: client, at: now, period: busyRetryInterval
      ) {
        listener.send($0, to: client)
      }
      if clientEnding != nil {
        listener.disconnect(client)
      }
      if clientEnding == .shutdown {
        isOver = true
      }
    }
    return isOver
  }

  private func idleTimeoutState(at now: Duration) -> (isOver: Bool, limit: Duration?) {
    guard let idleTimeout, let listener, standardStreamConnection.isInputAtEnd,
      !listener.hasUnfinishedConnections,
      let remaining = session.secondsUntilSilence()
    else {
      idleStartTime = nil
      return (false, nil)
    }
    // Sound that has been sent to the device is still to be heard.
    if remaining > 0 { return (false, .roundedToNanoseconds(seconds: remaining)) }
    let idleStart = idleStartTime ?? now
    idleStartTime = idleStart
    return (now - idleStart >= idleTimeout, max(.zero, idleStart + idleTimeout - now))
  }

  private func waitStep(at now: Duration, next: Duration?) -> ActivityStep {
    guard restoration == nil else { return .wait(next) }
    let idleState = idleTimeoutState(at: now)
    if idleState.isOver { return .finished }
    let waitLimit = [
      next, standardStreamConnection.pollTimeout, session.timeUntilNextUpdate(), idleState.limit,
    ]
    .compactMap { $0 }.min()
    guard standardStreamConnection.isInputAtEnd, standardStreamQueue.isEmpty, listener == nil else {
      return .wait(waitLimit)
    }
    if !isSessionFinishing {
      isSessionFinishing = session.finishAllSounds()
    }
    guard isSessionFinishing else { return .wait(busyRetryInterval) }
    guard let remainingSeconds = session.secondsUntilSilence() else { return .wait(waitLimit) }
    return remainingSeconds > 0
      ? .wait(.roundedToNanoseconds(seconds: remainingSeconds)) : .finished
  }

  private func handlePlaybackEvents() {
    let now = time.now
    for case .sinkEvent(let event) in eventInbox.drainEvents() {
      session.recordSinkEvent(event, at: now)
    }
    session.reportHeldBackEvents(at: now)
  }

  private func reportSessionEvents() {
    for event in session.drainEvents() {
      standardStreamConnection.send(event)
      listener?.sendToAll(event)
    }
  }
}

/// A queue through which other threads send events to the thread of a live command.
final class EventInbox: Sendable {
  let wakeSignal = WakeSignal.makeOrInert()
  private let events = Mutex<[LivePlayback.Event]>([])

  /// Appends an event from any thread.
  func appendEvent(_ event: LivePlayback.Event) {
    events.withLock { $0.append(event) }
    wakeSignal.raise()
  }

  /// Removes and returns all events.
  func drainEvents() -> [LivePlayback.Event] {
    wakeSignal.lower()
    return events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}

/// An environment without a keyboard that continues without sound if no device can be opened.
/// Scripts thus keep working.
final class FallbackEnvironment: PlaybackEnvironment {
  let eventInbox = EventInbox()
  private let environment: any PlaybackEnvironment
  private let needsDevice: Bool
  private let waitsForDevice: Atomic<Bool>
  private let reportMessage: @Sendable (String) -> Void
  private let latestOpenedOutput = Mutex<(name: String, device: DeviceSummary)?>(nil)
  /// The time within which the next output must open; nil for the default time.
  private let openingTimeout = Mutex<Duration?>(nil)
  /// The time that a reload waits for its device. A device that takes longer is opened in the
  /// background, so that commands, the watchdog, and signals do not wait for it.
  static let reloadTimeout = Duration.milliseconds(250)

  init(
    _ environment: any PlaybackEnvironment, needsDevice: Bool, waitsForDevice: Bool = false,
    reportMessage: @escaping @Sendable (String) -> Void
  ) {
    self.environment = environment
    self.needsDevice = needsDevice
    self.waitsForDevice = Atomic(waitsForDevice)
    self.reportMessage = reportMessage
  }

  var time: any TimeSource { environment.time }
  var device: DeviceSummary? { latestOpenedOutput.withLock { $0?.device } }
  /// A Boolean value that indicates whether the device was absent at the last attempt to open it.
  var isWaitingForDevice: Bool { device?.isPresent == false }
  func makeKeyboard() -> (any Keyboard)? { nil }

  /// Makes the next call of `openOutput(_:_:)` wait only briefly for its device.
  ///
  /// Later calls return an output that waits for an absent device.
  func prepareForReload() {
    waitsForDevice.store(true, ordering: .relaxed)
    openingTimeout.withLock { $0 = Self.reloadTimeout }
  }

  /// Begins to learn the properties of an output, without a fallback. No file is created or
  /// replaced.
  func beginProbe(
    of output: String, _ request: OutputRequest, wake: WakeSignal
  ) throws(OutputError) -> OutputProbe {
    guard let expectedFormat = try environment.expectedFormat(output, request) else {
      return try environment.beginProbe(of: output, request, wake: wake)
    }
    let probe = OutputProbe()
    probe.complete(.success(DeviceSummary(name: output, format: expectedFormat)))
    return probe
  }

  func openOutput(_ output: String, _ request: OutputRequest) throws(OutputError)
    -> sending OpenedOutput
  {
    let openedOutput: OpenedOutput
    do throws(OutputError) {
      if let timeout = openingTimeout.withLock({ $0.take() }) {
        openedOutput = try environment.openOutput(output, request, within: timeout)
      } else {
        openedOutput = try environment.openOutput(output, request)
      }
    } catch {
      if waitsForDevice.load(ordering: .relaxed), error.kind.isTemporary,
        let placeholder = environment.openPlaceholder(
          for: output, placeholderRequest(for: output, request))
      {
        reportMessage("\(error.messageText); waiting for the device")
        openedOutput = placeholder
      } else {
        guard !needsDevice else { throw error }
        reportMessage("\(error.messageText); continuing without sound")
        openedOutput = OpenedOutput(
          sink: NullSink(request.requestedFormat, time: time), name: "none")
      }
    }
    let device = DeviceSummary(openedOutput)
    latestOpenedOutput.withLock { $0 = (output, device) }
    return openedOutput
  }

  /// Returns a request for the format that an output had in the previous session, because a
  /// placeholder must have the format of its device.
  private func placeholderRequest(
    for output: String, _ request: OutputRequest
  ) -> OutputRequest {
    guard let (name, device) = latestOpenedOutput.withLock({ $0 }), name == output else {
      return request
    }
    let deviceFormat = device.format
    var matchingRequest = request
    if request.allowsOtherRate {
      let ratio = deviceFormat.rate / Double(request.rate)
      matchingRequest.rate = Int(deviceFormat.rate)
      matchingRequest.periodSize = Int((Double(request.periodSize) * ratio).rounded())
      matchingRequest.bufferSize = Int((Double(request.bufferSize) * ratio).rounded())
    }
    if case .atLeast(let minimumCount) = request.channels {
      matchingRequest.channels = .atLeast(max(minimumCount, deviceFormat.channelCount))
    }
    return matchingRequest
  }

  func play(
    _ engine: PlaybackEngine, through output: sending OpenedOutput, recording: RecordingBuffer?,
    eventHandler: @escaping LivePlayback.EventHandler
  ) throws(PlaybackError) -> any EngineDriver {
    let inbox = eventInbox
    return try environment.play(engine, through: output, recording: recording) { event in
      // The inbox comes first, so that the event is present when the handler wakes a thread.
      inbox.appendEvent(event)
      eventHandler(event)
    }
  }
}

/// The protocol between a service manager, such as systemd, and this process.
package enum ServiceManager {
  /// The first socket that the service manager passed to this process through `LISTEN_PID` and
  /// `LISTEN_FDS`; see sd_listen_fds(3).
  package static var activatedSocket: Int32? {
    guard ProcessEnvironment.value(named: "LISTEN_PID").flatMap({ pid_t($0) }) == getpid(),
      let count = ProcessEnvironment.value(named: "LISTEN_FDS").flatMap({ Int($0) }), count > 0
    else { return nil }
    // Passed descriptors begin after the standard streams.
    return 3
  }

  /// The watchdog interval of the service manager, or nil without a watchdog.
  /// It is `WATCHDOG_USEC` of sd_watchdog_enabled(3).
  package static var watchdogInterval: Duration? {
    guard ProcessEnvironment.value(named: "WATCHDOG_PID").map({ pid_t($0) == getpid() }) ?? true
    else {
      return nil
    }
    return ProcessEnvironment.value(named: "WATCHDOG_USEC").flatMap { Int64($0) }.flatMap {
      $0 > 0 ? .microseconds($0) : nil
    }
  }

  /// Reports a state such as `READY=1` to the service manager, if there is one, by the protocol of
  /// sd_notify(3).
  package static func notifyServiceManager(_ state: String) {
    guard let path = ProcessEnvironment.value(named: "NOTIFY_SOCKET"),
      path.hasPrefix("/") || path.hasPrefix("@"),
      var address = try? SocketFile.makeAddress(path)
    else { return }
    // The path of an abstract socket begins with a zero byte.
    if path.hasPrefix("@") {
      address.sun_path.0 = 0
    }
    let socketType = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let socketDescriptor = socket(AF_UNIX, socketType, 0)
    guard socketDescriptor >= 0 else { return }
    defer { close(socketDescriptor) }
    let stateBytes = Array(state.utf8)
    _ = unsafe SocketFile.withAddress(
      &address, length: MemoryLayout<sa_family_t>.size + path.utf8.count
    ) {
      unsafe sendto(socketDescriptor, stateBytes, stateBytes.count, Int32(MSG_NOSIGNAL), $0, $1)
    }
  }
}
