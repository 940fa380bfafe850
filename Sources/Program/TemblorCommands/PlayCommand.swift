import CommandLineKit
import HapticFormats
import HapticModel
import HapticPlayback
import PatternWorkflows
import PlaybackSessions
import Reading
import SoundFile
import SystemSupport
import VendorFormats

/// The command `play`, which plays patterns on a device.
enum PlayCommand {
  private static let loop = Option(
    "--loop", value: "N",
    help:
      """
      Play each pattern N times. If the pattern has loop points, each pass after the first plays \
      only the part between them. 0 repeats the pattern until you skip it.
      """
  ).int(in: 0...1_000_000, default: 1)
  private static let gap = Option("--gap", value: "SECONDS", help: "Silence between patterns.")
    .double(in: 0...3_600, default: 0.5)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "play", abstract: "Play patterns on a device.",
      discussion: """
        Patterns play one after the other. On a terminal, a status line shows the time, the level \
        of each channel, and the number of underruns. Use the keyboard to pause, repeat, or skip a \
        pattern. Press ? for a list of keys. Ctrl-C fades out and quits.

        Temblor treats a sound file, such as the vibration signal of a console or a headset, as a \
        pattern of sampled signals. To hear a sound file without the effects of a profile, use \
        'temblor audition'.

        If no device is available, nothing is played or written, and the exit status is 1. To \
        write a sound file instead, use --device wav:FILE or 'temblor render'.
        """, arguments: [SharedOptions.patternArgument(formats)],
      options: [
        loop, gap, SharedOptions.inputChannels, RoutingOptions.pan, SharedOptions.curveTimes,
        SharedOptions.pitch, LiveOptions.json,
        LiveOptions.quiet,
      ]
        + SharedOptions.soundOptions, groups: LiveOptions.groups,
      examples: [
        .init("temblor play heartbeat", "Feel a shipped pattern."),
        .init(
          "temblor play mine.ahap --loop 0 --device plughw:1",
          "Loop a pattern on the second sound card until you press q."),
        .init(
          "temblor play mine.ahap --haptics 3,4 --audio 1,2",
          "Drive shakers on channels 3 and 4, and loudspeakers on channels 1 and 2."),
        .init(
          "temblor play mine.ahap --array seat.json --pan 0:-1,2:1",
          "Pan a pattern across the shakers of a seat."),
      ]
    ) { arguments, terminal in
      try run(arguments, terminal, on: SystemEnvironment(), formats: formats)
    }
  }

  struct Options {
    let live: LiveOptions
    /// The number of passes, or nil to repeat.
    let passCount: Int?
    /// The duration of the silence between patterns, in seconds.
    let gapSeconds: Double

    init(_ arguments: ParsedArguments) throws {
      live = try LiveOptions(arguments)
      let loop = try arguments[PlayCommand.loop]
      passCount = loop == 0 ? nil : loop
      gapSeconds = try arguments[PlayCommand.gap]
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    formats: FormatRegistry = .standard
  ) throws -> ExitStatus {
    let options = try Options(arguments)
    var patterns = try LivePatterns(arguments, formats, terminal)
    guard !patterns.loaded.isEmpty else { return patterns.status }

    try options.live.checkOutputs(reading: patterns.loaded.flatMap(\.sourcePaths))
    let session = options.live.makeSession(in: environment, terminal)
    let placeCount = patterns.loaded.map(\.composition.bodyLocationCount).max() ?? 0
    let (outcome, _) = try options.live.play(in: session, placeCount: placeCount) { engine in
      try Playlist(
        patterns.compile(for: engine, terminal), on: engine, passCount: options.passCount,
        gapSeconds: options.gapSeconds,
        sendGains: options.live.routing.sendGains(rate: engine.rate), session: session)
    }
    return Failure.overallStatus([
      patterns.status,
      try options.live.report(outcome, ["patterns": patterns.fields], terminal),
    ])
  }
}

