internal import CMath

/// Draws a figure as shapes and texts: head, axes and legends here, what panels hold in files of
/// their own.
struct PlotPainter {
  let plot: Plot
  let layout: PlotLayout
  var drawing: PlotDrawing
  /// The axis and the place of the panel that is drawn.
  var axis = PlotPanel.unitAxis
  var box = PlotBox(left: 0, top: 0, right: 0, bottom: 0)

  static func makeDrawing(of plot: Plot, width: Int) -> PlotDrawing {
    let layout = PlotLayout(plot, width: width)
    var figure = PlotPainter(
      plot: plot, layout: layout,
      drawing: PlotDrawing(
        width: layout.width, height: layout.height, title: plot.title, summary: plot.summary))
    figure.draw()
    return figure.drawing
  }

  /// One panel alone, of cells of characters.
  static func makeDrawing(
    ofPanel panel: PlotPanel, in plot: Plot, columnCount columns: Int, rowCount rows: Int,
    cell: (width: Double, height: Double)
  )
    -> PlotDrawing
  {
    let layout = PlotLayout(
      columnCount: columns, columnWidth: cell.width, timeRange: plot.timeRange)
    let height = cell.height * Double(rows)
    var figure = PlotPainter(
      plot: plot, layout: layout,
      drawing: PlotDrawing(width: layout.width, height: height, title: "", summary: ""))
    figure.axis = panel.axis
    figure.box = PlotBox(left: 0, top: 0, right: layout.width, bottom: height)
    figure.drawContent(of: panel)
    return figure.drawing
  }

