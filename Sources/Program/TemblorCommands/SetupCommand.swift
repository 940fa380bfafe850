enum SetupCommand {
  private static let haptics = Option(
    "--haptics", value: "LIST",
    help: "Channels of the transducers, numbered from 1, such as 2 or 3,4; or all.")
  private static let strength = Option("--strength", value: "S", help: "Overall gain, 0 to 1.")
    .double(in: 0...1)
  private static let settingOptionsText =
    "'--device', '--profile', '--haptics', '--channel' or '--strength'"

  static func definition(_ choices: Settings) -> Command {
    Command(
      "setup", abstract: "Choose device, profile, channel and level once, for all verbs that play.",
      discussion: """
        At a terminal, setup asks for the device and the profile, then taps on one channel af\
        ter the other, weak at first. Keys choose the channel and raise the level until a tap is \
        clearly felt. What an option gives is not asked for.

        The settings are saved in $XDG_CONFIG_HOME/temblor/config.json (\
        default ~/.config/temblor/config.json). Verbs that play use them and name them on standard\
         error. Verbs that judge or write files do not use them: name a profile with --profile th\
        ere. An option outranks the variables TEMBLOR_DEVICE and TEMBLOR_PROFILE, which outrank th\
        e file. Channels and strength are used on the saved device only.
        """,
      options: [
        DeviceOptions.device,
        Option(
          "--profile", value: "WORDS",
          help:
            """
            Profile of the transducer: a name from 'temblor profiles', words of one such as \
            'BST-1', or a file.
            """,
          completion: SharedOptions.profileCompletion), haptics, RoutingOptions.channel, strength,
        Option(
          "--save", help: "Save what the options give, without questions; other settings stay."),
        Option("--show", help: "Show what is saved."),
        Option("--forget", help: "Remove what is saved."),
      ],
      examples: [
        .init("temblor setup", "Answer questions, feel taps, save."),
        .init(
          "temblor setup --device plughw:CARD=Device --profile BST-1 --haptics 2 --save",
          "A shaker on the right channel of a stereo card."),
        .init(
          """
          temblor setup --channel 1=haptics,crossover=low:60 --channel \
          2=haptics,crossover=high:60 --save
          """,
          "A shaker and a subwoofer with a crossover."),
        .init("temblor setup --forget", "Start again."),
      ]
    ) { arguments, terminal in
      try run(
        arguments, terminal, settings: choices, on: SystemEnvironment(),
        outputs: { OutputRegistry.standard.outputs() },
        readAnswer: { readLine() })
    }
  }

  /// Runs the command.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the command.
  ///   - terminal: The streams.
  ///   - settings: The settings to read and save.
  ///   - backend: The environment that plays taps.
  ///   - outputs: Returns the available outputs.
  ///   - answer: Returns a line that the user types, or nil at the end of input.
  static func run(
    _ arguments: ParsedArguments, _ terminal: Terminal, settings choices: Settings,
    on backend: any PlaybackEnvironment,
    outputs: () -> [OutputListing], readAnswer answer: @escaping () -> String?
  ) throws -> ExitStatus {
    try SharedOptions.refuseBoth("--show", "--forget", in: arguments)
    if arguments.flag("--show") {
      let saved = try choices.readFile()
      if let path = choices.path, saved != SavedSettings() {
        try terminal.output.writeLine("\(path.printable):")
        try terminal.output.write(saved.text.span)
      } else {
        try terminal.output.writeLine("Nothing is saved; 'temblor setup' chooses and saves.")
      }
      return .done
    }
    if arguments.flag("--forget") {
      let path = try choices.removeFile()
      try terminal.output.writeLine(path.map { "\($0.printable): removed" } ?? "Nothing is saved.")
      return .done
    }
    var given = SavedSettings()
    given.device = try DeviceOptions.name(arguments)
    given.profile = try arguments.value("--profile").map(profileName)
    let channels = try arguments.value("--haptics").map(channels)
    given.hapticChannels = channels ?? []
    let routed = try RoutingOptions.channels(arguments)
    given.channelSettings = arguments.values("--channel")
    if !routed.isEmpty {
      try SharedOptions.refuseBoth("--haptics", "--channel", in: arguments)
    }
    given.strength = try arguments[strength]
    var chosen = try choices.readFile()
    if arguments.flag("--save") {
      guard given != SavedSettings() || channels != nil else {
        throw UsageError("'--save' needs \(settingOptionsText)")
      }
      chosen.device = given.device ?? chosen.device
      chosen.profile = given.profile ?? chosen.profile
      if channels != nil || !routed.isEmpty {
        chosen.hapticChannels = given.hapticChannels
        chosen.channelSettings = given.channelSettings
      }
      chosen.strength = given.strength ?? chosen.strength
      try checkChannels(of: chosen, on: backend)
    } else {
      guard terminal.error.isTerminal, backend.keyboard() != nil else {
        throw UsageError(
          "setup asks at a terminal; without one, use '--save' with \(settingOptionsText)")
      }
      let questions = SetupQuestions(terminal: terminal, readAnswer: answer)
      let hasChannels = channels != nil || !routed.isEmpty
      let found = try questions.askSettings(
        given, hasChannels: hasChannels, outputs: outputs, on: backend)
      guard let found, let path = choices.path,
        questions.confirms("Save these settings in \(path.printable)?")
      else {
        terminal.report("Nothing was saved.")
        return .done
      }
      chosen = found
    }
    try terminal.output.writeLine("\(try choices.save(chosen).printable): written")
    return .done
  }

  /// Checks that the device has all channels, without playing. A busy device is accepted.
  private static func checkChannels(of chosen: SavedSettings, on backend: any PlaybackEnvironment)
    throws
  {
    guard let name = chosen.device else { return }
    let routed = chosen.channelSettings.compactMap { Int($0.prefix { $0 != "=" }) }
    let count = (chosen.hapticChannels + routed).max() ?? 1
    let options = DeviceOptions(name, channelCount: count)
    guard options.file == nil else { return }
    do {
      let output = try backend.open(name, options.request)
      let device = output.name
      let has = output.format.channelCount
      guard has >= count else {
        throw UsageError(
          "channel \(count) is routed, and \(device.inQuotes) has \(has.counted("channel"))")
      }
    } catch let error as OutputError where error.kind == .busy {}
  }

  /// Parses a list such as `3,4`, or `all`, which is an empty list.
  private static func channels(_ text: String) throws(UsageError) -> [Int] {
    if text == "all" { return [] }
    let entries = try RoutingOptions.channels(text, option: "--haptics")
    guard !entries.isEmpty, entries.allSatisfy({ $0.gain == 1 }) else {
      throw UsageError("'--haptics' of setup takes channel numbers or all, not \(text.inQuotes)")
    }
    return entries.map { $0.index + 1 }
  }

  /// Returns the name of the only profile that matches, or the absolute path of a file.
  static func profileName(_ words: String) throws -> String {
    let library = ProfileLibrary.fromEnvironment()
    if ProfileFile.isPath(words) {
      _ = try SharedOptions.profile(named: words)
      return FileSystem.realPath(words) ?? words
    }
    return try ProfileInput.entry(for: words, in: library).name
  }
}

