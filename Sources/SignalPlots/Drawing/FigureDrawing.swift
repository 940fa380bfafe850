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
      case .waveform(let first, let second):
        try WaveformDrawing(figure: self, axis: panel.axis, box: place.box).draw(
          first, over: second)
      case .spectrogram(let trace):
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

  /// A control point: a ring on the curve of intensity, a diamond on that of sharpness.
  func drawHandle(at place: PlotPoint, isRound: Bool) {
    let radius = 0.27 * em
    if isRound {
      canvas.use(palette.paper)
      canvas.fillDisc(place, radius: radius)
      canvas.use(palette.ink)
      canvas.strokeDisc(place, radius: radius, width: 0.12 * em)
    } else {
      let corners = [(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0), (0.0, -1.3)].map {
        PlotPoint(place.x + $0.0 * radius, place.y + $0.1 * radius)
      }
      canvas.use(palette.paper)
      canvas.fill(corners)
      canvas.use(palette.control)
      canvas.stroke(corners, width: 0.12 * em, isRound: true)
    }
  }
}

/// Draws what the signs of a panel mean.
struct LegendDrawing {
  /// The figure that the panel is in.
  let figure: FigureDrawing

  /// Draws an entry that begins at a place on its base line.
  func draw(_ entry: PlotPanel.LegendEntry, at place: PlotPoint) {
    let (canvas, palette, em) = (figure.canvas, figure.palette, figure.em)
    let middle = place.y - 0.35 * em
    let sign = [PlotPoint(place.x, middle), PlotPoint(place.x + 1.7 * em, middle)]
    var text = PlotPoint(place.x + 2.2 * em, place.y)
    switch entry {
    case .sharpness:
      canvas.use(palette.label)
      canvas.write(entry.text, at: place, size: em)
      let start = place.x + canvas.width(of: entry.text, size: em) + 0.5 * em
      canvas.write("0", at: PlotPoint(start, place.y), size: em)
      drawRamp(palette.sharpness, from: start + 1.2 * em, length: 4 * em, on: place.y)
      canvas.use(palette.label)
      canvas.write("1", at: PlotPoint(start + 5.6 * em, place.y), size: em)
      return
    case .decibels(let low, let high):
      let lowText = AxisTick.text(Double(low), places: 0)
      canvas.use(palette.label)
      canvas.write(lowText, at: place, size: em)
      let start = place.x + canvas.width(of: lowText, size: em) + 0.4 * em
      drawRamp(palette.energy, from: start, length: 4 * em, on: place.y)
      canvas.use(palette.label)
      let highText = AxisTick.text(Double(high), places: 0)
      canvas.write("\(highText) \(entry.text)", at: PlotPoint(start + 4.4 * em, place.y), size: em)
      return
    case .intensityControl:
      canvas.use(palette.ink)
      canvas.stroke(sign, width: 0.13 * em)
      figure.drawHandle(at: PlotPoint(place.x + 0.85 * em, middle), isRound: true)
    case .sharpnessControl:
      canvas.use(palette.control)
      canvas.stroke(sign, width: 0.13 * em, dashes: [0.45 * em, 0.28 * em])
      figure.drawHandle(at: PlotPoint(place.x + 0.85 * em, middle), isRound: false)
    case .first:
      canvas.use(palette.first)
      canvas.fill(
        PlotBox(
          left: place.x, top: middle - 0.35 * em, right: place.x + 1.7 * em,
          bottom: middle + 0.35 * em))
    case .second:
      canvas.use(palette.second)
      canvas.stroke(sign, width: 0.16 * em, dashes: [0.45 * em, 0.28 * em])
    case .effective:
      canvas.use(palette.ink)
      canvas.stroke(sign, width: 0.13 * em)
    case .band:
      canvas.use(palette.ink)
      canvas.stroke(sign, width: 0.13 * em, dashes: [0.3 * em, 0.25 * em])
    }
    canvas.use(palette.label)
    text.y = place.y
    canvas.write(entry.text, at: text, size: em)
  }

  private func drawRamp(_ ramp: Colormap, from left: Double, length: Double, on baseline: Double) {
    let stops = (0...16).map { step in
      (place: Double(step) / 16, color: ramp.color(at: Double(step) / 16))
    }
    figure.canvas.use(stops, from: left, to: left + length)
    figure.canvas.fill(
      PlotBox(
        left: left, top: baseline - 0.7 * figure.em, right: left + length, bottom: baseline))
  }
}
