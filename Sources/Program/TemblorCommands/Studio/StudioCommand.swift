import CommandLineKit
import Glibc
import HapticFormats
import HapticPlayback
import HapticRender
import PatternWorkflows
import ReviewPages
import SystemSupport
import TransducerProfiles
import VendorFormats

/// The command `studio`, which writes or serves a page that edits patterns and plays them.
enum StudioCommand {
  private static let defaultOutputPath = "studio.html"

  static func definition(_ formats: FormatRegistry = .standard) -> Command {
    Command(
      "studio", abstract: "Write or serve an HTML page for editing and playing patterns.",
      discussion: """
        The page contains the renderer, works offline in any current browser, and plays a pattern \
        while you edit it. If you do not specify a pattern, the page is empty. You can drop \
        pattern files on the page. When you save, the page overwrites the file if the browser can \
        write files; otherwise, the browser downloads a copy.

        With --serve, Temblor serves the page to browsers on this computer until you press Ctrl-C. \
        The address of the page contains a secret token. When you save a pattern on this page, \
        Temblor writes the pattern file. If the file has changed since the page loaded it, Temblor \
        writes nothing, and the page lets you choose between the two versions. If PATTERN is a \
        folder, Temblor does not serve symbolic links in this folder.

        To feel a pattern on a phone, use --address to specify the address of this computer on the \
        phone's network. Open the printed address on the phone, and turn on vibration. Anyone on \
        the network who knows this address can read and change the patterns. The connection is not \
        encrypted, so the browser of the phone does not let the page play sound.

        \(SharedOptions.settingsUnusedText)
        """,
      arguments: [patternArgument(formats)],
      options: [
        PageOutput.outputOption(default: defaultOutputPath),
        serveOption, portOption, addressOption, profileOption, PageOutput.openOption,
        LiveOptions.quietOption,
      ],
      examples: [
        .init("temblor studio mine.ahap --open", "Write a page with a pattern, and open it."),
        .init(
          "temblor studio --serve old.ahap new.ahap --profile buttkicker-lfe",
          "Edit two patterns for a shaker."),
        .init(
          "temblor studio --serve mine.ahap --address 192.168.1.5",
          "Show the page on a phone on the same network."),
      ]
    ) { arguments, terminal in try run(Options(arguments, formats), formats, terminal) }
  }

  private static func patternArgument(_ formats: FormatRegistry) -> TypedArgument<[String]> {
    Argument(
      SharedOptions.patternPlaceholder,
      help: "Pattern A and, optionally, pattern B: pattern files or names of shipped patterns.",
      completion: .patterns(formats), isRepeatable: true, isOptional: true
    ).texts()
  }

  private static let serveOption = Option(
    "--serve", help: "Serve the page on this computer, and save changes to the pattern files."
  ).flag()
  private static let portOption = Option(
    "--port", value: "N",
    help: "Port to serve on. Default: a free port that is the same each time for the same files."
  ).int(in: 1...65_535)
  private static let addressOption = Option(
    "--address", value: "IP",
    help: """
      IPv4 address of this computer at which other devices can reach the page. Default: only this \
      computer can reach the page.
      """)
  private static let profileOption = Option(
    "--profile", value: "PROFILE",
    help: "Initial profile of the page: a name from 'temblor profiles', or a file.",
    defaultValueText: "speaker", completion: SharedOptions.profileCompletion)

  struct Options {
    let patternArguments: [String]
    let pageOptions: PageOptions
    let profileName: String?
    let servesPage: Bool
    let requestedPort: Int?
    let address: ServerAddress?

    init(_ arguments: ParsedArguments, _ formats: FormatRegistry) throws(UsageError) {
      patternArguments = arguments[patternArgument(formats)]
      try SharedOptions.refuseCombination("--serve", "--output", in: arguments)
      pageOptions = try PageOptions(arguments, default: defaultOutputPath)
      profileName = try arguments[StudioCommand.profileOption.text()]
      servesPage = try arguments[serveOption]
      requestedPort = try arguments[StudioCommand.portOption]
      address = try arguments[addressOption.text()].map { text throws(UsageError) in
        guard let address = ServerAddress(text) else {
          throw UsageError(
            "'--address' requires an IPv4 address of this computer, such as 192.168.1.5, not "
              + text.inQuotes)
        }
        return address
      }
    }
  }

  static func run(_ options: Options, _ formats: FormatRegistry, _ terminal: Terminal) throws
    -> ExitStatus
  {
    let (inputs, problems) = PatternInput.find(options.patternArguments, formats: formats)
    var batchWork = BatchWork(on: terminal, problems: problems)
    guard problems.isEmpty else { return batchWork.overallStatus }
    let maximumPatternCount = StudioPage.maximumOpenDocumentCount
    guard inputs.count <= maximumPatternCount else {
      throw UsageError(
        "'temblor studio' accepts at most \(maximumPatternCount) patterns, A and B, "
          + "not \(inputs.count)"
      )
    }
    let studioPage = try makePage(options)
    if options.servesPage {
      try servePage(inputs, studioPage, options, terminal, &batchWork)
      return batchWork.overallStatus
    }
    if options.requestedPort != nil {
      throw UsageError("'--port' requires '--serve'")
    }
    if options.address != nil {
      throw UsageError("'--address' requires '--serve'")
    }
    try options.pageOptions.checkStandardOutput(terminal)
    try OutputPaths.checkOverwritesNoInput(
      options.pageOptions.pagePath, of: inputs.map(TakeInput.pattern))
    let openDocuments = try inputs.map { input in
      StudioPage.OpenDocument(fileName: documentName(of: input), bytes: try input.readFile().bytes)
    }
    try PageOutput.writePage(
      studioPage.html(openDocuments), options.pageOptions, state: "written", &batchWork, terminal)
    return batchWork.overallStatus
  }

