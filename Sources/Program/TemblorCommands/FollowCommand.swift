import CommandLineKit
import HapticOutputs
import HapticPlayback
import HapticRender
import PatternComparison
import PatternWorkflows
import SignalAnalysis
import SoundFile
import SoundFollowing
import SystemSupport

/// The command `follow`, which turns live sound into vibration.
enum FollowCommand {
  private static let soundSourceOption = Option(
    "--source", value: "SOURCE",
    help:
      """
      Source: monitor (the sound of the default output), an ALSA capture device, a PipeWire source \
      or sink (pipewire:NODE), or a sound file.
      """,
    defaultValueText: FollowedSource.monitorKeyword, completion: .file
  ).text().map { $0 ?? FollowedSource.monitorKeyword }
  private static let keepVoicesOption = Option("--keep-voices", help: "Do not suppress speech.")
    .flag()
  private static let noAGCOption = Option(
    "--no-agc", help: "Turn off automatic gain control."
  ).flag()
  private static let followingStyleOption = Option(
    "--style", value: "STYLE", help: "Style: bass, impacts, engine, full, or android."
  )
  .choice(default: FollowingOptions.ConversionStyle.full)
  private static let minimumFrequencyOption = Option(
    "--low", value: "HZ", help: "Lowest vibration frequency, 5 to 500 Hz.",
    defaultValueText: "set by the profile"
  ).double(in: 5...500)
  private static let maximumFrequencyOption = Option(
    "--high", value: "HZ", help: "Highest vibration frequency, 20 to 1000 Hz.",
    defaultValueText: "set by the profile, within 80 to 250 Hz"
  ).double(in: 20...1_000)
  private static let vibrationDelayOption = Option(
    "--delay", value: "MS", help: "Delay of the vibration, 0 to 2000 ms."
  )
  .double(in: 0...2_000, default: 0)

  static let definition = Command(
    "follow", abstract: "Turn live sound into vibration.",
    discussion: """
      By default, 'temblor follow' captures the sound that the default output plays, such as the \
      sound of a film or a game. The command converts the sound to vibration and plays the \
      vibration on the output device.

      STYLES
        bass     The low frequencies of the sound.
        impacts  A short burst for each impact.
        engine   A single tone whose level follows the low frequencies.
        full     The styles bass and impacts together.
        android  The algorithm of Android's HapticGenerator.

      A gate suppresses speech. The gate opens when the level below 60 Hz is high compared with \
      the level of the other frequencies. Automatic gain control amplifies quiet sources and \
      attenuates loud sources, by at most 12 dB.

      To prevent feedback, the vibration must not play on the captured sink, or on a device that \
      follows the default sink of the desktop. Use --device to select a different sink or a sound \
      card.

      Temblor compensates for clock drift between the source and the output, and reconnects to a \
      source that drops frames or disappears. On a terminal, a status line shows input and output \
      levels, the state of the gate, and the total buffer latency. After Temblor has measured the \
      clock drift, the status line also shows the drift in parts per million.

      If the source is a sound file, Temblor processes the file in real time. If the output is \
      also a file (--device wav:FILE), Temblor processes the source as fast as possible.
      """,
    options: [
      soundSourceOption, followingStyleOption, minimumFrequencyOption, maximumFrequencyOption,
      keepVoicesOption,
      noAGCOption,
      vibrationDelayOption,
      LiveOptions.jsonOption, LiveOptions.quietOption,
    ], optionGroups: LiveOptions.optionGroups,
    examples: [
      .init(
        "temblor follow --device plughw:1 --profile dayton-bst-1",
        "Feel a film or game through a shaker on the second sound card."),
      .init(
        "temblor follow --source hw:2 --style engine --delay 40",
        "Follow a line input with a delay of 40 ms."),
      .init(
        "temblor follow --source film.wav --device wav:felt.wav",
        "Convert the sound of a film to vibration, and write it to a sound file."),
    ]
  ) { arguments, terminal in
    try run(arguments, terminal, on: SystemEnvironment(), servers: .system) {
      try CaptureDevices.open($0, rates: $1, periodSeconds: $2)
    }
  }

