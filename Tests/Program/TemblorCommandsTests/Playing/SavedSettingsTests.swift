import Reading
import SystemSupport
import TestSupport
import Testing

@testable import CommandLineKit
@testable import TemblorCommands

/// The verbs that use the settings saved by `temblor setup`, and the verbs that do not.
@Suite struct SavedSettingsTests {
  private static let variables = ["TEMBLOR_DEVICE": "null", "TEMBLOR_PROFILE": "buttkicker-lfe"]
  private let folder: TemporaryFolder

  /// Saved settings that change the level, band, and channel of verbs that use them.
  private var settings: Settings {
    Settings(settingsPath: folder("config.json"), environmentVariables: [:])
  }

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(
      #"{"device": "hw:9", "profile": "dayton-bst-1", "haptics": [2], "strength": 0.25}"#,
      to: "config.json")
  }

  /// A run of the program, and the bytes of the file that it wrote.
  private struct Run: Equatable {
    var status: CommandLineKit.ExitStatus
    var output: String
    var error: String
    var file: [UInt8]?
  }

  /// Runs the program with settings and variables. In the line, `@` means the temporary folder.
  private func run(
    _ line: String, writing name: String? = nil, with settings: Settings, isTerminal: Bool = false
  ) throws
    -> Run
  {
    let recorded = RecordedTerminal(isTerminal: isTerminal, width: 200)
    let arguments = line.replacing("@", with: folder.path).split(separator: " ").map(String.init)
    let status = TemblorProgram.makeProgram(settings: settings).run(
      arguments, on: recorded.terminal)
    let file = try name.map { try FileSystem.read(folder($0)) }
    return Run(status: status, output: recorded.output, error: recorded.error, file: file)
  }

  // MARK: - Verbs that judge or write files

  private static let fileLines: [(line: String, file: String?)] = [
    ("render heartbeat -o @/a.wav", "a.wav"),
    ("plot heartbeat", nil),
    ("plot heartbeat -o @/a.svg", "a.svg"),
    ("info heartbeat", nil),
    ("info heartbeat --json", nil),
    ("gallery heartbeat light -o @/a.html", "a.html"),
    ("studio heartbeat -o @/a.html", "a.html"),
    ("trace @/golden.wav --json -o @/a.ahap", "a.ahap"),
    ("convert heartbeat -o @/a.haptic", "a.haptic"),
    ("check heartbeat --json", nil),
    ("compare heartbeat light --json", nil),
    ("compare heartbeat light -o @/a.html", "a.html"),
    ("compare --tolerance 0.5dB,5ms,2% @/golden.wav heartbeat", nil),
    ("sweep --profile phone -o @/a.wav", "a.wav"),
    ("study @/steps.csv --render @/sounds", "sounds/strong.wav"),
    ("study @/steps.csv --simulate -20 --output @/a.csv", nil),
    ("abx light heavy --simulate right --seed 1 --json", nil),
  ]

  @Test(
    "A verb that judges or writes files gives the same result with saved settings",
    arguments: fileLines)
  func resultsDependOnTheCommandLineOnly(line: String, file: String?) throws {
    try folder.write(
      "id,intensity,sharpness,level\nweak,0.3,0.5,-30\nstrong,0.9,0.5,-20\n", to: "steps.csv")
    let goldenRun = try run("render heartbeat -q -o @/golden.wav", with: .none)
    try #require(goldenRun.status == .success)

    func normalized(_ run: Run) throws -> Run {
      // A study resumes a results file.
      if line.contains("a.csv") {
        try? FileSystem.remove(folder("a.csv"))
      }
      var run = run
      // The time of day in a record differs from run to run.
      run.output = run.output.replacing(/"startTime": "[^"]*"/, with: "")
      return run
    }
    let expected = try normalized(try run(line, writing: file, with: .none))
    #expect(expected.status == .success)
    #expect(try normalized(try run(line, writing: file, with: settings)) == expected)

    let variables = Settings(
      settingsPath: folder("config.json"), environmentVariables: Self.variables)
    #expect(try normalized(try run(line, writing: file, with: variables)) == expected)

    // On a terminal, progress differs from run to run.
    let terminalRun = try run(line, writing: file, with: settings, isTerminal: true)
    #expect(terminalRun.file == expected.file)
    #expect(!terminalRun.error.contains("settings"))
  }

  @Test("A damaged settings file does not stop a verb that judges or writes files")
  func aDamagedFileIsNotRead() throws {
    try folder.write("{", to: "config.json")
    for line in [
      "info light", "check light", "compare light heavy", "plot light",
      "render light -q -o @/b.wav",
    ] {
      #expect(try run(line, with: settings).status == .success, "\(line)")
    }
    #expect(try run("tap 1 0.5 --device null", with: settings).status == .invalidInput)
  }

  @Test("A calibration of a recording requires the name of the profile")
  func calibrationOfARecordingNamesItsProfile() throws {
    let run = try run("calibrate @/take.wav", with: settings)
    #expect(run.status == .usageError)
    #expect(run.error.hasPrefix("temblor: missing '--profile'"))
  }

  @Test("Every verb accepts --no-config, so that scripts can give it to all")
  func everyVerbAcceptsNoConfig() throws {
    for line in [
      "info light", "check light", "compare light heavy", "patterns", "render light -q -o @/b.wav",
    ] {
      #expect(
        try run("\(line) --no-config", with: settings) == run(line, with: settings), "\(line)")
    }
    #expect(try run("info light --no-config=1", with: .none).status == .usageError)
  }

  // MARK: - Verbs that play

  private static let liveVerbs: [(verb: String, commandLine: String)] = [
    ("play", "light"), ("watch", "a.ahap"), ("tap", "1 0.5"), ("follow", ""), ("rumble", ""),
    ("listen", ""),
    ("audition", "light heavy"), ("abx", "light heavy"), ("study", "a.csv"), ("latency", ""),
    ("sweep", ""),
    ("calibrate", "--by-hand"),
  ]

  private static let notice = "Using saved settings: device hw:9, profile dayton-bst-1"
  private static let remedy = " (ignore with '--no-config')\n"

  @Test(
    "A verb that plays uses saved settings and names them, off a terminal and with --json",
    arguments: liveVerbs)
  func verbsThatPlayNameTheSettings(verb: String, commandLine: String) throws {
    let command = try TemblorProgram.makeProgram().findCommand(verb)
    let hasJSON = command.option(named: "--json") != nil
    for extraOptions in [[], ["--json"]] where extraOptions.isEmpty || hasJSON {
      for isTerminal in [false, true] {
        let recorded = RecordedTerminal(isTerminal: isTerminal, width: 200)
        var arguments = try command.parseArguments(
          commandLine.split(separator: " ").map(String.init) + extraOptions)
        try settings.applyDefaults(to: &arguments, on: recorded.terminal)
        #expect(arguments.value("--device") == "hw:9")
        #expect(arguments.value("--profile") == "dayton-bst-1")
        let hasStrength = command.option(named: "--strength") != nil
        let details = ", haptics on channel 2" + (hasStrength ? ", strength 0.25" : "")
        #expect(recorded.error == Self.notice + details + Self.remedy)
        #expect(recorded.output == "")
      }
    }
  }

  @Test(
    """
    The settings of a verb that plays are not named with --quiet, --no-config or options for \
    all of them
    """
  )
  func settingsThatAreNotUsedAreNotNamed() throws {
    for extraOptions in ["-q", "--no-config", "-d null --profile phone"] {
      let recorded = RecordedTerminal()
      var arguments = try PlayCommand.definition().parseArguments(
        ["light"] + extraOptions.split(separator: " ").map(String.init))
      try settings.applyDefaults(to: &arguments, on: recorded.terminal)
      #expect(recorded.error == "", "\(extraOptions)")
    }
  }

  // MARK: - Help

  @Test("The help of every verb says in one sentence if saved settings are used")
  func helpStatesTheRule() {
    let liveVerbNames = Set(Self.liveVerbs.map(\.verb))
    let files = [
      "compare", "render", "plot", "info", "gallery", "studio", "trace", "convert", "check",
    ]
    for command in TemblorProgram.makeProgram().commands {
      // Help is broken into lines.
      let help = command.helpText(of: "temblor", for: RecordedTerminal().terminal.output)
        .split { $0.isWhitespace }.joined(separator: " ")
      #expect(
        (command.option(named: "--no-config") != nil) == liveVerbNames.contains(command.name),
        "\(command.name)")
      #expect(
        help.contains("a line on standard error names the settings in use")
          == liveVerbNames.contains(command.name),
        "\(command.name)")
      #expect(
        help.contains(SharedOptions.settingsUnusedText) == files.contains(command.name),
        "\(command.name)")
    }
  }
}
