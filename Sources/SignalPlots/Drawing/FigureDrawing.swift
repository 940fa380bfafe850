/// Draws a figure on a canvas: titles, axes and legends here, each kind of panel in a file of its own.
struct FigureDrawing {
  /// Where everything lies.
  let layout: PlotLayout
  /// What is drawn on.
  let canvas: CairoCanvas
  /// The colours.
  let palette: PlotPalette
  /// The side of a cell of a spectrogram, in pixels.
  let cellSize: Double

  /// The size of text, by which lines are measured too.
  var em: Double { layout.textSize }
  /// The width of a fine line.
  var hairline: Double { em / 12 }

  /// Draws everything.
  func draw(_ plot: Plot) throws(PlotError) {
    canvas.use(palette.paper)
    canvas.fill(PlotBox(left: 0, top: 0, right: layout.width, bottom: layout.height))
    drawTitles(plot)
    for (panel, place) in zip(plot.panels, layout.panels) {
      drawGrid(panel, in: place.box)
      switch panel.content {
      case .score(let score, let mirrored):
        try ScoreDrawing(figure: self, axis: panel.axis, box: place.box)
          .draw(score, mirrored: mirrored)
      case .audio(let score):
        try AudioDrawing(figure: self, axis: panel.axis, box: place.box).draw(score)
      case .wave(let first, let second):
        try WaveformDrawing(figure: self, axis: panel.axis, box: place.box).draw(
          first, over: second)
      case .spectrum(let trace):
        try SpectrogramDrawing(figure: self, axis: panel.axis, box: place.box).draw(trace)
      }
      drawFrame(panel, in: place.box)
      if let remark = panel.remark {
        canvas.use(palette.label)
        canvas.write(
          remark,
          at: PlotPoint(
            (place.box.left + place.box.right) / 2, (place.box.top + place.box.bottom) / 2 - em),
          size: em, alignment: .centre)
      }
      drawCaption(panel, at: place)
    }
    drawTimeAxis()
  }

  private func drawTitles(_ plot: Plot) {
    let room = layout.width - 2 * layout.margin
    canvas.use(palette.ink)
    canvas.write(
      layout.fitted(plot.title, size: layout.titleSize, to: room, isBold: true), at: layout.title,
      size: layout.titleSize, isBold: true)
    canvas.use(palette.label)
    for (index, line) in layout.subtitle.enumerated() {
      let place = PlotPoint(
        layout.subtitlePlace.x, layout.subtitlePlace.y + 1.4 * em * Double(index))
      canvas.write(layout.fitted(line, size: em, to: room), at: place, size: em)
    }
  }

  /// The left axis's labels, as many as its height takes.
  func ticks(of panel: PlotPanel, in box: PlotBox) -> [AxisTick] {
    let most = max(2, Int(box.height / (1.6 * em)))
    guard let ticks = panel.ownTicks else { return panel.axis.ticks(atMost: most) }
    // Of given ticks every second one is left out until they fit, so that the outer ones stay.
    var kept = ticks
    while kept.count > most, kept.count > 2 {
      kept = kept.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    }
    return kept
  }

  private func drawGrid(_ panel: PlotPanel, in box: PlotBox) {
    canvas.use(palette.grid)
    for tick in layout.time.ticks {
      let x = sharp(layout.x(tick.value))
      canvas.stroke([PlotPoint(x, box.top), PlotPoint(x, box.bottom)], width: hairline)
    }
    for tick in ticks(of: panel, in: box) {
      let y = sharp(layout.y(tick.value, on: panel.axis, in: box))
      canvas.stroke([PlotPoint(box.left, y), PlotPoint(box.right, y)], width: hairline)
    }
  }

  private func drawFrame(_ panel: PlotPanel, in box: PlotBox) {
    canvas.use(palette.frame)
    let (left, bottom) = (sharp(box.left), sharp(box.bottom))
    canvas.stroke([PlotPoint(left, box.top), PlotPoint(left, bottom)], width: hairline)
    canvas.stroke([PlotPoint(left, bottom), PlotPoint(box.right, bottom)], width: hairline)
    canvas.use(palette.label)
    for tick in ticks(of: panel, in: box) {
      let y = layout.y(tick.value, on: panel.axis, in: box)
      canvas.write(
        tick.label, at: PlotPoint(box.left - 0.5 * em, y + 0.36 * em), size: em, alignment: .right)
    }
    guard layout.showsRightAxes else { return }
    var lastY = Double.infinity
    for tick in panel.rightTicks.sorted(by: { $0.value < $1.value }) {
      let y = layout.y(tick.value, on: panel.axis, in: box)
      guard lastY - y >= 1.15 * em else { continue }
      lastY = y
      if case .score = panel.content { canvas.use(palette.control) }
      canvas.write(tick.label, at: PlotPoint(box.right + 0.5 * em, y + 0.36 * em), size: em)
    }
  }

  private func drawCaption(_ panel: PlotPanel, at place: PlotLayout.Panel) {
    canvas.use(palette.ink)
    canvas.write(panel.caption, at: place.caption, size: em, isBold: true)
    for (entry, place) in zip(panel.legend, place.legend) {
      LegendDrawing(figure: self).draw(entry, at: place)
    }
  }

  private func drawTimeAxis() {
    guard let box = layout.panels.last?.box else { return }
    let bottom = sharp(box.bottom)
    for tick in layout.time.ticks {
      let x = layout.x(tick.value)
      canvas.use(palette.frame)
      canvas.stroke(
        [PlotPoint(sharp(x), bottom), PlotPoint(sharp(x), bottom + 0.35 * em)], width: hairline)
      canvas.use(palette.label)
      canvas.write(
        tick.label, at: PlotPoint(x, box.bottom + 1.5 * em), size: em, alignment: .centre)
    }
    canvas.write(
      layout.time.unit,
      at: PlotPoint((layout.timeLeft + layout.timeRight) / 2, box.bottom + 3 * em),
      size: em, alignment: .centre)
  }

  /// The middle of the pixel at a place, where a fine line is sharpest.
  func sharp(_ place: Double) -> Double { place.rounded(.down) + 0.5 }
}
