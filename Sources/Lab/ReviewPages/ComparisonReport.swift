internal import HapticRender
internal import SystemSupport
public import PatternComparison
internal import SignalAnalysis
internal import SignalPlots

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
  /// What the takes are judged by; the page says whether they are within it.
  public var tolerance: Tolerance?
  /// Where each take is from, in the takes' order; nil where that is not known.
  public var origins: [TakeOrigin?]
  /// The address of a studio page that takes are opened in; nil where readers have none.
  public var studioAddress: String?

  /// Makes a report.
  public init(
    generator: String, command: String = "", levelMatch: LevelMatch = .loudness,
    options: ComparisonOptions = ComparisonOptions(), tolerance: Tolerance? = nil,
    origins: [TakeOrigin?] = [],
    studioAddress studio: String? = nil
  ) {
    self.generator = generator
    self.command = command
    self.levelMatch = levelMatch
    self.options = options
    self.tolerance = tolerance
    self.origins = origins
    self.studioAddress = studio
  }

  /// The most takes of one report: any two of them are compared, which are 240 comparisons.
  public static let maximumTakeCount = 16

  /// The whole page; equal takes give equal bytes.
  ///
  /// - Parameters:
  ///   - takes: What is compared, the reference first; two to `maximumTakeCount`, all at one rate.
  ///   - comparisons: Each other take against the first, in the takes' order; without them they are
  ///     made here.
  ///   - sounds: What the page plays of each take, in the takes' order; without them the takes' own
  ///     signals.
  /// - Throws: `nothingToShow`, `tooMany`, `tooLarge` or `notDrawn`.
  public func html(takes: [Take], comparisons: [Comparison] = [], sounds: [PageSounds]? = nil)
    throws(ReviewPageError)
    -> [UInt8]
  {
    guard takes.count > 1 else {
      throw ReviewPageError(.nothingToShow, "a report compares at least two takes")
    }
    guard takes.count <= Self.maximumTakeCount else {
      throw ReviewPageError(
        .tooMany, "a report shows at most \(Self.maximumTakeCount) takes, not \(takes.count)")
    }
    let measurements =
      comparisons.first.map { [$0.measurements[0]] + comparisons.map { $0.measurements[1] } }
      ?? takes.map(TakeMeasurements.init)
    let hasTracks = takes.contains { !$0.containsOnlyEvents }
    var shown = try PageTake.makeTakes(takes, sounds: sounds, measurements: measurements) { _ in
      hasTracks
    }
    setGains(of: &shown, takes: takes, sounds: sounds)
    for (index, origin) in origins.enumerated().prefix(shown.count) {
      shown[index].origin = origin
    }
    let pairs = pairs(of: takes, existing: comparisons, measurements: measurements)
    return ReportPage(report: self, takes: shown, pairs: pairs, profile: takes[0].profile).html()
  }

  /// For each sound of each take the factor that makes it as strong as the weakest.
  private func setGains(of shown: inout [PageTake], takes: [Take], sounds: [PageSounds]?) {
    let actuator = levelMatch.gains(for: sounds?.map(\.actuator) ?? takes.map(\.signal))
    let speakers = sounds?.compactMap(\.speaker) ?? []
    let speaker = speakers.count == takes.count ? levelMatch.gains(for: speakers) : []
    for index in shown.indices {
      shown[index].gains = [actuator[index]] + (speaker.isEmpty ? [] : [speaker[index]])
    }
  }

  private func pairs(
    of takes: [Take], existing made: [Comparison], measurements: [TakeMeasurements]
  )
    -> [ReportPair]
  {
    takes.indices.flatMap { reference in
      takes.indices.filter { $0 != reference }.map { other in
        let isMade = reference == 0 && made.count == takes.count - 1
        var options = made.first?.options ?? options
        options.referenceLabel = Take.letter(at: reference)
        options.candidateLabel = Take.letter(at: other)
        let comparison =
          isMade
          ? made[other - 1]
          : Comparison(
            takes[reference], takes[other], options: options,
            referenceMeasurements: measurements[reference])
        return ReportPair(comparison, reference: reference, candidate: other, tolerance: tolerance)
      }
    }
  }
}

