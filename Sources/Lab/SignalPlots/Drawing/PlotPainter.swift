internal import CMath

/// A painter that draws a figure as shapes and text.
///
/// This file draws the header, grid, axes and legends. Extensions draw the contents of panels.
struct PlotPainter {
  let plot: Plot
  let layout: PlotLayout
  var drawing: PlotDrawing
  /// The takes in the current panel's lane.
  private(set) var takes: [PlotTake] = []
  /// The value axis of the current panel.
  var currentPanelAxis = PlotPanel.intensityAxis
  /// The rectangle of the current panel.
  var currentPanelBox = PlotBox(left: 0, top: 0, right: 0, bottom: 0)

  /// Returns the drawing of a figure at a width in pixels.
  static func makeDrawing(of plot: Plot, width: Int) -> PlotDrawing {
    let layout = PlotLayout(plot, figureWidth: width)
    var painter = PlotPainter(
      plot: plot, layout: layout,
      drawing: PlotDrawing(
        width: layout.figureWidth, height: layout.figureHeight, title: plot.title,
        accessibleDescription: plot.accessibleDescription))
    painter.draw()
    return painter.drawing
  }

  /// Returns the drawing of one panel's contents for a grid of character cells.
  ///
  /// - Parameters:
  ///   - panel: The panel.
  ///   - plot: The figure of the panel.
  ///   - columnCount: The number of cells in a row.
  ///   - rowCount: The number of rows.
  ///   - cell: The size of a cell.
  static func makeDrawing(
    ofPanel panel: PlotPanel, in plot: Plot, columnCount: Int, rowCount: Int,
    cell: (width: Double, height: Double)
  ) -> PlotDrawing {
    let layout = PlotLayout(
      columnCount: columnCount, columnWidth: cell.width, timeRangeSeconds: plot.timeRangeSeconds)
    let drawingHeight = cell.height * Double(rowCount)
    var painter = PlotPainter(
      plot: plot, layout: layout,
      drawing: PlotDrawing(
        width: layout.figureWidth, height: drawingHeight, title: "", accessibleDescription: ""))
    painter.currentPanelAxis = panel.valueAxis
    painter.currentPanelBox = PlotBox(
      left: 0, top: 0, right: layout.figureWidth, bottom: drawingHeight)
    painter.drawContent(of: panel)
    return painter.drawing
  }

  private mutating func draw() {
    drawing.fillRectangle(
      PlotBox(left: 0, top: 0, right: layout.figureWidth, bottom: layout.figureHeight),
      paint: .role(.background))
    drawHeader()
    for (panel, panelLayout) in zip(plot.plotPanels, layout.panelLayouts) {
      currentPanelAxis = panel.valueAxis
      currentPanelBox = panelLayout.contentBox
      drawGrid(panel)
      drawContent(of: panel)
      drawAxes(panel)
      if let message = panel.emptyMessage {
        let middle = PlotPoint(
          (currentPanelBox.left + currentPanelBox.right) / 2,
          (currentPanelBox.top + currentPanelBox.bottom) / 2 - 8 * drawingScale)
        drawLabel(message, at: middle, anchor: .middle)
      }
      drawTitle(panel, layout: panelLayout)
    }
    if !plot.plotPanels.isEmpty {
      drawTimeLabels()
    }
  }

  /// Draws the labels of the time axis below the last panel.
  private mutating func drawTimeLabels() {
    let timeTicks = layout.timeTicks.axisTicks
    for (index, tick) in timeTicks.enumerated() {
      let unit = index == timeTicks.count - 1 ? " " + layout.timeTicks.labelUnit : ""
      let position = PlotPoint(
        layout.x(atTime: tick.axisValue), currentPanelBox.bottom + 18 * drawingScale)
      drawLabel(tick.labelText + unit, at: position, anchor: .middle)
    }
  }

  private mutating func drawContent(of panel: PlotPanel) {
    takes = plot.lanes[panel.laneIndex].takes
    switch panel.content {
    case .intensity:
      drawIntensity()
    case .sharpness:
      drawSharpness()
    case .audio(let take):
      drawAudio(of: take)
    case .waveform(let traces):
      drawWaveform(traces)
    case .spectrogram(let traces, let shownTakes):
      drawSpectrogram(traces, shownTakes: shownTakes, marksBand: !panel.rightTicks.isEmpty)
    }
  }

  var drawingScale: Double { layout.drawingScale }

  func y(of value: Double) -> Double {
    layout.y(of: value, on: currentPanelAxis, in: currentPanelBox)
  }

