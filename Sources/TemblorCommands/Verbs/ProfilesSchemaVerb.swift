import CommandLineKit
import SystemSupport
import TransducerProfiles

/// `temblor profiles schema`: the schema that editors complete and check profiles by.
enum ProfilesSchemaVerb {
  static let description = CommandDescription(
    "schema", abstract: "Print the JSON Schema of profiles.",
    discussion: """
      Editors with JSON Schema support complete and validate a profile that refers to the schema:

        "$schema": "./profile.schema.json"
      """,
    examples: [.init("temblor profiles schema > profile.schema.json", "Put it beside a profile.")]
  ) { _, terminal in
    try terminal.output.write(ProfileSchema.text().span)
    return .done
  }
}
