import CommandLineKit
import HapticFormats
import HapticModel
import HapticRender
import PatternComparison
import PatternWorkflows
import Reading
import SignalAnalysis
import SignalPlots
import SoundFile
import SoundTracing
import SystemSupport
import VendorFormats

/// The command `trace`, which makes patterns from sounds.
enum TraceCommand {
  private static let kind = Option(
    "--as", value: "KIND",
    help:
      """
      Kind of sound: vibration (a recording of a transducer, or a rendered pattern), sound (any \
      other sound), or automatic.
      """
  ).choice(default: TracingOptions.Interpretation.automatic)
  private static let style = Option(
    "--style", value: "STYLE",
    help: "Features to follow in sounds other than vibration: full, impacts, music, or voice."
  ).choice(default: TracingOptions.FollowedPart.full)
  private static let eventLimit = Option(
    "--events", value: "N",
    help: "Maximum number of events, 1 to 100000; the strongest events are kept.",
    defaultText: "all"
  ).int(in: 1...100_000)
  private static let tolerance = Option(
    "--curve-error", value: "DB", help: "Maximum curve error, in decibels, 0.1 to 12.",
    defaultText: "1 for vibration, 3 for other sounds"
  ).double(in: 0.1...12)
  private static let threshold = Option(
    "--threshold", value: "DB",
    help: "Noise floor, in decibels relative to the peak level, -80 to -6."
  ).double(in: -80...(-6), default: TracingOptions.defaultThresholdDecibels)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "trace", abstract: "Create patterns from sounds.",
      discussion: """
        From a recording of vibration, 'temblor trace' recovers the transients and continuous \
        events that reproduce the recording. From any other sound, it creates a pattern that \
        follows the onsets, level, and brightness of the sound.

        By default, each pattern is named after its sound and written to the current folder; \
        --output sets another file or folder. The file extension selects the format unless \
        --format is given. Output files are replaced atomically, and input files are never \
        overwritten. With --with-sound, Temblor also copies the sound and prints the path of the \
        copy. The copy never replaces a file and never follows a link: if a different file with \
        its name exists, nothing is written and the exit status is 1.

        If the channels of a sound differ, each channel becomes a body location in formats that \
        support body locations, such as hjif. In other formats, the pattern follows the mean of \
        the channels, and Temblor reports the loss.

        A sound can have at most 72 million samples: 12.5 minutes of stereo at 48 kHz.

        For each sound, the program prints its classification (vibration or sound), and the number \
        of transients, continuous events, and control points. It also compares the level of the \
        pattern with the level of the sound, and prints the correlation and the error in decibels. \
        To examine the differences, run 'temblor compare SOUND PATTERN'.

        \(SharedOptions.settingsUnusedText)
        """,
      arguments: [soundArgument],
      options: [
        output, formatOption(formats), kind, style, eventLimit, tolerance, threshold, tapsOnly,
        humsOnly,
        withSound, SharedOptions.inputChannels, SharedOptions.startTime, SharedOptions.endTime,
        profile, draw,
        SharedOptions.json, LiveOptions.quiet,
      ],
      examples: [
        .init("temblor trace boom.wav -o boom.ahap", "Create a pattern from a sound effect."),
        .init(
          "temblor trace take.wav --as vibration --profile dayton-bst-1",
          "Recover the pattern from a recording of a shaker."),
        .init(
          "temblor trace sounds --events 20 --format haptic -o clips",
          "Trace a folder, with at most 20 events per sound."),
      ]
    ) { arguments, terminal in try run(Options(arguments, formats), formats, terminal) }
  }

  private static let soundArgument = Argument(
    "SOUND", help: "Sound file, folder of sound files, or - for standard input.",
    completion: Completion(
      paths: .files(extensions: ["wav", "flac", "aiff", "caf", "ogg", "opus", "mp3"])),
    isRepeatable: true
  ).texts()
  private static let output = OutputPaths.outputOption(for: "patterns")
  private static let tapsOnly = Option(
    "--taps-only", help: "Write only transients (taps)."
  ).flag()
  private static let humsOnly = Option(
    "--hums-only", help: "Write only continuous events (hums)."
  ).flag()
  private static let withSound = Option(
    "--with-sound",
    help: "Copy the sound to the folder of the pattern, and add an event that plays the copy."
  ).flag()
  private static let profile = Option(
    "--profile", value: "PROFILE",
    help: """
      Profile of the recorded transducer, or of the transducer that the pattern is for: a name or \
      a file.
      """, defaultText: TransducerProfile.phone.name, completion: SharedOptions.profileCompletion)
  private static let draw = Option("--draw", help: "Draw the sound and the pattern as text.").flag()

  private static func formatOption(_ formats: FormatRegistry) -> TypedOption<String?> {
    Option(
      "--format", value: "FORMAT", help: "Output format if the file extension does not select one.",
      defaultText: HapticFormat.ahap.id, choices: formats.formats.filter(\.isWritable).map(\.id),
      choiceAliases: formats.idsByAlias
    ).text()
  }

  struct Options {
    let sounds: [String]
    let outputs: ConvertOutputs.Options
    let tracing: TracingOptions
    let profile: TransducerProfile
    let timeRange: ClosedRange<Double>?
    /// The indices of the channels to trace, or nil for all channels.
    let channelIndices: [Int]?
    let copiesSounds: Bool
    let drawsPlots: Bool
    let isQuiet: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws {
      try Self.checkCombinations(arguments)
      sounds = arguments[soundArgument]
      outputs = ConvertOutputs.Options(
        path: try arguments[output], formatID: try arguments[formatOption(formats)],
        printsJSON: try arguments[SharedOptions.json])
      let unlessTaps: TracingOptions.EventSelection = try arguments[humsOnly] ? .continuous : .all
      tracing = TracingOptions(
        interpretation: try arguments[kind], followedPart: try arguments[style],
        maximumEventCount: try arguments[eventLimit], toleranceDecibels: try arguments[tolerance],
        thresholdDecibels: try arguments[threshold],
        eventSelection: try arguments[tapsOnly] ? .transients : unlessTaps)
      profile = try SharedOptions.profile(arguments)
      timeRange = try SharedOptions.timeRange(arguments)
      channelIndices = try SharedOptions.inputChannels(arguments)
      copiesSounds = try arguments[withSound]
      drawsPlots = try arguments[draw]
      isQuiet = try arguments[LiveOptions.quiet.flag()]
    }

    private static func checkCombinations(_ arguments: ParsedArguments) throws(UsageError) {
      for (first, second) in [
        ("--taps-only", "--hums-only"), ("--draw", "--json"), ("--with-sound", "--start"),
        ("--with-sound", "--end"),
      ] {
        try SharedOptions.refuseBoth(first, second, in: arguments)
      }
      if try arguments[kind] == .vibration, arguments.flag("--style") {
        throw UsageError("'--style' applies only to sounds other than vibration")
      }
      guard try arguments[output] == OutputPaths.standardOutput else { return }
      for option in ["--draw", "--with-sound"] where arguments.flag(option) {
        throw UsageError("'--output -' and \(option.inQuotes) cannot be used together")
      }
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    let found = FoundSounds(options.sounds)
    let paths = found.paths
    if options.copiesSounds, let stream = paths.first(where: InputStream.isStream) {
      let name = FileSystem.displayName(of: stream)
      throw UsageError("'--with-sound' requires a sound file, not \(name)")
    }
    let outputs = try ConvertOutputs(
      options.outputs, inputs: paths.map { .sound(path: $0) },
      problemCount: found.problems.count + found.wrongFiles.count, formats: formats,
      isFromFolder: found.isFromFolder, defaultFormat: .ahap)
    if outputs.paths.first == OutputPaths.standardOutput {
      try SharedOptions.refuseTerminalOutput(terminal)
    }
    let copies = options.copiesSounds ? TracedSoundCopies(of: paths, outputs: outputs) : nil
    var work = BatchWork(on: terminal, problems: found.problems)
    for error in found.wrongFiles {
      work.recordFailure(Failure.message(error), Failure.status(of: error))
    }
    if let copies, !copies.conflicts.isEmpty {
      for conflict in copies.conflicts {
        work.recordFailure(conflict.description, .failure)
      }
      return work.status
    }
    var run = TraceRun(
      options: options, outputs: outputs, copies: copies?.copies, terminal: terminal, work: work)
    var line = ProgressLine(on: terminal)
    for (index, (path, output)) in zip(paths, outputs.paths).enumerated() {
      line.show(
        paths.count == 1 ? "\(path.printable): tracing" : "\(index) of \(paths.count) sounds")
      if SignalHandling.isInterruptRequested {
        run.work.recordFailure("\(path.printable): interrupted; not written", .failure)
        break
      }
      try run.trace(path, to: output) { line.clear() }
    }
    line.clear()
    if options.outputs.printsJSON {
      try terminal.output.write(json: ["sounds": run.fields])
    }
    return run.work.status
  }
}

