internal import HapticModel

/// Draws a score: shapes for continuous events, stems for transients, and the curves over them.
struct ScoreDrawing {
  /// The figure that the panel is in.
  let figure: FigureDrawing
  /// The axis of intensity.
  let axis: PlotAxis
  /// Where the panel lies.
  let box: PlotBox

  /// From how many points on shapes that lie over one another are drawn as one.
  static let maximumShapePointCount = 40_000
  /// From how many continuous events on they are drawn as one shape.
  static let maximumShapeCount = 1_000

  /// Draws a score upwards and, where there is a second, that one downwards.
  func draw(_ score: PatternScore, mirrored: PatternScore?) throws(PlotError) {
    try figure.canvas.clipped(to: box) { () throws(PlotError) in
      drawShapes(score, side: 1)
      if let mirrored {
        drawShapes(mirrored, side: -1)
        figure.canvas.use(figure.palette.frame)
        let middle = figure.sharp(y(0))
        figure.canvas.stroke(
          [PlotPoint(box.left, middle), PlotPoint(box.right, middle)], width: figure.hairline)
      } else {
        for curve in score.curves where curve.id == .hapticSharpnessControl {
          draw(curve, isRound: false) { ($0 + 1) / 2 }
        }
      }
      for (side, score) in [(1.0, score), (-1, mirrored)] {
        guard let score else { continue }
        let stems = StemDrawing(score: self, side: side)
        // A few stems are drawn over the curve; many would hide it.
        let areFew = stems.events(of: score).count <= StemDrawing.maximumStemCountOverCurves
        if !areFew { stems.draw(score) }
        for curve in score.curves where curve.id == .hapticIntensityControl {
          draw(curve, isRound: true) { $0 * side }
        }
        if areFew { stems.draw(score) }
      }
    }
  }

  /// The height of a value.
  func y(_ value: Double) -> Double { figure.layout.y(value, on: axis, in: box) }

  private func drawShapes(_ score: PatternScore, side: Double) {
    let continuous = score.events.filter { $0.kind == .hapticContinuous && $0.points.count > 1 }
    let pointCount = continuous.reduce(0) { $0 + $1.points.count }
    if continuous.count > Self.maximumShapeCount || pointCount > Self.maximumShapePointCount {
      drawTogether(continuous, side: side)
    } else {
      let opacity = 0.5 / Double(Self.mostAtOnce(continuous)).squareRoot()
      for event in continuous { fill(event, side: side, opacity: max(0.1, opacity)) }
      for event in continuous { outline(event, side: side) }
    }
  }

  /// The most events that lie over one another at any time.
  static func mostAtOnce(_ events: [PatternScore.Event]) -> Int {
    let ends = events.map(\.end).sorted()
    var (ended, most) = (0, 1)
    for (started, event) in events.enumerated() {
      while ended < ends.count, ends[ended] <= event.time { ended += 1 }
      most = max(most, started + 1 - ended)
    }
    return most
  }

  private func places(of event: PatternScore.Event, side: Double) -> [PlotPoint] {
    event.points.map { PlotPoint(figure.layout.x($0.time), y($0.intensity * side)) }
  }

  /// The colours of an event along its time, as stops between its ends.
  private func useColors(of event: PatternScore.Event, opacity: Double) {
    guard let first = event.points.first, let last = event.points.last else { return }
    let ramp = figure.palette.sharpness
    let length = last.time - first.time
    // Equal sharpness needs no gradient.
    guard length > 0, event.points.contains(where: { $0.sharpness != first.sharpness }) else {
      figure.canvas.use(ramp.color(at: first.sharpness), opacity: opacity)
      return
    }
    let bends = PolylineThinning.straightened(
      event.points.map { PlotPoint($0.time, $0.sharpness) }, tolerance: 0.01)
    var stops: [(place: Double, color: PlotColor)] = []
    for (from, to) in zip(bends, bends.dropFirst()) {
      // The scale is not a straight line of colour.
      let parts = max(1, Int((abs(to.y - from.y) * 12).rounded(.up)))
      for part in (stops.isEmpty ? 0 : 1)...parts {
        let share = Double(part) / Double(parts)
        let time = from.x + (to.x - from.x) * share
        stops.append(
          ((time - first.time) / length, ramp.color(at: from.y + (to.y - from.y) * share)))
      }
    }
    figure.canvas.use(
      stops, from: figure.layout.x(first.time), to: figure.layout.x(last.time), opacity: opacity)
  }

  private func fill(_ event: PatternScore.Event, side: Double, opacity: Double) {
    let line = places(of: event, side: side)
    guard let first = line.first, let last = line.last else { return }
    useColors(of: event, opacity: opacity)
    figure.canvas.fill([PlotPoint(first.x, y(0))] + line + [PlotPoint(last.x, y(0))])
  }

