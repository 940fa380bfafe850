import CommandLineKit
import HapticRender
import Reading
import SystemSupport
import TransducerProfiles

/// The command `profiles`, which lists profiles and has subcommands for single profiles.
enum ProfilesCommand {
  static let definition = Command(
    "profiles", abstract: "List, show, check, and create transducer profiles.",
    discussion: """
      User profiles are files named NAME.json in $XDG_CONFIG_HOME/temblor/profiles (default \
      ~/.config/temblor/profiles). System profiles are in temblor/profiles in each folder of \
      $XDG_CONFIG_DIRS (default /etc/xdg). A user profile takes \
      precedence over a system profile or shipped profile with the same name, and a system \
      profile takes precedence over a shipped profile. The default profile is phone.

      The exit status is 2 if a file in these folders is invalid.
      """,
    options: [namesOption, SharedOptions.jsonOption],
    subcommands: [
      ProfilesShowCommand.definition, ProfilesCheckCommand.definition,
      ProfilesNewCommand.definition, schemaCommand,
    ],
    examples: [
      .init("temblor profiles", "List the profiles."),
      .init("temblor profiles show phone", "Show a profile."),
      .init("temblor profiles new puck --low 25 --high 80", "Create a profile."),
    ]
  ) { arguments, terminal in try run(Options(arguments), terminal) }

  private static let namesOption = Option(
    "--names", help: "Print only the names, one per line."
  ).flag()

  struct Options {
    let printsNames: Bool
    let format: ResultFormat

    init(_ arguments: ParsedArguments) throws(UsageError) {
      printsNames = try arguments[namesOption]
      format = try ResultFormat(arguments)
    }
  }

  static func run(_ options: Options, _ terminal: Terminal) throws -> ExitStatus {
    let library = ProfileLibrary.fromEnvironment()
    if options.printsNames {
      try terminal.output.write(library.allEntries().map { $0.name + "\n" }.joined())
      return .success
    }
    let profileRows = library.allEntries().map(ProfileRow.init)
    try terminal.output.write(
      options.format, json: ["profiles": profileRows.map(\.jsonFields)],
      text: TextTable.text(ofRows: profileRows.map(\.tableColumns)))
    var batchWork = BatchWork(on: terminal)
    for error in profileRows.compactMap(\.readingError) {
      try batchWork.attemptWork { _ in throw error }
    }
    for path in library.misnamedFiles() {
      batchWork.recordFailure(
        """
        \(path.printable): ignored: not a valid profile name; \(ProfileName.advice), followed by \
        .json
        """,
        .invalidInput)
    }
    return batchWork.overallStatus
  }

  private static let schemaCommand = Command(
    "schema", abstract: "Print the JSON Schema of profiles.",
    discussion: """
      Editors that support JSON Schema can complete and validate a profile that refers to the \
      schema:

        "$schema": "./profile.schema.json"
      """,
    examples: [
      .init("temblor profiles schema > profile.schema.json", "Save the schema next to a profile.")
    ]
  ) { _, terminal in
    try terminal.output.write(ProfileSchema.schemaText().span)
    return .success
  }
}

/// The command `profiles show`, which shows a profile.
enum ProfilesShowCommand {
  static let definition = Command(
    "show", abstract: "Show a profile.",
    arguments: [profileArgument], options: [jsonOption],
    examples: [
      .init("temblor profiles show buttkicker-lfe", "Show the values of a profile."),
      .init("temblor profiles show phone --json", "Print the JSON file of a profile."),
    ]
  ) { arguments, terminal in try run(Options(arguments), terminal) }

  private static let profileArgument = Argument(
    "PROFILE", help: "Profile name or file, or - for standard input.",
    completion: SharedOptions.profileCompletion
  ).text()
  private static let jsonOption = Option("--json", help: "Print the profile file verbatim.").flag()

  struct Options {
    let profileNameOrPath: String
    let printsFileVerbatim: Bool

    init(_ arguments: ParsedArguments) throws(UsageError) {
      profileNameOrPath = arguments[profileArgument]
      printsFileVerbatim = try arguments[jsonOption]
    }
  }

  static func run(_ options: Options, _ terminal: Terminal) throws -> ExitStatus {
    let profileInput = try ProfileInput.read(options.profileNameOrPath, allowsStandardInput: true)
    let profile = try profileInput.parseProfile()
    if options.printsFileVerbatim {
      try terminal.output.write(profileInput.text.span)
      return .success
    }
    var originText =
      profileInput.libraryEntry.map { $0.path ?? "Temblor" } ?? profileInput.inputName
    if let userEntry = profileInput.libraryEntry, userEntry.path != nil,
      ProfileCatalog.names.contains(userEntry.name)
    {
      originText += ", replaces the shipped profile"
    }
    let profileSummary = ProfileSummary(profile: profile, originText: originText)
    try terminal.output.write(profileSummary.summaryText(for: terminal.output))
    return .success
  }
}

