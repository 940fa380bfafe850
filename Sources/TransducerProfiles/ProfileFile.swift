public import HapticRender
import JSONText

/// Profiles as JSON text, for people to write.
///
/// Only `name`, `summary` and `frequency` must be there; the rest has the defaults of
/// `TransducerProfile`. `Profiles/README.md` lists the keys with units and ranges.
///
/// ```json
/// {
///   "name": "puck",
///   "summary": "The puck under my chair.",
///   "frequency": { "low": 25, "high": 80 }
/// }
/// ```
public enum ProfileFile {
  /// The most bytes a profile's text may have.
  public static let maximumByteCount = 1 << 20

  /// Reads a profile; nothing is guessed, and anything wrong refuses the text.
  ///
  /// - Parameter text: UTF-8, at most `maximumByteCount`.
  /// - Parameter name: What errors call the text, usually the file's path.
  public static func read(text: [UInt8], name: String) throws(ProfileError) -> TransducerProfile {
    switch ProfileCheckResult(text: text, name: name, doubts: false).outcome {
    case .profile(let profile): return profile
    case .refused(let error): throw error
    }
  }

  /// Writes a profile so that it reads back equal; what has its default value is left out.
  ///
  /// All figures must be finite. Keys have a fixed order, so equal profiles give equal bytes.
  ///
  /// - Parameter schema: Where editors find the schema, written as `$schema`; nothing by itself.
  public static func write(_ profile: TransducerProfile, schema: String? = nil) -> [UInt8] {
    var json = JSONWriter()
    json.object { file in
      if let schema { file.member(ProfileKeys.schemaKey, schema) }
      ProfileKeys.profile.write(profile, unless: empty, to: &file)
    }
    return json.finish()
  }

  /// The profile of a text in which nothing was found wrong.
  static func profile(of root: JSONValue) -> TransducerProfile {
    var profile = empty
    ProfileKeys.profile.read(root, into: &profile)
    return profile
  }

  /// A profile that says nothing; its frequency is always given.
  private static let empty = TransducerProfile(
    name: "", summary: "", frequency: TransducerProfile.phone.frequency)
}
