internal import PatternComparison

/// What is measured of each take, side by side.
enum MeasureTable {
  /// What the table tells of takes that were measured.
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
        + values.map { "<td class=\"number\">\(HTMLEscaping.escaped($0))</td>" }.joined()
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