struct SetupQuestions {
  let terminal: Terminal
  let readAnswer: () -> String?

  /// Asks for the settings that are not given. Returns nil if the user gave up.
  func askSettings(
    _ given: SavedSettings, hasChannels: Bool, outputs: () -> [OutputListing],
    on backend: any PlaybackEnvironment
  )
    throws -> SavedSettings?
  {
    var chosen = given
    var channelCount = 2
    if chosen.device == nil {
      guard let (name, count) = try askDevice(outputs()) else { return nil }
      chosen.device = name
      channelCount = count
    }
    if chosen.profile == nil {
      guard let name = askProfile() else { return nil }
      chosen.profile = name
    }
    if hasChannels, chosen.strength != nil { return chosen }
    guard ask("Turn the amplifier's volume down, and press Enter to start the taps.") != nil else {
      return nil
    }
    let profile = try SharedOptions.profile(named: chosen.profile ?? TransducerProfile.phone.name)
    let session = LiveSession(
      in: backend, terminal: terminal, isQuiet: false, wantsBlockTimings: false)
    let options = DeviceOptions(
      chosen.device ?? DeviceOptions.defaultDevice,
      channelCount: max(channelCount, chosen.hapticChannels.max() ?? 1))
    let (_, made) = try session.run(options) { granted in
      let task = try SetupTapActivity(
        profile, on: granted, channel: chosen.hapticChannels.first, strength: chosen.strength)
      return (task.engine, task)
    }
    guard made.isAccepted else { return nil }
    if !hasChannels {
      chosen.hapticChannels = made.channel.map { [$0] } ?? []
    }
    chosen.strength = made.savedStrength
    return chosen
  }

