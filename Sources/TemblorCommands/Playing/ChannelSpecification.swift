internal import CommandLineKit
internal import Glibc
import HapticRender
internal import SystemSupport

/// Channels as a user lists them: numbers from 1, each with a gain in decibels where it has one.
struct ChannelList: Equatable {
  /// One channel of a list.
  struct Entry: Equatable {
    /// The channel, from 0.
    var index: Int
    /// A factor.
    var gain: Float
  }

  /// The word for no channel.
  static let none = "none"
  /// The gains that can be asked for, in decibels.
  static let decibels = -120.0...24.0

  /// The channels in the order of the list.
  var entries: [Entry] = []

  /// Reads `1,2:-6` or `none`.
  init(_ text: String, option: String) throws(UsageError) {
    if text == Self.none { return }
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let index = try Self.index(String(parts[0]), option: option)
      guard !entries.contains(where: { $0.index == index }) else {
        throw UsageError(.remove, "\(option.inQuotes) names channel \(index + 1) twice")
      }
      let gain = parts.count > 1 ? try Self.gain(String(parts[1]), option: option) : 1
      entries.append(Entry(index: index, gain: gain))
    }
  }

  /// A channel's number as an index from 0.
  static func index(_ text: String, option: String) throws(UsageError) -> Int {
    guard let number = Int(text), (1...OutputRouting.maximumChannelCount).contains(number) else {
      throw UsageError(
        .invalidValue,
        "\(option.inQuotes) takes channel numbers from 1 to \(OutputRouting.maximumChannelCount), "
          + "not \(text.inQuotes)")
    }
    return number - 1
  }

  /// Decibels as a factor.
  static func gain(_ text: String, option: String) throws(UsageError) -> Float {
    guard let number = Double(text), decibels.contains(number) else {
      throw UsageError(
        .invalidValue,
        "\(option.inQuotes) takes gains from \(Int(decibels.lowerBound)) to "
          + "\(Int(decibels.upperBound)) dB, not \(text.inQuotes)")
    }
    return factor(decibels: number)
  }

  /// The factor of a gain.
  static func factor(decibels: Double) -> Float { Float(pow(10, decibels / 20)) }
}

/// What `--channel` says of one channel.
struct ChannelSpecification {
  /// The longest delay, in seconds.
  static let maximumDelay = 1.0
  /// The words and what they mean, for help and messages.
  static let all = [
    "haptics", "audio", "left", "right", "off", "profile=NAME", "gain=DB", "delay=MSms", "invert",
  ]

  /// The channel, from 0.
  var index: Int
  /// What it carries; nothing where the other options say it.
  var content: (hasHaptics: Bool, audio: OutputRouting.Channel.Audio)?
  var profile: TransducerProfile?
  var gain: Float = 1
  /// Seconds.
  var delay = 0.0
  var isInverted = false

  /// Reads `2=haptics,profile=aura-ast-2b-4,gain=-3,delay=2ms,invert`.
  init(
    _ text: String, option: String, profileNamed: (String) throws -> TransducerProfile
  ) throws {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    index = try ChannelList.index(String(parts[0]), option: option)
    guard parts.count == 2, !parts[1].isEmpty else {
      throw UsageError(
        .missingValue,
        "\(option.inQuotes) takes a channel and its settings, such as '1=haptics,gain=-3', not "
          + text.inQuotes)
    }
    for word in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
      try read(String(word), option: option, profileNamed)
    }
    if profile != nil, content?.hasHaptics == false {
      throw UsageError(
        .invalidValue, "channel \(index + 1) has a profile but no haptics in \(text.inQuotes)")
    }
  }

  private mutating func read(
    _ word: String, option: String, _ profileNamed: (String) throws -> TransducerProfile
  ) throws {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let value = parts.count > 1 ? String(parts[1]) : nil
    switch (parts[0], value) {
    case ("haptics", nil): content = (true, content?.audio ?? .none)
    case ("audio", nil): content = (content?.hasHaptics ?? false, .both)
    case ("left", nil): content = (content?.hasHaptics ?? false, .left)
    case ("right", nil): content = (content?.hasHaptics ?? false, .right)
    case ("off", nil): content = (false, .none)
    case ("invert", nil): isInverted = true
    case ("profile", let name?): profile = try profileNamed(name)
    case ("gain", let text?): gain = try ChannelList.gain(text, option: option)
    case ("delay", let text?): delay = try Self.delay(text, option: option)
    default:
      throw UsageError(
        .invalidValue,
        "\(option.inQuotes) accepts the settings \(Self.all.joinedWithOr), not \(word.inQuotes)")
    }
  }

  /// `2ms` as seconds.
  private static func delay(_ text: String, option: String) throws(UsageError) -> Double {
    guard text.hasSuffix("ms"), let number = Double(text.dropLast(2)),
      (0...maximumDelay * 1_000).contains(number)
    else {
      throw UsageError(
        .invalidValue,
        "\(option.inQuotes) takes delays from 0ms to \(Int(maximumDelay * 1_000))ms, not "
          + text.inQuotes)
    }
    return number / 1_000
  }
}
