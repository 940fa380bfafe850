import CommandLineKit
import HapticRender
import SystemSupport
import TransducerProfiles

/// `temblor profiles import`: a profile from another program's file.
enum ProfilesImportVerb {
  static let description = CommandDescription(
    "import", abstract: "Create a profile from an actuator file of the Meta Haptics SDK (.acf).",
    discussion: """
      The profile is named after the file unless NAME is given, and written to the folder of user profiles, where --profile finds it by name, or to --output. What a profile cannot hold is printed. An existing file is not replaced unless --force is given.
      """,
    arguments: [
      Argument("FILE", help: "An actuator file, or - for standard input.", completion: .file(endingIn: "acf")),
      Argument("NAME", help: "Name of the profile.", isOptional: true),
    ],
    options: [
      Option(
        "-o", "--output", value: "FILE", help: "Output file; - for standard output.",
        completion: .file(endingIn: "json")), Option("--force", help: "Replace an existing file."),
    ], examples: [.init("temblor profiles import MetaQuest.acf quest", "Create the profile quest.")]
  ) { arguments, terminal in
    let file = arguments.argument("FILE")
    let name = arguments.value("NAME") ?? profileName(of: file)
    guard ProfileName.isValid(name) else {
      throw UsageError(.invalidValue, "\(name.inQuotes) is not a valid profile name; \(ProfileName.advice)")
    }
    let label = file == "-" ? "standard input" : file
    let (profile, losses) = try ActuatorFile.profile(
      of: try FileSystem.read(file, limit: ProfileFile.maximumByteCount), file: label, name: name)
    for loss in losses { terminal.report("\(label): approximated: \(loss)".printable) }
    let text = ProfileFile.write(profile)
    if arguments.value("--output") == "-" {
      try terminal.output.write(text.span)
      return .done
    }
    try ProfilesNewVerb.write(
      text, named: name, to: arguments.value("--output"), replaces: arguments.flag("--force"), on: terminal)
    return .done
  }

  /// The name of a file without its ending, in the letters that profiles have.
  private static func profileName(of file: String) -> String {
    let stem = FileSystem.stem(of: FileSystem.name(of: file)).lowercased()
    let letters = stem.map { letter in letter.isASCII && (letter.isLetter || letter.isNumber) ? letter : "-" }
    return String(letters.prefix(40))
  }
}
