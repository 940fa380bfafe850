import CommandLineKit
import HapticOutputs
import HapticPlayback
import HapticRender
import PatternWorkflows
import PlaybackSessions
import SystemSupport
import TransducerProfiles

/// The command `setup`, which saves the device, profile, channel, and level for commands that play.
enum SetupCommand {
  private static let hapticChannelsOption = Option(
    "--haptics", value: "LIST",
    help: """
      Output channels of the transducers, numbered from 1, such as 2 or 3,4. Use 'all' for all \
      channels.
      """
  ).text()
  private static let profileOption = Option(
    "--profile", value: "PROFILE",
    help: """
      Profile of the transducer: a name from 'temblor profiles', part of a name such as 'BST-1', \
      or a file.
      """, completion: SharedOptions.profileCompletion
  ).text()
  private static let saveOption = Option(
    "--save", help: "Save the given options without asking questions, and keep all other settings."
  ).flag()
  private static let showOption = Option("--show", help: "Show the saved settings.").flag()
  private static let forgetOption = Option("--forget", help: "Remove the saved settings.").flag()
  private static let strengthOption = Option(
    "--strength", value: "S", help: "Overall gain, 0 to 1."
  )
  .double(in: 0...1)
  private static let settingOptionsText =
    "'--device', '--profile', '--haptics', '--channel', or '--strength'"

  static func definition(_ settings: Settings) -> Command {
    Command(
      "setup", abstract: "Choose and save the device, profile, channel, and level.",
      discussion: """
        On a terminal, setup asks for the device and the profile. It then plays repeated taps on \
        one channel, starting at a low level. Press keys to choose the channel, and to raise the \
        level until you clearly feel the taps. Setup does not ask for values that you specify with \
        options.

        Settings are saved in $XDG_CONFIG_HOME/temblor/config.json (default \
        ~/.config/temblor/config.json). Commands that play use these settings and name them on \
        standard error. Commands that evaluate or write files ignore the settings. Specify a \
        profile for these commands with --profile. Options override the environment variables \
        TEMBLOR_DEVICE and TEMBLOR_PROFILE, and these variables override the settings. The saved \
        channels and strength apply only to the saved device.
        """,
      options: [
        DeviceOptions.deviceOption, profileOption, hapticChannelsOption,
        RoutingOptions.channelOption,
        strengthOption, saveOption, showOption,
        forgetOption,
      ],
      examples: [
        .init("temblor setup", "Answer questions, feel taps, and save the settings."),
        .init(
          "temblor setup --device plughw:CARD=Device --profile BST-1 --haptics 2 --save",
          "Use a shaker on the right channel of a stereo sound card."),
        .init(
          """
          temblor setup --channel 1=haptics,crossover=low:60 --channel 2=haptics,crossover=high:60 \
          --save
          """,
          "Use a shaker and a subwoofer with a crossover."),
        .init("temblor setup --forget", "Remove the settings."),
      ]
    ) { arguments, terminal in
      try run(
        arguments, terminal, settings: settings, on: SystemEnvironment(),
        outputs: { OutputRegistry.standard.outputs() },
        readAnswer: { readLine() })
    }
  }

  struct Options {
    let showsSavedSettings: Bool
    let removesSavedSettings: Bool
    let savesSettings: Bool
    /// The settings that are specified on the command line.
    let requestedSettings: SavedSettings
    /// A Boolean value that indicates whether the command line selects channels.
    let selectsChannels: Bool

    init(_ arguments: ParsedArguments) throws {
      try SharedOptions.refuseCombination("--show", "--forget", in: arguments)
      showsSavedSettings = try arguments[showOption]
      removesSavedSettings = try arguments[forgetOption]
      savesSettings = try arguments[saveOption]
      guard !showsSavedSettings, !removesSavedSettings else {
        requestedSettings = SavedSettings()
        selectsChannels = false
        return
      }
      var settings = SavedSettings()
      settings.deviceName = try DeviceOptions.parseName(arguments)
      settings.profileNameOrPath = try arguments[profileOption].map(resolveProfileName)
      let channels = try arguments[hapticChannelsOption].map(RoutingOptions.parseChannelNumbers)
      settings.hapticChannels = channels ?? []
      let routed = try RoutingOptions.parseChannelSettings(arguments)
      settings.channelSettings = arguments.values(
        RoutingOptions.channelOption.option.primarySpelling)
      if !routed.isEmpty {
        try SharedOptions.refuseCombination("--haptics", "--channel", in: arguments)
      }
      settings.masterGain = try arguments[strengthOption]
      self.requestedSettings = settings
      selectsChannels = channels != nil || !routed.isEmpty
    }
  }

