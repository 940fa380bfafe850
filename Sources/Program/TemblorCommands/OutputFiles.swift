import CommandLineKit
import Glibc
import HapticFormats
import HapticRender
import PatternWorkflows
import SignalPlots
import SoundFile
import SystemSupport
import VendorFormats

/// The sound files that the command `render` writes.
struct RenderOutputs: Sendable {
  static let containerOption = Option(
    "--format", value: "FORMAT", help: "File format if the file extension does not select one.",
    defaultValueText: "wav"
  ).choice(of: SoundFileFormat.Container.self)
  static let stemsOption = Option(
    "--stems",
    help: "Write haptics and audio to separate files, such as NAME.haptic.wav and NAME.audio.wav."
  ).flag()

  /// The command-line options that determine the output files.
  struct Options {
    let path: String?
    let container: SoundFileFormat.Container?
    let writesStems: Bool
    let printsJSON: Bool

    init(_ arguments: ParsedArguments) throws(UsageError) {
      path = try arguments[OutputPaths.outputOption(for: "patterns")]
      container = try arguments[containerOption]
      writesStems = try arguments[stemsOption]
      printsJSON = try arguments[SharedOptions.jsonOption]
    }
  }

  private(set) var batchItems: [RenderBatch.Item] = []

  init(_ options: Options, inputs: [PatternInput], problemCount: Int) throws {
    let inputCount = inputs.count + problemCount
    guard options.path != OutputPaths.standardOutput else {
      guard inputCount == 1, !options.writesStems, !options.printsJSON else {
        throw UsageError("'--output -' requires a single pattern, without '--stems' or '--json'")
      }
      batchItems = inputs.map {
        RenderBatch.Item(
          input: $0,
          destination: .stream(name: "standard output") { try Output.standardOutput.write($0) },
          container: options.container ?? .wav)
      }
      return
    }
    let namedContainer = options.path.flatMap(SoundFileFormat.container(ofName:))
    let destination = try OutputDestination(
      options.path, count: inputCount, "patterns",
      isFolder: namedContainer == nil && inputs.contains(where: \.isFromFolder))
    for input in inputs {
      let container = try destination.format(
        named: namedContainer, requested: options.container, default: .wav, option: "--format",
        extensions: ".wav, .flac, .aiff, .w64, .rf64, .caf, or .ogg")
      try addItems(of: input, container, options, to: destination)
    }
    try OutputPaths.checkPathsAreUnique(batchItems.map { ($0.input.name, $0.name) })
  }

  /// Adds the output file of a pattern, or the files of its stems.
  private mutating func addItems(
    of input: PatternInput, _ container: SoundFileFormat.Container, _ options: Options,
    to destination: OutputDestination
  ) throws {
    let stemFiles: [(buses: RenderSettings.AudibleBuses, suffix: String)] =
      options.writesStems ? [(.haptics, ".haptic"), (.audio, ".audio")] : [(.all, "")]
    for (buses, suffix) in stemFiles {
      let path =
        options.writesStems && !destination.isFolder
        ? destination.outputPath(insertingBeforeExtension: suffix)
        : destination.outputPath(
          stem: destination.isFolder
            ? input.outputStem + suffix : FileSystem.fileStem(of: destination.path) + suffix,
          fileExtension: container.rawValue)
      if input.isFromFolder {
        try destination.checkLinks(to: path)
      }
      batchItems.append(
        .init(
          input: input, destination: .file(path: path), container: container, audibleBuses: buses))
    }
  }

  /// Checks that every container supports the sound, and that no sound is written to a terminal.
  func checkFormats(of job: RenderJob, on terminal: Terminal) throws(UsageError) {
    for container in Set(batchItems.map(\.container)) {
      let format = SoundFileFormat(container: container, sampleFormat: job.sampleFormat)
      if let reason = format.unsupportedReason(
        rate: job.sampleRateHertz, channelCount: job.channelCount)
      {
        throw UsageError(reason)
      }
    }
    if case .stream? = batchItems.first?.destination {
      try SharedOptions.refuseTerminalOutput(terminal)
    }
  }
}

/// The destination of a command's results: a named file, or a folder with a file for each result.
struct OutputDestination {
  let path: String
  let isFolder: Bool

