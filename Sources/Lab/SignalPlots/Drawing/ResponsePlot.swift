internal import CMath

/// A figure of a measured frequency response, the fitted response, and the residual.
///
/// The level axis is in decibels, and the frequency axis is logarithmic. Parts below the level axis
/// are not drawn, and a curve that is entirely below it has no legend entry.
public struct ResponsePlot: Equatable, Sendable {
  /// The levels at one frequency, in decibels.
  public struct Point: Equatable, Sendable {
    /// The frequency, in hertz.
    public var hertz: Double
    /// The level of the measured response.
    public var measuredDecibels: Double
    /// The level of the fitted response.
    public var fittedDecibels: Double
    /// The level of the complex difference between the measured and the fitted response.
    public var residualDecibels: Double

    /// Creates a point from a frequency in hertz and three levels in decibels.
    public init(hertz: Double, measured: Double, fitted: Double, residual: Double) {
      self.hertz = hertz
      self.measuredDecibels = measured
      self.fittedDecibels = fitted
      self.residualDecibels = residual
    }
  }

  /// The title.
  public var title: String
  /// The smaller text next to or below the title.
  public var subtitle: String
  /// The finite points by ascending frequency.
  public let points: [Point]
  /// A frequency band to mark, in hertz.
  public var band: ClosedRange<Double>?

  /// The range of the level axis, in decibels.
  static let dynamicRangeDecibels = 60.0

  /// Creates a figure.
  ///
  /// - Parameters:
  ///   - title: The title.
  ///   - subtitle: The smaller text next to or below the title.
  ///   - points: The points by ascending frequency. Those that are not finite are ignored.
  ///   - band: A frequency band to mark, in hertz.
  public init(title: String, subtitle: String, points: [Point], band: ClosedRange<Double>? = nil) {
    self.title = title
    self.subtitle = subtitle
    self.points = points.filter {
      $0.hertz > 0 && $0.hertz.isFinite && $0.measuredDecibels.isFinite
        && $0.fittedDecibels.isFinite
        && $0.residualDecibels.isFinite
    }
    self.band = band
  }

  /// The frequency axis. Its ends are 1, 2 or 5 times a power of ten, so that both have labels.
  var frequencyAxis: PlotAxis {
    let decades = (-1...5).map { pow(10, Double($0)) }
    let roundValues = decades.flatMap { decade in [1.0, 2, 5].map { $0 * decade } }
    let first = points.first?.hertz ?? 10
    let last = points.last?.hertz ?? 1_000
    // Half a percent outside the axis is invisible.
    let minimum = roundValues.last { $0 <= first * 1.005 } ?? first
    let maximum = roundValues.first { $0 >= last * 0.995 } ?? last
    return PlotAxis(range: minimum...max(2 * minimum, maximum), isLogarithmic: true)
  }

  /// The level axis, from the multiple of 10 dB above the maximum downward.
  var levelAxis: PlotAxis {
    let maximum = points.reduce(-300) { max($0, $1.measuredDecibels, $1.fittedDecibels) }
    let top = maximum > -300 ? (maximum / 10).rounded(.up) * 10 : 0
    return PlotAxis(range: (top - Self.dynamicRangeDecibels)...top)
  }

  /// Draws the figure and returns the bytes of a file, like `Plot.draw(as:width:theme:)`.
  ///
  /// - Parameters:
  ///   - format: The file format.
  ///   - width: The width in pixels, or in points for PDF, clamped to `Plot.allowedWidths`.
  ///   - theme: The colors. With nil, an SVG follows the page that shows it, and other files are
  ///     light.
  /// - Throws: `PlotError` if Cairo is missing or cannot draw the figure.
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

/// Lays out and draws a response plot.
private struct ResponsePlotPainter {
  /// A curve of the plot.
  private struct Curve {
    let name: String
    let level: (ResponsePlot.Point) -> Double
    let role: PlotRole
    /// The width of the line, in pixels at a scale of 1.
    let width: Double
    var dashes: [Double] = []
  }

  /// The curves from back to front.
  private static var curves: [Curve] {
    [
      Curve(
        name: "residual", level: \.residualDecibels, role: .muted, width: 1.25, dashes: [2, 3]),
      Curve(name: "measured", level: \.measuredDecibels, role: .take(0), width: 2),
      Curve(name: "fitted", level: \.fittedDecibels, role: .take(1), width: 2, dashes: [6, 3]),
    ]
  }

  private let plot: ResponsePlot
  /// The size of text and lines, relative to a figure that is 900 pixels wide.
  private let scale: Double
  /// The rectangle of the curves.
  private let box: PlotBox
  private let legendLineCount: Double
  private let isSubtitleBesideTitle: Bool
  private(set) var drawing: PlotDrawing

  init(plot: ResponsePlot, width: Double) {
    self.plot = plot
    // Wider figures are viewed from farther away or reduced in size.
    scale = max(1, pow(width / 900, 0.6))
    let left = (58 * scale).rounded()
    let right = (width - 30 * scale).rounded()
    // In a narrow figure, the subtitle and the legend have lines of their own.
    let names = ["Level dB", "residual", "measured", "fitted"] + [Self.bandName(plot)]
    let legendWidth = names.reduce(0) { $0 + Self.entryWidth($1) }
    legendLineCount = max(1, (legendWidth * scale / (right - left)).rounded(.up))
    let titleWidth = TextWidth.inEms(plot.title) * PlotLayout.titleFontSize * 1.08
    let subtitleWidth = TextWidth.inEms(plot.subtitle) * PlotLayout.labelFontSize
    isSubtitleBesideTitle = (titleWidth + subtitleWidth + 20) * scale < right - left
    let subtitleHeight: Double = isSubtitleBesideTitle ? 0 : 18
    let legendHeight: Double = legendLineCount > 1 ? 18 * legendLineCount : 0
    let top = (60 + subtitleHeight + legendHeight + 18) * scale
    box = PlotBox(
      left: left, top: top.rounded(), right: right, bottom: (top + 250 * scale).rounded())
    drawing = PlotDrawing(
      width: width, height: (box.bottom + 40 * scale).rounded(), title: plot.title,
      summary: "Frequency response of \(plot.title): \(plot.subtitle).")
    draw()
  }