/// The patterns of a live command. Patterns that cannot be loaded are reported and omitted.
struct LivePatterns {
  private(set) var loaded: [LoadedPattern] = []
  /// The duration of each compiled pattern until it is silent, in seconds.
  private var soundSeconds: [Double] = []
  private var failures: [(name: String, message: String, status: ExitStatus)] = []

  init(_ arguments: ParsedArguments, _ formats: FormatRegistry, _ terminal: Terminal) throws {
    let reading = try SharedOptions.readingOptions(arguments)
    let (inputs, problems) = PatternInput.find(
      arguments[SharedOptions.patternArgument(formats)], formats: formats,
      soundLookup: try SharedOptions.soundLookup(arguments),
      soundChannels: try SharedOptions.inputChannels(arguments))
    for problem in problems {
      recordFailure(problem.path, problem, terminal)
    }
    for input in inputs {
      do {
        let pattern = try LoadedPattern(input, options: reading)
        loaded.append(pattern)
        for warning in FindingGrouping.grouped(pattern.warnings()) {
          terminal.report(warning.description.printable)
        }
      } catch {
        recordFailure(input.name, error, terminal)
      }
    }
  }

  var status: ExitStatus { Failure.overallStatus(failures.map(\.status)) }

  var fields: [JSONObject] {
    loaded.enumerated().map { index, pattern in
      let seconds =
        index < soundSeconds.count ? soundSeconds[index] : pattern.composition.durationSeconds
      return ["pattern": pattern.input.name, "seconds": seconds]
    }
      + failures.map { ["pattern": $0.name, "error": $0.message] }
  }

  /// Compiles the patterns. Patterns that cannot be compiled are reported and omitted.
  mutating func compile(for engine: PlaybackEngine, _ terminal: Terminal) -> [CompiledPattern] {
    var compiled: [CompiledPattern] = []
    var playable: [LoadedPattern] = []
    for pattern in loaded {
      do {
        compiled.append(try CompiledPattern(name: pattern.input.name, pattern, for: engine))
        for finding in pattern.playbackFindings(on: engine.profiles, rate: engine.rate) {
          terminal.report(finding.description.printable)
        }
        playable.append(pattern)
      } catch {
        recordFailure(pattern.input.name, error, terminal)
      }
    }
    loaded = playable
    soundSeconds = compiled.map(\.soundSeconds)
    return compiled
  }

  private mutating func recordFailure(_ name: String, _ error: any Error, _ terminal: Terminal) {
    let message = Failure.message(error)
    failures.append((name, message, Failure.status(of: error)))
    terminal.report(message)
  }
}

/// The command `tap`, which plays a transient.
enum TapCommand {
  private static let count = Option("--count", value: "N", help: "Number of taps, 1 to 10000.").int(
    in: 1...10_000, default: 1)
  private static let interval = Option(
    "--interval", value: "SECONDS", help: "Interval between taps, 0.005 to 60."
  )
  .double(in: 0.005...60, default: 0.25)

  static let definition = Command(
    "tap", abstract: "Play a single transient (a tap).",
    arguments: [intensity, sharpness],
    options: [count, interval, LiveOptions.json, LiveOptions.quiet], groups: LiveOptions.groups,
    examples: [
      .init("temblor tap 1 0.5", "Test the output."),
      .init("temblor tap 0.6 0.9 --count 8 --interval 0.1", "Play a rattle."),
      .init("temblor tap 1 0.3 --haptics 2", "Find out which shaker is on the second channel."),
    ]
  ) { arguments, terminal in try run(Options(arguments), terminal, on: SystemEnvironment()) }

  private static let intensity = Argument("INTENSITY", help: "Intensity, 0 to 1.")
  private static let sharpness = Argument("SHARPNESS", help: "Sharpness, 0 (dull) to 1 (sharp).")

  struct Options {
    let live: LiveOptions
    let pattern: HapticPattern

    init(_ arguments: ParsedArguments) throws {
      live = try LiveOptions(arguments)
      try live.checkOutputs(reading: [])
      let intensity = try arguments.double(TapCommand.intensity.name, in: 0...1) ?? 1
      let sharpness = try arguments.double(TapCommand.sharpness.name, in: 0...1) ?? 0.5
      pattern = tapPattern(
        count: try arguments[count], interval: try arguments[interval], intensity: Float(intensity),
        sharpness: Float(sharpness))
    }
  }

