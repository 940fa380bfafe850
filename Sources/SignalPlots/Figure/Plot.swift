/// A figure: pictures above one another that share an axis of time.
///
/// A plain value that knows nothing of pixels; it is drawn at any width, as a file or as text.
public struct Plot: Sendable {
  /// What stands above all.
  public var title: String
  /// What stands below the title, smaller.
  public var subtitle: String
  /// The seconds that the axis of time covers.
  public let span: ClosedRange<Double>
  /// The figure in a sentence, for those who do not see it.
  public let summary: String
  let panels: [PlotPanel]

  /// The shortest time that is shown, in seconds.
  static let shortestSpan = 0.005

  init(title: String, subtitle: String, duration: Double, panels: [PlotPanel], summary: String) {
    self.title = title
    self.subtitle = subtitle
    self.summary = summary
    self.panels = panels
    span = 0...max(Self.shortestSpan, duration.isFinite ? duration : 0)
  }

  /// Where a picture's axis of time lies, so that a page can put a play head over it.
  public struct TimeAxis: Equatable, Sendable {
    /// The second at the left end.
    public let startSeconds: Double
    /// The second at the right end.
    public let endSeconds: Double
    /// The left end as a share of the picture's width.
    public let left: Double
    /// The right end as a share of the picture's width.
    public let right: Double
  }

  /// Where the axis of time lies in a picture of a width in pixels.
  public func timeAxis(width: Int) -> TimeAxis {
    let layout = PlotLayout(self, width: width)
    return TimeAxis(
      startSeconds: span.lowerBound, endSeconds: span.upperBound,
      left: layout.timeLeft / layout.width, right: layout.timeRight / layout.width)
  }

  /// The height in pixels of a picture of a width in pixels.
  public func height(width: Int) -> Int { Int(PlotLayout(self, width: width).height) }

  /// The widths that a picture can have, in pixels.
  public static let widths = 200...10_000

  /// Draws the figure: the bytes of a file.
  ///
  /// The same figure gives the same bytes with the same version of Cairo and the same fonts.
  ///
  /// - Parameters:
  ///   - format: The kind of file.
  ///   - width: Pixels, or points on paper; what lies outside `widths` is brought into it.
  ///   - theme: The colours.
  ///   - idPrefix: What names inside an SVG begin with; pictures on one page need different ones.
  public func draw(
    as format: PlotFormat, width: Int = 860, theme: PlotTheme = .light, idPrefix: String = "p"
  ) throws(PlotError) -> [UInt8] {
    let layout = PlotLayout(self, width: width)
    let canvas = try CairoCanvas(
      format, width: Int(layout.width), height: Int(layout.height), title: title)
    let drawing = FigureDrawing(
      layout: layout, canvas: canvas, palette: PlotPalette(theme), cellSize: format == .png ? 1 : 2)
    try drawing.draw(self)
    let bytes = try canvas.finish()
    guard format == .svg else { return bytes }
    var text = SVGPostprocessor(bytes)
    return text.readable(title: title, description: summary, idPrefix: idPrefix)
  }
}
