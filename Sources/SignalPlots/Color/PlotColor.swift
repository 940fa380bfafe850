internal import CMath

/// A colour in sRGB.
public struct PlotColor: Hashable, Sendable {
  /// Red, 0…1.
  public let red: Double
  /// Green, 0…1.
  public let green: Double
  /// Blue, 0…1.
  public let blue: Double

  /// Makes a colour from its three parts.
  public init(red: Double, green: Double, blue: Double) { (self.red, self.green, self.blue) = (red, green, blue) }

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
      + [red, green, blue].map {
        let text = String($0, radix: 16)
        return text.utf8.count < 2 ? "0" + text : text
      }.joined()
  }

  /// A mixture on the straight line to another colour; share 1 is the other one.
  public func mixed(with other: PlotColor, share: Double) -> PlotColor {
    PlotColor(
      red: red + (other.red - red) * share, green: green + (other.green - green) * share,
      blue: blue + (other.blue - blue) * share)
  }

  /// The share of white's light that the colour gives off, by WCAG 2.1.
  public var luminance: Double { 0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue) }

  /// The contrast to another colour, 1…21, by WCAG 2.1: text needs 4.5, lines 3.
  public func contrast(with other: PlotColor) -> Double {
    let (bright, dark) = (max(luminance, other.luminance), min(luminance, other.luminance))
    return (bright + 0.05) / (dark + 0.05)
  }

  /// The light of a part of sRGB, 0…1.
  static func linear(_ part: Double) -> Double { part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4) }

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
    return anchors[index].mixed(with: anchors[index + 1], share: place - Double(index))
  }

  /// The scale of sharpness, from violet through magenta to orange, the same in both themes.
  ///
  /// Lightness in OKLCH rises from 0.55 to 0.68, and every colour has a contrast of 3 to 1 and more
  /// to the paper of either theme.
  public static let sharpness = Colormap(
    [0x6558E0, 0x8852D8, 0xA44EC8, 0xBC4CB3, 0xD04C9B, 0xDE507F, 0xE75862, 0xEA6440, 0xE57217].map(PlotColor.init))
}
