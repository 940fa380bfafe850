public import HapticRender
public import Reading
internal import ShippedFiles

/// The profiles that come with Temblor, embedded so that they are found from any folder.
public enum ProfileCatalog {
  /// Their names: the default, the one for listening, real transducers, others' mappings.
  public static let names = ShippedFiles.profiles.names.map { String($0.dropLast(5)) }

  /// A profile, or nothing where none has the name; its text is read at every call.
  public static func profile(named name: String) -> TransducerProfile? {
    guard let text = text(named: name) else { return nil }
    // The tests read every shipped text.
    return try? ProfileFile.read(text: text, name: name)
  }

  /// The JSON text of a profile, or nothing where none has the name.
  public static func text(named name: String) -> [UInt8]? {
    ShippedFiles.profiles.bytes(named: name + ".json")
  }
}

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

  /// Whether a word for a profile is the path of a file, and not a name: it has a slash, or ends in
  /// `.json`.
  public static func isPath(_ word: String) -> Bool {
    word.contains("/") || word.hasSuffix(".json")
  }

  /// Reads a profile; nothing is guessed, and anything wrong refuses the text.
  ///
  /// - Parameter text: UTF-8, at most `maximumByteCount`.
  /// - Parameter name: What errors call the text, usually the file's path.
  public static func read(text: [UInt8], name: String) throws(InputError) -> TransducerProfile {
    try ProfileCheckResult(text: text, name: name, warns: false).outcome.get()
  }

  /// Writes a profile so that it reads back equal; what has its default value is left out.
  ///
  /// All figures must be finite. Keys have a fixed order, so equal profiles give equal bytes.
  ///
  /// - Parameters:
  ///   - profile: The profile.
  ///   - schema: Where editors find the schema, written as `$schema`; nothing by itself.
  public static func write(_ profile: TransducerProfile, schema: String? = nil) -> [UInt8] {
    var json = JSONWriter()
    json.object { file in
      if let schema {
        file.member(ProfileKeys.schemaKey, schema)
      }
      ProfileKeys.profile.write(profile, unless: empty, to: &file)
    }
    return json.finish()
  }

  static func document(_ text: [UInt8], name: String) throws(InputError) -> JSONDocument {
    let limits = JSONLimits(
      maximumTextBytes: maximumByteCount, maximumValueCount: 1 << 16, maximumDepth: 16)
    do {
      return try JSONDocument(text: text, name: name, limits: limits)
    } catch {
      throw InputError(error, rule: .syntax)
    }
  }

  /// A profile that says nothing; its frequency is always given.
  static let empty = TransducerProfile(
    name: "", summary: "", frequency: TransducerProfile.phone.frequency)
}

/// Everything there is to say about a profile's text.
public struct ProfileCheckResult: Sendable {
  /// The profile, or why the text is refused.
  public var outcome: Result<TransducerProfile, InputError>
  /// What the text names as its schema, for editors.
  public var schema: String?
  /// What was found, in the order of the text; at most 100 of a rule, and one that counts the rest.
  public var findings: [Finding] = []

  /// Checks a text.
  ///
  /// - Parameters:
  ///   - text: UTF-8, at most `ProfileFile.maximumByteCount`.
  ///   - name: What findings call the text, usually the file's path.
  ///   - stem: What the file is called without its ending, where the profile should be called so
  ///     too.
  public init(text: [UInt8], name: String, stem: String? = nil) {
    self.init(text: text, name: name, stem: stem, warns: true)
  }

  /// Checks a text, with warnings or for errors alone.
  init(text: [UInt8], name: String, stem: String? = nil, warns: Bool) {
    do throws(InputError) {
      let document = try ProfileFile.document(text, name: name)
      schema = document.root[ProfileKeys.schemaKey]?.string
      var checker = ProfileChecker(document)
      var profile = ProfileFile.empty
      checker.read(ProfileKeys.profile, into: &profile)
      checker.checkConsistency(of: document.root)
      findings = checker.findings
      if let error = checker.inputError { throw error }
      outcome = .success(profile)
      guard warns else { return }
      checker.warn(profile, stem: stem)
      findings = checker.findings
    } catch {
      if findings.isEmpty {
        findings = [error.finding]
      }
      outcome = .failure(error)
    }
  }

  /// The profile, or nothing where the text is refused.
  public var profile: TransducerProfile? { try? outcome.get() }
}

/// What profiles are called.
public enum ProfileName {
  /// The most letters a name has.
  static let maximumLength = 40
  static let pattern = "^[a-z0-9-]{1,\(maximumLength)}$"
  /// What to do about one that is none.
  public static let advice = "use up to \(maximumLength) characters of a–z, 0–9 and -"

  /// Whether a text can be the name of a profile; one that can names no folder and hides no file.
  public static func isValid(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= maximumLength
      && text.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || byte == UInt8(ascii: "-")
      }
  }
}
