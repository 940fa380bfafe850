enum FollowVerb {
  private static let from = Option(
    "--from", value: "SOURCE",
    help:
      """
      What is followed: monitor (what the default output plays), a recording device of ALSA, or \
      a sound file.
      """,
    defaultText: FollowedSource.monitor, completion: .file)
  private static let style = Option("--style", value: "STYLE", help: "What is made of the sound.")
    .choice(default: FollowingOptions.Style.full)
  private static let low = Option(
    "--low", value: "HZ", help: "Lowest frequency of the vibration, 5 to 500.",
    defaultText: "that of the profile"
  ).double(in: 5...500)
  private static let high = Option(
    "--high", value: "HZ", help: "Highest frequency of the vibration, 20 to 1000.",
    defaultText: "that of the profile, 80 to 250"
  ).double(in: 20...1_000)
  private static let delay = Option(
    "--delay", value: "MS", help: "Feel everything later, 0 to 2000 ms."
  )
  .double(in: 0...2_000, default: 0)

  static let description = CommandDescription(
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
      from, style, low, high, Option("--keep-voices", help: "Let voices be felt, too."),
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
    try run(arguments, terminal, on: SystemBackend(), servers: .system) {
      try LiveCapture($0, rates: $1, period: $2)
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on backend: any SessionBackend,
    servers: SoundServers,
    capture: (_ device: String, _ rates: [Int], _ period: Double) throws -> any CaptureSource
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    let band = options.profile.frequency
    let low = try arguments[low] ?? max(5, min(band.low, band.high))
    let high = try arguments[high] ?? min(250, max(80, max(band.low, band.high)))
    guard low < high else {
      throw UsageError(
        "'--low' must be below '--high' (\(high.text(1)) Hz), not \(low.text(1).inQuotes)")
    }
    let following = FollowingOptions(
      style: try arguments[style], band: low...high, keepsVoices: arguments.flag("--keep-voices"),
      keepsLevel: arguments.flag("--no-ride"))
    let name = arguments.value("--from") ?? FollowedSource.monitor
    let delay = try arguments[delay] / 1_000
    let isFile = TakeInput.isSound(name) || SoundFileFormat.container(ofName: name) != nil
    let file = isFile ? try TakeInput.read(name, RenderJob(profile: options.profile)).signal : nil
    try options.checkOutputs(reading: file == nil ? [] : [name])
    let source = file == nil ? try FollowedSource(name, on: servers) : nil
    let session = options.session(on: backend, terminal)
    var task: FollowTask?
    defer { task?.end() }
    let (outcome, _) = try options.play(in: session, check: { try source?.check($0) }) { engine in
      let made: FollowTask
      if let file {
        made = try FollowTask(
          file, following, delay: delay, on: engine, session: session, named: name)
      } else {
        let period = Double(options.device.request.periodSize) / Double(options.device.request.rate)
        do {
          let capture = try capture(
            source?.device ?? name, [Int(engine.rate), 48_000, 44_100], period)
          made = try FollowTask(
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

final class FollowTask: SessionTask {
  private struct Shared {
    var figures = SoundFeed.Figures()
    var events: [CaptureEvent] = []
    var isOver = false
  }

  private let engine: PlaybackEngine
  private let console: LiveConsole
  private let voice: LiveVoice
  private let name: String
  private let duration: Double?
  private let shared = Locked(Shared())
  private var thread: BackgroundThread?
  private var figures = SoundFeed.Figures()
  private var loudest = 0.0
  private var gapCount = 0
  private var silence: (since: Duration, isTold: Bool)?

  private static let interval = Duration.milliseconds(100)
  /// The level below which a source is silent, and how long before that is said.
  private static let silent = 1e-4
  private static let patience = Duration.seconds(5)

  /// Follows live sound, on a thread of its own.
  init(_ feed: SoundFeed, on engine: PlaybackEngine, session: LiveSession, named name: String)
    throws
  {
    self.engine = engine
    console = session.console
    voice = feed.voice
    self.name = name
    duration = nil
    try engine.attach(voice)
    let shared = shared
    thread = try BackgroundThread {
      var none: [PollDescriptor] = []
      while !shared.withLock({ $0.isOver }) {
        let event = feed.turn()
        shared.withLock {
          let level = max($0.figures.level, feed.figures.level)
          $0.figures = feed.figures
          $0.figures.level = level
          if let event {
            $0.events.append(event)
          }
        }
        SystemTimeSource().wait(for: &none, timeout: .inSeconds(feed.pause))
      }
    }
  }

  /// Follows a sound file, which is taken in whole.
  init(
    _ signal: Signal, _ options: FollowingOptions, delay: Double, on engine: PlaybackEngine,
    session: LiveSession,
    named name: String
  ) throws {
    var follower = SoundFollower(options, rate: signal.rate)
    var resampler = VaryingResampler()
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

  var place: (position: Double, duration: Double?) {
    (duration.map { min($0, engine.seconds) } ?? engine.seconds, duration)
  }

  var title: SessionTitle? {
    guard duration == nil else { return nil }
    let gate = figures.opening < 0.5 ? "held back" : "open"
    let level =
      figures.level < Self.silent
      ? "silent" : "in \(Decibels.of(amplitude: figures.level).text(0)) dB"
    return SessionTitle(
      long: "\(level), gate \(gate)", short: level,
      remarks: [
        "\((Double(figures.waiting) / engine.rate * 1_000).text(0)) ms",
        "\(figures.drift.text(0)) ppm",
      ])
  }

  func perform(at now: Duration) throws -> SessionStep {
    if let duration {
      let left = duration + engine.routing.tail(rate: engine.rate) - engine.seconds
      return left > 0 ? .wait(.inSeconds(left)) : .over
    }
    let (figures, events) = shared.withLock { shared in
      defer {
        shared.figures.level = 0
        shared.events = []
      }
      return (shared.figures, shared.events)
    }
    self.figures = figures
    loudest = max(loudest, figures.level)
    for event in events {
      switch event {
      case .interrupted(let reason):
        gapCount += 1
        console.report("\(name.printable): \(reason)")
      case .resumed(let after):
        console.report("\(name.printable): follows again after \(after.inSeconds.text(1)) s")
      }
    }
    watch(figures.level, at: now)
    return .wait(Self.interval)
  }

  /// Says once for each silence that the source is silent.
  private func watch(_ level: Double, at now: Duration) {
    guard level < Self.silent else {
      silence = nil
      return
    }
    let (since, isTold) = silence ?? (now, false)
    silence = (since, isTold || now - since >= Self.patience)
    if !isTold, now - since >= Self.patience {
      console.report(
        "\(name.printable) is silent: is its volume at 0, or another source meant by '--from'?")
    }
  }

  /// Ends the thread; one that its device holds is left behind.
  func end() {
    shared.withLock { $0.isOver = true }
    thread?.wait(within: .milliseconds(200))
  }

  var fields: JSONMembers {
    [
      "peakDecibels": duration == nil ? NumberFormatting.decibels(Float(loudest)) : nil,
      "gaps": gapCount,
      "missedFrames": duration == nil ? voice.missedFrameCount : nil,
      "droppedFrames": figures.dropped,
      "driftPPM": figures.drift,
    ]
  }
}
