import HapticRender
import JSONText
import TransducerProfiles

/// `temblor profiles`: the profiles that come with Temblor.
enum ProfilesVerb {
  static let description = CommandDescription(
    "profiles", abstract: "List the profiles, or print one as a file to start from.",
    arguments: [
      Argument("NAME", help: "A profile that is printed as a profile file.", isOptional: true)
    ],
    options: [SharedOptions.json],
    examples: [
      .init("temblor profiles", "What there is."),
      .init("temblor profiles phone > mine.json", "Start a profile of your own."),
    ]
  ) { arguments, terminal in
    if let name = arguments.value("NAME") {
      guard let profile = ProfileCatalog.profile(named: name) else {
        throw UsageError.unknown("profile", name, among: ProfileCatalog.names)
      }
      try terminal.output.write(ProfileFile.write(profile).span)
      return .done
    }
    let profiles = ProfileCatalog.names.compactMap(ProfileCatalog.profile(named:))
    if arguments.flag("--json") {
      var json = JSONWriter()
      json.array { list in
        for profile in profiles {
          list.object { entry in
            entry.member("name", profile.name)
            entry.member("summary", profile.summary)
            entry.member("low", profile.frequency.low)
            entry.member("high", profile.frequency.high)
          }
        }
      }
      try terminal.output.write(json.finish().span)
      return .done
    }
    let widest = profiles.map(\.name.count).max() ?? 0
    var text = ""
    for profile in profiles {
      let band =
        Figures.rounded(profile.frequency.low, places: 1) + "–"
        + Figures.rounded(profile.frequency.high, places: 1) + " Hz"
      text += profile.name + String(repeating: " ", count: widest + 2 - profile.name.count)
      text += band + String(repeating: " ", count: max(1, 13 - band.count)) + profile.summary + "\n"
    }
    try terminal.output.write(text)
    return .done
  }
}
