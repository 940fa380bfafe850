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
  /// The interval between reads of block timings, well before timings would be dropped.
  private static let blockTimingsInterval = Duration.milliseconds(500)

  /// The maximum time for a device to stop after a key press or a signal.
  /// Together with the completion of the file, the stop takes at most one second.
  private static let promptStopTimeout = Duration.milliseconds(750)
  private static let promptRecordingTimeout = Duration.milliseconds(200)
  /// The maximum time to complete a recording if nobody waits for it.
  private static let recordingTimeout = Duration.seconds(30)

  let console: LiveConsole
  private let environment: any PlaybackEnvironment
  private let wantsBlockTimings: Bool
  private let inbox = EventInbox()
  private var outcome = LiveOutcome()
  private lazy var keyboard: (any Keyboard)? = environment.keyboard()

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
  var device: DeviceSummary? { outcome.device }

  /// The signal that ends a wait of the session. Any thread may raise it.
  var wake: WakeSignal { inbox.wake }

  func run<Task: PlaybackActivity>(
    _ options: DeviceOptions, keepsAwake: Bool = false, recording path: String? = nil,
    maximumSeconds seconds: Double? = nil,
    rotation: LiveRecording.Rotation? = nil,
    prepare: (DeviceSummary) throws -> (engine: PlaybackEngine, task: Task)
  ) throws -> (outcome: LiveOutcome, task: Task) {
    // From here on, a signal is reported first, so that the output can fade out.
    let notice = InterruptSignal()
    guard notice.descriptor >= 0, inbox.wake.descriptor >= 0 else {
      throw PlaybackError.fileLimitReached
    }
    defer { keyboard = nil }
    let inbox = self.inbox
    let output = try environment.open(options.device, options.request)
    let device = DeviceSummary(output)
    outcome.device = device
    let (engine, task) = try prepare(device)
    let tone = keepsAwake ? try KeepAwakeTone(engine) : nil
    let recording = try path.map {
      try LiveRecording(
        to: $0, device: device, maximumSeconds: seconds, rotation: rotation,
        software: "Temblor \(temblorVersion)"
      ) {
        inbox.append(.sinkEvent($0))
      }
    }
    let playing = ActivePlayback(engine: engine, activity: task, tone: tone, recording: recording)
    let driver = try environment.play(engine, through: output, recording: recording?.recording) {
      inbox.append($0)
    }
    do {
      outcome.ending = try runLoop(playing, driver, notice)
    } catch {
      outcome.ending = .quit
      finish(playing, driver)
      throw error
    }
    finish(playing, driver)
    return (outcome, task)
  }

  private struct ActivePlayback {
    let engine: PlaybackEngine
    let activity: any PlaybackActivity
    let tone: KeepAwakeTone?
    let recording: LiveRecording?
  }

  private func runLoop(
    _ playing: ActivePlayback, _ driver: any EngineDriver, _ interruption: borrowing InterruptSignal
  ) throws
    -> LiveOutcome.Ending
  {
    let activity = playing.activity
    if let device = outcome.device {
      console.hint(device.description)
    }
    if keyboard != nil {
      showKeys(of: activity)
    }
    while true {
      if handleEvents(playing.engine) { return .deviceEnded }
      if interruption.isRaised { return .interrupted }
      for key in keyboard?.readKeys(at: environment.time.now) ?? [] {
        if try handleKey(key, playing) {
          return .quit
        }
      }
      if keyboard?.isClosed == true, !SignalHandling.isIgnored(SIGHUP) {
        return .quit
      }
      let step = try activity.update(at: environment.time.now)
      playing.tone?.matchStrength(playing.engine.strength)
      readBlockTimings(driver, playing)
      guard case .wait(let limit) = step else { return .over }
      console.show(status(of: playing))
      wait(for: activity, interruption.descriptor, limit)
    }
  }

  private func wait(
    for activity: any PlaybackActivity, _ interruptionDescriptor: Int32, _ limit: Duration?
  ) {
    var watched = [PollDescriptor(inbox.wake.descriptor), PollDescriptor(interruptionDescriptor)]
    watched += (keyboard?.watchedDescriptors ?? []) + activity.watchedDescriptors
    let limits = [
      limit, console.timeout(isIdle: activity.state == .idle),
      keyboard?.timeout(at: environment.time.now),
      outcome.sinkEvents.timeout(at: environment.time.now),
      wantsBlockTimings ? Self.blockTimingsInterval : nil,
    ]
    environment.time.wait(for: &watched, timeout: limits.compactMap { $0 }.min())
  }

  private func finish(_ playing: ActivePlayback, _ driver: any EngineDriver) {
    // An end on request does not wait for the contents of a long buffer.
    let isPrompt = outcome.ending == .interrupted || outcome.ending == .quit
    let hasEnded = driver.stop(within: isPrompt ? Self.promptStopTimeout : nil)
    _ = handleEvents(playing.engine)
    readBlockTimings(driver, playing)
    readPeaks(playing.engine)
    readProtection(playing.engine)
    report(outcome.sinkEvents.drainDueReports(at: nil), playing.engine)
    console.clear()
    outcome.frameCount = playing.engine.position
    outcome.limitedFrameCount = playing.engine.limitedFrameCount
    outcome.isHeardToEnd = hasEnded && !outcome.sinkEvents.hasFailed
    if let protection = outcome.protection, protection.cause != nil {
      console.hint(protection.text)
      if protection.cause == .excursion,
        playing.engine.profiles.contains(where: { $0.hardware?.measurement != nil })
      {
        console.hint("The resonance may have changed; \(CalibrationAge.advice).")
      }
    }
    if let recording = playing.recording {
      let (result, message) = recording.finish(
        within: isPrompt ? Self.promptRecordingTimeout : Self.recordingTimeout)
      outcome.recording = result
      if let message {
        console.error(message)
      }
    }
  }

  /// Reports events, and returns whether the device has ended.
  private func handleEvents(_ engine: PlaybackEngine) -> Bool {
    var isOver = false
    for event in inbox.drain() {
      switch event {
      case .sinkEvent(let notice):
        report(outcome.sinkEvents.add(notice, at: environment.time.now), engine)
      case .ended: isOver = true
      }
    }
    report(outcome.sinkEvents.drainDueReports(at: environment.time.now), engine)
    return isOver
  }

  private func report(_ reports: [SinkEventAggregator.Report], _ engine: PlaybackEngine) {
    for report in reports {
      console.error(
        report.message(
          rate: engine.rate, lacksRealTimePriority: outcome.sinkEvents.lacksRealTimePriority))
    }
  }

  private func readBlockTimings(_ driver: any EngineDriver, _ playing: ActivePlayback) {
    guard wantsBlockTimings else { return }
    let records = driver.drainBlockTimings()
    outcome.renderLoad.add(records, rate: playing.engine.rate)
    playing.activity.record(records)
  }

  @discardableResult private func readPeaks(_ engine: PlaybackEngine) -> [Float] {
    let peaks = engine.routing.channels.indices.map { engine.drainPeak(ofChannel: $0) }
    outcome.peak = max(outcome.peak, peaks.max() ?? 0)
    return peaks
  }

  /// Returns the activity of the protection since the last call, and adds the activity to the
  /// outcome.
  @discardableResult private func readProtection(_ engine: PlaybackEngine) -> ProtectionSummary? {
    guard engine.routing.channels.contains(where: { $0.transducer != nil }) else { return nil }
    let gain = engine.drainMinimumProtectionGain()
    let temperatureRise = engine.temperatureRises.map(\.totalRiseFraction).max() ?? 0
    var sum = ProtectionSummary(
      excursionLimitedFrameCount: engine.excursionLimitedFrameCount,
      powerLimitedFrameCount: engine.powerLimitedFrameCount, minimumGain: gain,
      temperatureRise: temperatureRise,
      peakExcursion: Double(engine.peakExcursion))
    var recent = sum
    if let before = outcome.protection {
      recent.excursionLimitedFrameCount -= before.excursionLimitedFrameCount
      recent.powerLimitedFrameCount -= before.powerLimitedFrameCount
      sum.minimumGain = min(sum.minimumGain, before.minimumGain)
      sum.temperatureRise = max(sum.temperatureRise, before.temperatureRise)
    }
    outcome.protection = sum
    return recent
  }

  private func status(of playing: ActivePlayback) -> PlaybackStatus {
    let engine = playing.engine
    let task = playing.activity
    let (position, duration) = task.progress
    let peaks = readPeaks(engine)
    let voiceCount = max(0, engine.voiceCount - (playing.tone?.voiceCount ?? 0))
    return PlaybackStatus(
      state: engine.isMuted ? .muted : task.state, positionSeconds: task.hasClock ? position : nil,
      duration: duration,
      peaks: task.hidesSoundDetails ? [] : peaks, voiceCount: task.title == nil ? voiceCount : nil,
      underrunCount: outcome.sinkEvents.underrunCount,
      strength: task.hasFixedLevel ? nil : Double(engine.strength), title: task.title,
      protection: task.hidesSoundDetails ? nil : readProtection(engine))
  }

  private func handleKey(_ key: KeyPress, _ playing: ActivePlayback) throws -> Bool {
    if try playing.activity.handleKey(key) { return false }
    switch key {
    case .character("q"), .character("Q"), .control("d"):
      return true
    case .character("?"), .character("h"):
      showKeys(of: playing.activity)
    default:
      if !playing.activity.hasFixedLevel {
        changeLevel(key, playing)
      }
    }
    return false
  }

  /// Changes the strength, or mutes, if the key requests it.
  private func changeLevel(_ key: KeyPress, _ playing: ActivePlayback) {
    switch key {
    case .character("+"), .character("="), .up: changeStrength(by: 1, playing)
    case .character("-"), .character("_"), .down: changeStrength(by: -1, playing)
    case .character("m"), .character("M"): playing.engine.isMuted.toggle()
    default: break
    }
  }

  private func changeStrength(by step: Float, _ playing: ActivePlayback) {
    // Whole steps lead back to the initial value.
    let steps = (playing.engine.strength * Self.strengthStepCount).rounded() + step
    playing.engine.strength = steps / Self.strengthStepCount
  }

  private func showKeys(of activity: any PlaybackActivity) {
    let levels: [KeyHelp] = activity.hasFixedLevel ? [] : [("+ -", "strength"), ("m", "mute")]
    let sessionKeys = levels + [("q", "quit"), ("?", "help")]
    console.showKeys(
      activity.keys + sessionKeys.filter { key in !activity.keys.contains { $0.key == key.key } })
  }
}