/// The sound files for the arguments of `trace`: named files, and the sounds in named folders.
struct FoundSounds {
  private(set) var paths: [String] = []
  /// A Boolean value that indicates whether an argument is a folder.
  private(set) var isFromFolder = false
  private(set) var problems: [FileError] = []
  /// The errors for named files of other kinds.
  private(set) var wrongFiles: [SoundFileError] = []

  init(_ arguments: [String]) {
    for argument in arguments {
      do throws(FileError) {
        try add(argument)
      } catch {
        problems.append(error)
      }
    }
  }

  private mutating func add(_ argument: String) throws(FileError) {
    if InputStream.isStream(argument) {
      paths.append(argument)
      return
    }
    switch FileSystem.entryKind(at: argument) {
    case .folder:
      isFromFolder = true
      let files = try FileSystem.names(in: argument).map { name in
        FileSystem.join(argument, name)
      }
      let sounds = files.filter { TakeInput.isSound($0) }
      if sounds.isEmpty { throw FileError(argument, "contains no sound files") }
      paths += sounds
    case .missing:
      throw FileError(argument, "file or folder not found")
    case .file, .other:
      if let reason = SoundFileError.wrongKindReason(of: argument) {
        wrongFiles.append(SoundFileError(kind: .notSound, path: argument, description: reason))
      } else {
        paths.append(argument)
      }
    }
  }
}

