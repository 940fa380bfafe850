/// Draws audio events in a lane: shapes as high as their volume, with the names of files.
struct AudioDrawing {
  /// The figure that the panel is in.
  let figure: FigureDrawing
  /// The axis of volume.
  let axis: PlotAxis
  /// Where the panel lies.
  let box: PlotBox

  /// The most events that are drawn; a lane with more is full anyway.
  private static let mostEvents = 2_000

  /// Draws the lane.
  func draw(_ score: PatternScore) throws(PlotError) {
    let (canvas, em, layout) = (figure.canvas, figure.em, figure.layout)
    let ground = layout.y(0, on: axis, in: box)
    try canvas.clipped(to: box) { () throws(PlotError) in
      let events = score.audioEvents
      let step = max(1, events.count / Self.mostEvents)
      var labelEnd = -Double.infinity
      for index in stride(from: 0, to: events.count, by: step) {
        let event = events[index]
        let line = event.points.map {
          PlotPoint(layout.x($0.time), layout.y($0.intensity, on: axis, in: box))
        }
        canvas.use(figure.palette.first, opacity: 0.3)
        if let first = line.first, let last = line.last {
          canvas.fill([PlotPoint(first.x, ground)] + line + [PlotPoint(last.x, ground)])
        }
        canvas.use(figure.palette.first)
        let start = layout.x(event.time)
        if line.count > 1 {
          canvas.stroke(line, width: 0.15 * em, isRound: true)
        } else {
          // A file of unknown length has a beginning only.
          let top = layout.y(event.givenIntensity, on: axis, in: box)
          canvas.stroke([PlotPoint(start, ground), PlotPoint(start, top)], width: 0.17 * em)
          canvas.fillDisc(PlotPoint(start, top), radius: 0.3 * em)
        }
        if start > labelEnd {
          let label = layout.fitted(
            event.file ?? "tone", size: em, to: box.right - start - 0.5 * em)
          canvas.use(figure.palette.ink)
          canvas.write(label, at: PlotPoint(start + 0.5 * em, ground - 0.5 * em), size: em)
          labelEnd = start + canvas.width(of: label, size: em) + em
        }
      }
    }
  }
}
