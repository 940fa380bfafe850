import CommandLineKit
import HapticFormats
import HapticModel
import HapticRender
import PatternRules
import PatternWorkflows
import Reading
import SoundFile
import SystemSupport
import VendorFormats

/// The command `render`, which renders patterns to sound files.
enum RenderCommand {
  private static let sampleFormatOption = Option(
    "--sample-format", value: "FORMAT", help: "Sample format."
  )
  .choice(default: SampleFormat.s16)
  private static let channelCountOption = Option(
    "--channels", value: "N", help: "Number of channels, 1 to 64.",
    defaultValueText: "the number of channels in use"
  ).int(in: OutputRouting.channelCounts)
  private static let passCountOption = Option(
    "--loop", value: "N",
    help:
      """
      Play N times. If the pattern has loop points, each pass after the first plays only the part \
      between them. 0 repeats the pattern for the length set by --duration.
      """
  ).int(in: 0...1_000_000, default: 1)
  private static let durationOption = Option(
    "--duration", value: "SECONDS",
    help: """
      Length of the file. Longer sounds are faded out, and shorter sounds are padded with silence.
      """,
    defaultValueText: "the length of the pattern"
  ).double(in: 0.001...FrameConversion.maximumSeconds)
  private static let trailingSilenceOption = Option(
    "--tail", value: "SECONDS", help: "Silence after the sound.",
    defaultValueText:
      """
      the decay time of the hardware and filters, at least \(OfflineRenderer.defaultTailSeconds)
      """
  ).double(in: 0...3_600)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "render", abstract: "Render patterns to sound files.",
      discussion: """
        By default, each sound file is named after its pattern and written to the current folder. \
        To choose another file or folder, use --output. Files are replaced atomically.

        Folders are searched recursively, and the output preserves their structure. When searching \
        folders, Temblor does not follow links to folders. When writing files, Temblor does not \
        follow links below the output folder.

        The file extension selects the format: wav, flac, aiff, w64, rf64, caf, or ogg. The same \
        pattern and options produce identical files, except for the serial number of an ogg stream.

        PATTERN can also be a sound file, such as a file with the vibration signal of a console or \
        headset. The profile applies equalization and protection, as for any other pattern.

        \(SharedOptions.settingsUnusedText)
        """, arguments: [SharedOptions.patternArgument(formats)],
      options: [
        OutputPaths.outputOption(for: "patterns"), RenderOutputs.containerOption,
        sampleFormatOption,
        SharedOptions.sampleRateOption, channelCountOption, SharedOptions.inputChannelsOption,
        RoutingOptions.panOption,
        SharedOptions.jsonOption, LiveOptions.quietOption,
      ],
      optionGroups: [
        OptionGroup(
          "Sound", SharedOptions.profileOption, SharedOptions.strengthOption, normalizeOption,
          accelerationOption, rawOption,
          RenderOutputs.stemsOption),
        OptionGroup(
          "Time",
          [
            passCountOption, durationOption, trailingSilenceOption, SharedOptions.curveTimesOption,
            SharedOptions.frequencyHandlingOption,
          ]),
        OptionGroup("Sound files", SharedOptions.soundOptions), RoutingOptions.optionGroup,
      ],
      examples: [
        .init("temblor render heartbeat", "Write heartbeat.wav."),
        .init(
          "temblor render Patterns -o sounds --profile speaker",
          "Render a folder for laptop speakers."),
        .init("temblor render mine.ahap -o - | aplay", "Play a pattern without writing a file."),
        .init(
          "temblor render mine.ahap --array seat.json --pan 0:-1,2:1",
          "Write one channel for each shaker of a seat."),
        .init(
          "temblor render pad.wav --input-channels 3,4 --channels 2 -o felt.wav",
          "Render the vibration channels of a sound file for two shakers."),
      ]
    ) { arguments, terminal in try run(Options(arguments, formats), formats, terminal) }
  }

  private static let normalizeOption = Option("--normalize", help: "Scale the peak to -1 dBFS.")
    .flag()
  private static let accelerationOption = Option(
    "--acceleration",
    help: """
      Write the simulated acceleration of the profile's transducer instead of the drive signal. A \
      sample value of 1 corresponds to the peak acceleration that a full-scale sine causes at \
      resonance. Values beyond the range of the format are clipped. Channels without haptics are \
      unchanged.
      """
  ).flag()
  private static let rawOption = Option(
    "--raw",
    help: """
      Write the synthesized signal without the limiter, DC blocker, transducer processing, or \
      fades, for comparison with other decoders. With '--profile mpeg', HJIF and HMPG patterns \
      are rendered with the amplitudes and frequencies that their files specify. The output may \
      contain clicks. To preserve values beyond full scale, use '--sample-format float'.
      """
  ).flag()

  struct Options {
    let patternArguments: [String]
    let soundLookup: PatternInput.SoundLookup
    /// The channels of sound files to render, from 0, or nil for all channels.
    let inputChannels: [Int]?
    let renderJob: RenderJob
    let outputOptions: RenderOutputs.Options
    let isQuiet: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws {
      renderJob = try RenderCommand.parseRenderJob(arguments)
      patternArguments = arguments[SharedOptions.patternArgument(formats)]
      soundLookup = try SharedOptions.parseSoundLookup(arguments)
      inputChannels = try SharedOptions.parseInputChannels(arguments)
      outputOptions = try RenderOutputs.Options(arguments)
      isQuiet = try arguments[LiveOptions.quietOption.flag()]
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    let (inputs, problems) = PatternInput.find(
      options.patternArguments, formats: formats, soundLookup: options.soundLookup,
      soundChannels: options.inputChannels)
    let outputs = try RenderOutputs(
      options.outputOptions, inputs: inputs, problemCount: problems.count)
    try outputs.checkFormats(of: options.renderJob, on: terminal)
    let batch = RenderBatch(job: options.renderJob, items: outputs.batchItems)
    let renderOutcomes = renderBatch(batch, on: terminal, isQuiet: options.isQuiet)
    let report = RenderReport(batch: batch, outcomes: renderOutcomes, inputProblems: problems)
    report.printReport(on: terminal, isQuiet: options.isQuiet)
    if options.outputOptions.printsJSON {
      try terminal.output.writeJSON(["files": report.jsonFields])
    }
    return report.exitStatus
  }

  /// Renders a batch and shows the progress.
  private static func renderBatch(_ batch: RenderBatch, on terminal: Terminal, isQuiet: Bool)
    -> [RenderBatch.Outcome]
  {
    var progressLine = ProgressLine(on: terminal)
    defer { progressLine.clear() }
    let batchItems = batch.items
    let showsProgress = batchItems.count > 1 || terminal.errorOutput.isTerminal
    guard showsProgress else { return batch.run(progress: nil) }
    return batch.run { done, fraction in
      guard !isQuiet else { return }
      progressLine.show(
        batchItems.count == 1
          ? "\(batchItems[0].name.printable): \(Int(fraction * 100)) %"
          : "\(done) of \(batchItems.count) sounds")
    }
  }

  private static func parseRenderJob(_ arguments: ParsedArguments) throws -> RenderJob {
    var job = try SharedOptions.makeRenderJob(arguments)
    job.sampleRateHertz = try arguments[SharedOptions.sampleRateOption]
    job.channelRouting = try RoutingOptions.parseRouting(arguments)
    try job.channelRouting.checkFilters(rate: Double(job.sampleRateHertz))
    job.channelCount = try arguments[channelCountOption] ?? job.channelRouting.minimumChannelCount
    job.masterGain = try arguments[SharedOptions.strengthOption]
    job.normalizesPeak = try arguments[normalizeOption]
    job.rendersAcceleration = try arguments[accelerationOption]
    job.bypassesOutputProcessing = try arguments[rawOption]
    for option in ["--acceleration", "--normalize"] {
      try SharedOptions.refuseCombination("--raw", option, in: arguments)
    }
    job.passCount = try arguments[passCountOption]
    job.durationSeconds = try arguments[durationOption]
    job.trailingSilenceSeconds = try arguments[trailingSilenceOption]
    job.sampleFormat = try arguments[sampleFormatOption]
    try checkSettings(job)
    return job
  }

  /// Throws an error for settings that contradict each other.
  private static func checkSettings(_ job: RenderJob) throws(UsageError) {
    if job.passCount == 0 && job.durationSeconds == nil {
      throw UsageError("'--loop 0' repeats indefinitely; set the length with '--duration'")
    }
    guard job.channelCount >= job.channelRouting.minimumChannelCount else {
      throw UsageError(
        """
        channel \(job.channelRouting.minimumChannelCount) is in use, but '--channels' is \
        \(job.channelCount)
        """
      )
    }
    let profiles = job.resolvedRouting().profiles
    if job.rendersAcceleration,
      let profileWithoutModel = profiles.first(where: { $0.hardware?.model == nil })
    {
      throw UsageError(
        """
        '--acceleration' requires a profile with a resonance and a Q factor; \
        they are missing in \(profileWithoutModel.name.inQuotes)
        """
      )
    }
  }
}

