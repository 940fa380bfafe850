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
  private static let interpretationOption = Option(
    "--as", value: "KIND",
    help:
      """
      Kind of sound: vibration (a recording of a transducer, or a rendered pattern), sound (any \
      other sound), or automatic.
      """
  ).choice(default: TracingOptions.Interpretation.automatic)
  private static let tracingStyleOption = Option(
    "--style", value: "STYLE",
    help: "Features to follow in sounds other than vibration: full, impacts, music, or voice."
  ).choice(default: TracingOptions.FollowedPart.full)
  private static let eventLimitOption = Option(
    "--events", value: "N",
    help: "Maximum number of events, 1 to 100000; the strongest events are kept.",
    defaultValueText: "all"
  ).int(in: 1...100_000)
  private static let curveToleranceOption = Option(
    "--curve-error", value: "DB", help: "Maximum curve error, in decibels, 0.1 to 12.",
    defaultValueText: "1 for vibration, 3 for other sounds"
  ).double(in: 0.1...12)
  private static let noiseFloorOption = Option(
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
        --output sets another file or folder. The extension of the output file selects the format \
        unless --format is given. Output files are replaced atomically, and input files are never \
        overwritten. With --with-sound, Temblor also copies the sound and prints the path of the \
        copy. Copying never replaces a file or follows a link. If a different file with the same \
        name exists, nothing is written, and the exit status is 1.

        If the channels of a sound differ, each channel becomes a body location in formats that \
        support body locations, such as hjif. In other formats, the pattern follows the mean of \
        the channels, and Temblor reports the loss.

        A sound can have at most 72 million samples, such as 12.5 minutes of stereo sound at 48 kHz.

        For each sound, the program prints its classification (vibration or sound), and the number \
        of transients, continuous events, and control points. It also compares the level of the \
        pattern with the level of the sound, and prints the correlation and the error in decibels. \
        To examine the differences, run 'temblor compare SOUND PATTERN'.

        \(SharedOptions.settingsUnusedText)
        """,
      arguments: [soundArgument],
      options: [
        outputOption, formatOption(formats), interpretationOption, tracingStyleOption,
        eventLimitOption,
        curveToleranceOption,
        noiseFloorOption, tapsOnlyOption,
        humsOnlyOption,
        withSoundOption, SharedOptions.inputChannelsOption, SharedOptions.startTimeOption,
        SharedOptions.endTimeOption,
        profileOption, drawPlotsOption,
        SharedOptions.jsonOption, LiveOptions.quietOption,
      ],
      examples: [
        .init("temblor trace boom.wav -o boom.ahap", "Create a pattern from a sound effect."),
        .init(
          "temblor trace take.wav --as vibration --profile dayton-bst-1",
          "Recover the pattern from the drive signal of a shaker."),
        .init(
          "temblor trace sounds --events 20 --format haptic -o clips",
          "Trace a folder, with at most 20 events per sound."),
      ]
    ) { arguments, terminal in try run(Options(arguments, formats), formats, terminal) }
  }

  private static let soundArgument = Argument(
    "SOUND", help: "Sound file, folder of sound files, or - for standard input.",
    completion: Completion(
      pathCompletion: .files(extensions: ["wav", "flac", "aiff", "caf", "ogg", "opus", "mp3"])),
    isRepeatable: true
  ).texts()
  private static let outputOption = OutputPaths.outputOption(for: "patterns")
  private static let tapsOnlyOption = Option(
    "--taps-only", help: "Write only transients (taps)."
  ).flag()
  private static let humsOnlyOption = Option(
    "--hums-only", help: "Write only continuous events (hums)."
  ).flag()
  private static let withSoundOption = Option(
    "--with-sound",
    help: "Copy the sound to the folder of the pattern, and add an event that plays the copy."
  ).flag()
  private static let profileOption = Option(
    "--profile", value: "PROFILE",
    help: """
      Profile of the recorded transducer, or of the transducer that the pattern is for: a name or \
      a file.
      """, defaultValueText: TransducerProfile.phone.name,
    completion: SharedOptions.profileCompletion)
  private static let drawPlotsOption = Option(
    "--draw", help: "Draw the sound and the pattern as text."
  )
  .flag()

  private static func formatOption(_ formats: FormatRegistry) -> TypedOption<String?> {
    Option(
      "--format", value: "FORMAT", help: "Output format if the file extension does not select one.",
      defaultValueText: HapticFormat.ahap.id,
      choices: formats.formats.filter(\.isWritable).map(\.id),
      choiceAliases: formats.idsByAlias
    ).text()
  }

  struct Options {
    let soundArguments: [String]
    let outputOptions: ConvertOutputs.Options
    let tracingOptions: TracingOptions
    let profile: TransducerProfile
    let timeRange: ClosedRange<Double>?
    /// The indices of the channels to trace, or nil for all channels.
    let channelIndices: [Int]?
    let copiesSounds: Bool
    let drawsPlots: Bool
    let isQuiet: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws {
      try Self.checkCombinations(arguments)
      soundArguments = arguments[soundArgument]
      outputOptions = ConvertOutputs.Options(
        path: try arguments[outputOption], formatID: try arguments[formatOption(formats)],
        printsJSON: try arguments[SharedOptions.jsonOption])
      let unlessTaps: TracingOptions.EventSelection =
        try arguments[humsOnlyOption] ? .continuous : .all
      tracingOptions = TracingOptions(
        interpretation: try arguments[interpretationOption],
        followedPart: try arguments[tracingStyleOption],
        maximumEventCount: try arguments[eventLimitOption],
        toleranceDecibels: try arguments[curveToleranceOption],
        thresholdDecibels: try arguments[noiseFloorOption],
        eventSelection: try arguments[tapsOnlyOption] ? .transients : unlessTaps)
      profile = try SharedOptions.loadProfile(arguments)
      timeRange = try SharedOptions.parseTimeRange(arguments)
      channelIndices = try SharedOptions.parseInputChannels(arguments)
      copiesSounds = try arguments[withSoundOption]
      drawsPlots = try arguments[drawPlotsOption]
      isQuiet = try arguments[LiveOptions.quietOption.flag()]
    }

    private static func checkCombinations(_ arguments: ParsedArguments) throws(UsageError) {
      for (first, second) in [
        ("--taps-only", "--hums-only"), ("--draw", "--json"), ("--with-sound", "--start"),
        ("--with-sound", "--end"),
      ] {
        try SharedOptions.refuseCombination(first, second, in: arguments)
      }
      if try arguments[interpretationOption] == .vibration, arguments.hasFlag("--style") {
        throw UsageError("'--style' applies only to sounds other than vibration")
      }
      guard try arguments[outputOption] == OutputPaths.standardOutput else { return }
      for option in ["--draw", "--with-sound"] where arguments.hasFlag(option) {
        throw UsageError("'--output -' and \(option.inQuotes) cannot be used together")
      }
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    let foundSounds = FoundSounds(options.soundArguments)
    let soundPaths = foundSounds.paths
    if options.copiesSounds, let streamPath = soundPaths.first(where: InputStream.isStream) {
      let name = FileSystem.displayName(of: streamPath)
      throw UsageError("'--with-sound' requires a sound file, not \(name)")
    }
    let outputs = try ConvertOutputs(
      options.outputOptions, inputs: soundPaths.map { .sound(path: $0) },
      problemCount: foundSounds.problems.count + foundSounds.nonSoundFileErrors.count,
      formats: formats,
      isFromFolder: foundSounds.isFromFolder, defaultFormat: .ahap)
    if outputs.outputPaths.first == OutputPaths.standardOutput {
      try SharedOptions.refuseTerminalOutput(terminal)
    }
    let soundCopies =
      options.copiesSounds ? TracedSoundCopies(of: soundPaths, outputs: outputs) : nil
    var batchWork = BatchWork(on: terminal, problems: foundSounds.problems)
    for error in foundSounds.nonSoundFileErrors {
      batchWork.recordFailure(
        ErrorReporting.messageText(error), ErrorReporting.exitStatus(of: error))
    }
    if let soundCopies, !soundCopies.conflicts.isEmpty {
      for conflict in soundCopies.conflicts {
        batchWork.recordFailure(conflict.description, .failure)
      }
      return batchWork.overallStatus
    }
    var traceRun = TraceRun(
      options: options, outputs: outputs, copiesByPath: soundCopies?.copiesByPath,
      terminal: terminal,
      batchWork: batchWork)
    var progressLine = ProgressLine(on: terminal)
    for (index, (path, output)) in zip(soundPaths, outputs.outputPaths).enumerated() {
      progressLine.show(
        soundPaths.count == 1
          ? "\(path.printable): tracing" : "\(index) of \(soundPaths.count) sounds")
      if SignalHandling.isInterruptRequested {
        traceRun.batchWork.recordFailure("\(path.printable): interrupted; not written", .failure)
        break
      }
      try traceRun.traceSound(path, to: output) { progressLine.clear() }
    }
    progressLine.clear()
    if options.outputOptions.printsJSON {
      try terminal.output.writeJSON(["sounds": traceRun.jsonFields])
    }
    return traceRun.batchWork.overallStatus
  }
}

/// The sound files that the arguments of `trace` select: the named files, and the sound files in
/// named folders.
struct FoundSounds {
  private(set) var paths: [String] = []
  /// A Boolean value that indicates whether an argument is a folder.
  private(set) var isFromFolder = false
  private(set) var problems: [FileError] = []
  /// The errors for named files that are not sound files.
  private(set) var nonSoundFileErrors: [SoundFileError] = []

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
      let files = try FileSystem.visibleNames(in: argument).map { name in
        FileSystem.joinPath(argument, name)
      }
      let sounds = files.filter { TakeInput.isSound($0) }
      if sounds.isEmpty { throw FileError(argument, "contains no sound files") }
      paths += sounds
    case .missing:
      throw FileError(argument, "file or folder not found")
    case .file, .other:
      if let reason = SoundFileError.nonSoundFileReason(of: argument) {
        nonSoundFileErrors.append(
          SoundFileError(kind: .notSound, path: argument, description: reason))
      } else {
        paths.append(argument)
      }
    }
  }
}

/// The copies of sound files that traced patterns play, planned before the first sound is traced.
struct TracedSoundCopies {
  /// The copies of traced sounds, by the paths of the originals.
  private(set) var copiesByPath: [String: SoundCopy] = [:]
  /// The conflicts because of which the command must not write any file.
  private(set) var conflicts: [FileError] = []

  init(of sounds: [String], outputs: ConvertOutputs) {
    guard Self.canStoreSoundEvents(outputs.format) else { return }
    var copyPlan = OutputPlan(inputOverwriteCheck: outputs.overwriteCheck)
    for output in outputs.outputPaths {
      copyPlan.addOutput(path: output)
    }
    for (sound, output) in zip(sounds, outputs.outputPaths) {
      let folder = FileSystem.folderPath(of: output)
      let name = FileSystem.fileName(of: sound)
      if SoundCopy.isInPlace(name, in: folder, source: sound) { continue }
      do throws(FileError) {
        let copy = SoundCopy(sourcePath: sound, receivedPath: try ReceivedPath(name, in: folder))
        copiesByPath[sound] = copyPlan.addCopy(copy)
      } catch {
        conflicts.append(error)
      }
    }
    conflicts += copyPlan.conflicts
  }

  /// Returns whether a format can store an event that plays a sound file.
  private static func canStoreSoundEvents(_ format: HapticFormat) -> Bool {
    let soundEvent = HapticEvent(
      kind: .audioCustom, time: 0, waveform: AudioWaveform(path: "sound.wav"))
    let composition = HapticComposition(HapticPattern(events: [soundEvent]))
    guard let writtenFiles = try? format.write(composition, options: WritingOptions()) else {
      return false
    }
    return writtenFiles.losses.allSatisfy { $0.kind != .dropped }
  }
}

/// The patterns traced from a sound: one pattern for the mean of its channels, or one pattern for
/// each channel.
struct ChannelTraces {
  /// The traces of the sound. There is either one trace, or one trace for each channel; in the
  /// second case, each channel becomes a body location.
  private(set) var channelTraces: [SoundTrace] = []
  /// The number of channels if they differ and were averaged; otherwise, nil.
  private(set) var averagedChannelCount: Int?

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
    let channelCount = signal.channels.count
    guard signal.hasDifferingChannels else {
      channelTraces = [try SoundTrace(of: signal, profile: profile, options: options)]
      return
    }
    guard channelCount <= Self.maximumLocationCount, Self.supportsBodyLocations(format) else {
      averagedChannelCount = channelCount
      channelTraces = [try SoundTrace(of: signal, profile: profile, options: options)]
      return
    }
    var channelOptions = options
    channelOptions.maximumEventCount = options.maximumEventCount.map { max(1, $0 / channelCount) }
    for channel in signal.channels {
      channelTraces.append(
        try SoundTrace(
          of: Signal(channel, rate: signal.rate), profile: profile, options: channelOptions))
    }
  }

  /// Returns a composition layer for each trace, at its own body location if there are several
  /// traces.
  func makeLayers(sharpnessScale: SharpnessScale?) -> [HapticComposition.Layer] {
    channelTraces.indices.map { index in
      let location = HapticComposition.BodyLocation(index + 1, of: channelTraces.count)
      return HapticComposition.Layer(
        channelTraces[index].pattern, bodyLocation: channelTraces.count > 1 ? location : nil,
        sharpnessScale: sharpnessScale)
    }
  }

  var transientCount: Int { channelTraces.reduce(0) { $0 + $1.transientCount } }
  var continuousCount: Int { channelTraces.reduce(0) { $0 + $1.continuousEventCount } }
  var pointCount: Int { channelTraces.reduce(0) { $0 + $1.controlPointCount } }
  var omittedEventCount: Int { channelTraces.reduce(0) { $0 + $1.omittedEventCount } }

  /// The interpretation of the sound: vibration if all channels are vibration, otherwise sound.
  var interpretation: TracingOptions.Interpretation {
    channelTraces.allSatisfy { $0.interpretation == .vibration } ? .vibration : .sound
  }

  /// The minimum agreement between trace and sound, over all channels with events.
  var minimumChannelAgreement: SoundTrace.Agreement {
    let audibleTraces = channelTraces.filter { !$0.pattern.events.isEmpty }
    return SoundTrace.Agreement(
      correlation: audibleTraces.map(\.agreement.correlation).min()
        ?? channelTraces[0].agreement.correlation,
      differenceDecibels: audibleTraces.map(\.agreement.differenceDecibels).max()
        ?? channelTraces[0].agreement.differenceDecibels)
  }

  /// Returns whether a format can store the body locations of layers.
  private static func supportsBodyLocations(_ format: HapticFormat) -> Bool {
    let tapPattern = HapticPattern(events: [HapticEvent(kind: .hapticTransient, time: 0)])
    let tapLayers = (1...2).map { number in
      HapticComposition.Layer(tapPattern, bodyLocation: .init(number, of: 2))
    }
    let composition = HapticComposition(layers: tapLayers)
    let roundTripComposition = FormatMatrix.roundTrip(composition, through: format)?.composition
    return roundTripComposition?.bodyLocationCount == 2
  }
}

/// A run of `trace` over several sounds.
private struct TraceRun {
  let options: TraceCommand.Options
  let outputs: ConvertOutputs
  /// The copies of traced sounds by the paths of the originals, or nil if the patterns do not play
  /// their sounds.
  let copiesByPath: [String: SoundCopy]?
  let terminal: Terminal
  var batchWork: BatchWork
  /// The JSON fields of each traced sound for `--json`.
  var jsonFields: [JSONObject] = []

  /// The settings for reading the sounds.
  private var renderJob: RenderJob { RenderJob(profile: options.profile) }

  /// Traces a sound and writes its pattern.
  ///
  /// - Parameters:
  ///   - path: The sound file.
  ///   - output: The path of the pattern, or `-` for standard output.
  ///   - willReport: Called before anything is written or reported.
  mutating func traceSound(_ path: String, to output: String, _ willReport: () -> Void) throws {
    let soundName = FileSystem.displayName(of: path)
    do {
      let signal = try readSignal(of: path)
      let trace = try ChannelTraces(
        of: signal, for: outputs.format, profile: options.profile, options: options.tracingOptions)
      let composition = makeComposition(of: trace, path)
      let isStream = output == OutputPaths.standardOutput
      let name = isStream ? TakeInput.sound(path: path).outputStem : FileSystem.fileStem(of: output)
      guard
        let written = try outputs.format.write(composition, options: WritingOptions(baseName: name))
      else { return }
      willReport()
      let files = try writePattern(written, of: path, to: output)
      var losses = written.losses.map { loss in
        PatternConversion.LocatedLoss(
          loss: loss, location: loss.location ?? FileLocation(name: isStream ? soundName : output))
      }
      if let count = trace.averagedChannelCount {
        let loss = Loss(
          .approximated, .composition,
          "the pattern follows the mean of \(count) different channels; to select channels, use "
            + "'--input-channels'")
        losses.insert(.init(loss: loss, location: FileLocation(name: soundName)), at: 0)
      }
      if !options.isQuiet {
        for loss in losses {
          terminal.report(loss.reportLine.printable)
        }
        let names = isStream ? "" : " → \(files.joined(separator: ", ").printable)"
        terminal.report("\(soundName.printable)\(names): \(Self.summaryText(of: trace))")
      }
      if options.drawsPlots {
        try drawPlot(signal, composition, of: soundName)
      }
      jsonFields.append(Self.jsonFields(of: trace, soundName, files: files, losses: losses))
    } catch let error as AnalysisError {
      batchWork.recordFailure("\(soundName.printable): \(error.description)", .invalidInput)
    } catch {
      try batchWork.attemptWork { _ in throw error }
    }
  }

  /// Returns the traced pattern. The pattern also plays its original sound if the options request
  /// it.
  private func makeComposition(of trace: ChannelTraces, _ path: String) -> HapticComposition {
    // A format with frequencies gets those of the profile that the vibration was made with.
    let outputFormat = outputs.format
    let writesHertz = outputFormat.keepsHertz && outputFormat.dialects.isEmpty
    let sharpnessScale = options.profile.limitedToUsableBand(
      rate: Double(renderJob.sampleRateHertz)
    )
    .frequency
    .sharpnessScale
    var patternLayers = trace.makeLayers(sharpnessScale: writesHertz ? sharpnessScale : nil)
    if copiesByPath != nil {
      patternLayers[0].pattern.events.append(
        HapticEvent(
          kind: .audioCustom, time: 0, waveform: AudioWaveform(path: FileSystem.fileName(of: path)))
      )
    }
    return HapticComposition(layers: patternLayers, title: TakeInput.sound(path: path).outputStem)
  }

  /// Writes a pattern and the copy of the sound that it plays, and returns the paths of the files.
  private func writePattern(_ written: WrittenFiles, of path: String, to output: String) throws
    -> [String]
  {
    guard output != OutputPaths.standardOutput else {
      let bytes = written.files[0].bytes
      try terminal.output.write(bytes.span)
      return []
    }
    let soundCopy = copiesByPath.flatMap { $0[path] }
    let plannedFiles = PlannedFiles(
      outputFiles: outputs.plannedFiles(written.files, at: output),
      soundCopies: soundCopy.map { [$0] } ?? [])
    return try plannedFiles.writeFiles(on: terminal)
  }

  private func drawPlot(_ signal: Signal, _ composition: HapticComposition, of name: String) throws
  {
    let plotSubjects = [
      PlotSubject(name: name, signal: signal),
      PlotSubject(name: "pattern", composition: composition, profile: options.profile),
    ]
    for subject in plotSubjects {
      try terminal.output.writeTextPlot(
        Plot(of: [subject], parts: [.score], timeRangeSeconds: nil),
        columnCount: terminal.output.columnCount)
    }
  }

  private static func jsonFields(
    of trace: ChannelTraces, _ soundName: String, files: [String],
    losses: [PatternConversion.LocatedLoss]
  ) -> JSONObject {
    [
      "input": soundName, "files": files, "kind": trace.interpretation.rawValue,
      "transients": trace.transientCount, "continuousEvents": trace.continuousCount,
      "bodyLocations": trace.channelTraces.count > 1 ? trace.channelTraces.count : nil,
      "controlPoints": trace.pointCount, "omittedEvents": trace.omittedEventCount,
      "correlation": trace.minimumChannelAgreement.correlation,
      "decibels": trace.minimumChannelAgreement.differenceDecibels,
      "losses": losses.map(\.jsonFields),
    ]
  }

  private func readSignal(of path: String) throws -> Signal {
    var soundSignal = try TakeInput.loadSound(path, job: renderJob).signal
    if let channelIndices = options.channelIndices {
      soundSignal = try soundSignal.selectingChannels(channelIndices, path: path)
    }
    guard let timeRange = options.timeRange else { return soundSignal }
    let startFrame = Int(min(timeRange.lowerBound * soundSignal.rate, 1e15).rounded())
    guard startFrame < soundSignal.frameCount else {
      throw AnalysisError(
        .unsupportedLength,
        "'--start' is after the end (\(soundSignal.durationSeconds.text(places: 3)) s)")
    }
    let endFrame = min(
      soundSignal.frameCount, Int(min(timeRange.upperBound * soundSignal.rate, 1e15).rounded()))
    return Signal(
      channels: soundSignal.channels.map { Array($0[startFrame..<max(startFrame + 1, endFrame)]) },
      rate: soundSignal.rate)
  }

  /// Returns a sentence such as `vibration: 3 transients, 1 continuous event, 12 control points;
  /// levels of its rendering: correlation 0.998, …`.
  private static func summaryText(of trace: ChannelTraces) -> String {
    guard trace.transientCount + trace.continuousCount > 0 else {
      return
        """
        \(trace.interpretation.rawValue): no events found; try '--input-channels' or a lower \
        '--threshold'
        """
    }
    let omittedEventsText =
      trace.omittedEventCount > 0
      ? "; omitted \(trace.omittedEventCount.countText("weaker event"))" : ""
    let channelCount = trace.channelTraces.count
    let channelsText =
      channelCount > 1 ? "\(channelCount) different channels, one body location each; " : ""
    return channelsText
      + "\(trace.interpretation.rawValue): \(trace.transientCount.countText("transient")), "
      + "\(trace.continuousCount.countText("continuous event")), "
      + "\(trace.pointCount.countText("control point"))\(omittedEventsText); "
      + "level correlation \(trace.minimumChannelAgreement.correlation.text(places: 3)), "
      + "error \(trace.minimumChannelAgreement.differenceDecibels.text(places: 1)) dB"
  }
}
