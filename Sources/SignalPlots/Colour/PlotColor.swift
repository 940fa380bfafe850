internal import Glibc

/// A colour in sRGB.
public struct PlotColor: Equatable, Sendable {
  /// Red, 0…1.
  public let red: Double
  /// Green, 0…1.
  public let green: Double
  /// Blue, 0…1.
  public let blue: Double

  /// Makes a colour from its three parts.
  public init(red: Double, green: Double, blue: Double) {
    (self.red, self.green, self.blue) = (red, green, blue)
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
  public var luminance: Double {
    0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
  }

  /// How well the colour stands out from another, 1…21, by WCAG 2.1: text wants 4.5, lines 3.
  public func contrast(with other: PlotColor) -> Double {
    let (bright, dark) = (max(luminance, other.luminance), min(luminance, other.luminance))
    return (bright + 0.05) / (dark + 0.05)
  }

  /// The light of a part of sRGB, 0…1.
  static func linear(_ part: Double) -> Double {
    part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
  }
}
