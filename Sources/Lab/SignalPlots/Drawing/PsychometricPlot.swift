internal import CMath

/// A figure of a study's results by stimulus level.
///
/// The figure shows estimates with confidence intervals and, optionally, a psychometric function
/// with its threshold.
public struct PsychometricPlot: Equatable, Sendable {
  /// The result of a study at one stimulus level.
  public struct Point: Equatable, Sendable {
    /// The level of the stimulus.
    public var level: Double
    /// The estimate, such as a proportion of correct answers.
    public var estimate: Double
    /// The confidence interval of the estimate, or nil.
    public var confidenceInterval: ClosedRange<Double>?

    /// Creates a point.
    public init(level: Double, estimate: Double, confidenceInterval: ClosedRange<Double>?) {
      self.level = level
      self.estimate = estimate
      self.confidenceInterval = confidenceInterval
    }
  }

  /// A fitted psychometric function with its threshold.
  public struct Curve: Equatable, Sendable {
    /// The points of the function by ascending level.
    public var points: [Point]
    /// The stimulus level at the threshold.
    public var threshold: Double
    /// The value of the function at the threshold.
    public var thresholdEstimate: Double
    /// The confidence interval of the threshold, or nil.
    public var thresholdInterval: ClosedRange<Double>?

    /// Creates a curve.
    public init(
      points: [Point], threshold: Double, thresholdEstimate: Double,
      thresholdInterval: ClosedRange<Double>?
    ) {
      self.points = points
      self.threshold = threshold
      self.thresholdEstimate = thresholdEstimate
      self.thresholdInterval = thresholdInterval
    }
  }

  /// The quantity of the vertical axis.
  public enum EstimatedQuantity: Equatable, Sendable {
    /// A proportion from 0 to 1. The associated value is the axis title.
    case proportion(String)
    /// A mean of nonnegative numbers. The associated value is the axis title.
    case mean(String)
  }

  /// The title of the figure.
  public var title: String
  /// The subtitle: a smaller text next to or below the title.
  public var subtitle: String
  /// The unit of the stimulus levels.
  public var levelUnit: String
  /// The quantity that is estimated, on the vertical axis.
  public var quantity: EstimatedQuantity
  /// The results by ascending stimulus level.
  public var points: [Point]
  /// The fitted psychometric function, or nil.
  public var curve: Curve?

  /// Creates a figure.
  ///
  /// - Parameters:
  ///   - title: The title.
  ///   - subtitle: The smaller text next to or below the title.
  ///   - levelUnit: The unit of the levels.
  ///   - quantity: The quantity of the estimates.
  ///   - points: The results by ascending level. All values are finite.
  ///   - curve: The fitted function, or nil.
  public init(
    title: String, subtitle: String, levelUnit: String, quantity: EstimatedQuantity,
    points: [Point],
    curve: Curve? = nil
  ) {
    self.title = title
    self.subtitle = subtitle
    self.levelUnit = levelUnit
    self.quantity = quantity
    self.points = points
    self.curve = curve
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
    PsychometricPlotPainter(plot: self, width: PlotLayout.supportedWidth(width)).drawing
  }

  /// The horizontal axis of levels, with a margin on both sides of the points.
  var levelAxis: PlotAxis {
    let allLevels = points.map(\.level) + (curve?.points.map(\.level) ?? [])
    let minimumLevel = allLevels.min() ?? 0
    let maximumLevel = allLevels.max() ?? 1
    let levelMargin = maximumLevel > minimumLevel ? (maximumLevel - minimumLevel) * 0.04 : 1
    return PlotAxis(valueRange: (minimumLevel - levelMargin)...(maximumLevel + levelMargin))
  }

  /// The vertical axis, from 0 to 1 or to the maximum of the confidence intervals.
  var estimateAxis: PlotAxis {
    guard case .mean = quantity else { return PlotAxis(valueRange: 0...1) }
    let maximumEstimate = points.reduce(0.0) { maximum, point in
      max(maximum, point.estimate, point.confidenceInterval?.upperBound ?? 0)
    }
    guard maximumEstimate > 0 else { return PlotAxis(valueRange: 0...1) }
    let estimateStep = AxisTick.roundStep(for: maximumEstimate, atMost: 6)
    return PlotAxis(valueRange: 0...((maximumEstimate / estimateStep).rounded(.up) * estimateStep))
  }
}

