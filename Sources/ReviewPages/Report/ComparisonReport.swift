internal import HapticModel
internal import HapticRender
public import PatternComparison
public import SignalAnalysis

/// A comparison as one page that can be sent to a colleague: heard, seen, read and blindly judged.
public struct ComparisonReport: Sendable {
  /// The program and its version, as `Temblor 1.0`.
  public var generator: String
  /// By what the page makes the takes equally strong where its reader asks for it.
  public var levelMatch: LevelMatch
  /// What is heard of each take on small speakers, in the takes' order; or none.
  public var speakerSignals: [Signal]

  /// Makes a report.
  public init(
    generator: String, levelMatch: LevelMatch = .loudness, speakerSignals: [Signal] = []
  ) {
    self.generator = generator
    self.levelMatch = levelMatch
    self.speakerSignals = speakerSignals
  }

  /// The most takes of one report.
  public static let maximumTakeCount = 26

  /// The whole page; equal takes give equal bytes with one version of Cairo and its fonts.
  ///
  /// - Parameters:
  ///   - takes: What is compared, the reference first; at most `maximumTakeCount`.
  ///   - comparisons: Each other take against the first, in the takes' order; empty for one take.
  /// - Throws: `nothingToShow`, `tooMany`, `tooLarge` or `notDrawn`.
  public func html(takes: [Take], comparisons: [Comparison]) throws(ReviewPageError) -> [UInt8] {
    guard let first = takes.first else {
      throw ReviewPageError(.nothingToShow, "there is nothing to compare")
    }
    guard takes.count <= Self.maximumTakeCount else {
      throw ReviewPageError(
        .tooMany, "a report shows at most \(Self.maximumTakeCount) takes, not \(takes.count)")
    }
    let speakers = speakerSignals.count == takes.count ? speakerSignals : []
    let size = (takes.map(\.signal) + speakers).reduce(0) { $0 + EmbeddedSound($1).textLength }
    try EmbeddedSound.check(size: size, count: takes.count)
    // Early takes are delayed, so that all are aligned with the last.
    let lateness = [0] + comparisons.map(\.alignment.seconds)
    let latest = lateness.max() ?? 0
    let delays = takes.indices.map { index in
      index < lateness.count ? latest - lateness[index] : latest
    }
    let shown = zip(takes, delays).map { $0.delayed(by: $1) }
    let heard = zip(speakers, delays).map { $0.delayed(by: $1) }
    let feltGains = levelMatch.gains(for: takes)
    let speakerGains = speakers.isEmpty ? [] : levelMatch.gains(for: speakers)
    var entries: [ReportContents.Entry] = []
    for (index, take) in shown.enumerated() {
      entries.append(
        try ReportContents.Entry(
          take, index: index, delay: delays[index],
          speakerSignal: heard.isEmpty ? nil : heard[index],
          gains: [feltGains[index]] + (speakerGains.isEmpty ? [] : [speakerGains[index]])))
    }
    let pairs = comparisons.enumerated().map { index, comparison in
      ReportContents.Pair(comparison, other: index + 1, delay: delays[0])
    }
    let contents = ReportContents(
      generator: generator, facts: Self.facts(of: takes), entries: entries, pairs: pairs,
      pictures: try ReportPicture.pictures(of: shown),
      measures: MeasureTable.measures(
        comparisons.first.map { [$0.measurements[0]] + comparisons.map { $0.measurements[1] } }
          ?? takes.map(TakeMeasurements.init)),
      levelMatch: levelMatch.rawValue,
      profile: first.profile.name, renderingModel: RenderPlan.modelVersion)
    return ReportPage(contents).html()
  }

  private static func facts(of takes: [Take]) -> String {
    let rates = Set(takes.map(\.signal.rate)).sorted().map {
      PageNumberFormatting.plain($0 / 1_000, places: 1)
    }
    let profiles = takes.filter { $0.composition != nil }.map(\.profile)
    let names = profiles.reduce(into: [String]()) { names, profile in
      if !names.contains(profile.name) { names.append(profile.name) }
    }
    var facts = ""
    if let profile = profiles.first, names.count == 1 {
      facts = "Rendered with the profile \(profile.name): \(profile.summary) "
    } else if !names.isEmpty {
      facts = "Rendered with the profiles \(names.joined(separator: ", ")). "
    }
    return facts + "Sound at \(rates.joined(separator: " and ")) kHz, 16 bits."
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
    /// A picture could not be drawn.
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
