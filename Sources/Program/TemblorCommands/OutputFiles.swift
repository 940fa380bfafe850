import Glibc

struct RenderOutputs: Sendable {
  static let containerOption = Option(
    "--container", value: "KIND", help: "File format if the output name does not set one.",
    defaultText: "wav"
  ).choice(of: SoundFileFormat.Container.self)

  private(set) var items: [RenderBatch.Item] = []

  init(_ arguments: ParsedArguments, inputs: [PatternInput], problemCount: Int) throws {
    let asked = try arguments[Self.containerOption]
    let hasStems = arguments.flag("--stems")
    let stems: [(buses: RenderSettings.Buses, suffix: String)] =
      hasStems ? [(.haptics, ".haptic"), (.audio, ".audio")] : [(.all, "")]
    let output = arguments.value("--output")
    if output == OutputPaths.standardOutput {
      guard inputs.count + problemCount == 1, !hasStems, !arguments.flag("--json") else {
        throw UsageError("'--output -' requires a single pattern, without '--stems' or '--json'")
      }
      items = inputs.map {
        RenderBatch.Item(
          input: $0,
          destination: .stream(name: "standard output") { try Output.standardOutput.write($0) },
          container: asked ?? .wav)
      }
      return
    }
    let named = output.flatMap(SoundFileFormat.container(ofName:))
    let place = try OutputDestination(
      output, count: inputs.count + problemCount, "patterns",
      isFolder: named == nil && inputs.contains(where: \.isFromFolder))
    for input in inputs {
      let container = try place.format(
        named: named, requested: asked, default: .wav, option: "--container",
        extensions: ".wav, .flac, .aiff, .w64, .rf64, .caf or .ogg")
      for (buses, suffix) in stems {
        let stem = place.isFolder ? input.outputStem : FileSystem.stem(of: place.path)
        let ending = place.path.lastIndex(of: ".").map { String(place.path[$0...]) } ?? ""
        let beside = FileSystem.join(FileSystem.folder(of: place.path), stem + suffix + ending)
        let path =
          hasStems && !place.isFolder
          ? beside : place.path(stem: stem + suffix, fileExtension: container.rawValue)
        if input.isFromFolder {
          try place.checkLinks(to: path)
        }
        items.append(
          .init(input: input, destination: .file(path: path), container: container, buses: buses))
      }
    }
    try OutputPaths.checkUnique(items.map { ($0.input.name, $0.name) })
  }

  /// Checks that every file format supports the sound, and that sound is not written to a terminal.
  func checkFormats(of job: RenderJob, on terminal: Terminal) throws(UsageError) {
    for container in Set(items.map(\.container)) {
      let format = SoundFileFormat(container: container, sampleFormat: job.sampleFormat)
      if let reason = format.unsupportedReason(rate: job.rate, channelCount: job.channelCount) {
        throw UsageError(reason)
      }
    }
    if case .stream? = items.first?.destination {
      try SharedOptions.refuseTerminalOutput(terminal)
    }
  }
}

/// The destination of results: a named file, or a folder with a file for each result.
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
  /// - Throws: `UsageError` if several results go to a name that is evidently the name of a file.
  init(_ output: String?, count: Int, _ noun: String, isFolder: Bool = false) throws(UsageError) {
    path = output ?? ""
    let entry = FileSystem.entry(at: path)
    self.isFolder =
      output != OutputPaths.standardOutput
      && (count > 1 || isFolder || output == nil || path.hasSuffix("/") || entry == .folder)
    guard count > 1, self.isFolder, output != nil, !path.hasSuffix("/"), entry != .folder else {
      return
    }
    let isFile =
      SoundFileFormat.container(ofName: path) != nil || PlotFormat(ofName: path) != nil
      || FormatRegistry.standard.format(forFileName: path) != nil
      || (OutputPaths.pageExtensions + ["json"]).contains { path.lowercased().hasSuffix("." + $0) }
    guard isFile || entry != .missing else { return }
    throw UsageError(
      "\(path.inQuotes) is the name of one file, but there are \(count) \(noun); name a folder")
  }

  /// Returns the format of the files: the format of a single file follows from its name, and the
  /// format of several files from the option or the default.
  func format<Kind: RawRepresentable<String> & Equatable>(
    named: Kind?, requested asked: Kind?, default usual: Kind, option: String, extensions: String
  ) throws(UsageError) -> Kind {
    if isFolder { return asked ?? usual }
    if let asked, let named, asked != named {
      throw UsageError(
        "the extension of \(path.inQuotes) selects \(named.rawValue), but \(option.inQuotes) is "
          + asked.rawValue)
    }
    guard let kind = asked ?? named else {
      throw UsageError(
        "unknown file extension of \(path.inQuotes); use \(extensions), or \(option.inQuotes)")
    }
    return kind
  }

  func path(stem: String, fileExtension ending: String) -> String {
    isFolder ? FileSystem.join(path, stem + "." + ending) : path
  }

  /// Throws an error if an output would be written through a link below the folder.
  ///
  /// - Parameter file: The output for an input from a folder, whose name the user has not chosen.
  func checkLinks(to file: String) throws(FileError) {
    guard isFolder else { return }
    let name = path.isEmpty ? file : String(file.dropFirst(path.count))
    try ReceivedPath.checkLinks(to: name, below: path)
  }
}

enum OutputPaths {
  /// Returns the option `--output`.
  ///
  /// - Parameter noun: The plural noun for results that are written to a folder.
  static func outputOption(for noun: String) -> Option {
    Option(
      "-o", "--output", value: "PATH",
      help: "Output file, or folder for several \(noun); - for standard output.",
      completion: .file, writes: [])
  }

