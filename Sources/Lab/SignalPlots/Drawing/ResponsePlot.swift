internal import CMath

/// A figure of a measured frequency response with what was fitted to it, and what the fit leaves
/// over.
///
/// Levels go up in decibels, frequencies to the right by equal factors. What is below the lowest
/// level that is shown is neither drawn nor in the legend.
public struct ResponsePlot: Equatable, Sendable {
  /// The levels at a frequency, in decibels.
  public struct Point: Equatable, Sendable {
    /// Frequency in hertz.
    public var hertz: Double
    /// What was measured.
    public var measured: Double
    /// What was fitted.
    public var fitted: Double
    /// What is left of the measured, phase and all, when the fitted is taken away.
    public var residual: Double

    /// Makes a point.
    public init(hertz: Double, measured: Double, fitted: Double, residual: Double) {
      self.hertz = hertz
      self.measured = measured
      self.fitted = fitted
      self.residual = residual
    }
  }

  /// The title.
  public var title: String
  /// The smaller text below the title.
  public var subtitle: String
  /// The points by rising frequency; those that are not finite are left out.
  public let points: [Point]
  /// A band to mark, in hertz.
  public var band: ClosedRange<Double>?

  /// Decibels from the lowest level that is shown to the highest.
  static let dynamicRange = 60.0

  /// Makes a figure.
  public init(title: String, subtitle: String, points: [Point], band: ClosedRange<Double>? = nil) {
    self.title = title
    self.subtitle = subtitle
    self.points = points.filter {
      $0.hertz > 0 && $0.hertz.isFinite && $0.measured.isFinite && $0.fitted.isFinite
        && $0.residual.isFinite
    }
    self.band = band
  }

  /// The frequencies that are shown: between one, two or five times a power of ten, so that both
  /// ends have labels.
  var frequencyAxis: PlotAxis {
    let round = (-1...5).flatMap { decade in [1.0, 2, 5].map { $0 * pow(10, Double(decade)) } }
    let first = points.first?.hertz ?? 10
    let last = points.last?.hertz ?? 1_000
    // Half a percent beyond is not seen.
    let low = round.last { $0 <= first * 1.005 } ?? first
    let high = round.first { $0 >= last * 0.995 } ?? last
    return PlotAxis(range: low...max(2 * low, high), isLogarithmic: true)
  }

  /// The levels that are shown: from the ten above the greatest down.
  var levelAxis: PlotAxis {
    let most = points.reduce(-300) { max($0, $1.measured, $1.fitted) }
    let top = most > -300 ? (most / 10).rounded(.up) * 10 : 0
    return PlotAxis(range: (top - Self.dynamicRange)...top)
  }

  /// Draws the figure: the bytes of a file, as `Plot.draw(as:width:theme:)` does.
  public func draw(as format: PlotFormat, width: Int = 860, theme: PlotTheme? = nil)
    throws(PlotError) -> [UInt8]
  {
    try drawing(width: width).bytes(as: format, theme: theme)
  }

  func drawing(width: Int) -> PlotDrawing {
    ResponsePlotPainter(
      plot: self,
      width: Double(min(max(width, Plot.allowedWidths.lowerBound), Plot.allowedWidths.upperBound))
    ).drawing
  }
}

private struct ResponsePlotPainter {
  private let plot: ResponsePlot
  private let scale: Double
  private let box: PlotBox
  private let legendLineCount: Double
  private let isSubtitleBesideTitle: Bool
  private(set) var drawing: PlotDrawing

