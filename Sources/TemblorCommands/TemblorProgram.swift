/// The version of the program and the package.
let temblorVersion = "0.1.0"

/// The `temblor` program.
public enum TemblorProgram {
  static let program: Program = Program(
    "temblor", version: temblorVersion, date: "2026-11-20",
    abstract: "Turns haptic patterns into sound.",
    discussion: """
      A PATTERN is an AHAP file, a folder of them, the name of a pattern that comes with Temblor, or - \
      for standard input.
      """,
    commands: [
      PlayVerb.description, WatchVerb.description, TapVerb.description, ListenVerb.description,
      AuditionVerb.description, ABXVerb.description,
      RenderVerb.description, PlotVerb.description, CompareVerb.description,
      GalleryVerb.description,
      CheckVerb.description, InfoVerb.description, FormatVerb.description,
      PatternsVerb.description, ProfilesVerb.description, DevicesVerb.description,
      SweepVerb.description, CalibrateVerb.description,
      LatencyVerb.description, completion, manual,
    ],
    examples: [
      .init(
        "temblor render earthquake-splash", "Hear a shipped pattern: writes earthquake-splash.wav."),
      .init("temblor check mine.ahap", "Find what is wrong with a pattern, and where."),
    ],
    manualSections: [
      (
        "FILES",
        """
        A pattern is a text in Apple's AHAP format. A sound file that a pattern plays is looked up in \
        the pattern's own folder and nowhere else.

        A profile called NAME is looked for in $XDG_CONFIG_HOME/temblor/profiles/NAME.json, where \
        XDG_CONFIG_HOME is ~/.config unless set; then in temblor/profiles below each folder of \
        XDG_CONFIG_DIRS, which is /etc/xdg unless set; then among those that come with Temblor. Paths in \
        these variables that are not absolute are ignored.
        """
      )
    ],
    message: Failure.message(_:), status: Failure.status(of:))

  /// Runs the program on this process's streams and answers the exit status.
  ///
  /// Where a verb ended because a signal asked it to, the signal ends the process.
  ///
  /// - Parameter words: The command line without the program's own name.
  public static func run(_ words: [String]) -> Int32 {
    Interruption.watch()
    let status = program.run(words, on: .system())
    Interruption.endByNotedSignal()
    return status.rawValue
  }

  private static let completion: CommandDescription = CommandDescription(
    "completion", abstract: "Print a completion script for a shell.",
    discussion: """
      Put the script where your shell looks for it:

        temblor completion bash > ~/.local/share/bash-completion/completions/temblor
        temblor completion zsh > ~/.zfunc/_temblor
        temblor completion fish > ~/.config/fish/completions/temblor.fish
      """,
    arguments: [Argument("SHELL", help: "The shell.", choices: Shell.allCases.map(\.rawValue))]
  ) { arguments, terminal in
    let shell = try arguments.choice("SHELL", as: Shell.self) ?? .bash
    try terminal.output.write(program.completionScript(for: shell))
    return .done
  }

  private static let manual: CommandDescription = CommandDescription(
    "man", abstract: "Print the manual page.",
    examples: [.init("temblor man | man -l -", "Read it.")]
  ) { _, terminal in
    try terminal.output.write(program.manualPage())
    return .done
  }
}
