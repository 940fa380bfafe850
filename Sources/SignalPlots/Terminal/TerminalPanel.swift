internal import HapticModel

/// Draws panels with characters: one sheet, or one for each take of an overlay, in which what all takes have
/// is grey and what a take has more is in its colour.
struct TerminalPanel {
  /// What can be shown.
  let style: TerminalStyle
  /// The figure.
  let plot: Plot
  /// Columns that time has.
  let width: Int

  /// Rows of the intensity of one take, and of each of several.
  private static let strengthRows = (one: 10, several: 5)
  /// Rows of sharpness, and of each of several.
  private static let toneRows = (one: 4, several: 3)
  /// Rows of an audio lane.
  private static let laneRows = 2

  private var isOverlay: Bool { plot.takes.count > 1 }
  private var common: PlotColor { PlotPalette(.dark).color(of: .equalLine) }
  private func own(_ take: Int) -> PlotColor { PlotPalette(.dark).color(of: .take(take)) }

  /// The sheets of a panel with their takes.
  func sheets(of panel: PlotPanel) -> [(take: Int, sheet: TerminalSheet)] {
    switch panel.content {
    case .strength:
      guard isOverlay else { return [(0, strength(of: plot.takes[0]))] }
      let values = plot.takes.map(heights)
      return plot.takes.indices.map { ($0, strength($0, of: values)) }
    case .tone:
      let values = plot.takes.map(tones)
      return plot.takes.indices.map { ($0, tone($0, of: values)) }
    case .audio(let take): return [(take, lane(of: plot.takes[take]))]
    case .waveform(let traces):
      let waveform = TerminalWaveform(style: style, span: plot.span, axis: panel.axis, width: width)
      return traces.indices.map { index in
        (index, waveform.sheet(of: traces, index: index, colors: (common, own(index))))
      }
    case .spectrogram(let traces, let shown):
      let spectrogram = TerminalSpectrogram(style: style, span: plot.span, axis: panel.axis, width: width)
      return shown.map { index in (index, spectrogram.sheet(of: traces, index: index, colors: (common, own(index)))) }
    }
  }

  // MARK: Intensity

  private func column(_ seconds: Double) -> Int? {
    let length = plot.span.upperBound - plot.span.lowerBound
    guard plot.span.contains(seconds) else { return nil }
    return min(width - 1, Int((seconds - plot.span.lowerBound) / length * Double(width)))
  }

  /// The strongest transient of each column.
  private func transients(of take: PlotTake) -> [Int: PatternScore.Point] {
    var transients: [Int: PatternScore.Point] = [:]
    for event in take.score?.events ?? [] where event.kind.isTransient {
      guard let point = event.points.first, let column = column(point.time) else { continue }
      if let other = transients[column], other.intensity >= point.intensity { continue }
      transients[column] = point
    }
    return transients
  }

  /// One take: shapes and stems in the colours of sharpness, and the curve behind them.
  private func strength(of take: PlotTake) -> TerminalSheet {
    let rows = Self.strengthRows.one
    var sheet = TerminalSheet(width: width, height: rows)
    for (column, reading) in take.readings(columns: width, span: plot.span).enumerated() {
      let color = take.score == nil ? nil : reading.tone.map { Colormap.sharpness.color(at: $0) }
      fill(reading.strength, color: color, column, on: &sheet)
    }
    for curve in take.score?.curves ?? [] where curve.id == .hapticIntensityControl { draw(curve, on: &sheet) }
    for (column, point) in transients(of: take) {
      let color = Colormap.sharpness.color(at: point.sharpness)
      let height = rowCount(of: point.intensity, among: rows)
      for level in 0..<height {
        sheet[rows - 1 - level, column] = TerminalSheet.Cell(
          character: level == height - 1 ? style.head : style.stem, color: color)
      }
    }
    return sheet
  }

  /// The rows that a stem reaches through.
  private func rowCount(of intensity: Double, among rows: Int) -> Int {
    // A hair above a row is that row, since intensities are short decimals of 32 bits.
    max(1, Int((intensity * Double(rows) - 1e-3).rounded(.up)))
  }

