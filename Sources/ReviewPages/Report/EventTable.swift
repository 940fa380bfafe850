/// The events of one pattern as a table.
enum EventTable {
  /// The most rows of a table; a longer pattern is cut.
  static let maximumRowCount = 500

  private static let heads = ["Time", "Event", "Lasts", "Strongest", "Sharpness", "Frequency"]

  /// The markup, folded away.
  static func markup(_ events: [ScoreEvent], entry: String, className: String) -> String {
    let rows = events.prefix(maximumRowCount).map(row)
    let count = events.count
    let rest = count - rows.count
    return "    <details class=\"\(className)\" data-lines=\"\(count)\"><summary>\(entry) "
      + "<span class=\"dim\">\(count) event\(count == 1 ? "" : "s")</span></summary>\n"
      + "    <div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Events\">"
      + "<table class=\"data\"><thead><tr>"
      + heads.map { head in
        "<th scope=\"col\"\(head == "Event" ? "" : " class=\"number\"")>\(head)</th>"
      }.joined() + "</tr></thead>\n<tbody>\n"
      + rows.joined() + "</tbody></table></div>\n"
      + (rest > 0 ? "    <p class=\"dim\">\(rest) more events are not shown.</p>\n" : "")
      + "    </details>\n"
  }

  private static func row(_ event: ScoreEvent) -> String {
    let cells = [
      event.duration > 0 ? PageNumberFormatting.seconds(event.duration) + " s" : "",
      PageNumberFormatting.fixed(event.peak, places: 2),
      PageNumberFormatting.fixed(event.tone, places: 2),
      event.hertz.map { PageNumberFormatting.fixed($0, places: 0) + " Hz" } ?? "",
    ]
    return "<tr><td class=\"number\">\(PageNumberFormatting.seconds(event.time)) s</td>"
      + "<th scope=\"row\">\(event.kind.rawValue)</th>"
      + cells.map { "<td class=\"number\">\($0)</td>" }.joined() + "</tr>\n"
  }
}
