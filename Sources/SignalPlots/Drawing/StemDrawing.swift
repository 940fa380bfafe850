internal import HapticModel

/// Draws transients: a stem as high as the intensity, with a head; a silent one is a ring on the ground.
struct StemDrawing {
  /// The score that they are part of.
  let score: ScoreDrawing
  /// 1 upwards, −1 downwards.
  let side: Double

  /// From how many transients on those that would cover one another are left out.
  static let mostStems = 400

  /// Up to how many transients they are drawn over the curves.
  static let mostBeforeCurves = 60

  /// The transients of a score.
  func events(of score: PatternScore) -> [PatternScore.Event] {
    score.events.filter { $0.kind == .hapticTransient }
  }

  /// Draws the transients of a score, those that come later over earlier ones.
  func draw(_ pattern: PatternScore) {
    let events = events(of: pattern)
    let shown = events.count > Self.mostStems ? thinned(events) : events
    let (canvas, layout, em) = (score.figure.canvas, score.figure.layout, score.figure.em)
    let room = (layout.timeRight - layout.timeLeft) / Double(max(1, shown.count))
    // Where many stand close, finer stems and heads keep them apart.
    let fineness = min(1, max(0.4, room / em))
    let radius = 0.36 * em * fineness
    for event in shown {
      guard let point = event.points.first else { continue }
      let head = PlotPoint(layout.x(point.time), score.y(point.intensity * side))
      let ground = PlotPoint(head.x, score.y(0))
      let colour = score.figure.palette.sharpness.colour(at: point.sharpness)
      guard point.intensity > 0 else {
        canvas.use(colour)
        canvas.strokeDisc(ground, radius: radius, width: 0.12 * em)
        continue
      }
      canvas.use(score.figure.palette.paper, opacity: 0.7)
      canvas.stroke([ground, head], width: 0.36 * em * fineness)
      canvas.fillDisc(head, radius: radius * 1.3)
      canvas.use(colour)
      canvas.stroke([ground, head], width: max(1, 0.17 * em * fineness))
      canvas.fillDisc(head, radius: radius)
    }
  }

  /// One transient for each cell of a grid as fine as the heads, in their order.
  private func thinned(_ events: [PatternScore.Event]) -> [PatternScore.Event] {
    var taken = Set<[Int]>()
    let layout = score.figure.layout
    let cell = (width: 0.3 * layout.textSize, height: 0.6 * layout.textSize)
    return events.filter { event in
      guard let point = event.points.first else { return false }
      return taken.insert([
        Int(layout.x(point.time) / cell.width), Int(score.y(point.intensity) / cell.height),
      ]).inserted
    }
  }
}
