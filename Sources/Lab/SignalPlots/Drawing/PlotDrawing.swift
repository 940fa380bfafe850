internal import CMath

/// A picture as shapes and texts from the back to the front, whose colours are roles that a theme
/// fills.
///
/// Everything is written from it: SVG, PNG, PDF and text show the same.
struct PlotDrawing: Equatable, Sendable {
  enum Paint: Equatable, Hashable, Sendable {
    case role(PlotRole)
    /// A colour of its own, the same in every theme.
    case color(PlotColor)
    /// Colours along a line between two places, the same in every theme.
    case gradient([GradientStop], from: PlotPoint, to: PlotPoint)

    func color(at place: PlotPoint) -> PlotColor? {
      guard case .gradient(let stops, let from, let to) = self, let first = stops.first,
        let last = stops.last
      else {
        return nil
      }
      let across = to.x - from.x
      let down = to.y - from.y
      let share =
        ((place.x - from.x) * across + (place.y - from.y) * down) / (across * across + down * down)
      guard let next = stops.firstIndex(where: { $0.offset > share }) else { return last.color }
      guard next > 0 else { return first.color }
      let before = stops[next - 1]
      return before.color.mixed(
        with: stops[next].color,
        fraction: (share - before.offset) / (stops[next].offset - before.offset))
    }
  }

  /// A colour of a gradient, by its share of the way.
  struct GradientStop: Equatable, Hashable, Sendable {
    var offset: Double
    var color: PlotColor
  }

  struct Fill: Equatable, Sendable {
    var paint: Paint
    /// How much of what is behind it is covered, 0…1.
    var opacity = 1.0
  }

  struct Stroke: Equatable, Sendable {
    var paint: Paint
    /// Pixels across.
    var width: Double
    /// Lengths of line and gap in turn, in pixels.
    var dashes: [Double] = []
    /// How much of what is behind it is covered, 0…1.
    var opacity = 1.0
  }

  enum Anchor: String, Sendable { case start, middle, end }
  struct TextRun: Equatable, Sendable {
    var text: String
    /// The size in pixels.
    var fontSize: Double
    var role = PlotRole.muted
    var isBold = false
    var leadingGap = 0.0
  }

  /// Levels that let a colour through, as cells from the top left.
  struct Raster: Equatable, Sendable {
    /// How much of each cell is covered, row by row, 0…255.
    var coverages: [UInt8]
    var columnCount: Int
    var box: PlotBox
    var paint: Paint

    var rowCount: Int { columnCount > 0 ? coverages.count / columnCount : 0 }
  }

  enum Item: Equatable, Sendable {
    /// Lines through points, closed where they are filled.
    case path([[PlotPoint]], fill: Fill?, stroke: Stroke?)
    case disc(PlotPoint, radius: Double, fill: Fill?, stroke: Stroke?)
    case rectangle(PlotBox, radius: Double, fill: Fill)
    /// A line of text, whose base line is at the height of its place.
    case text([TextRun], at: PlotPoint, anchor: Anchor)
    case raster(Raster)
  }

  /// Pixels across and down.
  let width, height: Double
  let title, summary: String
  private(set) var items: [Item] = []

  mutating func add(_ item: Item) { items.append(item) }

  mutating func fill(_ shapes: [[PlotPoint]], _ paint: Paint, opacity: Double = 1) {
    let shapes = shapes.filter { $0.count > 2 }
    guard !shapes.isEmpty else { return }
    add(.path(shapes, fill: Fill(paint: paint, opacity: opacity), stroke: nil))
  }

  mutating func stroke(_ lines: [[PlotPoint]], _ stroke: Stroke) {
    let lines = lines.filter { $0.count > 1 }
    if !lines.isEmpty {
      add(.path(lines, fill: nil, stroke: stroke))
    }
  }

  mutating func fillRectangle(_ box: PlotBox, paint: Paint, radius: Double = 0, opacity: Double = 1)
  {
    add(.rectangle(box, radius: radius, fill: Fill(paint: paint, opacity: opacity)))
  }

  mutating func drawDisc(
    center centre: PlotPoint, radius: Double, paint: Paint, stroke: Stroke? = nil
  ) {
    add(.disc(centre, radius: radius, fill: Fill(paint: paint), stroke: stroke))
  }

  mutating func drawLine(
    from: PlotPoint, to: PlotPoint, role: PlotRole, width: Double, dashes: [Double] = [],
    opacity: Double = 1
  ) {
    stroke(
      [[from, to]], Stroke(paint: .role(role), width: width, dashes: dashes, opacity: opacity))
  }

  mutating func drawText(
    _ text: String, at place: PlotPoint, fontSize size: Double, anchor: Anchor = .start,
    role: PlotRole = .muted,
    isBold: Bool = false
  ) {
    guard !text.isEmpty else { return }
    add(
      .text(
        [TextRun(text: text, fontSize: size, role: role, isBold: isBold)], at: place, anchor: anchor
      ))
  }
}

/// A place in a picture, in pixels from the top left.
struct PlotPoint: Equatable, Hashable, Sendable {
  var x, y: Double

  init(_ x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }
}

/// A rectangle in a picture, in pixels from the top left.
struct PlotBox: Equatable, Sendable {
  var left, top, right, bottom: Double

  var width: Double { right - left }
  var height: Double { bottom - top }
}

/// A colour in sRGB.
public struct PlotColor: Hashable, Sendable {
  /// Red, green and blue, 0…1.
  public let red, green, blue: Double