/// Lays out and draws a psychometric plot.
private struct PsychometricPlotPainter {
  private let plot: PsychometricPlot
  private var frame: PanelFrame

  var drawing: PlotDrawing { frame.drawing }

  init(plot: PsychometricPlot, width: Double) {
    self.plot = plot
    let quantityTitle =
      switch plot.quantity {
      case .proportion(let title), .mean(let title): title
      }
    let frameContents = PanelFrame.PanelContents(
      title: plot.title, subtitle: plot.subtitle,
      summary: "\(quantityTitle) by level of \(plot.title): \(plot.subtitle).",
      horizontalAxis: plot.levelAxis, horizontalUnit: plot.levelUnit,
      verticalAxis: plot.estimateAxis, verticalTitle: quantityTitle, verticalUnit: "",
      horizontalTickSpacing: 64)
    frame = PanelFrame(
      frameContents, width: width, legendNames: Self.legend(of: plot).map(\.name))
    draw()
  }

  private mutating func draw() {
    if let thresholdInterval = plot.curve?.thresholdInterval {
      frame.fillBand(thresholdInterval)
    }
    frame.drawGrid()
    frame.drawBaseline()
    if let curve = plot.curve {
      let points = curve.points.map { frame.point($0.level, $0.estimate) }
      frame.drawing.stroke([points], frame.stroke(.take(1), width: 2))
      let threshold = frame.point(curve.threshold, curve.thresholdEstimate)
      let guide = [
        PlotPoint(frame.box.left, threshold.y), threshold,
        PlotPoint(threshold.x, frame.box.bottom),
      ]
      if (frame.box.left...frame.box.right).contains(threshold.x) {
        frame.drawing.stroke([guide], frame.stroke(.muted, width: 1.25, dashes: [2, 3]))
      }
    }
    for point in plot.points {
      drawPoint(point)
    }
    frame.drawLegend(Self.legend(of: plot, scale: frame.figureScale))
  }

  private mutating func drawPoint(_ point: PsychometricPlot.Point) {
    let pointCenter = frame.point(point.level, point.estimate)
    if let estimateInterval = point.confidenceInterval {
      let bottom = min(frame.point(point.level, estimateInterval.lowerBound).y, frame.box.bottom)
      let top = max(frame.point(point.level, estimateInterval.upperBound).y, frame.box.top)
      let capWidth = 4 * frame.figureScale
      let lines = [
        [PlotPoint(pointCenter.x, bottom), PlotPoint(pointCenter.x, top)],
        [PlotPoint(pointCenter.x - capWidth, bottom), PlotPoint(pointCenter.x + capWidth, bottom)],
        [PlotPoint(pointCenter.x - capWidth, top), PlotPoint(pointCenter.x + capWidth, top)],
      ]
      frame.drawing.stroke(lines, frame.stroke(.take(0), width: 1.5))
    }
    frame.drawing.drawDisc(
      center: pointCenter, radius: 4 * frame.figureScale, paint: .role(.take(0)))
  }

  private static func legend(of plot: PsychometricPlot, scale: Double = 1)
    -> [PanelFrame.LegendEntry]
  {
    var legendEntries: [PanelFrame.LegendEntry] = []
    let hasIntervals = plot.points.contains { $0.confidenceInterval != nil }
    legendEntries.append(
      .init(
        name: hasIntervals ? "answers, 95 % interval" : "answers", symbol: .disc(.take(0))))
    guard let curve = plot.curve else { return legendEntries }
    let curveStroke = PlotDrawing.Stroke(paint: .role(.take(1)), widthPixels: 2 * scale)
    legendEntries.append(.init(name: "fitted function", symbol: .line(curveStroke)))
    if curve.thresholdInterval != nil {
      legendEntries.append(.init(name: "threshold, 95 % interval", symbol: .area))
    }
    return legendEntries
  }
}
