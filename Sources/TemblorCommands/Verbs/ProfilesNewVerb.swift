import CommandLineKit
import HapticRender
import SystemSupport
import TransducerProfiles

/// `temblor profiles new`: a profile to begin with.
enum ProfilesNewVerb {
  /// The band of a profile that starts from no other: where most shakers are felt.
  static let defaultBand = FrequencyMapping(low: 20, high: 80)

  private static let low = Option(
    "--low", value: "HZ", help: "Frequency at sharpness 0, in Hz.",
    defaultText: "that of --from, or \(NumberFormatting.rounded(defaultBand.low, places: 1))"
  ).double(in: ProfileLimits.hertz)
  private static let high = Option(
    "--high", value: "HZ", help: "Frequency at sharpness 1, in Hz.",
    defaultText: "that of --from, or \(NumberFormatting.rounded(defaultBand.high, places: 1))"
  ).double(in: ProfileLimits.hertz)

  static let description = CommandDescription(
    "new", abstract: "Create a profile.",
    discussion: """
      The file is written to the folder of user profiles, where --profile finds it by name, or to --output. An existing file is not replaced unless --force is given.
      """, arguments: [Argument("NAME", help: "Name of the profile: up to 40 characters of a–z, 0–9 and -.")],
    options: [
      Option(
        "--from", value: "PROFILE", help: "Copy this profile (name or file), including hardware and sources.",
        completion: SharedOptions.profileNames),
      low, high,
      Option(
        "-o", "--output", value: "FILE", help: "Output file; - for standard output.",
        completion: .file(endingIn: "json"), writes: ["json"]), Option("--force", help: "Replace an existing file."),
    ],
    examples: [
      .init("temblor profiles new puck --low 25 --high 80", "Create a profile from a band."),
      .init("temblor profiles new chair --from buttkicker-lfe", "Copy a shipped profile."),
    ]
  ) { arguments, terminal in
    let text = try text(arguments)
    if arguments.value("--output") == "-" {
      try terminal.output.write(text.span)
      return .done
    }
    try write(
      text, named: arguments.argument("NAME"), to: arguments.value("--output"), replaces: arguments.flag("--force"),
      on: terminal)
    return .done
  }

  /// Writes a profile's file where users' profiles are, or to a path, and reports what to do next.
  static func write(_ text: [UInt8], named name: String, to output: String?, replaces: Bool, on terminal: Terminal)
    throws
  {
    let library = ProfileLibrary.fromEnvironment()
    guard let path = output ?? library.userPath(of: name) else {
      throw UsageError(.missingValue, "no folder for user profiles: HOME is not set; use '--output FILE'")
    }
    if FileSystem.entry(at: path) != .nothing && !replaces {
      throw FileError(path, "already exists; use '--force' to replace it")
    }
    if output == nil { try FileSystem.makeFolder(FileSystem.folder(of: path)) }
    try AtomicFileWriter.write(text, to: path)
    try terminal.output.write(advice(name, path: path, isFound: output == nil))
  }

  private static func text(_ arguments: ParsedArguments) throws -> [UInt8] {
    let name = arguments.argument("NAME")
    guard ProfileName.isValid(name) else {
      throw UsageError(.invalidValue, "\(name.inQuotes) is not a valid profile name; \(ProfileName.advice)")
    }
    let (low, high) = (try arguments[low], try arguments[high])
    var profile = TransducerProfile(name: name, summary: "A custom transducer.", frequency: defaultBand)
    var schema: String?
    if let word = arguments.value("--from") {
      let input = try ProfileInput.find(word)
      profile = try input.profile()
      profile.name = name
      schema = input.examine().schema
    }
    // Bursts that follow the profile go on doing so.
    let isFollowed = profile.transient.frequency == profile.frequency
    profile.frequency.low = low ?? profile.frequency.low
    profile.frequency.high = high ?? profile.frequency.high
    if isFollowed { profile.transient.frequency = profile.frequency }
    guard profile.frequency.low <= profile.frequency.high else {
      throw UsageError(
        .invalidValue,
        "the band runs from \(NumberFormatting.rounded(profile.frequency.low, places: 3)) down to \(NumberFormatting.rounded(profile.frequency.high, places: 3)) Hz; set '--low' and '--high'"
      )
    }
    return ProfileFile.write(profile, schema: schema)
  }

  private static func advice(_ name: String, path: String, isFound: Bool) -> String {
    let word = isFound ? name : path.contains("/") || path.hasSuffix(".json") ? path : "./" + path
    var text = "\(path.printable): written\n"
    if isFound, ProfileCatalog.names.contains(name) { text += "It replaces the shipped profile \(name).\n" }
    return text + "Edit it, then: temblor profiles check \(word.printable)\n"
      + "Hear it with:  temblor play heartbeat --profile \(word.printable)\n"
  }
}