/// Where a take is from, so that pages of files of one name can be distinguished.
public struct TakeOrigin: Equatable, Sendable {
  /// The file as it was named.
  public var path: String
  /// When the file was changed last, for a reader; nil where there is no file.
  public var modified: String?
  /// The SHA-256 of the file's bytes in hexadecimal.
  public var sha256: String

  /// Makes an origin.
  public init(path: String, modified: String? = nil, bytes: [UInt8]) {
    self.path = path
    self.modified = modified
    sha256 = SHA256.hash(of: bytes)
  }
}

struct ReportPair {
  struct Finding {
    let text: FindingText
    let kind: String
    /// Seconds of the reference.
    let timeRange: ClosedRange<Double>
    let isOverall: Bool
    /// In steps that are just noticed.
    let significance: Double
  }

  /// The places of the two among the takes.
  let reference: Int
  let candidate: Int
  /// How many seconds later the other take comes as a whole, and is moved back by.
  let candidateDelay: Double
  let verdict: String?
  /// What the comparison came to, in a sentence.
  let summary: String
  /// What exceeds the tolerance, a line each; nil where there is none.
  let excesses: [String]?
  /// What differs, the strongest first.
  let findings: [Finding]

  init(_ comparison: Comparison, reference: Int, candidate other: Int, tolerance: Tolerance? = nil)
  {
    self.reference = reference
    self.candidate = other
    candidateDelay = comparison.alignment.seconds
    verdict = comparison.verdict
    summary = ComparisonSummary.text(of: comparison)
    excesses = tolerance.map { comparison.excesses(over: $0).map(\.text) }
    findings = comparison.differences.sorted { $0.significance > $1.significance }.map {
      difference in
      Finding(
        text: FindingText(difference, of: comparison), kind: difference.kind.rawValue,
        timeRange: Self.timeRange(of: difference), isOverall: difference.isOverall,
        significance: difference.significance.isFinite ? difference.significance : 999)
    }
  }

  /// When a difference is felt: of another duration, between the two ends.
  private static func timeRange(of difference: Difference) -> ClosedRange<Double> {
    guard difference.kind == .duration, difference.referenceEvents.count == 1,
      let before = difference.before,
      let after = difference.after
    else { return difference.range }
    let start = difference.range.lowerBound
    return start + min(before, after)...start + max(before, after)
  }

