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
  private static let loopOption = Option(
    "--loop", value: "N",
    help:
      """
      Play each pattern N times. If the pattern has loop points, each pass after the first plays \
      only the part between them. 0 repeats the pattern until you skip it.
      """
  ).int(in: 0...1_000_000, default: 1)
  private static let gapOption = Option(
    "--gap", value: "SECONDS", help: "Silence between patterns."
  )
  .double(in: 0...3_600, default: 0.5)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "play", abstract: "Play patterns on a device.",
      discussion: """
        Patterns play one after the other. On a terminal, a status line shows the time, the level \
        of each channel, and the number of underruns. Use the keyboard to pause, repeat, or skip a \
        pattern. Press ? for a list of keys. Ctrl-C fades out and quits.

        PATTERN can also be a sound file, such as a file with the vibration signal of a console or \
        headset. To hear a sound file without the effects of a profile, use 'temblor audition'.

        If no device is available, nothing is played or written, and the exit status is 1. To \
        write a sound file instead, use --device wav:FILE or 'temblor render'.
        """, arguments: [SharedOptions.patternArgument(formats)],
      options: [
        loopOption, gapOption, SharedOptions.inputChannelsOption, RoutingOptions.panOption,
        SharedOptions.curveTimesOption,
        SharedOptions.frequencyHandlingOption, LiveOptions.jsonOption,
        LiveOptions.quietOption,
      ]
        + SharedOptions.soundOptions, optionGroups: LiveOptions.optionGroups,
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
    let liveOptions: LiveOptions
    /// The number of times to play, or nil to repeat endlessly.
    let passCount: Int?
    /// The duration of the silence between patterns, in seconds.
    let gapSeconds: Double

    init(_ arguments: ParsedArguments) throws {
      liveOptions = try LiveOptions(arguments)
      let loop = try arguments[PlayCommand.loopOption]
      passCount = loop == 0 ? nil : loop
      gapSeconds = try arguments[PlayCommand.gapOption]
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    formats: FormatRegistry = .standard
  ) throws -> ExitStatus {
    let options = try Options(arguments)
    var patterns = try LivePatterns(arguments, formats, terminal)
    guard !patterns.loadedPatterns.isEmpty else { return patterns.exitStatus }

    try options.liveOptions.checkOutputs(reading: patterns.loadedPatterns.flatMap(\.sourcePaths))
    let session = options.liveOptions.makeSession(in: environment, terminal)
    let bodyLocationCount = patterns.loadedPatterns.map(\.composition.bodyLocationCount).max() ?? 0
    let (outcome, _) = try options.liveOptions.play(in: session, placeCount: bodyLocationCount) {
      engine in
      try Playlist(
        patterns.compilePatterns(for: engine, terminal), on: engine, passCount: options.passCount,
        gapSeconds: options.gapSeconds,
        sendGains: options.liveOptions.channelRouting.sendGains(rate: engine.rate), session: session
      )
    }
    return ErrorReporting.overallStatus([
      patterns.exitStatus,
      try options.liveOptions.reportOutcome(outcome, ["patterns": patterns.jsonFields], terminal),
    ])
  }
}

/// The patterns of a live command. Patterns that cannot be loaded are reported and omitted.
struct LivePatterns {
  private(set) var loadedPatterns: [LoadedPattern] = []
  /// The time from the start of each compiled pattern until it is silent, in seconds.
  private var secondsUntilSilence: [Double] = []
  private var loadingFailures: [(name: String, message: String, status: ExitStatus)] = []

  init(_ arguments: ParsedArguments, _ formats: FormatRegistry, _ terminal: Terminal) throws {
    let readingOptions = try SharedOptions.parseReadingOptions(arguments)
    let (inputs, problems) = PatternInput.find(
      arguments[SharedOptions.patternArgument(formats)], formats: formats,
      soundLookup: try SharedOptions.parseSoundLookup(arguments),
      soundChannels: try SharedOptions.parseInputChannels(arguments))
    for problem in problems {
      recordFailure(problem.path, problem, terminal)
    }
    for input in inputs {
      do {
        let pattern = try LoadedPattern(input, options: readingOptions)
        loadedPatterns.append(pattern)
        for warning in FindingGrouping.groupedFindings(pattern.playbackWarnings()) {
          terminal.report(warning.description.printable)
        }
      } catch {
        recordFailure(input.name, error, terminal)
      }
    }
  }

  var exitStatus: ExitStatus { ErrorReporting.overallStatus(loadingFailures.map(\.status)) }

  var jsonFields: [JSONObject] {
    loadedPatterns.enumerated().map { index, pattern in
      let seconds =
        index < secondsUntilSilence.count
        ? secondsUntilSilence[index] : pattern.composition.durationSeconds
      return ["pattern": pattern.input.name, "seconds": seconds]
    }
      + loadingFailures.map { ["pattern": $0.name, "error": $0.message] }
  }