/// An activity of a live command on an engine. Its session calls it on one thread.
protocol PlaybackActivity: AnyObject {
  var watchedDescriptors: [PollDescriptor] { get }
  /// The activity's own keys with their meanings, in the order of help.
  var keys: [KeyHelp] { get }
  var state: PlaybackStatus.State { get }
  /// The position in seconds, and the duration in seconds if there is one.
  var progress: (position: Double, duration: Double?) { get }

  /// The title for the status line, with remarks about playback; nil to show only the time.
  var title: ActivityTitle? { get }
  /// A Boolean value that indicates whether the status line must hide the level and the voices.
  var hidesSoundDetails: Bool { get }
  /// A Boolean value that indicates whether the level is part of an experiment, so that no key
  /// changes the strength or mutes.
  var hasFixedLevel: Bool { get }
  /// A Boolean value that indicates whether the status line shows the time of the progress.
  var hasClock: Bool { get }

  func update(at now: Duration) throws -> ActivityStep

  /// Handles a key. Returns false for a key that the session should handle.
  func handleKey(_ key: KeyPress) throws -> Bool

  /// Receives the timings of rendered blocks, if the session collects them.
  func record(_ records: [BlockTiming])
}

enum ActivityStep: Equatable { case wait(Duration?), finished }

struct ActivityTitle: Equatable, Sendable {
  var longText: String
  var shortText: String
  /// The remarks about playback, with the most important remark first. They are omitted without
  /// space.
  var remarks: [String] = []
}

