/// Draws what the signs of a panel mean.
struct LegendDrawing {
  /// The figure that the panel is in.
  let figure: FigureDrawing

  /// Draws an entry that begins at a place on its base line.
  func draw(_ entry: PlotPanel.LegendEntry, at place: PlotPoint) {
    let (canvas, palette, em) = (figure.canvas, figure.palette, figure.em)
    let middle = place.y - 0.35 * em
    let sign = [PlotPoint(place.x, middle), PlotPoint(place.x + 1.7 * em, middle)]
    var text = PlotPoint(place.x + 2.2 * em, place.y)
    switch entry {
    case .sharpness:
      canvas.use(palette.label)
      canvas.write(entry.text, at: place, size: em)
      let start = place.x + canvas.width(of: entry.text, size: em) + 0.5 * em
      canvas.write("0", at: PlotPoint(start, place.y), size: em)
      drawRamp(palette.sharpness, from: start + 1.2 * em, length: 4 * em, on: place.y)
      canvas.use(palette.label)
      canvas.write("1", at: PlotPoint(start + 5.6 * em, place.y), size: em)
      return
    case .decibels(let low, let high):
      let lowText = AxisTick.text(Double(low), places: 0)
      canvas.use(palette.label)
      canvas.write(lowText, at: place, size: em)
      let start = place.x + canvas.width(of: lowText, size: em) + 0.4 * em
      drawRamp(palette.energy, from: start, length: 4 * em, on: place.y)
      canvas.use(palette.label)
      let highText = AxisTick.text(Double(high), places: 0)
      canvas.write("\(highText) \(entry.text)", at: PlotPoint(start + 4.4 * em, place.y), size: em)
      return
    case .intensityControl:
      canvas.use(palette.ink)
      canvas.stroke(sign, width: 0.13 * em)
      figure.drawHandle(at: PlotPoint(place.x + 0.85 * em, middle), isRound: true)
    case .sharpnessControl:
      canvas.use(palette.control)
      canvas.stroke(sign, width: 0.13 * em, dashes: [0.45 * em, 0.28 * em])
      figure.drawHandle(at: PlotPoint(place.x + 0.85 * em, middle), isRound: false)
    case .first:
      canvas.use(palette.first)
      canvas.fill(
        PlotBox(
          left: place.x, top: middle - 0.35 * em, right: place.x + 1.7 * em,
          bottom: middle + 0.35 * em))
    case .second:
      canvas.use(palette.second)
      canvas.stroke(sign, width: 0.16 * em, dashes: [0.45 * em, 0.28 * em])
    case .effective:
      canvas.use(palette.ink)
      canvas.stroke(sign, width: 0.13 * em)
    case .band:
      canvas.use(palette.ink)
      canvas.stroke(sign, width: 0.13 * em, dashes: [0.3 * em, 0.25 * em])
    }
    canvas.use(palette.label)
    text.y = place.y
    canvas.write(entry.text, at: text, size: em)
  }

  private func drawRamp(_ ramp: Colormap, from left: Double, length: Double, on baseline: Double) {
    let stops = (0...16).map { step in
      (place: Double(step) / 16, colour: ramp.colour(at: Double(step) / 16))
    }
    figure.canvas.use(stops, from: left, to: left + length)
    figure.canvas.fill(
      PlotBox(
        left: left, top: baseline - 0.7 * figure.em, right: left + length, bottom: baseline))
  }
}

extension FigureDrawing {
  /// A control point: a ring on the curve of intensity, a diamond on that of sharpness.
  func drawHandle(at place: PlotPoint, isRound: Bool) {
    let radius = 0.27 * em
    if isRound {
      canvas.use(palette.paper)
      canvas.fillDisc(place, radius: radius)
      canvas.use(palette.ink)
      canvas.strokeDisc(place, radius: radius, width: 0.12 * em)
    } else {
      let corners = [(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0), (0.0, -1.3)].map {
        PlotPoint(place.x + $0.0 * radius, place.y + $0.1 * radius)
      }
      canvas.use(palette.paper)
      canvas.fill(corners)
      canvas.use(palette.control)
      canvas.stroke(corners, width: 0.12 * em, isRound: true)
    }
  }
}
