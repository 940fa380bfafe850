internal import SignalAnalysis

/// Draws a spectrogram as cells of colour, with the profile's band marked by dashed lines.
struct SpectrogramDrawing {
  /// The figure that the panel is in.
  let figure: FigureDrawing
  /// The axis of frequency.
  let axis: PlotAxis
  /// Where the panel lies.
  let box: PlotBox

  /// Draws a spectrogram.
  func draw(_ trace: SpectrogramTrace) throws(PlotError) {
    try figure.canvas.clipped(to: box) { () throws(PlotError) in
      let layout = figure.layout
      let columns = Int(((layout.timeRight - layout.timeLeft) / figure.cellSize).rounded(.up))
      let rows = Int((box.height / figure.cellSize).rounded(.up))
      // A cell ends inside the time that the sound lasts, and the last may reach a little farther.
      let area = PlotBox(
        left: layout.timeLeft, top: box.top,
        right: layout.timeLeft + Double(columns) * figure.cellSize,
        bottom: box.top + Double(rows) * figure.cellSize)
      let shares = trace.shares(
        columns: columns, rows: rows, axis: axis,
        seconds: layout.seconds(at: area.left)...layout.seconds(at: area.right))
      // Few colours make small files, and no eye tells more apart.
      let colours = (0...Self.steps).map {
        figure.palette.energy.colour(at: Double($0) / Double(Self.steps)).packed
      }
      try figure.canvas.drawCells(
        shares.map { colours[Int(($0 * Double(Self.steps)).rounded())] }, columns: columns,
        over: area)
      if let band = trace.band { draw(band) }
    }
  }

  /// Steps between the weakest and the strongest colour.
  private static let steps = 48

  private func draw(_ band: ClosedRange<Double>) {
    let em = figure.em
    for hertz in [band.lowerBound, band.upperBound] {
      let y = figure.sharp(figure.layout.y(hertz, on: axis, in: box))
      let line = [PlotPoint(box.left, y), PlotPoint(box.right, y)]
      figure.canvas.use(figure.palette.ink)
      figure.canvas.stroke(line, width: 0.1 * em, dashes: [0.3 * em, 0.25 * em])
    }
  }
}
