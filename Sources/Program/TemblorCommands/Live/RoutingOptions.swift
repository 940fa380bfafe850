import CommandLineKit
import HapticModel
import HapticRender
import PatternWorkflows
import Reading
import SystemSupport
import TransducerProfiles

enum RoutingOptions {
  static let optionGroup = OptionGroup(
    "Channels",
    Option(
      "--haptics", value: "LIST",
      help:
        """
        Haptic output channels, numbered from 1, each with an optional gain in dB, such as 1,2:-6. \
        Use 'none' for no haptic output.
        """,
      defaultText: "all"),
    Option(
      "--audio", value: "LIST",
      help:
        "Audio output channels, alternating left and right. A single channel carries both sides.",
      defaultText: "the first two"), channelOption,
    Option(
      "--array", value: "FILE",
      help:
        """
        Array file that describes the channels and positions of several transducers. Cannot be \
        used with --haptics, --channel, or --profile. See Profiles/README.md.
        """,
      completion: .file(withExtension: "json")))

  static let channelOption = Option(
    "--channel", value: "N=SETTINGS",
    help: """
      Settings for one output channel, such as \
      '2=haptics,profile=aura-ast-2b-4,gain=-3,delay=2ms,invert'. Settings: \
      \(ChannelRouting.ChannelSettings.settingForms.joined(separator: ", ")). Filters (eq and \
      crossover) run in series, at most \(ChannelFilter.maximumCountPerChannel) per channel. \
      A crossover is a Linkwitz-Riley filter with a slope of 24 dB per octave.
      """,
    isRepeatable: true)

  static let panOption = Option(
    "--pan", value: "POS",
    help:
      """
      Position of the pattern in the array given by --array: a number for a line, an angle in \
      degrees for a ring, or X/Y in meters for a plane. To move the pattern over time, use \
      T:POS,T:POS, with times in seconds; positions are interpolated linearly.
      """,
    defaultText: "the same signal on all transducers")

  static func parseRouting(_ arguments: ParsedArguments) throws -> ChannelRouting {
    var routing = ChannelRouting()
    if let text = arguments.value("--haptics") {
      routing.hapticChannels = try parseChannels(text, option: "--haptics")
    }
    if let text = arguments.value("--audio") {
      routing.audioChannels = try parseChannels(text, option: "--audio")
    }
    routing.channelSettings = try parseChannelSettings(arguments)
    let pan = arguments.command.option(named: "--pan") == nil ? nil : arguments.value("--pan")
    guard let path = arguments.value("--array") else {
      if pan != nil { throw UsageError("'--pan' requires '--array'") }
      return routing
    }
    for excluded in ["--haptics", "--channel", "--profile"]
    where !arguments.values(excluded).isEmpty {
      throw UsageError("'--array' cannot be used with \(excluded.inQuotes)")
    }
    let text = try FileSystem.read(path, limit: ProfileFile.maximumByteCount)
    let array = try ArrayCheckResult(
      text: text, name: path, folder: FileSystem.folderPath(of: path), library: .fromEnvironment()
    ).outcome.mapError(ProfileError.init).get()
    routing.transducerArray = array
    routing.panPath = try pan.map { text throws(UsageError) in
      try PanArgument.parsePath(text, in: array.layout)
    }
    return routing
  }

  static func parseChannelSettings(
    _ arguments: ParsedArguments
  ) throws -> [ChannelRouting.ChannelSettings] {
    try arguments.values("--channel").reduce(into: []) { channels, text in
      let new = try ChannelRouting.ChannelSettings(
        text, option: "--channel", profileNamed: SharedOptions.loadProfile(named:))
      guard !channels.contains(where: { $0.channelIndex == new.channelIndex }) else {
        throw UsageError("'--channel' configures channel \(new.channelIndex + 1) twice")
      }
      channels.append(new)
    }
  }

  /// The help text of the `--haptics` option, for commands that drive a single transducer.
  static let transducerChannelsHelp =
    """
    Output channels of the transducer, numbered from 1, such as 2 or 3,4. Use 'all' for all \
    channels.
    """

  /// Parses a list of channels without gains, such as `3,4`. Returns an empty list for `all`.
  static func parseChannelNumbers(_ text: String) throws(UsageError) -> [Int] {
    if text == "all" { return [] }
    let entries = try parseChannels(text, option: "--haptics")
    guard !entries.isEmpty, entries.allSatisfy({ $0.linearGain == 1 }) else {
      throw .invalidValue(of: "--haptics", expected: "channel numbers or all", actual: text)
    }
    return entries.map { $0.channelIndex + 1 }
  }

