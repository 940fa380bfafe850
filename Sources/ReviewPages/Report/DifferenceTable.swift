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
          <h2 id="figures-title">In figures</h2>
          <div class="wide" tabindex="0" role="region" aria-labelledby="figures-title">
          <table class="data">
            <thead><tr><th scope="col">Take</th><th scope="col">What</th><th scope="col" class="number">From</th>
              <th scope="col" class="number">To</th><th scope="col" class="number">By</th><th scope="col">Values</th>
              <th scope="col">Felt</th></tr></thead>
            <tbody>
      \(rows.joined())      </tbody>
          </table></div>
        </section>

      """
  }

  private func row(_ finding: ReportContents.Finding, other: Int) -> String {
    let cells = [
      Figure.seconds(finding.range.lowerBound) + " s",
      Figure.seconds(finding.range.upperBound) + " s", finding.amount,
    ].map { "<td class=\"number\">\(HTMLText.escaped($0))</td>" }
    return "        <tr><td class=\"take-\(other % 4)\"><span class=\"letter\">"
      + "\(contents.entries[other].letter)</span></td>"
      + "<th scope=\"row\">\(HTMLText.escaped(finding.kind))</th>\(cells.joined())"
      + "<td>\(HTMLText.escaped(finding.values))</td>"
      + "<td>\(finding.isNoticeable ? "likely" : "hardly")</td></tr>\n"
  }
}
