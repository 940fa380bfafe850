import Glibc

/// `temblor calibrate --by-hand`: a resonance found by a person who presses a key where slow tones
/// are felt most.
enum HandCalibrationRun {
  static let option = Option(
    "--by-hand",
    help: "Find the resonance without a sensor: press a key where slow tones are felt most.")

  private static let usable: Set = [
    "--by-hand", "--profile", "--output", "--json", "--level", "--date", "--play-channel",
  ]

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, _ sweep: SweepOptions, date: String,
    on backend: any SessionBackend
  ) throws -> ExitStatus {
    let options =
      CalibrateVerb.description.options + CalibrateVerb.description.groups[0..<3].flatMap(\.options)
    try SharedOptions.refuse(
      options.compactMap(\.names.last).filter { !usable.contains($0) }, with: "--by-hand",
      in: arguments)
    guard arguments.value("RECORDING") == nil else {
      throw UsageError("'--by-hand' plays tones and takes no RECORDING")
    }
    let channel = try arguments.int("--play-channel", in: OutputRouting.channelCounts)
    let device = try DeviceOptions(arguments, minimumChannelCount: channel ?? 1)
    let (old, tones): (TransducerProfile, TransducerProfile)
    do {
      (old, tones) = (
        sweep.profile,
        try HandCalibration.toneProfile(for: sweep.profile, level: sweep.signal.level)
      )
    } catch {
      throw UsageError(error.description)
    }
    let stated = old.hardware?.resonance ?? 0
    let session = LiveSession(on: backend, terminal: terminal, isQuiet: false, wantsRecords: false)
    guard terminal.error.isTerminal, session.hasKeys else {
      throw UsageError(
        "'--by-hand' needs a terminal for keys; without one, record the sweep with a sensor")
    }
    terminal.report(
      """
      Touch the transducer as it is used. \(HandCalibration.tones(around: stated).count) slow \
      tones rise and fall, \(tones.frequency.low.text(0)) to \(tones.frequency.high.text(0)) Hz, \
      for about a minute and a half.
      Press the space bar once in each tone, where it is strongest. Tones can become loud: tur\
      n the amplifier down, and start with Enter.
      """)
    let (outcome, task) = try session.run(device) { granted in
      let task = try HandTask(
        tones, around: stated, on: granted, channel: channel, time: backend.time)
      return (task.engine, task)
    }
    guard outcome.ending == .over else {
      terminal.report("Not all tones were played; no profile was written.")
      return .failure
    }
    let presses = task.presses
    let found: HandCalibration
    do throws(CalibrationError) {
      guard !task.isUnanswered else {
        throw CalibrationError(
          .pressesDisagree,
          """
          no key was pressed in \(HandTask.patience) tones; raise the level with + until tones \
          are felt
          """
        )
      }
      found = try HandCalibration(presses: presses, around: stated)
    } catch {
      throw CalibrationRefusal(name: old.name, error: error)
    }
    func fields(_ press: HandCalibration.Press) -> JSONPiece {
      .row(["hertz": press.hertz, "rising": press.isRising])
    }
    let verdict =
      found.leftOut.map {
        """
        \(found.presses.count) of \(presses.count) presses agree; the one at \($0.hertz.text(1)) \
        Hz was left out.
        """
      } ?? "All \(presses.count) presses agree."
    let change = ProfileChange(old, found.applied(to: old, date: date), arguments)
    try change.finish(
      "by hand",
      [
        .init(
          "resonance", found.resonance,
          row: change.row("resonance", \.resonance, " Hz", interval: found.uncertainty)),
        .init("resonanceUncertainty", found.uncertainty),
        .init(
          "qualityFactor", old.hardware?.qualityFactor,
          row: change.row("quality", \.qualityFactor, "")),
        .init("presses", found.presses.map(fields)),
        .init("leftOut", (found.leftOut.map { [$0] } ?? []).map(fields)),
      ], [verdict, "The Q factor was not measured."], arguments, terminal)
    return .done
  }
}

/// Slow tones, and the frequencies at which a key was pressed.
final class HandTask: SessionTask {
  /// Tones in a row without a key after which there is nothing to find.
  static let patience = 3
  /// The level at which tones start, and the lowest, in decibels below the greatest.
  private static let levels = (start: -12.0, least: -36.0)
  private static let step = 3.0
  /// Seconds in which a tone comes up, and in which a key counts for nothing.
  private static let rise = 0.5
  /// How long after a key another one is the same, held down or pressed twice.
  private static let hold = Duration.milliseconds(800)
  /// How long after the last key a tone goes on, and the silence between tones.
  private static let rest = Duration.milliseconds(1_500)
  private static let pause = Duration.seconds(1)

  private enum Phase { case ready, pausing(until: Duration), playing, over }

  let engine: PlaybackEngine
  /// The last key of each tone.
  private(set) var presses: [HandCalibration.Press] = []
  private(set) var isUnanswered = false
  private let tones: [HandCalibration.Tone]
  private let players: [PatternPlayer]
  private let time: any TimeSource
  private var phase = Phase.ready
  private var current: HandCalibration.Press?
  private var lastKey: Duration?
  private var unansweredCount = 0
  private var endCount = 0
  private var decibels = levels.start

