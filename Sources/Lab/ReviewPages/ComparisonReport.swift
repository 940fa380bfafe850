internal import HapticRender
internal import SystemSupport
public import PatternComparison
internal import SignalAnalysis
internal import SignalPlots

/// A self-contained HTML page that presents a comparison of takes.
///
/// The page has players, figures, a list of differences, and a blind test.
///
/// 1. `PageTake` collects the sounds, events and measurements of each take.
/// 2. `ReportPair` collects the differences of each pair of takes.
/// 3. `ReportPage` fills the template with markup for readers without script, and with JSON for the
///    script.
public struct ComparisonReport: Sendable {
  /// The program that generates the page, with its version, such as `Temblor 1.0`.
  public var generator: String
  /// The command that generates the report again, or an empty text.
  public var command: String
  /// The measure for equalizing the levels of takes at the request of the user.
  public var levelMatch: LevelMatch
  /// The options for the comparisons that the report makes itself.
  ///
  /// These are the comparisons that are not passed to `html(takes:comparisons:sounds:)`.
  public var comparisonOptions: ComparisonOptions
  /// The tolerance that the page checks the takes against, or nil.
  public var tolerance: Tolerance?
  /// The origin of each take, or nil if the origin is unknown.
  public var takeOrigins: [TakeOrigin?]
  /// The URL of a studio page that can open takes, or nil.
  public var studioAddress: String?

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - generator: The program and its version, such as `Temblor 1.0`.
  ///   - command: The command that generates the report again, or an empty text.
  ///   - levelMatch: The measure by which the page equalizes the levels of takes on request.
  ///   - comparisonOptions: The options of comparisons that are not passed to
  ///     `html(takes:comparisons:sounds:)`.
  ///   - tolerance: The tolerance that the page checks the takes against, or nil.
  ///   - takeOrigins: The origin of each take, or nil if it is unknown.
  ///   - studioAddress: The URL of a studio page that can open takes, or nil.
  public init(
    generator: String, command: String = "", levelMatch: LevelMatch = .loudness,
    comparisonOptions: ComparisonOptions = ComparisonOptions(), tolerance: Tolerance? = nil,
    takeOrigins: [TakeOrigin?] = [], studioAddress: String? = nil
  ) {
    self.generator = generator
    self.command = command
    self.levelMatch = levelMatch
    self.comparisonOptions = comparisonOptions
    self.tolerance = tolerance
    self.takeOrigins = takeOrigins
    self.studioAddress = studioAddress
  }

  /// The maximum number of takes in a report. Sixteen takes form 240 ordered pairs.
  public static let maximumTakeCount = 16

  /// Returns the bytes of the HTML page, which are reproducible.
  ///
  /// - Parameters:
  ///   - takes: The takes, with the reference first: 2 to `maximumTakeCount` at one sample rate.
  ///   - comparisons: The comparisons of each take with the first. If empty, they are computed.
  ///   - sounds: The sounds of each take. With nil, the page plays the signals of the takes.
  /// - Throws: `nothingToShow`, `tooMany`, `tooLarge` or `notDrawn`.
  public func html(
    takes: [Take], comparisons: [Comparison] = [], sounds: [PageSounds]? = nil
  ) throws(ReviewPageError) -> [UInt8] {
    guard takes.count > 1 else {
      throw ReviewPageError(.nothingToShow, "a report compares at least two takes")
    }
    guard takes.count <= Self.maximumTakeCount else {
      throw ReviewPageError(
        .tooMany, "a report supports at most \(Self.maximumTakeCount) takes, not \(takes.count)")
    }
    let measurements: [TakeMeasurements]
    if let firstComparison = comparisons.first {
      measurements = [firstComparison.measurements[0]] + comparisons.map { $0.measurements[1] }
    } else {
      measurements = takes.map(TakeMeasurements.init)
    }
    let hasTracks = takes.contains { !$0.containsOnlyEvents }
    var pageTakes = try PageTake.makeTakes(takes, sounds: sounds, measurements: measurements) { _ in
      hasTracks
    }
    setSoundGains(of: &pageTakes, takes: takes, sounds: sounds)
    for (index, origin) in takeOrigins.enumerated().prefix(pageTakes.count) {
      pageTakes[index].origin = origin
    }
    let reportPairs = makePairs(of: takes, existing: comparisons, measurements: measurements)
    return ReportPage(report: self, takes: pageTakes, pairs: reportPairs, profile: takes[0].profile)
      .makeHTML()
  }

