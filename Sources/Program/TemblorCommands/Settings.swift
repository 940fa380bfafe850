import CommandLineKit
import Glibc
import Reading
import SystemSupport
import TransducerProfiles

/// The defaults for options that a command line omits, from environment variables and from the file
/// that `temblor setup` saves.
struct Settings: Sendable {
  /// The path of the settings file, or nil if no folder for settings is known.
  let settingsPath: String?
  /// The values of `TEMBLOR_DEVICE` and `TEMBLOR_PROFILE`. Empty variables are absent.
  let environmentVariables: [String: String]

  static let none = Settings(settingsPath: nil, environmentVariables: [:])

  static var fromEnvironment: Settings {
    var environmentVariables: [String: String] = [:]
    for name in ["TEMBLOR_DEVICE", "TEMBLOR_PROFILE"] {
      if let value = ProcessEnvironment.value(named: name), !value.isEmpty {
        environmentVariables[name] = value
      }
    }
    return Settings(
      settingsPath: SavedSettings.path(environment: ProcessEnvironment.value(named:)),
      environmentVariables: environmentVariables)
  }

  /// Adds the saved settings to a command that plays, for the options that the command line omits.
  /// A line on standard error names the settings in use.
  ///
  /// The option `--no-config` marks the commands that play. All other commands evaluate or write
  /// files: their results depend only on the command line, as do those of
  /// `fileModeOptionsByCommand`.
  func applyDefaults(to arguments: inout ParsedArguments, on terminal: Terminal) throws {
    let command = arguments.command
    guard command.option(named: SharedOptions.noConfigOption.primarySpelling) != nil,
      !Self.worksOnFiles(arguments)
    else { return }
    func isGiven(_ option: String) -> Bool {
      command.option(named: option) != nil && !arguments.values(option).isEmpty
    }
    let savedSettings = isGiven("--no-config") ? SavedSettings() : try readSavedSettings()
    let hasArray = isGiven("--array")
    // Channels and the level belong to a device and are not used on any other device.
    let deviceName =
      isGiven("--device")
      ? arguments.value("--device")
      : environmentVariables["TEMBLOR_DEVICE"] ?? savedSettings.deviceName
    let isOnSavedDevice = deviceName == savedSettings.deviceName
    let isRouted =
      isOnSavedDevice && !["--array", "--channel", "--haptics"].contains(where: isGiven)
    let hapticChannelsText = savedSettings.hapticChannels.map(String.init).joined(separator: ",")
    let defaultRows: [(option: String, variable: String?, saved: [String], words: String)] = [
      ("--device", "TEMBLOR_DEVICE", savedSettings.deviceName.map { [$0] } ?? [], "device"),
      (
        "--profile", "TEMBLOR_PROFILE",
        hasArray ? [] : savedSettings.profileNameOrPath.map { [$0] } ?? [],
        "profile"
      ),
      (
        "--haptics", nil, isRouted && !hapticChannelsText.isEmpty ? [hapticChannelsText] : [],
        "haptics on channel"
      ),
      ("--channel", nil, isRouted ? savedSettings.channelSettings : [], "channel"),
      (
        "--strength", nil,
        isOnSavedDevice
          ? savedSettings.masterGain.map { [NumberFormatting.plainText($0)] } ?? [] : [],
        "strength"
      ),
    ]
    var usedDefaults: [String] = []
    for row in defaultRows where command.option(named: row.option) != nil && !isGiven(row.option) {
      if let name = row.variable, let value = environmentVariables[name],
        row.option == "--device" || !hasArray
      {
        if row.option == "--profile" {
          try Self.checkProfileName(value, of: name)
        }
        arguments.setDefaultValues([value], for: row.option, origin: name)
      } else if !row.saved.isEmpty {
        arguments.setDefaultValues(row.saved, for: row.option, origin: settingsPath ?? "")
        usedDefaults += row.saved.map { "\(row.words) \($0.printable)" }
      }
    }
    guard !usedDefaults.isEmpty, !isGiven("--quiet") else { return }
    terminal.report(
      "Using saved settings: \(usedDefaults.joined(separator: ", ")) (ignore with '--no-config')")
  }

  /// The options and arguments that make a command work on files instead of playing, by the name of
  /// the command.
  private static let fileModeOptionsByCommand = [
    "abx": ["--simulate"],
    "calibrate": ["RECORDING"],
    "study": ["--page", "--render", "--report", "--simulate"],
    "sweep": ["--output"],
  ]

  /// Returns whether these arguments make a command that can play work on files instead.
  private static func worksOnFiles(_ arguments: ParsedArguments) -> Bool {
    let fileModeOptions = fileModeOptionsByCommand[arguments.command.name] ?? []
    return fileModeOptions.contains { !arguments.values($0).isEmpty }
  }

  private static func checkProfileName(_ name: String, of variable: String) throws {
    do {
      _ = try ProfileInput.read(name)
    } catch let error as UsageError {
      throw UsageError("\(variable): \(error)")
    }
  }

  func readSavedSettings() throws -> SavedSettings {
    guard let settingsPath, FileSystem.entryKind(at: settingsPath) != .missing else {
      return SavedSettings()
    }
    guard FileSystem.entryKind(at: settingsPath) == .file else {
      throw FileError(settingsPath, "is not a file; remove it")
    }
    let settingsText = try FileSystem.read(settingsPath, limit: ProfileFile.maximumByteCount)
    do {
      return try SavedSettings(
        jsonText: settingsText, name: settingsPath, library: .fromEnvironment())
    } catch {
      throw SettingsError(inputError: error)
    }
  }

  /// Writes the settings file, creates missing folders, and returns the path of the file.
  func saveSettings(_ settings: SavedSettings) throws -> String {
    guard let settingsPath else {
      throw FileError("config.json", "cannot find a settings folder; set HOME or XDG_CONFIG_HOME")
    }
    try FileSystem.makeFolder(FileSystem.folderPath(of: settingsPath))
    try AtomicFileWriter.write(settings.jsonText, to: settingsPath)
    return settingsPath
  }

  /// Removes the settings file and returns its path, or nil if there is no file.
  func removeSavedSettings() throws -> String? {
    guard let settingsPath, FileSystem.entryKind(at: settingsPath) != .missing else { return nil }
    try FileSystem.remove(settingsPath)
    return settingsPath
  }
}

/// An error in the settings file, with its remedies.
struct SettingsError: Error, CustomStringConvertible {
  let inputError: InputError

  var description: String {
    let otherErrorsText =
      inputError.additionalErrorCount > 0 ? " (and \(inputError.additionalErrorCount) more)" : ""
    return
      """
      \(inputError)\(otherErrorsText); correct the file, remove it with 'temblor setup --forget', \
      or use '--no-config'
      """
  }
}
