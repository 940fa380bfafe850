import CommandLineKit
import Glibc
import HapticModel
import HapticPlayback
import HapticRender
import PatternWorkflows
import PlaybackSessions
import SystemSupport
import TransducerCalibration

/// The command `temblor calibrate --by-hand`, with which a person presses a key where slow tones
/// feel strongest.
enum ManualCalibrationCommand {
  static let byHandOption = Option(
    "--by-hand",
    help: """
      Find the resonance without a sensor: press a key when a slowly rising or falling tone feels \
      strongest.
      """)

  private static let usableOptionNames: Set = [
    "--by-hand", "--profile", "--output", "--json", "--level", "--date", "--haptics",
  ]

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, _ sweep: SweepOptions, date: String,
    on environment: any PlaybackEnvironment
  ) throws -> ExitStatus {
    let options =
      CalibrateCommand.definition.options
      + CalibrateCommand.definition.optionGroups[0..<3].flatMap(\.options)
    try SharedOptions.refuseOptions(
      options.compactMap(\.spellings.last).filter { !usableOptionNames.contains($0) },
      with: "--by-hand",
      in: arguments)
    guard arguments.value("RECORDING") == nil else {
      throw UsageError("'--by-hand' cannot be used with RECORDING")
    }
    let channelNumbers = try SweepCommand.channelNumbers(arguments)
    let deviceOptions = try DeviceOptions(arguments, minimumChannelCount: channelNumbers.max() ?? 1)
    let oldProfile = sweep.profile
    let toneProfile: TransducerProfile
    do {
      toneProfile = try ManualMeasurement.toneProfile(
        for: oldProfile, level: sweep.sweepSignal.levelDecibels)
    } catch {
      throw UsageError(error.description)
    }
    let statedHertz = oldProfile.hardware?.resonanceHertz ?? 0
    let session = LiveSession(
      in: environment, terminal: terminal, isQuiet: false, wantsBlockTimings: false)
    guard terminal.errorOutput.isTerminal, session.hasKeyboard else {
      throw UsageError(
        """
        '--by-hand' requires a terminal with a keyboard; otherwise, record the sweep with a sensor
        """)
    }
    terminal.report(
      """
      Touch the transducer as you normally use it. \
      \(ManualMeasurement.tones(around: statedHertz).count) slow tones rise and fall, \
      \(toneProfile.frequency.lowHertz.text(places: 0)) to \
      \(toneProfile.frequency.highHertz.text(places: 0)) Hz, for about a minute and a half.
      Press the space bar once in each tone, when it is strongest. Tones can become loud: turn \
      down the amplifier. Press Enter to start.
      """)
    let (outcome, calibration) = try session.run(deviceOptions) { granted in
      let calibration = try ManualCalibration(
        toneProfile, around: statedHertz, on: granted, channels: channelNumbers,
        time: environment.time)
      return (calibration.engine, calibration)
    }
    guard outcome.ending == .over else {
      terminal.report("Some tones were not played; no profile was written.")
      return .failure
    }
    let measurement: ManualMeasurement
    do {
      measurement = try self.makeMeasurement(from: calibration, around: statedHertz)
    } catch {
      throw CalibrationFailure(name: oldProfile.name, error: error)
    }
    let profileChange = ProfileChange(
      oldProfile, measurement.applied(to: oldProfile, date: date), arguments)
    try report(
      measurement, pressCount: calibration.lastPressesByTone.count, as: profileChange,
      qualityFactor: oldProfile.hardware?.qualityFactor, arguments, terminal)
    return .success
  }

  /// Returns the resonance that the key presses indicate.
  ///
  /// - Parameters:
  ///   - calibration: The key presses.
  ///   - resonance: The resonance of the profile, in hertz.
  private static func makeMeasurement(
    from calibration: ManualCalibration, around resonance: Double
  ) throws(CalibrationError) -> ManualMeasurement {
    guard !calibration.endedWithoutAnswers else {
      throw CalibrationError(
        .pressesDisagree,
        """
        no key was pressed in \(ManualCalibration.maximumUnansweredToneCount) tones; raise the \
        level with + until you feel the tones
        """)
    }
    return try ManualMeasurement(agreeingPresses: calibration.lastPressesByTone, around: resonance)
  }

  /// Writes the report and the profile.
  private static func report(
    _ measurement: ManualMeasurement, pressCount: Int, as change: ProfileChange,
    qualityFactor: Double?, _ arguments: ParsedArguments, _ terminal: Terminal
  ) throws {
    func pressFields(_ press: ManualMeasurement.Press) -> JSONElement {
      .inlineObject(["hertz": press.toneHertz, "rising": press.isOnRisingTone])
    }
    let verdictText =
      measurement.excludedPress.map {
        """
        \(measurement.agreeingPresses.count) of \(pressCount) key presses agree; the press at \
        \($0.toneHertz.text(places: 1)) Hz was ignored.
        """
      } ?? "All \(pressCount) key presses agree."
    try change.writeReport(
      heading: "by hand",
      entries: [
        .init(
          "resonance", measurement.resonanceHertz,
          tableRow: change.tableRow(
            "resonance", \.resonanceHertz, " Hz", interval: measurement.uncertaintyFraction)),
        .init("resonanceUncertainty", measurement.uncertaintyFraction),
        .init(
          "qualityFactor", qualityFactor,
          tableRow: change.tableRow("quality", \.qualityFactor, "")),
        .init("presses", measurement.agreeingPresses.map(pressFields)),
        .init("leftOut", (measurement.excludedPress.map { [$0] } ?? []).map(pressFields)),
      ], sentences: [verdictText, "The Q factor was not measured."], arguments: arguments,
      terminal: terminal)
  }
}