  private mutating func draw() {
    drawing.fillRectangle(
      PlotBox(left: 0, top: 0, right: layout.width, bottom: layout.height), paint: .role(.paper))
    drawHeader()
    for (panel, place) in zip(plot.panels, layout.panels) {
      axis = panel.axis
      box = place.box
      drawGrid(panel)
      drawContent(of: panel)
      drawAxes(panel)
      if let remark = panel.emptyMessage {
        let middle = PlotPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2 - 8 * scale)
        drawLabel(remark, at: middle, anchor: .middle)
      }
      drawTitle(panel, at: place)
    }
    for (index, tick) in layout.timeTicks.ticks.enumerated() where !plot.panels.isEmpty {
      let unit = index == layout.timeTicks.ticks.count - 1 ? " " + layout.timeTicks.unit : ""
      drawLabel(
        tick.label + unit, at: PlotPoint(layout.x(atTime: tick.value), box.bottom + 18 * scale),
        anchor: .middle)
    }
  }

  private mutating func drawContent(of panel: PlotPanel) {
    switch panel.content {
    case .intensity:
      drawIntensity()
    case .sharpness:
      drawSharpness()
    case .audio(let take):
      drawAudio(of: take)
    case .waveform(let traces):
      drawWaveform(traces)
    case .spectrogram(let traces, let shown):
      drawSpectrogram(traces, shownTakes: shown, marksBand: !panel.rightTicks.isEmpty)
    }
  }

  var scale: Double { layout.scale }
  func y(of value: Double) -> Double { layout.y(of: value, on: axis, in: box) }
  func horizontalLine(atY y: Double) -> [PlotPoint] {
    [PlotPoint(box.left, y), PlotPoint(box.right, y)]
  }
  func point(atTime seconds: Double, value: Double) -> PlotPoint {
    PlotPoint(layout.x(atTime: seconds), y(of: value))
  }

  private mutating func drawHeader() {
    if let title = layout.title {
      drawing.drawText(
        title.text, at: title.position, fontSize: PlotLayout.titleFontSize * scale, role: .ink,
        isBold: true)
    }
    for (index, take) in layout.takeNames.enumerated() {
      let y = take.position.y - 4 * scale
      let end = take.position.x + PlotLayout.legendSymbolWidth * scale
      drawing.stroke([[PlotPoint(take.position.x, y), PlotPoint(end, y)]], stroke(ofTake: index))
      drawTransientHead(
        at: PlotPoint((take.position.x + end) / 2, y), take: index, paint: .role(.take(index)))
      let size = PlotLayout.panelTitleFontSize * scale
      let letter = PlotDrawing.TextRun(
        text: PlotPanel.letter(ofTake: index), fontSize: size, role: .take(index), isBold: true)
      let name = PlotDrawing.TextRun(
        text: take.text, fontSize: size, role: .ink, leadingGap: 6 * scale)
      drawing.add(
        .text([letter, name], at: PlotPoint(end + 6 * scale, take.position.y), anchor: .start))
    }
    for line in layout.factLines {
      drawLabel(line.text, at: line.position, anchor: line.anchor)
    }
  }

  private func fittingTicks(of panel: PlotPanel) -> [AxisTick] {
    let most = max(2, Int(box.height / (16 * scale)))
    // Every second one is left out until they fit, so that the outer ones stay.
    var kept = panel.ticks
    while kept.count > most, kept.count > 2 {
      kept = kept.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    }
    return kept
  }

  private mutating func drawGrid(_ panel: PlotPanel) {
    let grid = PlotDrawing.Stroke(paint: .role(.grid), width: scale)
    let places = layout.timeTicks.ticks.map { layout.x(atTime: $0.value) }
    drawing.stroke(places.map { [PlotPoint($0, box.top), PlotPoint($0, box.bottom)] }, grid)
    guard case .intensity = panel.content else { return }
    drawing.stroke(
      fittingTicks(of: panel).filter { $0.value > 0 }.map { horizontalLine(atY: y(of: $0.value)) },
      grid)
  }

  private mutating func drawAxes(_ panel: PlotPanel) {
    var ground = box.bottom
    if case .waveform = panel.content {
      ground = y(of: 0)
    }
    drawing.stroke([horizontalLine(atY: ground)], .init(paint: .role(.edge), width: scale))
    // The lowest label stays clear of the panel below.
    func base(_ y: Double) -> Double { min(y + 4 * scale, box.bottom + scale) }
    for tick in fittingTicks(of: panel) {
      let y = y(of: tick.value)
      if case .spectrogram = panel.content {
        drawing.drawLine(
          from: PlotPoint(box.left - 4 * scale, y), to: PlotPoint(box.left, y), role: .edge,
          width: scale)
      }
      drawLabel(tick.label, at: PlotPoint(box.left - 8 * scale, base(y)), anchor: .end)
    }
    guard layout.showsRightTicks else { return }
    var lastY = Double.infinity
    for tick in panel.rightTicks.sorted(by: { $0.value < $1.value })
    where (0...1).contains(axis.fraction(of: tick.value)) {
      let y = y(of: tick.value)
      guard lastY - y >= 12 * scale else { continue }
      lastY = y
      drawLabel(tick.label, at: PlotPoint(box.right + 8 * scale, base(y)))
    }
  }

  private mutating func drawTitle(_ panel: PlotPanel, at place: PlotLayout.Panel) {
    var runs = [
      PlotDrawing.TextRun(
        text: panel.title, fontSize: PlotLayout.panelTitleFontSize * scale, role: .ink, isBold: true
      )
    ]
    if place.showsUnit, !panel.unit.isEmpty {
      runs.append(
        PlotDrawing.TextRun(
          text: panel.unit, fontSize: PlotLayout.labelFontSize * scale, leadingGap: 7 * scale))
    }
    drawing.add(.text(runs, at: place.titlePosition, anchor: .start))
    for (entry, place) in zip(panel.legend, place.legendPositions) {
      drawLegendEntry(entry, at: place)
    }
  }

  mutating func drawLabel(
    _ text: String, at place: PlotPoint, anchor: PlotDrawing.Anchor = .start,
    role: PlotRole = .muted
  ) {
    drawing.drawText(
      text, at: place, fontSize: PlotLayout.labelFontSize * scale, anchor: anchor, role: role)
  }

  /// The line of a take of an overlay: the first is whole, others are dashed each in its way.
  func stroke(ofTake take: Int, width: Double = 2) -> PlotDrawing.Stroke {
    let patterns: [[Double]] = [
      [], [6, 3], [2, 2.5], [9, 2.5, 2, 2.5], [12, 4], [4, 4], [1.5, 4], [9, 2.5, 2, 2.5, 2, 2.5],
    ]
    return PlotDrawing.Stroke(
      paint: .role(.take(take)), width: width * scale,
      dashes: patterns[take % patterns.count].map { $0 * scale })
  }

  /// The head of a transient: a disc of the first take, a diamond of the second, a square, a
  /// triangle.
  mutating func drawTransientHead(
    at centre: PlotPoint, take: Int, paint: PlotDrawing.Paint, radius: Double = 5
  ) {
    let radius = radius * scale
    let edge = PlotDrawing.Stroke(paint: .role(.paper), width: 1.5 * scale)
    let corners: [[(Double, Double)]] = [
      [], [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
      [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
      [(0, -1.2), (1.15, 0.85), (-1.15, 0.85)],
    ]
    let points = corners[take % 4].map {
      PlotPoint(centre.x + $0.0 * radius, centre.y + $0.1 * radius)
    }
    if points.isEmpty {
      return drawing.drawDisc(center: centre, radius: radius, paint: paint, stroke: edge)
    }
    drawing.add(.path([points], fill: PlotDrawing.Fill(paint: paint), stroke: edge))
  }

  mutating func drawControlPoint(at place: PlotPoint) {
    drawing.drawDisc(
      center: place, radius: 2.75 * scale, paint: .role(.paper),
      stroke: .init(paint: .role(.ink), width: 1.25 * scale))
  }

  static func sharpnessGradient(from: PlotPoint, to: PlotPoint) -> PlotDrawing.Paint {
    let colors = Colormap.sharpness.anchors
    let last = Double(colors.count - 1)
    return .gradient(
      colors.enumerated().map {
        PlotDrawing.GradientStop(offset: Double($0.offset) / last, color: $0.element)
      }, from: from,
      to: to)
  }

  private mutating func drawLegendEntry(_ entry: PlotPanel.LegendEntry, at place: PlotPoint) {
    let middle = place.y - 4 * scale
    let sign = PlotLayout.legendSymbolWidth * scale
    let texts = entry.labels
    let left = PlotPoint(place.x, middle)
    let right = PlotPoint(place.x + sign, middle)
    var text = PlotPoint(right.x + 6 * scale, place.y)
    switch entry {
    case .sharpnessScale:
      return drawColorScale(labels: texts, at: place, length: 84)
    case .levelScale:
      return drawColorScale(labels: texts, at: place, length: 62)
    case .intensityCurve:
      drawing.drawLine(from: left, to: right, role: .ink, width: scale, opacity: 0.65)
      drawControlPoint(at: PlotPoint(place.x + sign / 2, middle))
    case .peak:
      let bar = PlotBox(
        left: left.x, top: middle - 4 * scale, right: right.x, bottom: middle + 4 * scale)
      drawing.fillRectangle(bar, paint: .role(.signal), radius: 1.5 * scale)
    case .rms:
      drawing.drawLine(from: left, to: right, role: .ink, width: 1.25 * scale)
    case .profileBand:
      drawing.drawLine(
        from: left, to: right, role: .muted, width: scale, dashes: [2 * scale, 4 * scale])
    case .analysisWindow(let seconds):
      let high = middle - 3 * scale
      let low = middle + 2 * scale
      let end =
        place.x
        + max(4 * scale, layout.x(atTime: plot.timeRange.lowerBound + seconds) - layout.left)
      let bracket = [(place.x, high), (place.x, low), (end, low), (end, high)].map(PlotPoint.init)
      drawing.stroke([bracket], .init(paint: .role(.muted), width: scale))
      text.x = end + 6 * scale
    }
    if let label = texts.first {
      drawLabel(label, at: text)
    }
  }

  private mutating func drawColorScale(labels texts: [String], at place: PlotPoint, length: Double)
  {
    let start = place.x + layout.width(of: texts[0], fontSize: PlotLayout.labelFontSize) + 6 * scale
    let end = start + length * scale
    let box = PlotBox(left: start, top: place.y - 8 * scale, right: end, bottom: place.y)
    drawLabel(texts[0], at: PlotPoint(start - 6 * scale, place.y), anchor: .end)
    drawLabel(texts[1], at: PlotPoint(end + 6 * scale, place.y))
    if texts[0] == "dull" {
      return drawing.fillRectangle(
        box, paint: Self.sharpnessGradient(from: PlotPoint(start, 0), to: PlotPoint(end, 0)),
        radius: 4 * scale)
    }
    // Levels cover the colour of their frequency; here the ink stands for all colours.
    let levels = (0..<64).map { Self.coverage(ofLevel: Double($0) / 63) }
    drawing.add(
      .raster(PlotDrawing.Raster(coverages: levels, columnCount: 64, box: box, paint: .role(.ink))))
  }

  /// How much a share of the range of levels covers, 0…255.
  static func coverage(ofLevel share: Double) -> UInt8 {
    // A little less than even, so that weak noise does not look strong.
    UInt8((255 * 0.92 * share * share.squareRoot().squareRoot()).rounded())
  }

  /// The share of the range of levels that covers so much, 0…1.
  static func level(ofCoverage covered: Double) -> Double { pow(covered / 0.92, 0.8) }
}