/// The copies of the sounds that traced patterns play, planned before the first sound is traced.
struct TracedSoundCopies {
  /// The copies, by the path of the original sound.
  private(set) var copies: [String: SoundCopy] = [:]
  /// The reasons why no file must be written.
  private(set) var conflicts: [FileError] = []

  init(of sounds: [String], outputs: ConvertOutputs) {
    guard Self.namesSounds(outputs.format) else { return }
    var plan = OutputPlan(inputs: outputs.overwriteCheck)
    for output in outputs.paths {
      plan.add(output: output)
    }
    for (sound, output) in zip(sounds, outputs.paths) {
      let folder = FileSystem.folder(of: output)
      let name = FileSystem.name(of: sound)
      if SoundCopy.isInPlace(name, in: folder, source: sound) { continue }
      do throws(FileError) {
        let copy = SoundCopy(sourcePath: sound, receivedPath: try ReceivedPath(name, in: folder))
        copies[sound] = plan.add(copy)
      } catch {
        conflicts.append(error)
      }
    }
    conflicts += plan.conflicts
  }

  /// Returns whether a format keeps an event that plays a sound file.
  private static func namesSounds(_ format: HapticFormat) -> Bool {
    let event = HapticEvent(
      kind: .audioCustom, time: 0, waveform: AudioWaveform(path: "sound.wav"))
    let composition = HapticComposition(HapticPattern(events: [event]))
    guard let written = try? format.write(composition, options: WritingOptions()) else {
      return false
    }
    return written.losses.allSatisfy { $0.kind != .dropped }
  }
}

/// The patterns of a sound, which are one pattern of the mean of its channels or one pattern for
/// each channel.
struct ChannelTraces {
  /// The traces of the sound. There is one trace, or one for each channel, which is then a body
  /// location.
  private(set) var traces: [SoundTrace] = []
  /// The number of channels that differ and were averaged, or nil.
  private(set) var averagedCount: Int?

  /// The maximum number of channels that become body locations.
  private static let maximumLocationCount = 64

  /// Traces a sound file, and writes the pattern.
  ///
  /// - Parameters:
  ///   - signal: The sound.
  ///   - format: The format to write, which determines whether channels can be body locations.
  ///   - profile: The profile of the vibration.
  ///   - options: The options; the events of all channels together keep to their limit.
  /// - Throws: An `AnalysisError` for a sound that cannot be traced.
  init(
    of signal: Signal, for format: HapticFormat, profile: TransducerProfile,
    options: TracingOptions
  ) throws(AnalysisError) {
    let count = signal.channels.count
    guard signal.hasDifferingChannels else {
      traces = [try SoundTrace(of: signal, profile: profile, options: options)]
      return
    }
    guard count <= Self.maximumLocationCount, Self.supportsBodyLocations(format) else {
      averagedCount = count
      traces = [try SoundTrace(of: signal, profile: profile, options: options)]
      return
    }
    var channelOptions = options
    channelOptions.maximumEventCount = options.maximumEventCount.map { max(1, $0 / count) }
    for channel in signal.channels {
      traces.append(
        try SoundTrace(
          of: Signal(channel, rate: signal.rate), profile: profile, options: channelOptions))
    }
  }

