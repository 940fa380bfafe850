import CommandLineKit
import Glibc
import HapticPlayback
import HapticRender
import PatternWorkflows
import PlaybackSessions
import SystemSupport

/// A session that plays an activity until it is finished or the user ends it.
/// The terminal is restored, however the session ends.
final class LiveSession {
  static let strengthStepCount: Float = 20
  /// The interval between reads of block timings, which is short enough that no timings are
  /// dropped.
  private static let blockTimingsReadInterval = Duration.milliseconds(500)

  /// The maximum time for a device to stop after a key press or a signal.
  private static let requestedStopTimeout = Duration.milliseconds(750)
  /// The maximum time to complete a recording after a key press or a signal. A busy disk may stall
  /// for seconds. Together with the stop of the device, the time is less than the interval of the
  /// watchdog in the systemd units.
  private static let requestedStopRecordingTimeout = Duration.seconds(5)
  /// The maximum time to complete a recording if the user did not request the stop.
  private static let recordingCompletionTimeout = Duration.seconds(30)

  let console: LiveConsole
  private let environment: any PlaybackEnvironment
  private let wantsBlockTimings: Bool
  private let eventInbox = EventInbox()
  private var outcome = LiveOutcome()
  private lazy var keyboard: (any Keyboard)? = environment.makeKeyboard()

  init(
    in backend: any PlaybackEnvironment, terminal: Terminal, isQuiet: Bool,
    wantsBlockTimings wantsRecords: Bool
  ) {
    self.environment = backend
    self.wantsBlockTimings = wantsRecords
    console = LiveConsole(on: terminal, isQuiet: isQuiet)
  }

  /// A Boolean value that indicates whether the user can press keys. The first access claims the
  /// keyboard for the session.
  var hasKeyboard: Bool { keyboard != nil }

  /// The open device, or nil before the device was opened.
  var openDevice: DeviceSummary? { outcome.device }

  /// The signal that ends a wait of the session. Any thread may raise it.
  var wakeSignal: WakeSignal { eventInbox.wakeSignal }

  func run<Task: PlaybackActivity>(
    _ options: DeviceOptions, keepsAwake: Bool = false, recording path: String? = nil,
    maximumSeconds seconds: Double? = nil,
    rotation: LiveRecording.RotationSettings? = nil,
    prepare: (DeviceSummary) throws -> (engine: PlaybackEngine, task: Task)
  ) throws -> (outcome: LiveOutcome, task: Task) {
    // From here on, a signal is reported first, so that the output can fade out.
    let interruptSignal = InterruptSignal()
    guard interruptSignal.descriptor >= 0, eventInbox.wakeSignal.descriptor >= 0 else {
      throw PlaybackError.fileLimitReached
    }
    defer { keyboard = nil }
    let inbox = self.eventInbox
    let openedOutput = try environment.openOutput(options.deviceName, options.outputRequest)
    let device = DeviceSummary(openedOutput)
    outcome.device = device
    let (engine, task) = try prepare(device)
    let keepAwakeTone = keepsAwake ? try KeepAwakeTone(engine) : nil
    let liveRecording = try path.map {
      try LiveRecording(
        to: $0, device: device, maximumSeconds: seconds, rotation: rotation,
        software: "Temblor \(temblorVersion)"
      ) {
        inbox.appendEvent(.sinkEvent($0))
      }
    }
    let activePlayback = ActivePlayback(
      engine: engine, activity: task, keepAwakeTone: keepAwakeTone, recording: liveRecording)
    let driver = try environment.play(
      engine, through: openedOutput, recording: liveRecording?.recordingBuffer
    ) {
      inbox.appendEvent($0)
    }
    do {
      outcome.ending = try runEventLoop(activePlayback, driver, interruptSignal)
    } catch {
      outcome.ending = .quit
      finishPlayback(activePlayback, driver)
      throw error
    }
    finishPlayback(activePlayback, driver)
    return (outcome, task)
  }

  private struct ActivePlayback {
    let engine: PlaybackEngine
    let activity: any PlaybackActivity
    let keepAwakeTone: KeepAwakeTone?
    let recording: LiveRecording?
  }

