enum RoutingOptions {
  static let group = OptionGroup(
    "Channels",
    Option(
      "--haptics", value: "LIST",
      help:
        """
        Haptic channels, numbered from 1, each with an optional gain in dB, such as 1,2:-6; or \
        none.
        """,
      defaultText: "all"),
    Option(
      "--audio", value: "LIST",
      help: "Audio channels, alternating left and right; a single channel carries both.",
      defaultText: "the first two"), channel,
    Option(
      "--array", value: "FILE",
      help:
        """
        Array file with the channels and positions of several transducers; replaces --haptics, \
        --channel and --profile. See Profiles/README.md.
        """,
      completion: .file(endingIn: "json")))

  static let channel = Option(
    "--channel", value: "N=WORDS",
    help: "Configure one channel, such as "
      + """
      '2=haptics,profile=aura-ast-2b-4,gain=-3,delay=2ms,invert'. Words: \
      \(ChannelRouting.Channel.words.joined(separator: ", ")). 
      """
        + """
        eq and crossover act one behind the other, at most \(ChannelFilter.maximumCount) on a \
        channel; a crossover is Linkwitz-Riley, 24 dB an octave.
        """,
    isRepeatable: true)

  static let pan = Option(
    "--pan", value: "POS",
    help:
      """
      Position in the --array: a position on a line, degrees on a ring, or metres X/Y on a \
      plane; or positions over time, T:POS,T:POS, with linear interpolation.
      """,
    defaultText: "all transducers alike")

  static func routing(_ arguments: ParsedArguments) throws -> ChannelRouting {
    var routing = ChannelRouting()
    if let text = arguments.value("--haptics") {
      routing.haptics = try channels(text, option: "--haptics")
    }
    if let text = arguments.value("--audio") {
      routing.audio = try channels(text, option: "--audio")
    }
    routing.channels = try channels(arguments)
    let pan = arguments.command.option(named: "--pan") == nil ? nil : arguments.value("--pan")
    guard let path = arguments.value("--array") else {
      if pan != nil { throw UsageError("'--pan' needs '--array'") }
      return routing
    }
    for other in ["--haptics", "--channel", "--profile"] where !arguments.values(other).isEmpty {
      throw UsageError("'--array' cannot be used with \(other.inQuotes)")
    }
    let text = try FileSystem.read(path, limit: ProfileFile.maximumByteCount)
    let array = try ArrayCheckResult(
      text: text, name: path, folder: FileSystem.folder(of: path), library: .fromEnvironment()
    ).outcome.mapError(ProfileRefusal.init).get()
    routing.array = array
    routing.pan = try pan.map { text throws(UsageError) in
      try PanArgument.path(text, in: array.layout)
    }
    return routing
  }

  static func channels(_ arguments: ParsedArguments) throws -> [ChannelRouting.Channel] {
    try arguments.values("--channel").reduce(into: []) { channels, text in
      let new = try ChannelRouting.Channel(
        text, option: "--channel", profileNamed: SharedOptions.profile(named:))
      guard !channels.contains(where: { $0.index == new.index }) else {
        throw UsageError("'--channel' names channel \(new.index + 1) twice")
      }
      channels.append(new)
    }
  }

  static let none = "none"
  /// The gains that are accepted, in decibels.
  static let decibels = -120.0...24.0

  /// Reads `1,2:-6` or `none`: channels numbered from 1, with gains in decibels.
  static func channels(_ text: String, option: String) throws(UsageError) -> [ChannelRouting.Entry]
  {
    var entries: [ChannelRouting.Entry] = []
    if text == none { return entries }
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let index = try Self.index(String(parts[0]), option: option)
      guard !entries.contains(where: { $0.index == index }) else {
        throw UsageError("\(option.inQuotes) names channel \(index + 1) twice")
      }
      let gain = parts.count > 1 ? try Self.gain(String(parts[1]), option: option) : 1
      entries.append(ChannelRouting.Entry(index: index, gain: gain))
    }
    return entries
  }

  /// A channel's number as an index from 0.
  static func index(_ text: String, option: String) throws(UsageError) -> Int {
    guard let number = Int(text), (1...OutputRouting.maximumChannelCount).contains(number) else {
      throw UsageError.takes(
        option, "channel numbers from 1 to \(OutputRouting.maximumChannelCount)", not: text)
    }
    return number - 1
  }

  static func gain(_ text: String, option: String) throws(UsageError) -> Float {
    guard let number = Double(text), decibels.contains(number) else {
      let least = Int(decibels.lowerBound)
      let most = Int(decibels.upperBound)
      throw UsageError.takes(option, "gains from \(least) to \(most) dB", not: text)
    }
    return Float(NumberFormatting.amplitude(decibels: number))
  }
}

extension ChannelRouting.Channel {
  /// The longest delay, in seconds.
  static let maximumDelay = 1.0
  static let words = [
    "haptics", "audio", "left", "right", "off", "source=PLACE", "profile=NAME", "gain=DB",
    "delay=MSms", "invert",
    "eq=HZ:DB:Q", "crossover=low:HZ", "crossover=high:HZ",
  ]

