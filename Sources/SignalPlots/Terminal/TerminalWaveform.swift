/// Draws waveforms with characters: dots of braille, eight to a character, or ASCII.
struct TerminalWaveform {
  /// What can be shown.
  let style: TerminalStyle
  /// The seconds that are shown.
  let span: ClosedRange<Double>
  /// The axis of pressure.
  let axis: PlotAxis

  /// Rows of a waveform.
  static let rows = 7

  /// The bits of a character's dots, by row and column of dots.
  private static let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]

  /// One waveform, or two of which the second is drawn by its edges in the other colour.
  func sheet(of first: SoundTrace, over second: SoundTrace?, width: Int) -> TerminalSheet {
    let palette = PlotPalette(.dark)
    var sheet = TerminalSheet(width: width, height: Self.rows)
    draw(first, on: &sheet, color: palette.first, edgesOnly: false)
    if let second { draw(second, on: &sheet, color: palette.second, edgesOnly: true) }
    return sheet
  }

  private func draw(
    _ trace: SoundTrace, on sheet: inout TerminalSheet, color: PlotColor, edgesOnly: Bool
  ) {
    let (across, down) = style.unicode ? (2, 4) : (1, 2)
    let dots = (columns: sheet.width * across, rows: Self.rows * down)
    let length = span.upperBound - span.lowerBound
    let step = length * trace.rate / Double(dots.columns)
    let columns = SampleColumns(trace.samples, rate: trace.rate, samplesPerColumn: step)
    var bits = [UInt8](repeating: 0, count: sheet.width * Self.rows)
    for index in columns.high.indices {
      // Where samples are fewer than dots, each is at its own time.
      let column = step >= 1 ? index : Int(Double(index) / step)
      guard column < dots.columns else { break }
      let top = row(columns.high[index], of: dots.rows)
      let bottom = row(columns.low[index], of: dots.rows)
      for row in top...max(top, bottom) where !edgesOnly || row == top || row == bottom {
        bits[row / down * sheet.width + column / across] |= Self.bits[row % down][column % across]
      }
    }
    for (place, bits) in bits.enumerated() where bits != 0 {
      let cell = TerminalSheet.Cell(character: character(bits, isSecond: edgesOnly), color: color)
      sheet[place / sheet.width, place % sheet.width] = cell
    }
  }

  private func row(_ value: Double, of count: Int) -> Int {
    let place = (1 - axis.share(of: value)) * Double(count)
    // What is far outside the axis has no row, but is seen at the edge.
    return Int(min(max(place, 0), Double(count - 1)))
  }

  private func character(_ bits: UInt8, isSecond: Bool) -> Character {
    if style.unicode { return style.dots(bits) }
    if isSecond { return "o" }
    return bits.nonzeroBitCount > 1 ? "#" : (bits & 1 != 0 ? "'" : ".")
  }
}

/// Draws spectrograms with characters: halves of cells in colour, or shades.
struct TerminalSpectrogram {
  /// What can be shown.
  let style: TerminalStyle
  /// The seconds that are shown.
  let span: ClosedRange<Double>
  /// The axis of frequency.
  let axis: PlotAxis

  /// Rows of a spectrogram.
  static let rows = 7

  /// A spectrogram; what is weaker than the weakest colour is left blank.
  func sheet(of trace: SpectrogramTrace, width: Int) -> TerminalSheet {
    var sheet = TerminalSheet(width: width, height: Self.rows)
    let halves = style.colors && style.unicode
    let shares = trace.shares(
      columns: width, rows: Self.rows * (halves ? 2 : 1), axis: axis, seconds: span)
    for row in 0..<Self.rows {
      for column in 0..<width {
        guard halves else {
          let share = shares[row * width + column]
          sheet[row, column] = TerminalSheet.Cell(
            character: style.shade(share), color: share > 0 ? color(share) : nil)
          continue
        }
        let (upper, lower) = (
          shares[2 * row * width + column], shares[(2 * row + 1) * width + column]
        )
        guard upper > 0 || lower > 0 else { continue }
        sheet[row, column] = TerminalSheet.Cell(
          character: "▀", color: color(upper), ground: color(lower))
      }
    }
    return sheet
  }

  private func color(_ share: Double) -> PlotColor { Colormap.viridis.color(at: share) }
}