  /// Sets the gain of each sound to match the level of the weakest take.
  private func setSoundGains(of pageTakes: inout [PageTake], takes: [Take], sounds: [PageSounds]?) {
    let actuatorGains = levelMatch.gains(for: sounds?.map(\.actuatorSignal) ?? takes.map(\.signal))
    let speakerSignals = sounds?.compactMap(\.speakerSignal) ?? []
    let speakerGains =
      speakerSignals.count == takes.count ? levelMatch.gains(for: speakerSignals) : []
    for index in pageTakes.indices {
      pageTakes[index].soundGains = [actuatorGains[index]]
      if !speakerGains.isEmpty {
        pageTakes[index].soundGains.append(speakerGains[index])
      }
    }
  }

  /// Returns the comparisons of all ordered pairs of takes.
  ///
  /// - Parameters:
  ///   - takes: The takes.
  ///   - existing: The comparisons of each take with the first, or an empty array.
  ///   - measurements: The measurements of each take.
  private func makePairs(
    of takes: [Take], existing: [Comparison], measurements: [TakeMeasurements]
  ) -> [ReportPair] {
    takes.indices.flatMap { reference in
      takes.indices.filter { $0 != reference }.map { candidate in
        let exists = reference == 0 && existing.count == takes.count - 1
        var options = existing.first?.options ?? comparisonOptions
        options.referenceLabel = Take.letter(at: reference)
        options.candidateLabel = Take.letter(at: candidate)
        let comparison =
          exists
          ? existing[candidate - 1]
          : Comparison(
            takes[reference], takes[candidate], options: options,
            referenceMeasurements: measurements[reference])
        return ReportPair(
          comparison, reference: reference, candidate: candidate, tolerance: tolerance)
      }
    }
  }
}

/// The source file of a take, which distinguishes takes with the same name.
public struct TakeOrigin: Equatable, Sendable {
  /// The path of the file, as the user typed it.
  public var path: String
  /// The modification time of the file as text, or nil if there is no file.
  public var modificationTime: String?
  /// The SHA-256 hash of the bytes of the file, in hexadecimal.
  public var sha256Hash: String

  /// Creates an origin from the path, the modification time, and the hash of the file.
  ///
  /// - Parameters:
  ///   - path: The path of the file, as the user typed it.
  ///   - modificationTime: The modification time of the file as text, or nil without a file.
  ///   - bytes: The bytes of the file.
  public init(path: String, modificationTime: String? = nil, bytes: [UInt8]) {
    self.path = path
    self.modificationTime = modificationTime
    sha256Hash = SHA256.hash(of: bytes)
  }
}

/// The differences between two takes of a report.
struct ReportPair {
  /// A difference between two takes, as it appears in the list of the report.
  struct Finding {
    let text: FindingText
    let kindName: String
    /// The time range of the difference in the reference, in seconds.
    let timeRangeSeconds: ClosedRange<Double>
    /// A Boolean value that indicates whether the difference affects the whole take.
    let isOverall: Bool
    /// The size of the difference as a multiple of the just-noticeable difference.
    let significance: Double
  }

  /// The index of the reference among the takes.
  let referenceIndex: Int
  /// The index of the candidate among the takes.
  let candidateIndex: Int
  /// The delay of the candidate in seconds. The page compensates for the delay.
  let candidateDelaySeconds: Double
  /// A sentence that states that the takes are equal, or nil.
  let equalityVerdict: String?
  /// A sentence that summarizes the differences.
  let summary: String
  /// The messages about differences that exceed the tolerance, or nil without a tolerance.
  let toleranceExcesses: [String]?
  /// The sentences about differences that affect only the notation of the files.
  let notationDifferences: [String]
  /// The differences of the pair, by descending significance.
  let findings: [Finding]

  /// Creates a pair by collecting the differences of a comparison.
  ///
  /// - Parameters:
  ///   - comparison: The comparison.
  ///   - reference: The index of the reference among the takes.
  ///   - candidate: The index of the candidate among the takes.
  ///   - tolerance: The tolerance to check, or nil.
  init(
    _ comparison: Comparison, reference: Int, candidate: Int, tolerance: Tolerance? = nil
  ) {
    self.referenceIndex = reference
    self.candidateIndex = candidate
    candidateDelaySeconds = comparison.alignment.delaySeconds
    equalityVerdict = comparison.verdict
    summary = ComparisonSummary.summaryText(of: comparison)
    toleranceExcesses = tolerance.map { comparison.excesses(over: $0).map(\.text) }
    notationDifferences = comparison.notationDifferences
    let sortedDifferences = comparison.differences.sorted { $0.significance > $1.significance }
    findings = sortedDifferences.map { difference in
      Finding(
        text: FindingText(difference, of: comparison), kindName: difference.kind.rawValue,
        timeRangeSeconds: Self.perceptibleTimeRange(of: difference),
        isOverall: difference.isOverall,
        significance: difference.significance.isFinite ? difference.significance : 999)
    }
  }

