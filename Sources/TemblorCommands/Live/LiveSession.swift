internal import CommandLineKit
internal import Glibc
import HapticModel
import HapticPlayback
import HapticRender
internal import SystemSupport

/// Plays a task until it is over or somebody ends it: the loop that all live verbs share.
///
/// The terminal is as it was when `run` returns, however it returns.
final class LiveSession {
  static let strengthSteps: Float = 20
  /// Time in which blocks are looked at; well before their records would be dropped.
  private static let recordInterval = Duration.milliseconds(500)

  /// How long a device may take to end once a key or a signal asked for that; with the file, a second.
  private static let promptLimit = Duration.milliseconds(750)
  private static let promptFileLimit = Duration.milliseconds(200)
  /// How long a recording may take to be completed where nobody is in a hurry.
  private static let fileLimit = Duration.seconds(30)

  let console: LiveConsole
  private let backend: any SessionBackend
  private let wantsRecords: Bool
  private let inbox = EventInbox()
  private var outcome = LiveOutcome()
  private var tally = SinkEventFolding()
  private lazy var keyboard: (any Keyboard)? = backend.keyboard()

  /// A session.
  ///
  /// - Parameter wantsRecords: Whether to look at every block that is rendered.
  init(on backend: any SessionBackend, terminal: Terminal, isQuiet: Bool, wantsRecords: Bool) {
    self.backend = backend
    self.wantsRecords = wantsRecords
    console = LiveConsole(on: terminal, isQuiet: isQuiet)
  }

  /// Whether somebody can press keys; from the first look on they are taken for the session.
  var hasKeys: Bool { keyboard != nil }

  /// Ends a wait of the session: [any thread].
  var wake: WakeSignal { inbox.wake }

  /// Opens a device and plays on it.
  ///
  /// - Parameters:
  ///   - seconds: How long a recording may become; nil means no limit.
  ///   - prepare: Makes engine and task for what was granted.
  func run(
    _ options: DeviceOptions, keepsAwake: Bool, recording path: String?, upTo seconds: Double? = nil,
    prepare: (DeviceSummary) throws -> (engine: PlaybackEngine, task: any SessionTask)
  ) throws -> LiveOutcome {
    // From here on a signal is reported first, so that what sounds can fade out.
    let notice = InterruptSignal()
    defer { keyboard = nil }
    let inbox = self.inbox
    let output = try backend.open(options.device, options.request)
    let device = DeviceSummary(output)
    let (engine, task) = try prepare(device)
    let tone = keepsAwake ? try KeepAwakeTone(engine) : nil
    let recording = try path.map { try LiveRecording(to: $0, device: device, upTo: seconds) { inbox.put(.notice($0)) } }
    outcome.device = device
    let playing = Playing(engine: engine, task: task, tone: tone, recording: recording)
    let driver = backend.play(engine, through: output, recording: recording?.recording) { inbox.put($0) }
    do { outcome.ending = try perform(playing, driver, notice) } catch {
      outcome.ending = .quit
      end(playing, driver)
      throw error
    }
    end(playing, driver)
    return outcome
  }

  private struct Playing {
    let engine: PlaybackEngine
    let task: any SessionTask
    let tone: KeepAwakeTone?
    let recording: LiveRecording?
  }

  private func perform(_ playing: Playing, _ driver: any EngineDriver, _ notice: borrowing InterruptSignal) throws
    -> LiveOutcome.Ending
  {
    let task = playing.task
    if let device = outcome.device { console.remark(device.description) }
    if keyboard != nil { showKeys(of: task) }
    while true {
      if takeEvents(playing.engine) { return .deviceEnded }
      if notice.isGiven { return .interrupted }
      for key in keyboard?.keys(at: backend.time.now) ?? [] { if try press(key, playing) { return .quit } }
      if keyboard?.isClosed == true, !SignalHandling.isIgnored(SIGHUP) { return .quit }
      let step = try task.perform(at: backend.time.now)
      playing.tone?.matchStrength(playing.engine.strength)
      takeRecords(driver, playing)
      guard case .wait(let limit) = step else { return .over }
      console.show(figures(playing))
      wait(for: task, notice.descriptor, limit)
    }
  }

