import SignalPlots
internal import PatternComparison

/// The differences in detail.
struct DifferenceTable {
  private let contents: ReportContents

  /// The table of a report.
  init(_ contents: ReportContents) { self.contents = contents }

  /// The markup, or nil where nothing differs.
  var markup: String {
    let rows = contents.pairs.flatMap { pair in pair.findings.map { row($0, other: pair.other) } }
    guard !rows.isEmpty else { return "" }
    return """
        <section aria-labelledby="figures-title">
          <h2 id="figures-title">Differences in detail</h2>
          <div class="wide" tabindex="0" role="region" aria-labelledby="figures-title">
          <table class="data">
            <thead><tr><th scope="col">Take</th><th scope="col">Property</th><th scope="col" class="number">Start</th>
              <th scope="col" class="number">End</th><th scope="col" class="number">Change</th><th scope="col">A → B</th>
              <th scope="col">Perceptible</th></tr></thead>
            <tbody>
      \(rows.joined())      </tbody>
          </table></div>
        </section>

      """
  }

  private func row(_ finding: ReportContents.DifferenceItem, other: Int) -> String {
    let cells = [
      PageNumberFormatting.seconds(finding.range.lowerBound) + " s",
      PageNumberFormatting.seconds(finding.range.upperBound) + " s", finding.amount,
    ].map { "<td class=\"number\">\($0.escapedForMarkup)</td>" }
    return "        <tr><td class=\"take-\(other % 4)\"><span class=\"letter\">"
      + "\(contents.entries[other].letter)</span></td>"
      + "<th scope=\"row\">\(finding.kind.escapedForMarkup)</th>\(cells.joined())"
      + "<td>\(finding.values.escapedForMarkup)</td>"
      + "<td>\(finding.isNoticeable ? "likely" : "hardly")</td></tr>\n"
  }
}

/// What differs, in sentences that play their range when pressed.
struct DifferenceList {
  private let contents: ReportContents

  /// The list of a report.
  init(_ contents: ReportContents) { self.contents = contents }

  /// The markup; with several others, each under a heading of its own.
  var markup: String {
    guard !contents.pairs.isEmpty else {
      return "    <p>There is one take, so there is nothing to compare it with.</p>\n"
    }
    var markup = contents.pairs.map { pair(of: $0) }.joined()
    if contents.pairs.contains(where: { $0.findings.contains { !$0.isNoticeable } }) {
      markup +=
        "    <p class=\"legend\">● likely perceptible ○ likely below threshold</p>\n"
    }
    return markup
  }

  private func pair(of pair: ReportContents.Pair) -> String {
    var markup = ""
    if contents.pairs.count > 1 {
      let names = [0, pair.other].map { contents.entries[$0] }
      markup +=
        "    <h3 class=\"pair\">\(names[1].letter), \(names[1].name.escapedForMarkup), "
      markup += "against \(names[0].letter), \(names[0].name.escapedForMarkup)</h3>\n"
    }
    guard !pair.findings.isEmpty else {
      return markup + "    <p class=\"lead\">\(pair.summary.escapedForMarkup)</p>\n"
    }
    return markup + "    <ol class=\"sentences\">\n\(pair.findings.map(item).joined())    </ol>\n"
  }

  private func item(_ finding: ReportContents.DifferenceItem) -> String {
    let range =
      finding.isThroughout
      ? "throughout"
      : "\(PageNumberFormatting.seconds(finding.range.lowerBound)) – "
        + "\(PageNumberFormatting.seconds(finding.range.upperBound)) s"
    return "      <li class=\"\(finding.isNoticeable ? "clear" : "slight")\">"
      + "<button data-difference data-from=\"\(PageNumberFormatting.plain(finding.range.lowerBound, places: 6))\" "
      + "data-to=\"\(PageNumberFormatting.plain(finding.range.upperBound, places: 6))\">"
      + "<span>\(finding.sentence.escapedForMarkup)</span>"
      + "<span class=\"where\">\(range)</span></button></li>\n"
  }
}

/// What is measured of each take, side by side.
enum MeasureTable {
  /// The measurements of the takes.
  static func measures(_ figures: [TakeMeasurements]) -> [(name: String, values: [String])] {
    func row(
      _ name: String, _ unit: String, places: Int, _ value: (TakeMeasurements) -> Double?
    ) -> (name: String, values: [String]) {
      (
        name,
        figures.map { take in
          value(take).map {
            PageNumberFormatting.shown(PageNumberFormatting.fixed($0, places: places)) + unit
          } ?? "–"
        }
      )
    }
    return [
      row("Length", " s", places: 3) { $0.duration },
      row("Peak", " dBFS", places: 1) { $0.peak },
      row("RMS", " dBFS", places: 1) { $0.rms },
      row("Loudness", " LUFS", places: 1) { $0.loudness },
      row("Weighted energy", " dB", places: 1) { $0.felt },
      row("Spectral centroid", " Hz", places: 0) { $0.centroid },
      row("Dominant frequency", " Hz", places: 0) { $0.dominant },
      row("Onsets", "", places: 0) { Double($0.onsetCount) },
    ]
  }

  /// The markup of a report's table.
  static func markup(_ contents: ReportContents) -> String {
    let heads = contents.entries.enumerated().map { index, entry in
      "<th scope=\"col\" class=\"number take-\(index % 4)\"><span class=\"letter\">"
        + "\(entry.letter)</span></th>"
    }
    let rows = contents.measures.map { name, values in
      "      <tr><th scope=\"row\">\(name)</th>"
        + values.map { "<td class=\"number\">\($0.escapedForMarkup)</td>" }.joined()
        + "</tr>\n"
    }
    return """
        <section aria-labelledby="measures-title">
          <h2 id="measures-title">Measurements</h2>
          <div class="wide" tabindex="0" role="region" aria-labelledby="measures-title">
          <table class="data">
            <thead><tr><td></td>\(heads.joined())</tr></thead>
            <tbody>
      \(rows.joined())      </tbody>
          </table></div>
        </section>

      """
  }
}