  var fields: JSONObject {
    [
      "shift": roundedForPage(candidateDelay), "summary": summary, "verdict": verdict,
      "excesses": excesses,
      "findings": findings.map { finding -> JSONObject in
        [
          "kind": finding.kind, "start": roundedForPage(finding.timeRange.lowerBound),
          "end": roundedForPage(finding.timeRange.upperBound),
          "throughout": finding.isOverall,
          "significance": (finding.significance * 100).rounded() / 100,
          "title": finding.text.title, "detail": finding.text.detail, "amount": finding.text.amount,
          "when": finding.text.timeText,
        ]
      },
    ]
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

struct ReportPage {
  let report: ComparisonReport
  let takes: [PageTake]
  let pairs: [ReportPair]
  let profile: TransducerProfile

  func html() -> [UInt8] {
    let page = Page(
      template: PageResource.reportPage, script: PageResource.reportScript,
      style: PageResource.reportStyle,
      generator: report.generator, title: "\(takes[0].name) and \(takes[1].name) · Temblor",
      takes: takes)
    let first = pairs[0]
    let picture = OverlayPicture(
      takes[0], takes[1], candidateDelay: first.candidateDelay, profile: profile
    ).markup
    return page.html(
      texts: [
        "names": takeNames, "verdict": Self.verdict(first).escapedForMarkup,
        "summary": first.summary.escapedForMarkup,
        "picture": picture, "findings": Self.findingRows(first), "measures": measurementTable,
        "sources": sourceListings,
      ], data: embeddedData)
  }

  private var takeNames: String {
    takes.indices.map { "<b>\(takeTag($0)) \(takes[$0].name.escapedForMarkup)</b>" }.joined(
      separator: " ")
  }

  private func takeTag(_ index: Int) -> String {
    "<span class=\"tag k\(index % 4)\">\(takes[index].letter)</span>"
  }

  static func verdict(_ pair: ReportPair) -> String {
    let count = pair.findings.count { $0.significance >= 1 }
    return pair.findings.isEmpty
      ? "No difference" : "\(count) perceptible difference\(count == 1 ? "" : "s")"
  }

  private static func findingRows(_ pair: ReportPair) -> String {
    guard !pair.findings.isEmpty else {
      let words = pair.verdict ?? "The two takes are equal."
      return "<li class=\"row low\">\(words.escapedForMarkup)</li>\n"
    }
    return pair.findings.enumerated().map { index, finding in
      let text = finding.text
      return "<li class=\"row\(finding.significance < 1 ? " low" : "")\">"
        + "<span class=\"n\">\(index + 1)</span><span class=\"what\"><b>"
        + "\(text.title.escapedForMarkup)</b><span>\(text.detail.escapedForMarkup)</span></span>"
        + "<span></span><span class=\"amount\">\(text.amount.escapedForMarkup)</span>"
        + "<span class=\"when\">\(text.timeText.escapedForMarkup)</span></li>\n"
    }.joined()
  }

  private var measurements: [TakeMeasurements.Measurement] { takes[0].measurements.measurements }

  private var measurementTable: String {
    let heads = takes.indices.map { "<th scope=\"col\">\(takeTag($0))</th>" }
    let rows = measurements.enumerated().map { row, figure in
      let cells = takes.map { take in
        let figure = take.measurements.measurements[row]
        let unit = figure.value == nil || figure.unit.isEmpty ? "" : " " + figure.unit
        return "<td>\(String(figure.formattedValue.map { $0 == "-" ? "−" : $0 }) + unit)</td>"
      }
      return "<tr><th scope=\"row\">\(figure.name.capitalizedFirst)</th>\(cells.joined())</tr>\n"
    }
    return "<table class=\"m\"><thead><tr><td></td>\(heads.joined())</tr></thead>\n<tbody>\n"
      + rows.joined()
      + "</tbody></table>\n"
  }

  private var sourceListings: String {
    takes.enumerated().compactMap { index, take in
      let name = take.name.escapedForMarkup
      return take.sourceText.map {
        """
        <figure><figcaption>\(takeTag(index)) \(name)</figcaption><pre id=\"source-\(index)\" \
        tabindex=\"0\" 
        """
          + "aria-label=\"Source of \(name)\">\($0.escapedForContent)</pre></figure>\n"
      }
    }.joined()
  }

  /// `0.5 dB, 5 ms and 2 %`.
  static func toleranceText(_ tolerance: Tolerance) -> String {
    func text(_ value: Double) -> String { SentenceFormatting.number(value, places: 3) }
    return
      """
      \(text(tolerance.decibels)) dB, \(text(tolerance.seconds * 1_000)) ms and \
      \(text(tolerance.percent)) %
      """
  }

  private var embeddedData: [UInt8] {
    EmbeddedJSON.object([
      "origin": ["program": report.generator, "renderingModel": RenderPlan.modelVersion]
        as JSONObject,
      "profile": profile.fields, "studio": report.studioAddress,
      "levelMatch": report.levelMatch.rawValue,
      "command": report.command, "tolerance": report.tolerance.map(Self.toleranceText),
      "measures": measurements.map { figure -> JSONObject in
        [
          "name": figure.name.capitalizedFirst, "member": figure.key, "unit": figure.unit,
          "places": figure.decimalPlaces,
        ]
      },
      // A blind test's record names the files.
      "takes": takes.map { $0.fields() + ["sha256": $0.sourceHash] },
      "pairs": pairs.reduce([:] as JSONObject) {
        $0 + ["\($1.reference)-\($1.candidate)": $1.fields]
      },
    ])
  }
}

extension TransducerProfile {
  var fields: JSONObject {
    func scale(_ law: FrequencyMapping) -> JSONObject {
      ["low": law.low, "high": law.high, "scale": law.scale.rawValue]
    }
    return [
      "name": name, "summary": summary, "continuous": scale(frequency),
      "transient": scale(transient.frequency),
    ]
  }
}