  private func wait(for task: any SessionTask, _ interruption: Int32, _ limit: Duration?) {
    var watched = [PollDescriptor(inbox.wake.descriptor), PollDescriptor(interruption)]
    watched += (keyboard?.watched ?? []) + task.watched
    let limits = [
      limit, console.timeout(isIdle: task.state == .idle), keyboard?.timeout(at: backend.time.now),
      tally.timeout(at: backend.time.now), wantsRecords ? Self.recordInterval : nil,
    ]
    backend.time.wait(for: &watched, timeout: limits.compactMap { $0 }.min())
  }

  private func end(_ playing: Playing, _ driver: any EngineDriver) {
    // An end that was asked for does not wait for what a long buffer holds.
    let isPrompt = outcome.ending == .interrupted || outcome.ending == .quit
    let hasEnded = driver.stop(within: isPrompt ? Self.promptLimit : nil)
    _ = takeEvents(playing.engine)
    takeRecords(driver, playing)
    takePeaks(playing.engine)
    takeProtection(playing.engine)
    for report in tally.takeDue(at: nil) { console.report(report.line(rate: playing.engine.rate)) }
    console.clear()
    outcome.frameCount = playing.engine.position
    outcome.limitedFrameCount = playing.engine.limitedFrameCount
    outcome.underrunCount = tally.underrunCount
    outcome.ownUnderrunCount = tally.ownUnderrunCount
    outcome.missedFrameCount = tally.missedFrameCount
    outcome.isHeardToTheEnd = hasEnded && !tally.hasFailed
    if let protection = outcome.protection, protection.cause != nil { console.remark(protection.text) }
    if let recording = playing.recording {
      let (result, message) = recording.finish(within: isPrompt ? Self.promptFileLimit : Self.fileLimit)
      outcome.recording = result
      if let message { console.report(message) }
    }
  }

  /// Reports what happened; answers whether the device has ended.
  private func takeEvents(_ engine: PlaybackEngine) -> Bool {
    var isOver = false
    for event in inbox.take() {
      switch event {
      case .notice(let notice):
        for report in tally.add(notice, at: backend.time.now) { console.report(report.line(rate: engine.rate)) }
      case .ended: isOver = true
      }
    }
    for report in tally.takeDue(at: backend.time.now) { console.report(report.line(rate: engine.rate)) }
    return isOver
  }

  private func takeRecords(_ driver: any EngineDriver, _ playing: Playing) {
    guard wantsRecords else { return }
    let records = driver.takeBlockTimings()
    outcome.blocks.add(records, rate: playing.engine.rate)
    playing.task.note(records)
  }

  @discardableResult private func takePeaks(_ engine: PlaybackEngine) -> [Float] {
    let peaks = engine.routing.channels.indices.map { engine.takePeak(ofChannel: $0) }
    outcome.peak = max(outcome.peak, peaks.max() ?? 0)
    return peaks
  }

  /// What protection did since this was last asked; the outcome keeps all of it.
  @discardableResult private func takeProtection(_ engine: PlaybackEngine) -> ProtectionSummary? {
    guard engine.routing.channels.contains(where: { $0.transducer != nil }) else { return nil }
    let gain = engine.takeMinimumProtectionGain()
    let temperatureRise = engine.temperatureRise.map(\.total).max() ?? 0
    var sum = ProtectionSummary(
      excursionLimitedFrameCount: engine.excursionLimitedFrameCount,
      powerLimitedFrameCount: engine.powerLimitedFrameCount, leastGain: gain, temperatureRise: temperatureRise,
      peakExcursion: Double(engine.peakExcursion))
    var recent = sum
    if let before = outcome.protection {
      recent.excursionLimitedFrameCount -= before.excursionLimitedFrameCount
      recent.powerLimitedFrameCount -= before.powerLimitedFrameCount
      sum.leastGain = min(sum.leastGain, before.leastGain)
      sum.temperatureRise = max(sum.temperatureRise, before.temperatureRise)
    }
    outcome.protection = sum
    return recent
  }

