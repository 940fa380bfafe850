internal import CMath

/// A drawing: a list of shapes and texts from back to front.
///
/// Most colors are roles that a theme defines.
///
/// SVG, PNG, PDF and terminal text are all written from a drawing, so that they show the same.
struct PlotDrawing: Equatable, Sendable {
  /// The paint of a shape: a color or a gradient.
  enum Paint: Equatable, Hashable, Sendable {
    /// The color that the theme defines for a role.
    case role(PlotColorRole)
    /// A color that is the same in every theme.
    case color(PlotColor)
    /// A linear gradient between two points, the same in every theme.
    case gradient([GradientStop], from: PlotPoint, to: PlotPoint)

    /// Returns the color of a gradient at a point, or nil if the paint is not a gradient.
    func color(at point: PlotPoint) -> PlotColor? {
      guard case .gradient(let stops, let start, let end) = self, let first = stops.first,
        let last = stops.last
      else {
        return nil
      }
      let dx = end.x - start.x
      let dy = end.y - start.y
      // The projection of the point on the line of the gradient, 0…1 between its ends.
      let offset = ((point.x - start.x) * dx + (point.y - start.y) * dy) / (dx * dx + dy * dy)
      guard let nextIndex = stops.firstIndex(where: { $0.positionFraction > offset }) else {
        return last.color
      }
      guard nextIndex > 0 else { return first.color }
      let previous = stops[nextIndex - 1]
      let next = stops[nextIndex]
      return previous.color.mixed(
        with: next.color,
        fraction: (offset - previous.positionFraction)
          / (next.positionFraction - previous.positionFraction))
    }
  }

  /// A gradient stop: a color at a position along the gradient.
  struct GradientStop: Equatable, Hashable, Sendable {
    /// The position of the color as a fraction of the gradient: 0 at its start, 1 at its end.
    var positionFraction: Double
    var color: PlotColor
  }

  struct Fill: Equatable, Sendable {
    var paint: Paint
    /// The opacity of the fill, 0…1.
    var opacity = 1.0
  }

  struct Stroke: Equatable, Sendable {
    var paint: Paint
    /// The width of the line, in pixels.
    var widthPixels: Double
    /// The alternating lengths of dashes and gaps, in pixels. An empty array gives a solid line.
    var dashPixelLengths: [Double] = []
    /// The opacity of the line, 0…1.
    var opacity = 1.0
  }

  /// The alignment of a line of text: the part of the line that is at the text's position.
  ///
  /// The raw values are those of `text-anchor` in SVG.
  enum Anchor: String, Sendable {
    case start
    case middle
    case end
  }

  /// A part of a text line that has a single font and color.
  struct TextRun: Equatable, Sendable {
    var text: String
    /// The font size, in pixels.
    var fontSizePixels: Double
    var role = PlotColorRole.muted
    var isBold = false
    /// The horizontal space before the text, in pixels.
    var leadingGapPixels = 0.0
  }

  /// A grid of cells, filled with one paint at a different opacity for each cell.
  struct Raster: Equatable, Sendable {
    /// The opacity of each cell, 0…255, row by row from the top left.
    var cellOpacities: [UInt8]
    var columnCount: Int
    /// The rectangle that the grid of cells fills.
    var filledBox: PlotBox
    var paint: Paint

    var rowCount: Int { columnCount > 0 ? cellOpacities.count / columnCount : 0 }
  }

  /// An item of a drawing: a shape or a line of text.
  enum Item: Equatable, Sendable {
    /// A set of polylines, which are closed if they have a fill.
    case path([[PlotPoint]], fill: Fill?, stroke: Stroke?)
    case disc(PlotPoint, radius: Double, fill: Fill?, stroke: Stroke?)
    case rectangle(PlotBox, radius: Double, fill: Fill)
    /// A line of text whose baseline is at the given position.
    case text([TextRun], at: PlotPoint, anchor: Anchor)
    case raster(Raster)
  }

  /// The width of the drawing, in pixels.
  let width: Double
  /// The height of the drawing, in pixels.
  let height: Double
  let title: String
  /// A sentence that describes the drawing, for screen readers.
  let accessibleDescription: String
  /// The shapes and texts of the drawing, from back to front.
  private(set) var items: [Item] = []

  mutating func add(_ item: Item) { items.append(item) }

  /// Fills polygons of at least three points.
  mutating func fill(_ shapes: [[PlotPoint]], _ paint: Paint, opacity: Double = 1) {
    let polygons = shapes.filter { $0.count > 2 }
    guard !polygons.isEmpty else { return }
    add(.path(polygons, fill: Fill(paint: paint, opacity: opacity), stroke: nil))
  }

  /// Strokes polylines of at least two points.
  mutating func stroke(_ lines: [[PlotPoint]], _ stroke: Stroke) {
    let drawnLines = lines.filter { $0.count > 1 }
    if !drawnLines.isEmpty {
      add(.path(drawnLines, fill: nil, stroke: stroke))
    }
  }

  mutating func fillRectangle(
    _ box: PlotBox, paint: Paint, radius: Double = 0, opacity: Double = 1
  ) {
    add(.rectangle(box, radius: radius, fill: Fill(paint: paint, opacity: opacity)))
  }

  mutating func drawDisc(
    center: PlotPoint, radius: Double, paint: Paint, stroke: Stroke? = nil
  ) {
    add(.disc(center, radius: radius, fill: Fill(paint: paint), stroke: stroke))
  }

  mutating func drawLine(
    from start: PlotPoint, to end: PlotPoint, role: PlotColorRole, width: Double,
    dashes: [Double] = [], opacity: Double = 1
  ) {
    stroke(
      [[start, end]],
      Stroke(paint: .role(role), widthPixels: width, dashPixelLengths: dashes, opacity: opacity))
  }

  mutating func drawText(
    _ text: String, at position: PlotPoint, fontSize: Double, anchor: Anchor = .start,
    role: PlotColorRole = .muted, isBold: Bool = false
  ) {
    guard !text.isEmpty else { return }
    let textRun = TextRun(text: text, fontSizePixels: fontSize, role: role, isBold: isBold)
    add(.text([textRun], at: position, anchor: anchor))
  }
}

/// A point of a drawing, in pixels from the top left.
struct PlotPoint: Equatable, Hashable, Sendable {
  var x: Double
  var y: Double

  init(_ x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }
}

/// A rectangle of a drawing, in pixels from the top left.
struct PlotBox: Equatable, Sendable {
  var left: Double
  var top: Double
  var right: Double
  var bottom: Double

  var width: Double { right - left }
  var height: Double { bottom - top }
}