  /// Compiles the patterns. Patterns that cannot be compiled are reported and omitted.
  mutating func compilePatterns(for engine: PlaybackEngine, _ terminal: Terminal)
    -> [CompiledPattern]
  {
    var compiledPatterns: [CompiledPattern] = []
    var playablePatterns: [LoadedPattern] = []
    for pattern in loadedPatterns {
      do {
        compiledPatterns.append(try CompiledPattern(name: pattern.input.name, pattern, for: engine))
        for finding in pattern.playbackFindings(on: engine.profiles, rate: engine.rate) {
          terminal.report(finding.description.printable)
        }
        playablePatterns.append(pattern)
      } catch {
        recordFailure(pattern.input.name, error, terminal)
      }
    }
    loadedPatterns = playablePatterns
    secondsUntilSilence = compiledPatterns.map(\.secondsUntilSilence)
    return compiledPatterns
  }

  private mutating func recordFailure(_ name: String, _ error: any Error, _ terminal: Terminal) {
    let failureText = ErrorReporting.messageText(error)
    loadingFailures.append((name, failureText, ErrorReporting.exitStatus(of: error)))
    terminal.report(failureText)
  }
}

/// The command `tap`, which plays a transient.
enum TapCommand {
  private static let tapCountOption = Option(
    "--count", value: "N", help: "Number of taps, 1 to 10000."
  ).int(
    in: 1...10_000, default: 1)
  private static let tapIntervalOption = Option(
    "--interval", value: "SECONDS", help: "Interval between taps, 0.005 to 60."
  )
  .double(in: 0.005...60, default: 0.25)

  static let definition = Command(
    "tap", abstract: "Play a single transient (a tap).",
    arguments: [intensityArgument, sharpnessArgument],
    options: [tapCountOption, tapIntervalOption, LiveOptions.jsonOption, LiveOptions.quietOption],
    optionGroups: LiveOptions.optionGroups,
    examples: [
      .init("temblor tap 1 0.5", "Test the output."),
      .init("temblor tap 0.6 0.9 --count 8 --interval 0.1", "Play a rattle."),
      .init("temblor tap 1 0.3 --haptics 2", "Find out which shaker is on the second channel."),
    ]
  ) { arguments, terminal in try run(Options(arguments), terminal, on: SystemEnvironment()) }

  private static let intensityArgument = Argument("INTENSITY", help: "Intensity, 0 to 1.")
  private static let sharpnessArgument = Argument(
    "SHARPNESS", help: "Sharpness, 0 (dull) to 1 (sharp).")

  struct Options {
    let liveOptions: LiveOptions
    let pattern: HapticPattern

    init(_ arguments: ParsedArguments) throws {
      liveOptions = try LiveOptions(arguments)
      try liveOptions.checkOutputs(reading: [])
      let intensity = try arguments.number(TapCommand.intensityArgument.name, in: 0...1) ?? 1
      let sharpness = try arguments.number(TapCommand.sharpnessArgument.name, in: 0...1) ?? 0.5
      pattern = tapPattern(
        count: try arguments[tapCountOption], interval: try arguments[tapIntervalOption],
        intensity: Float(intensity),
        sharpness: Float(sharpness))
    }
  }

  static func run(
    _ options: Options, _ terminal: Terminal, on environment: any PlaybackEnvironment
  ) throws -> ExitStatus {
    let session = options.liveOptions.makeSession(in: environment, terminal)
    let (outcome, _) = try options.liveOptions.play(in: session) { engine in
      try Playlist(
        [CompiledPattern(name: "tap", options.pattern, for: engine)], on: engine,
        session: session)
    }
    return try options.liveOptions.reportOutcome(outcome, [:], terminal)
  }

