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
      defaultValueText: "all"),
    Option(
      "--audio", value: "LIST",
      help:
        "Audio output channels, alternating left and right. A single channel carries both sides.",
      defaultValueText: "the first two"), channelOption,
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
      \(ChannelRouting.ChannelSettings.channelSettingForms.joined(separator: ", ")). Filters (eq \
      and crossover) run in series, at most \(ChannelFilter.maximumCountPerChannel) per channel. \
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
    defaultValueText: "the same signal on all transducers")

  static func parseRouting(_ arguments: ParsedArguments) throws -> ChannelRouting {
    var routing = ChannelRouting()
    if let channelList = arguments.value("--haptics") {
      routing.hapticChannelGains = try parseChannels(channelList, option: "--haptics")
    }
    if let channelList = arguments.value("--audio") {
      routing.audioChannelGains = try parseChannels(channelList, option: "--audio")
    }
    routing.channelSettings = try parseChannelSettings(arguments)
    let panText = arguments.command.option(named: "--pan") == nil ? nil : arguments.value("--pan")
    guard let arrayPath = arguments.value("--array") else {
      if panText != nil { throw UsageError("'--pan' requires '--array'") }
      return routing
    }
    for excluded in ["--haptics", "--channel", "--profile"]
    where !arguments.values(excluded).isEmpty {
      throw UsageError("'--array' cannot be used with \(excluded.inQuotes)")
    }
    let arrayText = try FileSystem.read(arrayPath, limit: ProfileFile.maximumByteCount)
    let transducerArray = try ArrayCheckResult(
      text: arrayText, name: arrayPath, folder: FileSystem.folderPath(of: arrayPath),
      library: .fromEnvironment()
    ).outcome.mapError(ProfileError.init).get()
    routing.transducerArray = transducerArray
    routing.panPath = try panText.map { text throws(UsageError) in
      try PanArgument.parsePath(text, in: transducerArray.layout)
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
    let channelGains = try parseChannels(text, option: "--haptics")
    guard !channelGains.isEmpty, channelGains.allSatisfy({ $0.linearGain == 1 }) else {
      throw .invalidValue(of: "--haptics", expected: "channel numbers or all", actual: text)
    }
    return channelGains.map { $0.channelIndex + 1 }
  }

  static let noneKeyword = "none"
  /// The range of accepted gains, in decibels.
  static let acceptedGainDecibels = -120.0...24.0

  /// Parses a list of channels such as `1,2:-6`, numbered from 1 with gains in decibels, or `none`.
  static func parseChannels(
    _ text: String, option: String
  ) throws(UsageError) -> [ChannelRouting.ChannelGain] {
    var channelGains: [ChannelRouting.ChannelGain] = []
    if text == noneKeyword { return channelGains }
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let index = try Self.parseChannelIndex(String(parts[0]), option: option)
      guard !channelGains.contains(where: { $0.channelIndex == index }) else {
        throw UsageError("\(option.inQuotes) contains channel \(index + 1) twice")
      }
      let gain = parts.count > 1 ? try Self.parseGain(String(parts[1]), option: option) : 1
      channelGains.append(ChannelRouting.ChannelGain(index: index, linearGain: gain))
    }
    return channelGains
  }

  /// Parses a channel number, counted from 1, and returns the index of the channel, counted from 0.
  static func parseChannelIndex(_ text: String, option: String) throws(UsageError) -> Int {
    guard let channelNumber = Int(text),
      (1...OutputRouting.maximumChannelCount).contains(channelNumber)
    else {
      throw UsageError.invalidValue(
        of: option, expected: "channel numbers from 1 to \(OutputRouting.maximumChannelCount)",
        actual: text)
    }
    return channelNumber - 1
  }

  static func parseGain(_ text: String, option: String) throws(UsageError) -> Float {
    guard let gainDecibels = Double(text), acceptedGainDecibels.contains(gainDecibels) else {
      let minimum = Int(acceptedGainDecibels.lowerBound)
      let maximum = Int(acceptedGainDecibels.upperBound)
      throw UsageError.invalidValue(
        of: option, expected: "gains from \(minimum) to \(maximum) dB", actual: text)
    }
    return Float(NumberFormatting.amplitude(decibels: gainDecibels))
  }
}

extension ChannelRouting.ChannelSettings {
  /// The maximum delay of a channel, in seconds.
  static let maximumDelaySeconds = 1.0
  static let channelSettingForms = [
    "haptics", "audio", "left", "right", "off", "source=LOCATION", "profile=NAME", "gain=DB",
    "delay=MSms", "invert",
    "eq=HZ:DB:Q", "crossover=low:HZ", "crossover=high:HZ",
  ]