  /// Returns a horizontal line across the current panel.
  func horizontalLine(atY y: Double) -> [PlotPoint] {
    [PlotPoint(currentPanelBox.left, y), PlotPoint(currentPanelBox.right, y)]
  }

  /// Returns the pixel position of a value at a time in the current panel.
  func point(atTime seconds: Double, value: Double) -> PlotPoint {
    PlotPoint(layout.x(atTime: seconds), y(of: value))
  }

  /// Draws the header: the title or the names of takes with their symbols, and the facts.
  private mutating func drawHeader() {
    if let headerTitle = layout.title {
      drawing.drawText(
        headerTitle.text, at: headerTitle.baselinePosition,
        fontSize: PlotLayout.titleFontPixels * drawingScale,
        role: .foreground,
        isBold: true)
    }
    for (take, line) in layout.takeNames.enumerated() {
      let y = line.baselinePosition.y - 4 * drawingScale
      let symbolEnd = line.baselinePosition.x + PlotLayout.legendSymbolPixels * drawingScale
      let symbolLine = [PlotPoint(line.baselinePosition.x, y), PlotPoint(symbolEnd, y)]
      drawing.stroke([symbolLine], stroke(ofTake: take))
      let symbolCenter = PlotPoint((line.baselinePosition.x + symbolEnd) / 2, y)
      drawTransientHead(at: symbolCenter, take: take, paint: .role(.take(take)))
      let size = PlotLayout.panelTitleFontPixels * drawingScale
      let letter = PlotDrawing.TextRun(
        text: PlotPanel.letter(ofTake: take), fontSizePixels: size, role: .take(take), isBold: true)
      let name = PlotDrawing.TextRun(
        text: line.text, fontSizePixels: size, role: .foreground, leadingGapPixels: 6 * drawingScale
      )
      let textStart = PlotPoint(symbolEnd + 6 * drawingScale, line.baselinePosition.y)
      drawing.add(.text([letter, name], at: textStart, anchor: .start))
    }
    for line in layout.factLines {
      drawLabel(line.text, at: line.baselinePosition, anchor: line.textAnchor)
    }
  }

  /// Returns the ticks of the left axis that fit in the current panel's height.
  private func fittingTicks(of panel: PlotPanel) -> [AxisTick] {
    let maximumCount = max(2, Int(currentPanelBox.height / (16 * drawingScale)))
    // Every second tick is removed until the rest fits, so that the first tick stays.
    var remainingTicks = panel.leftTicks
    while remainingTicks.count > maximumCount, remainingTicks.count > 2 {
      remainingTicks = remainingTicks.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    }
    return remainingTicks
  }

  private mutating func drawGrid(_ panel: PlotPanel) {
    let gridStroke = PlotDrawing.Stroke(paint: .role(.grid), widthPixels: drawingScale)
    let timeTickXs = layout.timeTicks.axisTicks.map { layout.x(atTime: $0.axisValue) }
    drawing.stroke(
      timeTickXs.map {
        [PlotPoint($0, currentPanelBox.top), PlotPoint($0, currentPanelBox.bottom)]
      },
      gridStroke)
    guard case .intensity = panel.content else { return }
    let positiveTicks = fittingTicks(of: panel).filter { $0.axisValue > 0 }
    drawing.stroke(positiveTicks.map { horizontalLine(atY: y(of: $0.axisValue)) }, gridStroke)
  }

  private mutating func drawAxes(_ panel: PlotPanel) {
    var baselineY = currentPanelBox.bottom
    if case .waveform = panel.content {
      baselineY = y(of: 0)
    }
    drawing.stroke(
      [horizontalLine(atY: baselineY)], .init(paint: .role(.edge), widthPixels: drawingScale))
    // The bottom label must not overlap the panel below.
    func textBaselineY(_ y: Double) -> Double {
      min(y + 4 * drawingScale, currentPanelBox.bottom + drawingScale)
    }
    for tick in fittingTicks(of: panel) {
      let y = y(of: tick.axisValue)
      if case .spectrogram = panel.content {
        drawing.drawLine(
          from: PlotPoint(currentPanelBox.left - 4 * drawingScale, y),
          to: PlotPoint(currentPanelBox.left, y),
          role: .edge,
          width: drawingScale)
      }
      drawLabel(
        tick.labelText, at: PlotPoint(currentPanelBox.left - 8 * drawingScale, textBaselineY(y)),
        anchor: .end)
    }
    guard layout.showsRightTicks else { return }
    var lastLabelY = Double.infinity
    for tick in panel.rightTicks.sorted(by: { $0.axisValue < $1.axisValue })
    where (0...1).contains(currentPanelAxis.fraction(of: tick.axisValue)) {
      let y = y(of: tick.axisValue)
      guard lastLabelY - y >= 12 * drawingScale else { continue }
      lastLabelY = y
      drawLabel(
        tick.labelText, at: PlotPoint(currentPanelBox.right + 8 * drawingScale, textBaselineY(y)))
    }
  }