  struct Options {
    let liveOptions: LiveOptions
    let sourceName: String
    let followingOptions: FollowingOptions
    /// The additional delay of the vibration, in seconds.
    let delaySeconds: Double

    init(_ arguments: ParsedArguments) throws {
      liveOptions = try LiveOptions(arguments)
      let band = liveOptions.profile.frequency
      let low = try arguments[minimumFrequencyOption] ?? max(5, min(band.lowHertz, band.highHertz))
      let high =
        try arguments[maximumFrequencyOption]
        ?? min(250, max(80, max(band.lowHertz, band.highHertz)))
      guard low < high else {
        let lowText = low.text(places: 1).inQuotes
        throw UsageError(
          "'--low' must be below '--high' (\(high.text(places: 1)) Hz), not \(lowText)")
      }
      followingOptions = FollowingOptions(
        conversionStyle: try arguments[followingStyleOption], bandHertz: low...high,
        keepsVoices: try arguments[keepVoicesOption],
        keepsLevel: try arguments[noAGCOption])
      sourceName = try arguments[FollowCommand.soundSourceOption]
      delaySeconds = try arguments[FollowCommand.vibrationDelayOption] / 1_000
    }
  }

  /// A closure that opens a recording device.
  typealias CaptureOpener =
    (_ device: String, _ rates: [Int], _ period: Double) throws -> any CaptureSource

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    servers: SoundServers, capture: CaptureOpener
  ) throws -> ExitStatus {
    let options = try Options(arguments)
    let sourceName = options.sourceName
    let isFile =
      TakeInput.isSoundFile(sourceName) || SoundFileFormat.container(ofName: sourceName) != nil
    let job = RenderJob(profile: options.liveOptions.profile)
    let fileSignal = isFile ? try TakeInput.loadSound(sourceName, job: job).signal : nil
    try options.liveOptions.checkOutputs(reading: fileSignal == nil ? [] : [sourceName])
    if let fileSignal, fileSignal.hasDifferingChannels {
      terminal.report(
        "\(sourceName.printable): using the mean of \(fileSignal.channels.count) different channels"
      )
    }
    let followedSource = fileSignal == nil ? try FollowedSource(sourceName, on: servers) : nil
    // Without a device, the command runs as fast as the machine allows.
    let isOffline =
      fileSignal != nil && options.liveOptions.deviceOptions.outputFilePath != nil
      && !options.liveOptions.isRecorded
    let environment: any PlaybackEnvironment =
      isOffline ? SimulatedEnvironment(outputRegistry: .standard) : environment
    let session = options.liveOptions.makeSession(in: environment, terminal)
    var activity: FollowActivity?
    defer { activity?.stopThread() }
    let (outcome, _) = try options.liveOptions.play(
      in: session, check: { try followedSource?.checkOutput($0) }
    ) {
      engine in
      let started =
        if let fileSignal {
          try FollowActivity(
            fileSignal, options.followingOptions, delay: options.delaySeconds, on: engine,
            session: session,
            named: sourceName)
        } else {
          try makeActivity(
            followedSource?.deviceName ?? sourceName, options, on: engine, session, capture)
        }
      activity = started
      return started
    }
    let outcomeFields: JSONObject = [
      "source": sourceName, "style": options.followingOptions.conversionStyle.rawValue,
      "following": activity?.jsonFields,
    ]
    return try options.liveOptions.reportOutcome(outcome, outcomeFields, terminal)
  }

  /// Follows a recording device.
  private static func makeActivity(
    _ device: String, _ options: Options, on engine: PlaybackEngine, _ session: LiveSession,
    _ capture: CaptureOpener
  ) throws -> FollowActivity {
    let outputRequest = options.liveOptions.deviceOptions.outputRequest
    let periodSeconds = Double(outputRequest.periodSize) / Double(outputRequest.rate)
    do {
      let source = try capture(device, [Int(engine.rate), 48_000, 44_100], periodSeconds)
      let feed = SoundFeed(
        source, options.followingOptions, outputRateHertz: engine.rate, period: periodSeconds,
        delay: options.delaySeconds
      ) { engine.position }
      return try FollowActivity(feed, on: engine, session: session, named: options.sourceName)
    } catch let error as OutputError {
      guard options.sourceName == FollowedSource.monitorKeyword else {
        throw FileError(options.sourceName, error.description)
      }
      throw FileError(options.sourceName, "\(error.description); \(FollowedSource.monitorAdvice)")
    }
  }
}

