internal import HapticRender
public import Reading

/// The user's saved settings for all commands, as a JSON file.
///
/// ```json
/// {
///   "device": "plughw:CARD=Device",
///   "profile": "dayton-bst-1",
///   "haptics": [2],
///   "strength": 0.32
/// }
/// ```
public struct SavedSettings: Equatable, Sendable {
  /// The name of the output device.
  public var deviceName: String?
  /// The name of a profile, or the absolute path of its file.
  public var profileNameOrPath: String?
  /// The numbers of the channels that carry haptics, from 1; empty for all channels.
  public var hapticChannels: [Int] = []
  /// The settings of individual channels, in the form of the option `--channel`; empty if
  /// `hapticChannels` is not empty.
  public var channelSettings: [String] = []
  /// The master gain, 0 to 1, or nil for the default.
  public var masterGain: Double?

  /// Creates empty settings.
  public init() {}

  /// Creates settings from JSON text. As with profiles, any error rejects the text.
  ///
  /// - Parameters:
  ///   - jsonText: The UTF-8 text, at most `ProfileFile.maximumByteCount`.
  ///   - name: The name of the text in errors, usually the file's path.
  ///   - library: The library that must contain the profile.
  public init(jsonText: [UInt8], name: String, library: ProfileLibrary) throws(InputError) {
    var profileChecker = ProfileChecker(
      try ProfileFile.parseDocument(jsonText, name: name),
      profileLoader: library.profileLoader(inFolder: nil))
    profileChecker.readObject(Self.schema, into: &self)
    if let inputError = profileChecker.inputError { throw inputError }
  }

  /// The JSON text, from which `init(jsonText:name:library:)` restores equal settings.
  public var jsonText: [UInt8] { Self.schema.text(self) }

  /// Returns the path of the settings file for the given environment variables:
  /// `temblor/config.json` in `XDG_CONFIG_HOME`; nil if no folder is known.
  public static func path(environment value: (String) -> String?) -> String? {
    ProfileLibrary.settingsFolder(value).map { ProfileLibrary.joinPath($0, "config.json") }
  }

  private static let schema = ProfileObjectSchema<SavedSettings>(
    "the file",
    [
      .value("device", .string(), "Output device, as in --device.") { $1(&$0.deviceName) },
      .value("profile", .string(), "Name of a profile, or absolute path of a profile file.") {
        $1(&$0.profileNameOrPath)
      },
      .values(
        "haptics", of: .integer(1...OutputRouting.maximumChannelCount),
        "Haptic channels, numbered from 1. Default: all.", layout: .singleLine
      ) { $1(&$0.hapticChannels) },
      .values(
        "channels", of: .string(), "Channels with their own settings, as in --channel."
      ) {
        $1(&$0.channelSettings)
      }, .value("strength", .number(0...1), "Overall gain, 0 to 1.") { $1(&$0.masterGain) },
    ]
  ) { object, choices, reader in
    if let profileValue = object["profile"], let profileNameOrPath = profileValue.string,
      !profileNameOrPath.isEmpty
    {
      if !ProfileFile.isPath(profileNameOrPath) {
        _ = reader.resolveProfile(profileNameOrPath, at: profileValue)
      } else if !profileNameOrPath.hasPrefix("/") {
        reader.findingLog.add(
          .invalidValue, at: profileValue, "\(profileNameOrPath.quoted()) is a relative path",
          suggestion: "use an absolute path")
      }
    }
    if let hapticsValue = object["haptics"],
      Set(choices.hapticChannels).count < choices.hapticChannels.count
    {
      reader.findingLog.add(
        .contradictoryValues, at: hapticsValue, "a channel is listed twice",
        suggestion: "keep one of them")
    }
    if let channelsValue = object["channels"], !choices.hapticChannels.isEmpty,
      !choices.channelSettings.isEmpty
    {
      reader.findingLog.add(
        .contradictoryValues, at: channelsValue, "haptics and channels cannot be used together",
        suggestion: "keep one of them")
    }
    return true
  }
}