  private func runEventLoop(
    _ playing: ActivePlayback, _ driver: any EngineDriver, _ interruption: borrowing InterruptSignal
  ) throws
    -> LiveOutcome.Ending
  {
    let activity = playing.activity
    if let device = outcome.device {
      console.reportHint(device.description)
    }
    if keyboard != nil {
      showKeyHelp(of: activity)
    }
    while true {
      if handlePlaybackEvents(playing.engine) { return .deviceEnded }
      if interruption.isRaised { return .interrupted }
      for key in keyboard?.readKeys(at: environment.time.now) ?? [] {
        if try handleKey(key, playing) {
          return .quit
        }
      }
      if keyboard?.isClosed == true, !SignalHandling.isSignalIgnored(SIGHUP) {
        return .quit
      }
      let step = try activity.updateActivity(at: environment.time.now)
      playing.keepAwakeTone?.compensateEngineStrength(playing.engine.strength)
      readBlockTimings(driver, playing)
      guard case .wait(let limit) = step else { return .over }
      console.updateStatus(playbackStatus(of: playing))
      waitForEvents(of: activity, interruption.descriptor, limit)
    }
  }

  private func waitForEvents(
    of activity: any PlaybackActivity, _ interruptionDescriptor: Int32, _ limit: Duration?
  ) {
    var pollDescriptors = [
      PollDescriptor(eventInbox.wakeSignal.descriptor), PollDescriptor(interruptionDescriptor),
    ]
    pollDescriptors += (keyboard?.watchedDescriptors ?? []) + activity.watchedDescriptors
    let waitLimits = [
      limit, console.timeUntilUpdate(isIdle: activity.playbackState == .idle),
      keyboard?.waitTimeout(at: environment.time.now),
      outcome.sinkEvents.timeUntilNextReport(at: environment.time.now),
      wantsBlockTimings ? Self.blockTimingsReadInterval : nil,
    ]
    environment.time.wait(for: &pollDescriptors, timeout: waitLimits.compactMap { $0 }.min())
  }

  private func finishPlayback(_ playing: ActivePlayback, _ driver: any EngineDriver) {
    // An end on request does not wait for the contents of a long buffer.
    let stopsPromptly = outcome.ending == .interrupted || outcome.ending == .quit
    let hasEnded = driver.stopPlayback(within: stopsPromptly ? Self.requestedStopTimeout : nil)
    _ = handlePlaybackEvents(playing.engine)
    readBlockTimings(driver, playing)
    drainPeaks(playing.engine)
    drainProtectionSummary(playing.engine)
    reportSinkEvents(outcome.sinkEvents.drainDueReports(at: nil), playing.engine)
    console.clearStatusLine()
    outcome.frameCount = playing.engine.position
    outcome.limitedFrameCount = playing.engine.limitedFrameCount
    outcome.wasHeardToEnd = hasEnded && !outcome.sinkEvents.hasFailed
    if let protection = outcome.protectionSummary, protection.gainReductionCause != nil {
      console.reportHint(protection.summaryText)
      if protection.gainReductionCause == .excursion,
        playing.engine.profiles.contains(where: { $0.hardware?.measurement != nil })
      {
        console.reportHint("The resonance may have changed; \(CalibrationAge.quickCheckAdvice).")
      }
    }
    if let recording = playing.recording {
      let (result, message) = recording.finishRecording(
        within: stopsPromptly ? Self.requestedStopRecordingTimeout : Self.recordingCompletionTimeout
      )
      outcome.recordingResult = result
      if let message {
        console.reportError(message)
      }
    }
  }

  /// Reports events, and returns whether the device has ended.
  private func handlePlaybackEvents(_ engine: PlaybackEngine) -> Bool {
    var isOver = false
    for event in eventInbox.drainEvents() {
      switch event {
      case .sinkEvent(let notice):
        reportSinkEvents(outcome.sinkEvents.add(notice, at: environment.time.now), engine)
      case .ended: isOver = true
      }
    }
    reportSinkEvents(outcome.sinkEvents.drainDueReports(at: environment.time.now), engine)
    return isOver
  }

