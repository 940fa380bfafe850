import HapticRender
import TransducerProfiles

/// `temblor profiles new`: a profile to begin with.
enum ProfilesNewVerb {
  /// The band of a profile that starts from no other: where most shakers are felt.
  static let usualBand = FrequencyLaw(low: 20, high: 80)

  static let description = CommandDescription(
    "new", abstract: "Begin a profile of your own.",
    discussion: """
      The file goes into the folder of your profiles, where --profile finds it by its name, or where \
      --output says. A file that is there already is left alone.
      """,
    arguments: [Argument("NAME", help: "What it is to be called: up to 40 of a–z, 0–9 and -.")],
    options: [
      Option(
        "--from", value: "PROFILE",
        help: "Start from a profile, hardware and sources included, by its name or file.",
        completion: SharedOptions.profileNames),
      Option(
        "--low", value: "HZ", help: "Hertz at sharpness 0.",
        defaultText: "that of --from, or \(Figures.rounded(usualBand.low, places: 1))"),
      Option(
        "--high", value: "HZ", help: "Hertz at sharpness 1.",
        defaultText: "that of --from, or \(Figures.rounded(usualBand.high, places: 1))"),
      Option(
        "-o", "--output", value: "FILE", help: "Write FILE, or - for standard output.",
        completion: .file(endingIn: "json")),
      Option("--force", help: "Replace a file that is there already."),
    ],
    examples: [
      .init("temblor profiles new puck --low 25 --high 80", "Begin with a band."),
      .init("temblor profiles new chair --from buttkicker-lfe", "Begin with a shipped profile."),
    ]
  ) { arguments, terminal in
    let text = try text(arguments)
    if arguments.value("--output") == "-" {
      try terminal.output.write(text.span)
      return .done
    }
    let name = arguments.argument("NAME")
    let library = ProfileLibrary.ofEnvironment()
    guard let path = arguments.value("--output") ?? library.userPath(of: name) else {
      throw UsageError(
        .addValue,
        "there is no folder for your profiles, since HOME is not set; give '--output' a file")
    }
    if FileSystem.entry(at: path) != .nothing && !arguments.flag("--force") {
      throw FileError(path, "is there already; '--force' replaces it")
    }
    if arguments.value("--output") == nil { try FileSystem.makeFolder(FileSystem.folder(of: path)) }
    try ReplacingFile.write(text, to: path)
    try terminal.output.write(advice(name, path: path, isFound: arguments.value("--output") == nil))
    return .done
  }

  /// The text of the file.
  private static func text(_ arguments: ParsedArguments) throws -> [UInt8] {
    let name = arguments.argument("NAME")
    guard ProfileName.isValid(name) else {
      throw UsageError(
        .correctValue, "\(name.inQuotes) is no name of a profile; \(ProfileName.advice)")
    }
    let low = try arguments.double("--low", in: ProfileLimits.hertz)
    let high = try arguments.double("--high", in: ProfileLimits.hertz)
    var profile = TransducerProfile(
      name: name, summary: "A transducer of my own.", frequency: usualBand)
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
        .correctValue,
        "the band would go from \(Figures.rounded(profile.frequency.low, places: 3)) down to "
          + "\(Figures.rounded(profile.frequency.high, places: 3)) Hz; give '--low' and '--high'")
    }
    return ProfileFile.write(profile, schema: schema)
  }

  /// Where it is, and what to do next.
  private static func advice(_ name: String, path: String, isFound: Bool) -> String {
    let word = isFound ? name : path.contains("/") || path.hasSuffix(".json") ? path : "./" + path
    var text = "\(path.printable): written\n"
    if isFound, ProfileCatalog.names.contains(name) {
      text += "It is used instead of the shipped profile \(name) from now on.\n"
    }
    return text + "Edit it, then: temblor profiles check \(word.printable)\n"
      + "Hear it with:  temblor play heartbeat --profile \(word.printable)\n"
  }
}