  /// Reads `2=haptics,profile=aura-ast-2b-4,gain=-3,delay=2ms,invert`.
  init(_ text: String, option: String, profileNamed: (String) throws -> TransducerProfile) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    self.init(index: try RoutingOptions.index(String(parts[0]), option: option))
    guard parts.count == 2, !parts[1].isEmpty else {
      throw UsageError.takes(
        option, "a channel and its settings, such as '1=haptics,gain=-3'", not: text)
    }
    for word in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
      try read(String(word), option: option, profileNamed)
    }
    guard filters.count <= ChannelFilter.maximumCount else {
      throw UsageError(
        """
        channel \(index + 1) has \(filters.count) filters; at most \(ChannelFilter.maximumCount) \
        are possible
        """
      )
    }
    if profile != nil || source != nil, content?.hasHaptics == false {
      let name = profile != nil ? "profile" : "source"
      throw UsageError("channel \(index + 1) has a \(name) but no haptics in \(text.inQuotes)")
    }
  }

  private mutating func read(
    _ word: String, option: String, _ profileNamed: (String) throws -> TransducerProfile
  )
    throws
  {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let value = parts.count > 1 ? String(parts[1]) : nil
    switch (parts[0], value) {
    case ("haptics", nil):
      content = (true, content?.audio ?? .none)
    case ("audio", nil):
      content = (content?.hasHaptics ?? false, .both)
    case ("left", nil):
      content = (content?.hasHaptics ?? false, .left)
    case ("right", nil):
      content = (content?.hasHaptics ?? false, .right)
    case ("off", nil):
      content = (false, .none)
    case ("invert", nil):
      isInverted = true
    case ("source", let place?) where !place.isEmpty:
      source = place
    case ("profile", let name?):
      profile = try profileNamed(name)
    case ("gain", let text?):
      gain = try RoutingOptions.gain(text, option: option)
    case ("delay", let text?):
      delay = try Self.delay(text, option: option)
    case ("eq", let text?):
      filters.append(try Self.band(text, option: option))
    case ("crossover", let text?):
      filters.append(try Self.crossover(text, option: option))
    default:
      throw UsageError(
        "\(option.inQuotes) accepts the settings \(Self.words.joinedWithOr), not \(word.inQuotes)")
    }
  }

  /// `45:-3:2` as a band.
  private static func band(_ text: String, option: String) throws(UsageError) -> ChannelFilter {
    let numbers = text.split(separator: ":", omittingEmptySubsequences: false).map {
      Double($0) ?? .nan
    }
    let ranges = [ChannelFilter.frequencies, ChannelFilter.gains, ChannelFilter.qualityFactors]
    guard numbers.count == 3, zip(ranges, numbers).allSatisfy({ $0.contains($1) }) else {
      let words = "\(ranges[0].inWords) Hz, \(ranges[1].inWords) dB and a Q of \(ranges[2].inWords)"
      throw UsageError.takes(
        option, "eq=HZ:DB:Q with \(words), such as 'eq=45:-3:2'", not: "eq=\(text)")
    }
    return .band(hertz: numbers[0], decibels: numbers[1], qualityFactor: numbers[2])
  }

  /// `low:80` as a part of a crossover.
  private static func crossover(_ text: String, option: String) throws(UsageError) -> ChannelFilter
  {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 2, let hertz = Double(parts[1]), ChannelFilter.frequencies.contains(hertz) {
      if parts[0] == "low" { return .lowPass(hertz: hertz) }
      if parts[0] == "high" { return .highPass(hertz: hertz) }
    }
    let range = ChannelFilter.frequencies.inWords
    throw UsageError.takes(
      option, "crossover=low:HZ or crossover=high:HZ with \(range) Hz", not: "crossover=\(text)")
  }

  /// `2ms` as seconds.
  private static func delay(_ text: String, option: String) throws(UsageError) -> Double {
    guard text.hasSuffix("ms"), let number = Double(text.dropLast(2)),
      (0...maximumDelay * 1_000).contains(number)
    else {
      throw UsageError.takes(option, "delays from 0ms to \(Int(maximumDelay * 1_000))ms", not: text)
    }
    return number / 1_000
  }
}

extension ClosedRange<Double> {
  fileprivate var inWords: String { "\(lowerBound.shortText) to \(upperBound.shortText)" }
}

extension ChannelRouting {
  func checkFilters(rate: Double) throws(UsageError) {
    for channel in channels {
      for filter in channel.filters where filter.hertz >= rate / 2 {
        throw UsageError(
          """
          '--channel \(channel.index + 1)' has a filter at \(filter.hertz.shortText) Hz, but \
          the rate is 
          """
            + """
            \(rate.shortText) Hz: choose a frequency below \((rate / 2).shortText) Hz or a \
            higher '--rate'
            """
        )
      }
    }
  }
}

enum PanArgument {
  private static let mostPoints = 1_000

  /// Reads `POS`, or `T:POS,T:POS` by rising time.
  static func path(_ text: String, in layout: TransducerArray.Layout) throws(UsageError) -> PanPath
  {
    guard text.contains(":") else { return PanPath(at: try checked(text, layout)) }
    var points: [PanPath.Point] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let time = Double(parts[0]),
        (0...FrameConversion.longest).contains(time)
      else {
        throw UsageError.takes("--pan", "seconds and positions, such as '0:-1,2.5:1'", not: word)
      }
      if let last = points.last, time <= last.time {
        throw UsageError("'--pan' takes increasing times; \(parts[0]) is out of order")
      }
      points.append(.init(time: time, position: try checked(parts[1], layout)))
    }
    guard points.count <= mostPoints else {
      throw UsageError("'--pan' takes at most \(mostPoints) positions")
    }
    return PanPath(points)
  }

  private static func checked(_ text: String, _ layout: TransducerArray.Layout) throws(UsageError)
    -> ArrayPosition
  {
    if let position = ArrayPosition(text, in: layout) { return position }
    throw UsageError.takes("--pan", layout.positionMeaning, not: text)
  }
}
