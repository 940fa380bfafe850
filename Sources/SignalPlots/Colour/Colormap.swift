/// A scale of colours from 0 to 1, on which equal steps look equal.
public struct Colormap: Sendable {
  private let anchors: [PlotColor]
  private let range: ClosedRange<Double>

  init(_ anchors: [PlotColor], range: ClosedRange<Double> = 0...1) {
    self.anchors = anchors
    self.range = range
  }

  /// The colour of a share, which is clamped to 0…1.
  public func colour(at share: Double) -> PlotColor {
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
}
