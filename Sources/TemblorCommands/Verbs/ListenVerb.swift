import HapticFormats
import VendorFormats
import CommandLineKit
import HapticPlayback
import PatternWorkflows
import SystemSupport

/// `temblor listen`: commands in lines from standard input and a socket.
enum ListenVerb {
  private static let untilIdle = Option(
    "--until-idle", value: "SECONDS",
    help: "With a socket, exit once no client is connected and nothing plays for this long."
  ).double(in: 0...86_400)

  static func description(_ formats: FormatRegistry = .standard) -> CommandDescription {
    CommandDescription(
      "listen", abstract: "Play patterns on request from scripts and other programs.",
      discussion: """
        Commands are read from standard input and from clients of the Unix socket, which only your user can access. At the end of standard input, patterns play to their end, loops to the end of the current pass or their scheduled stop, and the program exits. With --socket it runs until a signal or the command shutdown stops it.

        As a service of systemd with socket activation it takes the socket that systemd has created, and reports when it is ready; Examples/systemd has the units.

        After \(Int(restDelay / .seconds(1))) seconds in which nothing plays the device is stopped until the next command, so that it and the computer can sleep; time goes on. On a sound server the first sound after that comes about 0.1 seconds later than others. --keep-awake and --record prevent it; a JACK client keeps running.

        If the default device cannot be opened, commands still run, without output, so that scripts keep working.


        """ + ListenGrammar.discussion,
      options: [
        Option(
          "--socket", value: "PATH", help: "Create a Unix socket and accept commands from it, too.", completion: .file),
        Option(
          "--folder", value: "DIR",
          help: "Open pattern files in and below this folder only; other names are relative to it.", completion: .file),
        untilIdle, LiveOptions.recordLimit, LiveOptions.quiet,
      ], groups: LiveOptions.groups,
      examples: [
        .init("printf 'play heartbeat\\nplay pulse at +3\\n' | temblor listen", "Play two patterns in sequence."),
        .init(
          "temblor listen --socket $XDG_RUNTIME_DIR/temblor < /dev/null &",
          "Serve other programs until a signal stops it."),
      ]
    ) { arguments, terminal in
      try run(arguments, terminal, on: SystemBackend(), standard: LineConnection(), formats: formats)
    }
  }

  /// How long nothing plays before the device may sleep.
  static let restDelay = Duration.seconds(10)

  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, on backend: any SessionBackend, standard: LineConnection,
    formats: FormatRegistry = .standard
  ) throws -> ExitStatus {
    let options = try LiveOptions(arguments)
    let listener = try listener(arguments)
    let idleLimit = try arguments[untilIdle].map(Duration.inSeconds)
    let folder = try arguments.value("--folder").map { path throws(FileError) in
      guard FileSystem.entry(at: path) == .folder, let real = FileSystem.realPath(path) else {
        throw FileError(path, "is not a folder")
      }
      return real
    }
    let backend = ListenBackend(backend, needsDevice: options.device.isNamed) { terminal.report($0) }
    let session = LiveSession(
      on: backend, terminal: terminal,
      // Where lines are typed, no other is to be in their way.
      isQuiet: arguments.flag("--quiet") || standard.isTyped, wantsRecords: false)
    var task: ListenTask?
    let outcome = try options.play(in: session) { engine in
      engine.restDelay = restDelay
      let device = backend.device
      // What just missed one period has the next.
      let period = Double(2 * (device?.format.periodSize ?? 0)) / engine.rate
      let new = ListenTask(
        ListenSession(
          engine, device: device?.name ?? "none", array: options.routing.array, wake: session.wake, formats: formats,
          folder: folder, loadsAside: true, message: Failure.message(_:)), standard: standard, listener: listener,
        inbox: backend.inbox, time: backend.time, period: .inSeconds(period), idleLimit: idleLimit)
      task = new
      ServiceManager.notify("READY=1")
      return new
    }
    ServiceManager.notify("STOPPING=1")
    task?.finish()
    return outcome.status
  }

  private static func listener(_ arguments: ParsedArguments) throws(FileError) -> SocketListener? {
    if let path = arguments.value("--socket") { return try SocketListener(path) }
    return ServiceManager.activatedSocket.map { SocketListener(activated: $0) }
  }
}