  /// Runs the command `setup`.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the command.
  ///   - terminal: The streams.
  ///   - settings: The settings to read and save.
  ///   - environment: The environment that plays taps.
  ///   - outputs: Returns the available outputs.
  ///   - readAnswer: Returns a line that the user types, or nil at the end of input.
  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, settings: Settings,
    on environment: any PlaybackEnvironment, outputs: () -> [OutputListing],
    readAnswer: @escaping () -> String?
  ) throws -> ExitStatus {
    let options = try Options(arguments)
    if options.showsSavedSettings {
      try showSavedSettings(of: settings, on: terminal.output)
      return .success
    }
    if options.removesSavedSettings {
      let path = try settings.removeSavedSettings()
      try terminal.output.writeLine(path.map { "\($0.printable): removed" } ?? "No saved settings.")
      return .success
    }
    let savedSettings = try settings.readSavedSettings()
    let selectedSettings: SavedSettings
    if options.savesSettings {
      selectedSettings = try mergedSettings(options, into: savedSettings)
      try checkChannels(of: selectedSettings, on: environment)
    } else {
      guard terminal.errorOutput.isTerminal, environment.makeKeyboard() != nil else {
        throw UsageError(
          "setup is interactive; without a terminal, use '--save' with \(settingOptionsText)")
      }
      let questions = SetupQuestions(terminal: terminal, readAnswer: readAnswer)
      let answers = try questions.askSettings(
        options.requestedSettings, hasChannels: options.selectsChannels, outputs: outputs,
        on: environment)
      guard let answers, let path = settings.settingsPath,
        questions.askForConfirmation("Save these settings to \(path.printable)?")
      else {
        terminal.report("No settings were saved.")
        return .success
      }
      selectedSettings = answers
    }
    try terminal.output.writeLine(
      "\(try settings.saveSettings(selectedSettings).printable): written")
    return .success
  }

  private static func showSavedSettings(of settings: Settings, on output: Output) throws {
    let savedSettings = try settings.readSavedSettings()
    guard let settingsPath = settings.settingsPath, savedSettings != SavedSettings() else {
      return try output.writeLine("No saved settings. Run 'temblor setup' to choose and save them.")
    }
    try output.writeLine("\(settingsPath.printable):")
    try output.write(savedSettings.jsonText.span)
  }

  /// Returns the saved settings with the changes that the command line requests.
  private static func mergedSettings(_ options: Options, into saved: SavedSettings)
    throws(UsageError)
    -> SavedSettings
  {
    let requestedSettings = options.requestedSettings
    guard requestedSettings != SavedSettings() || options.selectsChannels else {
      throw UsageError("'--save' requires \(settingOptionsText)")
    }
    var newSettings = saved
    newSettings.deviceName = requestedSettings.deviceName ?? saved.deviceName
    newSettings.profileNameOrPath = requestedSettings.profileNameOrPath ?? saved.profileNameOrPath
    if options.selectsChannels {
      newSettings.hapticChannels = requestedSettings.hapticChannels
      newSettings.channelSettings = requestedSettings.channelSettings
    }
    newSettings.masterGain = requestedSettings.masterGain ?? saved.masterGain
    return newSettings
  }

  /// Checks that the device has all channels of the settings, without playing. A busy device is
  /// accepted.
  private static func checkChannels(
    of settings: SavedSettings, on environment: any PlaybackEnvironment
  ) throws {
    guard let savedDeviceName = settings.deviceName else { return }
    let routedChannelNumbers = settings.channelSettings.compactMap { Int($0.prefix { $0 != "=" }) }
    let usedChannelCount = (settings.hapticChannels + routedChannelNumbers).max() ?? 1
    let deviceOptions = DeviceOptions(savedDeviceName, channelCount: usedChannelCount)
    guard deviceOptions.outputFilePath == nil else { return }
    do {
      let output = try environment.openOutput(savedDeviceName, deviceOptions.outputRequest)
      let deviceName = output.name
      let channelCount = output.format.channelCount
      guard channelCount >= usedChannelCount else {
        let channels = channelCount.countText("channel")
        throw UsageError(
          "channel \(usedChannelCount) is in use, but \(deviceName.inQuotes) has \(channels)")
      }
    } catch let error as OutputError where error.kind == .busy {}
  }

  /// Returns the name of the only library profile that matches a text, or the absolute path if the
  /// text is the path of a profile file.
  static func resolveProfileName(_ text: String) throws -> String {
    let library = ProfileLibrary.fromEnvironment()
    if ProfileFile.isPath(text) {
      _ = try SharedOptions.loadProfile(named: text)
      return FileSystem.realPath(text) ?? text
    }
    return try ProfileInput.entry(for: text, in: library).name
  }
}