  private func outline(_ event: PatternScore.Event, side: Double) {
    useColors(of: event, opacity: 1)
    figure.canvas.stroke(
      places(of: event, side: side), width: 0.15 * figure.em, isRound: true)
  }

  /// One shape for many events: in each column of pixels the strongest, in its colour.
  private func drawTogether(_ events: [PatternScore.Event], side: Double) {
    let layout = figure.layout
    let origin = layout.timeLeft.rounded(.down)
    let columns = ScoreColumns(
      events, count: max(1, Int((layout.timeRight - origin).rounded(.up)))
    ) { layout.x($0) - origin }
    for (column, strongest) in columns.strongest.enumerated() where strongest.intensity > 0 {
      let left = origin + Double(column)
      let top = y(strongest.intensity * side)
      figure.canvas.use(figure.palette.sharpness.color(at: strongest.sharpness))
      figure.canvas.fill(
        PlotBox(left: left, top: min(top, y(0)), right: left + 1, bottom: max(top, y(0))))
    }
  }

  private func draw(
    _ curve: PatternScore.Curve, isRound: Bool, value: (Double) -> Double
  ) {
    let (canvas, em) = (figure.canvas, figure.em)
    let places = curve.line.map { PlotPoint(figure.layout.x($0.time), y(value($0.value))) }
    let line = PolylineThinning.thinned(places)
    // A line of the ground's colour below keeps the curve apart from the shapes.
    canvas.use(figure.palette.paper, opacity: 0.75)
    canvas.stroke(line, width: 0.34 * em, isRound: true)
    canvas.use(isRound ? figure.palette.ink : figure.palette.control)
    canvas.stroke(
      line, width: 0.13 * em, dashes: isRound ? [] : [0.45 * em, 0.28 * em])
    var taken = Set<[Int]>()
    for handle in curve.handles {
      let place = PlotPoint(figure.layout.x(handle.time), y(value(handle.value)))
      let cell = [Int(place.x / (0.6 * em)), Int(place.y / (0.6 * em))]
      if taken.insert(cell).inserted { figure.drawHandle(at: place, isRound: isRound) }
    }
  }
}

/// Draws transients: a stem as high as the intensity, with a head; a silent one is a ring on the ground.
struct StemDrawing {
  /// The score that they are part of.
  let score: ScoreDrawing
  /// 1 upwards, −1 downwards.
  let side: Double

  /// From how many transients on those that would cover one another are left out.
  static let maximumStemCount = 400

  /// Up to how many transients they are drawn over the curves.
  static let maximumStemCountOverCurves = 60

  /// The transients of a score.
  func events(of score: PatternScore) -> [PatternScore.Event] {
    score.events.filter { $0.kind == .hapticTransient }
  }

  /// Draws the transients of a score, those that come later over earlier ones.
  func draw(_ pattern: PatternScore) {
    let events = events(of: pattern)
    let shown = events.count > Self.maximumStemCount ? thinned(events) : events
    let (canvas, layout, em) = (score.figure.canvas, score.figure.layout, score.figure.em)
    let room = (layout.timeRight - layout.timeLeft) / Double(max(1, shown.count))
    // Where many are close, finer stems and heads keep them apart.
    let fineness = min(1, max(0.4, room / em))
    let radius = 0.36 * em * fineness
    for event in shown {
      guard let point = event.points.first else { continue }
      let head = PlotPoint(layout.x(point.time), score.y(point.intensity * side))
      let ground = PlotPoint(head.x, score.y(0))
      let color = score.figure.palette.sharpness.color(at: point.sharpness)
      guard point.intensity > 0 else {
        canvas.use(color)
        canvas.strokeDisc(ground, radius: radius, width: 0.12 * em)
        continue
      }
      canvas.use(score.figure.palette.paper, opacity: 0.7)
      canvas.stroke([ground, head], width: 0.36 * em * fineness)
      canvas.fillDisc(head, radius: radius * 1.3)
      canvas.use(color)
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

/// Draws audio events in a lane: shapes as high as their volume, with the names of files.
struct AudioDrawing {
  /// The figure that the panel is in.
  let figure: FigureDrawing
  /// The axis of volume.
  let axis: PlotAxis
  /// Where the panel lies.
  let box: PlotBox

  /// The most events that are drawn; a lane with more is full anyway.
  private static let maximumEventCount = 2_000

  /// Draws the lane.
  func draw(_ score: PatternScore) throws(PlotError) {
    let (canvas, em, layout) = (figure.canvas, figure.em, figure.layout)
    let ground = layout.y(0, on: axis, in: box)
    try canvas.clipped(to: box) { () throws(PlotError) in
      let events = score.audioEvents
      let step = max(1, events.count / Self.maximumEventCount)
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
