extension PlotColor {
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

extension Colormap {
  /// The scale of sharpness for a ground that is not known: neither too dark nor too bright.
  static let terminalSharpness = Colormap.plasma.part(0.25...0.85)
}
