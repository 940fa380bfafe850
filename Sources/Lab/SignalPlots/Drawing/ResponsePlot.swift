internal import CMath

/// A figure that shows a measured frequency response, the fitted response, and the residual.
///
/// The level axis is in decibels, and the frequency axis is logarithmic. Parts below the level axis
/// are not drawn, and a curve that is entirely below it has no legend entry.
public struct ResponsePlot: Equatable, Sendable {
  /// The levels of the three curves at one frequency, in decibels.
  public struct Point: Equatable, Sendable {
    /// The frequency of the point, in hertz.
    public var hertz: Double
    /// The level of the measured response, in decibels.
    public var measuredDecibels: Double
    /// The level of the fitted response, in decibels.
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

  /// The title of the figure.
  public var title: String
  /// The subtitle of the figure, in smaller text next to or below the title.
  public var subtitle: String
  /// The points with finite values, by ascending frequency.
  public let responsePoints: [Point]
  /// A frequency band to mark, in hertz.
  public var markedBandHertz: ClosedRange<Double>?

  /// The range of the level axis, in decibels.
  static let dynamicRangeDecibels = 60.0

  /// Creates a figure from the points of a measured and a fitted response.
  ///
  /// - Parameters:
  ///   - title: The title.
  ///   - subtitle: The smaller text next to or below the title.
  ///   - points: The points by ascending frequency. Those that are not finite are ignored.
  ///   - band: A frequency band to mark, in hertz.
  public init(
    title: String, subtitle: String, responsePoints points: [Point],
    markedBandHertz band: ClosedRange<Double>? = nil
  ) {
    self.title = title
    self.subtitle = subtitle
    self.responsePoints = points.filter {
      $0.hertz > 0 && $0.hertz.isFinite && $0.measuredDecibels.isFinite
        && $0.fittedDecibels.isFinite
        && $0.residualDecibels.isFinite
    }
    self.markedBandHertz = band
  }

  /// The frequency axis. Its ends are 1, 2 or 5 times a power of ten, so that both have labels.
  var frequencyAxis: PlotAxis {
    let powersOfTen = (-1...5).map { pow(10, Double($0)) }
    let roundFrequencies = powersOfTen.flatMap { decade in [1.0, 2, 5].map { $0 * decade } }
    let minimumHertz = responsePoints.first?.hertz ?? 10
    let maximumHertz = responsePoints.last?.hertz ?? 1_000
    // Half a percent outside the axis is invisible.
    let axisMinimumHertz = roundFrequencies.last { $0 <= minimumHertz * 1.005 } ?? minimumHertz
    let axisMaximumHertz = roundFrequencies.first { $0 >= maximumHertz * 0.995 } ?? maximumHertz
    return PlotAxis(
      valueRange: axisMinimumHertz...max(2 * axisMinimumHertz, axisMaximumHertz),
      isLogarithmic: true)
  }

  /// The level axis, which extends downward from the multiple of 10 dB above the maximum.
  var levelAxis: PlotAxis {
    let maximumDecibels = responsePoints.reduce(-300) {
      max($0, $1.measuredDecibels, $1.fittedDecibels)
    }
    let topDecibels = maximumDecibels > -300 ? (maximumDecibels / 10).rounded(.up) * 10 : 0
    return PlotAxis(valueRange: (topDecibels - Self.dynamicRangeDecibels)...topDecibels)
  }

  /// Draws the figure and returns the bytes of a file, like `Plot.draw(as:width:theme:)`.
  ///
  /// - Parameters:
  ///   - format: The file format.
  ///   - width: The width in pixels, or in points for PDF, clamped to `Plot.supportedPixelWidths`.
  ///   - theme: The colors. With nil, an SVG follows the page that shows it, and other files are
  ///     light.
  /// - Throws: `PlotError` if Cairo is missing or cannot draw the figure.
  public func draw(as format: PlotFormat, width: Int = 860, theme: PlotTheme? = nil)
    throws(PlotError) -> [UInt8]
  {
    try drawing(width: width).fileBytes(as: format, theme: theme)
  }