/// The questions that `setup` asks at a terminal.
struct SetupQuestions {
  let terminal: Terminal
  let readAnswer: () -> String?

  /// Asks for the settings that the command line omits. Returns nil if the user gave up.
  ///
  /// - Parameters:
  ///   - given: The settings on the command line.
  ///   - hasChannels: A Boolean value that indicates whether the command line selects channels.
  ///   - outputs: Returns the available outputs.
  ///   - environment: The environment that plays taps.
  func askSettings(
    _ given: SavedSettings, hasChannels: Bool, outputs: () -> [OutputListing],
    on environment: any PlaybackEnvironment
  ) throws -> SavedSettings? {
    var settings = given
    var channelCount = 2
    if settings.deviceName == nil {
      guard let (name, count) = try askForDevice(outputs()) else { return nil }
      settings.deviceName = name
      channelCount = count
    }
    if settings.profileNameOrPath == nil {
      guard let name = askForProfile() else { return nil }
      settings.profileNameOrPath = name
    }
    if hasChannels, settings.masterGain != nil { return settings }
    guard askQuestion("Turn down the amplifier, and press Enter to start the taps.") != nil else {
      return nil
    }
    let tapActivity = try adjustLevelWithTaps(settings, channelCount: channelCount, on: environment)
    guard tapActivity.isLevelAccepted else { return nil }
    if !hasChannels {
      settings.hapticChannels = tapActivity.activeChannelNumber.map { [$0] } ?? []
    }
    settings.masterGain = tapActivity.strengthToSave
    return settings
  }

  /// Plays taps until the user accepts the level or quits.
  private func adjustLevelWithTaps(
    _ settings: SavedSettings, channelCount: Int, on environment: any PlaybackEnvironment
  ) throws -> SetupTapActivity {
    let profile = try SharedOptions.loadProfile(
      named: settings.profileNameOrPath ?? TransducerProfile.phone.name)
    let session = LiveSession(
      in: environment, terminal: terminal, isQuiet: false, wantsBlockTimings: false)
    let deviceOptions = DeviceOptions(
      settings.deviceName ?? DeviceOptions.defaultDevice,
      channelCount: max(channelCount, settings.hapticChannels.max() ?? 1))
    let (_, taps) = try session.run(deviceOptions) { device in
      let taps = try SetupTapActivity(
        profile, on: device, activeChannelNumber: settings.hapticChannels.first,
        strength: settings.masterGain)
      return (taps.engine, taps)
    }
    return taps
  }

  func askForConfirmation(_ question: String) -> Bool {
    guard let lowercasedAnswer = askQuestion("\(question) [Y/n]")?.lowercased() else {
      return false
    }
    return lowercasedAnswer.isEmpty || lowercasedAnswer.hasPrefix("y")
  }