  /// Fills a column up to a value.
  private func fill(_ value: Double, color: PlotColor?, _ column: Int, on sheet: inout TerminalSheet) {
    // What sounds at all is seen.
    let eighths = value > 0 ? max(1, Int((value * Double(8 * sheet.height)).rounded())) : 0
    for level in 0..<sheet.height where eighths > 8 * level {
      sheet[sheet.height - 1 - level, column] = TerminalSheet.Cell(
        character: style.fill(eighths: min(8, eighths - 8 * level)), color: color)
    }
  }

  /// A curve of intensity control, where nothing else is.
  private func draw(_ curve: PatternScore.Curve, on sheet: inout TerminalSheet) {
    for (from, to) in zip(curve.line, curve.line.dropFirst())
    where to.time >= plot.span.lowerBound && from.time <= plot.span.upperBound {
      let first = column(max(from.time, plot.span.lowerBound)) ?? 0
      let last = column(min(to.time, plot.span.upperBound)) ?? width - 1
      for column in first...max(first, last) {
        let time =
          plot.span.lowerBound + (Double(column) + 0.5) / Double(width) * (plot.span.upperBound - plot.span.lowerBound)
        let share = to.time > from.time ? min(max((time - from.time) / (to.time - from.time), 0), 1) : 1
        let value = from.value + (to.value - from.value) * share
        let row = sheet.height - 1 - min(sheet.height - 1, Int(value * Double(sheet.height)))
        if sheet[row, column].character == " " { sheet[row, column].character = style.curve }
      }
    }
  }

  /// The rows of each column that a take of an overlay reaches through.
  private func heights(of take: PlotTake) -> [Int] {
    let rows = Self.strengthRows.several
    var heights = take.readings(columns: width, span: plot.span).map {
      $0.strength > 0 ? rowCount(of: $0.strength, among: rows) : 0
    }
    for (column, point) in transients(of: take) where point.intensity > 0 {
      heights[column] = max(heights[column], rowCount(of: point.intensity, among: rows))
    }
    return heights
  }

  private func strength(_ take: Int, of values: [[Int]]) -> TerminalSheet {
    let rows = Self.strengthRows.several
    var sheet = TerminalSheet(width: width, height: rows)
    for column in 0..<width {
      let shared = values.map { $0[column] }.min() ?? 0
      for level in 0..<values[take][column] {
        let isShared = level < shared
        sheet[rows - 1 - level, column] = TerminalSheet.Cell(
          character: style.colors ? style.fill(eighths: 8) : style.shade(isShared ? 0.3 : 1),
          color: isShared ? common : own(take))
      }
    }
    return sheet
  }

  // MARK: Sharpness

  /// The sharpness of each column, of transients before what lasts.
  private func tones(of take: PlotTake) -> [Double?] {
    var tones = take.readings(columns: width, span: plot.span).map(\.tone)
    for (column, point) in transients(of: take) where point.intensity > 0 { tones[column] = point.sharpness }
    return tones
  }

  private func tone(_ take: Int, of values: [[Double?]]) -> TerminalSheet {
    let rows = isOverlay ? Self.toneRows.several : Self.toneRows.one
    var sheet = TerminalSheet(width: width, height: rows)
    let transients = transients(of: plot.takes[take])
    for (column, tone) in values[take].enumerated() {
      guard let tone else { continue }
      let row = rows - 1 - min(rows - 1, Int(tone * Double(rows)))
      let isShared = values.allSatisfy { other in other[column].map { abs($0 - tone) < TakeReading.equalTone } ?? false
      }
      let color =
        isOverlay
        ? (isShared ? common : own(take)) : (plot.takes[take].score == nil ? nil : Colormap.sharpness.color(at: tone))
      sheet[row, column] = TerminalSheet.Cell(
        character: transients[column] == nil ? style.line : style.head, color: color)
    }
    return sheet
  }

  // MARK: Audio events

  private func lane(of take: PlotTake) -> TerminalSheet {
    var sheet = TerminalSheet(width: width, height: Self.laneRows)
    let length = plot.span.upperBound - plot.span.lowerBound
    let columns = ScoreColumns(take.score?.audioEvents ?? [], count: width) {
      ($0 - plot.span.lowerBound) / length * Double(width)
    }
    for (column, point) in columns.strongest.enumerated() { fill(point.intensity, color: nil, column, on: &sheet) }
    return sheet
  }
}