  private static func makePage(_ options: Options) throws -> StudioPage {
    let generator = "Temblor \(temblorVersion)"
    guard let profileName = options.profileName else {
      return StudioPage(generator: generator)
    }
    let profileInput = try ProfileInput.read(profileName)
    let profile = try profileInput.parseProfile()
    let isShipped = profileInput.libraryEntry.map { $0.path == nil } ?? false
    return StudioPage(
      generator: generator, initialProfileName: profile.name,
      initialProfileBytes: isShipped ? nil : profileInput.text)
  }

  /// Returns the name under which the page shows and saves a pattern, including the file extension.
  private static func documentName(of input: PatternInput) -> String {
    switch input.origin {
    case .file(let path): FileSystem.fileName(of: path)
    case .shipped(let name): "\(name).\(HapticFormat.ahap.id)"
    case .standardInput: "pattern.\(HapticFormat.ahap.id)"
    }
  }

  private static func servePage(
    _ inputs: [PatternInput], _ page: StudioPage, _ options: Options, _ terminal: Terminal,
    _ work: inout BatchWork
  ) throws {
    for input in inputs {
      try input.checkMayBeRewritten()
    }
    let patternPaths = try inputs.map { input throws(UsageError) -> String in
      guard case .file(let path) = input.origin else {
        throw UsageError("'--serve' saves to files, and \(input.name.inQuotes) is not a file")
      }
      return path
    }
    let interruption = InterruptSignal()
    let serverAddress = options.address ?? .loopback
    let studioServer = try openServer(
      for: patternPaths, at: serverAddress, port: options.requestedPort)
    let studioSite = StudioSite(
      studioPage: page, patternPaths: patternPaths, secretPathComponent: makeSecret(),
      serverAddress: serverAddress,
      serverPort: studioServer.port)
    // A program that starts this command reads the address here.
    try terminal.output.writeLine(studioSite.siteAddress)
    if !options.pageOptions.isQuiet {
      reportReachability(of: studioSite, terminal)
    }
    // The arguments of other programs are public, so the browser reads the address from a file.
    var redirectPage: RedirectPage?
    if options.pageOptions.opensInBrowser {
      try work.attemptWork { _ in
        let page = try RedirectPage(to: studioSite.siteAddress)
        redirectPage = page
        try PageOutput.openInBrowser(page.path, state: "is being served")
      }
    }
    defer { withExtendedLifetime(redirectPage) {} }
    studioServer.serve(studioSite, until: interruption.descriptor, time: SystemTimeSource())
  }

  /// Reports who can open the page. If other devices can open it, shows its address as a QR code.
  private static func reportReachability(of site: StudioSite, _ terminal: Terminal) {
    guard !site.serverAddress.isLoopback else {
      terminal.report("Serving on this computer only. Press Ctrl-C to stop.")
      return
    }
    if terminal.errorOutput.isTerminal {
      do throws(QRCode.Failure) {
        for line in try QRCode(of: site.siteAddress).lines {
          terminal.report(line)
        }
      } catch {
        terminal.report(
          "For a QR code of the address, install \(QRCode.packageName): "
            + "apt-get install \(QRCode.packageName)")
      }
    }
    terminal.report(
      "Serving to the network of \(site.serverAddress.text). Everyone who knows the address can "
        + "change the patterns. Press Ctrl-C to stop.")
  }

  /// Returns a server that listens on the requested port, or else on a port that is derived from
  /// the paths of the files. Browsers keep unsaved changes by host and port, so the page can
  /// restore the changes of the previous session.
  private static func openServer(
    for paths: [String], at address: ServerAddress, port: Int?
  ) throws(FileError) -> StudioServer {
    if let port { return try StudioServer(at: address, port: UInt16(clamping: port)) }
    let canonicalPaths = paths.map { FileSystem.realPath($0) ?? $0 }
    for port in StudioServer.preferredPorts(forKey: canonicalPaths.joined(separator: "\n")) {
      if let server = try? StudioServer(at: address, port: port) { return server }
    }
    return try StudioServer(at: address)
  }

  /// Returns 128 random bits from the system as hexadecimal digits.
  private static func makeSecret() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(generator.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

/// A page that redirects a browser to an address, in a folder that only this user can read.
/// The page is removed with its last reference.
final class RedirectPage {
  let path: String
  private let folder: String

  /// The folders for temporary files of this user, the most private first.
  private static var privateFolders: [String] {
    [ProcessEnvironment.value(named: "XDG_RUNTIME_DIR"), "/tmp"].compactMap(\.self)
  }

  /// Creates the page.
  ///
  /// - Parameters:
  ///   - address: The address.
  ///   - bases: The folders to try in order.
  init(to address: String, in bases: [String] = privateFolders) throws(FileError) {
    folder = try Self.makeFolder(in: bases)
    path = FileSystem.joinPath(folder, "studio.html")
    let pageHTML = "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=\(address)\">\n"
    try AtomicFileWriter.write(Array(pageHTML.utf8), to: path)
  }

  private static func makeFolder(in bases: [String]) throws(FileError) -> String {
    var lastError = FileError("studio", "no folder for temporary files")
    for base in bases {
      var template = Array("\(base)/temblor-XXXXXX".utf8CString)
      if let folder = unsafe mkdtemp(&template) { return unsafe String(cString: folder) }
      let error = FileError.systemError(base, "is not usable for the page that opens the browser")
      lastError = FileError(error.path, error.reason + "; open the address in a browser")
    }
    throw lastError
  }

  deinit {
    unsafe unlink(path)
    unsafe rmdir(folder)
  }
}