  private func askQuestion(_ question: String) -> String? {
    try? terminal.errorOutput.write(question + " ")
    return readAnswer().map { String($0.drop { $0 == " " }) }
  }

  /// A row in the list of output devices that `setup` offers.
  private typealias DeviceRow = (name: String, description: String, channelCount: Int)

  /// Asks for one of the common outputs, which are the default device, sound servers, and sound
  /// cards.
  private func askForDevice(_ outputs: [OutputListing]) throws -> (name: String, channelCount: Int)?
  {
    let listedDevices = deviceRows(outputs)
    guard !listedDevices.isEmpty else {
      throw OutputError(
        .other, output: DeviceOptions.defaultDevice,
        "no sound card found; connect a sound card and run setup again")
    }
    terminal.report("Devices:")
    let tableRows = listedDevices.enumerated().map { index, row in
      ["  \(index + 1)", row.description, "--device \(row.name)"]
    }
    for line in TextTable.lines(ofRows: tableRows) {
      terminal.report(line)
    }
    while let answer = askQuestion("Which device is the transducer connected to? (Enter: 1)") {
      if let number = answer.isEmpty ? 1 : Int(answer), 1...listedDevices.count ~= number {
        return (listedDevices[number - 1].name, listedDevices[number - 1].channelCount)
      }
      terminal.report("Enter a number from 1 to \(listedDevices.count).")
    }
    return nil
  }

  private func deviceRows(_ outputs: [OutputListing]) -> [DeviceRow] {
    let usableOutputs = outputs.filter { $0.probeError == nil || $0.probeError?.kind == .busy }
    return usableOutputs.compactMap { output -> DeviceRow? in
      if let card = SoundCard(output) {
        // ALSA's conversion accepts any number of channels.
        let hardware = usableOutputs.first { $0.name == card.hardwareDeviceName }
        let channelCount = hardware?.capabilities?.channelCounts.max() ?? 2
        return (card.deviceName, card.cardName, min(channelCount, 8))
      }
      let isServer = ["default", "pipewire", "pulse", "jack"].contains(output.name)
      guard isServer || NamedSink(device: output.name) != nil else { return nil }
      return (output.name, output.description.printable, 2)
    }
  }

  private func askForProfile() -> String? {
    let defaultName = TransducerProfile.phone.name
    while let answer = askQuestion(
      """
      Words in the transducer's name, such as BST-1, Dayton, or buttkicker (Enter: \(defaultName)):
      """)
    {
      do {
        let name = try SetupCommand.resolveProfileName(answer.isEmpty ? defaultName : answer)
        terminal.report("Profile \(name.printable).")
        return name
      } catch {
        terminal.report(ErrorReporting.messageText(error))
      }
    }
    return nil
  }
}

/// Plays taps at regular intervals, while keys change the channel and the level until a tap is
/// clearly felt.
final class SetupTapActivity: PlaybackActivity {
  /// The initial level of the taps, in decibels relative to full strength.
  static let initialLevelDecibels = -30.0
  /// The minimum level of the taps, in decibels relative to full strength.
  static let minimumLevelDecibels = -60.0
  private static let tapInterval = Duration.milliseconds(800)

  let engine: PlaybackEngine
  /// The number of the active channel, from 1, or nil for all channels.
  private(set) var activeChannelNumber: Int?
  private(set) var isLevelAccepted = false
  private let playersByChannel: [PatternPlayer]
  private var levelDecibels: Double
  private var nextTapTime = Duration.zero
  /// The number of frames that the limiter or the transducer protection had attenuated at the last
  /// level change.
  private var limitedFrameCountAtLevelChange: Int64 = 0

