internal import CMath

/// The frame of a figure with one panel: title, subtitle, grid, axes, and legend.
///
/// In a narrow figure, the subtitle and the legend have lines of their own.
struct PanelFrame {
  /// The texts and axes of a figure with one panel.
  struct PanelContents {
    var title: String
    /// The subtitle: a smaller text next to or below the title.
    var subtitle: String
    /// A sentence that describes the figure, for screen readers.
    var summary: String
    var horizontalAxis: PlotAxis
    /// The unit of the horizontal axis, which follows its last label.
    var horizontalUnit: String
    var verticalAxis: PlotAxis
    /// The title of the vertical axis.
    var verticalTitle: String
    var verticalUnit: String
    /// The minimum distance between horizontal ticks, in pixels at a drawing scale of 1.
    var horizontalTickSpacing = 40.0
  }

  /// An entry of the legend: a symbol with its name.
  struct LegendEntry {
    /// The shape of a legend symbol.
    enum Symbol {
      case line(PlotDrawing.Stroke)
      case area
      case disc(PlotColorRole)
    }

    let name: String
    let symbol: Symbol
  }

  /// The size of text and lines, relative to a figure that is 900 pixels wide.
  let figureScale: Double
  /// The rectangle of the panel's plot area.
  let box: PlotBox
  var drawing: PlotDrawing
  private let contents: PanelContents
  private let legendLineCount: Double

  /// Draws the background, the title, and the subtitle of the figure.
  ///
  /// - Parameters:
  ///   - contents: The texts and axes.
  ///   - width: The width, in pixels.
  ///   - legendNames: All names for which the legend needs room.
  init(_ contents: PanelContents, width: Double, legendNames: [String]) {
    self.contents = contents
    figureScale = PlotLayout.drawingScale(forWidth: width)
    let boxLeft = (58 * figureScale).rounded()
    let boxRight = (width - 30 * figureScale).rounded()
    let entryNames = ["\(contents.verticalTitle) \(contents.verticalUnit)"] + legendNames
    let legendWidth = entryNames.reduce(0) { $0 + Self.entryWidth($1) }
    legendLineCount = max(1, (legendWidth * figureScale / (boxRight - boxLeft)).rounded(.up))
    let titleWidth = TextWidth.inEms(contents.title) * PlotLayout.titleFontPixels * 1.08
    let subtitleWidth = TextWidth.inEms(contents.subtitle) * PlotLayout.labelFontPixels
    let isSubtitleBesideTitle = (titleWidth + subtitleWidth + 20) * figureScale < boxRight - boxLeft
    let subtitleHeight: Double = isSubtitleBesideTitle ? 0 : 18
    let legendHeight: Double = legendLineCount > 1 ? 18 * legendLineCount : 0
    let boxTop = (60 + subtitleHeight + legendHeight + 18) * figureScale
    box = PlotBox(
      left: boxLeft, top: boxTop.rounded(), right: boxRight,
      bottom: (boxTop + 250 * figureScale).rounded())
    drawing = PlotDrawing(
      width: width, height: (box.bottom + 40 * figureScale).rounded(), title: contents.title,
      accessibleDescription: contents.summary)
    drawing.fillRectangle(
      PlotBox(left: 0, top: 0, right: drawing.width, bottom: drawing.height),
      paint: .role(.background))
    drawing.drawText(
      contents.title, at: PlotPoint(box.left, 32 * figureScale),
      fontSize: PlotLayout.titleFontPixels * figureScale, role: .foreground, isBold: true)
    if isSubtitleBesideTitle {
      drawLabel(contents.subtitle, at: PlotPoint(box.right, 32 * figureScale), anchor: .end)
    } else {
      drawLabel(contents.subtitle, at: PlotPoint(box.left, 50 * figureScale))
    }
  }

  /// Returns the pixel position of a point from its values on the two axes.
  func point(_ horizontal: Double, _ vertical: Double) -> PlotPoint {
    PlotPoint(
      box.left + box.width * contents.horizontalAxis.fraction(of: horizontal),
      box.bottom - box.height * contents.verticalAxis.fraction(of: vertical))
  }

  /// Returns a stroke with a width and dashes in pixels at a drawing scale of 1.
  func stroke(_ role: PlotColorRole, width: Double, dashes: [Double] = []) -> PlotDrawing.Stroke {
    PlotDrawing.Stroke(
      paint: .role(role), widthPixels: width * figureScale,
      dashPixelLengths: dashes.map { $0 * figureScale })
  }

  /// Marks a range of the horizontal axis with a colored band.
  mutating func fillBand(_ band: ClosedRange<Double>) {
    let lowestValue = contents.verticalAxis.valueRange.lowerBound
    let bandLeft = max(box.left, point(band.lowerBound, lowestValue).x)
    let bandRight = min(box.right, point(band.upperBound, lowestValue).x)
    drawing.fillRectangle(
      PlotBox(left: bandLeft, top: box.top, right: max(bandLeft, bandRight), bottom: box.bottom),
      paint: .role(.sharedArea), opacity: 0.4)
  }