  private func figures(_ playing: Playing) -> PlaybackStatus {
    let (engine, task) = (playing.engine, playing.task)
    let (position, duration) = task.place
    let peaks = takePeaks(engine)
    let voiceCount = max(0, engine.voiceCount - (playing.tone?.voiceCount ?? 0))
    return PlaybackStatus(
      state: engine.isMuted ? .muted : task.state, position: position, duration: duration,
      peaks: task.isBlind ? [] : peaks, voiceCount: task.title == nil ? voiceCount : nil,
      underrunCount: tally.underrunCount, strength: Double(engine.strength), title: task.title,
      protection: task.isBlind ? nil : takeProtection(engine))
  }

  /// Does what a key asks for; answers whether that is to end.
  private func press(_ key: KeyPress, _ playing: Playing) throws -> Bool {
    switch key {
    case .character("q"), .character("Q"), .control("d"): return true
    case .character("+"), .character("="), .up: changeStrength(by: 1, playing)
    case .character("-"), .character("_"), .down: changeStrength(by: -1, playing)
    case .character("m"), .character("M"): playing.engine.isMuted.toggle()
    case .character("?"), .character("h"): showKeys(of: playing.task)
    default: _ = try playing.task.press(key)
    }
    return false
  }

  private func changeStrength(by step: Float, _ playing: Playing) {
    // Whole steps, so that the way back leads to where it began.
    let steps = (playing.engine.strength * Self.strengthSteps).rounded() + step
    playing.engine.strength = steps / Self.strengthSteps
  }

  private func showKeys(of task: any SessionTask) {
    let keys =
      task.keys + [
        KeyHelp(key: "+ -", meaning: "strength"), KeyHelp(key: "m", meaning: "mute"),
        KeyHelp(key: "q", meaning: "quit"), KeyHelp(key: "?", meaning: "these keys"),
      ]
    console.showKeys(keys)
  }
}

/// A tone too weak to be heard or felt, so that amplifiers do not switch themselves off between patterns.
///
/// It sounds on all channels that carry haptics, whatever the strength is; mute silences it too.
final class KeepAwakeTone {
  /// Its frequency in hertz: the lowest that amplifiers for shakers and subwoofers pass, where the ear hears
  /// least.
  static let frequency = 20.0
  /// Its level: −60 dBFS, 50 dB below what a pattern can reach.
  static let level = 0.001
  /// Seconds of one pass, a whole number of the tone's periods.
  private static let length = 10.0

  private let player: PatternPlayer
  private var followed: Float?

  /// Starts the tone with the engine's first frame.
  init(_ engine: PlaybackEngine) throws {
    let profile = TransducerProfile(
      name: "keep-awake", summary: "One frequency.",
      frequency: FrequencyMapping(low: Self.frequency, high: Self.frequency), level: Self.level)
    let pattern = HapticPattern(events: [
      HapticEvent(kind: .hapticContinuous, time: 0, duration: Self.length, parameters: [.hapticIntensity: 1])
    ])
    let plan = try RenderPlan(compiling: pattern, profile: profile, rate: engine.rate)
    player = try engine.player(for: engine.profiles.map { _ in plan }, duration: pattern.duration)
    voiceCount = engine.profiles.count
    try player.loop(passCount: nil)
    matchStrength(engine.strength)
    try player.start()
  }

  let voiceCount: Int

  func matchStrength(_ strength: Float) {
    guard strength != followed else { return }
    followed = strength
    // At strength 0 nothing is to come out; a command too many at once changes the level later.
    try? player.setGain(strength > 0 ? 1 / Double(strength) : 0)
  }
}