  func confirms(_ question: String) -> Bool {
    guard let word = ask("\(question) [Y/n]")?.lowercased() else { return false }
    return word.isEmpty || word.hasPrefix("y")
  }

  private func ask(_ question: String) -> String? {
    try? terminal.error.write(question + " ")
    return readAnswer().map { String($0.drop { $0 == " " }) }
  }

  /// Asks for one of the usual outputs: the default device, sound servers, and sound cards.
  private func askDevice(_ outputs: [OutputListing]) throws -> (name: String, channelCount: Int)? {
    let usable = outputs.filter { $0.probeError == nil || $0.probeError?.kind == .busy }
    var rows: [(name: String, words: String, channelCount: Int)] = []
    for output in usable {
      if let card = SoundCard(output) {
        // ALSA's conversion accepts any number of channels.
        let own = usable.first { $0.name == card.hardwareName }?.capabilities?.channelCounts.max()
        rows.append((card.deviceName, card.name, min(own ?? 2, 8)))
      } else if ["default", "pipewire", "pulse", "jack"].contains(output.name)
        || NamedSink(device: output.name) != nil
      {
        rows.append((output.name, output.description.printable, 2))
      }
    }
    guard !rows.isEmpty else {
      throw OutputError(
        .other, output: DeviceOptions.defaultDevice,
        "no sound card was found; connect one and run setup again")
    }
    terminal.report("Devices:")
    let lines = rows.enumerated().map {
      ["  \($0.offset + 1)", $0.element.words, "--device \($0.element.name)"]
    }
    for line in TextTable.lines(lines) {
      terminal.report(line)
    }
    while let word = ask("Number of the device with the transducer (Enter: 1):") {
      if let number = word.isEmpty ? 1 : Int(word), 1...rows.count ~= number {
        return (rows[number - 1].name, rows[number - 1].channelCount)
      }
      terminal.report("It is a number from 1 to \(rows.count).")
    }
    return nil
  }

  private func askProfile() -> String? {
    let usual = TransducerProfile.phone.name
    while let words = ask(
      "Words of the transducer's name, such as BST-1, Dayton or buttkicker (Enter: \(usual)):")
    {
      do {
        let name = try SetupCommand.profileName(words.isEmpty ? usual : words)
        terminal.report("Profile \(name.printable).")
        return name
      } catch {
        terminal.report(Failure.message(error))
      }
    }
    return nil
  }
}

/// Taps at a steady pace. Keys change the channel and the level until a tap is clearly felt.
final class SetupTapActivity: PlaybackActivity {
  /// The initial level and the minimum level, in decibels relative to full strength.
  static let levels = (start: -30.0, least: -60.0)
  private static let tapInterval = Duration.milliseconds(800)

  let engine: PlaybackEngine
  /// The active channel, from 1, or nil for all channels.
  private(set) var channel: Int?
  private(set) var isAccepted = false
  private let players: [PatternPlayer]
  private var levelDecibels: Double
  private var nextTapTime = Duration.zero
  /// The number of limited frames when the level was last changed.
  private var limitedFrameCount: Int64 = 0

