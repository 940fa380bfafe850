internal import HapticModel

/// Draws scores and audio lanes with characters.
struct TerminalScore {
  /// What can be shown.
  let style: TerminalStyle
  /// The seconds that are shown.
  let span: ClosedRange<Double>

  /// Rows of a score.
  static let rows = 10
  /// Rows of each of two scores.
  static let mirroredRows = 6
  /// Rows of an audio lane.
  static let laneRows = 2

  /// One score, or one upwards and one downwards.
  func sheet(of score: PatternScore, mirrored: PatternScore?, width: Int) -> TerminalSheet {
    guard let mirrored else {
      var sheet = TerminalSheet(width: width, height: Self.rows)
      draw(score, on: &sheet, rows: 0..<Self.rows, isDown: false)
      return sheet
    }
    let rows = Self.mirroredRows
    var sheet = TerminalSheet(width: width, height: 2 * rows)
    draw(score, on: &sheet, rows: 0..<rows, isDown: false)
    draw(mirrored, on: &sheet, rows: rows..<(2 * rows), isDown: true)
    return sheet
  }

  /// The audio events of a score.
  func lane(of score: PatternScore, width: Int) -> TerminalSheet {
    var sheet = TerminalSheet(width: width, height: Self.laneRows)
    let columns = columns(of: score.audioEvents, width: width)
    for column in 0..<width {
      fill(
        columns.strongest[column].intensity, color: nil, column, on: &sheet,
        rows: 0..<Self.laneRows, isDown: false)
    }
    return sheet
  }

  /// The sharpness of the strongest event of each column, in tenths.
  func sharpness(of score: PatternScore, width: Int) -> String {
    let continuous = columns(of: score.events.filter { $0.kind == .hapticContinuous }, width: width)
    let taps = taps(of: score, width: width)
    return String(
      (0..<width).map { column -> Character in
        let point = taps[column] ?? continuous.strongest[column]
        guard point.intensity > 0 else { return " " }
        return Character("\(min(9, Int(point.sharpness * 10)))")
      })
  }

  private func columns(of events: [PatternScore.Event], width: Int) -> ScoreColumns {
    ScoreColumns(events, count: width) { time in
      (time - span.lowerBound) / (span.upperBound - span.lowerBound) * Double(width)
    }
  }

  private func column(_ time: Double, width: Int) -> Int {
    let share = (time - span.lowerBound) / (span.upperBound - span.lowerBound)
    return min(width - 1, max(0, Int(share * Double(width))))
  }

  /// The strongest transient of each column.
  private func taps(of score: PatternScore, width: Int) -> [Int: PatternScore.Point] {
    var taps: [Int: PatternScore.Point] = [:]
    for event in score.events where event.kind == .hapticTransient {
      guard let point = event.points.first else { continue }
      let column = column(point.time, width: width)
      if let other = taps[column], other.intensity >= point.intensity { continue }
      taps[column] = point
    }
    return taps
  }

  private func draw(
    _ score: PatternScore, on sheet: inout TerminalSheet, rows: Range<Int>, isDown: Bool
  ) {
    let ramp = Colormap.terminalSharpness
    let columns = columns(
      of: score.events.filter { $0.kind == .hapticContinuous }, width: sheet.width)
    for (column, point) in columns.strongest.enumerated() {
      fill(
        point.intensity, color: ramp.color(at: point.sharpness), column, on: &sheet, rows: rows,
        isDown: isDown)
    }
    if !isDown { drawCurve(of: score, on: &sheet, rows: rows) }
    for (column, point) in taps(of: score, width: sheet.width) {
      // A hair above a row is that row, since intensities are short decimals of 32 bits.
      let rise = point.intensity * Double(rows.count)
      let height = max(1, Int((rise - 1e-3).rounded(.up)))
      for level in 0..<height {
        let row = isDown ? rows.lowerBound + level : rows.upperBound - 1 - level
        sheet[row, column] = TerminalSheet.Cell(
          character: level == height - 1 ? style.head : style.stem,
          color: ramp.color(at: point.sharpness))
      }
    }
  }

  /// Fills a column up to a value; downwards whole rows only, since no character hangs by eighths.
  private func fill(
    _ value: Double, color: PlotColor?, _ column: Int, on sheet: inout TerminalSheet,
    rows: Range<Int>, isDown: Bool
  ) {
    // What sounds at all is seen.
    let eighths = value > 0 ? max(1, Int((value * Double(8 * rows.count)).rounded())) : 0
    for level in 0..<rows.count where eighths > 8 * level {
      let row = isDown ? rows.lowerBound + level : rows.upperBound - 1 - level
      let part = min(8, eighths - 8 * level)
      sheet[row, column] = TerminalSheet.Cell(
        character: style.fill(eighths: isDown ? (part >= 4 || level == 0 ? 8 : 0) : part),
        color: color)
    }
  }

  /// The curve of intensity control, where nothing else is.
  private func drawCurve(
    of score: PatternScore, on sheet: inout TerminalSheet, rows: Range<Int>
  ) {
    for curve in score.curves where curve.id == .hapticIntensityControl {
      for (from, to) in zip(curve.line, curve.line.dropFirst()) {
        let (first, last) = (
          column(from.time, width: sheet.width), column(to.time, width: sheet.width)
        )
        for column in first...max(first, last) {
          let share = last > first ? Double(column - first) / Double(last - first) : 1
          let value = from.value + (to.value - from.value) * share
          let row = rows.upperBound - 1 - min(rows.count - 1, Int(value * Double(rows.count)))
          if sheet[row, column].character == " " { sheet[row, column].character = style.curve }
        }
      }
    }
  }
}
