public import HapticRender
import JSONText

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
