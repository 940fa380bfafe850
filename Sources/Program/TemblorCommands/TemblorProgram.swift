package import CommandLineKit
public import HapticFormats
import HapticPlayback
import HapticRender
import PatternWorkflows
import SoundFile
import SystemSupport
public import VendorFormats

/// The entry point of the `temblor` program.
public enum TemblorProgram {
  /// Returns the program with its commands.
  ///
  /// - Parameters:
  ///   - formats: The formats of patterns.
  ///   - settings: The settings for `setup`. None if only the declarations are needed.
  ///   - prepare: Called with the arguments of a command before it runs.
  static func makeProgram(
    _ formats: FormatRegistry = .standard, settings: Settings = .none,
    prepare: @escaping @Sendable (ParsedArguments) throws -> Void = { _ in }
  ) -> Program {
    Program(
      "temblor", version: temblorVersion, date: "2026-11-26",
      abstract: "Turns haptic patterns into sound.",
      discussion: """
        PATTERN is a pattern file in any supported format, a folder of pattern files, the name of \
        a shipped pattern, or - for standard input.
        """,
      groups: [
        CommandGroup(
          "Play",
          [
            .init("play", PlayCommand.definition(formats)),
            .init("watch", WatchCommand.definition(formats)),
            .init("tap", TapCommand.definition),
            .init("listen", ListenCommand.definition(formats, settings)),
            .init("follow", FollowCommand.definition),
            .init("rumble", RumbleCommand.definition),
          ]),
        CommandGroup(
          "Create and edit",
          [
            .init("studio", StudioCommand.definition(formats)),
            .init("trace", TraceCommand.definition(formats)),
            .init("edit", EditCommand.definition(formats)),
            .init("format", FormatCommand.definition(formats)),
            .init("convert", ConvertCommand.definition(formats)),
          ]),
        CommandGroup(
          "Check and compare",
          [
            .init("check", CheckCommand.definition(formats)),
            .init("info", InfoCommand.definition(formats)),
            .init("compare", CompareCommand.definition(formats)),
            .init("audition", AuditionCommand.definition(formats)),
            .init("abx", ABXCommand.definition(formats)),
            .init("study", StudyCommand.definition(formats)),
          ]),
        CommandGroup(
          "Write files",
          [
            .init("render", RenderCommand.definition(formats)),
            .init("plot", PlotCommand.definition(formats)),
            .init("gallery", GalleryCommand.definition(formats)),
          ]),
        CommandGroup(
          "Set up hardware",
          [
            .init("setup", SetupCommand.definition(settings)),
            .init("devices", DevicesCommand.definition),
            .init("profiles", ProfilesCommand.definition),
            .init("sweep", SweepCommand.definition),
            .init("calibrate", CalibrateCommand.definition),
            .init("latency", LatencyCommand.definition),
          ]),
        CommandGroup(
          "Reference",
          [
            .init("patterns", PatternsCommand.definition),
            .init("formats", FormatsCommand.definition(formats)),
            .init("man", manualCommand(formats)),
            .init("completion", completionCommand(formats)),
          ]),
      ],
      examples: [
        .init(
          "temblor render earthquake-splash", "Render a shipped pattern to earthquake-splash.wav."),
        .init("temblor check mine.ahap", "Report errors and warnings in a pattern."),
      ],
      environment: [
        (
          "TEMBLOR_DEVICE",
          "Output device for commands that play, in the form that --device accepts."
        ),
        (
          "TEMBLOR_PROFILE",
          "Transducer profile for commands that play, in the form that --profile accepts."
        ),
        ("XDG_CONFIG_HOME", "Folder for settings and user profiles. Default: ~/.config."),
        (
          "XDG_CONFIG_DIRS",
          """
          Folders that contain system profiles, separated by colons. Default: /etc/xdg.
          """
        ),
        (
          "XDG_RUNTIME_DIR",
          """
          Folder for the temporary file that 'studio --serve --open' opens in a browser. Default: \
          /tmp.
          """
        ),
        (
          "LC_ALL",
          """
          Locale; takes precedence over LC_CTYPE and LANG. Text is ASCII unless the locale uses \
          UTF-8.
          """
        ),
        ("TERM", "If dumb, disables colors and status lines."),
        (
          "LISTEN_FDS",
          """
          Number of sockets that systemd opened for 'temblor listen'. systemd also sets \
          LISTEN_PID, NOTIFY_SOCKET, WATCHDOG_PID, and WATCHDOG_USEC.
          """
        ),
      ],
      manualSections: [
        (
          "JSON",
          """
          With --json, a command prints a JSON object whose first key is formatVersion. The \
          version increases when a key is removed or changes meaning, but not when a key is added. \
          Multiple results are printed as an array in this object. 'profiles show --json' prints \
          the profile file, and 'check --sarif' prints SARIF 2.1.0.
          """
        ),
        (
          "FILES",
          """
          A pattern is a file in Apple's AHAP format, or in another format that 'temblor formats' \
          lists. Temblor recognizes the format of a file by its content, not by its name. Temblor \
          searches for the sound files of a pattern only in the folder of the pattern, or in the \
          folder given by --sounds.

          Temblor searches for a profile NAME first as $XDG_CONFIG_HOME/temblor/profiles/NAME.json \
          (XDG_CONFIG_HOME defaults to ~/.config), then as temblor/profiles/NAME.json in each \
          folder of XDG_CONFIG_DIRS (default /etc/xdg), and finally among the shipped profiles. \
          Relative paths in these variables are ignored.

          'temblor setup' saves settings in $XDG_CONFIG_HOME/temblor/config.json. Commands that \
          play use the settings and, unless --quiet is given, name them on standard error. \
          Commands that evaluate or write files do not use them. Options override the environment \
          variables TEMBLOR_DEVICE and TEMBLOR_PROFILE, and these variables override the settings. \
          Every command accepts --no-config, which ignores the settings. The saved channels and \
          strength apply only to the saved device.
          """
        ),
      ],
      relatedManualPages: """
        aplay(1), arecord(1), jq(1), pactl(1), pw-cli(1), systemd.socket(5), xdg-open(1)

        'temblor help COMMAND' prints the options of a command. The Debian package installs the \
        changelog in /usr/share/doc/temblor.
        """,
      suggestionsByUnknownVerb: suggestionsByUnknownVerb,
      universalFlags: [SharedOptions.noConfigOption.primarySpelling],
      prepare: { arguments, terminal in
        try settings.applyDefaults(to: &arguments, on: terminal)
        try prepare(arguments)
      }, suggestionsByUnknownOption: suggestionsByUnknownOption,
      messageForError: ErrorReporting.messageText(_:),
      statusForError: ErrorReporting.exitStatus(of:))
  }

