import CommandLineKit
import HapticFormats
import HapticModel
import HapticRender
import PatternComparison
import PatternWorkflows
import ReviewPages
import SignalAnalysis
import SoundFile
import Synchronization
import SystemSupport
import TransducerProfiles
import VendorFormats

/// The command `gallery`, which writes an HTML page with many patterns.
enum GalleryCommand {
  /// The sample rate of sounds in a gallery, in hertz. Haptic signals contain no frequencies above
  /// 1 kHz; patterns that play sound files use `fullBandRateHertz`.
  static let soundRateHertz = 8_000
  private static let defaultOutputPath = "gallery.html"

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "gallery", abstract: "Write an HTML page with many patterns.",
      discussion: """
        The page is self-contained and works offline. All patterns are drawn on the same time \
        scale. For each pattern, the page has a player, a view of the values and the source, \
        downloads, and a comparison with any other pattern. You can search the page and use \
        keyboard shortcuts. The page contains the sound of each pattern twice: rendered with the \
        chosen profile, and rendered with the profile 'speaker' for small speakers, which cannot \
        reproduce the haptic band.

        Temblor reports and skips patterns that it cannot read. The same patterns and options \
        always produce the same page.

        \(SharedOptions.settingsUnusedText)
        """, arguments: [SharedOptions.patternArgument(formats)],
      options: [
        PageOutput.outputOption(default: defaultOutputPath), titleOption,
        SharedOptions.profileOption,
        PageOutput.openOption, PageOutput.studioOption, SharedOptions.curveTimesOption,
        SharedOptions.frequencyHandlingOption, LiveOptions.quietOption,
      ] + SharedOptions.soundOptions,
      examples: [
        .init(
          "temblor gallery Patterns -o index.html", "Write a page with the patterns of a folder."),
        .init(
          "temblor gallery mine --title 'Autumn set' --profile buttkicker-lfe",
          "Write gallery.html for a shaker."),
      ]
    ) { arguments, terminal in try run(Options(arguments, formats), formats, terminal) }
  }

  private static let titleOption = Option(
    "--title", value: "TITLE", help: "Title of the page.", defaultValueText: "Haptic patterns"
  ).text().map { $0 ?? "Haptic patterns" }

  struct Options {
    let patternArguments: [String]
    let soundLookup: PatternInput.SoundLookup
    let renderJob: RenderJob
    let pageOptions: PageOptions
    let title: String
    let studioAddress: String?

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws {
      var job = try SharedOptions.makeRenderJob(arguments)
      job.sampleRateHertz = soundRateHertz
      self.renderJob = job
      pageOptions = try PageOptions(arguments, default: defaultOutputPath)
      patternArguments = arguments[SharedOptions.patternArgument(formats)]
      soundLookup = try SharedOptions.parseSoundLookup(arguments)
      title = try arguments[GalleryCommand.titleOption]
      studioAddress = try arguments[PageOutput.studioOption]
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    try options.pageOptions.checkStandardOutput(terminal)
    let (inputs, problems) = PatternInput.find(
      options.patternArguments, formats: formats, soundLookup: options.soundLookup)
    try OutputPaths.checkOverwritesNoInput(
      options.pageOptions.pagePath, of: inputs.map(TakeInput.pattern))
    let takeResults = ReviewTake.renderAll(
      inputs, job: options.renderJob, on: terminal, isQuiet: options.pageOptions.isQuiet)
    var batchWork = BatchWork(on: terminal, problems: problems)
    var takes: [ReviewTake] = []
    for result in takeResults {
      try batchWork.attemptWork { _ in takes.append(try result.get()) }
    }
    guard !takes.isEmpty else { return batchWork.overallStatus }
    var progressLine = ProgressLine(on: terminal)
    if !options.pageOptions.isQuiet {
      progressLine.show("writing \(options.pageOptions.pagePath.printable)")
    }
    defer { progressLine.clear() }
    let galleryPage = try makePage(takes, title: options.title, studio: options.studioAddress)
    progressLine.clear()
    try PageOutput.writePage(
      galleryPage, options.pageOptions, state: takes.count.countText("pattern"), &batchWork,
      terminal)
    return batchWork.overallStatus
  }

  /// Returns the HTML text of a gallery page.
  static func makePage(_ takes: [ReviewTake], title: String, studio: String? = nil) throws
    -> [UInt8]
  {
    let gallery = PatternGallery(
      title: title, generator: "Temblor \(temblorVersion)", studioAddress: studio)
    return try gallery.html(takes.map(\.take), sounds: takes.map(\.pageSounds))
  }
}

