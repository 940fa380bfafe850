import SignalPlots
internal import BlindListening
internal import JSONText
internal import SignalAnalysis

/// A report as a page.
struct ReportPage {
  private let contents: ReportContents

  /// The page of a report; it needs at least one entry.
  init(_ contents: ReportContents) { self.contents = contents }

  private var entries: [ReportContents.Entry] { contents.entries }

  /// Seconds that the longest of all takes lasts.
  private var duration: Double { entries.map(\.duration).max() ?? 0 }

  /// Frames per second of the page's player: those of the finest take that browsers must play.
  private var rate: Double {
    min(96_000, max(8_000, entries.flatMap(\.signals).map(\.rate).max() ?? 48_000))
  }

  /// The whole page.
  func html() -> [UInt8] {
    let sounds = entries.map { $0.signals.map(EmbeddedSound.init) }
    let size = sounds.joined().reduce(0) { $0 + $1.textLength }
    let script = PageResource.script([
      PageResource.keys, PageResource.sound, PageResource.blind, PageResource.report,
      PageResource.wiring,
    ])
    let style = PageResource.page + PageResource.reportStyle
    let title = entries.map(\.name).joined(separator: ", ")
    let fillings: [String: [UInt8]] = [
      "policy": Array(ContentSecurityPolicy.text(script: script, style: style).utf8),
      "generator": escaped(contents.generator),
      "title": escaped("\(title) – Temblor comparison"),
      "heading": Array(heading.utf8),
      "style": style,
      "script": script,
      "takes": Array(takeList.utf8),
      "facts": escaped(contents.facts),
      "differences": Array(DifferenceList(contents).markup.utf8),
      "views": Array(viewButtons.utf8),
      "figures": Array(contents.pictures.map { figure($0) }.joined().utf8),
      "note": escaped(note),
      "pairs": Array(pairChoice.utf8),
      "figuresTable": Array(
        (DifferenceTable(contents).markup + MeasureTable.markup(contents) + eventTables).utf8),
      "sources": Array(sources.utf8),
      "footer": escaped("Made with \(contents.generator). Self-contained; works offline."),
      "switch": Array(switchButtons.utf8),
      "duration": Array(PageNumberFormatting.plain(duration, places: 6).utf8),
      "durationText": Array(PageNumberFormatting.seconds(duration).utf8),
      "data": data,
      "sounds": Self.elements(sounds),
    ]
    return PageTemplate(PageResource.reportPage).filled(with: fillings, capacity: size * 5 / 4)
  }

  private func escaped(_ text: String) -> [UInt8] { Array(text.escapedForMarkup.utf8) }

  /// Elements that hold the sounds, named by take and sound.
  static func elements(_ sounds: [[EmbeddedSound]]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (take, list) in sounds.enumerated() {
      for (index, sound) in list.enumerated() {
        bytes += Array("<script type=\"text/plain\" id=\"sound-\(take)-\(index)\">".utf8)
        bytes += sound.text + Array("</script>\n".utf8)
      }
    }
    return bytes
  }

  // MARK: Words

  private var heading: String {
    entries.map { $0.name.escapedForMarkup }.joined(separator: " <i>and</i> ")
  }

  private var note: String {
    let felt =
      "These signals are made for actuators; laptop and phone speakers cannot reproduce 80 Hz."
    return entries.allSatisfy { $0.signals.count > 1 }
      ? felt + " “For small speakers” shifts them to an audible band."
      : felt + " Use headphones or a bass shaker."
  }

  private var takeList: String {
    // Takes of one pattern often say the same of themselves.
    let first = entries[0].feeling
    let isShared = entries.count > 1 && entries.allSatisfy { $0.feeling == first }
    let list = entries.enumerated().map { index, entry in
      var item = "    <li class=\"take-\(index % 4)\"><span class=\"letter\">\(entry.letter)</span>"
      item += "<div><b>\(entry.name.escapedForMarkup)</b>"
      item += "<span class=\"kind\">\(entry.kind.escapedForMarkup)</span>"
      if let feeling = entry.feeling, !isShared {
        item += "<span class=\"feeling\">\(feeling.escapedForMarkup)</span>"
      }
      return item + "</div></li>\n"
    }.joined()
    guard isShared, let first else { return list }
    return list + "    <li class=\"shared\">\(first.escapedForMarkup)</li>\n"
  }

  // MARK: Controls

  private var switchButtons: String {
    entries.enumerated().map { index, entry in
      "      <button role=\"radio\" class=\"take-\(index % 4)\" data-take=\"\(index)\" "
        + "aria-checked=\"\(index == 0)\"><span class=\"letter\">\(entry.letter)</span>"
        + "<span class=\"name\">\(entry.name.escapedForMarkup)</span></button>\n"
    }.joined()
  }