  private func reportSinkEvents(_ reports: [SinkEventAggregator.Report], _ engine: PlaybackEngine) {
    for report in reports {
      console.reportError(
        report.messageText(
          rate: engine.rate, lacksRealTimePriority: outcome.sinkEvents.lacksRealTimePriority))
    }
  }

  private func readBlockTimings(_ driver: any EngineDriver, _ playing: ActivePlayback) {
    guard wantsBlockTimings else { return }
    let blockTimings = driver.drainBlockTimings()
    outcome.renderLoadStatistics.addTimings(blockTimings, rate: playing.engine.rate)
    playing.activity.recordBlockTimings(blockTimings)
  }

  @discardableResult private func drainPeaks(_ engine: PlaybackEngine) -> [Float] {
    let channelPeaks = engine.routing.channels.indices.map { engine.drainPeak(ofChannel: $0) }
    outcome.peakAmplitude = max(outcome.peakAmplitude, channelPeaks.max() ?? 0)
    return channelPeaks
  }

  /// Returns a summary of the transducer protection's activity since the last call, and adds it to
  /// the outcome.
  @discardableResult private func drainProtectionSummary(_ engine: PlaybackEngine)
    -> ProtectionSummary?
  {
    guard engine.routing.channels.contains(where: { $0.transducer != nil }) else { return nil }
    let minimumGain = engine.drainMinimumProtectionGain()
    let temperatureRise = engine.temperatureRises.map(\.totalTemperatureRiseFraction).max() ?? 0
    var totalSummary = ProtectionSummary(
      excursionLimitedFrameCount: engine.excursionLimitedFrameCount,
      powerLimitedFrameCount: engine.powerLimitedFrameCount, minimumProtectionGain: minimumGain,
      temperatureRiseFraction: temperatureRise,
      peakExcursionFraction: Double(engine.peakExcursionFraction))
    var recentSummary = totalSummary
    if let previousSummary = outcome.protectionSummary {
      recentSummary.excursionLimitedFrameCount -= previousSummary.excursionLimitedFrameCount
      recentSummary.powerLimitedFrameCount -= previousSummary.powerLimitedFrameCount
      totalSummary.minimumProtectionGain = min(
        totalSummary.minimumProtectionGain, previousSummary.minimumProtectionGain)
      totalSummary.temperatureRiseFraction = max(
        totalSummary.temperatureRiseFraction, previousSummary.temperatureRiseFraction)
    }
    outcome.protectionSummary = totalSummary
    return recentSummary
  }

  private func playbackStatus(of playing: ActivePlayback) -> PlaybackStatus {
    let engine = playing.engine
    let activity = playing.activity
    let (position, duration) = activity.playbackProgress
    let channelPeaks = drainPeaks(engine)
    let voiceCount = max(0, engine.voiceCount - (playing.keepAwakeTone?.voiceCount ?? 0))
    return PlaybackStatus(
      state: engine.isMuted ? .muted : activity.playbackState,
      positionSeconds: activity.showsPlaybackTime ? position : nil,
      durationSeconds: duration,
      channelPeaks: activity.hidesSoundDetails ? [] : channelPeaks,
      voiceCount: activity.statusTitle == nil ? voiceCount : nil,
      underrunCount: outcome.sinkEvents.underrunCount,
      masterGain: activity.disablesLevelKeys ? nil : Double(engine.strength),
      activityTitle: activity.statusTitle,
      protectionSummary: activity.hidesSoundDetails ? nil : drainProtectionSummary(engine))
  }

  private func handleKey(_ key: KeyPress, _ playing: ActivePlayback) throws -> Bool {
    if try playing.activity.handleKey(key) { return false }
    switch key {
    case .character("q"), .character("Q"), .control("d"):
      return true
    case .character("?"), .character("h"):
      showKeyHelp(of: playing.activity)
    default:
      if !playing.activity.disablesLevelKeys {
        changeLevel(key, playing)
      }
    }
    return false
  }

