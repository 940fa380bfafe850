enum FollowCommand {
  private static let source = Option(
    "--from", value: "SOURCE",
    help:
      """
      What is followed: monitor (what the default output plays), a recording device of ALSA, or \
      a sound file.
      """,
    defaultText: FollowedSource.monitor, completion: .file)
  private static let style = Option("--style", value: "STYLE", help: "What is made of the sound.")
    .choice(default: FollowingOptions.Style.full)
  private static let minimumFrequency = Option(
    "--low", value: "HZ", help: "Lowest frequency of the vibration, 5 to 500.",
    defaultText: "that of the profile"
  ).double(in: 5...500)
  private static let maximumFrequency = Option(
    "--high", value: "HZ", help: "Highest frequency of the vibration, 20 to 1000.",
    defaultText: "that of the profile, 80 to 250"
  ).double(in: 20...1_000)
  private static let delay = Option(
    "--delay", value: "MS", help: "Feel everything later, 0 to 2000 ms."
  )
  .double(in: 0...2_000, default: 0)

  static let definition = Command(
    "follow", abstract: "Turn live sound into vibration.",
    discussion: """
      The styles are: bass, the low part of the sound itself; impacts, a burst for each strike; en\
      gine, one tone as strong as the low part; full, bass and impacts; android, what Andr\
      oid's HapticGenerator makes.

      What is spoken is not felt: a gate weighs what lies below 60 Hz against the rest. A slow ga\
      in of at most 12 dB evens out quiet and loud sources.

      The output may not play on the sink that is followed, or follow the desktop's default sink:\
       name another sink or a card with --device.

      The clocks of source and output may differ. A source that loses frames or goes away is \
      tried again. On a terminal, a status line shows the levels in and out, the gate, the laten\
      cy of all buffers and the difference of the clocks in parts per million. A file is followed a\
      t the pace of the output.
      """,
    options: [
      source, style, minimumFrequency, maximumFrequency,
      Option("--keep-voices", help: "Let voices be felt, too."),
      Option("--no-ride", help: "Leave the strength of the source as it is."), delay,
      LiveOptions.json,
      LiveOptions.quiet,
    ], groups: LiveOptions.groups,
    examples: [
      .init(
        "temblor follow --device plughw:1 --profile dayton-bst-1",
        "Feel a film or a game on the second card."),
      .init("temblor follow --from hw:2 --style engine --delay 40", "A line input, 40 ms later."),
      .init(
        "temblor follow --from film.wav --device wav:felt.wav",
        "Write what a film would be felt as."),
    ]
  ) { arguments, terminal in
    try run(arguments, terminal, on: SystemEnvironment(), servers: .system) {
      try LiveCapture($0, rates: $1, periodSeconds: $2)
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on backend: any PlaybackEnvironment,
    servers: SoundServers,
    capture: (_ device: String, _ rates: [Int], _ period: Double) throws -> any CaptureSource
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    let band = options.profile.frequency
    let low = try arguments[minimumFrequency] ?? max(5, min(band.low, band.high))
    let high = try arguments[maximumFrequency] ?? min(250, max(80, max(band.low, band.high)))
    guard low < high else {
      throw UsageError(
        "'--low' must be below '--high' (\(high.text(places: 1)) Hz), not \(low.text(places: 1).inQuotes)"
      )
    }
    let following = FollowingOptions(
      style: try arguments[style], band: low...high, keepsVoices: arguments.flag("--keep-voices"),
      keepsLevel: arguments.flag("--no-ride"))
    let name = arguments.value("--from") ?? FollowedSource.monitor
    let delay = try arguments[delay] / 1_000
    let isFile = TakeInput.isSoundFile(name) || SoundFileFormat.container(ofName: name) != nil
    let file =
      isFile ? try TakeInput.readSound(name, job: RenderJob(profile: options.profile)).signal : nil
    try options.checkOutputs(reading: file == nil ? [] : [name])
    let source = file == nil ? try FollowedSource(name, on: servers) : nil
    let session = options.makeSession(in: backend, terminal)
    var task: FollowActivity?
    defer { task?.stopThread() }
    let (outcome, _) = try options.play(in: session, check: { try source?.check($0) }) { engine in
      let made: FollowActivity
      if let file {
        made = try FollowActivity(
          file, following, delay: delay, on: engine, session: session, named: name)
      } else {
        let period = Double(options.device.request.periodSize) / Double(options.device.request.rate)
        do {
          let capture = try capture(
            source?.device ?? name, [Int(engine.rate), 48_000, 44_100], period)
          made = try FollowActivity(
            SoundFeed(capture, following, outputRate: engine.rate, period: period, delay: delay),
            on: engine,
            session: session, named: name)
        } catch let error as OutputError {
          let needs =
            """
            needs PulseAudio or PipeWire, and the package libasound2-plugins; or name a device \
            with '--from'
            """
          throw FileError(
            name,
            name == FollowedSource.monitor ? "\(error.description); \(needs)" : error.description)
        }
      }
      task = made
      return made
    }
    return try options.report(
      outcome, ["source": name, "style": following.style.rawValue, "following": task?.fields],
      terminal)
  }
}

final class FollowActivity: PlaybackActivity {
  private struct SharedState {
    var figures = SoundFeed.Status()
    var events: [CaptureEvent] = []
    var isOver = false
  }

  private let engine: PlaybackEngine
  private let console: LiveConsole
  private let voice: LiveVoice
  private let name: String
  private let duration: Double?
  private let sharedState = Locked(SharedState())
  private var thread: BackgroundThread?
  private var figures = SoundFeed.Status()
  private var peakLevel = 0.0
  private var interruptionCount = 0
  private var currentSilence: (since: Duration, isTold: Bool)?

  private static let updateInterval = Duration.milliseconds(100)
  /// The level below which a source is silent.
  private static let silenceThreshold = 1e-4
  private static let silenceReportDelay = Duration.seconds(5)

  /// Follows live sound on a separate thread.
  init(_ feed: SoundFeed, on engine: PlaybackEngine, session: LiveSession, named name: String)
    throws
  {
    self.engine = engine
    console = session.console
    voice = feed.voice
    self.name = name
    duration = nil
    try engine.attach(voice)
    let shared = sharedState
    thread = try BackgroundThread {
      var none: [PollDescriptor] = []
      while !shared.withLock({ $0.isOver }) {
        let event = feed.runIteration()
        shared.withLock {
          let level = max($0.figures.level, feed.status.level)
          $0.figures = feed.status
          $0.figures.level = level
          if let event {
            $0.events.append(event)
          }
        }
        SystemTimeSource().wait(
          for: &none, timeout: .nanosecondRounded(seconds: feed.iterationSeconds))
      }
    }
  }

  /// Follows a sound file, which is processed as a whole.
  init(
    _ signal: Signal, _ options: FollowingOptions, delay: Double, on engine: PlaybackEngine,
    session: LiveSession,
    named name: String
  ) throws {
    var follower = SoundFollower(options, rate: signal.rate)
    var resampler = VariableRateResampler()
    let frames =
      [Float](repeating: 0, count: Int(delay * engine.rate))
      + resampler.resample(follower.follow(signal.mono.span), step: signal.rate / engine.rate)
    voice = LiveVoice(rate: engine.rate, capacity: frames.count, reserve: 1)
    _ = voice.write(frames.span)
    self.engine = engine
    console = session.console
    self.name = name
    duration = Double(frames.count) / engine.rate
    try engine.attach(voice)
  }

  var progress: (position: Double, duration: Double?) {
    (duration.map { min($0, engine.seconds) } ?? engine.seconds, duration)
  }

  var title: ActivityTitle? {
    guard duration == nil else { return nil }
    let gate = figures.gateGain < 0.5 ? "held back" : "open"
    let level =
      figures.level < Self.silenceThreshold
      ? "silent" : "in \(Decibels.of(amplitude: figures.level).text(places: 0)) dB"
    return ActivityTitle(
      long: "\(level), gate \(gate)", short: level,
      remarks: [
        "\((Double(figures.queuedFrameCount) / engine.rate * 1_000).text(places: 0)) ms",
        "\(figures.drift.text(places: 0)) ppm",
      ])
  }

  func update(at now: Duration) throws -> ActivityStep {
    if let duration {
      let left = duration + engine.routing.tail(rate: engine.rate) - engine.seconds
      return left > 0 ? .wait(.nanosecondRounded(seconds: left)) : .finished
    }
    let (figures, events) = sharedState.withLock { shared in
      defer {
        shared.figures.level = 0
        shared.events = []
      }
      return (shared.figures, shared.events)
    }
    self.figures = figures
    peakLevel = max(peakLevel, figures.level)
    for event in events {
      switch event {
      case .interrupted(let reason):
        interruptionCount += 1
        console.error("\(name.printable): \(reason)")
      case .resumed(let after):
        console.error("\(name.printable): follows again after \(after.inSeconds.text(places: 1)) s")
      }
    }
    checkSilence(level: figures.level, at: now)
    return .wait(Self.updateInterval)
  }

  /// Reports that the source is silent, once per silence.
  private func checkSilence(level: Double, at now: Duration) {
    guard level < Self.silenceThreshold else {
      currentSilence = nil
      return
    }
    let (since, isTold) = currentSilence ?? (now, false)
    currentSilence = (since, isTold || now - since >= Self.silenceReportDelay)
    if !isTold, now - since >= Self.silenceReportDelay {
      console.error(
        "\(name.printable) is silent: is its volume at 0, or another source meant by '--from'?")
    }
  }

  /// Stops the thread. A thread that its device blocks is abandoned.
  func stopThread() {
    sharedState.withLock { $0.isOver = true }
    thread?.wait(within: .milliseconds(200))
  }

  var fields: JSONObject {
    [
      "peakDecibels": duration == nil ? NumberFormatting.decibels(Float(peakLevel)) : nil,
      "gaps": interruptionCount,
      "missedFrames": duration == nil ? voice.underrunFrameCount : nil,
      "droppedFrames": figures.droppedFrameCount,
      "driftPPM": figures.drift,
    ]
  }
}
