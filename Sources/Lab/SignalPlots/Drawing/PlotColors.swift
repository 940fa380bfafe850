/// A color in sRGB.
public struct PlotColor: Hashable, Sendable {
  /// The red component, 0…1.
  public let red: Double
  /// The green component, 0…1.
  public let green: Double
  /// The blue component, 0…1.
  public let blue: Double

  /// Creates a color from its components, 0…1 each.
  public init(red: Double, green: Double, blue: Double) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Creates a color from a number of the form `0xRRGGBB`.
  public init(_ hex: UInt32) {
    red = Double(hex >> 16 & 255) / 255
    green = Double(hex >> 8 & 255) / 255
    blue = Double(hex & 255) / 255
  }

  /// The color components as bytes, 0…255.
  public var byteComponents: (red: UInt8, green: UInt8, blue: UInt8) {
    func byteValue(_ component: Double) -> UInt8 {
      UInt8((min(max(component, 0), 1) * 255).rounded())
    }
    return (byteValue(red), byteValue(green), byteValue(blue))
  }

  /// The color in CSS, in the form `#rrggbb`.
  public var cssText: String {
    let (red, green, blue) = byteComponents
    let rgbNumber = Int(red) << 16 | Int(green) << 8 | Int(blue)
    // The additional bit keeps leading zeros.
    return "#" + String(1 << 24 | rgbNumber, radix: 16).dropFirst()
  }

  /// Returns a color interpolated linearly between this color and another.
  ///
  /// - Parameters:
  ///   - color: The other color.
  ///   - fraction: The weight of the other color, 0…1.
  public func mixed(with color: PlotColor, fraction: Double) -> PlotColor {
    PlotColor(
      red: red + (color.red - red) * fraction,
      green: green + (color.green - green) * fraction,
      blue: blue + (color.blue - blue) * fraction)
  }

  /// The index of the nearest color in the 6 × 6 × 6 color cube of 256-color terminals, 16…231.
  var terminalColorIndex: Int {
    // The levels of the cube, as defined by xterm.
    let cubeLevels = [0, 95, 135, 175, 215, 255]
    func nearestLevelIndex(_ component: UInt8) -> Int {
      let distances = cubeLevels.map { abs($0 - Int(component)) }
      return distances.indices.min { distances[$0] < distances[$1] } ?? 0
    }
    let (red, green, blue) = byteComponents
    return 16 + 36 * nearestLevelIndex(red) + 6 * nearestLevelIndex(green) + nearestLevelIndex(blue)
  }
}

/// A perceptually uniform color scale from 0 to 1.
public struct Colormap: Sendable {
  /// The equally spaced colors of the scale. Other colors are interpolated.
  public let anchorColors: [PlotColor]

  init(_ anchors: [PlotColor]) { self.anchorColors = anchors }

  /// Returns the color for a value, which is clamped to 0…1.
  public func color(at value: Double) -> PlotColor {
    let clampedValue = value.isNaN ? 0 : min(max(value, 0), 1)
    let anchorPosition = clampedValue * Double(anchorColors.count - 1)
    let anchorIndex = min(Int(anchorPosition), anchorColors.count - 2)
    return anchorColors[anchorIndex].mixed(
      with: anchorColors[anchorIndex + 1], fraction: anchorPosition - Double(anchorIndex))
  }

  /// The color scale of sharpness, from violet through magenta to orange, in both themes.
  ///
  /// The lightness in OKLCH increases from 0.55 to 0.68. Every color has a contrast of at least 3:1
  /// with the background of either theme.
  public static let sharpness = Colormap(
    [0x6558E0, 0x8852D8, 0xA44EC8, 0xBC4CB3, 0xD04C9B, 0xDE507F, 0xE75862, 0xEA6440, 0xE57217].map(
      PlotColor.init))
}

/// The role of a color in a drawing. A theme defines the color of each role.
public enum PlotColorRole: Hashable, Sendable {
  /// The background of the drawing.
  case background
  /// The color of titles, control curves and RMS lines.
  case foreground
  /// The color of labels.
  case muted
  /// The color of axis lines.
  case edge
  /// The color of grid lines, which need no contrast.
  case grid
  /// The color of the area that all overlaid takes have in common.
  case sharedArea
  /// The color of the line that all overlaid takes have in common.
  case sharedLine
  /// The color of the waveform and the audio events of a single take.
  case signal
  /// The color of one take in an overlay. The four colors repeat.
  case take(Int)
}

/// The palette of a theme: the color of each role.
///
/// Text has a contrast of at least 4.5:1 with its background; meaningful lines have at least 3:1.
/// The first two takes are blue and orange, which are distinguishable with every type of color
/// vision. Takes also differ in dash pattern and in the shape of heads.
public struct PlotPalette: Sendable {
  private let colorTheme: PlotTheme

  /// The number of distinct colors for takes.
  public static let takeColorCount = 4

  /// The name of each role in style sheets, and its colors in light and dark themes.
  fileprivate static let roleColors: [PlotColorRole: (name: String, light: UInt32, dark: UInt32)] =
    [
      .background: ("paper", 0xFFFFFF, 0x14181F),
      .foreground: ("ink", 0x13171D, 0xEAEEF3),
      .muted: ("muted", 0x566070, 0x9BA6B4),
      .edge: ("edge", 0x868F9C, 0x687382),
      .grid: ("grid", 0xECEFF2, 0x2A323D),
      .sharedArea: ("equal", 0xCDD3DA, 0x4A5565),
      .sharedLine: ("equal-line", 0x7C8693, 0x8C97A5),
      .signal: ("signal", 0xB4BCC6, 0x4A5462),
      .take(0): ("a", 0x1463B8, 0x6DB3F8),
      .take(1): ("b", 0xBD4B00, 0xFFA259),
      .take(2): ("c", 0x0B7A62, 0x43C6A4),
      .take(3): ("d", 0xA0358F, 0xE58FDC),
    ]

  /// Creates the palette of a theme.
  public init(_ theme: PlotTheme) { self.colorTheme = theme }

  /// Returns the color that the palette defines for a role.
  public func color(of role: PlotColorRole) -> PlotColor {
    guard let themeColors = Self.roleColors[role.withRepeatedTakeIndex] else {
      return PlotColor(0x808080)
    }
    return PlotColor(colorTheme == .light ? themeColors.light : themeColors.dark)
  }
}

extension PlotColorRole {
  /// The role with its take index reduced to the number of distinct take colors.
  var withRepeatedTakeIndex: PlotColorRole {
    if case .take(let takeIndex) = self {
      return .take(takeIndex % PlotPalette.takeColorCount)
    }
    return self
  }

  /// The name of the role in style sheets.
  var cssName: String { PlotPalette.roleColors[withRepeatedTakeIndex]?.name ?? "" }
}