/// The command `profiles check`, which checks profiles for errors.
enum ProfilesCheckCommand {
  static let definition = Command(
    "check", abstract: "Check profiles for errors.",
    discussion: """
      Each finding is printed as FILE:LINE:COLUMN: SEVERITY: MESSAGE (PATH); HINT [RULE]. Temblor \
      does not use a profile with errors, but uses a profile with warnings or notes. The exit \
      status is 2 if there is an error.
      """,
    arguments: [profilesArgument], options: [SharedOptions.jsonOption],
    examples: [.init("temblor profiles check mine.json", "Check a profile.")]
  ) { arguments, terminal in try run(Options(arguments), terminal) }

  private static let profilesArgument = Argument(
    "PROFILE", help: "Profile name, profile file, array file, or - for standard input.",
    completion: SharedOptions.profileCompletion, isRepeatable: true
  ).texts()

  struct Options {
    let profileNamesOrPaths: [String]
    let format: ResultFormat

    init(_ arguments: ParsedArguments) throws(UsageError) {
      profileNamesOrPaths = arguments[profilesArgument]
      format = try ResultFormat(arguments)
    }
  }

  static func run(_ options: Options, _ terminal: Terminal) throws -> ExitStatus {
    var profileFindings: [Finding] = []
    var failureTexts: [String] = []
    for profile in options.profileNamesOrPaths {
      do {
        profileFindings += try ProfileInput.read(profile, allowsStandardInput: true).checkFindings
      } catch {
        failureTexts.append(ErrorReporting.messageText(error))
      }
    }
    try terminal.output.write(
      options.format, json: ["findings": profileFindings.map(\.fields)],
      text: CheckCommand.reportText(profileFindings, for: terminal.output), wraps: false)
    return CheckCommand.reportSummary(
      profileFindings, failures: failureTexts, of: options.profileNamesOrPaths.count,
      noun: "profile",
      terminal: terminal)
  }
}

/// A profile of the library, as a row of the list.
struct ProfileRow {
  let entry: ProfileEntry
  let result: Result<TransducerProfile, any Error>

  init(_ entry: ProfileEntry) {
    self.entry = entry
    result = Result { try ProfileFile.read(text: entry.readText(), name: entry.sourceName) }
  }

  var readingError: (any Error)? {
    if case .failure(let error) = result {
      error
    } else {
      nil
    }
  }

  var tableColumns: [String] {
    switch result {
    case .success(let profile):
      [
        entry.name, ProfileSummary.playedFrequency(of: profile).bandText,
        entry.origin.text + shadowedEntriesText,
        (profile.hardware?.product ?? profile.summary).printable,
      ]
    case .failure:
      [entry.name, "–", entry.origin.text + shadowedEntriesText, "invalid"]
    }
  }

  private var shadowedEntriesText: String {
    guard let firstShadowedOrigin = entry.shadowedOrigins.first else { return "" }
    return ", replaces \(firstShadowedOrigin.text)"
  }

  var jsonFields: JSONObject {
    let shadowedOrigins = entry.shadowedOrigins.map { $0.rawValue.json }
    let entryFields: JSONObject = [
      "name": entry.name, "origin": entry.origin.rawValue, "path": entry.path,
      "shadows": shadowedOrigins.isEmpty ? nil : JSONElement.inlineArray(shadowedOrigins),
    ]
    switch result {
    case .success(let profile):
      return entryFields + [
        "summary": profile.summary, "low": profile.frequency.lowHertz,
        "high": profile.frequency.highHertz,
        "product": profile.hardware?.product,
      ]
    case .failure(let error):
      return entryFields + ["error": "\(error)"]
    }
  }
}

extension ProfileEntry.Origin { var text: String { self == .user ? "yours" : rawValue } }

extension FrequencyMapping {
  /// The frequency band as text, such as `20–80 Hz`, or `175 Hz` for a single frequency.
  var bandText: String {
    lowHertz == highHertz
      ? Self.hertzText(lowHertz) + " Hz" : (lowHertz...highHertz).rangeText + " Hz"
  }
  static func hertzText(_ value: Double) -> String { value.text(places: 1) }
}

extension ClosedRange<Double> {
  /// The frequency range as text with one decimal place, such as `20–80`.
  var rangeText: String {
    FrequencyMapping.hertzText(lowerBound) + "–" + FrequencyMapping.hertzText(upperBound)
  }
}

