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
public struct SavedChoices: Equatable, Sendable {
  /// The output, by the name to open it by.
  public var device: String?
  /// A profile's name, or the absolute path of its file.
  public var profile: String?
  /// The channels of haptics, numbered from 1; empty for all.
  public var haptics: [Int] = []
  /// Channels with settings of their own, as `--channel` takes them; empty where `haptics` is not.
  public var channels: [String] = []
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
      try ProfileFile.document(text, name: name), source: library.profiles(besideFilesOf: nil))
    checker.read(Self.table, into: &self)
    if let error = checker.refusal { throw error }
  }

  /// The text that reads back equal.
  public var text: [UInt8] { Self.table.text(self) }

  /// The file in an environment, `temblor/config.json` below `XDG_CONFIG_HOME`; nil where no folder
  /// is known.
  public static func path(environment value: (String) -> String?) -> String? {
    ProfileLibrary.settingsFolder(value).map { ProfileLibrary.below($0, "config.json") }
  }

  private static let table = ProfileTable<SavedChoices>(
    "the file",
    [
      .value("device", .text(), "The output, as --device names it.") { $1(&$0.device) },
      .value("profile", .text(), "The name of a profile, or the absolute path of its file.") {
        $1(&$0.profile)
      },
      .values(
        "haptics", of: .integer(1...OutputRouting.maximumChannelCount),
        "The channels of haptics, numbered from 1. Default: all.", layout: .line
      ) { $1(&$0.haptics) },
      .values(
        "channels", of: .text(), "Channels with settings of their own, as --channel takes them."
      ) {
        $1(&$0.channels)
      }, .value("strength", .number(0...1), "The factor on everything.") { $1(&$0.strength) },
    ]
  ) { object, choices, reader in
    if let value = object["profile"], let word = value.string, !word.isEmpty {
      if !ProfileFile.isPath(word) {
        _ = reader.profile(word, at: value)
      } else if !word.hasPrefix("/") {
        reader.log.add(
          .invalidValue, at: value, "\(word.quoted()) is a relative path",
          hint: "write the whole path")
      }
    }
    if let value = object["haptics"], Set(choices.haptics).count < choices.haptics.count {
      reader.log.add(
        .contradiction, at: value, "a channel is listed twice", hint: "keep one of them")
    }
    if let value = object["channels"], !choices.haptics.isEmpty, !choices.channels.isEmpty {
      reader.log.add(
        .contradiction, at: value, "haptics and channels exclude each other",
        hint: "keep one of them")
    }
    return true
  }
}