/// A key and its meaning, as listed by the key `?`.
typealias KeyHelp = (key: String, meaning: String)

extension PlaybackActivity {
  var watchedDescriptors: [PollDescriptor] { [] }
  var keys: [KeyHelp] { [] }
  var state: PlaybackStatus.State { .playing }
  var title: ActivityTitle? { nil }
  var hidesSoundDetails: Bool { false }
  var hasFixedLevel: Bool { false }
  var hasClock: Bool { true }
  func handleKey(_ key: KeyPress) throws -> Bool { false }
  func record(_ records: [BlockTiming]) {}
}

protocol Keyboard: AnyObject {
  /// The descriptors to wait for before reading keys. They may change after each wait.
  var watchedDescriptors: [PollDescriptor] { get }
  /// A Boolean value that indicates whether the terminal was closed, so that no more keys follow.
  var isClosed: Bool { get }

  func timeout(at now: Duration) -> Duration?
  func readKeys(at now: Duration) -> [KeyPress]
}

extension RawTerminal: Keyboard {
  var watchedDescriptors: [PollDescriptor] { descriptors.map { PollDescriptor($0) } }
}

final class LiveConsole {
  let showsStatus: Bool
  private let terminal: Terminal
  private var statusLine: ProgressLine
  private let isQuiet: Bool
  private var endsWithKeyHelp = false
  /// The update interval of the status line while the engine is idle.
  private static let idleInterval = Duration.seconds(1)
  /// The minimum interval between updates of the status line. Fifteen updates per second look
  /// smooth.
  private static let minimumUpdateInterval = Duration.seconds(1) / 15

