import CommandLineKit
import HapticFormats
import PatternComparison
import PatternWorkflows
import SignalPlots
import SystemSupport
import VendorFormats

/// The command `plot`, which draws patterns and sounds.
enum PlotCommand {
  private static let plotFormatOption = Option(
    "--format", value: "FORMAT", help: "Plot format if the file extension does not select one.",
    defaultValueText: PlotFormat.png.rawValue
  ).choice(of: PlotFormat.self)
  private static let plotWidthOption = Option(
    "--width", value: "N", help: "Width in pixels, 200 to 10000, or in columns for text.",
    defaultValueText: "\(standardPixelWidth), or the width of the terminal")
  private static let themeOption = Option(
    "--theme", value: "THEME", help: "Background of the plot.",
    defaultValueText: "light; an SVG file follows the page"
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

        Each body location of a pattern has its own panels. If the channels of a sound file \
        differ, each channel has its own panels.

        With --input-channels, Temblor treats the selected channels of a sound file as a pattern, \
        and draws the pattern with the profile given by --profile.

        With --overlay, all inputs share one plot with common axes and scales. Content that all \
        inputs have in common is gray. Content of a single input has the color of the input.

        Without --theme, an SVG file follows the color scheme of the page that displays the file.

        \(SharedOptions.settingsUnusedText)
        """,
      arguments: [fileArgument(formats)],
      options: [
        outputOption, plotFormatOption, plotWidthOption, themeOption, panelsOption, overlayOption,
        SharedOptions.inputChannelsOption,
        SharedOptions.startTimeOption,
        SharedOptions.endTimeOption, SharedOptions.profileOption, SharedOptions.curveTimesOption,
        SharedOptions.frequencyHandlingOption,
        LiveOptions.quietOption,
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

  private static let outputOption = OutputPaths.outputOption(for: "plots")
  private static let panelsOption = Option(
    "--panels", value: "LIST",
    help: """
      One or more panels to draw, separated by commas: \
      \(PlotPart.allCases.map(\.rawValue).joinedWithOr).
      """, defaultValueText: "all", completion: .candidates(PlotPart.allCases.map(\.rawValue))
  ).text()
  private static let overlayOption = Option(
    "--overlay",
    help: "Draw 2 to \(Plot.maximumSubjectCount) inputs in one plot for comparison."
  ).flag()

  struct Options {
    let inputArguments: [String]
    let soundLookup: PatternInput.SoundLookup
    /// The channels of sound files that are played as patterns, from 0, or nil to draw sound files.
    let inputChannels: [Int]?
    let renderJob: RenderJob
    /// A Boolean value that indicates whether the command line names a profile.
    let isProfileExplicit: Bool
    let plotStyle: PlotStyle
    let outputPath: String?
    let plotFormat: PlotFormat?
    let overlaysInputs: Bool
    let isQuiet: Bool

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry, on terminal: Terminal) throws {
      renderJob = try SharedOptions.makeRenderJob(arguments)
      plotStyle = try PlotStyle(arguments, on: terminal)
      isProfileExplicit = try arguments[SharedOptions.profileOption.text()] != nil
      inputArguments = arguments[fileArgument(formats)]
      soundLookup = try SharedOptions.parseSoundLookup(arguments)
      inputChannels = try SharedOptions.parseInputChannels(arguments)
      outputPath = try arguments[outputOption]
      plotFormat = try arguments[PlotCommand.plotFormatOption]
      overlaysInputs = try arguments[overlayOption]
      isQuiet = try arguments[LiveOptions.quietOption.flag()]
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    let (inputs, problems) = TakeInput.resolve(
      options.inputArguments, formats: formats, soundLookup: options.soundLookup)
    let takes = inputs.map { $0.asPattern(ofChannels: options.inputChannels) }
    let plotGroups = try inputGroups(of: takes, problemCount: problems.count, options)
    let plotOutputs = try options.outputPath.map { path in
      try PlotOutputs(
        path, format: options.plotFormat, groups: plotGroups,
        missingCount: options.overlaysInputs ? 0 : problems.count)
    }
    if plotOutputs?.plotItems.first?.path == OutputPaths.standardOutput {
      try SharedOptions.refuseTerminalOutput(terminal)
    }
    var batchWork = BatchWork(on: terminal, problems: problems)
    var writtenFileReport = WrittenFileReport()
    var progressLine = ProgressLine(on: terminal)
    for (index, group) in plotGroups.enumerated() {
      do {
        if SignalHandling.isInterruptRequested {
          throw FileError(group[0].name, "interrupted; nothing was written")
        }
        if plotOutputs != nil, !options.isQuiet {
          progressLine.show("\(index) of \(plotGroups.count) pictures")
        }
        let plot = try makePlot(group, options)
        if let item = plotOutputs?.plotItems[index] {
          let byteCount = try write(plot, item, style: options.plotStyle, on: terminal)
          writtenFileReport.add([(item.path, byteCount)])
        } else {
          if index > 0 {
            try terminal.output.writeLine()
          }
          try terminal.output.writeTextPlot(plot, columnCount: options.plotStyle.columnCount)
        }
      } catch let error as StreamError {
        throw error
      } catch {
        progressLine.clear()
        batchWork.recordFailure(
          errorMessage(error, about: group), ErrorReporting.exitStatus(of: error))
      }
    }
    progressLine.clear()
    let writesToFile =
      plotOutputs?.plotItems.first.map { $0.path != OutputPaths.standardOutput } ?? false
    if writesToFile, !options.isQuiet {
      writtenFileReport.print(of: plotGroups.count + problems.count, "picture", on: terminal)
    }
    return batchWork.overallStatus
  }

  /// Returns the inputs of each plot. A plot shows a single input, or all inputs with `--overlay`.
  private static func inputGroups(of inputs: [TakeInput], problemCount: Int, _ options: Options)
    throws(UsageError) -> [[TakeInput]]
  {
    guard options.overlaysInputs else { return inputs.map { [$0] } }
    let inputCount = inputs.count + problemCount
    guard (2...Plot.maximumSubjectCount).contains(inputCount) else {
      throw UsageError(
        "'--overlay' requires two to \(Plot.maximumSubjectCount) inputs, not \(inputCount)")
    }
    return problemCount == 0 ? [inputs] : []
  }

  /// The default width of a plot in pixels, which fits a page of text.
  static let standardPixelWidth = 860

  private static func makePlot(_ inputs: [TakeInput], _ options: Options) throws -> Plot {
    let plotStyle = options.plotStyle
    // If one of the inputs is a sound, patterns are drawn with their signals, too.
    let areAllPatterns = inputs.allSatisfy { input in
      if case .pattern = input {
        true
      } else {
        false
      }
    }
    let plotSubjects = try inputs.map { input in
      try input.plotSubject(
        options.renderJob, needsSignal: plotStyle.panels != [.score] || !areAllPatterns,
        hasProfile: options.isProfileExplicit)
    }
    let plot = try Plot(
      of: plotSubjects, parts: plotStyle.panels, timeRangeSeconds: plotStyle.timeRangeSeconds)
    if let timeRange = plotStyle.timeRangeSeconds, timeRange.lowerBound >= plot.durationSeconds {
      throw FileError(
        plot.title, "'--start' is after the end (\(plot.durationSeconds.text(places: 3)) s)")
    }
    return plot
  }

  /// Writes a picture, and returns its size in bytes.
  private static func write(
    _ plot: Plot, _ item: PlotOutputs.PlotItem, style: PlotStyle, on terminal: Terminal
  ) throws -> Int {
    let pictureBytes = try plot.draw(as: item.format, width: style.pixelWidth, theme: style.theme)
    if item.path == OutputPaths.standardOutput {
      try terminal.output.write(pictureBytes.span)
    } else {
      try FileSystem.makeFolder(FileSystem.folderPath(of: item.path))
      try AtomicFileWriter.write(pictureBytes, to: item.path)
    }
    return pictureBytes.count
  }

  private static func errorMessage(_ error: any Error, about inputs: [TakeInput]) -> String {
    if let plotError = error as? PlotError, plotError.kind == .invalidPattern {
      return "\(inputs[0].name.printable): \(plotError.description.printable)"
    }
    return ErrorReporting.messageText(error)
  }

  /// The style of plots, with their panels, time range, size, and colors.
  struct PlotStyle {
    let panels: Set<PlotPart>
    /// The theme, or nil for the color scheme of the page that shows an SVG.
    let theme: PlotTheme?
    let timeRangeSeconds: ClosedRange<Double>?
    /// The width of a plot as an image, in pixels.
    let pixelWidth: Int
    /// The width of a text plot, in columns.
    let columnCount: Int

    init(_ arguments: ParsedArguments, on terminal: Terminal) throws(UsageError) {
      theme = try arguments[PlotCommand.themeOption]
      timeRangeSeconds = try SharedOptions.parseTimeRange(arguments)
      let isPicture = try arguments[outputOption] != nil
      let widths = isPicture ? Plot.supportedPixelWidths : 20...1_000
      let width = try arguments[PlotCommand.plotWidthOption.int(in: widths)]
      self.pixelWidth = width ?? PlotCommand.standardPixelWidth
      columnCount = width ?? terminal.output.columnCount
      if !isPicture, try arguments[PlotCommand.plotFormatOption] != nil {
        throw UsageError("'--format' requires '--output'")
      }
      panels = try Self.parsePanels(arguments[panelsOption])
    }

    private static func parsePanels(_ list: String?) throws(UsageError) -> Set<PlotPart> {
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
  func writeTextPlot(_ plot: Plot, columnCount: Int) throws {
    try write(
      plot.terminalText(width: columnCount, usesColors: allowsColor, usesUnicode: allowsUnicode),
      wraps: false)
  }
}

extension TakeInput {
  func plotSubject(_ job: RenderJob, needsSignal: Bool, hasProfile: Bool) throws -> PlotSubject {
    switch self {
    case .sound:
      let take = try loadTake(job)
      return PlotSubject(
        name: take.name, signal: take.signal, profile: hasProfile ? take.profile : nil)
    case .pattern(let input):
      let pattern = try LoadedPattern(input, options: job.readingOptions)
      var subject = PlotSubject(
        name: input.name, composition: pattern.composition, profile: job.profile)
      subject.soundFilesByPath = try pattern.soundSamples(rate: Double(job.sampleRateHertz))
      if needsSignal || !pattern.composition.containsOnlyEvents {
        subject.signal = try Self.render(pattern, job: job).signal
      }
      return subject
    }
  }
}
