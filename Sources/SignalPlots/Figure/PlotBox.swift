/// A place in a picture, in pixels from the top left.
struct PlotPoint: Equatable, Sendable {
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

  /// The rectangle made smaller by so many pixels on each side.
  func inset(_ pixels: Double) -> PlotBox {
    PlotBox(left: left + pixels, top: top + pixels, right: right - pixels, bottom: bottom - pixels)
  }
}