/// The command `profiles new`, which creates a profile.
enum ProfilesNewCommand {
  /// The default frequency band of a profile that is created without `--from`: the band of most
  /// shakers.
  static let defaultFrequencyBand = FrequencyMapping(lowHertz: 20, highHertz: 80)

  private static let minimumFrequencyOption = Option(
    "--low", value: "HZ", help: "Frequency at sharpness 0, in Hz.",
    defaultValueText:
      "that of the profile given by --from, or \(defaultFrequencyBand.lowHertz.text(places: 1))"
  ).double(in: ProfileLimits.hertzRange)
  private static let maximumFrequencyOption = Option(
    "--high", value: "HZ", help: "Frequency at sharpness 1, in Hz.",
    defaultValueText:
      "that of the profile given by --from, or \(defaultFrequencyBand.highHertz.text(places: 1))"
  ).double(in: ProfileLimits.hertzRange)

  static let definition = Command(
    "new", abstract: "Create a profile.",
    discussion: """
      Without --output, Temblor writes the profile to the folder of user profiles, and --profile \
      then accepts the name of the profile. An existing file is replaced only with --force.
      """,
    arguments: [nameArgument],
    options: [
      sourceProfileOption, minimumFrequencyOption, maximumFrequencyOption, outputOption,
      OutputPaths.forceOption,
    ],
    examples: [
      .init("temblor profiles new puck --low 25 --high 80", "Create a profile from a band."),
      .init("temblor profiles new chair --from buttkicker-lfe", "Copy a shipped profile."),
    ]
  ) { arguments, terminal in try run(Options(arguments), terminal) }

  private static let nameArgument = Argument(
    "NAME", help: "Name of the profile: up to 40 characters, each a–z, 0–9, or -."
  ).text()
  private static let sourceProfileOption = Option(
    "--from", value: "PROFILE",
    help: "Profile to copy, including its hardware and sources: a name or a file.",
    completion: SharedOptions.profileCompletion
  ).text()
  private static let outputOption = Option(
    "-o", "--output", value: "FILE", help: "Output file; - for standard output.",
    completion: .file(withExtension: "json"), writes: ["json"]
  ).text()

  struct Options {
    let name: String
    let sourceProfileName: String?
    let lowHertz: Double?
    let highHertz: Double?
    let outputPath: String?
    let replacesFile: Bool

    init(_ arguments: ParsedArguments) throws(UsageError) {
      name = arguments[nameArgument]
      guard ProfileName.isValid(name) else {
        throw UsageError("\(name.inQuotes) is not a valid profile name; \(ProfileName.advice)")
      }
      lowHertz = try arguments[minimumFrequencyOption]
      highHertz = try arguments[maximumFrequencyOption]
      sourceProfileName = try arguments[ProfilesNewCommand.sourceProfileOption]
      outputPath = try arguments[outputOption]
      replacesFile = try arguments[OutputPaths.forceOption]
    }
  }

  static func run(_ options: Options, _ terminal: Terminal) throws -> ExitStatus {
    let newProfileText = try profileText(options)
    let outputPath = options.outputPath
    if outputPath == OutputPaths.standardOutput {
      try terminal.output.write(newProfileText.span)
      return .success
    }
    guard
      let profilePath = outputPath ?? ProfileLibrary.fromEnvironment().userPath(of: options.name)
    else {
      throw UsageError("no folder for user profiles, because HOME is not set; use '--output FILE'")
    }
    try OutputPaths.checkMayBeWritten(profilePath, replaces: options.replacesFile)
    if outputPath == nil {
      try FileSystem.makeFolder(FileSystem.folderPath(of: profilePath))
    }
    try AtomicFileWriter.write(newProfileText, to: profilePath)
    try terminal.output.write(
      nextStepAdvice(options.name, path: profilePath, isInLibrary: outputPath == nil))
    return .success
  }

  /// Returns the text of the new profile.
  private static func profileText(_ options: Options) throws -> [UInt8] {
    var profile = TransducerProfile(
      name: options.name, summary: "A custom transducer.", frequency: defaultFrequencyBand)
    var schemaURL: String?
    if let sourceName = options.sourceProfileName {
      let input = try ProfileInput.read(sourceName)
      profile = try input.parseProfile()
      profile.name = options.name
      schemaURL = input.checkText().schemaLocation
    }
    // Bursts that follow the band of the profile keep following it.
    let sharesBand = profile.transient.frequency == profile.frequency
    profile.frequency.lowHertz = options.lowHertz ?? profile.frequency.lowHertz
    profile.frequency.highHertz = options.highHertz ?? profile.frequency.highHertz
    if sharesBand {
      profile.transient.frequency = profile.frequency
    }
    let newBand = profile.frequency
    guard newBand.lowHertz <= newBand.highHertz else {
      throw UsageError(
        """
        '--low' (\(newBand.lowHertz.text(places: 3)) Hz) must be below '--high' \
        (\(newBand.highHertz.text(places: 3)) Hz)
        """
      )
    }
    return ProfileFile.write(profile, schema: schemaURL)
  }

