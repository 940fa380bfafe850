internal import Glibc

/// A figure of a measured frequency response with what was fitted to it, and what the fit leaves over.
///
/// Levels go up in decibels, frequencies to the right by equal factors.
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
  static let depth = 60.0

  /// Makes a figure.
  public init(
    title: String, subtitle: String, points: [Point], band: ClosedRange<Double>? = nil
  ) {
    self.title = title
    self.subtitle = subtitle
    self.points = points.filter {
      $0.hertz > 0 && $0.hertz.isFinite && $0.measured.isFinite && $0.fitted.isFinite
        && $0.residual.isFinite
    }
    self.band = band
  }

  /// The frequencies that are shown.
  var frequencies: PlotAxis {
    let low = points.first?.hertz ?? 10
    return PlotAxis(range: low...max(2 * low, points.last?.hertz ?? 1_000), isLogarithmic: true)
  }

  /// The levels that are shown: from the ten above the greatest down.
  var levels: PlotAxis {
    let most = points.reduce(-300) { max($0, $1.measured, $1.fitted) }
    let top = most > -300 ? (most / 10).rounded(.up) * 10 : 0
    return PlotAxis(range: (top - Self.depth)...top)
  }

  /// Draws the figure: the bytes of a file.
  ///
  /// - Parameters:
  ///   - format: The kind of file.
  ///   - width: Pixels, or points on paper; what lies outside `Plot.widths` is brought into it.
  ///   - theme: The colours.
  ///   - idPrefix: What names inside an SVG begin with; pictures on one page need different ones.
  public func draw(
    as format: PlotFormat, width: Int = 860, theme: PlotTheme = .light, idPrefix: String = "r"
  ) throws(PlotError) -> [UInt8] {
    let width = min(max(width, Plot.widths.lowerBound), Plot.widths.upperBound)
    let drawing = ResponseDrawing(plot: self, width: Double(width), palette: PlotPalette(theme))
    let canvas = try CairoCanvas(
      format, width: width, height: Int(drawing.height), title: title)
    try drawing.draw(on: canvas)
    let bytes = try canvas.finish()
    guard format == .svg else { return bytes }
    var text = SVGPostprocessor(bytes)
    return text.readable(
      title: title, description: "Frequency response. \(subtitle)", idPrefix: idPrefix)
  }
}

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
      for (level, color, dashes, thickness) in curves {
        canvas.use(color)
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
    for (name, color, dashes, thickness) in entries {
      canvas.use(color)
      canvas.stroke(
        [PlotPoint(left, y - 0.35 * em), PlotPoint(left + 1.8 * em, y - 0.35 * em)],
        width: thickness * em, dashes: dashes)
      canvas.use(palette.label)
      canvas.write(name, at: PlotPoint(left + 2.2 * em, y), size: em)
      left += (3.6 + Double(name.count) * PlotLayout.letter) * em
    }
  }
}