  /// Creates the taps.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - device: The open device.
  ///   - activeChannelNumber: The first channel to tap, from 1, or nil for channel 1.
  ///   - strength: The initial strength, or nil for a weak tap.
  init(
    _ profile: TransducerProfile, on device: DeviceSummary, activeChannelNumber: Int?,
    strength: Double?
  )
    throws
  {
    let channelCount = device.format.channelCount
    // An array of all channels gives each channel its own bus.
    let transducerArray = TransducerArray(
      name: "setup",
      transducers: (1...channelCount).map {
        .init(channelNumber: $0, position: ArrayPosition(Double($0)), profile: profile)
      })
    var channelRouting = ChannelRouting()
    channelRouting.transducerArray = transducerArray
    let (channels, profiles) = channelRouting.resolvedRouting(
      channelCount: channelCount, rate: device.format.rate, profile: profile)
    let engine = PlaybackEngine(
      rate: device.format.rate, routing: channels, profiles: profiles, strength: 0)
    let tapPattern = TapCommand.tapPattern(count: 1, interval: 1, intensity: 0.5, sharpness: 0.5)
    let compiledTap = try CompiledPattern(name: "tap", tapPattern, for: engine)
    playersByChannel = try (0...channelCount).map { number in
      let shares =
        number == 0
        ? []
        : PanPath(at: ArrayPosition(Double(number))).sendGains(
          on: transducerArray, rate: engine.rate)
      return try engine.player(
        for: compiledTap.plansByHapticBus, duration: compiledTap.durationSeconds, sendGains: shares)
    }
    self.engine = engine
    self.activeChannelNumber = min(activeChannelNumber ?? 1, channelCount)
    levelDecibels =
      strength.map {
        max(NumberFormatting.decibels(ofAmplitude: Float($0)), Self.minimumLevelDecibels)
      }
      ?? Self.initialLevelDecibels
    applyLevel()
  }

  /// The strength to save in the settings, rounded to three decimal places and never 0.
  var strengthToSave: Double { max(0.001, (Double(engine.strength) * 1_000).rounded() / 1_000) }
  var playbackProgress: (position: Double, duration: Double?) { (engine.positionSeconds, nil) }

  var statusTitle: ActivityTitle? {
    let channelText = activeChannelNumber.map { "channel \($0)" } ?? "all channels"
    let titleText = "\(channelText), \(levelDecibels.text(places: 0)) dB"
    return ActivityTitle(longTitle: titleText, shortTitle: titleText)
  }

  var keyHelp: [KeyHelp] {
    [
      ("Enter", "clearly felt"), ("+ -", "3 dB"), ("right left", "1 dB"),
      (playersByChannel.count > 2 ? "1-\(playersByChannel.count - 1)" : "1", "channel"),
      ("a", "all channels"),
    ]
  }

  func updateActivity(at now: Duration) throws -> ActivityStep {
    if isLevelAccepted { return .finished }
    if now >= nextTapTime {
      try playersByChannel[activeChannelNumber ?? 0].start()
      nextTapTime = now + Self.tapInterval
    }
    return .wait(nextTapTime - now)
  }

  func handleKey(_ key: KeyPress) throws -> Bool {
    switch key {
    case .enter:
      isLevelAccepted = true
    case .character("+"), .character("="), .up:
      changeLevel(byDecibels: 3)
    case .character("-"), .character("_"), .down:
      changeLevel(byDecibels: -3)
    case .right:
      changeLevel(byDecibels: 1)
    case .left:
      changeLevel(byDecibels: -1)
    case .character("a"), .character("A"):
      activeChannelNumber = nil
    case .character(let digit):
      guard let number = Int(String(digit)), playersByChannel.indices.dropFirst().contains(number)
      else {
        return false
      }
      activeChannelNumber = number
    default:
      return false
    }
    return true
  }

  /// Changes the level of the taps by a step, up to full strength. The level does not rise while
  /// the limiter or the transducer protection attenuates the taps.
  private func changeLevel(byDecibels step: Double) {
    let limitedFrameCount =
      engine.limitedFrameCount + engine.excursionLimitedFrameCount + engine.powerLimitedFrameCount
    if step > 0, limitedFrameCount > limitedFrameCountAtLevelChange { return }
    limitedFrameCountAtLevelChange = limitedFrameCount
    levelDecibels = min(max(levelDecibels + step, Self.minimumLevelDecibels), 0)
    applyLevel()
  }

  private func applyLevel() {
    engine.strength = Float(NumberFormatting.amplitude(decibels: levelDecibels))
  }
}
