/// Draws a figure as shapes and texts: head, axes and legends here, each kind of panel in a file of its own.
struct FigureDrawing {
  /// The figure.
  let plot: Plot
  /// Where everything is.
  let layout: PlotLayout
  /// What is drawn.
  var drawing: PlotDrawing

  /// How much larger everything is than at a width of 900 pixels.
  var scale: Double { layout.scale }
  /// What only one take has covers so much of what is behind it.
  static let excessOpacity = 0.34

  /// The picture of a figure.
  static func draw(_ plot: Plot, width: Int) -> PlotDrawing {
    let layout = PlotLayout(plot, width: width)
    var figure = FigureDrawing(
      plot: plot, layout: layout,
      drawing: PlotDrawing(width: layout.width, height: layout.height, title: plot.title, summary: plot.summary))
    figure.draw()
    return figure.drawing
  }

  private mutating func draw() {
    let paper = PlotBox(left: 0, top: 0, right: layout.width, bottom: layout.height)
    drawing.add(.bar(paper, radius: 0, fill: PlotDrawing.Fill(paint: .role(.paper))))
    drawHead()
    for (panel, place) in zip(plot.panels, layout.panels) {
      let box = place.box
      drawGrid(panel, in: box)
      switch panel.content {
      case .strength: drawStrength(panel, in: box)
      case .tone: drawTone(panel, in: box)
      case .audio(let take): drawAudio(of: take, panel, in: box)
      case .waveform(let traces): drawWaveform(traces, panel, in: box)
      case .spectrogram(let traces, let shown): drawSpectrogram(traces, shown: shown, panel, in: box)
      }
      drawAxes(panel, in: box)
      if let remark = panel.remark {
        write(
          remark, at: PlotPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2 - 8 * scale), anchor: .middle)
      }
      drawTitle(panel, at: place)
    }
    drawTimes()
  }

  // MARK: Head

  private mutating func drawHead() {
    if let title = layout.title {
      drawing.write(title.text, at: title.place, size: PlotLayout.titleSize * scale, role: .ink, isBold: true)
    }
    for take in layout.takes {
      let y = take.place.y - 4 * scale
      let end = take.place.x + PlotLayout.signWidth * scale
      drawing.stroke([[PlotPoint(take.place.x, y), PlotPoint(end, y)]], stroke(of: take.index))
      drawHead(at: PlotPoint((take.place.x + end) / 2, y), of: take.index, paint: .role(.take(take.index)))
      drawing.add(
        .text(
          [
            PlotDrawing.Run(
              text: PlotPanel.letter(take.index), size: PlotLayout.panelSize * scale, role: .take(take.index),
              isBold: true),
            PlotDrawing.Run(text: take.text, size: PlotLayout.panelSize * scale, role: .ink, gap: 6 * scale),
          ], at: PlotPoint(end + 6 * scale, take.place.y), anchor: .start))
    }
    for line in layout.facts { write(line.text, at: line.place, anchor: line.anchor) }
  }

  // MARK: Axes

  /// The left axis's labels, as many as its height takes.
  func ticks(of panel: PlotPanel, in box: PlotBox) -> [AxisTick] {
    let most = max(2, Int(box.height / (16 * scale)))
    // Every second one is left out until they fit, so that the outer ones stay.
    var kept = panel.ticks
    while kept.count > most, kept.count > 2 { kept = kept.enumerated().filter { $0.offset % 2 == 0 }.map(\.element) }
    return kept
  }

  private mutating func drawGrid(_ panel: PlotPanel, in box: PlotBox) {
    let uprights = layout.time.ticks.map { tick in
      let x = layout.x(tick.value)
      return [PlotPoint(x, box.top), PlotPoint(x, box.bottom)]
    }
    drawing.stroke(uprights, PlotDrawing.Stroke(paint: .role(.grid), width: scale))
    guard case .strength = panel.content else { return }
    let levels = ticks(of: panel, in: box).filter { $0.value > 0 }.map { tick in
      let y = layout.y(tick.value, on: panel.axis, in: box)
      return [PlotPoint(box.left, y), PlotPoint(box.right, y)]
    }
    drawing.stroke(levels, PlotDrawing.Stroke(paint: .role(.grid), width: scale))
  }

  private mutating func drawAxes(_ panel: PlotPanel, in box: PlotBox) {
    var ground = box.bottom
    if case .waveform = panel.content { ground = layout.y(0, on: panel.axis, in: box) }
    drawing.line(PlotPoint(box.left, ground), PlotPoint(box.right, ground), .edge, width: scale)
    for tick in ticks(of: panel, in: box) {
      let y = layout.y(tick.value, on: panel.axis, in: box)
      if case .spectrogram = panel.content {
        drawing.line(PlotPoint(box.left - 4 * scale, y), PlotPoint(box.left, y), .edge, width: scale)
      }
      // The lowest label stays clear of the panel below.
      let lowest = min(y + 4 * scale, box.bottom + 1 * scale)
      write(tick.label, at: PlotPoint(box.left - 8 * scale, lowest), anchor: .end)
    }
    guard layout.showsRightTicks else { return }
    var lastY = Double.infinity
    for tick in panel.rightTicks.sorted(by: { $0.value < $1.value })
    where (0...1).contains(panel.axis.share(of: tick.value)) {
      let y = layout.y(tick.value, on: panel.axis, in: box)
      guard lastY - y >= 12 * scale else { continue }
      lastY = y
      write(tick.label, at: PlotPoint(box.right + 8 * scale, min(y + 4 * scale, box.bottom + scale)))
    }
  }

  private mutating func drawTimes() {
    guard let box = layout.panels.last?.box else { return }
    for (index, tick) in layout.time.ticks.enumerated() {
      let isLast = index == layout.time.ticks.count - 1
      write(
        tick.label + (isLast ? " " + layout.time.unit : ""),
        at: PlotPoint(layout.x(tick.value), box.bottom + 18 * scale), anchor: .middle)
    }
  }

  private mutating func drawTitle(_ panel: PlotPanel, at place: PlotLayout.Panel) {
    var runs = [PlotDrawing.Run(text: panel.title, size: PlotLayout.panelSize * scale, role: .ink, isBold: true)]
    if place.showsUnit, !panel.unit.isEmpty {
      runs.append(PlotDrawing.Run(text: panel.unit, size: PlotLayout.labelSize * scale, gap: 7 * scale))
    }
    drawing.add(.text(runs, at: place.title, anchor: .start))
    for (entry, place) in zip(panel.legend, place.legend) { draw(entry, at: place) }
  }

  // MARK: Signs

  /// Writes a label.
  mutating func write(_ text: String, at place: PlotPoint, anchor: PlotDrawing.Anchor = .start, role: PlotRole = .muted)
  { drawing.write(text, at: place, size: PlotLayout.labelSize * scale, anchor: anchor, role: role) }

  /// The line of a take of an overlay: the first is whole, others are dashed each in its way.
  func stroke(of take: Int, width: Double = 2) -> PlotDrawing.Stroke {
    let patterns: [[Double]] = [
      [], [6, 3], [2, 2.5], [9, 2.5, 2, 2.5], [12, 4], [4, 4], [1.5, 4], [9, 2.5, 2, 2.5, 2, 2.5],
    ]
    return PlotDrawing.Stroke(
      paint: .role(.take(take)), width: width * scale, dashes: patterns[take % patterns.count].map { $0 * scale })
  }

  /// The head of a transient: a disc of the first take, a diamond of the second, a square, a triangle.
  mutating func drawHead(at centre: PlotPoint, of take: Int, paint: PlotDrawing.Paint, radius: Double = 5) {
    let radius = radius * scale
    let edge = PlotDrawing.Stroke(paint: .role(.paper), width: 1.5 * scale)
    let corners: [(Double, Double)]
    switch take % 4 {
    case 1: corners = [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)]
    case 2: corners = [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]
    case 3: corners = [(0, -1.2), (1.15, 0.85), (-1.15, 0.85)]
    default:
      drawing.add(.disc(centre, radius: radius, fill: PlotDrawing.Fill(paint: paint), stroke: edge))
      return
    }
    let points = corners.map { PlotPoint(centre.x + $0.0 * radius, centre.y + $0.1 * radius) }
    drawing.add(.path([points], fill: PlotDrawing.Fill(paint: paint), stroke: edge))
  }

  /// A point that a curve was given.
  mutating func drawHandle(at place: PlotPoint) {
    drawing.add(
      .disc(
        place, radius: 2.75 * scale, fill: PlotDrawing.Fill(paint: .role(.paper)),
        stroke: PlotDrawing.Stroke(paint: .role(.ink), width: 1.25 * scale)))
  }

  /// The colours of sharpness between two places.
  static func ramp(from: PlotPoint, to: PlotPoint) -> PlotDrawing.Paint {
    let colors = Colormap.sharpness.anchors
    return .gradient(
      colors.enumerated().map {
        PlotDrawing.Stop(share: Double($0.offset) / Double(colors.count - 1), color: $0.element)
      }, from: from, to: to)
  }
}