  /// Returns the time range of a perceptible difference, in seconds.
  ///
  /// For a different duration, the range is between the two ends of the event.
  private static func perceptibleTimeRange(of difference: Difference) -> ClosedRange<Double> {
    guard difference.kind == .duration, difference.referenceEventIndices.count == 1,
      let before = difference.referenceValue, let after = difference.candidateValue
    else { return difference.timeRange }
    let rangeStartSeconds = difference.timeRange.lowerBound
    return rangeStartSeconds + min(before, after)...rangeStartSeconds + max(before, after)
  }

  /// The differences of the pair as JSON for the script of the page.
  var jsonFields: JSONObject {
    [
      "shift": roundedForPage(candidateDelaySeconds), "summary": summary,
      "verdict": equalityVerdict,
      "excesses": toleranceExcesses, "spelling": notationDifferences,
      "findings": findings.map { finding -> JSONObject in
        [
          "kind": finding.kindName, "start": roundedForPage(finding.timeRangeSeconds.lowerBound),
          "end": roundedForPage(finding.timeRangeSeconds.upperBound),
          "throughout": finding.isOverall,
          "significance": (finding.significance * 100).rounded() / 100,
          "title": finding.text.titleText, "detail": finding.text.detailText,
          "amount": finding.text.amountText,
          "when": finding.text.timeText,
        ]
      },
    ]
  }
}

/// The reason that a page cannot be generated.
public struct ReviewPageError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The cause of a page error, which determines the remedy.
  public enum Kind: String, Sendable {
    /// The page would be too large for a browser. The remedy is to show less.
    case tooLarge
    /// There is nothing to show. The remedy is to specify takes or patterns.
    case nothingToShow
    /// There are more takes than a page can distinguish. The remedy is to specify fewer.
    case tooMany
    /// A figure or a sound could not be generated.
    case notDrawn
  }

  /// The kind of the error, which determines the remedy.
  public var kind: Kind
  /// The message of the error for the user, on one line.
  public var description: String

  /// Creates an error of a kind with a message.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}

/// The contents of a report page, for generating the HTML.
struct ReportPage {
  let report: ComparisonReport
  let takes: [PageTake]
  /// The ordered pairs of all takes. The first pair consists of the first two takes.
  let pairs: [ReportPair]
  let profile: TransducerProfile

  func makeHTML() -> [UInt8] {
    let page = ReviewPage(
      templateBytes: PageResource.reportPage, script: PageResource.reportScript,
      style: PageResource.reportStyle, generator: report.generator,
      title: "\(takes[0].name) and \(takes[1].name) · Temblor", takes: takes)
    let initialPair = pairs[0]
    let overlayPictures = OverlayPicture.pictures(
      takes[0], takes[1], candidateDelay: initialPair.candidateDelaySeconds, profile: profile
    )
    return page.makeHTML(
      texts: [
        "names": takeNames, "verdict": Self.verdictText(initialPair).escapedForMarkup,
        "summary": initialPair.summary.escapedForMarkup,
        "picture": overlayPictures.map(\.svgMarkup).joined(),
        "findings": Self.findingRowsMarkup(initialPair), "measures": measurementTableMarkup,
        "sources": sourceListingsMarkup,
      ], data: embeddedJSON)
  }

  private var takeNames: String {
    let nameMarkups = takes.indices.map { index in
      "<b>\(takeTag(forTakeAt: index)) \(takes[index].name.escapedForMarkup)</b>"
    }
    return nameMarkups.joined(separator: " ")
  }

  /// Returns the HTML of the colored letter that identifies the take with an index.
  private func takeTag(forTakeAt index: Int) -> String {
    "<span class=\"tag k\(index % 4)\">\(takes[index].letter)</span>"
  }

  static func verdictText(_ pair: ReportPair) -> String {
    if pair.findings.isEmpty { return "No difference" }
    let perceptibleCount = pair.findings.count { $0.significance >= 1 }
    return "\(perceptibleCount) perceptible difference\(perceptibleCount == 1 ? "" : "s")"
  }

