/// The events of one pattern as a table.
enum EventTable {
  /// The most rows of a table; a longer pattern is cut.
  static let mostRows = 500

  /// The markup, folded away.
  static func markup(_ events: [ScoreEvent], entry: String, className: String) -> String {
    let names = events.reduce(into: [String]()) { names, event in
      for (name, _) in event.values where !names.contains(name) { names.append(name) }
    }
    let heads = (["time", "event", "lasts"] + names).map { "<th scope=\"col\">\($0)</th>" }
    let rows = events.prefix(mostRows).map { event in
      let values = names.map { name in
        event.values.first { $0.name == name }?.value ?? ""
      }
      let length = event.duration > 0 ? Figure.seconds(event.duration) + " s" : ""
      return "<tr><td class=\"number\">\(Figure.seconds(event.time)) s</td>"
        + "<th scope=\"row\">\(HTMLText.escaped(event.kind))</th><td class=\"number\">\(length)</td>"
        + values.map { "<td class=\"number\">\(HTMLText.escaped($0))</td>" }.joined() + "</tr>\n"
    }
    let count = events.count
    let rest = count - rows.count
    return "    <details class=\"\(className)\" data-lines=\"\(count)\"><summary>\(entry) "
      + "<span class=\"dim\">\(count) event\(count == 1 ? "" : "s")</span></summary>\n"
      + "    <div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Events\">"
      + "<table class=\"data\"><thead><tr>\(heads.joined())</tr></thead>\n<tbody>\n"
      + rows.joined() + "</tbody></table></div>\n"
      + (rest > 0 ? "    <p class=\"dim\">\(rest) more events are not shown.</p>\n" : "")
      + "    </details>\n"
  }
}