  /// Creates the taps.
  ///
  /// - Parameters:
  ///   - profile: The profile of the transducer.
  ///   - device: The open device.
  ///   - channel: The first channel to tap, from 1, or nil for channel 1.
  ///   - strength: The initial strength, or nil for a weak tap.
  init(_ profile: TransducerProfile, on device: DeviceSummary, channel: Int?, strength: Double?)
    throws
  {
    let count = device.format.channelCount
    // An array of all channels gives each channel its own bus.
    let array = TransducerArray(
      name: "setup",
      transducers: (1...count).map {
        .init(channel: $0, position: ArrayPosition(Double($0)), profile: profile)
      })
    var routing = ChannelRouting()
    routing.array = array
    let (channels, profiles) = routing.resolved(
      channelCount: count, rate: device.format.rate, profile: profile)
    let engine = PlaybackEngine(
      rate: device.format.rate, routing: channels, profiles: profiles, strength: 0)
    let tap = TapCommand.tapPattern(count: 1, gap: 1, intensity: 0.5, sharpness: 0.5)
    let piece = try CompiledPattern(name: "tap", tap, for: engine)
    players = try (0...count).map { number in
      let shares =
        number == 0
        ? [] : PanPath(at: ArrayPosition(Double(number))).sendGains(on: array, rate: engine.rate)
      return try engine.player(for: piece.plans, duration: piece.duration, sendGains: shares)
    }
    self.engine = engine
    self.channel = min(channel ?? 1, count)
    levelDecibels =
      strength.map { max(NumberFormatting.decibels(Float($0)), Self.levels.least) }
      ?? Self.levels.start
    applyLevel()
  }

  /// The strength to three decimal places, never 0.
  var savedStrength: Double { max(0.001, (Double(engine.strength) * 1_000).rounded() / 1_000) }
  var progress: (position: Double, duration: Double?) { (engine.seconds, nil) }

  var title: ActivityTitle? {
    let place = channel.map { "channel \($0)" } ?? "all channels"
    let title = "\(place), \(levelDecibels.text(places: 0)) dB"
    return ActivityTitle(long: title, short: title)
  }

  var keys: [KeyHelp] {
    [
      ("Enter", "clearly felt"), ("+ -", "3 dB"), ("right left", "1 dB"),
      (players.count > 2 ? "1-\(players.count - 1)" : "1", "channel"), ("a", "all channels"),
    ]
  }

  func update(at now: Duration) throws -> ActivityStep {
    if isAccepted { return .finished }
    if now >= nextTapTime {
      try players[channel ?? 0].start()
      nextTapTime = now + Self.tapInterval
    }
    return .wait(nextTapTime - now)
  }

  func handleKey(_ key: KeyPress) throws -> Bool {
    switch key {
    case .enter:
      isAccepted = true
    case .character("+"), .character("="), .up:
      changeLevel(by: 3)
    case .character("-"), .character("_"), .down:
      changeLevel(by: -3)
    case .right:
      changeLevel(by: 1)
    case .left:
      changeLevel(by: -1)
    case .character("a"), .character("A"):
      channel = nil
    case .character(let digit):
      guard let number = Int(String(digit)), players.indices.dropFirst().contains(number) else {
        return false
      }
      channel = number
    default:
      return false
    }
    return true
  }

  /// Changes the level by a step, up to full strength. The level does not rise while protection
  /// limits it.
  private func changeLevel(by step: Double) {
    let held =
      engine.limitedFrameCount + engine.excursionLimitedFrameCount + engine.powerLimitedFrameCount
    if step > 0, held > limitedFrameCount { return }
    limitedFrameCount = held
    levelDecibels = min(max(levelDecibels + step, Self.levels.least), 0)
    applyLevel()
  }

  private func applyLevel() {
    engine.strength = Float(NumberFormatting.amplitude(decibels: levelDecibels))
  }
}
