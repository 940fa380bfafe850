internal import HapticRender
public import Reading

/// What a user chose once for all commands, as a file of JSON.
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
  /// The output, by the name to open it by.
  public var device: String?
  /// A profile's name, or the absolute path of its file.
  public var profile: String?
  /// The channels of haptics, numbered from 1; empty for all.
  public var hapticChannels: [Int] = []
  /// Channels with settings of their own, as `--channel` takes them; empty where `haptics` is not.
  public var channelSettings: [String] = []
  /// The factor on everything, 0 to 1.
  public var strength: Double?

  /// No choices.
  public init() {}

  /// Reads a text; as with profiles, anything wrong refuses it.
  ///
  /// - Parameters:
  ///   - text: UTF-8, at most `ProfileFile.maximumByteCount`.
  ///   - name: What errors call the text, usually the file's path.
  ///   - library: Where the profile must be.
  public init(text: [UInt8], name: String, library: ProfileLibrary) throws(InputError) {
    var checker = ProfileChecker(
      try ProfileFile.document(text, name: name),
      profileSource: library.profileSource(inFolder: nil))
    checker.read(Self.table, into: &self)
    if let error = checker.inputError { throw error }
  }

  /// The text that reads back equal.
  public var text: [UInt8] { Self.table.text(self) }

  /// The file in an environment, `temblor/config.json` below `XDG_CONFIG_HOME`; nil where no folder
  /// is known.
  public static func path(environment value: (String) -> String?) -> String? {
    ProfileLibrary.settingsFolder(value).map { ProfileLibrary.path(in: $0, "config.json") }
  }

  private static let table = ProfileObjectSchema<SavedSettings>(
    "the file",
    [
      .value("device", .string(), "The output, as --device names it.") { $1(&$0.device) },
      .value("profile", .string(), "The name of a profile, or the absolute path of its file.") {
        $1(&$0.profile)
      },
      .values(
        "haptics", of: .integer(1...OutputRouting.maximumChannelCount),
        "The channels of haptics, numbered from 1. Default: all.", layout: .singleLine
      ) { $1(&$0.hapticChannels) },
      .values(
        "channels", of: .string(), "Channels with settings of their own, as --channel takes them."
      ) {
        $1(&$0.channelSettings)
      }, .value("strength", .number(0...1), "The factor on everything.") { $1(&$0.strength) },
    ]
  ) { object, choices, reader in
    if let value = object["profile"], let word = value.string, !word.isEmpty {
      if !ProfileFile.isPath(word) {
        _ = reader.profile(word, at: value)
      } else if !word.hasPrefix("/") {
        reader.log.add(
          .invalidValue, at: value, "\(word.quoted()) is a relative path",
          suggestion: "write the whole path")
      }
    }
    if let value = object["haptics"],
      Set(choices.hapticChannels).count < choices.hapticChannels.count
    {
      reader.log.add(
        .contradiction, at: value, "a channel is listed twice", suggestion: "keep one of them")
    }
    if let value = object["channels"], !choices.hapticChannels.isEmpty,
      !choices.channelSettings.isEmpty
    {
      reader.log.add(
        .contradiction, at: value, "haptics and channels exclude each other",
        suggestion: "keep one of them")
    }
    return true
  }
}
