package import CommandLineKit
public import HapticFormats
import HapticPlayback
import HapticRender
import PatternWorkflows
import SoundFile
import SystemSupport
public import VendorFormats

/// The `temblor` program.
public enum TemblorProgram {
  /// Declares the program.
  ///
  /// - Parameters:
  ///   - formats: The formats of patterns.
  ///   - settings: The settings for `setup`. None if only the declarations are needed.
  ///   - prepare: Called with the arguments of a command before it runs.
  static func program(
    _ formats: FormatRegistry = .standard, settings: Settings = .none,
    prepare: @escaping @Sendable (ParsedArguments) throws -> Void = { _ in }
  ) -> Program {
    Program(
      "temblor", version: temblorVersion, date: "2026-11-23",
      abstract: "Turns haptic patterns into sound.",
      discussion: """
        PATTERN is a pattern file of any format, a folder of them, the name of a shipped pattern, \
        or - for standard input.
        """,
      commands: [
        .init("play", PlayCommand.definition(formats)),
        .init("watch", WatchCommand.definition(formats)),
        .init("tap", TapCommand.definition), .init("follow", FollowCommand.definition),
        .init("rumble", RumbleCommand.definition),
        .init("listen", ListenCommand.definition(formats)),
        .init("audition", AuditionCommand.definition(formats)),
        .init("abx", ABXCommand.definition(formats)),
        .init("study", StudyCommand.definition(formats)),
        .init("render", RenderCommand.definition(formats)),
        .init("plot", PlotCommand.definition(formats)),
        .init("compare", CompareCommand.definition(formats)),
        .init("gallery", GalleryCommand.definition(formats)),
        .init("studio", StudioCommand.definition(formats)),
        .init("check", CheckCommand.definition(formats)),
        .init("info", InfoCommand.definition(formats)),
        .init("format", FormatCommand.definition(formats)),
        .init("convert", ConvertCommand.definition(formats)),
        .init("trace", TraceCommand.definition(formats)),
        .init("edit", EditCommand.definition(formats)),
        .init("formats", FormatsCommand.definition(formats)),
        .init("patterns", PatternsCommand.definition),
        .init("profiles", ProfilesCommand.definition), .init("devices", DevicesCommand.definition),
        .init("setup", SetupCommand.definition(settings)), .init("sweep", SweepCommand.description),
        .init("calibrate", CalibrateCommand.description),
        .init("latency", LatencyCommand.definition),
        .init("completion", completionCommand(formats)), .init("man", manualCommand(formats)),
      ],
      examples: [
        .init(
          "temblor render earthquake-splash", "Render a shipped pattern to earthquake-splash.wav."),
        .init("temblor check mine.ahap", "Report errors and warnings in a pattern."),
      ],
      manualSections: [
        (
          "JSON",
          """
          What --json prints is an object with the member formatVersion first; it grows when a \
          member is removed or changes its meaning, not when one is added. Several results are a \
          list in one of its members. 'profiles show --json' prints the file of a profile, 'check \
          --sarif' the format of OASIS.
          """
        ),
        (
          "FILES",
          """
          A pattern is a file in Apple's AHAP format, or in one of those that 'temblor formats' \
          lists; its content decides, not its name. Sound files that a pattern plays are searched \
          only in the folder of the pattern.

          A profile NAME is searched as $XDG_CONFIG_HOME/temblor/profiles/NAME.json \
          (XDG_CONFIG_HOME defaults to ~/.config), then as temblor/profiles/NAME.json in each \
          folder of XDG_CONFIG_DIRS (default /etc/xdg), then among the shipped profiles. Relative \
          paths in these variables are ignored.

          What 'temblor setup' saves is $XDG_CONFIG_HOME/temblor/config.json. Verbs that play use \
          it and name what they use on standard error, unless --quiet is given. Verbs that judge \
          or write files use neither it nor the variables below. Where a verb plays, an option \
          outranks the variables TEMBLOR_DEVICE and TEMBLOR_PROFILE, these outrank the file, and \
          --no-config, which every verb accepts, ignores the file. Channels and strength of the \
          file are used on the device of the file only.
          """
        ),
      ], verbSuggestions: verbSuggestions, universalFlags: [SharedOptions.noConfig.key],
      prepare: { arguments, terminal in
        try settings.applyDefaults(to: &arguments, on: terminal)
        try prepare(arguments)
      }, optionSuggestions: optionSuggestions,
      messageForError: Failure.message(_:), statusForError: Failure.status(of:))
  }

  private static let verbSuggestions = [
    "diff": "use 'temblor compare'", "export": "use 'temblor convert' or 'temblor render'",
    "import": "use 'temblor convert'", "open": "use 'temblor plot' to see, 'temblor play' to feel",
    "lint": "use 'temblor check'", "validate": "use 'temblor check'",
    "list": "use 'temblor patterns', 'temblor profiles' or 'temblor devices'",
    "new":
      """
    use 'temblor profiles new' for a profile; 'temblor patterns heartbeat > mine.ahap' is a \
    pattern to begin with
    """,
    "config": "use 'temblor setup'", "transcribe": "use 'temblor trace'",
    "record": "use 'temblor play --record FILE', or 'temblor render'",
    "measure": "use 'temblor info' for a file, 'temblor calibrate' for a transducer",
    "serve": "use 'temblor studio --serve' for a page, 'temblor listen' for commands",
    "test": "use 'temblor tap' for a device, 'temblor check' for a pattern",
    "version": "use 'temblor --version'",
    "-v": "use '--version'", "-V": "use '--version'",
  ]

  private static let optionSuggestions = Dictionary(
    uniqueKeysWithValues: ["--gain", "--volume", "--level"].map {
      ($0, (option: SharedOptions.strength.option.key, value: "a factor from 0 to 1"))
    })

  /// Runs the program on the streams of this process and returns the exit status.
  ///
  /// If a signal ended the command, the signal then ends the process.
  ///
  /// - Parameters:
  ///   - words: The command line without the name of the program.
  ///   - formats: The formats of patterns. A program with formats of its own adds them here.
  public static func run(_ words: [String], formats: FormatRegistry = .standard) -> Int32 {
    SignalHandling.installHandlers()
    let status = program(formats, settings: .fromEnvironment, prepare: DeviceOptions.pin).run(
      words, on: .system { SystemTimeSource().now })
    SignalHandling.terminateByRecordedSignal()
    return status.rawValue
  }

  /// Runs the program on other streams, without saved settings or environment variables.
  package static func run(_ words: [String], on terminal: Terminal) -> Int32 {
    program().run(words, on: terminal).rawValue
  }

  private static func completionCommand(_ formats: FormatRegistry) -> Command {
    Command(
      "completion", abstract: "Print a completion script for a shell.",
      discussion: """
        Save the script where your shell searches for completions:

          temblor completion bash > ~/.local/share/bash-completion/completions/temblor
          temblor completion zsh > ~/.zfunc/_temblor
          temblor completion fish > ~/.config/fish/completions/temblor.fish
        """,
      arguments: [Argument("SHELL", help: "The shell.", choices: Shell.allCases.map(\.rawValue))]
    ) { arguments, terminal in
      let shell = Shell(rawValue: arguments.argument("SHELL")) ?? .bash
      try terminal.output.write(program(formats).completionScript(for: shell), wraps: false)
      return .done
    }
  }

  private static func manualCommand(_ formats: FormatRegistry) -> Command {
    Command(
      "man", abstract: "Print the manual page.",
      examples: [.init("temblor man | man -l -", "Read it.")]
    ) { _, terminal in
      try terminal.output.write(program(formats).manualPage(), wraps: false)
      return .done
    }
  }
}