  /// `stated` is the resonance that tones are around, in hertz; `channel` the one that plays, from
  /// 1, nil for all.
  init(
    _ profile: TransducerProfile, around stated: Double, on device: DeviceSummary, channel: Int?,
    time: any TimeSource
  ) throws {
    var routing = ChannelRouting()
    routing.haptics = channel.map { [.init(index: $0 - 1)] }
    let (channels, profiles) = routing.routing(
      channelCount: device.format.channelCount, rate: device.format.rate, profile: profile)
    let engine = PlaybackEngine(
      rate: device.format.rate, routing: channels, profiles: profiles, strength: 0)
    self.engine = engine
    self.time = time
    tones = HandCalibration.tones(around: stated)
    players = try tones.map { try engine.player(for: Self.pattern($0, on: profile.frequency)) }
    setLevel()
  }

  /// One event whose sharpness goes from one end of the tone to the other.
  private static func pattern(_ tone: HandCalibration.Tone, on mapping: FrequencyMapping)
    -> HapticPattern
  {
    func sharpness(_ hertz: Double) -> Float {
      Float(log2(hertz / mapping.low) / log2(mapping.high / mapping.low))
    }
    return HapticPattern(
      events: [
        HapticEvent(
          kind: .hapticContinuous, time: 0, duration: tone.duration,
          parameters: [.hapticIntensity: 1, .hapticSharpness: 0])
      ],
      curves: [
        ParameterCurve(
          id: .hapticSharpnessControl, time: 0,
          controlPoints: [
            .init(time: 0, value: sharpness(tone.start)),
            .init(time: tone.duration, value: sharpness(tone.end)),
          ]),
        ParameterCurve(
          id: .hapticIntensityControl, time: 0,
          controlPoints: [.init(time: 0, value: 0), .init(time: rise, value: 1)]),
      ])
  }

  private var index: Int { min(presses.count, tones.count - 1) }
  private var player: PatternPlayer { players[index] }
  var state: PlaybackStatus.State {
    if case .playing = phase {
      .playing
    } else {
      .idle
    }
  }
  var place: (position: Double, duration: Double?) {
    if case .playing = phase {
      (player.position, nil)
    } else {
      (0, nil)
    }
  }
  /// A level meter would show what is to be felt.
  var isBlind: Bool { true }

  var title: SessionTitle? {
    let level = "\(decibels.text(0)) dB"
    if case .ready = phase {
      return SessionTitle(long: "Enter starts, \(level)", short: "Enter")
    }
    let name = "tone \(index + 1) of \(tones.count)"
    return SessionTitle(
      long: "\(name), \(tones[index].isRising ? "rising" : "falling"), \(level)", short: name,
      remarks: current == nil ? [] : ["pressed"])
  }

  var keys: [KeyHelp] {
    [("space", "strongest"), ("+ -", "3 dB, and the tone again"), ("q", "give up")]
  }

  func perform(at now: Duration) throws -> SessionStep {
    switch phase {
    case .ready:
      return .wait(nil)
    case .over:
      return .over
    case .pausing(let end):
      guard now >= end else { return .wait(end - now) }
      endCount = player.endCount
      current = nil
      lastKey = nil
      try player.start()
      phase = .playing
    case .playing:
      let isAnswered = lastKey.map { now >= $0 + Self.rest } ?? false
      if isAnswered || player.endCount > endCount {
        try finish(at: now)
      }
    }
    return .wait(.milliseconds(20))
  }

  private func finish(at now: Duration) throws {
    try player.stop()
    phase = .pausing(until: now + Self.pause)
    if let current {
      presses.append(current)
      unansweredCount = 0
      if presses.count == tones.count {
        phase = .over
      }
    } else {
      unansweredCount += 1
      isUnanswered = unansweredCount == Self.patience
      if isUnanswered {
        phase = .over
      }
    }
  }

  func press(_ key: KeyPress) throws -> Bool {
    switch key {
    case .character(" "), .enter:
      answer()
    case .character("+"), .character("="), .up:
      try change(by: Self.step)
    case .character("-"), .character("_"), .down:
      try change(by: -Self.step)
    // Mute and all else that the session knows, but for the way out and help.
    case .character("q"), .character("Q"), .control("d"), .character("?"), .character("h"):
      return false
    default:
      break
    }
    return true
  }

  private func answer() {
    let now = time.now
    if case .ready = phase {
      phase = .pausing(until: now + Self.pause)
      return
    }
    guard case .playing = phase, player.position >= Self.rise else { return }
    if lastKey.map({ now - $0 >= Self.hold }) ?? true {
      let tone = tones[index]
      current = HandCalibration.Press(
        hertz: tone.hertz(at: player.position), isRising: tone.isRising)
    }
    lastKey = now
  }

  private func change(by step: Double) throws {
    decibels = min(max(decibels + step, Self.levels.least), 0)
    setLevel()
    guard case .playing = phase else { return }
    try player.stop()
    phase = .pausing(until: time.now + Self.pause)
  }

  private func setLevel() {
    engine.strength = Float(NumberFormatting.amplitude(decibels: decibels))
  }
}