  static let standardOutput = "-"
  static let pageExtensions = ["html", "htm"]

  static func checkIsNoInput(_ path: String, of takes: [TakeInput]) throws(UsageError) {
    // A file that does not exist cannot be an input, so the patterns need not be read.
    guard FileSystem.entry(at: path) != .missing else { return }
    try InputOverwriteCheck(reading: takes.flatMap(\.sourcePaths)).check(path, option: "--output")
  }

  static func checkUnique(_ files: [(input: String, path: String)]) throws(UsageError) {
    var owners: [String: String] = [:]
    for (input, path) in files {
      if let other = owners.updateValue(input, forKey: path) {
        throw UsageError(
          "\(other.inQuotes) and \(input.inQuotes) would both be written to \(path.inQuotes)")
      }
    }
  }
}

struct PageOutput {
  /// Throws an error if standard output is a terminal, or if a page without a file is to be opened.
  static func checkStream(_ path: String, _ arguments: ParsedArguments, _ terminal: Terminal)
    throws(UsageError)
  {
    guard path == OutputPaths.standardOutput else { return }
    try SharedOptions.refuseTerminalOutput(terminal)
    if arguments.flag("--open") {
      throw UsageError("'--open' requires a file, not '--output -'")
    }
  }

  static func write(
    _ page: [UInt8], to path: String, saying what: String, _ arguments: ParsedArguments,
    _ work: inout BatchWork,
    _ terminal: Terminal
  ) throws {
    if path == OutputPaths.standardOutput {
      return try terminal.output.write(page.span)
    }
    try AtomicFileWriter.write(page, to: path)
    let output = PageOutput(
      path: path, byteCount: page.count, opensInBrowser: arguments.flag("--open"))
    if !arguments.flag("--quiet") {
      output.report(what, on: terminal)
    }
    try work.attempt { _ in try output.openInBrowser() }
  }

  static func outputOption(default usual: String) -> Option {
    Option(
      "-o", "--output", value: "FILE", help: "Output file; - for standard output.",
      defaultText: usual,
      completion: .file(withExtension: "html"), writes: OutputPaths.pageExtensions)
  }

  static let openOption = Option("--open", help: "Open the page in a browser.")
  static let studioOption = Option(
    "--studio", value: "ADDRESS",
    help: "Address of a page by 'temblor studio' that the patterns can be opened in.",
    completion: .file(withExtension: "html"))
  /// The exit status of a shell for a command that does not exist.
  private static let commandNotFoundStatus: Int32 = 127

  let path: String
  let byteCount: Int
  let opensInBrowser: Bool

  /// Reports a page, for example `report.html: written, 197 kB; open it in a browser`.
  func report(_ what: String, on terminal: Terminal) {
    terminal.report(
      "\(path.printable): \(what), \(byteCount / 1_000) kB"
        + (opensInBrowser ? "" : "; open it in a browser"))
  }

  /// Opens the page if that was requested. A browser that keeps running is not waited for.
  func openInBrowser() throws(FileError) {
    if opensInBrowser {
      try Self.openInBrowser(path, state: "was written")
    }
  }

  /// Opens a page or an address in a browser.
  ///
  /// - Parameters:
  ///   - path: The file or the address.
  ///   - state: The state without a browser, such as `was written`, for messages.
  static func openInBrowser(_ path: String, state: String) throws(FileError) {
    let file = (path.hasPrefix("-") ? "./" + path : path).shellEscaped
    let script = """
      command -v xdg-open > /dev/null || exit \(commandNotFoundStatus)
      xdg-open \(file) > /dev/null 2>&1 &
      for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 $! 2> /dev/null || { wait $!; exit; }; sleep\
       0.1; done
      """
    let status = unsafe system(script) >> 8 & 0xFF
    guard status != 0 else { return }
    throw FileError(
      path,
      status == commandNotFoundStatus
        ? """
        \(state) but not opened: there is no xdg-open (package xdg-utils); open it in a browser \
        yourself
        """
        : """
        \(state) but not opened: xdg-open failed with status \(status); open it in a browser \
        yourself
        """
    )
  }
}

struct PlotOutputs: Sendable {
  typealias Item = (inputs: [TakeInput], path: String, format: PlotFormat)

  private(set) var items: [Item] = []

  init(
    _ output: String, format asked: PlotFormat?, groups: [[TakeInput]], missingCount missing: Int
  ) throws {
    let count = groups.count + missing
    if output == OutputPaths.standardOutput {
      guard count == 1 else { throw UsageError("'--output -' requires a single picture") }
      items = groups.map { ($0, output, asked ?? .png) }
      return
    }
    let place = try OutputDestination(output, count: count, "pictures")
    for inputs in groups {
      let format = try place.format(
        named: PlotFormat(ofName: output), requested: asked, default: .png, option: "--format",
        extensions: ".png, .svg or .pdf")
      let stem = inputs.map(\.outputStem).joined(separator: "-")
      let path = place.path(stem: stem, fileExtension: format.rawValue)
      if inputs.contains(where: \.isFromFolder) {
        try place.checkLinks(to: path)
      }
      items.append((inputs, path, format))
    }
    // Two pictures with the same name would overwrite each other, and a picture must not overwrite
    // its subject.
    try OutputPaths.checkUnique(
      items.compactMap { item in item.inputs.first.map { ($0.name, item.path) } })
    for item in items {
      try OutputPaths.checkIsNoInput(item.path, of: items.flatMap(\.inputs))
    }
  }
}
