internal import Glibc

/// Draws a response figure on a canvas.
struct ResponseDrawing {
  /// The figure.
  let plot: ResponsePlot
  /// The width in pixels.
  let width: Double
  /// The colours.
  let palette: PlotPalette

  /// The size of text in pixels, as in other figures.
  private var em: Double { PlotLayout.smallestText * max(1, pow(width / 900, 0.6)) }
  private var hairline: Double { em / 12 }

  /// The height in pixels.
  var height: Double { (31 * em).rounded() }

  private var box: PlotBox {
    PlotBox(
      left: (4 * em).rounded(), top: (6.6 * em).rounded(), right: (width - 1.5 * em).rounded(),
      bottom: (height - 3.9 * em).rounded())
  }

  /// Draws everything.
  func draw(on canvas: CairoCanvas) throws(PlotError) {
    canvas.use(palette.paper)
    canvas.fill(PlotBox(left: 0, top: 0, right: width, bottom: height))
    canvas.use(palette.ink)
    canvas.write(plot.title, at: PlotPoint(em, 2.2 * em), size: 1.25 * em, isBold: true)
    canvas.use(palette.label)
    canvas.write(plot.subtitle, at: PlotPoint(em, 3.8 * em), size: em)
    drawGrid(on: canvas)
    try canvas.clipped(to: box) { () throws(PlotError) in
      if let band = plot.band { draw(band, on: canvas) }
      let curves: [(KeyPath<ResponsePlot.Point, Double>, PlotColor, [Double], Double)] = [
        (\.residual, palette.label, [0.25 * em, 0.25 * em], 0.09),
        (\.measured, palette.first, [], 0.2),
        (\.fitted, palette.second, [0.7 * em, 0.35 * em], 0.15),
      ]
      for (level, colour, dashes, thickness) in curves {
        canvas.use(colour)
        canvas.stroke(
          plot.points.map { place($0.hertz, $0[keyPath: level]) }, width: thickness * em,
          dashes: dashes, isRound: dashes.isEmpty)
      }
    }
    drawLegend(on: canvas)
  }

  private func place(_ hertz: Double, _ level: Double) -> PlotPoint {
    PlotPoint(
      box.left + box.width * plot.frequencies.share(of: hertz),
      box.bottom - box.height * min(max(plot.levels.share(of: level), -1), 2))
  }

  private func drawGrid(on canvas: CairoCanvas) {
    for tick in plot.levels.ticks(atMost: 8) {
      let y = place(plot.frequencies.range.lowerBound, tick.value).y
      let line = y.rounded(.down) + 0.5
      canvas.use(palette.grid)
      canvas.stroke([PlotPoint(box.left, line), PlotPoint(box.right, line)], width: hairline)
      canvas.use(palette.label)
      canvas.write(
        tick.label, at: PlotPoint(box.left - 0.5 * em, y + 0.36 * em), size: em, alignment: .right)
    }
    for tick in plot.frequencies.ticks(atMost: max(3, Int(box.width / (3.5 * em)))) {
      let x = place(tick.value, 0).x
      let line = x.rounded(.down) + 0.5
      canvas.use(palette.grid)
      canvas.stroke([PlotPoint(line, box.top), PlotPoint(line, box.bottom)], width: hairline)
      canvas.use(palette.label)
      canvas.write(
        tick.label, at: PlotPoint(x, box.bottom + 1.5 * em), size: em, alignment: .centre)
    }
    canvas.use(palette.frame)
    canvas.stroke(box, width: hairline)
    canvas.use(palette.label)
    canvas.write(
      "hertz", at: PlotPoint((box.left + box.right) / 2, box.bottom + 3 * em), size: em,
      alignment: .centre)
    canvas.write("dB", at: PlotPoint(box.left, box.top - 0.6 * em), size: em, alignment: .right)
  }

  private func draw(_ band: ClosedRange<Double>, on canvas: CairoCanvas) {
    canvas.use(palette.first, opacity: 0.08)
    canvas.fill(
      PlotBox(
        left: place(band.lowerBound, 0).x, top: box.top, right: place(band.upperBound, 0).x,
        bottom: box.bottom))
  }

  private func drawLegend(on canvas: CairoCanvas) {
    let entries: [(String, PlotColor, [Double], Double)] = [
      ("measured", palette.first, [], 0.2),
      ("fitted", palette.second, [0.7 * em, 0.35 * em], 0.15),
      ("residual", palette.label, [0.25 * em, 0.25 * em], 0.09),
    ]
    var left = box.left + em
    let y = box.top - 0.6 * em
    for (name, colour, dashes, thickness) in entries {
      canvas.use(colour)
      canvas.stroke(
        [PlotPoint(left, y - 0.35 * em), PlotPoint(left + 1.8 * em, y - 0.35 * em)],
        width: thickness * em, dashes: dashes)
      canvas.use(palette.label)
      canvas.write(name, at: PlotPoint(left + 2.2 * em, y), size: em)
      left += (3.6 + Double(name.count) * PlotLayout.letter) * em
    }
  }
}