  /// Changes the strength, or mutes, if the key requests it.
  private func changeLevel(_ key: KeyPress, _ playing: ActivePlayback) {
    switch key {
    case .character("+"), .character("="), .up: changeStrength(bySteps: 1, playing)
    case .character("-"), .character("_"), .down: changeStrength(bySteps: -1, playing)
    case .character("m"), .character("M"): playing.engine.isMuted.toggle()
    default: break
    }
  }

  private func changeStrength(bySteps step: Float, _ playing: ActivePlayback) {
    // Whole steps lead back to the initial value.
    let strengthSteps = (playing.engine.strength * Self.strengthStepCount).rounded() + step
    playing.engine.strength = strengthSteps / Self.strengthStepCount
  }

  private func showKeyHelp(of activity: any PlaybackActivity) {
    let levelKeys: [KeyHelp] =
      activity.disablesLevelKeys ? [] : [("+ -", "strength"), ("m", "mute")]
    let sessionKeys = levelKeys + [("q", "quit"), ("?", "help")]
    console.showKeyHelp(
      activity.keyHelp
        + sessionKeys.filter { key in !activity.keyHelp.contains { $0.key == key.key } })
  }
}

/// The part of a live command that controls playback on an engine. Its session calls all methods on
/// one thread.
protocol PlaybackActivity: AnyObject {
  var watchedDescriptors: [PollDescriptor] { get }
  /// The keys that this activity handles, with their meanings, in the order of the help text.
  var keyHelp: [KeyHelp] { get }
  var playbackState: PlaybackStatus.State { get }
  /// The playback position in seconds, and the total duration in seconds, or nil for endless
  /// playback.
  var playbackProgress: (position: Double, duration: Double?) { get }

  /// The title for the status line, with remarks about playback; nil to show only the time.
  var statusTitle: ActivityTitle? { get }
  /// A Boolean value that indicates whether the status line must hide the level meter and the
  /// number of voices.
  var hidesSoundDetails: Bool { get }
  /// A Boolean value that indicates whether the level is part of an experiment, so that the keys
  /// for strength and muting are disabled.
  var disablesLevelKeys: Bool { get }
  /// A Boolean value that indicates whether the status line shows the playback position and
  /// duration.
  var showsPlaybackTime: Bool { get }

  func updateActivity(at now: Duration) throws -> ActivityStep

  /// Handles a key. Returns false for a key that the session should handle.
  func handleKey(_ key: KeyPress) throws -> Bool

  /// Receives the timings of rendered blocks, if the session collects them.
  func recordBlockTimings(_ records: [BlockTiming])
}

enum ActivityStep: Equatable { case wait(Duration?), finished }

struct ActivityTitle: Equatable, Sendable {
  var longTitle: String
  var shortTitle: String
  /// The remarks about playback in the status line, with the most important remark first. Remarks
  /// that do not fit are omitted.
  var remarks: [String] = []
}

/// A key and its meaning, as listed when the user presses `?`.
typealias KeyHelp = (key: String, meaning: String)

extension PlaybackActivity {
  var watchedDescriptors: [PollDescriptor] { [] }
  var keyHelp: [KeyHelp] { [] }
  var playbackState: PlaybackStatus.State { .playing }
  var statusTitle: ActivityTitle? { nil }
  var hidesSoundDetails: Bool { false }
  var disablesLevelKeys: Bool { false }
  var showsPlaybackTime: Bool { true }
  func handleKey(_ key: KeyPress) throws -> Bool { false }
  func recordBlockTimings(_ records: [BlockTiming]) {}
}

protocol Keyboard: AnyObject {
  /// The file descriptors that become readable when keys arrive. They may change after each wait.
  var watchedDescriptors: [PollDescriptor] { get }
  /// A Boolean value that indicates whether the terminal was closed, so that no more keys follow.
  var isClosed: Bool { get }

  func waitTimeout(at now: Duration) -> Duration?
  func readKeys(at now: Duration) -> [KeyPress]
}

extension RawTerminal: Keyboard {
  var watchedDescriptors: [PollDescriptor] { terminalDescriptors.map { PollDescriptor($0) } }
}