  /// The layers of the traces, each at its body location if there are several.
  func layers(sharpnessScale: SharpnessScale?) -> [HapticComposition.Layer] {
    traces.indices.map { index in
      let location = HapticComposition.BodyLocation(index + 1, of: traces.count)
      return HapticComposition.Layer(
        traces[index].pattern, bodyLocation: traces.count > 1 ? location : nil,
        sharpnessScale: sharpnessScale)
    }
  }

  var transientCount: Int { traces.reduce(0) { $0 + $1.transientCount } }
  var continuousCount: Int { traces.reduce(0) { $0 + $1.continuousEventCount } }
  var pointCount: Int { traces.reduce(0) { $0 + $1.controlPointCount } }
  var omittedCount: Int { traces.reduce(0) { $0 + $1.omittedEventCount } }

  /// The kind of the sound, which is vibration if all channels are vibration.
  var kind: TracingOptions.Interpretation {
    traces.allSatisfy { $0.interpretation == .vibration } ? .vibration : .sound
  }

  /// The lowest agreement among the channels with events.
  var agreement: SoundTrace.Agreement {
    let audible = traces.filter { !$0.pattern.events.isEmpty }
    return SoundTrace.Agreement(
      correlation: audible.map(\.agreement.correlation).min() ?? traces[0].agreement.correlation,
      differenceDecibels: audible.map(\.agreement.differenceDecibels).max()
        ?? traces[0].agreement.differenceDecibels)
  }

  /// Returns whether a format keeps the body locations of layers.
  private static func supportsBodyLocations(_ format: HapticFormat) -> Bool {
    let tap = HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: 0)])
    let layers = (1...2).map { number in
      HapticComposition.Layer(tap, bodyLocation: .init(number, of: 2))
    }
    let composition = HapticComposition(layers: layers)
    let copy = FormatMatrix.roundTrip(composition, through: format)?.composition
    return copy?.bodyLocationCount == 2
  }
}

/// The tracing of several sounds.
private struct TraceRun {
  let options: TraceCommand.Options
  let outputs: ConvertOutputs
  /// The copies by the path of the original sound, or nil if the pattern does not play its sound.
  let copies: [String: SoundCopy]?
  let terminal: Terminal
  var work: BatchWork
  /// The JSON fields of each traced sound for `--json`.
  var fields: [JSONObject] = []

  /// The settings for reading the sounds.
  private var job: RenderJob { RenderJob(profile: options.profile) }

  /// Traces a sound and writes its pattern.
  ///
  /// - Parameters:
  ///   - path: The sound file.
  ///   - output: The path of the pattern, or `-` for standard output.
  ///   - willReport: Called before anything is written or reported.
  mutating func trace(_ path: String, to output: String, _ willReport: () -> Void) throws {
    let soundName = FileSystem.displayName(of: path)
    do {
      let signal = try signal(of: path)
      let trace = try ChannelTraces(
        of: signal, for: outputs.format, profile: options.profile, options: options.tracing)
      let composition = composition(of: trace, path)
      let isStream = output == OutputPaths.standardOutput
      let name = isStream ? TakeInput.sound(path: path).outputStem : FileSystem.stem(of: output)
      guard
        let written = try outputs.format.write(composition, options: WritingOptions(baseName: name))
      else { return }
      willReport()
      let files = try write(written, of: path, to: output)
      var losses = written.losses.map { loss in
        PatternConversion.LocatedLoss(
          loss: loss, location: loss.location ?? FileLocation(name: isStream ? soundName : output))
      }
      if let count = trace.averagedCount {
        let loss = Loss(
          .approximated, .composition,
          "the pattern follows the mean of \(count) different channels; to select channels, use "
            + "'--input-channels'")
        losses.insert(.init(loss: loss, location: FileLocation(name: soundName)), at: 0)
      }
      if !options.isQuiet {
        for loss in losses {
          terminal.report(loss.text.printable)
        }
        let names = isStream ? "" : " → \(files.joined(separator: ", ").printable)"
        terminal.report("\(soundName.printable)\(names): \(Self.summary(of: trace))")
      }
      if options.drawsPlots {
        try drawPlot(signal, composition, of: soundName)
      }
      fields.append(Self.fields(of: trace, soundName, files: files, losses: losses))
    } catch let error as AnalysisError {
      work.recordFailure("\(soundName.printable): \(error.description)", .invalidInput)
    } catch {
      try work.attempt { _ in throw error }
    }
  }