  static let noneKeyword = "none"
  /// The range of accepted gains, in decibels.
  static let acceptedGainDecibels = -120.0...24.0

  /// Parses a list of channels such as `1,2:-6`, numbered from 1 with gains in decibels, or `none`.
  static func parseChannels(
    _ text: String, option: String
  ) throws(UsageError) -> [ChannelRouting.ChannelGain] {
    var entries: [ChannelRouting.ChannelGain] = []
    if text == noneKeyword { return entries }
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let index = try Self.parseChannelIndex(String(parts[0]), option: option)
      guard !entries.contains(where: { $0.channelIndex == index }) else {
        throw UsageError("\(option.inQuotes) contains channel \(index + 1) twice")
      }
      let gain = parts.count > 1 ? try Self.parseGain(String(parts[1]), option: option) : 1
      entries.append(ChannelRouting.ChannelGain(index: index, linearGain: gain))
    }
    return entries
  }

  /// Parses a channel number, counted from 1, and returns the index of the channel, counted from 0.
  static func parseChannelIndex(_ text: String, option: String) throws(UsageError) -> Int {
    guard let number = Int(text), (1...OutputRouting.maximumChannelCount).contains(number) else {
      throw UsageError.invalidValue(
        of: option, expected: "channel numbers from 1 to \(OutputRouting.maximumChannelCount)",
        actual: text)
    }
    return number - 1
  }

  static func parseGain(_ text: String, option: String) throws(UsageError) -> Float {
    guard let number = Double(text), acceptedGainDecibels.contains(number) else {
      let minimum = Int(acceptedGainDecibels.lowerBound)
      let maximum = Int(acceptedGainDecibels.upperBound)
      throw UsageError.invalidValue(
        of: option, expected: "gains from \(minimum) to \(maximum) dB", actual: text)
    }
    return Float(NumberFormatting.amplitude(decibels: number))
  }
}

extension ChannelRouting.ChannelSettings {
  /// The maximum delay of a channel, in seconds.
  static let maximumDelaySeconds = 1.0
  static let settingForms = [
    "haptics", "audio", "left", "right", "off", "source=LOCATION", "profile=NAME", "gain=DB",
    "delay=MSms", "invert",
    "eq=HZ:DB:Q", "crossover=low:HZ", "crossover=high:HZ",
  ]