  /// Creates a destination.
  ///
  /// - Parameters:
  ///   - output: The value of `--output`, or nil for the current folder.
  ///   - count: The number of results.
  ///   - noun: The plural noun for the results, for messages.
  ///   - isFolder: A Boolean value that indicates whether even a single result goes to a folder.
  /// - Throws: `UsageError` if several results go to a name that is evidently the name of a file,
  ///   or if the name is that of standard output.
  init(_ output: String?, count: Int, _ noun: String, isFolder: Bool = false) throws(UsageError) {
    path = output ?? ""
    let entryKind = FileSystem.entryKind(at: path)
    if count == 1, entryKind == .other, OutputPaths.isStandardOutput(path) {
      throw UsageError(
        "\(path.inQuotes) is standard output; use '--output \(OutputPaths.standardOutput)'")
    }
    self.isFolder =
      output != OutputPaths.standardOutput
      && (count > 1 || isFolder || output == nil || path.hasSuffix("/") || entryKind == .folder)
    guard count > 1, self.isFolder, output != nil, !path.hasSuffix("/"), entryKind != .folder else {
      return
    }
    let isFile =
      SoundFileFormat.container(ofName: path) != nil || PlotFormat(ofName: path) != nil
      || FormatRegistry.standard.format(forFileName: path) != nil
      || (OutputPaths.pageExtensions + ["json"]).contains { path.lowercased().hasSuffix("." + $0) }
    guard isFile || entryKind != .missing else { return }
    throw UsageError(
      "\(path.inQuotes) is a file name, but there are \(count) \(noun); specify a folder")
  }

  /// Returns the format of the output files. The format of a single file follows from its name, and
  /// the format of several files from the option or the default.
  ///
  /// - Parameters:
  ///   - named: The format of the name, or nil if the extension is unknown.
  ///   - requested: The value of the option, or nil if it is omitted.
  ///   - defaultKind: The format of files in a folder if the option is omitted.
  ///   - option: The option that selects the format.
  ///   - extensions: The known extensions, for messages.
  func format<Kind: RawRepresentable<String> & Equatable>(
    named: Kind?, requested: Kind?, default defaultKind: Kind, option: String, extensions: String
  ) throws(UsageError) -> Kind {
    if isFolder { return requested ?? defaultKind }
    if let requested, let named, requested != named {
      throw UsageError(
        "the extension of \(path.inQuotes) selects \(named.rawValue), but \(option.inQuotes) is "
          + requested.rawValue)
    }
    guard let selectedKind = requested ?? named else {
      throw UsageError(
        "unknown file extension of \(path.inQuotes); use \(extensions), or \(option.inQuotes)")
    }
    return selectedKind
  }

  /// Returns the path of a file in the folder, or the path of the named file.
  func outputPath(stem: String, fileExtension: String) -> String {
    isFolder ? FileSystem.joinPath(path, stem + "." + fileExtension) : path
  }

  /// Returns the path of the named file with a suffix before its extension, in the same folder.
  func outputPath(insertingBeforeExtension suffix: String) -> String {
    let fileExtension = path.lastIndex(of: ".").map { String(path[$0...]) } ?? ""
    let outputName = FileSystem.fileStem(of: path) + suffix + fileExtension
    return FileSystem.joinPath(FileSystem.folderPath(of: path), outputName)
  }

  /// Throws an error if an output would be written through a link below the folder.
  ///
  /// - Parameter file: The output for an input from a folder, whose name the user has not chosen.
  func checkLinks(to file: String) throws(FileError) {
    guard isFolder else { return }
    let relativeName = path.isEmpty ? file : String(file.dropFirst(path.count))
    try ReceivedPath.checkLinks(to: relativeName, below: path)
  }
}

/// The rules for paths of output files.
enum OutputPaths {
  /// Returns the option `--output`.
  ///
  /// - Parameter noun: The plural noun for results that are written to a folder.
  static func outputOption(for noun: String) -> TypedOption<String?> {
    Option(
      "-o", "--output", value: "PATH",
      help: "Output file, or output folder for several \(noun); - for standard output.",
      completion: .file, writes: []
    ).text()
  }

  /// The option that permits a command to replace its output file, for outputs that cannot be
  /// produced again.
  static let forceOption = Option("--force", help: "Replace an existing file.").flag()

  static let standardOutput = "-"
  static let pageExtensions = ["html", "htm"]