  private static func findingRowsMarkup(_ pair: ReportPair) -> String {
    guard !pair.findings.isEmpty else {
      let sentence = pair.equalityVerdict ?? "The two takes are identical."
      return "<li class=\"row low\">\(sentence.escapedForMarkup)</li>\n"
    }
    let rowMarkups = pair.findings.enumerated().map { index, finding in
      let text = finding.text
      return "<li class=\"row\(finding.significance < 1 ? " low" : "")\">"
        + "<span class=\"n\">\(index + 1)</span><span class=\"what\"><b>"
        + "\(text.titleText.escapedForMarkup)</b>"
        + "<span>\(text.detailText.escapedForMarkup)</span></span>"
        + "<span></span><span class=\"amount\">\(text.amountText.escapedForMarkup)</span>"
        + "<span class=\"when\">\(text.timeText.escapedForMarkup)</span></li>\n"
    }
    return rowMarkups.joined()
  }

  /// The measurements of the first take, which determine the rows of the table of measurements.
  private var referenceMeasurements: [TakeMeasurements.Measurement] {
    takes[0].measurements.measurements
  }

  private var measurementTableMarkup: String {
    let headCellMarkups = takes.indices.map { "<th scope=\"col\">\(takeTag(forTakeAt: $0))</th>" }
    let rowMarkups = referenceMeasurements.enumerated().map { row, rowMeasurement in
      let cells = takes.map { take in
        let measurement = take.measurements.measurements[row]
        let hasUnit = measurement.value != nil && !measurement.unit.isEmpty
        let unit = hasUnit ? " " + measurement.unit : ""
        let value = String(measurement.formattedValue.map { $0 == "-" ? "−" : $0 })
        return "<td>\(value + unit)</td>"
      }
      let name = rowMeasurement.name.capitalizedFirst
      return "<tr><th scope=\"row\">\(name)</th>\(cells.joined())</tr>\n"
    }
    return
      "<table class=\"m\"><thead><tr><td></td>\(headCellMarkups.joined())</tr></thead>\n<tbody>\n"
      + rowMarkups.joined()
      + "</tbody></table>\n"
  }

  private var sourceListingsMarkup: String {
    let listingMarkups = takes.enumerated().compactMap { index, take -> String? in
      guard let sourceText = take.sourceText else { return nil }
      let name = take.name.escapedForMarkup
      return """
        <figure><figcaption>\(takeTag(forTakeAt: index)) \(name)</figcaption>\
        <pre id="source-\(index)" tabindex="0" \
        aria-label="Source of \(name)">\(sourceText.escapedForContent)</pre></figure>

        """
    }
    return listingMarkups.joined()
  }

  /// Returns the limits of a tolerance as text, such as `0.5 dB, 5 ms and 2 %`.
  static func toleranceText(_ tolerance: Tolerance) -> String {
    func numberText(_ value: Double) -> String { SentenceFormatting.number(value, places: 3) }
    return
      """
      \(numberText(tolerance.decibels)) dB, \(numberText(tolerance.seconds * 1_000)) ms and \
      \(numberText(tolerance.percent)) %
      """
  }

  /// The JSON data for the script of the page.
  private var embeddedJSON: [UInt8] {
    EmbeddedJSON.objectBytes([
      "origin": ["program": report.generator, "renderingModel": RenderPlan.renderingModelVersion]
        as JSONObject,
      "profile": profile.jsonFields, "studio": report.studioAddress,
      "levelMatch": report.levelMatch.rawValue,
      "command": report.command, "tolerance": report.tolerance.map(Self.toleranceText),
      "measures": referenceMeasurements.map { measurement -> JSONObject in
        [
          "name": measurement.name.capitalizedFirst, "member": measurement.key,
          "unit": measurement.unit, "places": measurement.decimalPlaces,
        ]
      },
      // The record of a blind test identifies the files by their hashes.
      "takes": takes.map { $0.jsonFields() + ["sha256": $0.sourceSHA256] },
      "pairs": pairs.reduce([:] as JSONObject) {
        $0 + ["\($1.referenceIndex)-\($1.candidateIndex)": $1.jsonFields]
      },
    ])
  }
}

extension TransducerProfile {
  /// The profile as JSON for the script of the page.
  var jsonFields: JSONObject {
    func mappingFields(_ mapping: FrequencyMapping) -> JSONObject {
      ["low": mapping.lowHertz, "high": mapping.highHertz, "scale": mapping.scale.rawValue]
    }
    return [
      "name": name, "summary": summary, "continuous": mappingFields(frequency),
      "transient": mappingFields(transient.frequency),
    ]
  }
}