  mutating func drawGrid() {
    let leftmostValue = contents.horizontalAxis.valueRange.lowerBound
    for tick in contents.verticalAxis.ticks(atMost: 8) {
      let y = point(leftmostValue, tick.axisValue).y
      drawing.drawLine(
        from: PlotPoint(box.left, y), to: PlotPoint(box.right, y), role: .grid, width: figureScale)
      drawLabel(
        tick.labelText,
        at: PlotPoint(
          box.left - 8 * figureScale, min(y + 4 * figureScale, box.bottom + figureScale)),
        anchor: .end)
    }
    let lowestValue = contents.verticalAxis.valueRange.lowerBound
    let tickCount = Int(box.width / (contents.horizontalTickSpacing * figureScale))
    let horizontalTicks = contents.horizontalAxis.ticks(atMost: max(3, tickCount))
    for (index, tick) in horizontalTicks.enumerated() {
      let x = point(tick.axisValue, lowestValue).x
      drawing.drawLine(
        from: PlotPoint(x, box.top), to: PlotPoint(x, box.bottom), role: .grid, width: figureScale)
      let unit = index == horizontalTicks.count - 1 ? " \(contents.horizontalUnit)" : ""
      drawLabel(
        tick.labelText + unit, at: PlotPoint(x, box.bottom + 18 * figureScale), anchor: .middle)
    }
  }

  /// Draws the horizontal axis.
  mutating func drawBaseline() {
    drawing.drawLine(
      from: PlotPoint(box.left, box.bottom), to: PlotPoint(box.right, box.bottom), role: .edge,
      width: figureScale)
  }

  /// Draws the title of the vertical axis and the legend.
  ///
  /// The legend is at the right or on separate lines.
  mutating func drawLegend(_ entries: [LegendEntry]) {
    let titleRun = PlotDrawing.TextRun(
      text: contents.verticalTitle, fontSizePixels: PlotLayout.panelTitleFontPixels * figureScale,
      role: .foreground, isBold: true)
    let unitRun = PlotDrawing.TextRun(
      text: contents.verticalUnit, fontSizePixels: PlotLayout.labelFontPixels * figureScale,
      leadingGapPixels: 7 * figureScale)
    drawing.add(
      .text(
        [titleRun, unitRun], at: PlotPoint(box.left, box.top - 10 * figureScale), anchor: .start))
    let entriesWidth = entries.reduce(0) { $0 + Self.entryWidth($1.name) } * figureScale
    var entryPosition = PlotPoint(box.right - entriesWidth, box.top - 10 * figureScale)
    if legendLineCount > 1 {
      entryPosition = PlotPoint(box.left, box.top - (10 + 18 * legendLineCount) * figureScale)
    }
    for entry in entries {
      let width = Self.entryWidth(entry.name) * figureScale
      if legendLineCount > 1, entryPosition.x > box.left, entryPosition.x + width > box.right {
        entryPosition = PlotPoint(box.left, entryPosition.y + 18 * figureScale)
      }
      let end = entryPosition.x + PlotLayout.legendSymbolPixels * figureScale
      drawLegendSymbol(entry.symbol, from: entryPosition, to: end)
      drawLabel(entry.name, at: PlotPoint(end + 6 * figureScale, entryPosition.y))
      entryPosition.x += width
    }
  }

  private mutating func drawLegendSymbol(
    _ symbol: LegendEntry.Symbol, from position: PlotPoint, to end: Double
  ) {
    let symbolCenterY = position.y - 4 * figureScale
    switch symbol {
    case .line(let stroke):
      drawing.stroke(
        [[PlotPoint(position.x, symbolCenterY), PlotPoint(end, symbolCenterY)]], stroke)
    case .area:
      let area = PlotBox(
        left: position.x, top: position.y - 8 * figureScale, right: end, bottom: position.y)
      drawing.fillRectangle(
        area, paint: .role(.sharedArea), radius: 1.5 * figureScale, opacity: 0.6)
    case .disc(let role):
      drawing.drawDisc(
        center: PlotPoint((position.x + end) / 2, symbolCenterY), radius: 4 * figureScale,
        paint: .role(role))
    }
  }

  /// Returns the width of a legend entry, in pixels at a drawing scale of 1.
  private static func entryWidth(_ name: String) -> Double {
    TextWidth.inEms(name) * PlotLayout.labelFontPixels + PlotLayout.legendSymbolPixels + 22
  }

  mutating func drawLabel(
    _ text: String, at position: PlotPoint, anchor: PlotDrawing.Anchor = .start
  ) {
    drawing.drawText(
      text, at: position, fontSize: PlotLayout.labelFontPixels * figureScale, anchor: anchor)
  }
}
