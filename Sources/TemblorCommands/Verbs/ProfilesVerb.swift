import JSONText
import TransducerProfiles

/// `temblor profiles`: the profiles there are, and verbs about them.
enum ProfilesVerb {
  static let description = CommandDescription(
    "profiles", abstract: "List the profiles, show, check or begin one.",
    discussion: """
      Your own profiles are files called NAME.json in $XDG_CONFIG_HOME/temblor/profiles, which is \
      ~/.config/temblor/profiles where nothing else is set; those of the machine are in \
      temblor/profiles below each folder of $XDG_CONFIG_DIRS, or below /etc/xdg. The first that has the \
      name is used, so a file of yours may stand for a shipped profile wherever that is asked for by \
      name. What plays where no profile is named is always the shipped phone.

      The exit status is 2 when a file in those folders cannot be used.
      """,
    options: [
      Option("--names", help: "Print nothing but the names, one on each line."),
      SharedOptions.json,
    ],
    verbs: [
      ProfilesShowVerb.description, ProfilesCheckVerb.description, ProfilesNewVerb.description,
      ProfilesSchemaVerb.description,
    ],
    examples: [
      .init("temblor profiles", "What there is."),
      .init("temblor profiles show phone", "What one does."),
      .init("temblor profiles new puck --low 25 --high 80", "Begin one of your own."),
    ]
  ) { arguments, terminal in
    let library = ProfileLibrary.ofEnvironment()
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
      terminal.report("\(path.printable): is found by no name; \(ProfileName.advice), then .json")
      statuses.append(.inputIsWrong)
    }
    return Failure.worst(statuses)
  }
}
