import CommandLineKit
import HapticFormats
import PatternComparison
import PatternWorkflows
import SignalPlots
import SystemSupport
import VendorFormats

/// The command `plot`, which draws patterns and sounds.
enum PlotCommand {
  private static let format = Option(
    "--format", value: "FORMAT", help: "Plot format if the file extension does not select one.",
    defaultText: PlotFormat.png.rawValue
  ).choice(of: PlotFormat.self)
  private static let width = Option(
    "--width", value: "N", help: "Width in pixels, 200 to 10000, or in columns for text.",
    defaultText: "\(standardWidth), or the width of the terminal")
  private static let theme = Option(
    "--theme", value: "THEME", help: "Background of the plot.",
    defaultText: "light; an SVG file follows the page"
  ).choice(of: PlotTheme.self)

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "plot", abstract: "Draw patterns and sounds.",
      discussion: """
        Without --output, the plot is drawn as text for a terminal or a log. With --output, the \
        plot is written to a file, and the file extension selects png, svg, or pdf. If there are \
        several plots, --output specifies a folder. Temblor does not write through symbolic links \
        in this folder. Files are replaced atomically.

        The score of a pattern shows the events as designed, with curves applied. Height \
        represents intensity, and color represents sharpness. The plot of a sound file shows level \
        and frequency instead. To also show the band of the profile with which the sound was \
        rendered, specify this profile with --profile.

        Each body location of a pattern, and each channel of a sound file that differs, has its \
        own panels.

        With --input-channels, Temblor treats these channels of a sound file as a pattern, and \
        draws the pattern with the profile given by --profile.

        With --overlay, all inputs share one plot with common axes and scales. Content that all \
        inputs have in common is gray. Content of a single input has the color of the input.

        Without --theme, an SVG file follows the color scheme of the page that displays the file.

        \(SharedOptions.settingsUnusedText)
        """,
      arguments: [fileArgument(formats)],
      options: [
        output, format, width, theme, show, overlay, SharedOptions.inputChannels,
        SharedOptions.startTime,
        SharedOptions.endTime, SharedOptions.profile, SharedOptions.curveTimes, SharedOptions.pitch,
        LiveOptions.quiet,
      ] + SharedOptions.soundOptions,
      examples: [
        .init("temblor plot heartbeat", "Draw a pattern in the terminal."),
        .init("temblor plot mine.ahap -o mine.svg", "Write a file for light and dark pages."),
        .init("temblor plot long.ahap --start 61.2 --end 62.5", "Draw a section."),
        .init("temblor plot old.ahap new.ahap --overlay -o both.png", "Show what has changed."),
      ]
    ) { arguments, terminal in
      try run(Options(arguments, formats, on: terminal), formats, terminal)
    }
  }

  private static func fileArgument(_ formats: FormatRegistry) -> TypedArgument<[String]> {
    Argument(
      "FILE",
      help: """
        Pattern file, sound file, folder of patterns, name of a shipped pattern, or - for standard \
        input.
        """, completion: .patternsAndSounds(formats), isRepeatable: true
    ).texts()
  }

  private static let output = OutputPaths.outputOption(for: "pictures")
  private static let show = Option(
    "--panels", value: "LIST",
    help: """
      One or more panels to draw, separated by commas: \
      \(PlotPart.allCases.map(\.rawValue).joinedWithOr).
      """, defaultText: "all", completion: .candidates(PlotPart.allCases.map(\.rawValue))
  ).text()
  private static let overlay = Option(
    "--overlay",
    help: "Draw two to \(Plot.maximumSubjectCount) inputs in one plot for comparison."
  ).flag()

  struct Options {
    let files: [String]
    let soundLookup: PatternInput.SoundLookup
    /// The channels of sound files that are played as patterns, from 0, or nil to draw sound files.
    let inputChannels: [Int]?
    let job: RenderJob
    /// A Boolean value that indicates whether the command line names a profile.
    let hasProfile: Bool
    let style: Style
    let outputPath: String?
    let format: PlotFormat?
    let isOverlay: Bool
    let isQuiet: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry, on terminal: Terminal) throws {
      job = try SharedOptions.renderJob(arguments)
      style = try Style(arguments, on: terminal)
      hasProfile = try arguments[SharedOptions.profile.text()] != nil
      files = arguments[fileArgument(formats)]
      soundLookup = try SharedOptions.soundLookup(arguments)
      inputChannels = try SharedOptions.inputChannels(arguments)
      outputPath = try arguments[output]
      format = try arguments[PlotCommand.format]
      isOverlay = try arguments[overlay]
      isQuiet = try arguments[LiveOptions.quiet.flag()]
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    let (inputs, problems) = TakeInput.find(
      options.files, formats: formats, soundLookup: options.soundLookup)
    let takes = inputs.map { $0.playingChannels(options.inputChannels) }
    let groups = try inputGroups(of: takes, problemCount: problems.count, options)
    let outputs = try options.outputPath.map { path in
      try PlotOutputs(
        path, format: options.format, groups: groups,
        missingCount: options.isOverlay ? 0 : problems.count)
    }
    if outputs?.items.first?.path == OutputPaths.standardOutput {
      try SharedOptions.refuseTerminalOutput(terminal)
    }
    var work = BatchWork(on: terminal, problems: problems)
    var report = WrittenFileReport()
    var line = ProgressLine(on: terminal)
    for (index, group) in groups.enumerated() {
      do {
        if SignalHandling.isInterruptRequested {
          throw FileError(group[0].name, "interrupted; nothing was written")
        }
        if outputs != nil, !options.isQuiet {
          line.show("\(index) of \(groups.count) pictures")
        }
        let plot = try plot(group, options)
        if let item = outputs?.items[index] {
          let byteCount = try write(plot, item, style: options.style, on: terminal)
          report.add([(item.path, byteCount)])
        } else {
          if index > 0 {
            try terminal.output.writeLine()
          }
          try terminal.output.write(plot, width: options.style.columnCount)
        }
      } catch let error as StreamError {
        throw error
      } catch {
        line.clear()
        work.recordFailure(message(error, about: group), Failure.status(of: error))
      }
    }
    line.clear()
    let isFile = outputs?.items.first.map { $0.path != OutputPaths.standardOutput } ?? false
    if isFile, !options.isQuiet {
      report.print(of: groups.count + problems.count, "picture", on: terminal)
    }
    return work.status
  }

  /// Returns the inputs of each plot, which are a single input, or all inputs with `--overlay`.
  private static func inputGroups(of inputs: [TakeInput], problemCount: Int, _ options: Options)
    throws(UsageError) -> [[TakeInput]]
  {
    guard options.isOverlay else { return inputs.map { [$0] } }
    let count = inputs.count + problemCount
    guard (2...Plot.maximumSubjectCount).contains(count) else {
      throw UsageError(
        "'--overlay' requires two to \(Plot.maximumSubjectCount) inputs, not \(count)")
    }
    return problemCount == 0 ? [inputs] : []
  }

  /// The default width of a plot in pixels, which fits a page of text.
  static let standardWidth = 860

  private static func plot(_ inputs: [TakeInput], _ options: Options) throws -> Plot {
    let style = options.style
    // If one of the inputs is a sound, patterns are drawn with their signals, too.
    let isOfPatterns = inputs.allSatisfy { input in
      if case .pattern = input {
        true
      } else {
        false
      }
    }
    let subjects = try inputs.map { input in
      try input.plotSubject(
        options.job, needsSignal: style.parts != [.score] || !isOfPatterns,
        hasProfile: options.hasProfile)
    }
    let plot = try Plot(of: subjects, parts: style.parts, timeRangeSeconds: style.timeRange)
    if let timeRange = style.timeRange, timeRange.lowerBound >= plot.durationSeconds {
      throw FileError(
        plot.title, "'--start' is after the end (\(plot.durationSeconds.text(places: 3)) s)")
    }
    return plot
  }

  /// Writes a picture, and returns its size in bytes.
  private static func write(
    _ plot: Plot, _ item: PlotOutputs.Item, style: Style, on terminal: Terminal
  ) throws -> Int {
    let bytes = try plot.draw(as: item.format, width: style.width, theme: style.theme)
    if item.path == OutputPaths.standardOutput {
      try terminal.output.write(bytes.span)
    } else {
      try FileSystem.makeFolder(FileSystem.folder(of: item.path))
      try AtomicFileWriter.write(bytes, to: item.path)
    }
    return bytes.count
  }

  private static func message(_ error: any Error, about inputs: [TakeInput]) -> String {
    if let error = error as? PlotError, error.kind == .invalidPattern {
      return "\(inputs[0].name.printable): \(error.description.printable)"
    }
    return Failure.message(error)
  }

  /// The style of plots, with their panels, time range, size, and colors.
  struct Style {
    let parts: Set<PlotPart>
    /// The theme, or nil for the color scheme of the page that shows an SVG.
    let theme: PlotTheme?
    let timeRange: ClosedRange<Double>?
    /// The width of a plot as an image, in pixels.
    let width: Int
    /// The width of a text plot, in columns.
    let columnCount: Int

    init(_ arguments: ParsedArguments, on terminal: Terminal) throws(UsageError) {
      theme = try arguments[PlotCommand.theme]
      timeRange = try SharedOptions.timeRange(arguments)
      let isPicture = try arguments[output] != nil
      let widths = isPicture ? Plot.supportedPixelWidths : 20...1_000
      let width = try arguments[PlotCommand.width.int(in: widths)]
      self.width = width ?? PlotCommand.standardWidth
      columnCount = width ?? terminal.output.width
      if !isPicture, try arguments[PlotCommand.format] != nil {
        throw UsageError("'--format' requires '--output'")
      }
      parts = try Self.parts(arguments[show])
    }

    private static func parts(_ list: String?) throws(UsageError) -> Set<PlotPart> {
      guard let list else { return Set(PlotPart.allCases) }
      var parts: Set<PlotPart> = []
      for name in list.split(separator: ",", omittingEmptySubsequences: false) {
        guard let part = PlotPart(rawValue: String(name)) else {
          throw .invalidChoice(
            of: "--panels", value: String(name), choices: PlotPart.allCases.map(\.rawValue))
        }
        parts.insert(part)
      }
      return parts
    }
  }
}

extension Output {
  /// Writes a plot as text with a width in columns.
  func write(_ plot: Plot, width: Int) throws {
    try write(
      plot.terminalText(width: width, usesColors: isColored, usesUnicode: isUnicode), wraps: false)
  }
}

extension TakeInput {
  func plotSubject(_ job: RenderJob, needsSignal: Bool, hasProfile: Bool) throws -> PlotSubject {
    switch self {
    case .sound:
      let take = try load(job)
      return PlotSubject(
        name: take.name, signal: take.signal, profile: hasProfile ? take.profile : nil)
    case .pattern(let input):
      let pattern = try LoadedPattern(input, options: job.readingOptions)
      var subject = PlotSubject(
        name: input.name, composition: pattern.composition, profile: job.profile)
      subject.soundFilesByPath = try pattern.soundSamples(rate: Double(job.rate))
      if needsSignal || !pattern.composition.containsOnlyEvents {
        subject.signal = try Self.render(pattern, job: job).signal
      }
      return subject
    }
  }
}