  private var viewButtons: String {
    let kinds = ReportPicture.Kind.allCases.filter { kind in
      contents.pictures.contains { $0.kind == kind }
    }
    let names = kinds.map { ($0.rawValue, $0.title) } + [("all", "All")]
    return names.map { name, title in
      "        <button data-view=\"\(name)\" aria-pressed=\"false\">\(title)</button>\n"
    }.joined()
  }

  /// The choice of two takes for the blind test, where there are more.
  private var pairChoice: String {
    guard entries.count > 2 else { return "" }
    return ["A", "B"].enumerated().map { place, letter in
      let options = entries.enumerated().map { index, entry in
        "<option value=\"\(index)\"\(index == place ? " selected" : "")>"
          + "\(entry.letter), \(entry.name.escapedForMarkup)</option>"
      }
      return "      <label>\(letter) is <select>\(options.joined())</select></label>\n"
    }.joined()
  }

  // MARK: Pictures and texts

  private func figure(_ picture: ReportPicture) -> String {
    let entry = picture.take.map { entries[$0] }
    let shown = entry.map { [$0] } ?? Array(entries.prefix(2))
    let hasValues =
      (picture.kind == .score || picture.take == nil) && shown.allSatisfy { !$0.events.isEmpty }
    let names = shown.enumerated().map { index, entry in
      "<span class=\"letter take-\((picture.take ?? index) % 4)\">\(entry.letter)</span> "
        + "<span>\(entry.name.escapedForMarkup)</span>"
    }
    var markup = "      <figure class=\"plot take-\((picture.take ?? 0) % 4)\" "
    markup += "data-kind=\"\(picture.kind.rawValue)\""
    if let take = picture.take { markup += " data-take=\"\(take)\"" }
    markup +=
      " data-wide=\"\(picture.wide.axisText)\" data-narrow=\"\(picture.narrow.axisText)\">\n"
    markup += "        <figcaption>\(names.joined(separator: " ")) "
    markup += "<span class=\"kind\">\(picture.facts.escapedForMarkup)</span></figcaption>\n"
    markup += "        <div class=\"picture\">\(PictureElement.markup(picture))"
    markup += "<span class=\"stretch\" hidden></span><span class=\"head\"></span>"
    if hasValues { markup += "<div class=\"values\" hidden></div>" }
    return markup + "</div>\n      </figure>\n"
  }

  /// The events of every pattern as a table, for those who do not point at pictures.
  private var eventTables: String {
    let tables = entries.enumerated().filter { !$1.events.isEmpty }.map {
      EventTable.markup($1.events, entry: entryMark($0), className: "take-\($0 % 4)")
    }
    guard !tables.isEmpty else { return "" }
    return "  <section aria-labelledby=\"events-title\">\n    <h2 id=\"events-title\">Events</h2>\n"
      + tables.joined() + "  </section>\n"
  }

  private var sources: String {
    let listings = entries.enumerated().compactMap { index, entry -> String? in
      guard let text = entry.text else { return nil }
      let other = index == 0 ? entries.dropFirst().compactMap(\.text).first : entries[0].text
      return SourceListing.markup(
        text, against: other, entry: entryMark(index), className: "take-\(index % 4)")
    }
    guard !listings.isEmpty else { return "" }
    return "  <section aria-labelledby=\"sources-title\">\n"
      + "    <h2 id=\"sources-title\">Source</h2>\n\(listings.joined())  </section>\n"
  }

  private func entryMark(_ index: Int) -> String {
    "<b>\(entries[index].letter) · \(entries[index].name.escapedForMarkup)</b>"
  }

  // MARK: Data for the script

  private var data: [UInt8] {
    EmbeddedJSON.object { json in
      json.object("origin") { origin in
        origin.member("program", contents.generator)
        origin.member("renderingModel", contents.renderingModel)
      }
      json.member("profile", contents.profile)
      json.member("levelMatch", contents.levelMatch)
      json.member("rate", rate)
      json.member("duration", duration)
      json.array("takes") { list in
        for (index, entry) in entries.enumerated() {
          list.object { Self.write(entry, index: index, to: &$0) }
        }
      }
    }
  }

  private static func write(
    _ entry: ReportContents.Entry, index: Int, to json: inout JSONObjectWriter
  ) {
    json.member("letter", entry.letter)
    json.member("name", entry.name)
    json.object("about") { about in
      about.member("name", entry.name)
      if let text = entry.text { about.member("sha256", SHA256.hash(of: Array(text.utf8))) }
    }
    json.member("duration", entry.duration)
    json.array("sounds") { list in
      for sound in entry.signals.indices { list.element("sound-\(index)-\(sound)") }
    }
    json.array("gains") { list in for gain in entry.gains { list.element(gain) } }
    json.array("events") { list in
      for event in entry.events { list.object { event.write(to: &$0) } }
    }
  }
}