/// The report of a batch of renderings, for people and programs.
struct RenderReport {
  let batch: RenderBatch
  let outcomes: [RenderBatch.Outcome]
  /// The errors of the inputs that were not found.
  let inputProblems: [FileError]

  private static let maximumListedChangeCount = 3
  /// The peak amplitude above which the limiter attenuates a sound by at least 0.1 dB.
  private static let minimumLimitedPeakAmplitude = Float(Renderer.outputCeilingMagnitude) * 1.0116

  var exitStatus: ExitStatus {
    let exitStatuses: [ExitStatus] = outcomes.map {
      switch $0 {
      case .written: .success
      // The reader of standard output has closed the stream, as `head` does.
      case .failed(let error as StreamError) where error.isBrokenPipe: .success
      case .failed(let error): ErrorReporting.exitStatus(of: error)
      }
    }
    return ErrorReporting.overallStatus(exitStatuses + inputProblems.map { _ in .failure })
  }

  /// Prints levels, warnings, and errors.
  /// In large batches, only sounds that were changed by a limiter are listed.
  func printReport(on terminal: Terminal, isQuiet: Bool) {
    var failureTexts = inputProblems.map(\.description)
    var limitingReports: [String] = []
    var writtenCount = 0
    for (item, result) in zip(batch.items, outcomes) {
      switch result {
      case .written(let seconds, let statistics, let warnings):
        writtenCount += 1
        guard !isQuiet else { continue }
        let change = printResult(
          of: item, seconds: seconds, statistics, warnings: warnings, on: terminal)
        limitingReports += change.map { [$0] } ?? []
      case .failed(let error as StreamError) where error.isBrokenPipe:
        continue
      case .failed(let error):
        failureTexts.append(ErrorReporting.messageText(error))
      }
    }
    for change in limitingReports.prefix(Self.maximumListedChangeCount) {
      terminal.report(change)
    }
    let unlistedCount = limitingReports.count - Self.maximumListedChangeCount
    if unlistedCount > 0 {
      terminal.report(
        "\(unlistedCount) more \(unlistedCount == 1 ? "sound was" : "sounds were") limited")
    }
    for failure in failureTexts {
      terminal.report(failure)
    }
    let inputCount = batch.items.count + inputProblems.count
    guard inputCount > 2, !failureTexts.isEmpty || !isQuiet else { return }
    terminal.report(
      "\(writtenCount) of \(inputCount) sounds written"
        + (failureTexts.isEmpty ? "" : ", \(failureTexts.count) failed"))
  }