  /// Draws the title, the unit and the legend of a panel.
  private mutating func drawTitle(_ panel: PlotPanel, layout panelLayout: PlotLayout.Panel) {
    var titleRuns = [
      PlotDrawing.TextRun(
        text: panel.title, fontSizePixels: PlotLayout.panelTitleFontPixels * drawingScale,
        role: .foreground,
        isBold: true
      )
    ]
    if panelLayout.showsUnit, !panel.valueUnit.isEmpty {
      titleRuns.append(
        PlotDrawing.TextRun(
          text: panel.valueUnit, fontSizePixels: PlotLayout.labelFontPixels * drawingScale,
          leadingGapPixels: 7 * drawingScale))
    }
    drawing.add(.text(titleRuns, at: panelLayout.titlePosition, anchor: .start))
    for (entry, position) in zip(panel.legendEntries, panelLayout.legendPositions) {
      drawLegendEntry(entry, at: position)
    }
  }

  mutating func drawLabel(
    _ text: String, at position: PlotPoint, anchor: PlotDrawing.Anchor = .start,
    role: PlotColorRole = .muted
  ) {
    drawing.drawText(
      text, at: position, fontSize: PlotLayout.labelFontPixels * drawingScale, anchor: anchor,
      role: role)
  }

  /// Returns the stroke of a take in an overlay.
  ///
  /// The stroke is solid for the first take, and has a different dash pattern for each other take.
  func stroke(ofTake take: Int, width: Double = 2) -> PlotDrawing.Stroke {
    let dashPatterns: [[Double]] = [
      [], [6, 3], [2, 2.5], [9, 2.5, 2, 2.5], [12, 4], [4, 4], [1.5, 4], [9, 2.5, 2, 2.5, 2, 2.5],
    ]
    return PlotDrawing.Stroke(
      paint: .role(.take(take)), widthPixels: width * drawingScale,
      dashPixelLengths: dashPatterns[take % dashPatterns.count].map { $0 * drawingScale })
  }

