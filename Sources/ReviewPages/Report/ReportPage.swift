internal import HapticRender
internal import Reading
internal import PatternComparison
internal import SignalPlots

/// A report as a page: the script's data and sounds, and what a reader without script sees.
struct ReportPage {
  let report: ComparisonReport
  let takes: [PageTake]
  let pairs: [ReportPair]
  let profile: TransducerProfile

  /// The whole page.
  func html() -> [UInt8] {
    let script = PageResource.reportScript
    let style = PageResource.reportStyle
    let first = pairs[0]
    let fillings: [String: [UInt8]] = [
      "policy": Array(ContentSecurityPolicy.text(script: script, style: style).utf8),
      "generator": escaped(report.generator), "title": escaped("\(takes[0].name) and \(takes[1].name) · Temblor"),
      "style": style, "script": script, "names": Array(names.utf8), "verdict": escaped(Self.verdict(first)),
      "picture": Array(OverlayPicture(takes[0], takes[1], shift: first.shift, profile: profile).markup.utf8),
      "findings": Array(Self.rows(first).utf8), "measures": Array(measures.utf8), "sources": Array(sources.utf8),
      "data": data,
      "sounds": takes.enumerated().flatMap { index, take in
        take.sounds.enumerated().flatMap { $1.element(id: "sound-\(index)-\($0)") }
      },
    ]
    let size = takes.flatMap(\.sounds).reduce(0) { $0 + $1.textLength }
    return PageTemplate(PageResource.reportPage).filled(with: fillings, capacity: size + 400_000)
  }

  private func escaped(_ text: String) -> [UInt8] { Array(text.escapedForMarkup.utf8) }

  // MARK: For readers without script

  private var names: String {
    takes.enumerated().map { index, take in
      "<b><span class=\"tag k\(index % 4)\">\(take.letter)</span> " + "\(take.name.escapedForMarkup)</b>"
    }.joined(separator: " ")
  }

  /// What the comparison came to, in a few words.
  static func verdict(_ pair: ReportPair) -> String {
    let count = pair.findings.count { $0.significance >= 1 }
    if pair.findings.isEmpty { return "No difference" }
    return "\(count) perceptible difference\(count == 1 ? "" : "s")"
  }

  private static func rows(_ pair: ReportPair) -> String {
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
        + "<span class=\"when\">\(text.when.escapedForMarkup)</span></li>\n"
    }.joined()
  }

  private var measures: String {
    let heads = takes.enumerated().map { index, take in
      "<th scope=\"col\"><span class=\"tag k\(index % 4)\">\(take.letter)</span></th>"
    }
    let rows = MeasureRow.all.map { row in
      "<tr><th scope=\"row\">\(row.name)</th>"
        + takes.map { "<td>\(row.text(of: $0.measurements).escapedForMarkup)</td>" }.joined() + "</tr>\n"
    }
    return "<table class=\"m\"><thead><tr><td></td>\(heads.joined())</tr></thead>\n<tbody>\n" + rows.joined()
      + "</tbody></table>\n"
  }

  private var sources: String {
    takes.enumerated().compactMap { index, take in
      take.text.map {
        "<figure><figcaption><span class=\"tag k\(index % 4)\">\(take.letter)</span> "
          + "\(take.name.escapedForMarkup)</figcaption>"
          + "<pre id=\"source-\(index)\" tabindex=\"0\" aria-label=\"Source of "
          + "\(take.name.escapedForMarkup)\">\($0.escapedForMarkup)</pre></figure>\n"
      }
    }.joined()
  }

  // MARK: For the script

  private var data: [UInt8] {
    EmbeddedJSON.object { json in
      json.object("origin") { origin in
        origin.member("program", report.generator)
        origin.member("renderingModel", RenderPlan.modelVersion)
      }
      json.object("profile") { PageProfile(profile).write(to: &$0) }
      json.member("levelMatch", report.levelMatch.rawValue)
      json.member("command", report.command)
      json.array("takes") { list in
        for take in takes {
          list.object { json in
            take.write(to: &json)
            // A blind test's record names the files.
            if let text = take.text { json.member("sha256", SHA256.hash(of: Array(text.utf8))) }
          }
        }
      }
      json.object("pairs") { object in
        for pair in pairs { object.object("\(pair.reference)-\(pair.other)") { pair.write(to: &$0) } }
      }
    }
  }
}

/// What a page knows of the profile that its patterns are rendered with.
struct PageProfile {
  private let profile: TransducerProfile

  /// The profile of some takes.
  init(_ profile: TransducerProfile) { self.profile = profile }

  /// Writes the profile as members of an object.
  func write(to json: inout JSONObjectWriter) {
    json.member("name", profile.name)
    json.member("summary", profile.summary)
    for (name, law) in [("continuous", profile.frequency), ("transient", profile.transient.frequency)] {
      json.object(name) { json in
        json.member("low", law.low)
        json.member("high", law.high)
        json.member("scale", law.scale.rawValue)
      }
    }
  }
}

/// One thing that is measured of a take.
struct MeasureRow {
  /// What it is called.
  let name: String
  /// Its member of the figures in a page's data.
  let member: String
  /// Its unit.
  let unit: String
  /// Its decimal places.
  let places: Int
  /// Its value, or nil where a take has none.
  let value: @Sendable (TakeMeasurements) -> Double?

  /// A value with its unit.
  func text(of measurements: TakeMeasurements) -> String {
    guard let value = value(measurements) else { return "–" }
    let number = PageNumberFormatting.shown(PageNumberFormatting.fixed(value, places: places))
    return unit.isEmpty ? number : "\(number) \(unit)"
  }

  /// The greatest magnitude.
  static let peak = MeasureRow(name: "Peak", member: "peakDecibels", unit: "dBFS", places: 1) { $0.peak }

  /// All that is measured, in order.
  static let all = [
    MeasureRow(name: "Length", member: "duration", unit: "s", places: 2) { $0.duration },
    MeasureRow(name: "Weighted energy", member: "weightedDecibels", unit: "dB", places: 1) { $0.felt },
    MeasureRow(name: "Loudness", member: "loudnessLUFS", unit: "LUFS", places: 1) { $0.loudness }, peak,
    MeasureRow(name: "RMS", member: "rmsDecibels", unit: "dBFS", places: 1) { $0.rms },
    MeasureRow(name: "Strongest frequency", member: "strongestHertz", unit: "Hz", places: 0) { $0.dominant },
    MeasureRow(name: "Spectral centroid", member: "spectrumHertz", unit: "Hz", places: 0) { $0.centroid },
    MeasureRow(name: "Onsets", member: "onsets", unit: "", places: 0) { Double($0.onsetCount) },
  ]
}