  /// Prints the warnings and the level of a sound.
  ///
  /// - Returns: In large batches, the level of a sound that was changed by a limiter.
  private func printResult(
    of item: RenderBatch.Item, seconds: Double, _ statistics: RenderStatistics,
    warnings: [Finding], on terminal: Terminal
  ) -> String? {
    for warning in FindingGrouping.groupedFindings(warnings) {
      terminal.report(warning.description.printable)
    }
    // One of two stems is often silent, and strength 0 is silent on purpose.
    if statistics.peakMagnitudeBeforeLimiter == 0, item.audibleBuses == .all,
      batch.job.masterGain > 0
    {
      terminal.report(
        "\(item.name.printable): silent: \(Self.silenceReason(of: batch.job, warnings: warnings))")
    }
    let levelText = LevelText(statistics, rate: Double(batch.job.sampleRateHertz))
    let protectionSummary = ProtectionSummary(statistics)
    let resultText = levelText.fullText + (protectionSummary.map { ", \($0.summaryText)" } ?? "")
    let writesToFile = if case .file = item.destination { true } else { false }
    if batch.items.count <= 2, writesToFile || terminal.errorOutput.isTerminal {
      terminal.report(
        "\(item.name.printable): written, \(NumberFormatting.secondsText(seconds)), \(resultText)")
      return nil
    }
    let isLimited =
      statistics.peakMagnitudeBeforeLimiter > Self.minimumLimitedPeakAmplitude
      || protectionSummary?.gainReductionCause != nil
    return isLimited ? "\(item.name.printable): \(resultText)" : nil
  }

