/// What differs, in sentences that can be pressed to hear their stretch.
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
        "    <h3 class=\"pair\">\(names[1].letter), \(HTMLEscaping.escaped(names[1].name)), "
      markup += "against \(names[0].letter), \(HTMLEscaping.escaped(names[0].name))</h3>\n"
    }
    guard !pair.findings.isEmpty else {
      return markup + "    <p class=\"lead\">\(HTMLEscaping.escaped(pair.summary))</p>\n"
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
      + "<span>\(HTMLEscaping.escaped(finding.sentence))</span>"
      + "<span class=\"where\">\(range)</span></button></li>\n"
  }
}
