import CommandLineKit
import SystemSupport
import TransducerProfiles

/// `temblor profiles show`: what a profile does.
enum ProfilesShowVerb {
  static let description = CommandDescription(
    "show", abstract: "Show a profile.",
    arguments: [
      Argument(
        "PROFILE", help: "A profile's name or file, or - for standard input.",
        completion: SharedOptions.profileNames)
    ],
    options: [Option("--json", help: "Print the profile file as it stands.")],
    examples: [
      .init("temblor profiles show buttkicker-lfe", "Read what one does."),
      .init("temblor profiles show phone --json", "Print the file of a profile."),
    ]
  ) { arguments, terminal in
    let input = try ProfileInput.find(arguments.argument("PROFILE"), takesInput: true)
    let profile = try input.profile()
    if arguments.flag("--json") {
      try terminal.output.write(input.text.span)
      return .done
    }
    var origin = input.entry.map { $0.path ?? "Temblor" } ?? input.name
    if let entry = input.entry, entry.path != nil, ProfileCatalog.names.contains(entry.name) {
      origin += ", replaces the shipped profile"
    }
    let sheet = ProfileSummary(profile: profile, origin: origin)
    try terminal.output.write(sheet.text(for: terminal.output))
    return .done
  }
}