  static func run(
    _ options: Options, _ terminal: Terminal, on environment: any PlaybackEnvironment
  ) throws -> ExitStatus {
    let session = options.live.makeSession(in: environment, terminal)
    let (outcome, _) = try options.live.play(in: session) { engine in
      try Playlist(
        [CompiledPattern(name: "tap", options.pattern, for: engine)], on: engine,
        session: session)
    }
    return try options.live.report(outcome, [:], terminal)
  }

  /// Returns a pattern of equal taps.
  ///
  /// - Parameters:
  ///   - count: The number of taps.
  ///   - interval: The time from one tap to the next, in seconds.
  ///   - intensity: The intensity, 0 to 1.
  ///   - sharpness: The sharpness, 0 to 1.
  static func tapPattern(count: Int, interval: Double, intensity: Float, sharpness: Float)
    -> HapticPattern
  {
    HapticPattern(
      events: (0..<count).map { index in
        HapticEvent(
          kind: .hapticTransient, time: Double(index) * interval,
          parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
      })
  }
}

/// The command `watch`, which plays a pattern whenever it is saved.
enum WatchCommand {
  private static let loop = Option(
    "--loop", value: "N",
    help:
      """
      Play each version N times. If the pattern has loop points, each pass after the first plays \
      only the part between them. 0 repeats it until the next version.
      """
  ).int(in: 0...1_000_000, default: 1)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "watch", abstract: "Play a pattern again each time its file is saved.",
      discussion: """
        If a saved version has errors, they are shown as in 'temblor check', and the last valid \
        version stays loaded. Sound files that the pattern plays are also watched. Use the \
        keyboard to pause or repeat the pattern. Press ? for a list of keys. Press q or Ctrl-C to \
        quit.
        """,
      arguments: [fileArgument(formats)],
      options: [
        loop, SharedOptions.curveTimes, SharedOptions.pitch, LiveOptions.json, LiveOptions.quiet,
      ]
        + SharedOptions.soundOptions,
      groups: LiveOptions.groups,
      examples: [
        .init("temblor watch mine.ahap", "Play the pattern after every save."),
        .init("temblor watch mine.ahap --loop 0", "Loop the pattern until the next save."),
      ]
    ) { arguments, terminal in
      try run(arguments, terminal, on: SystemEnvironment(), formats: formats)
    }
  }

  private static func fileArgument(_ formats: FormatRegistry) -> TypedArgument<String> {
    Argument(
      "FILE", help: "Pattern file.", completion: .patterns(formats)
    ).text()
  }

  struct Options {
    let live: LiveOptions
    /// The number of passes, or nil to repeat.
    let passCount: Int?
    let reading: ReadingOptions
    let path: String
    let input: PatternInput

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws {
      live = try LiveOptions(arguments)
      let loop = try arguments[WatchCommand.loop]
      passCount = loop == 0 ? nil : loop
      reading = try SharedOptions.readingOptions(arguments)
      path = arguments[fileArgument(formats)]
      guard FileSystem.entryKind(at: path) == .file else {
        throw FileError(path, "file not found; 'temblor watch' requires a pattern file")
      }
      var input = PatternInput(
        origin: .file(path), outputStem: FileSystem.stem(of: path), formats: formats)
      input.soundLookup = try SharedOptions.soundLookup(arguments)
      self.input = input
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    formats: FormatRegistry = .standard
  ) throws -> ExitStatus {
    let options = try Options(arguments, formats)
    try options.live.checkOutputs(reading: options.input.sourcePaths)
    let session = options.live.makeSession(in: environment, terminal)
    let pattern = try? LoadedPattern(options.input, options: options.reading)
    let placeCount = pattern?.composition.bodyLocationCount ?? 0
    let (outcome, activity) = try options.live.play(in: session, placeCount: placeCount) {
      engine in
      try WatchActivity(
        options.input, at: options.path, reading: options.reading, on: engine,
        passCount: options.passCount, session: session, output: terminal.error)
    }
    let fields: JSONObject = [
      "file": options.path, "goodVersions": activity.validVersionCount,
      "brokenVersions": activity.invalidVersionCount,
    ]
    return try options.live.report(outcome, fields, terminal)
  }
}