  private mutating func draw() {
    drawing.fillRectangle(
      PlotBox(left: 0, top: 0, right: drawing.width, bottom: drawing.height),
      paint: .role(.background))
    drawing.drawText(
      plot.title, at: PlotPoint(box.left, 32 * scale), fontSize: PlotLayout.titleFontSize * scale,
      role: .foreground, isBold: true)
    if isSubtitleBesideTitle {
      drawLabel(plot.subtitle, at: PlotPoint(box.right, 32 * scale), anchor: .end)
    } else {
      drawLabel(plot.subtitle, at: PlotPoint(box.left, 50 * scale))
    }
    if let band = plot.band {
      let left = max(box.left, point(frequency: band.lowerBound, level: 0).x)
      let right = min(box.right, point(frequency: band.upperBound, level: 0).x)
      drawing.fillRectangle(
        PlotBox(left: left, top: box.top, right: max(left, right), bottom: box.bottom),
        paint: .role(.sharedArea), opacity: 0.4)
    }
    drawGrid()
    var legend: [(name: String, stroke: PlotDrawing.Stroke)] = []
    for curve in Self.curves {
      let lines = lines(of: curve.level)
      if lines.isEmpty { continue }
      let stroke = PlotDrawing.Stroke(
        paint: .role(curve.role), width: curve.width * scale,
        dashes: curve.dashes.map { $0 * scale })
      legend.append((curve.name, stroke))
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

  /// Returns the parts of a curve above the bottom of the level axis.
  private func lines(of level: (ResponsePlot.Point) -> Double) -> [[PlotPoint]] {
    var lines: [[PlotPoint]] = []
    var previous: PlotPoint?
    for plotPoint in plot.points {
      let current = point(frequency: plotPoint.hertz, level: level(plotPoint))
      if let previous, (previous.y > box.bottom) != (current.y > box.bottom) {
        let fraction = (box.bottom - previous.y) / (current.y - previous.y)
        let crossing = PlotPoint(
          previous.x + (current.x - previous.x) * fraction, box.bottom)
        if previous.y > box.bottom {
          lines.append([crossing])
        } else {
          lines[lines.count - 1].append(crossing)
        }
      } else if previous == nil, current.y <= box.bottom {
        lines.append([])
      }
      if current.y <= box.bottom {
        lines[lines.count - 1].append(current)
      }
      previous = current
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

  /// Draws the title of the level axis and the legend, at the right or in lines of its own.
  private mutating func drawLegend(_ curves: [(name: String, stroke: PlotDrawing.Stroke)]) {
    let title = PlotDrawing.TextRun(
      text: "Level", fontSize: PlotLayout.panelTitleFontSize * scale, role: .foreground,
      isBold: true)
    let unit = PlotDrawing.TextRun(
      text: "dB", fontSize: PlotLayout.labelFontSize * scale, leadingGap: 7 * scale)
    drawing.add(
      .text([title, unit], at: PlotPoint(box.left, box.top - 10 * scale), anchor: .start))
    let band = Self.bandName(plot)
    let names = curves.map(\.name) + (band.isEmpty ? [] : [band])
    let totalWidth = names.reduce(0) { $0 + Self.entryWidth($1) } * scale
    var position = PlotPoint(box.right - totalWidth, box.top - 10 * scale)
    if legendLineCount > 1 {
      position = PlotPoint(box.left, box.top - (10 + 18 * legendLineCount) * scale)
    }
    for (index, name) in names.enumerated() {
      let width = Self.entryWidth(name) * scale
      if legendLineCount > 1, position.x > box.left, position.x + width > box.right {
        position = PlotPoint(box.left, position.y + 18 * scale)
      }
      let end = position.x + PlotLayout.legendSymbolWidth * scale
      if index < curves.count {
        let y = position.y - 4 * scale
        drawing.stroke([[PlotPoint(position.x, y), PlotPoint(end, y)]], curves[index].stroke)
      } else {
        let symbol = PlotBox(
          left: position.x, top: position.y - 8 * scale, right: end, bottom: position.y)
        drawing.fillRectangle(symbol, paint: .role(.sharedArea), radius: 1.5 * scale, opacity: 0.6)
      }
      drawLabel(name, at: PlotPoint(end + 6 * scale, position.y))
      position.x += width
    }
  }

  /// Returns the width of a legend entry at a scale of 1.
  private static func entryWidth(_ name: String) -> Double {
    TextWidth.inEms(name) * PlotLayout.labelFontSize + PlotLayout.legendSymbolWidth + 22
  }

  private static func bandName(_ plot: ResponsePlot) -> String {
    guard let band = plot.band else { return "" }
    return "band \(AxisTick.shortText(band.lowerBound, decimalPlaces: 0))–"
      + "\(AxisTick.shortText(band.upperBound, decimalPlaces: 0)) Hz"
  }

  private mutating func drawLabel(
    _ text: String, at position: PlotPoint, anchor: PlotDrawing.Anchor = .start
  ) {
    drawing.drawText(
      text, at: position, fontSize: PlotLayout.labelFontSize * scale, anchor: anchor)
  }
}
