import HapticPlayback
import HapticRender
import Reading
import SystemSupport
import TestSupport
import Testing
import TransducerProfiles

@testable import CommandLineKit
@testable import TemblorCommands

/// `temblor setup` on a device with two channels, and other commands with the saved settings.
@Suite struct SetupVerbTests {
  private let folder: TemporaryFolder
  private var settings: Settings {
    Settings(settingsPath: folder("config/temblor/config.json"), environmentVariables: [:])
  }

  init() throws { folder = try TemporaryFolder() }

  /// A stereo card under several names, and outputs that setup does not offer.
  private static let card = [
    OutputListing(name: "default", description: "Default"),
    OutputListing(name: "sysdefault:CARD=Device", description: "USB Audio, Default Audio Device"),
    OutputListing(
      name: "hw:CARD=Device,DEV=0", description: "USB Audio, USB Out, Direct hardware device",
      capabilities: .init(
        rates: [48_000], channelCounts: [2], encodings: ["s16"], periodSizes: 32...1_024,
        isHardware: true)),
    OutputListing(
      name: "plughw:CARD=Device,DEV=0",
      description: "USB Audio, USB Out, Hardware device with all conversions"),
    OutputListing(name: "null", description: "Discards"),
    OutputListing(name: "wav:FILE", description: "Writes"),
  ]

  private func setup(
    _ arguments: [String] = [], answers: [String] = [], on environment: ScriptedEnvironment,
    settings: Settings? = nil,
    outputs: [OutputListing] = card
  ) throws -> CommandLineKit.ExitStatus {
    var remainingAnswers = answers[...]
    return try SetupCommand.run(
      SetupCommand.definition(.none).parseArguments(arguments),
      environment.recordedTerminal.terminal,
      settings: settings ?? self.settings, on: environment,
      outputs: { outputs }, readAnswer: { remainingAnswers.popFirst() })
  }

  private func saved() throws -> SavedSettings { try settings.readSavedSettings() }

  // MARK: - Errors