/// The playback of a pattern file that is replayed whenever it is saved.
/// If a saved version is invalid, the last valid version stays loaded.
final class WatchActivity: PlaybackActivity {
  private let input: PatternInput
  private let path: String
  private let reading: ReadingOptions
  private let fileWatch: FileWatch
  private let engine: PlaybackEngine
  private let console: LiveConsole
  private let output: Output
  private let track: SingleTrackPlayer
  private(set) var validVersionCount = 0
  private(set) var invalidVersionCount = 0

  init(
    _ input: PatternInput, at path: String, reading: ReadingOptions, on engine: PlaybackEngine,
    passCount: Int?,
    session: LiveSession, output: Output
  ) throws {
    self.path = path
    self.input = input
    self.reading = reading
    self.engine = engine
    self.output = output
    console = session.console
    track = SingleTrackPlayer(engine, passCount: passCount, wake: session.wake)
    // Watching begins before the file is read, so that no change is missed.
    fileWatch = try FileWatch([path])
    let start = FrameConversion.frame(seconds: Playlist.leadInSeconds, rate: engine.rate)
    try reload(startingAt: .frame(start))
  }

  var watchedDescriptors: [PollDescriptor] { [PollDescriptor(fileWatch.descriptor)] }
  var state: PlaybackStatus.State { track.state }
  var progress: (position: Double, duration: Double?) { track.progress }
  var keys: [KeyHelp] { SingleTrackPlayer.keys }

  func update(at now: Duration) throws -> ActivityStep {
    let changes = try fileWatch.pollChanges(at: now)
    if changes.contains(.init(path: path, kind: .removed)) {
      console.error("\(path.printable) was removed; the last version stays loaded")
    } else if !changes.isEmpty {
      try reload(startingAt: .now)
    }
    return .wait(fileWatch.timeout(at: now))
  }

  func handleKey(_ key: KeyPress) throws -> Bool {
    switch key {
    case .character(" "): try track.togglePause()
    case .character("r"), .character("R"), .home: try track.restart()
    default: return false
    }
    return true
  }

  private func reload(startingAt time: PlaybackTime) throws {
    let compiled: CompiledPattern
    do {
      let pattern = try LoadedPattern(input, options: reading)
      try fileWatch.watch([path] + pattern.sourcePaths.filter(isBelowFolder))
      compiled = try CompiledPattern(name: path, pattern, for: engine)
      let findings = pattern.playbackFindings(on: engine.profiles, rate: engine.rate)
      for warning in FindingGrouping.grouped(pattern.warnings()) + findings {
        console.error(warning.description.printable)
      }
    } catch {
      invalidVersionCount += 1
      return report(error)
    }
    try track.play(compiled, at: time)
    validVersionCount += 1
    let text = "\(path.printable): \(NumberFormatting.secondsText(compiled.soundSeconds))"
    // The first version is expected; a log contains every later version.
    if validVersionCount + invalidVersionCount > 1 {
      console.info(text)
    } else {
      console.hint(text)
    }
  }

  /// Returns whether the path of a sound file stays below the folder of the pattern, judging by its
  /// text.
  private func isBelowFolder(_ path: String) -> Bool {
    path != self.path && !path.split(separator: "/").contains("..")
  }

  private func report(_ error: any Error) {
    let findings = (try? CheckCommand.findings(in: input))?.filter { $0.severity != .note } ?? []
    if error is InputError, findings.contains(where: { $0.severity == .error }) {
      console.error(String(CheckCommand.text(findings, for: output).dropLast()))
    } else {
      console.error(Failure.message(error))
    }
    if validVersionCount > 0 {
      console.hint("The last valid version stays loaded.")
    }
  }
}