/// A take with the sounds that an HTML page plays: the transducer signal and a version for small
/// speakers.
struct ReviewTake: Sendable {
  static let speakerProfileName = "speaker"
  /// The sample rate of patterns that play sound files, in hertz.
  private static let fullBandRateHertz = 48_000

  var take: Take
  var pageSounds: PageSounds

  init(_ input: PatternInput, job: RenderJob) throws {
    var job = job
    let pattern = try LoadedPattern(input, options: job.readingOptions)
    // Sound files of a pattern can exceed the band of haptics.
    if pattern.composition.layers.flatMap(\.pattern.events).contains(where: { !$0.kind.isHaptic }) {
      job.sampleRateHertz = Self.fullBandRateHertz
    }
    take = try TakeInput.render(pattern, job: job)
    take.name = input.outputStem
    // The duration does not depend on the sample rate of the sounds.
    let renderPlans = try pattern.compilePlans(
      for: [job.profile], rate: Double(Self.fullBandRateHertz))
    take.durationSeconds = renderPlans[0].durationSeconds
    pageSounds = PageSounds(
      actuatorSignal: take.signal,
      speakerSignal: try Self.renderSpeakerSignal(.pattern(input), job: job))
  }

  /// Reads and renders patterns on all cores, and returns one result for each pattern.
  /// Each result is independent of the others.
  static func renderAll(
    _ inputs: [PatternInput], job: RenderJob, on terminal: Terminal, isQuiet: Bool
  )
    -> [Result<
      ReviewTake, any Error
    >]
  {
    let takeResults = Mutex([Result<ReviewTake, any Error>?](repeating: nil, count: inputs.count))
    var progressLine = ProgressLine(on: terminal)
    WorkerPool.run(jobCount: inputs.count) { index in
      let result = Result {
        if job.isCancelled() {
          throw FileError(inputs[index].name, "interrupted")
        }
        return try ReviewTake(inputs[index], job: job)
      }
      takeResults.withLock { $0[index] = result }
    } meanwhile: { done in
      if !isQuiet {
        progressLine.show("\(done) of \(inputs.count) patterns")
      }
    }
    progressLine.clear()
    return takeResults.withLock { $0 }.compactMap(\.self)
  }

  /// Renders a pattern for small speakers. Returns nil for a sound file, or if the profile of the
  /// job is already the profile for speakers.
  static func renderSpeakerSignal(_ input: TakeInput, job: RenderJob) throws -> Signal? {
    guard case .pattern = input, job.profile.name != speakerProfileName,
      let profile = ProfileCatalog.profile(named: speakerProfileName)
    else { return nil }
    var job = job
    job.profile = profile
    return try input.loadTake(job).signal
  }
}

