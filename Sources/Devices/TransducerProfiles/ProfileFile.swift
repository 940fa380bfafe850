public import HapticRender
public import Reading
internal import ShippedFiles

/// The catalog of the profiles that come with Temblor.
/// They are embedded, so that they are available in any folder.
public enum ProfileCatalog {
  /// The names of the profiles, which are the default profile, the listening profile, real
  /// transducers, and vendors' mappings.
  public static let names = ShippedFiles.profiles.names.map { String($0.dropLast(5)) }

  /// Returns the shipped profile with the given name, or nil if there is none. The text is parsed
  /// at every call.
  public static func profile(named name: String) -> TransducerProfile? {
    guard let profileText = text(named: name) else { return nil }
    // The tests read every shipped text.
    return try? ProfileFile.read(text: profileText, name: name)
  }

  /// Returns the JSON text of the shipped profile with the given name, or nil if there is none.
  public static func text(named name: String) -> [UInt8]? {
    ShippedFiles.profiles.bytes(named: name + ".json")
  }
}

/// The reader and writer of profiles as JSON text.
///
/// Only `name`, `summary`, and `frequency` are required; all other keys have the defaults of
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
  /// The maximum size of a profile's text, in bytes.
  public static let maximumByteCount = 1 << 20

  /// Returns whether an argument is the path of a file instead of a name.
  /// A path contains a slash or ends in `.json`.
  public static func isPath(_ word: String) -> Bool {
    word.contains("/") || word.hasSuffix(".json")
  }

  /// Reads a profile. Any error rejects the text.
  ///
  /// - Parameters:
  ///   - text: The UTF-8 text, at most `maximumByteCount`.
  ///   - name: The name of the text in errors, usually the file's path.
  public static func read(text: [UInt8], name: String) throws(InputError) -> TransducerProfile {
    var profileChecker = ProfileChecker(try parseDocument(text, name: name))
    return try profileChecker.readProfile()
  }

  /// Returns a profile as JSON text from which the reader restores an equal profile. Default values
  /// are omitted.
  ///
  /// All values must be finite. The order of keys is fixed, so equal profiles have equal bytes.
  ///
  /// - Parameters:
  ///   - profile: The profile.
  ///   - schema: The location of the schema for editors, written as `$schema`, or nil for none.
  public static func write(_ profile: TransducerProfile, schema: String? = nil) -> [UInt8] {
    var jsonWriter = JSONWriter()
    jsonWriter.writeObject { file in
      if let schema {
        file.writeMember(ProfileSchema.schemaKey, schema)
      }
      ProfileSchema.profile.write(profile, unless: emptyProfile, to: &file)
    }
    return jsonWriter.finishedText()
  }

  static func parseDocument(_ text: [UInt8], name: String) throws(InputError) -> JSONDocument {
    let jsonLimits = JSONLimits(
      maximumTextByteCount: maximumByteCount, maximumValueCount: 1 << 16, maximumNestingDepth: 16)
    do {
      return try JSONDocument(text: text, name: name, limits: jsonLimits)
    } catch {
      throw InputError(error, rule: .invalidSyntax)
    }
  }

  /// A profile with default values, with which a profile is compared to omit defaults. The
  /// frequency is always written.
  static let emptyProfile = TransducerProfile(
    name: "", summary: "", frequency: TransducerProfile.phone.frequency)
}

/// The result of checking a profile's text.
public struct ProfileCheckResult: Sendable {
  /// The profile, or the error that rejects the text.
  public var outcome: Result<TransducerProfile, InputError>
  /// The location of the JSON schema, from the `$schema` key that editors read.
  public var schemaLocation: String?
  /// The findings in the order of the text.
  /// There are at most 100 findings for each rule, and a finding that counts the rest.
  public var findings: [Finding] = []

  /// Checks the text of a profile.
  ///
  /// - Parameters:
  ///   - text: The UTF-8 text, at most `ProfileFile.maximumByteCount`.
  ///   - name: The name of the text in findings, usually the file's path.
  ///   - stem: The file's name without its extension, if the profile should have that name.
  public init(text: [UInt8], name: String, stem: String? = nil) {
    do throws(InputError) {
      let document = try ProfileFile.parseDocument(text, name: name)
      schemaLocation = document.root[ProfileSchema.schemaKey]?.string
      var profileChecker = ProfileChecker(document)
      outcome = Result { () throws(InputError) in try profileChecker.readProfile() }
      if case .success(let profile) = outcome {
        profileChecker.addPlausibilityWarnings(for: profile, stem: stem)
      }
      findings = profileChecker.findings
    } catch {
      findings = [error.finding]
      outcome = .failure(error)
    }
  }

  /// The profile that was read, or nil if the text is rejected.
  public var profile: TransducerProfile? { try? outcome.get() }
}

/// The rules for names of profiles.
public enum ProfileName {
  /// The maximum length of a profile name, in characters.
  static let maximumLength = 40
  static let regularExpression = "^[a-z0-9-]{1,\(maximumLength)}$"
  /// The remedy for an invalid name, as a clause.
  public static let advice = "use up to \(maximumLength) characters: a–z, 0–9, and -"

  /// Returns whether a text is a valid name. A valid name contains no folder and is not hidden.
  public static func isValid(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= maximumLength
      && text.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || byte == UInt8(ascii: "-")
      }
  }
}