  /// Makes a colour from its three parts.
  public init(red: Double, green: Double, blue: Double) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Makes a colour from `0xRRGGBB`.
  public init(_ hex: UInt32) {
    red = Double(hex >> 16 & 255) / 255
    green = Double(hex >> 8 & 255) / 255
    blue = Double(hex & 255) / 255
  }

  /// The three parts as bytes.
  public var bytes: (red: UInt8, green: UInt8, blue: UInt8) {
    func byte(_ part: Double) -> UInt8 { UInt8((min(max(part, 0), 1) * 255).rounded()) }
    return (byte(red), byte(green), byte(blue))
  }

  /// The colour as a page writes it, `#rrggbb`.
  public var css: String {
    let (red, green, blue) = bytes
    return "#"
      + String(1 << 24 | Int(red) << 16 | Int(green) << 8 | Int(blue), radix: 16).dropFirst()
  }

  /// A mixture on the straight line to another colour; share 1 is the other one.
  public func mixed(with other: PlotColor, fraction share: Double) -> PlotColor {
    PlotColor(
      red: red + (other.red - red) * share, green: green + (other.green - green) * share,
      blue: blue + (other.blue - blue) * share)
  }

  /// The nearest of the colours 16 to 231 that terminals have: a cube of six steps each way.
  var terminalIndex: Int {
    // The cube's steps, as xterm defines them.
    let steps = [0, 95, 135, 175, 215, 255]
    func nearest(_ part: UInt8) -> Int {
      steps.indices.min { abs(steps[$0] - Int(part)) < abs(steps[$1] - Int(part)) } ?? 0
    }
    let (red, green, blue) = bytes
    return 16 + 36 * nearest(red) + 6 * nearest(green) + nearest(blue)
  }
}

/// A scale of colours from 0 to 1, on which equal steps look equal.
public struct Colormap: Sendable {
  /// The colours that the scale passes through at equal distances.
  public let anchors: [PlotColor]

  init(_ anchors: [PlotColor]) { self.anchors = anchors }

  /// The colour of a share, which is clamped to 0…1.
  public func color(at share: Double) -> PlotColor {
    let share = share.isNaN ? 0 : min(max(share, 0), 1)
    let place = share * Double(anchors.count - 1)
    let index = min(Int(place), anchors.count - 2)
    return anchors[index].mixed(with: anchors[index + 1], fraction: place - Double(index))
  }

  /// The scale of sharpness, from violet through magenta to orange, the same in both themes.
  ///
  /// Lightness in OKLCH rises from 0.55 to 0.68, and every colour has a contrast of 3 to 1 and more
  /// to the paper of either theme.
  public static let sharpness = Colormap(
    [0x6558E0, 0x8852D8, 0xA44EC8, 0xBC4CB3, 0xD04C9B, 0xDE507F, 0xE75862, 0xEA6440, 0xE57217].map(
      PlotColor.init))
}

/// What a colour of a picture is for; a theme says which one it is.
public enum PlotRole: Hashable, Sendable {
  /// The background.
  case paper
  /// Titles, curves of controls, and effective values.
  case ink
  /// Labels.
  case muted
  /// Axes.
  case edge
  /// Lines behind a picture, which need no contrast.
  case grid
  /// Areas and lines that all takes have.
  case sharedArea, sharedLine
  case signal
  /// What only one take has, by the number of the take from 0; four colours, from the first again.
  case take(Int)
}

/// The colours of a theme.
///
/// Text has a contrast of at least 4.5 to 1 to its background, lines that mean something 3 to 1.
/// The first two takes are blue and orange, which every kind of colour vision distinguishes; takes
/// differ in line style and in the shape of heads too.
public struct PlotPalette: Sendable {
  private let theme: PlotTheme

  /// How many colours of takes there are.
  public static let takeColorCount = 4

  /// What styles call each role, and its colours in light and dark.
  fileprivate static let roleColors: [PlotRole: (name: String, light: UInt32, dark: UInt32)] = [
    .paper: ("paper", 0xFFFFFF, 0x14181F), .ink: ("ink", 0x13171D, 0xEAEEF3),
    .muted: ("muted", 0x566070, 0x9BA6B4),
    .edge: ("edge", 0x868F9C, 0x687382), .grid: ("grid", 0xECEFF2, 0x2A323D),
    .sharedArea: ("equal", 0xCDD3DA, 0x4A5565),
    .sharedLine: ("equal-line", 0x7C8693, 0x8C97A5), .signal: ("signal", 0xB4BCC6, 0x4A5462),
    .take(0): ("a", 0x1463B8, 0x6DB3F8), .take(1): ("b", 0xBD4B00, 0xFFA259),
    .take(2): ("c", 0x0B7A62, 0x43C6A4),
    .take(3): ("d", 0xA0358F, 0xE58FDC),
  ]

  /// The colours of a theme.
  public init(_ theme: PlotTheme) { self.theme = theme }

  /// The colour of a role.
  public func color(of role: PlotRole) -> PlotColor {
    PlotColor(
      Self.roleColors[role.canonical].map { theme == .light ? $0.light : $0.dark } ?? 0x808080)
  }
}

extension PlotRole {
  var canonical: PlotRole {
    if case .take(let index) = self {
      return .take(index % PlotPalette.takeColorCount)
    }
    return self
  }

  var styleName: String { PlotPalette.roleColors[canonical]?.name ?? "" }
}