  /// Returns the reason that a rendering is silent, as far as the settings and warnings determine
  /// it.
  private static func silenceReason(of job: RenderJob, warnings: [Finding]) -> String {
    let (routing, profiles) = job.resolvedRouting()
    let playsHaptics = routing.channels.contains { $0.hapticBus != nil }
    let playsAudio = routing.channels.contains { $0.audioSide != .none }
    let playedPart =
      job.durationSeconds.map { " in the first \(NumberFormatting.secondsText($0))" } ?? ""
    switch (playsHaptics, playsAudio) {
    case (false, false):
      return "no channel plays haptics or audio"
    case (false, true):
      return "no channel plays haptics, and the audio is silent\(playedPart)"
    case (true, false):
      return "no channel plays audio, and the haptics are silent\(playedPart)"
    case (true, true):
      let isLimitedToLocations = profiles.allSatisfy { $0.bodyLocation != nil }
      let events = "all events" + (isLimitedToLocations ? " at the selected body locations" : "")
      let hasDamagedSound = warnings.contains { $0.rule == Rule.damagedSound.id }
      let sounds = hasDamagedSound ? "silent or damaged sound files" : "silent sound files"
      return "\(events)\(playedPart) have level 0 or \(sounds)"
    }
  }

  /// The JSON fields of each file for `--json`.
  var jsonFields: [JSONObject] {
    let fileFields = zip(batch.items, outcomes).map { item, result -> JSONObject in
      let names: JSONObject = ["pattern": item.input.name, "file": item.name]
      switch result {
      case .written(let seconds, let statistics, let warnings):
        return names + [
          "seconds": seconds,
          "peakDecibels": NumberFormatting.decibels(
            ofAmplitude: statistics.peakMagnitudeBeforeLimiter),
          "limitedFrames": Int(statistics.limitedFrameCount),
        ] + ProtectionSummary(statistics)?.jsonFields + [
          "warnings": warnings.isEmpty ? nil : warnings.map(\.fields)
        ]
      case .failed(let error):
        return names + ["error": ErrorReporting.messageText(error)]
      }
    }
    return fileFields + inputProblems.map { ["pattern": $0.path, "error": $0.description] }
  }
}