  init(plot: ResponsePlot, width: Double) {
    self.plot = plot
    // Wider pictures are looked at from farther away, or made smaller.
    scale = max(1, pow(width / 900, 0.6))
    let left = (58 * scale).rounded()
    let right = (width - 30 * scale).rounded()
    // The unit, the legend and, in a narrow picture, the subtitle have lines of their own.
    let names = ["Level dB", "residual", "measured", "fitted"] + [Self.bandName(plot)]
    let total = names.reduce(0) { $0 + Self.entryWidth($1) }
    legendLineCount = max(1, (total * scale / (right - left)).rounded(.up))
    let needed =
      TextWidth.inEms(plot.title) * PlotLayout.titleFontSize * 1.08 + TextWidth.inEms(plot.subtitle)
      * PlotLayout.labelFontSize + 20
    isSubtitleBesideTitle = needed * scale < right - left
    let top =
      (60 + (isSubtitleBesideTitle ? 0 : 18) + (legendLineCount > 1 ? 18 * legendLineCount : 0) + 18)
      * scale
    box = PlotBox(
      left: left, top: top.rounded(), right: right, bottom: (top + 250 * scale).rounded())
    drawing = PlotDrawing(
      width: width, height: (box.bottom + 40 * scale).rounded(), title: plot.title,
      summary: "Frequency response of \(plot.title): \(plot.subtitle).")
    draw()
  }

  private mutating func draw() {
    drawing.fillRectangle(
      PlotBox(left: 0, top: 0, right: drawing.width, bottom: drawing.height), paint: .role(.paper))
    drawing.drawText(
      plot.title, at: PlotPoint(box.left, 32 * scale), fontSize: PlotLayout.titleFontSize * scale,
      role: .ink, isBold: true)
    drawLabel(
      plot.subtitle,
      at: PlotPoint(
        isSubtitleBesideTitle ? box.right : box.left, (isSubtitleBesideTitle ? 32 : 50) * scale),
      anchor: isSubtitleBesideTitle ? .end : .start)
    if let band = plot.band {
      let left = max(box.left, point(frequency: band.lowerBound, level: 0).x)
      let right = min(box.right, point(frequency: band.upperBound, level: 0).x)
      drawing.fillRectangle(
        PlotBox(left: left, top: box.top, right: max(left, right), bottom: box.bottom),
        paint: .role(.sharedArea), opacity: 0.4)
    }
    drawGrid()
    // Curves of which nothing is above the lowest level that is shown are left out.
    let curves:
      [(String, (ResponsePlot.Point) -> Double, PlotRole, width: Double, dashes: [Double])] = [
        ("residual", \.residual, .muted, 1.25, [2, 3]), ("measured", \.measured, .take(0), 2, []),
        ("fitted", \.fitted, .take(1), 2, [6, 3]),
      ]
    var legend: [(name: String, stroke: PlotDrawing.Stroke)] = []
    for (name, level, role, width, dashes) in curves {
      let lines = lines(of: level)
      if lines.isEmpty { continue }
      let stroke = PlotDrawing.Stroke(
        paint: .role(role), width: width * scale, dashes: dashes.map { $0 * scale })
      legend.append((name, stroke))
      drawing.stroke(lines, stroke)
    }
    drawing.drawLine(
      from: PlotPoint(box.left, box.bottom), to: PlotPoint(box.right, box.bottom), role: .edge,
      width: scale)
    drawLegend(legend)
  }

  private func point(frequency hertz: Double, level: Double) -> PlotPoint {
    PlotPoint(
      box.left + box.width * plot.frequencyAxis.fraction(of: hertz),
      box.bottom - box.height * plot.levelAxis.fraction(of: level))
  }

  private func lines(of level: (ResponsePlot.Point) -> Double) -> [[PlotPoint]] {
    var lines: [[PlotPoint]] = []
    var last: PlotPoint?
    for point in plot.points {
      let here = self.point(frequency: point.hertz, level: level(point))
      if let last, (last.y > box.bottom) != (here.y > box.bottom) {
        let share = (box.bottom - last.y) / (here.y - last.y)
        let edge = PlotPoint(last.x + (here.x - last.x) * share, box.bottom)
        if last.y > box.bottom {
          lines.append([edge])
        } else {
          lines[lines.count - 1].append(edge)
        }
      } else if last == nil, here.y <= box.bottom {
        lines.append([])
      }
      if here.y <= box.bottom {
        lines[lines.count - 1].append(here)
      }
      last = here
    }
    return lines.filter { $0.count > 1 }
  }

