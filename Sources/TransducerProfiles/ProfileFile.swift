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

/// Everything there is to say about a profile's text.
public struct ProfileCheckResult: Sendable {
  /// What a text turned out to be.
  public enum Outcome: Equatable, Sendable {
    /// A profile.
    case profile(TransducerProfile)
    /// No profile, for a reason.
    case refused(ProfileError)
  }

  /// What the text turned out to be.
  public var outcome: Outcome
  /// What the text names as its schema, for editors.
  public var schema: String?
  /// What was found, in the order of the text; at most 100 of a rule, and one that counts the rest.
  public var findings: [ProfileFinding]

  /// Examines a text.
  ///
  /// - Parameters:
  ///   - text: UTF-8, at most `ProfileFile.maximumByteCount`.
  ///   - name: What findings call the text, usually the file's path.
  ///   - stem: What the file is called without its ending, where the profile should be called so too.
  public init(text: [UInt8], name: String, stem: String? = nil) {
    self.init(text: text, name: name, stem: stem, doubts: true)
  }

  /// Examines a text, for what is doubtful too or for faults alone.
  init(text: [UInt8], name: String, stem: String? = nil, doubts: Bool) {
    let limits = JSONLimits(textBytes: ProfileFile.maximumByteCount, values: 1 << 16, depth: 16)
    let document: JSONDocument
    do {
      document = try JSONDocument(text: text, name: name, limits: limits)
    } catch {
      let finding = ProfileFinding(error)
      findings = [finding]
      outcome = .refused(ProfileError(finding))
      return
    }
    schema = document.root[ProfileKeys.schemaKey]?.string
    var examiner = ProfileChecker(document)
    examiner.examine()
    findings = examiner.log.findings
    if let first = findings.first {
      outcome = .refused(ProfileError(first, otherErrorCount: examiner.log.errorCount - 1))
      return
    }
    let profile = ProfileFile.profile(of: document.root)
    outcome = .profile(profile)
    guard doubts else { return }
    examiner.warn(profile, stem: stem)
    findings = examiner.log.findings
  }

  /// The profile, or nothing where the text is refused.
  public var profile: TransducerProfile? {
    if case .profile(let profile) = outcome { profile } else { nil }
  }
}