/// The playback of vibration that follows live sound or a sound file.
final class FollowActivity: PlaybackActivity {
  private struct FeedState {
    var feedStatus = SoundFeed.FeedStatus()
    var events: [CaptureEvent] = []
    var hasEnded = false
  }

  private let engine: PlaybackEngine
  private let console: LiveConsole
  private let liveVoice: LiveVoice
  private let sourceName: String
  private let durationSeconds: Double?
  private let sharedState = Locked(FeedState())
  private var feedThread: BackgroundThread?
  private var feedStatus = SoundFeed.FeedStatus()
  private var peakAmplitude = 0.0
  private var interruptionCount = 0
  private var currentSilencePeriod: (since: Duration, isReported: Bool)?
  /// The time at which the source last delivered frames, and the total number of frames delivered
  /// until then.
  private var lastFrameDelivery: (frameCount: Int64, time: Duration)?
  /// A Boolean value that indicates whether a stall of the source has been reported.
  private var isSourceStallReported = false
  /// A Boolean value that indicates whether the source is interrupted and trying to reconnect.
  private var isSourceInterrupted = false

  private static let updateInterval = Duration.milliseconds(100)
  /// The peak amplitude below which a source counts as silent; 1 is full scale.
  private static let silenceThresholdAmplitude = 1e-4
  /// The duration of silence after which the silence is reported.
  private static let silenceReportDelay = Duration.seconds(5)
  /// The duration without any delivered frame after which a stall of the source is reported.
  private static let sourceStallReportDelay = Duration.seconds(1)

  /// Creates an activity that follows live sound on a separate thread.
  init(_ feed: SoundFeed, on engine: PlaybackEngine, session: LiveSession, named name: String)
    throws
  {
    self.engine = engine
    console = session.console
    liveVoice = feed.liveVoice
    self.sourceName = name
    durationSeconds = nil
    try engine.attach(liveVoice)
    let shared = sharedState
    feedThread = try BackgroundThread {
      var noDescriptors: [PollDescriptor] = []
      while !shared.withLock({ $0.hasEnded }) {
        let event = feed.runIteration()
        shared.withLock {
          let level = max($0.feedStatus.peakAmplitude, feed.status.peakAmplitude)
          $0.feedStatus = feed.status
          $0.feedStatus.peakAmplitude = level
          if let event {
            $0.events.append(event)
          }
        }
        SystemTimeSource().wait(
          for: &noDescriptors,
          timeout: .roundedToNanoseconds(seconds: feed.iterationIntervalSeconds))
      }
    }
  }

  /// Creates an activity that follows a sound file, which is processed as a whole.
  init(
    _ signal: Signal, _ options: FollowingOptions, delay: Double, on engine: PlaybackEngine,
    session: LiveSession,
    named name: String
  ) throws {
    var follower = SoundFollower(options, sampleRate: signal.rate)
    var resampler = VariableRateResampler()
    let followedSamples =
      [Float](repeating: 0, count: Int(delay * engine.rate))
      + resampler.resample(follower.follow(signal.mono.span), step: signal.rate / engine.rate)
    liveVoice = LiveVoice(
      rate: engine.rate, capacity: followedSamples.count, queuedFrameCountAtStart: 1)
    _ = liveVoice.write(followedSamples.span)
    self.engine = engine
    console = session.console
    self.sourceName = name
    durationSeconds = Double(followedSamples.count) / engine.rate
    try engine.attach(liveVoice)
  }

  var playbackProgress: (position: Double, duration: Double?) {
    (
      durationSeconds.map { min($0, engine.positionSeconds) } ?? engine.positionSeconds,
      durationSeconds
    )
  }

