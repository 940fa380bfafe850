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

  /// What stands above all.
  public var title: String
  /// What stands below the title, smaller.
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
