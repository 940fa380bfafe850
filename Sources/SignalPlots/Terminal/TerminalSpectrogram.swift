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
    let halves = style.colours && style.unicode
    let shares = trace.shares(
      columns: width, rows: Self.rows * (halves ? 2 : 1), axis: axis, seconds: span)
    for row in 0..<Self.rows {
      for column in 0..<width {
        guard halves else {
          let share = shares[row * width + column]
          sheet[row, column] = TerminalSheet.Cell(
            character: style.shade(share), colour: share > 0 ? colour(share) : nil)
          continue
        }
        let (upper, lower) = (
          shares[2 * row * width + column], shares[(2 * row + 1) * width + column]
        )
        guard upper > 0 || lower > 0 else { continue }
        sheet[row, column] = TerminalSheet.Cell(
          character: "▀", colour: colour(upper), ground: colour(lower))
      }
    }
    return sheet
  }

  private func colour(_ share: Double) -> PlotColor { Colormap.viridis.colour(at: share) }
}
