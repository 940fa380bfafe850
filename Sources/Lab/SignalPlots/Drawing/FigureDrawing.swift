internal import CMath

/// Draws a figure as shapes and texts: head, axes and legends here, what panels hold in files of
/// their own.
struct FigureDrawing {
  let plot: Plot
  let layout: PlotLayout
  var drawing: PlotDrawing
  /// The axis and the place of the panel that is drawn.
  var axis = PlotPanel.shareAxis
  var box = PlotBox(left: 0, top: 0, right: 0, bottom: 0)

  static func draw(_ plot: Plot, width: Int) -> PlotDrawing {
    let layout = PlotLayout(plot, width: width)
    var figure = FigureDrawing(
      plot: plot, layout: layout,
      drawing: PlotDrawing(
        width: layout.width, height: layout.height, title: plot.title, summary: plot.summary))
    figure.draw()
    return figure.drawing
  }

  /// One panel alone, of cells of characters.
  static func draw(
    _ panel: PlotPanel, of plot: Plot, columns: Int, rows: Int,
    cell: (width: Double, height: Double)
  )
    -> PlotDrawing
  {
    let layout = PlotLayout(cells: columns, of: cell.width, span: plot.span)
    let height = cell.height * Double(rows)
    var figure = FigureDrawing(
      plot: plot, layout: layout,
      drawing: PlotDrawing(width: layout.width, height: height, title: "", summary: ""))
    figure.axis = panel.axis
    figure.box = PlotBox(left: 0, top: 0, right: layout.width, bottom: height)
    figure.drawContent(of: panel)
    return figure.drawing
  }

