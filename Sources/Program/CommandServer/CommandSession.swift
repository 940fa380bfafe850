package import HapticFormats
internal import HapticModel
package import HapticPlayback
internal import HapticRender
internal import PatternWorkflows
package import PlaybackSessions
internal import SystemSupport
package import TransducerProfiles
internal import VendorFormats

/// Performs commands on an engine and reports the events of sounds. Its methods never block, and
/// only one thread may call them.
package final class CommandSession {
  package let engine: PlaybackEngine
  /// The sounds that were started and had not ended at the last check, in the order of their
  /// commands.
  var sounds: [ServerSound] = []
  let patternLoader: PatternLoader
  var scheduledTaps = TapSchedule()
  var ducking = Ducking()
  /// The client that sent the current command; nil for a command that restores a saved state.
  var currentClientID: Int? = 0
  /// The earliest frame at which immediate commands take effect while a saved state is being
  /// restored, so that all its loops start together; otherwise, nil.
  var earliestRestorationFrame: Int64?
  /// The saved state that is still to be restored. Until then, it is saved again instead of the
  /// state of this session.
  var stateTextToRestore: String?
  var generatedNameCount = 0
  let transducerArray: TransducerArray?
  let deviceName: String
  private let wakeSignal: WakeSignal?
  private var pendingEvents: [CommandReply] = []
  private var lastSoundEndFrame: Int64 = 0
  var sinkEvents = SinkEventAggregator()
  let startSecondsSince1970: Int
  /// A Boolean value that indicates whether the device is open and responds.
  private(set) var isDevicePresent: Bool
  /// The number of connected clients, for the metrics.
  package var clientCount = 0
  /// The number of requests so far. If the count has changed since the last save, the state may
  /// have changed, too.
  package private(set) var requestCount = 0
  /// A closure that reads changed settings and begins to check them, and throws an error to refuse
  /// them; nil if settings cannot be reloaded.
  package var settingsReloadHandler: (() throws -> SettingsCheck)?
  /// A Boolean value that indicates whether the session must end and continue with new settings.
  package private(set) var isReloading = false
  private let messageForError: @Sendable (any Error) -> String
  /// A Boolean value that indicates whether a client has set the strength of all sounds.
  var hasClientSetStrength = false
  /// The peak magnitude of the output since the start of the server.
  private var maximumPeakMagnitude: Float = 0
  /// The peak magnitude of the output since `status` last reported it.
  private var recentPeakMagnitude: Float = 0
  private(set) var lateCommandCount = 0
  private var isCurrentCommandLate = false
  /// The preparation of the current command; nil if it was not prepared in advance.
  private var currentRequestPreparation: RequestPreparation?

  /// Creates a session on an engine.
  ///
  /// - Parameters:
  ///   - engine: The engine.
  ///   - device: The name of the device in reports.
  ///   - array: The transducer array; nil without one.
  ///   - startTime: The start of the session in seconds since 1970.
  ///   - wake: The signal that is raised on another thread when there may be new events.
  ///   - formats: The formats of patterns.
  ///   - reading: The options for reading patterns.
  ///   - folder: The real path of the only folder from which files are read; nil for all folders.
  ///   - loadsInBackground: True to load each pattern on its own thread.
  ///   - message: A closure that returns the message for an error.
  ///   - isDevicePresent: False if the device is awaited.
  package init(
    _ engine: PlaybackEngine, device: String, isDevicePresent: Bool = true,
    array: TransducerArray? = nil,
    startTime: Int = 0, wake: WakeSignal? = nil,
    formats: FormatRegistry = .standard, reading: ReadingOptions = ReadingOptions(),
    folder: String? = nil,
    loadsInBackground: Bool = false,
    message: @escaping @Sendable (any Error) -> String = { "\($0)" }
  ) {
    self.engine = engine
    self.deviceName = device
    self.transducerArray = array
    self.startSecondsSince1970 = startTime
    self.wakeSignal = wake
    self.isDevicePresent = isDevicePresent
    self.messageForError = message
    patternLoader = PatternLoader(
      profiles: engine.profiles, rate: engine.rate, formats: formats, reading: reading,
      folder: folder, loadsInBackground: loadsInBackground, message: message)
  }

  /// Begins the work that a request waits for. Returns nil if the request can be performed at once.
  func beginPreparation(
    for request: CommandRequest
  ) throws(CommandError) -> RequestPreparation? {
    guard case .success(let command) = request.command else { return nil }
    if command.syntax.verb == CommandGrammar.reloadVerb {
      return .settings(try beginSettingsCheck())
    }
    return command.needsPatternLoading
      ? .pattern(try patternLoader.beginLoading(command, wake: wakeSignal)) : nil
  }

  /// Performs a request, and returns its reply. `quit` and `shutdown` are handled by the caller.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - client: The ID of the client; nil for a command of a restored state.
  ///   - preparation: The finished preparation of the request; nil to prepare it here.
  func reply(
    to request: CommandRequest, clientID client: Int? = 0,
    with preparation: RequestPreparation? = nil
  ) -> CommandReply {
    removeEndedSounds()
    requestCount += 1
    self.currentClientID = client
    self.currentRequestPreparation = preparation
    isCurrentCommandLate = false
    defer { self.currentRequestPreparation = nil }
    do throws(CommandError) {
      let command = try request.command.get()
      let fields = try command.syntax.action(self)(command)
      if isCurrentCommandLate {
        lateCommandCount += 1
      }
      return .ok(fields, tag: request.tag)
    } catch {
      return .error(error, tag: request.tag)
    }
  }

  package func drainEvents() -> [CommandReply] {
    removeEndedSounds()
    defer { pendingEvents = [] }
    return pendingEvents
  }

  /// Lets all sounds play to their ends. Loops end after the current pass, and paused sounds are
  /// stopped. Returns false if the engine was too busy and the call must be repeated.
  package func finishAllSounds() -> Bool {
    removeEndedSounds()
    do throws(PlaybackError) {
      for sound in sounds where sound.stopFrame == nil && sound.replacementFrame == nil {
        if sound.isPaused {
          try endSound(sound, at: scheduledTime(.now))
        } else {
          try sound.player.loop(passCount: 1)
        }
      }
      return true
    } catch {
      return false
    }
  }

  /// Returns the time in seconds until the output of all ended sounds has been heard; nil while any
  /// sound is playing or scheduled.
  ///
  /// - Parameter tail: The time to add after the end of the last sound, in seconds; nil for the
  ///   tail of the output routing.
  package func secondsUntilSilence(tail: Double? = nil) -> Double? {
    removeEndedSounds()
    guard sounds.isEmpty, scheduledTaps.count == 0 else { return nil }
    let maximumDelayFrames = engine.routing.channels.map(\.delayFrameCount).max() ?? 0
    let remainingSeconds =
      Double(lastSoundEndFrame + Int64(maximumDelayFrames) - engine.position) / engine.rate
      + (tail ?? engine.routing.tailDuration(rate: engine.rate))
    return max(0, remainingSeconds)
  }

  private func pattern(for command: ServerCommand) throws(CommandError) -> CompiledPattern {
    guard case .pattern(let loadingJob)? = currentRequestPreparation,
      let loadingResult = loadingJob.withLock({ $0 })
    else {
      return try patternLoader.pattern(for: command)
    }
    return try loadingResult.get()
  }

  func preload(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    let loadedPattern = try pattern(for: command)
    return [.number("duration", loadedPattern.durationSeconds)] + loadedPattern.mixedLocationFields
  }

  func statisticsReply(_: ServerCommand) -> [CommandReply.Field] {
    [.json(statisticsFields.compactLine)]
  }
  func listSounds(_: ServerCommand) -> [CommandReply.Field] { soundNames.map { .text($0) } }

  func helpReply(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    try CommandGrammar.helpFields(command.textValue(of: "COMMAND"))
  }

  func emptyReply(_: ServerCommand) -> [CommandReply.Field] { [] }

  func reload(_: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    let settingsCheck: SettingsCheck
    if case .settings(let begunCheck)? = currentRequestPreparation {
      settingsCheck = begunCheck
    } else {
      settingsCheck = try beginSettingsCheck()
    }
    guard settingsCheck.isFinished() else {
      throw CommandError(.busy, "the device is still being opened; try again later")
    }
    do {
      try settingsCheck.apply()
    } catch {
      throw CommandError(.failed, messageForError(error))
    }
    isReloading = true
    return []
  }

  private func beginSettingsCheck() throws(CommandError) -> SettingsCheck {
    guard let settingsReloadHandler else {
      throw CommandError(.failed, "this session has no settings to reload")
    }
    do {
      return try settingsReloadHandler()
    } catch {
      throw CommandError(.failed, messageForError(error))
    }
  }

  /// Continues the counts of a session that ended to reload its settings.
  package func continueStatistics(of previous: CommandSession) {
    sinkEvents = previous.sinkEvents
    maximumPeakMagnitude = previous.maximumPeakMagnitude
    lateCommandCount = previous.lateCommandCount
    clientCount = previous.clientCount
    requestCount = previous.requestCount
  }

  func statusReply(_: ServerCommand) -> [CommandReply.Field] {
    let waitingCount = sounds.count { !$0.isPaused && !$0.hasStarted }
    let pausedCount = sounds.count { $0.isPaused }
    updateMaximumPeak()
    defer { recentPeakMagnitude = 0 }
    return [
      .number("time", engine.positionSeconds),
      .count("playing", sounds.count - waitingCount - pausedCount),
      .count("waiting", waitingCount + scheduledTaps.count), .count("paused", pausedCount),
      .count("voices", engine.voiceCount),
      .number("strength", Double(engine.strength)), .pair("muted", engine.isMuted ? "yes" : "no"),
      .number("peak", Double(recentPeakMagnitude)),
      .number("limited", Double(engine.limitedFrameCount) / engine.rate),
      .count("underruns", sinkEvents.underrunCount),
      .number("missed", Double(sinkEvents.missedFrameCount) / engine.rate),
      .pair("device", deviceName), .pair("present", isDevicePresent ? "yes" : "no"),
      .count("rate", Int(engine.rate)),
    ]
  }

  /// Updates and returns the peak magnitude of the output since the start of the server.
  @discardableResult func updateMaximumPeak() -> Float {
    for channel in engine.routing.channels.indices {
      recentPeakMagnitude = max(recentPeakMagnitude, engine.drainPeak(ofChannel: channel))
    }
    maximumPeakMagnitude = max(maximumPeakMagnitude, recentPeakMagnitude)
    return maximumPeakMagnitude
  }

  package var playbackState: PlaybackState {
    if sounds.contains(where: { $0.hasStarted && !$0.isPaused }) {
      return .playing
    }
    return sounds.contains { $0.isPaused } ? .paused : .idle
  }

  /// The names of all sounds that are playing or scheduled, without duplicates, in the order of
  /// their commands.
  var soundNames: [String] {
    var names: [String] = []
    for case let soundName? in sounds.map(\.name) where !names.contains(soundName) {
      names.append(soundName)
    }
    return names
  }

  func scheduledTime(_ time: CommandTime) -> ScheduledTime {
    let currentFrame = engine.position
    let scheduledFrame =
      switch time {
      case .now: max(currentFrame, earliestRestorationFrame ?? currentFrame)
      case .after(let seconds):
        currentFrame + FrameConversion.frame(seconds: seconds, rate: engine.rate)
      case .at(let seconds): Int64((seconds * engine.rate).rounded())
      }
    if case .at = time, scheduledFrame < currentFrame {
      isCurrentCommandLate = true
    }
    return scheduledFrame > currentFrame
      ? (.frame(scheduledFrame), scheduledFrame) : (.now, currentFrame)
  }

  /// Returns the time until the next scheduled tap needs a player; nil if no taps are scheduled.
  package func timeUntilNextUpdate() -> Duration? {
    scheduledTaps.firstTapFrame.map { frame in
      let remaining =
        Double(frame - engine.position) / engine.rate - Self.minimumTapPreparationSeconds / 2
      return .seconds(max(0.001, remaining))
    }
  }

  /// Starts imminent taps, and removes and reports the sounds that have ended.
  private func removeEndedSounds() {
    startImminentTaps()
    let endedSounds = sounds.filter(\.hasEnded)
    if endedSounds.isEmpty { return }
    defer { adjustDuckingGains() }
    sounds.removeAll { sound in endedSounds.contains { $0 === sound } }
    // The sort is stable: sounds that ended together keep their order.
    for sound in endedSounds.sorted(by: { $0.player.endFrame < $1.player.endFrame }) {
      let frame = sound.player.endFrame
      // Scheduled commands would keep the player loaded. If there are too many commands now, they
      // expire at their time.
      if sound.lastCommandFrame > frame {
        try? sound.player.cancel()
      }
      lastSoundEndFrame = max(lastSoundEndFrame, frame)
      if let replacementFrame = sound.replacementFrame, frame >= replacementFrame {
        continue
      }
      let isStopped = sound.stopFrame.map { frame >= $0 } ?? false
      reportEnd(of: sound, isStopped ? "stopped" : "finished", at: frame)
    }
  }

  private func reportEnd(of sound: ServerSound, _ event: String, at frame: Int64) {
    guard let soundName = sound.name else { return }
    pendingEvents.append(
      .event(event, [.pair("name", soundName), .number("time", Double(frame) / engine.rate)]))
  }

  func reportEvent(_ event: String, _ fields: [CommandReply.Field]) {
    pendingEvents.append(.event(event, [.number("time", engine.positionSeconds)] + fields))
  }

  package func recordSinkEvent(_ event: SinkEvent, at now: Duration) {
    switch event.kind {
    case .disconnected, .unresponsive, .failed: isDevicePresent = false
    case .reconnected, .underrun: isDevicePresent = true
    case .suspended, .degraded: break
    }
    for report in sinkEvents.add(event, at: now) {
      self.reportSinkEvents(report)
    }
  }

  /// Returns the time until device events that were held back, to be combined into one report, are
  /// reported; nil if there are none.
  package func timeUntilHeldBackReport(at now: Duration) -> Duration? {
    sinkEvents.timeUntilNextReport(at: now)
  }

  /// Reports the device events that were held back and are now due, or all of them if `now` is nil.
  package func reportHeldBackEvents(at now: Duration?) {
    for report in sinkEvents.drainDueReports(at: now) {
      self.reportSinkEvents(report)
    }
  }

  private func reportSinkEvents(_ report: SinkEventAggregator.Report) {
    let sinkEvent = report.event
    // A script cannot react to a degradation; standard error reports it.
    if sinkEvent.kind == .degraded { return }
    let eventName = sinkEvent.kind.name
    let missedSecondsField = CommandReply.Field.number(
      "missed", Double(sinkEvent.missedFrameCount) / engine.rate)
    let countField = CommandReply.Field.count("count", report.count)
    if sinkEvent.kind == .underrun {
      return self.reportEvent(
        eventName,
        [missedSecondsField, countField] + (sinkEvent.cause.map { [.pair("cause", $0.name)] } ?? [])
      )
    }
    self.reportEvent(
      eventName,
      [missedSecondsField] + (report.count > 1 ? [countField] : []) + [
        .pair("text", sinkEvent.text)
      ])
  }

  func play(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    let loadedPattern = try pattern(for: command)
    try checkClientQuota()
    return try translatingPlaybackErrors { () throws(PlaybackError) in
      let player = try engine.player(
        for: loadedPattern.plansByHapticBus, duration: loadedPattern.durationSeconds)
      let rate = command.numberValue(of: "rate", default: 1)
      if rate != 1 {
        try player.setPlaybackRate(rate)
      }
      if command.hasFlag("loop") {
        try player.loop(passCount: nil)
      }
      let position = command.numberValue(of: "from")
      let fields = try startSound(
        player, as: command.textValue(of: "as") ?? loadedPattern.name,
        at: scheduledTime(command.time),
        from: position > 0 ? position : nil,
        gain: command.numberValue(of: "strength", default: 1), priority: command.priority)
      if let sound = sounds.last {
        sound.patternName = command.textValue(of: "PATTERN")
        sound.playbackRate = rate
        sound.isLooping = command.hasFlag("loop")
      }
      return fields + loadedPattern.mixedLocationFields
    }
  }

  func playHum(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    let intensity = Float(command.numberValue(of: "INTENSITY"))
    let sharpness = Float(command.numberValue(of: "SHARPNESS"))
    let humEvent = HapticEvent(
      kind: .hapticContinuous, time: 0, duration: command.numberValue(of: "SECONDS"),
      parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
    try checkClientQuota()
    let humPlayer = try player(for: HapticPattern(events: [humEvent]))
    return try translatingPlaybackErrors { () throws(PlaybackError) in
      try startSound(
        humPlayer, as: command.textValue(of: "as") ?? makeSoundName("hum"),
        at: scheduledTime(command.time),
        priority: command.priority)
    }
  }

  /// Plays a transient that has no name. A tap that is not imminent is stored in the schedule and
  /// gets a player later.
  func playTap(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    let tapTime = scheduledTime(command.time)
    let newTap = TapSchedule.Tap(
      frame: tapTime.frame, intensity: Float(command.numberValue(of: "INTENSITY", default: 1)),
      sharpness: Float(command.numberValue(of: "SHARPNESS", default: 0.5)),
      clientID: currentClientID)
    if isTapImminent(newTap.frame) {
      try startTap(newTap, at: tapTime)
    } else if !scheduledTaps.add(newTap) {
      throw CommandError(
        .busy,
        "a client can schedule at most \(TapSchedule.maximumTapCount) taps; send more later"
      )
    }
    return [.number("time", Double(tapTime.frame) / engine.rate)]
  }

  func startImminentTaps() {
    while let tapFrame = scheduledTaps.firstTapFrame, isTapImminent(tapFrame),
      let tap = scheduledTaps.popTap(before: .max)
    {
      do throws(CommandError) {
        try startTap(tap, at: (.frame(tap.frame), tap.frame))
      } catch {
        // There is space for the tap after the next period.
        return scheduledTaps.insert(tap)
      }
    }
  }

  /// The time before a tap at which the tap gets a player in any case, in seconds.
  static var minimumTapPreparationSeconds: Double { 0.1 }
  /// The time before a tap at which the tap already gets a player if there are few sounds, in
  /// seconds.
  private static var maximumTapPreparationSeconds: Double { 2 }
  private static var maximumEarlyTapSoundCount: Int { 256 }

  private func isTapImminent(_ frame: Int64) -> Bool {
    let remainingSeconds = Double(frame - engine.position) / engine.rate
    return remainingSeconds
      < (sounds.count < Self.maximumEarlyTapSoundCount
        ? Self.maximumTapPreparationSeconds : Self.minimumTapPreparationSeconds)
  }

  private func startTap(_ tap: TapSchedule.Tap, at moment: ScheduledTime) throws(CommandError) {
    let tapEvent = HapticEvent(
      kind: .hapticTransient, time: 0,
      parameters: [.hapticIntensity: tap.intensity, .hapticSharpness: tap.sharpness])
    let tapPlayer = try player(for: HapticPattern(events: [tapEvent]))
    _ = try translatingPlaybackErrors { () throws(PlaybackError) in
      try startSound(tapPlayer, as: nil, at: moment)
    }
  }

  /// Throws an error if the client already has as many sounds as there are free players, so that a
  /// single client uses at most half of all players. Sounds of a restored state have no client.
  func checkClientQuota() throws(CommandError) {
    guard currentClientID != nil else { return }
    let totalSoundLimit = Renderer.maximumPlayerCount / engine.profiles.count
    let clientSoundCount = sounds.count { $0.clientID == currentClientID && $0.name != nil }
    guard clientSoundCount < max(1, totalSoundLimit - sounds.count) else {
      throw CommandError(
        .busy,
        """
        this client has \(clientSoundCount) sounds that are playing or waiting; stop some, or wait \
        until they end
        """)
    }
  }

  func translatingPlaybackErrors<Result>(_ calls: () throws(PlaybackError) -> Result)
    throws(CommandError)
    -> Result
  {
    do {
      return try calls()
    } catch {
      throw Self.commandError(error)
    }
  }

  private static func commandError(_ error: PlaybackError) -> CommandError {
    let hasNoFreePlayer = error.kind == .tooManyPlayers
    return CommandError(
      .busy,
      hasNoFreePlayer
        ? "too many sounds are playing or waiting; stop some, or wait until they end"
        : error.description)
  }

  func startSound(
    _ player: PatternPlayer, as name: String?, at moment: ScheduledTime,
    from position: Double? = nil,
    gain: Double = 1,
    priority: Int = 0
  ) throws(PlaybackError) -> [CommandReply.Field] {
    if name != nil {
      for old in sounds where old.name == name {
        try endSound(old, at: moment, isReplacement: true)
      }
    }
    let newSound = ServerSound(
      name: name, player: player, startFrame: moment.frame, clientID: currentClientID,
      priority: priority)
    newSound.gain = gain
    // While a sound of a higher priority plays, this one starts with its reduced gain.
    newSound.duckingGain = duckingGain(of: newSound, at: moment.frame)
    if newSound.gainIncludingDucking != 1 {
      try player.setGain(newSound.gainIncludingDucking, over: 0)
    }
    try player.start(at: moment.time, from: position)
    if let wakeSignal {
      player.endHandler = { wakeSignal.raise() }
    }
    sounds.append(newSound)
    if priority > 0 {
      try duckSounds(below: newSound, at: moment)
    }
    let timeField = CommandReply.Field.number("time", Double(moment.frame) / engine.rate)
    guard let name else { return [timeField] }
    return [.pair("name", name), timeField, .number("duration", player.duration)]
  }

  private func player(for pattern: HapticPattern) throws(CommandError) -> PatternPlayer {
    do {
      return try engine.player(for: pattern)
    } catch let error as PlaybackError {
      throw Self.commandError(error)
    } catch {
      throw CommandError(.invalidValue, "\(error)")
    }
  }

  /// Returns a generated name for a sound that is not in use, such as `hum-3`.
  func makeSoundName(_ word: String) -> String {
    repeat {
      generatedNameCount += 1
    } while soundNames.contains("\(word)-\(generatedNameCount)")
    return "\(word)-\(generatedNameCount)"
  }

  func setParameter(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    guard let parameter = command.textValue(of: "PARAMETER").flatMap(CommandParameter.init) else {
      return []
    }
    let value = command.numberValue(of: "VALUE")
    let rampSeconds = command.numberValue(of: "over")
    guard parameter.range.contains(value) else {
      let bounds = CommandSyntax.Kind.number(parameter.range).acceptedValuesText
      throw CommandError(
        .invalidValue,
        "\(parameter.name) must be \(bounds), not '\(NumberFormatting.plainText(value))'"
      )
    }
    let changeTime = scheduledTime(command.time)
    let soundName = command.textValue(of: "of")
    switch parameter {
    case .strength where soundName == nil:
      hasClientSetStrength = true
      try translatingPlaybackErrors { () throws(PlaybackError) in
        try engine.setStrength(
          Float(value), over: max(rampSeconds, PlaybackEngine.strengthRampSeconds),
          at: changeTime.time)
      }
      return []
    case .strength:
      return try changeEachSound(soundName) { sound throws(PlaybackError) in
        sound.gain = value
        try sound.player.setGain(
          sound.gainIncludingDucking, over: rampSeconds > 0 ? rampSeconds : nil, at: changeTime.time
        )
        sound.recordScheduledFrame(changeTime.frame)
      }
    case .control(let controlID):
      return try changeEachSound(soundName) { sound throws(PlaybackError) in
        try sound.setControl(
          controlID, to: value, over: rampSeconds, at: changeTime, rate: engine.rate)
      }
    }
  }

  func stop(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    let stopTime = scheduledTime(command.time)
    if command.name == nil {
      scheduledTaps.removeTaps(from: stopTime.frame)
    }
    let endingSounds =
      try command.name.map { name throws(CommandError) in try sounds(named: name) } ?? sounds
    for sound in endingSounds {
      try translatingPlaybackErrors { () throws(PlaybackError) in try endSound(sound, at: stopTime)
      }
    }
    return []
  }

  /// Pauses the sounds with the given name, or all sounds that have a name. A sound that has not
  /// started yet is paused at its start.
  func pause(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    try changeEachSound(command.name) { sound throws(PlaybackError) in
      try sound.player.pause(at: sound.earliestChangeTime)
      sound.isPaused = true
    }
  }

  func resume(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    try changeEachSound(command.name) { sound throws(PlaybackError) in
      try sound.player.resume(at: sound.earliestChangeTime)
      sound.isPaused = false
    }
  }

  func seek(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    try changeEachSound(command.name) { sound throws(PlaybackError) in
      try sound.player.seek(to: command.numberValue(of: "SECONDS"), at: sound.earliestChangeTime)
    }
  }

  func loop(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    let isLoopOn = command.textValue(of: "SWITCH") == "on"
    let loopEndSeconds = command.hasFlag("end") ? command.numberValue(of: "end") : nil
    guard isLoopOn || loopEndSeconds == nil else {
      throw CommandError(.unexpectedArgument, "'end' requires 'on'")
    }
    return try changeEachSound(command.name) { sound throws(PlaybackError) in
      try sound.player.loop(passCount: isLoopOn ? nil : 1, end: loopEndSeconds)
      sound.isLooping = isLoopOn
      sound.loopEndSeconds = loopEndSeconds
    }
  }

  func setPlaybackRate(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    try changeEachSound(command.name) { sound throws(PlaybackError) in
      try sound.player.setPlaybackRate(command.numberValue(of: "RATE"))
      sound.playbackRate = command.numberValue(of: "RATE")
    }
  }

  /// Moves the sounds with the given name to a position in the transducer array. A sound that has
  /// not started yet starts at the new position.
  func panSound(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    guard let transducerArray else {
      throw CommandError(
        .invalidValue, "no array is configured; start 'temblor listen' with '--array FILE'")
    }
    let positionText = command.textValue(of: "POS") ?? ""
    guard let targetPosition = ArrayPosition(positionText, in: transducerArray.layout) else {
      throw CommandError(
        .invalidValue,
        "POS must be \(transducerArray.layout.positionDescription), not \(positionText.inQuotes)")
    }
    return try changeEachSound(command.name) { sound throws(PlaybackError) in
      try sound.pan(
        to: targetPosition, over: command.numberValue(of: "over"), on: transducerArray,
        now: engine.position,
        rate: engine.rate)
      sound.panPositionText = positionText
    }
  }

  func mute(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    let isMuted = command.syntax.verb == "mute"
    if command.name == nil {
      engine.isMuted = isMuted
    }
    // Without a name, muting silences the engine, but unmuting also unmutes each sound that was
    // muted by its name.
    if command.name == nil && isMuted { return [] }
    return try changeEachSound(command.name) { sound throws(PlaybackError) in
      guard sound.isMuted != isMuted else { return }
      try sound.player.setMuted(isMuted)
      sound.isMuted = isMuted
    }
  }

  /// Ends a sound at the given time. A sound that would start later never starts.
  func endSound(_ sound: ServerSound, at moment: ScheduledTime, isReplacement: Bool = false)
    throws(PlaybackError)
  {
    let isStartCancelable = !sound.hasStarted && sound.startFrame >= moment.frame
    if isStartCancelable {
      try sound.player.cancel()
    } else {
      try sound.player.stop(at: moment.time)
    }
    sound.recordScheduledFrame(moment.frame)
    if isReplacement {
      sound.replacementFrame = min(sound.replacementFrame ?? .max, moment.frame)
    } else {
      sound.stopFrame = min(sound.stopFrame ?? .max, moment.frame)
    }
    if isStartCancelable {
      sounds.removeAll { $0 === sound }
      if sound.replacementFrame == nil {
        reportEnd(of: sound, "stopped", at: engine.position)
      }
    }
  }

  private func changeEachSound(
    _ name: String?, _ change: (ServerSound) throws(PlaybackError) -> Void
  )
    throws(CommandError)
    -> [CommandReply.Field]
  {
    let changedSounds =
      try name.map { name throws(CommandError) in try sounds(named: name) }
      ?? sounds.filter { $0.name != nil }
    for sound in changedSounds {
      try translatingPlaybackErrors { () throws(PlaybackError) in try change(sound) }
    }
    return []
  }

  private func sounds(named name: String) throws(CommandError) -> [ServerSound] {
    let matchingSounds = sounds.filter { $0.name == name }
    guard matchingSounds.isEmpty else { return matchingSounds }
    throw CommandError(
      .unknownName,
      "no sound named \(name.inQuotes) is playing"
        + Suggestion.didYouMeanText(for: name, among: soundNames))
  }

  /// The maximum number of noise sounds that play or wait at the same time. Each of them stores its
  /// own samples.
  static let maximumNoiseCount = 16

  func playNoise(_ command: ServerCommand) throws(CommandError) -> [CommandReply.Field] {
    let noisePattern = try pattern(for: command)
    try checkClientQuota()
    guard
      sounds.count(where: { $0.isNoise && $0.name != command.textValue(of: "as") })
        < Self.maximumNoiseCount
    else {
      throw CommandError(
        .busy,
        """
        \(Self.maximumNoiseCount) noises are playing or waiting; stop one, or wait until it ends
        """)
    }
    return try translatingPlaybackErrors { () throws(PlaybackError) in
      let player = try engine.player(
        for: noisePattern.plansByHapticBus, duration: noisePattern.durationSeconds)
      try player.loop(passCount: nil)
      let moment = scheduledTime(command.time)
      let name = command.textValue(of: "as") ?? makeSoundName("noise")
      let duration = command.numberValue(of: "SECONDS")
      _ = try startSound(player, as: name, at: moment, priority: command.priority)
      let end = moment.frame + FrameConversion.frame(seconds: duration, rate: engine.rate)
      try player.stop(at: .frame(end))
      if let sound = sounds.last {
        sound.isNoise = true
        sound.recordScheduledFrame(end)
      }
      return [
        .pair("name", name), .number("time", Double(moment.frame) / engine.rate),
        .number("duration", duration),
      ]
    }
  }
}