  func drawing(width: Int) -> PlotDrawing {
    ResponsePlotPainter(plot: self, width: PlotLayout.supportedWidth(width)).drawing
  }
}

/// Lays out and draws a response plot.
private struct ResponsePlotPainter {
  /// A response curve of the plot, with its color and width.
  private struct Curve {
    let legendName: String
    let levelDecibels: (ResponsePlot.Point) -> Double
    let colorRole: PlotColorRole
    /// The width of the line, in pixels at a drawing scale of 1.
    let lineWidth: Double
    var dashLengths: [Double] = []
  }

  /// The curves from back to front.
  private static var curves: [Curve] {
    [
      Curve(
        legendName: "residual", levelDecibels: \.residualDecibels, colorRole: .muted,
        lineWidth: 1.25, dashLengths: [2, 3]),
      Curve(
        legendName: "measured", levelDecibels: \.measuredDecibels, colorRole: .take(0), lineWidth: 2
      ),
      Curve(
        legendName: "fitted", levelDecibels: \.fittedDecibels, colorRole: .take(1), lineWidth: 2,
        dashLengths: [6, 3]),
    ]
  }

  private let plot: ResponsePlot
  private var frame: PanelFrame

  var drawing: PlotDrawing { frame.drawing }

  init(plot: ResponsePlot, width: Double) {
    self.plot = plot
    let frameContents = PanelFrame.PanelContents(
      title: plot.title, subtitle: plot.subtitle,
      summary: "Frequency response of \(plot.title): \(plot.subtitle).",
      horizontalAxis: plot.frequencyAxis, horizontalUnit: "Hz", verticalAxis: plot.levelAxis,
      verticalTitle: "Level", verticalUnit: "dB")
    frame = PanelFrame(
      frameContents, width: width,
      legendNames: Self.curves.map(\.legendName) + [Self.bandName(plot)])
    draw()
  }

  private mutating func draw() {
    if let bandHertz = plot.markedBandHertz {
      frame.fillBand(bandHertz)
    }
    frame.drawGrid()
    var legendEntries: [PanelFrame.LegendEntry] = []
    for curve in Self.curves {
      let lines = visibleCurveLines(of: curve.levelDecibels)
      if lines.isEmpty { continue }
      let stroke = frame.stroke(curve.colorRole, width: curve.lineWidth, dashes: curve.dashLengths)
      legendEntries.append(.init(name: curve.legendName, symbol: .line(stroke)))
      frame.drawing.stroke(lines, stroke)
    }
    if plot.markedBandHertz != nil {
      legendEntries.append(.init(name: Self.bandName(plot), symbol: .area))
    }
    frame.drawBaseline()
    frame.drawLegend(legendEntries)
  }

  /// Returns the visible parts of a curve, which are above the bottom of the level axis.
  private func visibleCurveLines(of level: (ResponsePlot.Point) -> Double) -> [[PlotPoint]] {
    let boxBottom = frame.box.bottom
    var curveLines: [[PlotPoint]] = []
    var previousPoint: PlotPoint?
    for plotPoint in plot.responsePoints {
      let current = frame.point(plotPoint.hertz, level(plotPoint))
      if let previousPoint, (previousPoint.y > boxBottom) != (current.y > boxBottom) {
        let fraction = (boxBottom - previousPoint.y) / (current.y - previousPoint.y)
        let crossing = PlotPoint(
          previousPoint.x + (current.x - previousPoint.x) * fraction, boxBottom)
        if previousPoint.y > boxBottom {
          curveLines.append([crossing])
        } else {
          curveLines[curveLines.count - 1].append(crossing)
        }
      } else if previousPoint == nil, current.y <= boxBottom {
        curveLines.append([])
      }
      if current.y <= boxBottom {
        curveLines[curveLines.count - 1].append(current)
      }
      previousPoint = current
    }
    return curveLines.filter { $0.count > 1 }
  }

  private static func bandName(_ plot: ResponsePlot) -> String {
    guard let bandHertz = plot.markedBandHertz else { return "" }
    return "band \(AxisTick.shortText(bandHertz.lowerBound, decimalPlaces: 0))–"
      + "\(AxisTick.shortText(bandHertz.upperBound, decimalPlaces: 0)) Hz"
  }
}
