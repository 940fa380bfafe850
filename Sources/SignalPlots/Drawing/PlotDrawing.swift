/// A picture as shapes and texts from the back to the front, whose colours are roles that a theme fills.
///
/// Every file is written from it: SVG, PNG and PDF show the same.
struct PlotDrawing: Equatable, Sendable {
  /// What a shape is coloured with.
  enum Paint: Equatable, Hashable, Sendable {
    /// A colour of the theme.
    case role(PlotRole)
    /// A colour of its own, the same in every theme.
    case color(PlotColor)
    /// Colours along a line between two places, the same in every theme.
    case gradient([Stop], from: PlotPoint, to: PlotPoint)
  }

  /// A colour of a gradient, by its share of the way.
  struct Stop: Equatable, Hashable, Sendable {
    /// The share of the way, 0…1.
    var share: Double
    /// The colour there.
    var color: PlotColor
  }

  /// How a shape is filled.
  struct Fill: Equatable, Sendable {
    /// The colour.
    var paint: Paint
    /// How much of what is behind it is covered, 0…1.
    var opacity = 1.0
  }

  /// How a line is drawn.
  struct Stroke: Equatable, Sendable {
    /// The colour.
    var paint: Paint
    /// Pixels across.
    var width: Double
    /// Lengths of line and gap in turn, in pixels.
    var dashes: [Double] = []
    /// How much of what is behind it is covered, 0…1.
    var opacity = 1.0
  }

  /// What a text stands at its place by.
  enum Anchor: String, Sendable { case start, middle, end }

  /// A part of a line of text.
  struct Run: Equatable, Sendable {
    /// The letters.
    var text: String
    /// The size in pixels.
    var size: Double
    /// The colour.
    var role = PlotRole.muted
    /// Whether the letters are heavy.
    var isBold = false
    /// Pixels before it.
    var gap = 0.0
  }

  /// Levels that let a colour through, as cells from the top left.
  struct Raster: Equatable, Sendable {
    /// How much of each cell is covered, row by row, 0…255.
    var levels: [UInt8]
    /// Cells in a row.
    var columns: Int
    /// Where the cells are.
    var box: PlotBox
    /// The colour.
    var paint: Paint

    /// Rows of cells.
    var rows: Int { columns > 0 ? levels.count / columns : 0 }
  }

  /// A shape or a text.
  enum Item: Equatable, Sendable {
    /// Lines through points, closed where they are filled.
    case path([[PlotPoint]], fill: Fill?, stroke: Stroke?)
    /// A disc.
    case disc(PlotPoint, radius: Double, fill: Fill?, stroke: Stroke?)
    /// A rectangle with round corners.
    case bar(PlotBox, radius: Double, fill: Fill)
    /// A line of text, whose base line is at the height of its place.
    case text([Run], at: PlotPoint, anchor: Anchor)
    /// Levels.
    case raster(Raster)
  }

  /// Pixels across.
  let width: Double
  /// Pixels down.
  let height: Double
  /// The name of what is shown.
  let title: String
  /// The picture in a sentence, for those who do not see it.
  let summary: String
  /// What is drawn, from the back to the front.
  private(set) var items: [Item] = []

  /// Makes an empty picture.
  init(width: Double, height: Double, title: String, summary: String) {
    (self.width, self.height) = (width, height)
    (self.title, self.summary) = (title, summary)
  }

  /// Adds a shape or a text in front of the others.
  mutating func add(_ item: Item) { items.append(item) }

  /// Adds an area.
  mutating func fill(_ shapes: [[PlotPoint]], _ paint: Paint, opacity: Double = 1) {
    let shapes = shapes.filter { $0.count > 2 }
    guard !shapes.isEmpty else { return }
    add(.path(shapes, fill: Fill(paint: paint, opacity: opacity), stroke: nil))
  }

  /// Adds lines.
  mutating func stroke(_ lines: [[PlotPoint]], _ stroke: Stroke) {
    let lines = lines.filter { $0.count > 1 }
    if !lines.isEmpty { add(.path(lines, fill: nil, stroke: stroke)) }
  }

  /// Adds a straight line.
  mutating func line(
    _ from: PlotPoint, _ to: PlotPoint, _ role: PlotRole, width: Double, dashes: [Double] = [], opacity: Double = 1
  ) { stroke([[from, to]], Stroke(paint: .role(role), width: width, dashes: dashes, opacity: opacity)) }

  /// Adds a line of text in one style.
  mutating func write(
    _ text: String, at place: PlotPoint, size: Double, anchor: Anchor = .start, role: PlotRole = .muted,
    isBold: Bool = false
  ) {
    guard !text.isEmpty else { return }
    add(.text([Run(text: text, size: size, role: role, isBold: isBold)], at: place, anchor: anchor))
  }
}

/// A place in a picture, in pixels from the top left.
struct PlotPoint: Equatable, Hashable, Sendable {
  /// Pixels to the right.
  var x: Double
  /// Pixels down.
  var y: Double

  /// Makes a place.
  init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }
}

/// A rectangle in a picture, in pixels from the top left.
struct PlotBox: Equatable, Sendable {
  /// The left edge.
  var left: Double
  /// The upper edge.
  var top: Double
  /// The right edge.
  var right: Double
  /// The lower edge.
  var bottom: Double

  /// Pixels from left to right.
  var width: Double { right - left }
  /// Pixels from top to bottom.
  var height: Double { bottom - top }
}
