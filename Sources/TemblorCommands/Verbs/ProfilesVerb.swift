import CommandLineKit
import JSONText
import SystemSupport
import TransducerProfiles

/// `temblor profiles`: the profiles there are, and verbs about them.
enum ProfilesVerb {
  static let description = CommandDescription(
    "profiles", abstract: "List, show, check and create profiles.",
    discussion: """
      User profiles are files NAME.json in $XDG_CONFIG_HOME/temblor/profiles (default ~/.config/temblor/profiles); system profiles are in temblor/profiles in each folder of $XDG_CONFIG_DIRS (default /etc/xdg). The first match is used, so a user profile can replace a shipped one. Without a profile argument, the shipped phone is used.

      The exit status is 2 if a file in these folders is invalid.
      """,
    options: [
      Option("--names", help: "Print only the names, one per line."),
      SharedOptions.json,
    ],
    verbs: [
      ProfilesShowVerb.description, ProfilesCheckVerb.description, ProfilesNewVerb.description,
      ProfilesSchemaVerb.description,
    ],
    examples: [
      .init("temblor profiles", "List the profiles."),
      .init("temblor profiles show phone", "Show a profile."),
      .init("temblor profiles new puck --low 25 --high 80", "Create a profile."),
    ]
  ) { arguments, terminal in
    let library = ProfileLibrary.fromEnvironment()
    if arguments.flag("--names") {
      try terminal.output.write(library.entries().map { $0.name + "\n" }.joined())
      return .done
    }
    let rows = library.entries().map(ProfileRow.init)
    if arguments.flag("--json") {
      var json = JSONWriter()
      json.array { list in
        for row in rows { list.object { row.write(to: &$0) } }
      }
      try terminal.output.write(json.finish().span)
    } else {
      let lines = ColumnText.lines(rows.map(\.columns)).map { line in
        let room = terminal.output.isTerminal ? terminal.output.width : line.count
        return (line.count > room ? line.prefix(max(0, room - 1)) + "…" : line) + "\n"
      }
      try terminal.output.write(lines.joined())
    }
    var statuses: [ExitStatus] = []
    for error in rows.compactMap(\.error) {
      terminal.report(Failure.message(error))
      statuses.append(Failure.status(of: error))
    }
    for path in library.misnamedFiles() {
      terminal.report(
        "\(path.printable): ignored: not a valid profile name; \(ProfileName.advice), then .json")
      statuses.append(.invalidInput)
    }
    return Failure.worst(statuses)
  }
}
