internal import HapticRender
internal import Reading
public import PatternComparison
internal import SignalAnalysis

/// A comparison as one page that can be sent to a colleague: heard, seen, read and blindly judged.
public struct ComparisonReport: Sendable {
  /// The program and its version, as `Temblor 1.0`.
  public var generator: String
  /// The command that makes the report again; empty where there is none.
  public var command: String
  /// By what the page makes the takes equally strong where its reader asks for it.
  public var levelMatch: LevelMatch
  /// How takes are compared for which no comparison is given.
  public var options: ComparisonOptions

  /// Makes a report.
  public init(
    generator: String, command: String = "", levelMatch: LevelMatch = .loudness,
    options: ComparisonOptions = ComparisonOptions()
  ) {
    self.generator = generator
    self.command = command
    self.levelMatch = levelMatch
    self.options = options
  }

  /// The most takes of one report: any two of them are compared, which are 240 comparisons.
  public static let maximumTakeCount = 16

  /// The whole page; equal takes give equal bytes.
  ///
  /// - Parameters:
  ///   - takes: What is compared, the reference first; at least two, at most `maximumTakeCount`, all at one
  ///     rate.
  ///   - comparisons: Each other take against the first, in the takes' order, where these are made
  ///     already; others are made here.
  ///   - sounds: What the page plays of each take, in the takes' order; without them the takes' own
  ///     signals.
  /// - Throws: `nothingToShow`, `tooMany`, `tooLarge` or `notDrawn`.
  public func html(takes: [Take], comparisons: [Comparison] = [], sounds: [PageSounds]? = nil) throws(ReviewPageError)
    -> [UInt8]
  {
    guard takes.count > 1 else { throw ReviewPageError(.nothingToShow, "a report compares at least two takes") }
    guard takes.count <= Self.maximumTakeCount else {
      throw ReviewPageError(.tooMany, "a report shows at most \(Self.maximumTakeCount) takes, not \(takes.count)")
    }
    let measurements =
      comparisons.first.map { [$0.measurements[0]] + comparisons.map { $0.measurements[1] } }
      ?? takes.map(TakeMeasurements.init)
    let sounds = sounds ?? takes.map { PageSounds(actuator: $0.signal) }
    let hasTracks = takes.contains { !$0.isOfEvents }
    var shown: [PageTake] = []
    for (index, take) in takes.enumerated() {
      shown.append(
        try PageTake(take, index: index, sounds: sounds[index], measurements: measurements[index], hasTrack: hasTracks))
    }
    try EmbeddedSound.check(shown.flatMap(\.sounds), takeCount: takes.count)
    setGains(of: &shown, takes: takes, sounds: sounds)
    let pairs = pairs(of: takes, made: comparisons, measurements: measurements)
    return ReportPage(report: self, takes: shown, pairs: pairs, profile: takes[0].profile).html()
  }

  /// For each sound of each take the factor that makes it as strong as the weakest.
  private func setGains(of shown: inout [PageTake], takes: [Take], sounds: [PageSounds]) {
    let actuator = levelMatch.gains(for: sounds.map(\.actuator))
    let speakers = sounds.compactMap(\.speaker)
    let speaker = speakers.count == takes.count ? levelMatch.gains(for: speakers) : []
    for index in shown.indices { shown[index].gains = [actuator[index]] + (speaker.isEmpty ? [] : [speaker[index]]) }
  }

  /// Every take against every other, by their letters' places.
  private func pairs(of takes: [Take], made: [Comparison], measurements: [TakeMeasurements]) -> [ReportPair] {
    var pairs: [ReportPair] = []
    for reference in takes.indices {
      for other in takes.indices where other != reference {
        if reference == 0, made.count == takes.count - 1 {
          pairs.append(ReportPair(made[other - 1], reference: reference, other: other))
          continue
        }
        var options = made.first?.options ?? options
        options.referenceLabel = Take.letter(reference)
        options.otherLabel = Take.letter(other)
        let comparison = Comparison(
          takes[reference], takes[other], options: options, referenceMeasurements: measurements[reference])
        pairs.append(ReportPair(comparison, reference: reference, other: other))
      }
    }
    return pairs
  }
}

/// What was found when one take was compared with another.
struct ReportPair {
  /// One thing that differs.
  struct Finding {
    /// In words.
    let text: FindingText
    /// What differs.
    let kind: String
    /// Seconds of the reference.
    let range: ClosedRange<Double>
    /// Whether it is true of the whole.
    let isThroughout: Bool
    /// In steps that are just noticed.
    let significance: Double
  }

  /// The places of the two among the takes.
  let reference: Int
  /// The take that is judged.
  let other: Int
  /// How many seconds later the other take comes as a whole, and is moved back by.
  let shift: Double
  /// What is said where nothing differs, or nil.
  let verdict: String?
  /// What differs, the strongest first.
  let findings: [Finding]

  /// The findings of a comparison.
  init(_ comparison: Comparison, reference: Int, other: Int) {
    self.reference = reference
    self.other = other
    shift = comparison.alignment.seconds
    verdict = comparison.verdict
    findings = comparison.differences.sorted { $0.significance > $1.significance }.map { difference in
      Finding(
        text: FindingText(difference, of: comparison), kind: difference.kind.rawValue, range: difference.range,
        isThroughout: difference.isThroughout,
        significance: difference.significance.isFinite ? difference.significance : 999)
    }
  }

  /// Writes the findings as members of an object.
  func write(to json: inout JSONObjectWriter) {
    json.member("shift", rounded(shift))
    if let verdict { json.member("verdict", verdict) }
    json.array("findings") { list in
      for finding in findings {
        list.object { json in
          json.member("kind", finding.kind)
          json.member("start", rounded(finding.range.lowerBound))
          json.member("end", rounded(finding.range.upperBound))
          json.member("throughout", finding.isThroughout)
          json.member("significance", (finding.significance * 100).rounded() / 100)
          json.member("title", finding.text.title)
          json.member("detail", finding.text.detail)
          json.member("amount", finding.text.amount)
          json.member("when", finding.text.when)
        }
      }
    }
  }
}

/// Why a page cannot be made.
public struct ReviewPageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What can be done about it.
  public enum Kind: String, Sendable {
    /// The page would be too large for a browser: show less.
    case tooLarge
    /// There is nothing to show: name something.
    case nothingToShow
    /// There are more takes than a page can distinguish: name fewer.
    case tooMany
    /// A picture or a sound could not be made.
    case notDrawn
  }

  /// What can be done about it.
  public var kind: Kind
  /// One line for the user.
  public var description: String

  /// Makes an error.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