  private mutating func draw() {
    drawing.bar(PlotBox(left: 0, top: 0, right: layout.width, bottom: layout.height), .role(.paper))
    drawHead()
    for (panel, place) in zip(plot.panels, layout.panels) {
      axis = panel.axis
      box = place.box
      drawGrid(panel)
      drawContent(of: panel)
      drawAxes(panel)
      if let remark = panel.remark {
        let middle = PlotPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2 - 8 * scale)
        write(remark, at: middle, anchor: .middle)
      }
      drawTitle(panel, at: place)
    }
    for (index, tick) in layout.time.ticks.enumerated() where !plot.panels.isEmpty {
      let unit = index == layout.time.ticks.count - 1 ? " " + layout.time.unit : ""
      write(
        tick.label + unit, at: PlotPoint(layout.x(tick.value), box.bottom + 18 * scale),
        anchor: .middle)
    }
  }

  private mutating func drawContent(of panel: PlotPanel) {
    switch panel.content {
    case .strength:
      drawStrength()
    case .tone:
      drawTone()
    case .audio(let take):
      drawAudio(of: take)
    case .waveform(let traces):
      drawWaveform(traces)
    case .spectrogram(let traces, let shown):
      drawSpectrogram(traces, shown: shown, band: !panel.rightTicks.isEmpty)
    }
  }

  var scale: Double { layout.scale }
  func y(_ value: Double) -> Double { layout.y(value, on: axis, in: box) }
  func across(_ y: Double) -> [PlotPoint] { [PlotPoint(box.left, y), PlotPoint(box.right, y)] }
  func at(_ seconds: Double, _ value: Double) -> PlotPoint {
    PlotPoint(layout.x(seconds), y(value))
  }

  private mutating func drawHead() {
    if let title = layout.title {
      drawing.write(
        title.text, at: title.place, size: PlotLayout.titleSize * scale, role: .ink, isBold: true)
    }
    for (index, take) in layout.takes.enumerated() {
      let y = take.place.y - 4 * scale
      let end = take.place.x + PlotLayout.signWidth * scale
      drawing.stroke([[PlotPoint(take.place.x, y), PlotPoint(end, y)]], stroke(of: index))
      drawHead(at: PlotPoint((take.place.x + end) / 2, y), of: index, paint: .role(.take(index)))
      let size = PlotLayout.panelSize * scale
      let letter = PlotDrawing.Run(
        text: PlotPanel.letter(index), size: size, role: .take(index), isBold: true)
      let name = PlotDrawing.Run(text: take.text, size: size, role: .ink, gap: 6 * scale)
      drawing.add(
        .text([letter, name], at: PlotPoint(end + 6 * scale, take.place.y), anchor: .start))
    }
    for line in layout.facts {
      write(line.text, at: line.place, anchor: line.anchor)
    }
  }

  private func ticks(of panel: PlotPanel) -> [AxisTick] {
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
    let places = layout.time.ticks.map { layout.x($0.value) }
    drawing.stroke(places.map { [PlotPoint($0, box.top), PlotPoint($0, box.bottom)] }, grid)
    guard case .strength = panel.content else { return }
    drawing.stroke(ticks(of: panel).filter { $0.value > 0 }.map { across(y($0.value)) }, grid)
  }

  private mutating func drawAxes(_ panel: PlotPanel) {
    var ground = box.bottom
    if case .waveform = panel.content {
      ground = y(0)
    }
    drawing.stroke([across(ground)], .init(paint: .role(.edge), width: scale))
    // The lowest label stays clear of the panel below.
    func base(_ y: Double) -> Double { min(y + 4 * scale, box.bottom + scale) }
    for tick in ticks(of: panel) {
      let y = y(tick.value)
      if case .spectrogram = panel.content {
        drawing.line(
          PlotPoint(box.left - 4 * scale, y), PlotPoint(box.left, y), .edge, width: scale)
      }
      write(tick.label, at: PlotPoint(box.left - 8 * scale, base(y)), anchor: .end)
    }
    guard layout.showsRightTicks else { return }
    var lastY = Double.infinity
    for tick in panel.rightTicks.sorted(by: { $0.value < $1.value })
    where (0...1).contains(axis.share(of: tick.value)) {
      let y = y(tick.value)
      guard lastY - y >= 12 * scale else { continue }
      lastY = y
      write(tick.label, at: PlotPoint(box.right + 8 * scale, base(y)))
    }
  }

  private mutating func drawTitle(_ panel: PlotPanel, at place: PlotLayout.Panel) {
    var runs = [
      PlotDrawing.Run(
        text: panel.title, size: PlotLayout.panelSize * scale, role: .ink, isBold: true)
    ]
    if place.showsUnit, !panel.unit.isEmpty {
      runs.append(
        PlotDrawing.Run(text: panel.unit, size: PlotLayout.labelSize * scale, gap: 7 * scale))
    }
    drawing.add(.text(runs, at: place.title, anchor: .start))
    for (entry, place) in zip(panel.legend, place.legend) {
      draw(entry, at: place)
    }
  }

  mutating func write(
    _ text: String, at place: PlotPoint, anchor: PlotDrawing.Anchor = .start,
    role: PlotRole = .muted
  ) {
    drawing.write(text, at: place, size: PlotLayout.labelSize * scale, anchor: anchor, role: role)
  }

  /// The line of a take of an overlay: the first is whole, others are dashed each in its way.
  func stroke(of take: Int, width: Double = 2) -> PlotDrawing.Stroke {
    let patterns: [[Double]] = [
      [], [6, 3], [2, 2.5], [9, 2.5, 2, 2.5], [12, 4], [4, 4], [1.5, 4], [9, 2.5, 2, 2.5, 2, 2.5],
    ]
    return PlotDrawing.Stroke(
      paint: .role(.take(take)), width: width * scale,
      dashes: patterns[take % patterns.count].map { $0 * scale })
  }

  /// The head of a transient: a disc of the first take, a diamond of the second, a square, a
  /// triangle.
  mutating func drawHead(
    at centre: PlotPoint, of take: Int, paint: PlotDrawing.Paint, radius: Double = 5
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
      return drawing.disc(centre, radius: radius, paint, stroke: edge)
    }
    drawing.add(.path([points], fill: PlotDrawing.Fill(paint: paint), stroke: edge))
  }

  mutating func drawHandle(at place: PlotPoint) {
    drawing.disc(
      place, radius: 2.75 * scale, .role(.paper),
      stroke: .init(paint: .role(.ink), width: 1.25 * scale))
  }

  static func ramp(from: PlotPoint, to: PlotPoint) -> PlotDrawing.Paint {
    let colors = Colormap.sharpness.anchors
    let last = Double(colors.count - 1)
    return .gradient(
      colors.enumerated().map {
        PlotDrawing.Stop(share: Double($0.offset) / last, color: $0.element)
      }, from: from,
      to: to)
  }

  private mutating func draw(_ entry: PlotPanel.LegendEntry, at place: PlotPoint) {
    let middle = place.y - 4 * scale
    let sign = PlotLayout.signWidth * scale
    let texts = entry.texts
    let left = PlotPoint(place.x, middle)
    let right = PlotPoint(place.x + sign, middle)
    var text = PlotPoint(right.x + 6 * scale, place.y)
    switch entry {
    case .sharpness:
      return drawScale(texts, at: place, length: 84)
    case .decibels:
      return drawScale(texts, at: place, length: 62)
    case .intensityCurve:
      drawing.line(left, right, .ink, width: scale, opacity: 0.65)
      drawHandle(at: PlotPoint(place.x + sign / 2, middle))
    case .signal:
      let bar = PlotBox(
        left: left.x, top: middle - 4 * scale, right: right.x, bottom: middle + 4 * scale)
      drawing.bar(bar, .role(.signal), radius: 1.5 * scale)
    case .effective:
      drawing.line(left, right, .ink, width: 1.25 * scale)
    case .band:
      drawing.line(left, right, .muted, width: scale, dashes: [2 * scale, 4 * scale])
    case .window(let seconds):
      let high = middle - 3 * scale
      let low = middle + 2 * scale
      let end = place.x + max(4 * scale, layout.x(plot.span.lowerBound + seconds) - layout.left)
      let bracket = [(place.x, high), (place.x, low), (end, low), (end, high)].map(PlotPoint.init)
      drawing.stroke([bracket], .init(paint: .role(.muted), width: scale))
      text.x = end + 6 * scale
    }
    if let label = texts.first {
      write(label, at: text)
    }
  }

  private mutating func drawScale(_ texts: [String], at place: PlotPoint, length: Double) {
    let start = place.x + layout.width(of: texts[0], size: PlotLayout.labelSize) + 6 * scale
    let end = start + length * scale
    let box = PlotBox(left: start, top: place.y - 8 * scale, right: end, bottom: place.y)
    write(texts[0], at: PlotPoint(start - 6 * scale, place.y), anchor: .end)
    write(texts[1], at: PlotPoint(end + 6 * scale, place.y))
    if texts[0] == "dull" {
      return drawing.bar(
        box, Self.ramp(from: PlotPoint(start, 0), to: PlotPoint(end, 0)), radius: 4 * scale)
    }
    // Levels cover the colour of their frequency; here the ink stands for all colours.
    let levels = (0..<64).map { Self.coverage(Double($0) / 63) }
    drawing.add(
      .raster(PlotDrawing.Raster(levels: levels, columns: 64, box: box, paint: .role(.ink))))
  }

  /// How much a share of the range of levels covers, 0…255.
  static func coverage(_ share: Double) -> UInt8 {
    // A little less than even, so that weak noise does not look strong.
    UInt8((255 * 0.92 * share * share.squareRoot().squareRoot()).rounded())
  }

  /// The share of the range of levels that covers so much, 0…1.
  static func share(ofCoverage covered: Double) -> Double { pow(covered / 0.92, 0.8) }
}