  private static let suggestionsByUnknownVerb = [
    "diff": "use 'temblor compare'", "export": "use 'temblor convert' or 'temblor render'",
    "import": "use 'temblor convert'", "open": "use 'temblor plot' to draw, 'temblor play' to play",
    "lint": "use 'temblor check'", "validate": "use 'temblor check'",
    "list": "use 'temblor patterns', 'temblor profiles', or 'temblor devices'",
    "new":
      """
    use 'temblor profiles new' for a profile, or start from a shipped pattern with 'temblor \
    patterns heartbeat > mine.ahap'
    """,
    "config": "use 'temblor setup'", "transcribe": "use 'temblor trace'",
    "record": "use 'temblor play --record FILE' or 'temblor render'",
    "measure": "use 'temblor info' for a file, or 'temblor calibrate' for a transducer",
    "serve": "use 'temblor studio --serve' for a page, or 'temblor listen' for commands",
    "test": "use 'temblor tap' for a device, or 'temblor check' for a pattern",
    "version": "use 'temblor --version'",
    "-v": "use '--version'", "-V": "use '--version'",
  ]

  private static let suggestionsByUnknownOption: [String: [OptionSuggestion]] = {
    let strength = OptionSuggestion("--strength", value: "a factor from 0 to 1")
    let recording = OptionSuggestion("--record", value: "or 'temblor render'")
    return [
      "--gain": [strength], "--volume": [strength], "--level": [strength],
      "--bits": [OptionSuggestion("--sample-format", value: "such as s24")],
      "--mono": [OptionSuggestion("--channels", value: "such as --channels 1")],
      "--output": [recording], "-o": [recording],
      "--from": [
        OptionSuggestion("--start", value: "a time in seconds"),
        OptionSuggestion("--low", value: "a frequency in hertz"),
        OptionSuggestion("--input-format", value: "such as ahap"),
      ],
      "--to": [
        OptionSuggestion("--end", value: "a time in seconds"),
        OptionSuggestion("--high", value: "a frequency in hertz"),
        OptionSuggestion("--format", value: "or the extension of '--output'"),
      ],
    ]
  }()

  /// Runs the program on the streams of this process and returns the exit status.
  ///
  /// If a signal ended the command, the signal then ends the process.
  ///
  /// - Parameters:
  ///   - words: The command line without the name of the program.
  ///   - formats: The formats of patterns. A program with formats of its own adds them here.
  public static func run(_ words: [String], formats: FormatRegistry = .standard) -> Int32 {
    SignalHandling.installHandlers()
    let exitStatus = makeProgram(
      formats, settings: .fromEnvironment, prepare: DeviceOptions.pinStreams
    )
    .run(
      words, on: .system { SystemTimeSource().now })
    SignalHandling.terminateByRecordedSignal()
    return exitStatus.rawValue
  }

  /// Runs the program on the given streams, without saved settings or environment variables.
  package static func run(_ words: [String], on terminal: Terminal) -> Int32 {
    makeProgram().run(words, on: terminal).rawValue
  }

  private static func completionCommand(_ formats: FormatRegistry) -> Command {
    Command(
      "completion", abstract: "Print a completion script for a shell.",
      discussion: """
        Save the script in a folder that your shell searches for completions:

          temblor completion bash > ~/.local/share/bash-completion/completions/temblor
          temblor completion zsh > ~/.zfunc/_temblor
          temblor completion fish > ~/.config/fish/completions/temblor.fish
        """,
      arguments: [
        Argument("SHELL", help: "Name of the shell.", choices: Shell.allCases.map(\.rawValue))
      ]
    ) { arguments, terminal in
      let shell = Shell(rawValue: arguments.argument("SHELL")) ?? .bash
      try terminal.output.write(makeProgram(formats).completionScript(for: shell), wraps: false)
      return .success
    }
  }

  private static func manualCommand(_ formats: FormatRegistry) -> Command {
    Command(
      "man", abstract: "Print the manual page.",
      examples: [.init("temblor man | man -l -", "Read the manual page.")]
    ) { _, terminal in
      try terminal.output.write(makeProgram(formats).manualPage(), wraps: false)
      return .success
    }
  }
}