final class LiveConsole {
  let showsStatus: Bool
  private let terminal: Terminal
  private var statusLine: ProgressLine
  private let isQuiet: Bool
  private var endsWithKeyHelp = false
  /// The update interval of the status line while the engine is idle.
  private static let idleUpdateInterval = Duration.seconds(1)
  /// The minimum interval between updates of the status line. Fifteen updates per second look
  /// smooth.
  private static let minimumUpdateInterval = Duration.seconds(1) / 15

  /// Creates a console. A quiet console has no status line and prints only necessary messages.
  init(on terminal: Terminal, isQuiet: Bool) {
    statusLine = ProgressLine(on: terminal, updateInterval: Self.minimumUpdateInterval)
    self.terminal = terminal
    self.isQuiet = isQuiet
    showsStatus = terminal.errorOutput.isTerminal && !isQuiet
  }

  /// Returns the time until the next update of the status line, or nil without a status line.
  func timeUntilUpdate(isIdle: Bool) -> Duration? {
    showsStatus ? isIdle ? Self.idleUpdateInterval : Self.minimumUpdateInterval : nil
  }

  func reportError(_ message: String) {
    endsWithKeyHelp = false
    statusLine.clear()
    terminal.report(message)
  }

  func reportInformation(_ message: String) {
    if !isQuiet {
      reportError(message)
    }
  }
  func reportHint(_ message: String) {
    if showsStatus {
      reportError(message)
    }
  }

  /// Lists the keys, with line breaks only between keys. The list is not repeated unless another
  /// message has followed it.
  func showKeyHelp(_ keys: [KeyHelp]) {
    guard !endsWithKeyHelp else { return }
    defer { endsWithKeyHelp = true }
    var helpLines = [""]
    for (index, key) in keys.enumerated() {
      let word = "\(key.key) \(key.meaning)" + (index + 1 < keys.count ? "," : "")
      if "Keys:".count + helpLines[helpLines.count - 1].count + word.count + 1
        >= terminal.errorOutput.columnCount,
        helpLines.last != ""
      {
        helpLines.append("")
      }
      helpLines[helpLines.count - 1] += " " + word
    }
    reportHint("Keys:" + helpLines.joined(separator: "\n     "))
  }

  /// Updates the status line, unless the last update was too recent. In that case, the autoclosure
  /// `figures` is not evaluated.
  func updateStatus(_ figures: @autoclosure () -> PlaybackStatus) {
    if showsStatus {
      statusLine.drawIfDue { width in figures().statusLine(width: width, for: terminal.errorOutput)
      }
    }
  }

  func clearStatusLine() { statusLine.clear() }
}

extension SinkEventAggregator.Report {
  func messageText(rate: Double, lacksRealTimePriority lacksPriority: Bool) -> String {
    let millisecondsText = NumberFormatting.roundedText(
      Double(event.missedFrameCount) * 1_000 / rate, places: 1)
    guard event.kind == .underrun else {
      let seconds = NumberFormatting.roundedText(Double(event.missedFrameCount) / rate, places: 3)
      let gap = event.missedFrameCount > 0 ? "; \(seconds) s of audio lost" : ""
      return event.text.printable + gap + (count > 1 ? " (\(count) times)" : "")
    }
    let underrunText = count == 1 ? "underrun" : "\(count) underruns"
    switch event.cause {
    case .lateDelivery, .refusedPriority, nil:
      return
        "\(underrunText): \(millisecondsText) ms of audio lost; "
        + "the system scheduled the program late; "
        + (lacksPriority
          ? "allow real-time priority, or use a larger '--buffer-size'"
          : "use a larger '--buffer-size'")
    case .stoppedProcess:
      return """
        \(millisecondsText) ms of audio lost because the program was stopped or the system was \
        asleep
        """
    case .lateDevice:
      return
        "\(underrunText): \(millisecondsText) ms of audio lost; "
        + "the device or its sound server is late; "
        + "give the server real-time priority, or use a larger '--buffer-size'"
    case .droppedBuffer:
      return
        """
        \(underrunText): \(millisecondsText) ms of audio lost; the device dropped its buffer; \
        check its connection and power
        """
    }
  }
}