  private static func nextStepAdvice(_ name: String, path: String, isInLibrary: Bool) -> String {
    let pathArgument = ProfileFile.isPath(path) ? path : "./" + path
    let profileArgument = isInLibrary ? name : pathArgument
    var adviceText = "\(path.printable): written\n"
    if isInLibrary, ProfileCatalog.names.contains(name) {
      adviceText += "This profile replaces the shipped profile \(name).\n"
    }
    return adviceText
      + "To check the profile, run: temblor profiles check \(profileArgument.printable)\n"
      + "To play with the profile, run: temblor play heartbeat --profile "
      + "\(profileArgument.printable)\n"
  }
}

/// A profile that is read by name, from a file, or from standard input.
struct ProfileInput {
  let inputName: String
  let text: [UInt8]
  /// The library entry, or nil for a file or standard input.
  let libraryEntry: ProfileEntry?
  /// The file name without its extension, if the extension is that of a profile; otherwise nil.
  let fileStem: String?

  /// Reads a profile from the library by its name, or from a file by its path. A path contains a
  /// slash or ends in `.json`.
  static func read(_ argument: String, allowsStandardInput takesInput: Bool = false) throws
    -> ProfileInput
  {
    if argument == "-" && takesInput {
      let text = try FileSystem.read("-", limit: ProfileFile.maximumByteCount)
      return ProfileInput(inputName: "standard input", text: text, libraryEntry: nil, fileStem: nil)
    }
    guard ProfileFile.isPath(argument) else { return try readEntry(named: argument) }
    let profileText = try FileSystem.read(argument, limit: ProfileFile.maximumByteCount)
    let fileStem = argument.hasSuffix(".json") ? FileSystem.fileStem(of: argument) : nil
    return ProfileInput(
      inputName: argument, text: profileText, libraryEntry: nil, fileStem: fileStem)
  }

  private static func readEntry(named name: String) throws -> ProfileInput {
    let entry = try entry(for: name, in: .fromEnvironment())
    return ProfileInput(
      inputName: entry.sourceName, text: try entry.readText(), libraryEntry: entry,
      fileStem: entry.path == nil ? nil : entry.name)
  }

  /// Returns the library profile with the given name, or else the only profile whose name or
  /// product contains the given words.
  ///
  /// - Parameters:
  ///   - text: A name, such as `dayton-bst-1`, or words of a name or a product, such as `BST-1`.
  ///   - library: The profiles to search.
  static func entry(for text: String, in library: ProfileLibrary) throws(UsageError)
    -> ProfileEntry
  {
    if let exactEntry = library.entry(named: text) { return exactEntry }
    let similarEntries = library.entries(spelledAs: text)
    if similarEntries.count == 1 { return similarEntries[0] }
    throw UsageError("unknown profile \(text.inQuotes)" + suggestion(for: text, in: library))
  }

  /// The maximum number of profiles in a suggestion. With more profiles, the message refers to the
  /// list.
  private static let maximumSuggestionCount = 6

  private static func suggestion(for text: String, in library: ProfileLibrary) -> String {
    let matchingNames = library.entries(matching: text).map(\.name.inQuotes)
    if 1...maximumSuggestionCount ~= matchingNames.count {
      return "; did you mean \(matchingNames.joinedWithOr)?"
    }
    let suggestionText = Suggestion.didYouMeanText(
      for: text, among: library.allEntries().map(\.name))
    return suggestionText.isEmpty ? "; run 'temblor profiles' to list profiles" : suggestionText
  }

  func parseProfile() throws(ProfileError) -> TransducerProfile {
    do {
      return try ProfileFile.read(text: text, name: inputName)
    } catch {
      throw ProfileError(inputError: error)
    }
  }

  var checkFindings: [Finding] {
    guard ArrayCheckResult.isArrayText(text) else { return checkText().findings }
    return ArrayCheckResult(
      text: text, name: inputName, folder: FileSystem.folderPath(of: inputName),
      library: .fromEnvironment()
    )
    .findings
  }

  func checkText() -> ProfileCheckResult {
    ProfileCheckResult(text: text, name: inputName, stem: fileStem)
  }
}

/// The first error in a profile or an array file, with the command that shows all errors.
struct ProfileError: Error, CustomStringConvertible {
  let inputError: InputError

  var description: String {
    let otherErrorCount = inputError.additionalErrorCount
    return inputError.description
      + (otherErrorCount > 0 ? " (and \(otherErrorCount) more; run 'temblor profiles check')" : "")
  }
}