  var statusTitle: ActivityTitle? {
    guard durationSeconds == nil else { return nil }
    let gateText = feedStatus.gateGain < 0.5 ? "closed" : "open"
    let levelText =
      feedStatus.peakAmplitude < Self.silenceThresholdAmplitude
      ? "silent" : "in \(Decibels.of(amplitude: feedStatus.peakAmplitude).text(places: 0)) dB"
    return ActivityTitle(
      longTitle: "\(levelText), gate \(gateText)", shortTitle: levelText,
      remarks: [
        "\((Double(feedStatus.queuedFrameCount) / engine.rate * 1_000).text(places: 0)) ms",
        feedStatus.clockDriftPPM.map { "\($0.text(places: 0)) ppm" },
      ].compactMap(\.self))
  }

  func updateActivity(at now: Duration) throws -> ActivityStep {
    if let durationSeconds {
      let remaining =
        durationSeconds + engine.routing.tailDuration(rate: engine.rate) - engine.positionSeconds
      return remaining > 0 ? .wait(.roundedToNanoseconds(seconds: remaining)) : .finished
    }
    let (status, events) = sharedState.withLock { shared in
      defer {
        shared.feedStatus.peakAmplitude = 0
        shared.events = []
      }
      return (shared.feedStatus, shared.events)
    }
    self.feedStatus = status
    peakAmplitude = max(peakAmplitude, status.peakAmplitude)
    for event in events {
      switch event {
      case .interrupted(let reason):
        interruptionCount += 1
        isSourceInterrupted = true
        console.reportError("\(sourceName.printable): \(reason)")
      case .resumed(let after):
        isSourceInterrupted = false
        console.reportError(
          "\(sourceName.printable): reconnected after \(after.inSeconds.text(places: 1)) s")
      }
    }
    checkFrameDelivery(frameCount: status.sourceFrameCount, at: now)
    checkSilence(level: status.peakAmplitude, at: now)
    return .wait(Self.updateInterval)
  }

  /// Reports that the source delivers no frames, for example because its sound server hangs, and
  /// reports its recovery.
  private func checkFrameDelivery(frameCount: Int64, at now: Duration) {
    guard let previousDelivery = lastFrameDelivery, previousDelivery.frameCount == frameCount,
      !isSourceInterrupted
    else {
      if isSourceStallReported, let previousDelivery = lastFrameDelivery,
        previousDelivery.frameCount != frameCount
      {
        let seconds = (now - previousDelivery.time).inSeconds.text(places: 1)
        console.reportError("\(sourceName.printable): sound resumed after \(seconds) s")
      }
      isSourceStallReported = false
      lastFrameDelivery = (frameCount, now)
      return
    }
    guard !isSourceStallReported, frameCount > 0,
      now - previousDelivery.time > Self.sourceStallReportDelay
    else { return }
    isSourceStallReported = true
    interruptionCount += 1
    console.reportError(
      "\(sourceName.printable): no sound received; the device or sound server does not respond")
  }

  /// Reports that the source is silent, once per silence.
  private func checkSilence(level: Double, at now: Duration) {
    guard level < Self.silenceThresholdAmplitude, !isSourceStallReported else {
      currentSilencePeriod = nil
      return
    }
    let (since, isReported) = currentSilencePeriod ?? (now, false)
    currentSilencePeriod = (since, isReported || now - since >= Self.silenceReportDelay)
    if !isReported, now - since >= Self.silenceReportDelay {
      console.reportError(
        "\(sourceName.printable) is silent; check its volume, or choose another source with "
          + "'--source'")
    }
  }

  /// Stops the thread that reads the source. A thread that is blocked by its device is abandoned.
  func stopThread() {
    sharedState.withLock { $0.hasEnded = true }
    feedThread?.wait(within: .milliseconds(200))
  }

  var jsonFields: JSONObject {
    [
      "peakDecibels": durationSeconds == nil
        ? NumberFormatting.decibels(ofAmplitude: Float(peakAmplitude)) : nil,
      "gaps": interruptionCount,
      "missedFrames": durationSeconds == nil ? liveVoice.underrunFrameCount : nil,
      "droppedFrames": feedStatus.droppedFrameCount,
      "driftPPM": feedStatus.clockDriftPPM,
    ]
  }
}
