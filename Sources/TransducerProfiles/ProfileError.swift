public import Diagnostics

/// Why a text is no profile, or no array, and where.
public struct ProfileError: Error, Equatable, Sendable {
  /// The first thing in the text for which it is refused.
  public var finding: ProfileFinding
  /// How many more such things the text has.
  public var otherErrorCount: Int

  /// Makes an error of a finding.
  public init(_ finding: ProfileFinding, otherErrorCount: Int = 0) {
    self.finding = finding
    self.otherErrorCount = otherErrorCount
  }

  /// The rule that names what has to be put right.
  public var rule: ProfileRule { finding.rule }
  /// Where.
  public var place: SourcePlace { finding.place }
}

extension ProfileError: CustomStringConvertible {
  /// One line: `NAME:LINE:COLUMN: error: MESSAGE (PATH); HINT`.
  public var description: String { finding.description }
}