  /// Returns whether a path names the pipe or device to which standard output is connected.
  static func isStandardOutput(_ path: String) -> Bool {
    guard let identity = FileIdentity(path) else { return false }
    return identity == FileIdentity("/dev/stdout")
  }

  /// Throws an error if an output that must be a file is standard output.
  static func requireFile(_ path: String?, option: String = "--output") throws(UsageError) {
    guard path != standardOutput else {
      throw UsageError("\(option.inQuotes) requires a file name")
    }
  }

  /// Throws an error if a file exists at the path of an output and must not be replaced.
  static func checkMayBeWritten(_ path: String, replaces: Bool) throws(FileError) {
    guard !replaces, FileSystem.entryKind(at: path) != .missing else { return }
    throw FileError(path, "already exists; use '--force' to replace it")
  }

  /// Throws an error if an output would overwrite one of the takes.
  static func checkOverwritesNoInput(_ path: String, of takes: [TakeInput]) throws(UsageError) {
    // A file that does not exist cannot be an input, so the patterns need not be read.
    guard FileSystem.entryKind(at: path) != .missing else { return }
    try InputOverwriteCheck(reading: takes.flatMap(\.sourcePaths)).checkOutputPath(
      path, option: "--output")
  }

  /// Throws an error if two inputs would be written to the same file.
  static func checkPathsAreUnique(_ files: [(input: String, path: String)]) throws(UsageError) {
    var inputsByPath: [String: String] = [:]
    for (input, path) in files {
      if let previous = inputsByPath.updateValue(input, forKey: path) {
        throw UsageError(
          "\(previous.inQuotes) and \(input.inQuotes) cannot both be written to \(path.inQuotes)")
      }
    }
  }
}

/// A report of the files that a command has written, printed on standard error.
struct WrittenFileReport {
  /// The maximum number of inputs whose files are listed.
  private static let maximumListedCount = 2

  private var lines: [String] = []
  private var writtenFileCount = 0

  /// Adds the files that were written for an input.
  mutating func add(_ files: [(path: String, byteCount: Int)]) {
    writtenFileCount += 1
    lines += files.map { file in
      let isSmall = file.byteCount < 1_000
      let size = isSmall ? "\(file.byteCount) bytes" : "\(file.byteCount / 1_000) kB"
      return "\(file.path.printable): written, \(size)"
    }
  }

  /// Prints a line for each file or, for many inputs, the number of inputs with written files.
  ///
  /// - Parameters:
  ///   - count: The number of inputs.
  ///   - noun: The singular noun for an input.
  ///   - terminal: The streams.
  func print(of count: Int, _ noun: String, on terminal: Terminal) {
    guard count > Self.maximumListedCount else {
      for line in lines {
        terminal.report(line)
      }
      return
    }
    terminal.report("\(writtenFileCount) of \(count) \(noun)s written")
  }
}

/// The options of a command that writes an HTML page.
struct PageOptions {
  let pagePath: String
  let opensInBrowser: Bool
  let isQuiet: Bool

  init(_ arguments: ParsedArguments, default defaultPath: String) throws(UsageError) {
    pagePath = try arguments[PageOutput.outputOption(default: defaultPath)]
    opensInBrowser = try arguments[PageOutput.openOption]
    isQuiet = try arguments[LiveOptions.quietOption.flag()]
  }

  /// Throws an error if the page would be written to a terminal, or if a page on standard output is
  /// to be opened in a browser.
  func checkStandardOutput(_ terminal: Terminal) throws(UsageError) {
    guard pagePath == OutputPaths.standardOutput else { return }
    try SharedOptions.refuseTerminalOutput(terminal)
    if opensInBrowser {
      throw UsageError("'--open' requires a file, not '--output -'")
    }
  }
}

/// An HTML page that has been written.
struct PageOutput {
  /// Writes a page, and opens it in a browser if the options request it.
  ///
  /// - Parameters:
  ///   - page: The HTML text.
  ///   - options: The options of the command.
  ///   - state: The state of the page for the report, such as `written`.
  ///   - work: The work that records an error of the browser.
  ///   - terminal: The streams.
  static func writePage(
    _ page: [UInt8], _ options: PageOptions, state: String, _ work: inout BatchWork,
    _ terminal: Terminal
  ) throws {
    if options.pagePath == OutputPaths.standardOutput {
      return try terminal.output.write(page.span)
    }
    try AtomicFileWriter.write(page, to: options.pagePath)
    let pageOutput = PageOutput(
      pagePath: options.pagePath, byteCount: page.count, opensInBrowser: options.opensInBrowser)
    if !options.isQuiet {
      pageOutput.reportPage(state, on: terminal)
    }
    try work.attemptWork { _ in try pageOutput.openInBrowser() }
  }