  /// Creates the settings of a channel from a text such as
  /// `2=haptics,profile=aura-ast-2b-4,gain=-3,delay=2ms,invert`.
  init(_ text: String, option: String, profileNamed: (String) throws -> TransducerProfile) throws {
    let channelParts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    self.init(index: try RoutingOptions.parseChannelIndex(String(channelParts[0]), option: option))
    guard channelParts.count == 2, !channelParts[1].isEmpty else {
      throw UsageError.invalidValue(
        of: option, expected: "a channel and its settings, such as '1=haptics,gain=-3'",
        actual: text)
    }
    for word in channelParts[1].split(separator: ",", omittingEmptySubsequences: false) {
      try readSetting(String(word), option: option, profileNamed)
    }
    guard filters.count <= ChannelFilter.maximumCountPerChannel else {
      throw UsageError(
        """
        channel \(channelIndex + 1) has \(filters.count) filters; the limit is \
        \(ChannelFilter.maximumCountPerChannel)
        """
      )
    }
    if profile != nil || sourceBodyLocation != nil, explicitContent?.hasHaptics == false {
      let name = profile != nil ? "profile" : "source"
      throw UsageError(
        "channel \(channelIndex + 1) has a \(name), but no haptics in \(text.inQuotes)")
    }
  }

  private mutating func readSetting(
    _ word: String, option: String, _ profileNamed: (String) throws -> TransducerProfile
  )
    throws
  {
    let settingParts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let valueText = settingParts.count > 1 ? String(settingParts[1]) : nil
    switch (settingParts[0], valueText) {
    case ("haptics", nil):
      explicitContent = (true, explicitContent?.audio ?? .none)
    case ("audio", nil):
      explicitContent = (explicitContent?.hasHaptics ?? false, .both)
    case ("left", nil):
      explicitContent = (explicitContent?.hasHaptics ?? false, .left)
    case ("right", nil):
      explicitContent = (explicitContent?.hasHaptics ?? false, .right)
    case ("off", nil):
      explicitContent = (false, .none)
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
        \(option.inQuotes) accepts the settings \(Self.channelSettingForms.joinedWithOr), \
        not \(word.inQuotes)
        """
      )
    }
  }

  /// Parses an equalizer band such as `45:-3:2`.
  private static func parseEqualizerBand(_ text: String, option: String) throws(UsageError)
    -> ChannelFilter
  {
    let bandNumbers = text.split(separator: ":", omittingEmptySubsequences: false).map {
      Double($0) ?? .nan
    }
    let supportedRanges = [
      ChannelFilter.supportedHertz, ChannelFilter.supportedGainDecibels,
      ChannelFilter.supportedQualityFactors,
    ]
    guard bandNumbers.count == 3, zip(supportedRanges, bandNumbers).allSatisfy({ $0.contains($1) })
    else {
      let words =
        "\(supportedRanges[0].rangeDescription) Hz, \(supportedRanges[1].rangeDescription) dB "
        + "and a Q of \(supportedRanges[2].rangeDescription)"
      throw UsageError.invalidValue(
        of: option, expected: "eq=HZ:DB:Q with \(words), such as 'eq=45:-3:2'", actual: "eq=\(text)"
      )
    }
    return .band(hertz: bandNumbers[0], decibels: bandNumbers[1], qualityFactor: bandNumbers[2])
  }

  /// Parses one side of a crossover such as `low:80`.
  private static func parseCrossover(_ text: String, option: String) throws(UsageError)
    -> ChannelFilter
  {
    let crossoverParts = text.split(separator: ":", omittingEmptySubsequences: false)
    if crossoverParts.count == 2, let hertz = Double(crossoverParts[1]),
      ChannelFilter.supportedHertz.contains(hertz)
    {
      if crossoverParts[0] == "low" { return .lowPass(hertz: hertz) }
      if crossoverParts[0] == "high" { return .highPass(hertz: hertz) }
    }
    let hertzRangeText = ChannelFilter.supportedHertz.rangeDescription
    throw UsageError.invalidValue(
      of: option, expected: "crossover=low:HZ or crossover=high:HZ with \(hertzRangeText) Hz",
      actual: "crossover=\(text)")
  }

  /// Parses a delay such as `2ms`, and returns the delay in seconds.
  private static func parseDelaySeconds(_ text: String, option: String) throws(UsageError) -> Double
  {
    guard text.hasSuffix("ms"), let delayMilliseconds = Double(text.dropLast(2)),
      (0...maximumDelaySeconds * 1_000).contains(delayMilliseconds)
    else {
      throw UsageError.invalidValue(
        of: option, expected: "delays from 0ms to \(Int(maximumDelaySeconds * 1_000))ms",
        actual: text)
    }
    return delayMilliseconds / 1_000
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
    var pathPoints: [PanPath.Point] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let time = Double(parts[0]),
        (0...FrameConversion.maximumSeconds).contains(time)
      else {
        throw UsageError.invalidValue(
          of: "--pan", expected: "seconds and positions, such as '0:-1,2.5:1'", actual: word)
      }
      if let last = pathPoints.last, time <= last.timeSeconds {
        throw UsageError("'--pan' requires increasing times; \(parts[0]) is out of order")
      }
      pathPoints.append(.init(timeSeconds: time, position: try parsePosition(parts[1], layout)))
    }
    guard pathPoints.count <= maximumPointCount else {
      throw UsageError("'--pan' accepts at most \(maximumPointCount) positions")
    }
    return PanPath(pathPoints)
  }

  private static func parsePosition(_ text: String, _ layout: TransducerArray.Layout)
    throws(UsageError)
    -> ArrayPosition
  {
    if let position = ArrayPosition(text, in: layout) { return position }
    throw UsageError.invalidValue(of: "--pan", expected: layout.positionDescription, actual: text)
  }
}