/// Plays slow tones, and records the frequencies at which the user presses a key.
final class ManualCalibration: PlaybackActivity {
  /// The number of consecutive tones without a key press after which the calibration ends.
  static let maximumUnansweredToneCount = 3
  /// The initial level of the tones, in decibels relative to the maximum.
  private static let initialLevelDecibels = -12.0
  /// The minimum level of the tones, in decibels relative to the maximum.
  private static let minimumLevelDecibels = -36.0
  /// The level change for each key press, in decibels.
  private static let levelStepDecibels = 3.0
  /// The fade-in of a tone in seconds, during which key presses do not count.
  private static let fadeInSeconds = 0.5
  /// The interval within which several key presses count as one. A key may be held down or pressed
  /// twice.
  private static let pressMergingInterval = Duration.milliseconds(800)
  /// The duration for which a tone continues after its last key press.
  private static let toneDurationAfterPress = Duration.milliseconds(1_500)
  /// The duration of the silence between tones.
  private static let pauseBetweenTones = Duration.seconds(1)

  private enum Phase {
    case ready
    case pausing(until: Duration)
    case playing
    case over
  }

  let engine: PlaybackEngine
  /// The last key press during each tone.
  private(set) var lastPressesByTone: [ManualMeasurement.Press] = []
  private(set) var endedWithoutAnswers = false
  private let tones: [ManualMeasurement.Tone]
  private let players: [PatternPlayer]
  private let time: any TimeSource
  private var phase = Phase.ready
  private var currentTonePress: ManualMeasurement.Press?
  private var lastPressTime: Duration?
  private var unansweredToneCount = 0
  private var playerEndCountAtToneStart = 0
  private var levelDecibels = initialLevelDecibels

  /// Creates the players of the tones.
  ///
  /// - Parameters:
  ///   - profile: The profile of the tones.
  ///   - stated: The stated resonance in hertz, around which the tones are chosen.
  ///   - device: The output device.
  ///   - channelNumbers: The output channels, numbered from 1; empty for all channels.
  ///   - time: The clock.
  init(
    _ profile: TransducerProfile, around stated: Double, on device: DeviceSummary,
    channels channelNumbers: [Int], time: any TimeSource
  ) throws {
    var channelRouting = ChannelRouting()
    if !channelNumbers.isEmpty {
      channelRouting.hapticChannelGains = channelNumbers.map { .init(index: $0 - 1) }
    }
    let (channels, profiles) = channelRouting.resolvedRouting(
      channelCount: device.format.channelCount, rate: device.format.rate, profile: profile)
    let engine = PlaybackEngine(
      rate: device.format.rate, routing: channels, profiles: profiles, strength: 0)
    self.engine = engine
    self.time = time
    tones = ManualMeasurement.tones(around: stated)
    players = try tones.map { try engine.player(for: Self.tonePattern($0, on: profile.frequency)) }
    applyLevel()
  }

  /// Returns a pattern with one event. The sharpness of the event glides from the start to the end
  /// of a tone.
  private static func tonePattern(_ tone: ManualMeasurement.Tone, on mapping: FrequencyMapping)
    -> HapticPattern
  {
    func toneSharpness(_ hertz: Double) -> Float {
      Float(log2(hertz / mapping.lowHertz) / log2(mapping.highHertz / mapping.lowHertz))
    }
    return HapticPattern(
      events: [
        HapticEvent(
          kind: .hapticContinuous, time: 0, duration: tone.durationSeconds,
          parameters: [.hapticIntensity: 1, .hapticSharpness: 0])
      ],
      curves: [
        ParameterCurve(
          id: .hapticSharpnessControl, time: 0,
          controlPoints: [
            .init(time: 0, value: toneSharpness(tone.startHertz)),
            .init(time: tone.durationSeconds, value: toneSharpness(tone.endHertz)),
          ]),
        ParameterCurve(
          id: .hapticIntensityControl, time: 0,
          controlPoints: [.init(time: 0, value: 0), .init(time: fadeInSeconds, value: 1)]),
      ])
  }