  /// Creates the settings of a channel from a text such as
  /// `2=haptics,profile=aura-ast-2b-4,gain=-3,delay=2ms,invert`.
  init(_ text: String, option: String, profileNamed: (String) throws -> TransducerProfile) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    self.init(index: try RoutingOptions.parseChannelIndex(String(parts[0]), option: option))
    guard parts.count == 2, !parts[1].isEmpty else {
      throw UsageError.invalidValue(
        of: option, expected: "a channel and its settings, such as '1=haptics,gain=-3'",
        actual: text)
    }
    for word in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
      try read(String(word), option: option, profileNamed)
    }
    guard filters.count <= ChannelFilter.maximumCountPerChannel else {
      throw UsageError(
        """
        channel \(channelIndex + 1) has \(filters.count) filters; the limit is \
        \(ChannelFilter.maximumCountPerChannel)
        """
      )
    }
    if profile != nil || sourceBodyLocation != nil, content?.hasHaptics == false {
      let name = profile != nil ? "profile" : "source"
      throw UsageError(
        "channel \(channelIndex + 1) has a \(name), but no haptics in \(text.inQuotes)")
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
    case ("source", let bodyLocation?) where !bodyLocation.isEmpty:
      sourceBodyLocation = bodyLocation
    case ("profile", let name?):
      profile = try profileNamed(name)
    case ("gain", let text?):
      linearGain = try RoutingOptions.parseGain(text, option: option)
    case ("delay", let text?):
      delaySeconds = try Self.parseDelaySeconds(text, option: option)
    case ("eq", let text?):
      filters.append(try Self.parseEqualizerBand(text, option: option))
    case ("crossover", let text?):
      filters.append(try Self.parseCrossover(text, option: option))
    default:
      throw UsageError(
        """
        \(option.inQuotes) accepts the settings \(Self.settingForms.joinedWithOr), \
        not \(word.inQuotes)
        """
      )
    }
  }

  /// Parses an equalizer band such as `45:-3:2`.
  private static func parseEqualizerBand(_ text: String, option: String) throws(UsageError)
    -> ChannelFilter
  {
    let numbers = text.split(separator: ":", omittingEmptySubsequences: false).map {
      Double($0) ?? .nan
    }
    let ranges = [
      ChannelFilter.supportedHertz, ChannelFilter.supportedGainDecibels,
      ChannelFilter.supportedQualityFactors,
    ]
    guard numbers.count == 3, zip(ranges, numbers).allSatisfy({ $0.contains($1) }) else {
      let words =
        "\(ranges[0].rangeDescription) Hz, \(ranges[1].rangeDescription) dB "
        + "and a Q of \(ranges[2].rangeDescription)"
      throw UsageError.invalidValue(
        of: option, expected: "eq=HZ:DB:Q with \(words), such as 'eq=45:-3:2'", actual: "eq=\(text)"
      )
    }
    return .band(hertz: numbers[0], decibels: numbers[1], qualityFactor: numbers[2])
  }

  /// Parses one side of a crossover such as `low:80`.
  private static func parseCrossover(_ text: String, option: String) throws(UsageError)
    -> ChannelFilter
  {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    if parts.count == 2, let hertz = Double(parts[1]), ChannelFilter.supportedHertz.contains(hertz)
    {
      if parts[0] == "low" { return .lowPass(hertz: hertz) }
      if parts[0] == "high" { return .highPass(hertz: hertz) }
    }
    let range = ChannelFilter.supportedHertz.rangeDescription
    throw UsageError.invalidValue(
      of: option, expected: "crossover=low:HZ or crossover=high:HZ with \(range) Hz",
      actual: "crossover=\(text)")
  }

  /// Parses a delay such as `2ms`, and returns the delay in seconds.
  private static func parseDelaySeconds(_ text: String, option: String) throws(UsageError) -> Double
  {
    guard text.hasSuffix("ms"), let number = Double(text.dropLast(2)),
      (0...maximumDelaySeconds * 1_000).contains(number)
    else {
      throw UsageError.invalidValue(
        of: option, expected: "delays from 0ms to \(Int(maximumDelaySeconds * 1_000))ms",
        actual: text)
    }
    return number / 1_000
  }
}

extension ClosedRange<Double> {
  fileprivate var rangeDescription: String { "\(lowerBound.shortText) to \(upperBound.shortText)" }
}

extension ChannelRouting {
  func checkFilters(rate: Double) throws(UsageError) {
    for channel in channelSettings {
      for filter in channel.filters where filter.hertz >= rate / 2 {
        throw UsageError(
          """
          '--channel \(channel.channelIndex + 1)' has a filter at \(filter.hertz.shortText) Hz, \
          but the \
          sample rate is \(rate.shortText) Hz; use a frequency below \((rate / 2).shortText) Hz, \
          or a higher '--rate'
          """
        )
      }
    }
  }
}

enum PanArgument {
  private static let maximumPointCount = 1_000

  /// Parses a path through the transducer array, which is one position `POS`, or `T:POS,T:POS` with
  /// increasing times.
  static func parsePath(_ text: String, in layout: TransducerArray.Layout) throws(UsageError)
    -> PanPath
  {
    guard text.contains(":") else { return PanPath(at: try parsePosition(text, layout)) }
    var points: [PanPath.Point] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let time = Double(parts[0]),
        (0...FrameConversion.maximumSeconds).contains(time)
      else {
        throw UsageError.invalidValue(
          of: "--pan", expected: "seconds and positions, such as '0:-1,2.5:1'", actual: word)
      }
      if let last = points.last, time <= last.timeSeconds {
        throw UsageError("'--pan' requires increasing times; \(parts[0]) is out of order")
      }
      points.append(.init(timeSeconds: time, position: try parsePosition(parts[1], layout)))
    }
    guard points.count <= maximumPointCount else {
      throw UsageError("'--pan' accepts at most \(maximumPointCount) positions")
    }
    return PanPath(points)
  }

  private static func parsePosition(_ text: String, _ layout: TransducerArray.Layout)
    throws(UsageError)
    -> ArrayPosition
  {
    if let position = ArrayPosition(text, in: layout) { return position }
    throw UsageError.invalidValue(of: "--pan", expected: layout.positionDescription, actual: text)
  }
}
