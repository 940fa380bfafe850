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
  /// Areas that all takes have.
  case equal
  /// Lines that all takes have.
  case equalLine
  /// The reach of a waveform.
  case signal
  /// What only one take has, by the number of the take from 0; four colours, from the first again.
  case take(Int)
}

/// The colours of a theme.
///
/// Text has a contrast of at least 4.5 to 1 to its background, lines that mean something 3 to 1. The first
/// two takes are blue and orange, which every kind of colour vision distinguishes; takes differ in
/// line style and in the shape of heads too.
public struct PlotPalette: Sendable {
  private let colors: [PlotRole: PlotColor]

  /// How many colours of takes there are.
  public static let takeColorCount = 4

  /// The colours of a theme.
  public init(_ theme: PlotTheme) {
    // Light and dark.
    let table: [(PlotRole, UInt32, UInt32)] = [
      (.paper, 0xFFFFFF, 0x14181F), (.ink, 0x13171D, 0xEAEEF3), (.muted, 0x566070, 0x9BA6B4),
      (.edge, 0x868F9C, 0x687382), (.grid, 0xECEFF2, 0x1E242D), (.equal, 0xCDD3DA, 0x3C4552),
      (.equalLine, 0x7C8693, 0x8C97A5), (.signal, 0xB4BCC6, 0x4A5462), (.take(0), 0x1463B8, 0x6DB3F8),
      (.take(1), 0xBD4B00, 0xFFA259), (.take(2), 0x0B7A62, 0x43C6A4), (.take(3), 0xA0358F, 0xE58FDC),
    ]
    colors = Dictionary(
      uniqueKeysWithValues: table.map { role, light, dark in (role, PlotColor(theme == .light ? light : dark)) })
  }

  /// The colour of a role.
  public func color(of role: PlotRole) -> PlotColor { colors[role.distinct] ?? PlotColor(0x808080) }
}

extension PlotRole {
  /// The role with the same colour that a palette has.
  var distinct: PlotRole {
    if case .take(let index) = self { return .take(index % PlotPalette.takeColorCount) }
    return self
  }

  /// The end of a name of a class.
  var name: String {
    switch self {
    case .paper: "paper"
    case .ink: "ink"
    case .muted: "muted"
    case .edge: "edge"
    case .grid: "grid"
    case .equal: "equal"
    case .equalLine: "equal-line"
    case .signal: "signal"
    case .take(let index): ["a", "b", "c", "d"][index % PlotPalette.takeColorCount]
    }
  }
}