  /// Creates a console. A quiet console has no status line and prints only necessary messages.
  init(on terminal: Terminal, isQuiet: Bool) {
    statusLine = ProgressLine(on: terminal, updateInterval: Self.minimumUpdateInterval)
    self.terminal = terminal
    self.isQuiet = isQuiet
    showsStatus = terminal.error.isTerminal && !isQuiet
  }

  /// Returns the time until the next update of the status line, or nil without a status line.
  func timeout(isIdle: Bool) -> Duration? {
    showsStatus ? isIdle ? Self.idleInterval : Self.minimumUpdateInterval : nil
  }

  func error(_ message: String) {
    endsWithKeyHelp = false
    statusLine.clear()
    terminal.report(message)
  }

  func info(_ message: String) {
    if !isQuiet {
      error(message)
    }
  }
  func hint(_ message: String) {
    if showsStatus {
      error(message)
    }
  }

  /// Shows the keys in lines that break between keys. They are shown only once if no other message
  /// came in between.
  func showKeys(_ keys: [KeyHelp]) {
    guard !endsWithKeyHelp else { return }
    defer { endsWithKeyHelp = true }
    var lines = [""]
    for (index, key) in keys.enumerated() {
      let word = "\(key.key) \(key.meaning)" + (index + 1 < keys.count ? "," : "")
      if "Keys:".count + lines[lines.count - 1].count + word.count + 1 >= terminal.error.width,
        lines.last != ""
      {
        lines.append("")
      }
      lines[lines.count - 1] += " " + word
    }
    hint("Keys:" + lines.joined(separator: "\n     "))
  }

  /// Updates the status line, unless the last update was too recent. In that case, the status is
  /// not evaluated.
  func show(_ figures: @autoclosure () -> PlaybackStatus) {
    if showsStatus {
      statusLine.draw { width in figures().line(width: width, for: terminal.error) }
    }
  }

  func clear() { statusLine.clear() }
}

extension SinkEventAggregator.Report {
  func message(rate: Double, lacksRealTimePriority lacksPriority: Bool) -> String {
    let milliseconds = NumberFormatting.rounded(
      Double(event.missedFrameCount) * 1_000 / rate, places: 1)
    guard event.kind == .underrun else {
      let seconds = NumberFormatting.rounded(Double(event.missedFrameCount) / rate, places: 3)
      let gap = event.missedFrameCount > 0 ? "; \(seconds) s of audio lost" : ""
      return event.text.printable + gap + (count > 1 ? " (\(count) times)" : "")
    }
    let what = count == 1 ? "underrun" : "\(count) underruns"
    switch event.cause {
    case .lateDelivery, .refusedPriority, nil:
      return "\(what): \(milliseconds) ms of audio lost; the system scheduled the program late; "
        + (lacksPriority
          ? "allow real-time priority, or use a larger '--buffer-size'"
          : "use a larger '--buffer-size'")
    case .stoppedProcess:
      return """
        \(milliseconds) ms of audio lost because the program was stopped or the system was asleep
        """
    case .lateDevice:
      return "\(what): \(milliseconds) ms of audio lost; the device or its sound server is late; "
        + "give the server real-time priority, or use a larger '--buffer-size'"
    case .droppedBuffer:
      return
        """
        \(what): \(milliseconds) ms of audio lost; the device dropped its buffer; check its \
        connection and power
        """
    }
  }
}