  private mutating func drawGrid() {
    for tick in plot.levelAxis.ticks(atMost: 8) {
      let y = point(frequency: plot.frequencyAxis.range.lowerBound, level: tick.value).y
      drawing.drawLine(
        from: PlotPoint(box.left, y), to: PlotPoint(box.right, y), role: .grid, width: scale)
      drawLabel(
        tick.label, at: PlotPoint(box.left - 8 * scale, min(y + 4 * scale, box.bottom + scale)),
        anchor: .end)
    }
    let ticks = plot.frequencyAxis.ticks(atMost: max(3, Int(box.width / (40 * scale))))
    for (index, tick) in ticks.enumerated() {
      let x = point(frequency: tick.value, level: 0).x
      drawing.drawLine(
        from: PlotPoint(x, box.top), to: PlotPoint(x, box.bottom), role: .grid, width: scale)
      let unit = index == ticks.count - 1 ? " Hz" : ""
      drawLabel(tick.label + unit, at: PlotPoint(x, box.bottom + 18 * scale), anchor: .middle)
    }
  }

  private mutating func drawLegend(_ curves: [(name: String, stroke: PlotDrawing.Stroke)]) {
    let title = PlotDrawing.TextRun(
      text: "Level", fontSize: PlotLayout.panelTitleFontSize * scale, role: .ink, isBold: true)
    let unit = PlotDrawing.TextRun(
      text: "dB", fontSize: PlotLayout.labelFontSize * scale, leadingGap: 7 * scale)
    drawing.add(
      .text([title, unit], at: PlotPoint(box.left, box.top - 10 * scale), anchor: .start))
    let band = Self.bandName(plot)
    let names = curves.map(\.name) + (band.isEmpty ? [] : [band])
    let total = names.reduce(0) { $0 + Self.entryWidth($1) } * scale
    var place = PlotPoint(box.right - total, box.top - 10 * scale)
    if legendLineCount > 1 {
      place = PlotPoint(box.left, box.top - (10 + 18 * legendLineCount) * scale)
    }
    for (index, name) in names.enumerated() {
      let width = Self.entryWidth(name) * scale
      if legendLineCount > 1, place.x > box.left, place.x + width > box.right {
        place = PlotPoint(box.left, place.y + 18 * scale)
      }
      let end = place.x + PlotLayout.legendSymbolWidth * scale
      if index < curves.count {
        let y = place.y - 4 * scale
        drawing.stroke([[PlotPoint(place.x, y), PlotPoint(end, y)]], curves[index].stroke)
      } else {
        let sign = PlotBox(left: place.x, top: place.y - 8 * scale, right: end, bottom: place.y)
        drawing.fillRectangle(sign, paint: .role(.sharedArea), radius: 1.5 * scale, opacity: 0.6)
      }
      drawLabel(name, at: PlotPoint(end + 6 * scale, place.y))
      place.x += width
    }
  }

  private static func entryWidth(_ name: String) -> Double {
    TextWidth.inEms(name) * PlotLayout.labelFontSize + PlotLayout.legendSymbolWidth + 22
  }

  private static func bandName(_ plot: ResponsePlot) -> String {
    guard let band = plot.band else { return "" }
    return "band \(AxisTick.shortText(band.lowerBound, decimalPlaces: 0))–"
      + "\(AxisTick.shortText(band.upperBound, decimalPlaces: 0)) Hz"
  }

  private mutating func drawLabel(
    _ text: String, at place: PlotPoint, anchor: PlotDrawing.Anchor = .start
  ) {
    drawing.drawText(text, at: place, fontSize: PlotLayout.labelFontSize * scale, anchor: anchor)
  }
}
