extension FigureDrawing {
  /// Draws an entry of a legend that starts at a place on its base line.
  mutating func draw(_ entry: PlotPanel.LegendEntry, at place: PlotPoint) {
    let middle = place.y - 4 * scale
    let sign = PlotLayout.signWidth * scale
    let texts = entry.texts
    var text = PlotPoint(place.x + sign + 6 * scale, place.y)
    switch entry {
    case .sharpness: return drawScale(texts, at: place, length: 84)
    case .decibels: return drawScale(texts, at: place, length: 62)
    case .intensityCurve:
      drawing.line(PlotPoint(place.x, middle), PlotPoint(place.x + sign, middle), .ink, width: scale, opacity: 0.65)
      drawHandle(at: PlotPoint(place.x + sign / 2, middle))
    case .signal(let isLine):
      if isLine {
        drawing.line(PlotPoint(place.x, middle), PlotPoint(place.x + sign, middle), .ink, width: 1.25 * scale)
      } else {
        drawing.add(
          .bar(
            PlotBox(left: place.x, top: middle - 4 * scale, right: place.x + sign, bottom: middle + 4 * scale),
            radius: 1.5 * scale, fill: PlotDrawing.Fill(paint: .role(.signal))))
      }
    case .effective:
      drawing.line(PlotPoint(place.x, middle), PlotPoint(place.x + sign, middle), .ink, width: 1.25 * scale)
    case .band:
      drawing.line(
        PlotPoint(place.x, middle), PlotPoint(place.x + sign, middle), .muted, width: scale,
        dashes: [2 * scale, 4 * scale])
    case .window(let seconds):
      let span = layout.x(plot.span.lowerBound + seconds) - layout.left
      let (left, right) = (place.x, place.x + max(4 * scale, span))
      drawing.stroke(
        [
          [
            PlotPoint(left, middle - 3 * scale), PlotPoint(left, middle + 2 * scale),
            PlotPoint(right, middle + 2 * scale), PlotPoint(right, middle - 3 * scale),
          ]
        ], PlotDrawing.Stroke(paint: .role(.muted), width: scale))
      text.x = right + 6 * scale
    }
    if let label = texts.first { write(label, at: text) }
  }

  /// A scale of colours with what its ends mean.
  private mutating func drawScale(_ texts: [String], at place: PlotPoint, length: Double) {
    let start = place.x + layout.width(of: texts[0], size: PlotLayout.labelSize) + 6 * scale
    let end = start + length * scale
    let box = PlotBox(left: start, top: place.y - 8 * scale, right: end, bottom: place.y)
    write(texts[0], at: PlotPoint(start - 6 * scale, place.y), anchor: .end)
    write(texts[1], at: PlotPoint(end + 6 * scale, place.y))
    guard texts[0] != "dull" else {
      drawing.add(
        .bar(
          box, radius: 4 * scale,
          fill: PlotDrawing.Fill(paint: Self.ramp(from: PlotPoint(start, 0), to: PlotPoint(end, 0)))))
      return
    }
    // Levels cover the colour of their frequency; here the ink stands for all colours.
    drawing.add(
      .raster(
        PlotDrawing.Raster(
          levels: (0..<64).map { Self.coverage(Double($0) / 63) }, columns: 64, box: box, paint: .role(.ink))))
  }

  /// How much a share of the range of levels covers, 0…255.
  static func coverage(_ share: Double) -> UInt8 {
    // A little less than even, so that weak noise does not look strong.
    UInt8((255 * 0.92 * share * share.squareRoot().squareRoot()).rounded())
  }
}
