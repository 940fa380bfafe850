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

  /// The contrast to another colour, 1…21, by WCAG 2.1: text needs 4.5, lines 3.
  public func contrast(with other: PlotColor) -> Double {
    let (bright, dark) = (max(luminance, other.luminance), min(luminance, other.luminance))
    return (bright + 0.05) / (dark + 0.05)
  }

  /// The light of a part of sRGB, 0…1.
  static func linear(_ part: Double) -> Double {
    part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
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
  private let anchors: [PlotColor]
  private let range: ClosedRange<Double>

  init(_ anchors: [PlotColor], range: ClosedRange<Double> = 0...1) {
    self.anchors = anchors
    self.range = range
  }

  /// The colour of a share, which is clamped to 0…1.
  public func color(at share: Double) -> PlotColor {
    let share = share.isNaN ? 0 : min(max(share, 0), 1)
    let inRange = range.lowerBound + (range.upperBound - range.lowerBound) * share
    let place = inRange * Double(anchors.count - 1)
    let index = min(Int(place), anchors.count - 2)
    return anchors[index].mixed(with: anchors[index + 1], share: place - Double(index))
  }

  /// From dark blue through magenta to yellow, the scale of sharpness.
  ///
  /// Source: Matplotlib 3, `plasma` of Stéfan van der Walt and Nathaniel Smith, at ninths. Lightness
  /// rises all the way, so that the scale can be read without seeing hue.
  static let plasma = Colormap(
    [
      0x0D0887, 0x46039F, 0x7201A8, 0x9C179E, 0xBD3786, 0xD8576B, 0xED7953, 0xFB9F3A, 0xFDCA26,
      0xF0F921,
    ].map(PlotColor.init))

  /// From purple through green to yellow, the scale of spectrograms.
  ///
  /// Source: Matplotlib 3, `viridis` of Eric Firing, at ninths.
  static let viridis = Colormap(
    [
      0x440154, 0x482878, 0x3E4989, 0x31688E, 0x26828E, 0x1F9E89, 0x35B779, 0x6ECE58, 0xB5DE2B,
      0xFDE725,
    ].map(PlotColor.init))

  /// The part of a scale between two of its places.
  func part(_ range: ClosedRange<Double>) -> Colormap { Colormap(anchors, range: range) }

  /// The scale that begins at a ground and comes to this one's colours behind a tenth of it.
  func rising(from ground: PlotColor, isReversed: Bool) -> Colormap {
    Colormap([ground] + (isReversed ? anchors.reversed() : anchors))
  }

  /// The scale of sharpness for a ground that is not known: neither too dark nor too bright.
  static let terminalSharpness = Colormap.plasma.part(0.25...0.85)
}