/// The level of a rendering as text, with the peak before the limiter and the effect of the
/// limiter.
struct LevelText {
  /// The peak as text, such as `peak -3.2 dBFS`, or `peak 0.7 dBFS before the limiter` if the peak
  /// exceeds the limiter's ceiling.
  let peakText: String
  /// The effect of the limiter as text, such as `limited to -1 dBFS for 0.57 s`, or nil if the
  /// limiter was not active.
  let limitingText: String?

  init(_ statistics: RenderStatistics, rate: Double) {
    let limitedFrameCount = statistics.limitedFrameCount
    peakText =
      NumberFormatting.peakText(ofAmplitude: statistics.peakMagnitudeBeforeLimiter)
      + (limitedFrameCount > 0 ? " before the limiter" : "")
    guard limitedFrameCount > 0 else {
      limitingText = nil
      return
    }
    let ceilingDecibelsText = NumberFormatting.decibels(
      ofAmplitude: Float(Renderer.outputCeilingMagnitude)
    ).text(
      places: 0)
    let limitedSeconds = Double(limitedFrameCount) / rate
    limitingText =
      "limited to \(ceilingDecibelsText) dBFS for \(NumberFormatting.secondsText(limitedSeconds))"
  }

  var fullText: String { ([peakText] + [limitingText].compactMap(\.self)).joined(separator: ", ") }
}

/// A summary of the transducer protection's effect on a rendering.
struct ProtectionSummary: Equatable, Sendable {
  enum Cause: String, Sendable { case excursion, power }

  var excursionLimitedFrameCount: Int64
  var powerLimitedFrameCount: Int64
  var minimumProtectionGain: Float
  /// The maximum temperature rise, as a fraction of the thermal limit.
  var temperatureRiseFraction: Double
  /// The peak excursion, as a fraction of the excursion limit, or 0 if the excursion is not
  /// modeled.
  var peakExcursionFraction = 0.0

  var gainReductionCause: Cause? {
    if excursionLimitedFrameCount == 0 && powerLimitedFrameCount == 0 {
      return nil
    }
    return powerLimitedFrameCount > excursionLimitedFrameCount ? .power : .excursion
  }

  /// A summary as text, such as `excursion 41 %, heat 63 %`, with `gain -1.8 dB (power)` if the
  /// drive was reduced.
  var summaryText: String {
    func percentText(_ fraction: Double) -> String { "\(Int((fraction * 100).rounded())) %" }
    let excursionText =
      peakExcursionFraction > 0 ? "excursion \(percentText(peakExcursionFraction)), " : ""
    let heatText = excursionText + "heat \(percentText(temperatureRiseFraction))"
    guard let gainReductionCause else { return heatText }
    let gainDecibelsText = NumberFormatting.decibels(ofAmplitude: minimumProtectionGain).text(
      places: 1)
    return "\(heatText), gain \(gainDecibelsText) dB (\(gainReductionCause.rawValue))"
  }

  var jsonFields: JSONObject {
    [
      "excursionLimitedFrames": excursionLimitedFrameCount,
      "powerLimitedFrames": powerLimitedFrameCount,
      "gainReductionDecibels": NumberFormatting.decibels(ofAmplitude: minimumProtectionGain),
      "temperatureRise": temperatureRiseFraction,
      "peakExcursion": peakExcursionFraction,
    ]
  }
}

extension ProtectionSummary {
  /// Creates a summary of rendering statistics, or nil if no transducer was modeled.
  init?(_ statistics: RenderStatistics) {
    guard statistics.peakTemperatureRiseFraction > 0 || statistics.peakExcursionFraction > 0 else {
      return nil
    }
    excursionLimitedFrameCount = statistics.excursionLimitedFrameCount
    powerLimitedFrameCount = statistics.powerLimitedFrameCount
    minimumProtectionGain = statistics.minimumProtectionGain
    temperatureRiseFraction = Double(statistics.peakTemperatureRiseFraction)
    peakExcursionFraction = Double(statistics.peakExcursionFraction)
  }
}