  private var toneIndex: Int { min(lastPressesByTone.count, tones.count - 1) }
  private var currentPlayer: PatternPlayer { players[toneIndex] }
  var playbackState: PlaybackStatus.State {
    if case .playing = phase {
      .playing
    } else {
      .idle
    }
  }
  var playbackProgress: (position: Double, duration: Double?) {
    if case .playing = phase {
      (currentPlayer.position, nil)
    } else {
      (0, nil)
    }
  }
  /// A Boolean value that indicates whether the level and voices are hidden.
  /// A level meter would show the resonance that is to be felt.
  var hidesSoundDetails: Bool { true }

  var statusTitle: ActivityTitle? {
    let levelText = "\(levelDecibels.text(places: 0)) dB"
    if case .ready = phase {
      return ActivityTitle(longTitle: "press Enter to start, \(levelText)", shortTitle: "Enter")
    }
    let toneName = "tone \(toneIndex + 1) of \(tones.count)"
    return ActivityTitle(
      longTitle: "\(toneName), \(tones[toneIndex].isRising ? "rising" : "falling"), \(levelText)",
      shortTitle: toneName,
      remarks: currentTonePress == nil ? [] : ["pressed"])
  }

  var keyHelp: [KeyHelp] {
    [("space", "strongest"), ("+ -", "3 dB, repeat the tone"), ("q", "quit")]
  }

  func updateActivity(at now: Duration) throws -> ActivityStep {
    switch phase {
    case .ready:
      return .wait(nil)
    case .over:
      return .finished
    case .pausing(let pauseEnd):
      guard now >= pauseEnd else { return .wait(pauseEnd - now) }
      playerEndCountAtToneStart = currentPlayer.endCount
      currentTonePress = nil
      lastPressTime = nil
      try currentPlayer.start()
      phase = .playing
    case .playing:
      let isAnswered = lastPressTime.map { now >= $0 + Self.toneDurationAfterPress } ?? false
      if isAnswered || currentPlayer.endCount > playerEndCountAtToneStart {
        try finishTone(at: now)
      }
    }
    return .wait(.milliseconds(20))
  }

  private func finishTone(at now: Duration) throws {
    try currentPlayer.stop()
    phase = .pausing(until: now + Self.pauseBetweenTones)
    if let currentTonePress {
      lastPressesByTone.append(currentTonePress)
      unansweredToneCount = 0
      if lastPressesByTone.count == tones.count {
        phase = .over
      }
    } else {
      unansweredToneCount += 1
      endedWithoutAnswers = unansweredToneCount == Self.maximumUnansweredToneCount
      if endedWithoutAnswers {
        phase = .over
      }
    }
  }

  func handleKey(_ key: KeyPress) throws -> Bool {
    switch key {
    case .character(" "), .enter:
      recordPress()
    case .character("+"), .character("="), .up:
      try changeLevel(byDecibels: Self.levelStepDecibels)
    case .character("-"), .character("_"), .down:
      try changeLevel(byDecibels: -Self.levelStepDecibels)
    // Only quitting and help are left to the session; muting and its other keys are disabled.
    case .character("q"), .character("Q"), .control("d"), .character("?"), .character("h"):
      return false
    default:
      break
    }
    return true
  }

  private func recordPress() {
    let now = time.now
    if case .ready = phase {
      phase = .pausing(until: now + Self.pauseBetweenTones)
      return
    }
    guard case .playing = phase, currentPlayer.position >= Self.fadeInSeconds else { return }
    if lastPressTime.map({ now - $0 >= Self.pressMergingInterval }) ?? true {
      let tone = tones[toneIndex]
      currentTonePress = ManualMeasurement.Press(
        toneHertz: tone.hertz(at: currentPlayer.position), isOnRisingTone: tone.isRising)
    }
    lastPressTime = now
  }

  private func changeLevel(byDecibels step: Double) throws {
    levelDecibels = min(max(levelDecibels + step, Self.minimumLevelDecibels), 0)
    applyLevel()
    guard case .playing = phase else { return }
    try currentPlayer.stop()
    phase = .pausing(until: time.now + Self.pauseBetweenTones)
  }

  private func applyLevel() {
    engine.strength = Float(NumberFormatting.amplitude(decibels: levelDecibels))
  }
}