  static func outputOption(default defaultPath: String) -> TypedOption<String> {
    Option(
      "-o", "--output", value: "FILE", help: "Output file; - for standard output.",
      defaultValueText: defaultPath, completion: .file(withExtension: "html"),
      writes: OutputPaths.pageExtensions
    ).text().map { $0 ?? defaultPath }
  }

  static let openOption = Option("--open", help: "Open the page in a browser.").flag()
  static let studioOption = Option(
    "--studio", value: "ADDRESS",
    help: "Link the patterns to the studio page at this address.",
    completion: .file(withExtension: "html")
  ).text()
  /// The exit status of a shell for a command that was not found.
  private static let commandNotFoundStatus: Int32 = 127

  let pagePath: String
  let byteCount: Int
  let opensInBrowser: Bool

  /// Reports that a page was written, for example `report.html: written, 197 kB; open it in a
  /// browser`.
  func reportPage(_ state: String, on terminal: Terminal) {
    terminal.report(
      "\(pagePath.printable): \(state), \(byteCount / 1_000) kB"
        + (opensInBrowser ? "" : "; open it in a browser"))
  }

  /// Opens the page in a browser if the options request it. The call does not wait for the browser.
  func openInBrowser() throws(FileError) {
    if opensInBrowser {
      try Self.openInBrowser(pagePath, state: "was written")
    }
  }

  /// Opens a page or an address in a browser.
  ///
  /// - Parameters:
  ///   - path: The file or the address.
  ///   - state: The state without a browser, such as `was written`, for messages.
  static func openInBrowser(_ path: String, state: String) throws(FileError) {
    let quotedPath = (path.hasPrefix("-") ? "./" + path : path).asShellWord
    let openScript = """
      command -v xdg-open > /dev/null || exit \(commandNotFoundStatus)
      xdg-open \(quotedPath) > /dev/null 2>&1 &
      for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 $! 2> /dev/null || { wait $!; exit; }; sleep 0.1; \
      done
      """
    let scriptStatus = unsafe system(openScript) >> 8 & 0xFF
    guard scriptStatus != 0 else { return }
    throw FileError(
      path,
      scriptStatus == commandNotFoundStatus
        ? "\(state), but not opened: xdg-open (package xdg-utils) not found; open it in a browser"
        : "\(state), but not opened: xdg-open failed with status \(scriptStatus); "
          + "open it in a browser"
    )
  }
}

/// The plots that the command `plot` writes.
struct PlotOutputs: Sendable {
  typealias PlotItem = (inputs: [TakeInput], path: String, format: PlotFormat)

  private(set) var plotItems: [PlotItem] = []

  init(
    _ output: String, format requested: PlotFormat?, groups: [[TakeInput]], missingCount: Int
  ) throws {
    let pictureCount = groups.count + missingCount
    if output == OutputPaths.standardOutput {
      guard pictureCount == 1 else { throw UsageError("'--output -' requires a single picture") }
      plotItems = groups.map { ($0, output, requested ?? .png) }
      return
    }
    let destination = try OutputDestination(output, count: pictureCount, "pictures")
    for inputs in groups {
      let format = try destination.format(
        named: PlotFormat(ofName: output), requested: requested, default: .png, option: "--format",
        extensions: ".png, .svg, or .pdf")
      let stem = inputs.map(\.outputStem).joined(separator: "-")
      let path = destination.outputPath(stem: stem, fileExtension: format.rawValue)
      if inputs.contains(where: \.isFromFolder) {
        try destination.checkLinks(to: path)
      }
      plotItems.append((inputs, path, format))
    }
    // Two pictures with the same name would overwrite each other, and a picture must not overwrite
    // its subject.
    try OutputPaths.checkPathsAreUnique(
      plotItems.compactMap { item in item.inputs.first.map { ($0.name, item.path) } })
    for item in plotItems {
      try OutputPaths.checkOverwritesNoInput(item.path, of: plotItems.flatMap(\.inputs))
    }
  }
}