  /// Returns a pattern of identical taps at equal intervals.
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
  private static let loopOption = Option(
    "--loop", value: "N",
    help:
      """
      Play each version N times. If the pattern has loop points, each pass after the first plays \
      only the part between them. 0 repeats the pattern until the next version.
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
        loopOption, SharedOptions.curveTimesOption, SharedOptions.frequencyHandlingOption,
        LiveOptions.jsonOption,
        LiveOptions.quietOption,
      ]
        + SharedOptions.soundOptions,
      optionGroups: LiveOptions.optionGroups,
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
    let liveOptions: LiveOptions
    /// The number of times to play, or nil to repeat endlessly.
    let passCount: Int?
    let readingOptions: ReadingOptions
    let patternPath: String
    let input: PatternInput

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws {
      liveOptions = try LiveOptions(arguments)
      let loop = try arguments[WatchCommand.loopOption]
      passCount = loop == 0 ? nil : loop
      readingOptions = try SharedOptions.parseReadingOptions(arguments)
      patternPath = arguments[fileArgument(formats)]
      guard FileSystem.entryKind(at: patternPath) == .file else {
        throw FileError(patternPath, "file not found; 'temblor watch' requires a pattern file")
      }
      var input = PatternInput(
        origin: .file(patternPath), outputStem: FileSystem.fileStem(of: patternPath),
        formats: formats)
      input.soundLookup = try SharedOptions.parseSoundLookup(arguments)
      self.input = input
    }
  }

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on environment: any PlaybackEnvironment,
    formats: FormatRegistry = .standard
  ) throws -> ExitStatus {
    let options = try Options(arguments, formats)
    try options.liveOptions.checkOutputs(reading: options.input.sourcePaths)
    let session = options.liveOptions.makeSession(in: environment, terminal)
    let pattern = try? LoadedPattern(options.input, options: options.readingOptions)
    let bodyLocationCount = pattern?.composition.bodyLocationCount ?? 0
    let (outcome, activity) = try options.liveOptions.play(
      in: session, placeCount: bodyLocationCount
    ) {
      engine in
      try WatchActivity(
        options.input, at: options.patternPath, readingOptions: options.readingOptions, on: engine,
        passCount: options.passCount, session: session, output: terminal.errorOutput)
    }
    let outcomeFields: JSONObject = [
      "file": options.patternPath, "goodVersions": activity.validVersionCount,
      "brokenVersions": activity.invalidVersionCount,
    ]
    return try options.liveOptions.reportOutcome(outcome, outcomeFields, terminal)
  }
}

/// The playback of a pattern file that is replayed whenever it is saved.
/// If a saved version is invalid, the last valid version stays loaded.
final class WatchActivity: PlaybackActivity {
  private let input: PatternInput
  private let patternPath: String
  private let readingOptions: ReadingOptions
  private let fileWatch: FileWatch
  private let engine: PlaybackEngine
  private let console: LiveConsole
  private let output: Output
  private let trackPlayer: SingleTrackPlayer
  private(set) var validVersionCount = 0
  private(set) var invalidVersionCount = 0

  init(
    _ input: PatternInput, at path: String, readingOptions: ReadingOptions,
    on engine: PlaybackEngine,
    passCount: Int?,
    session: LiveSession, output: Output
  ) throws {
    self.patternPath = path
    self.input = input
    self.readingOptions = readingOptions
    self.engine = engine
    self.output = output
    console = session.console
    trackPlayer = SingleTrackPlayer(engine, passCount: passCount, wakeSignal: session.wakeSignal)
    // Watching begins before the file is read, so that no change is missed.
    fileWatch = try FileWatch([path])
    let startFrame = FrameConversion.frame(seconds: Playlist.leadInSeconds, rate: engine.rate)
    try reloadPattern(startingAt: .frame(startFrame))
  }

  var watchedDescriptors: [PollDescriptor] { [PollDescriptor(fileWatch.descriptor)] }
  var playbackState: PlaybackStatus.State { trackPlayer.state }
  var playbackProgress: (position: Double, duration: Double?) {
    trackPlayer.positionAndDurationSeconds
  }
  var keyHelp: [KeyHelp] { SingleTrackPlayer.keyHelp }

  func updateActivity(at now: Duration) throws -> ActivityStep {
    let fileChanges = try fileWatch.pollChanges(at: now)
    if fileChanges.contains(.init(path: patternPath, kind: .removed)) {
      console.reportError("\(patternPath.printable) was removed; the last version stays loaded")
    } else if !fileChanges.isEmpty {
      try reloadPattern(startingAt: .now)
    }
    return .wait(fileWatch.timeUntilNextChange(at: now))
  }

  func handleKey(_ key: KeyPress) throws -> Bool {
    switch key {
    case .character(" "): try trackPlayer.togglePause()
    case .character("r"), .character("R"), .home: try trackPlayer.restart()
    default: return false
    }
    return true
  }

  private func reloadPattern(startingAt time: PlaybackTime) throws {
    let compiledPattern: CompiledPattern
    do {
      let pattern = try LoadedPattern(input, options: readingOptions)
      try fileWatch.setWatchedPaths(
        [patternPath] + pattern.sourcePaths.filter(isBelowPatternFolder))
      compiledPattern = try CompiledPattern(name: patternPath, pattern, for: engine)
      let findings = pattern.playbackFindings(on: engine.profiles, rate: engine.rate)
      for warning in FindingGrouping.groupedFindings(pattern.playbackWarnings()) + findings {
        console.reportError(warning.description.printable)
      }
    } catch {
      invalidVersionCount += 1
      return report(error)
    }
    try trackPlayer.play(compiledPattern, at: time)
    validVersionCount += 1
    let durationText = NumberFormatting.secondsText(compiledPattern.secondsUntilSilence)
    let versionText = "\(patternPath.printable): \(durationText)"
    // The first version is expected; a log contains every later version.
    if validVersionCount + invalidVersionCount > 1 {
      console.reportInformation(versionText)
    } else {
      console.reportHint(versionText)
    }
  }

  /// Returns whether the path of a sound file stays below the folder of the pattern, judging by its
  /// text.
  private func isBelowPatternFolder(_ path: String) -> Bool {
    path != self.patternPath && !path.split(separator: "/").contains("..")
  }

  private func report(_ error: any Error) {
    let reportedFindings =
      (try? CheckCommand.findFindings(in: input))?.filter { $0.severity != .note } ?? []
    if error is InputError, reportedFindings.contains(where: { $0.severity == .error }) {
      console.reportError(String(CheckCommand.reportText(reportedFindings, for: output).dropLast()))
    } else {
      console.reportError(ErrorReporting.messageText(error))
    }
    if validVersionCount > 0 {
      console.reportHint("The last valid version stays loaded.")
    }
  }
}
