import CommandLineKit
import HapticRender
import PatternComparison
import SystemSupport

/// Comparisons with one reference as text: words first, then a table of figures.
struct ComparisonText {
  let comparisons: [Comparison]
  var isComplete = false

  func text(for output: Output) -> String {
    guard let first = comparisons.first else { return "" }
    var text = takeLine(first.options.referenceLabel, first.reference, for: output)
    for comparison in comparisons { text += takeLine(comparison.options.otherLabel, comparison.other, for: output) }
    for comparison in comparisons { text += "\n" + words(comparison, for: output) }
    return text + "\n" + table(for: output)
  }

  private func takeLine(_ label: String, _ take: Take, for output: Output) -> String {
    let source = take.composition == nil ? "sound" : "pattern, profile \(take.profile.name)"
    return output.styled(label, .bold) + "  \(take.name.printable) (\(source))\n"
  }

  private func words(_ comparison: Comparison, for output: Output) -> String {
    var lines = comparison.notes
    if let verdict = comparison.verdict { lines.append(verdict) }
    let count = isComplete ? comparison.differences.count : Comparison.maximumSentenceCount
    let told = comparison.differences.prefix(count)
    lines += told.filter(\.isNoticeable).map(\.sentence.printable)
    let faint = told.filter { !$0.isNoticeable }.map(\.sentence.printable)
    if !faint.isEmpty {
      lines.append(output.styled("Below threshold:", .dim))
      lines += faint.map { "  " + $0 }
    }
    let more = comparison.differences.count - told.count
    if more > 0 { lines.append("\(more) more; use --all to list them.") }
    lines += comparison.limits.map { output.styled($0, .dim) }
    return lines.map { $0 + "\n" }.joined()
  }

  /// A row of the table: what is measured, and in what.
  private struct Row {
    var name: String
    var unit: String
    var places: Int
    var value: @Sendable (TakeMeasurements) -> Double?
  }

  private static let rows: [Row] = [
    Row(name: "length", unit: "s", places: 3) { $0.duration }, Row(name: "peak", unit: "dBFS", places: 1) { $0.peak },
    Row(name: "RMS", unit: "dBFS", places: 1) { $0.rms },
    Row(name: "loudness", unit: "LUFS", places: 1) { $0.loudness },
    Row(name: "weighted level", unit: "dB", places: 1) { $0.felt },
    Row(name: "dominant", unit: "Hz", places: 0) { $0.dominant },
    Row(name: "centroid", unit: "Hz", places: 0) { $0.centroid },
    Row(name: "onsets", unit: "", places: 0) { Double($0.onsetCount) },
  ]

  private func table(for output: Output) -> String {
    guard let first = comparisons.first else { return "" }
    let figures = [first.measurements[0]] + comparisons.map { $0.measurements[1] }
    var header = ["", "", first.options.referenceLabel]
    for comparison in comparisons {
      let label = comparison.options.otherLabel
      header += [label, "\(label) − \(first.options.referenceLabel)"]
    }
    var cells = [header]
    for row in Self.rows {
      let values = figures.map(row.value)
      var line = [row.name, row.unit, Self.number(values[0], row.places)]
      for value in values.dropFirst() {
        line.append(Self.number(value, row.places))
        line.append(Self.change(values[0], value, row.places))
      }
      cells.append(line)
    }
    let widths = header.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    var text = ""
    for (index, line) in cells.enumerated() {
      var row = ""
      for (column, cell) in line.enumerated() {
        let gap = String(repeating: " ", count: widths[column] - cell.count)
        row += column < 2 ? cell + gap + " " : "  " + gap + cell
      }
      text += (index == 0 ? output.styled(row, .bold) : row) + "\n"
    }
    return text
  }

  private static func number(_ value: Double?, _ places: Int) -> String {
    guard let value else { return "–" }
    return fixed(value, places)
  }

  private static func change(_ before: Double?, _ after: Double?, _ places: Int) -> String {
    guard let before, let after else { return "" }
    let text = fixed(after - before, places)
    if !text.contains(where: { ("1"..."9").contains($0) }) { return "=" }
    return after > before ? "+" + text : text
  }

  /// A number with exactly so many places, so that a column lines up.
  private static func fixed(_ value: Double, _ places: Int) -> String {
    var text = NumberFormatting.rounded(value, places: places)
    guard places > 0 else { return text }
    let point = text.firstIndex(of: ".")
    let have = point.map { text.distance(from: $0, to: text.endIndex) - 1 } ?? 0
    if point == nil { text += "." }
    return text + String(repeating: "0", count: max(0, places - have))
  }
}