  @Test func withoutATerminalOptionsAreRequired() throws {
    for environment in [
      ScriptedEnvironment(isTerminal: false), ScriptedEnvironment(hasKeyboard: false),
    ] {
      let error = #expect(throws: UsageError.self) { try setup(on: environment) }
      #expect(
        error?.description
          == """
          setup is interactive; without a terminal, use '--save' with '--device', '--profile', \
          '--haptics', '--channel', or '--strength'
          """
      )
      #expect(environment.engine == nil)
    }
    #expect(try saved() == SavedSettings())
  }

  @Test func withoutACardSetupFails() throws {
    let environment = ScriptedEnvironment()
    let missingDevice = OutputError(.notFound, output: "default", "no such device")
    let error = #expect(throws: OutputError.self) {
      try setup(
        on: environment,
        outputs: [OutputListing(name: "default", description: "", probeError: missingDevice)])
    }
    #expect(
      error?.messageText == "default: no sound card found; connect a sound card and run setup again"
    )
    #expect(environment.recordedTerminal.error == "")
  }

  @Test(arguments: 0..<3) func endOfTheAnswersSavesNothing(count: Int) throws {
    let environment = ScriptedEnvironment()
    #expect(
      try setup(answers: ["2", "BST-1", ""].dropLast(3 - count), on: environment) == .success)
    #expect(environment.recordedTerminal.error.hasSuffix("No settings were saved.\n"))
    #expect(environment.engine == nil)
    #expect(try saved() == SavedSettings())
  }

  @Test func quittingTheTapsSavesNothing() throws {
    let environment = ScriptedEnvironment([(1, .key(.character("q")))], channelCount: 2)
    #expect(try setup(answers: ["2", "bst1", "", "y"], on: environment) == .success)
    #expect(environment.recordedTerminal.error.hasSuffix("No settings were saved.\n"))
    #expect(try saved() == SavedSettings())
  }

  @Test func negativeAnswerSavesNothing() throws {
    let environment = ScriptedEnvironment([(1, .key(.enter))], channelCount: 2)
    #expect(try setup(answers: ["2", "bst1", "", "no"], on: environment) == .success)
    #expect(try saved() == SavedSettings())
  }

  @Test(arguments: [
    (
      ["--save"],
      "'--save' requires '--device', '--profile', '--haptics', '--channel', or '--strength'"
    ),
    (
      ["--save", "--channel", "1=haptics", "--haptics", "2"],
      "'--haptics' and '--channel' cannot be used together"
    ),
    (
      ["--save", "--device", "hw:1", "--channel", "3=haptics"],
      "channel 3 is in use, but 'hw:1' has 2 channels"
    ),
    (
      ["--save", "--haptics", "1:-6"],
      "invalid value '1:-6' for '--haptics': expected channel numbers or all"
    ),
    (
      ["--save", "--haptics", "none"],
      "invalid value 'none' for '--haptics': expected channel numbers or all"
    ),
    (
      ["--save", "--device", "hw:1", "--haptics", "3"],
      "channel 3 is in use, but 'hw:1' has 2 channels"
    ),
    (
      ["--save", "--profile", "dayton"],
      """
      unknown profile 'dayton'; did you mean 'dayton-bst-1', 'dayton-bst-300ex', 'dayton-tt25-16', \
      or 'dayton-tt25-8'?
      """
    ), (["--show", "--forget"], "'--show' and '--forget' cannot be used together"),
  ]) func invalidSettingsAreRefused(arguments: [String], message: String) throws {
    let error = #expect(throws: UsageError.self) {
      try setup(arguments, on: ScriptedEnvironment(channelCount: 2))
    }
    #expect(error?.description == message)
    #expect(try saved() == SavedSettings())
  }

  @Test func missingDeviceIsNotSaved() throws {
    let refusal = OutputError(.notFound, output: "hw:7", "no such device")
    #expect(throws: refusal) {
      try setup(["--save", "--device", "hw:7"], on: ScriptedEnvironment(refusal: refusal))
    }
    #expect(try saved() == SavedSettings())
    let busy = OutputError(.busy, output: "hw:7", "is busy")
    #expect(
      try setup(["--save", "--device", "hw:7"], on: ScriptedEnvironment(refusal: busy)) == .success)
    #expect(try saved().deviceName == "hw:7")
  }

  @Test func withoutAFolderForSettingsNothingIsSaved() {
    let error = #expect(throws: FileError.self) {
      try setup(
        ["--save", "--strength", "0.5"], on: ScriptedEnvironment(), settings: Settings.none)
    }
    #expect(
      error?.description
        == "config.json: cannot find a settings folder; set HOME or XDG_CONFIG_HOME")
  }

  // MARK: - Chosen settings

  @Test func questionsAndTapsProduceAFile() throws {
    let environment = ScriptedEnvironment(
      [
        (1, .key(.character("2"))), (1.5, .key(.up)), (2, .key(.up)), (2.5, .key(.right)),
        (4, .key(.enter)),
      ],
      channelCount: 2)
    #expect(
      try setup(answers: ["9", "two", "2", "dayton", "BST-1", "", ""], on: environment) == .success)
    let text = environment.recordedTerminal.error
    #expect(text.contains("Devices:\n  1  Default             --device default\n"))
    #expect(text.contains("\n  2  USB Audio, USB Out  --device plughw:CARD=Device\n"))
    #expect(!text.contains("null") && !text.contains("  3  "))
    #expect(text.contains("Enter a number from 1 to 2.\n"))
    #expect(text.contains("unknown profile 'dayton'; did you mean 'dayton-bst-1', "))
    #expect(text.contains("Profile dayton-bst-1.\n"))
    #expect(
      text.contains(
        "Keys: Enter clearly felt, + - 3 dB, right left 1 dB, 1-2 channel, a all channels, "))
    #expect(
      environment.recordedTerminal.output == "\(folder("config/temblor/config.json")): written\n")
    var expected = SavedSettings()
    expected.deviceName = "plughw:CARD=Device"
    expected.profileNameOrPath = "dayton-bst-1"
    expected.hapticChannels = [2]
    // −30 + 3 + 3 + 1 dB.
    expected.masterGain = 0.071
    #expect(try saved() == expected)
  }

  /// The taps have half intensity at −30 dB, on each channel and then on both channels.
  @Test func tapsStartWeakAndPlayOnlyOnTheChosenChannel() throws {
    let environment = ScriptedEnvironment(
      [(1, .key(.character("2"))), (2, .key(.character("a"))), (3, .key(.enter))], channelCount: 2)
    #expect(
      try setup(
        ["--device", "hw:1", "--profile", "meta-quest"], answers: ["", ""], on: environment)
        == .success)
    func peak(_ channel: Int, _ seconds: ClosedRange<Double>) -> Float {
      environment.samples(channel)[
        Int(seconds.lowerBound * 48_000)..<Int(seconds.upperBound * 48_000)
      ]
      .map(abs).max() ?? 0
    }
    #expect(peak(0, 0...0.9) > 0.003 && peak(0, 0...0.9) < 0.03)
    #expect(peak(1, 0...0.9) < 0.001)
    #expect(peak(0, 1.1...1.9) < 0.001)
    #expect(peak(1, 1.1...1.9) > 0.003)
    #expect(peak(0, 2.1...2.9) > 0.003 && peak(1, 2.1...2.9) > 0.003)
    #expect(try saved().hapticChannels == [])
    #expect(try saved().masterGain == 0.032)
  }

  @Test func noKeyRaisesTheLevelAboveFullStrength() throws {
    let keys = (0..<20).map {
      (0.5 + 0.1 * Double($0), ScriptedEnvironment.ScriptStep.key(.character("+")))
    }
    let environment = ScriptedEnvironment(keys + [(4, .key(.enter))], channelCount: 2)
    #expect(
      try setup(["--device", "hw:1", "--profile", "phone"], answers: ["", ""], on: environment)
        == .success)
    #expect(try saved().masterGain == 1)
    #expect(environment.samples().allSatisfy { abs($0) < 0.3 })
  }

  /// The level is not raised while excursion protection limits the hardware.
  @Test func noKeyRaisesALimitedLevel() throws {
    try folder.write(
      """
      {"name": "tight", "summary": "Bears little.", "frequency": {"low": 25, "high": 80},
       "hardware": {"product": "A", "resonance": 40, "qualityFactor": 10, "continuousPower"\
      : 10, "acceleration": 8,
       "excursion": 0.01}, "amplifier": {"power": 40}, "sources": ["S"]}
      """, to: "tight.json")
    let keys = (0..<20).map {
      (0.9 * Double($0 + 1), ScriptedEnvironment.ScriptStep.key(.character("+")))
    }
    let environment = ScriptedEnvironment(keys + [(19, .key(.enter))], channelCount: 1)
    let arguments = ["--device", "hw:1", "--profile", folder("tight.json")]
    #expect(try setup(arguments, answers: ["", ""], on: environment) == .success)
    let strength = try #require(try saved().masterGain)
    #expect(strength > 0.032 && strength < 0.8)
  }

  @Test func savedOptionsAreMergedWithEarlierOnes() throws {
    let environment = ScriptedEnvironment(channelCount: 2, isTerminal: false)
    #expect(
      try setup(
        ["--save", "--device", "hw:1", "--haptics", "2", "--profile", "bst1"], on: environment)
        == .success)
    #expect(try setup(["--save", "--strength", "0.5"], on: environment) == .success)
    #expect(try setup(["--show"], on: environment) == .success)
    let path = folder("config/temblor/config.json")
    #expect(
      environment.recordedTerminal.output == """
        \(path): written
        \(path): written
        \(path):
        {
          "device": "hw:1",
          "profile": "dayton-bst-1",
          "haptics": [2],
          "strength": 0.5
        }

        """)
    #expect(try setup(["--save", "--haptics", "all"], on: environment) == .success)
    #expect(try saved().hapticChannels == [])
    #expect(try setup(["--forget"], on: environment) == .success)
    #expect(try setup(["--forget"], on: environment) == .success)
    #expect(try setup(["--show"], on: environment) == .success)
    #expect(
      environment.recordedTerminal.output.hasSuffix(
        """
        \(path): removed\nNo saved settings.\nNo saved settings. Run 'temblor setup' to \
        choose and save them.\n
        """
      ))
    #expect(environment.engine == nil)
  }

  @Test func channelsWithACrossoverAreSavedAndUsed() throws {
    let environment = ScriptedEnvironment(channelCount: 2, isTerminal: false)
    let channels = ["1=haptics,crossover=low:60", "2=haptics,crossover=high:60,eq=90:-4:2"]
    #expect(
      try setup(["--save", "--device", "hw:1", "--haptics", "2"], on: environment) == .success)
    #expect(
      try setup(["--save", "--channel", channels[0], "--channel", channels[1]], on: environment)
        == .success)
    #expect(try saved().channelSettings == channels)
    #expect(try saved().hapticChannels == [])
    func channelValues(_ commandLine: [String], _ command: Command) throws -> [String] {
      var arguments = try command.parseArguments(commandLine)
      try settings.applyDefaults(to: &arguments, on: environment.recordedTerminal.terminal)
      return arguments.values("--channel")
    }
    #expect(try channelValues(["light"], PlayCommand.definition()) == channels)
    #expect(try channelValues(["light", "--haptics", "1"], PlayCommand.definition()) == [])
    #expect(try channelValues(["light", "--device", "hw:2"], PlayCommand.definition()) == [])
    #expect(try setup(["--save", "--haptics", "1"], on: environment) == .success)
    #expect(try saved().channelSettings == [])
  }

  @Test func channelsAndHapticsTogetherAreRefused() {
    let text = #"{"haptics": [1], "channels": ["2=haptics"]}"#
    let error = #expect(throws: InputError.self) {
      try SavedSettings(
        jsonText: Array(text.utf8), name: "config.json", library: .fromEnvironment())
    }
    #expect(
      error?.description
        == """
        config.json:1:30: error: haptics and channels cannot be used together (channels); keep one \
        of them
        """
    )
  }

  // MARK: - Use by other verbs

  private static let file = """
    {"device": "hw:1", "profile": "dayton-bst-1", "haptics": [2], "strength": 0.5}
    """

  /// Returns the values of options, and the notice, for a command line with the file above and
  /// environment variables.
  private func completed(
    _ command: Command, _ commandLine: [String], environmentVariables: [String: String] = [:]
  ) throws -> (values: [String?], notice: String) {
    try folder.write(Self.file, to: "config.json")
    let recorded = RecordedTerminal(isTerminal: true, width: 200)
    var arguments = try command.parseArguments(commandLine)
    try Settings(settingsPath: folder("config.json"), environmentVariables: environmentVariables)
      .applyDefaults(
        to: &arguments, on: recorded.terminal)
    let values = ["--device", "--profile", "--haptics", "--strength"].map { option in
      command.option(named: option) == nil ? nil : arguments.value(option)
    }
    return (values, recorded.error)
  }

  @Test(
    arguments: [
      ([], [:], ["hw:1", "dayton-bst-1", "2", "0.5"]),
      (["--no-config"], [:], [nil, nil, nil, nil]),
      (["--profile", "phone"], [:], ["hw:1", "phone", "2", "0.5"]),
      (["--haptics", "1"], [:], ["hw:1", "dayton-bst-1", "1", "0.5"]),
      (["--channel", "1=haptics"], [:], ["hw:1", "dayton-bst-1", nil, "0.5"]),
      // Channels and level belong to the device.
      (["--device", "hw:2"], [:], ["hw:2", "dayton-bst-1", nil, nil]),
      (["--device", "hw:1"], [:], ["hw:1", "dayton-bst-1", "2", "0.5"]),
      (["--array", "a.json"], [:], ["hw:1", nil, nil, "0.5"]),
      (["--array", "a.json"], ["TEMBLOR_PROFILE": "phone"], ["hw:1", nil, nil, "0.5"]),
      ([], ["TEMBLOR_DEVICE": "hw:3"], ["hw:3", "dayton-bst-1", nil, nil]),
      ([], ["TEMBLOR_PROFILE": "speaker"], ["hw:1", "speaker", "2", "0.5"]),
      (["--no-config"], ["TEMBLOR_PROFILE": "speaker"], [nil, "speaker", nil, nil]),
      (["--profile", "phone"], ["TEMBLOR_PROFILE": "speaker"], ["hw:1", "phone", "2", "0.5"]),
    ] as [([String], [String: String], [String?])])
  func optionsOverrideVariablesAndVariablesOverrideTheFile(
    options: [String], environmentVariables: [String: String], values: [String?]
  ) throws {
    #expect(
      try completed(
        PlayCommand.definition(), ["light"] + options, environmentVariables: environmentVariables
      ).values
        == values)
  }

  @Test("A sweep plays on the saved channels")
  func sweepUsesSavedChannels() throws {
    #expect(
      try completed(SweepCommand.definition, []).values == ["hw:1", "dayton-bst-1", "2", nil])
    #expect(
      try completed(CalibrateCommand.definition, ["--by-hand", "--haptics", "1"]).values
        == ["hw:1", "dayton-bst-1", "1", nil])
  }

  @Test func savedSettingsAreNamedOnce() throws {
    #expect(
      try completed(PlayCommand.definition(), ["light"]).notice
        == """
        Using saved settings: device hw:1, profile dayton-bst-1, haptics on channel 2, strength \
        0.5 (ignore with '--no-config')

        """
    )
    #expect(
      try completed(PlayCommand.definition(), ["light", "--profile", "phone", "-d", "hw:9"]).notice
        == "")
    #expect(try completed(PlayCommand.definition(), ["light", "-q"]).notice == "")
  }

  @Test func variableWithAnUnknownProfileIsReported() throws {
    let error = #expect(throws: UsageError.self) {
      try completed(
        PlayCommand.definition(), ["light"], environmentVariables: ["TEMBLOR_PROFILE": "zither"])
    }
    #expect(
      error?.description
        == "TEMBLOR_PROFILE: unknown profile 'zither'; run 'temblor profiles' to list profiles")
  }

  // MARK: - Cards

  @Test func deviceListEndsWithTheOptionOfEachCard() {
    #expect(
      DevicesCommand.playCommandAdvice(Self.card) == """
        To play on a card, use its option, or save it with 'temblor setup':
          --device plughw:CARD=Device  USB Audio, USB Out

        """)
    let second = OutputListing(
      name: "plughw:CARD=PCH,DEV=3", description: "HDA Intel PCH, HDMI 0, Hardware device")
    #expect(
      DevicesCommand.playCommandAdvice([second]).hasSuffix(
        "\n  --device plughw:CARD=PCH,DEV=3  HDA Intel PCH, HDMI 0\n"))
    #expect(
      DevicesCommand.playCommandAdvice([OutputListing(name: "default", description: "")])
        == "No sound card found. Connect a sound card, or write a file with --device wav:FILE.\n")
  }
}
