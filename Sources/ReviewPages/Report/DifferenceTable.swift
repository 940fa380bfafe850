/// What differs, in figures.
struct DifferenceTable {
  private let contents: ReportContents

  /// The table of a report.
  init(_ contents: ReportContents) { self.contents = contents }

  /// The markup, or nothing where nothing differs.
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
    ].map { "<td class=\"number\">\(HTMLEscaping.escaped($0))</td>" }
    return "        <tr><td class=\"take-\(other % 4)\"><span class=\"letter\">"
      + "\(contents.entries[other].letter)</span></td>"
      + "<th scope=\"row\">\(HTMLEscaping.escaped(finding.kind))</th>\(cells.joined())"
      + "<td>\(HTMLEscaping.escaped(finding.values))</td>"
      + "<td>\(finding.isNoticeable ? "likely" : "hardly")</td></tr>\n"
  }
}
