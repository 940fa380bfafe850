import TransducerProfiles

/// `temblor profiles schema`: the schema that editors complete and check profiles by.
enum ProfilesSchemaVerb {
  static let description = CommandDescription(
    "schema", abstract: "Print the JSON Schema of profiles.",
    discussion: """
      Editors that know JSON Schema complete and check a profile whose key $schema leads to the file:

        "$schema": "./profile.schema.json"
      """,
    examples: [.init("temblor profiles schema > profile.schema.json", "Put it beside a profile.")]
  ) { _, terminal in
    try terminal.output.write(ProfileSchema.text().span)
    return .done
  }
}