  /// Draws the head of a transient: a disc, diamond, square or triangle, by take.
  ///
  /// - Parameters:
  ///   - center: The center of the head.
  ///   - take: The index of the take.
  ///   - paint: The color.
  ///   - radius: The radius of the head, in pixels at a drawing scale of 1.
  mutating func drawTransientHead(
    at center: PlotPoint, take: Int, paint: PlotDrawing.Paint, radius: Double = 5
  ) {
    let scaledRadius = radius * drawingScale
    let edgeStroke = PlotDrawing.Stroke(paint: .role(.background), widthPixels: 1.5 * drawingScale)
    let cornersByShape: [[(Double, Double)]] = [
      [], [(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)],
      [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
      [(0, -1.2), (1.15, 0.85), (-1.15, 0.85)],
    ]
    let shapePoints = cornersByShape[take % 4].map { x, y in
      PlotPoint(center.x + x * scaledRadius, center.y + y * scaledRadius)
    }
    if shapePoints.isEmpty {
      return drawing.drawDisc(
        center: center, radius: scaledRadius, paint: paint, stroke: edgeStroke)
    }
    drawing.add(.path([shapePoints], fill: PlotDrawing.Fill(paint: paint), stroke: edgeStroke))
  }

  mutating func drawControlPoint(at center: PlotPoint) {
    drawing.drawDisc(
      center: center, radius: 2.75 * drawingScale, paint: .role(.background),
      stroke: .init(paint: .role(.foreground), widthPixels: 1.25 * drawingScale))
  }

  /// Returns the gradient of sharpness 0…1 between two points.
  static func sharpnessGradient(from start: PlotPoint, to end: PlotPoint) -> PlotDrawing.Paint {
    let anchorColors = Colormap.sharpness.anchorColors
    let lastColorIndex = Double(anchorColors.count - 1)
    let gradientStops = anchorColors.enumerated().map { index, color in
      PlotDrawing.GradientStop(positionFraction: Double(index) / lastColorIndex, color: color)
    }
    return .gradient(gradientStops, from: start, to: end)
  }

  private mutating func drawLegendEntry(_ entry: PlotPanel.LegendEntry, at position: PlotPoint) {
    let symbolCenterY = position.y - 4 * drawingScale
    let symbolWidth = PlotLayout.legendSymbolPixels * drawingScale
    let entryLabels = entry.labels
    let symbolLeft = PlotPoint(position.x, symbolCenterY)
    let symbolRight = PlotPoint(position.x + symbolWidth, symbolCenterY)
    var labelPosition = PlotPoint(symbolRight.x + 6 * drawingScale, position.y)
    switch entry {
    case .sharpnessScale:
      return drawColorScale(labels: entryLabels, at: position, length: 84)
    case .levelScale:
      return drawColorScale(labels: entryLabels, at: position, length: 62)
    case .intensityCurve:
      drawing.drawLine(
        from: symbolLeft, to: symbolRight, role: .foreground, width: drawingScale, opacity: 0.65)
      drawControlPoint(at: PlotPoint(position.x + symbolWidth / 2, symbolCenterY))
    case .samplePeak:
      let bar = PlotBox(
        left: symbolLeft.x, top: symbolCenterY - 4 * drawingScale, right: symbolRight.x,
        bottom: symbolCenterY + 4 * drawingScale)
      drawing.fillRectangle(bar, paint: .role(.signal), radius: 1.5 * drawingScale)
    case .rmsLevel:
      drawing.drawLine(
        from: symbolLeft, to: symbolRight, role: .foreground, width: 1.25 * drawingScale)
    case .profileBand:
      drawing.drawLine(
        from: symbolLeft, to: symbolRight, role: .muted, width: drawingScale,
        dashes: [2 * drawingScale, 4 * drawingScale])
    case .analysisWindow(let seconds):
      let top = symbolCenterY - 3 * drawingScale
      let bottom = symbolCenterY + 2 * drawingScale
      let windowWidth =
        layout.x(atTime: plot.timeRangeSeconds.lowerBound + seconds) - layout.panelLeft
      let end = position.x + max(4 * drawingScale, windowWidth)
      let bracket = [
        PlotPoint(position.x, top), PlotPoint(position.x, bottom),
        PlotPoint(end, bottom), PlotPoint(end, top),
      ]
      drawing.stroke([bracket], .init(paint: .role(.muted), widthPixels: drawingScale))
      labelPosition.x = end + 6 * drawingScale
    }
    if let firstLabel = entryLabels.first {
      drawLabel(firstLabel, at: labelPosition)
    }
  }

  /// Draws the color scale of sharpness or of levels between two labels.
  private mutating func drawColorScale(
    labels: [String], at position: PlotPoint, length: Double
  ) {
    let firstLabelWidth = layout.width(of: labels[0], fontSize: PlotLayout.labelFontPixels)
    let scaleStartX = position.x + firstLabelWidth + 6 * drawingScale
    let scaleEndX = scaleStartX + length * drawingScale
    let scaleBox = PlotBox(
      left: scaleStartX, top: position.y - 8 * drawingScale, right: scaleEndX, bottom: position.y)
    drawLabel(labels[0], at: PlotPoint(scaleStartX - 6 * drawingScale, position.y), anchor: .end)
    drawLabel(labels[1], at: PlotPoint(scaleEndX + 6 * drawingScale, position.y))
    if labels[0] == "dull" {
      return drawing.fillRectangle(
        scaleBox,
        paint: Self.sharpnessGradient(from: PlotPoint(scaleStartX, 0), to: PlotPoint(scaleEndX, 0)),
        radius: 4 * drawingScale)
    }
    // A spectrogram has a color for each frequency. The scale shows levels in the color of text.
    let levelCoverages = (0..<64).map { Self.coverage(ofLevel: Double($0) / 63) }
    let scaleRaster = PlotDrawing.Raster(
      cellOpacities: levelCoverages, columnCount: 64, filledBox: scaleBox, paint: .role(.foreground)
    )
    drawing.add(.raster(scaleRaster))
  }

  /// Returns the opacity 0…255 of a spectrogram cell with a normalized level 0…1.
  ///
  /// The opacity is 255 · 0.92 · level^1.25.
  static func coverage(ofLevel level: Double) -> UInt8 {
    // The exponent above 1 keeps weak noise pale.
    UInt8((255 * 0.92 * level * level.squareRoot().squareRoot()).rounded())
  }

  /// Returns the normalized level for an opacity 0…1, the inverse of `coverage(ofLevel:)`.
  static func level(ofCoverage coverage: Double) -> Double { pow(coverage / 0.92, 0.8) }
}