  /// Returns the traced pattern, which plays its sound if that was requested.
  private func composition(of trace: ChannelTraces, _ path: String) -> HapticComposition {
    // A format with frequencies gets those of the profile that the vibration was made with.
    let format = outputs.format
    let writesHertz = format.keepsHertz && format.dialects.isEmpty
    let scale = options.profile.bandMapped(rate: Double(job.rate)).frequency.sharpnessScale
    var layers = trace.layers(sharpnessScale: writesHertz ? scale : nil)
    if copies != nil {
      layers[0].pattern.events.append(
        HapticEvent(
          kind: .audioCustom, time: 0, waveform: AudioWaveform(path: FileSystem.name(of: path))))
    }
    return HapticComposition(layers: layers, title: TakeInput.sound(path: path).outputStem)
  }

  /// Writes a pattern and the copy of its sound, and returns the paths of the files.
  private func write(_ written: WrittenFiles, of path: String, to output: String) throws
    -> [String]
  {
    guard output != OutputPaths.standardOutput else {
      let bytes = written.files[0].bytes
      try terminal.output.write(bytes.span)
      return []
    }
    let copy = copies.flatMap { $0[path] }
    let planned = PlannedFiles(
      outputs: outputs.files(written.files, at: output), copies: copy.map { [$0] } ?? [])
    return try planned.write(on: terminal)
  }

  private func drawPlot(_ signal: Signal, _ composition: HapticComposition, of name: String) throws
  {
    let subjects = [
      PlotSubject(name: name, signal: signal),
      PlotSubject(name: "pattern", composition: composition, profile: options.profile),
    ]
    for subject in subjects {
      try terminal.output.write(
        Plot(of: [subject], parts: [.score], timeRangeSeconds: nil), width: terminal.output.width)
    }
  }

  private static func fields(
    of trace: ChannelTraces, _ soundName: String, files: [String],
    losses: [PatternConversion.LocatedLoss]
  ) -> JSONObject {
    [
      "input": soundName, "files": files, "kind": trace.kind.rawValue,
      "transients": trace.transientCount, "continuousEvents": trace.continuousCount,
      "bodyLocations": trace.traces.count > 1 ? trace.traces.count : nil,
      "controlPoints": trace.pointCount, "omittedEvents": trace.omittedCount,
      "correlation": trace.agreement.correlation, "decibels": trace.agreement.differenceDecibels,
      "losses": losses.map(\.fields),
    ]
  }

  private func signal(of path: String) throws -> Signal {
    var signal = try TakeInput.loadSound(path, job: job).signal
    if let indices = options.channelIndices {
      signal = try signal.selectingChannels(indices, path: path)
    }
    guard let timeRange = options.timeRange else { return signal }
    let first = Int(min(timeRange.lowerBound * signal.rate, 1e15).rounded())
    guard first < signal.frameCount else {
      throw AnalysisError(
        .unsupportedLength,
        "'--start' is after the end (\(signal.durationSeconds.text(places: 3)) s)")
    }
    let last = min(signal.frameCount, Int(min(timeRange.upperBound * signal.rate, 1e15).rounded()))
    return Signal(
      channels: signal.channels.map { Array($0[first..<max(first + 1, last)]) }, rate: signal.rate)
  }

  /// Returns a sentence such as `vibration: 3 transients, 1 continuous event, 12 control points;
  /// levels of its rendering: correlation 0.998, …`.
  private static func summary(of trace: ChannelTraces) -> String {
    guard trace.transientCount + trace.continuousCount > 0 else {
      return
        "\(trace.kind.rawValue): no events found; try '--input-channels' or a lower '--threshold'"
    }
    let omitted =
      trace.omittedCount > 0 ? "; omitted \(trace.omittedCount.counted("weaker event"))" : ""
    let count = trace.traces.count
    let channels = count > 1 ? "\(count) different channels, one body location each; " : ""
    return channels + "\(trace.kind.rawValue): \(trace.transientCount.counted("transient")), "
      + "\(trace.continuousCount.counted("continuous event")), "
      + "\(trace.pointCount.counted("control point"))\(omitted); "
      + "level correlation \(trace.agreement.correlation.text(places: 3)), "
      + "error \(trace.agreement.differenceDecibels.text(places: 1)) dB"
  }
}