/// Writes the HTML page of the command `compare`.
enum ReportOutput {
  /// Writes the page and returns its size in bytes.
  /// The levels are matched by loudness if `levelMatch` is nil or none.
  static func writeReport(
    to path: String, inputs: [TakeInput], takes: [Take], comparisons: [Comparison],
    levelMatch: LevelMatch?,
    tolerance: Tolerance? = nil, studio: String? = nil, job: RenderJob, command: String
  ) throws -> Int {
    try OutputPaths.requireFile(path)
    let pageSounds = try makePageSounds(inputs, takes: takes, job: job)
    let report = ComparisonReport(
      generator: "Temblor \(temblorVersion)", command: command,
      levelMatch: levelMatch == LevelMatch.none ? .loudness : levelMatch ?? .loudness,
      tolerance: tolerance,
      takeOrigins: inputs.map(takeOrigin), studioAddress: studio)
    let reportHTML = try report.html(
      takes: takesWithShortNames(takes, inputs: inputs), comparisons: comparisons,
      sounds: pageSounds)
    try AtomicFileWriter.write(reportHTML, to: path)
    return reportHTML.count
  }

  /// Returns the name, the content, and, for a file, the modification time of a take's source, or
  /// nil if the source cannot be read.
  private static func takeOrigin(of input: TakeInput) -> TakeOrigin? {
    if let path = input.path {
      guard FileSystem.entryKind(at: path) == .file, let bytes = try? FileSystem.read(path) else {
        return nil
      }
      return TakeOrigin(
        path: path, modificationTime: FileSystem.modificationTimeText(of: path), bytes: bytes)
    }
    guard case .pattern(let pattern) = input, let patternFile = try? pattern.readFile() else {
      return nil
    }
    let originSuffix = pattern.origin == .standardInput ? "" : ", a shipped pattern"
    return TakeOrigin(path: input.name + originSuffix, bytes: patternFile.bytes)
  }

  /// Returns the sounds of each take at the lowest sufficient sample rate.
  /// Patterns are rendered at this rate, and recordings are resampled.
  private static func makePageSounds(_ inputs: [TakeInput], takes: [Take], job: RenderJob) throws
    -> [PageSounds]
  {
    var pageSounds: [PageSounds] = []
    for (input, take) in zip(inputs, takes) {
      var job = job
      // Haptic events end below 1 kHz.
      let events = take.composition?.layers.flatMap(\.pattern.events)
      job.sampleRateHertz =
        events?.allSatisfy(\.kind.isHaptic) == true
        ? GalleryCommand.soundRateHertz : Int(PageSounds.minimumSampleRateHertz(for: take.signal))
      pageSounds.append(
        PageSounds(
          actuatorSignal: try makeSignal(of: input, take: take, job: job),
          speakerSignal: try ReviewTake.renderSpeakerSignal(input, job: job)
        ))
    }
    // A mixture of takes with and without a version for speakers would not be comparable.
    guard pageSounds.allSatisfy({ $0.speakerSignal != nil }) else {
      return pageSounds.map { PageSounds(actuatorSignal: $0.actuatorSignal) }
    }
    return pageSounds
  }

  private static func makeSignal(of input: TakeInput, take: Take, job: RenderJob) throws -> Signal {
    let rateHertz = Double(job.sampleRateHertz)
    guard rateHertz != take.signal.rate else { return take.signal }
    if case .pattern = input {
      return try input.loadTake(job).signal
    }
    let takeSound = Sound(
      interleaved: take.signal.interleaved, channelCount: max(1, take.signal.channels.count),
      rate: take.signal.rate)
    let resampledSound = try takeSound.resampled(to: rateHertz, path: take.name)
    return Signal(
      interleaved: resampledSound.interleaved, channelCount: resampledSound.channelCount,
      rate: resampledSound.rate
    )
  }

  /// Returns the takes with short names if the short names are distinct.
  /// Short names have no folders and no pattern extensions.
  private static func takesWithShortNames(_ takes: [Take], inputs: [TakeInput]) -> [Take] {
    let shortNames = zip(takes, inputs).map { take, input in
      take.composition == nil ? FileSystem.fileName(of: take.name) : input.outputStem
    }
    guard Set(shortNames).count == shortNames.count else { return takes }
    return zip(takes, shortNames).map { take, name in
      var take = take
      take.name = name
      return take
    }
  }
}
