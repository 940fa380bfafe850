internal import HapticModel

extension FigureDrawing {
  /// From how many points on shapes that are over one another are drawn as one.
  static let maximumShapePointCount = 20_000
  /// From how many continuous events on they are drawn as one shape.
  static let maximumShapeCount = 400
  /// Pixels between points of a curve below which the curve is drawn alone.
  static let leastHandleRoom = 12.0
  /// Pixels between transients below which they are drawn as columns.
  static let leastStemRoom = 4.0

  // MARK: Intensity

  /// Draws how strong takes are.
  mutating func drawStrength(_ panel: PlotPanel, in box: PlotBox) {
    guard plot.takes.count == 1, let score = plot.takes[0].score else {
      drawStrengths(panel, in: box)
      return
    }
    drawShapes(score, panel, in: box)
    for curve in score.curves where curve.id == .hapticIntensityControl { draw(curve, panel, in: box) }
    drawStems(of: score, panel, in: box)
  }

  /// The part of a line by rising x that is within the box, cut at its edges.
  func visible(_ points: [PlotPoint]) -> [PlotPoint] { PolylineThinning.cut(points, to: layout.left...layout.right) }

  private mutating func drawShapes(_ score: PatternScore, _ panel: PlotPanel, in box: PlotBox) {
    let continuous = score.events.filter {
      $0.kind.isVibration && $0.points.count > 1 && $0.end >= plot.span.lowerBound
        && $0.time <= plot.span.upperBound
    }
    let pointCount = continuous.reduce(0) { $0 + $1.points.count }
    guard continuous.count <= Self.maximumShapeCount, pointCount <= Self.maximumShapePointCount else {
      drawTogether(continuous, panel, in: box)
      return
    }
    let opacity = max(0.2, 0.82 / Double(Self.mostAtOnce(continuous)).squareRoot())
    for event in continuous {
      let line = visible(
        event.points.map { PlotPoint(layout.x($0.time), layout.y($0.intensity, on: panel.axis, in: box)) })
      fill(
        PolylineThinning.thinned(line), colors: event.points.map { ($0.time, $0.sharpness) }, opacity: opacity, in: box)
    }
  }

  /// The most events that are over one another at any time.
  static func mostAtOnce(_ events: [PatternScore.Event]) -> Int {
    let ends = events.map(\.end).sorted()
    var (ended, most) = (0, 1)
    for (started, event) in events.enumerated() {
      while ended < ends.count, ends[ended] <= event.time + 1e-3 { ended += 1 }
      most = max(most, started + 1 - ended)
    }
    return most
  }

  /// One shape for many events: as high as the strongest in each column of pixels, in its colour.
  private mutating func drawTogether(_ events: [PatternScore.Event], _ panel: PlotPanel, in box: PlotBox) {
    let strongest = columns(of: events)
    var run: [PlotPoint] = []
    var colors: [(Double, Double)] = []
    for (index, point) in strongest.enumerated() {
      if point.intensity > 0 {
        let x = columnPlace(index)
        run.append(PlotPoint(x, layout.y(point.intensity, on: panel.axis, in: box)))
        colors.append((layout.seconds(at: x), point.sharpness))
      }
      if point.intensity <= 0 || index == strongest.count - 1 {
        fill(PolylineThinning.straightened(run, tolerance: 0.2), colors: colors, opacity: 0.82, in: box)
        (run, colors) = ([], [])
      }
    }
  }

  /// Fills below a line with the colours of sharpness, which are given over time.
  private mutating func fill(
    _ line: [PlotPoint], colors: [(time: Double, sharpness: Double)], opacity: Double, in box: PlotBox
  ) {
    guard let first = line.first, let last = line.last, line.count > 1 else { return }
    drawing.fill(
      [[PlotPoint(first.x, box.bottom)] + line + [PlotPoint(last.x, box.bottom)]], paint(of: colors), opacity: opacity)
  }

  /// The colours of sharpness over time; one colour where it stays.
  private func paint(of colors: [(time: Double, sharpness: Double)]) -> PlotDrawing.Paint {
    let ramp = Colormap.sharpness
    guard let first = colors.first, let last = colors.last, last.time > first.time,
      colors.contains(where: { abs($0.sharpness - first.sharpness) > 1e-3 })
    else { return .color(ramp.color(at: colors.first?.sharpness ?? 0)) }
    let bends = PolylineThinning.straightened(colors.map { PlotPoint($0.time, $0.sharpness) }, tolerance: 0.015)
    let length = last.time - first.time
    var stops: [PlotDrawing.Stop] = []
    for (from, to) in zip(bends, bends.dropFirst()) {
      // The scale is not a straight line of colour.
      let parts = max(1, Int((abs(to.y - from.y) * 8).rounded(.up)))
      for part in (stops.isEmpty ? 0 : 1)...parts {
        let share = Double(part) / Double(parts)
        stops.append(
          PlotDrawing.Stop(
            share: (from.x + (to.x - from.x) * share - first.time) / length,
            color: ramp.color(at: from.y + (to.y - from.y) * share)))
      }
    }
    return .gradient(stops, from: PlotPoint(layout.x(first.time), 0), to: PlotPoint(layout.x(last.time), 0))
  }

  /// A curve of intensity control, with the points that its author gave.
  private mutating func draw(_ curve: PatternScore.Curve, _ panel: PlotPanel, in box: PlotBox) {
    let line = visible(curve.line.map { PlotPoint(layout.x($0.time), layout.y($0.value, on: panel.axis, in: box)) })
    drawing.stroke(
      [PolylineThinning.thinned(line)], PlotDrawing.Stroke(paint: .role(.ink), width: scale, opacity: 0.65))
    let handles = curve.handles.filter { isShown($0.time) }
    // Where many are close, they would hide what the curve is about.
    guard Double(handles.count) * Self.leastHandleRoom * scale <= box.width else { return }
    var taken = Set<[Int]>()
    for handle in handles {
      let place = PlotPoint(layout.x(handle.time), layout.y(handle.value, on: panel.axis, in: box))
      let cell = [Int(place.x / (7 * scale)), Int(place.y / (7 * scale))]
      if taken.insert(cell).inserted { drawHandle(at: place) }
    }
  }

  /// Whether a time is in the part that is shown.
  func isShown(_ seconds: Double) -> Bool {
    (plot.span.lowerBound - 1e-9...plot.span.upperBound + 1e-9).contains(seconds)
  }

  // MARK: Transients

  /// The transients of a score that are shown.
  func transients(of score: PatternScore) -> [PatternScore.Point] {
    score.events.compactMap { event in event.kind.isTransient && isShown(event.time) ? event.points.first : nil
    }
  }

  /// How fine stems and heads are, where many are close; nil where they are drawn as columns.
  func fineness(count: Int) -> Double? {
    let room = (layout.right - layout.left) / scale / Double(max(1, count))
    return room < Self.leastStemRoom ? nil : min(1, max(0.4, room / 12))
  }

  private mutating func drawStems(of score: PatternScore, _ panel: PlotPanel, in box: PlotBox) {
    let transients = transients(of: score)
    guard let fineness = fineness(count: transients.count) else {
      drawColumns(of: transients, panel, in: box)
      return
    }
    for point in transients {
      let ground = PlotPoint(layout.x(point.time), box.bottom)
      let head = PlotPoint(ground.x, layout.y(point.intensity, on: panel.axis, in: box))
      let paint = PlotDrawing.Paint.color(Colormap.sharpness.color(at: point.sharpness))
      guard point.intensity > 0 else {
        // What its controls silence is a ring on the ground.
        drawing.add(
          .disc(
            ground, radius: 4 * fineness * scale, fill: PlotDrawing.Fill(paint: .role(.paper)),
            stroke: PlotDrawing.Stroke(paint: paint, width: 1.5 * scale)))
        continue
      }
      drawing.line(ground, head, .paper, width: 5 * fineness * scale)
      drawing.stroke([[ground, head]], PlotDrawing.Stroke(paint: paint, width: max(1, 2.5 * fineness) * scale))
      drawHead(at: head, of: 0, paint: paint, radius: 5 * fineness)
    }
  }

  /// Many transients: in each column the strongest as a pale bar and the weakest as a full one.
  private mutating func drawColumns(of transients: [PatternScore.Point], _ panel: PlotPanel, in box: PlotBox) {
    var columns: [Int: (weakest: PatternScore.Point, strongest: PatternScore.Point)] = [:]
    for point in transients where point.intensity > 0 {
      let column = Int((layout.x(point.time) - layout.left) / (Self.columnWidth * scale))
      let other = columns[column] ?? (point, point)
      columns[column] = (
        point.intensity < other.weakest.intensity ? point : other.weakest,
        point.intensity > other.strongest.intensity ? point : other.strongest
      )
    }
    // One shape a colour; more colours cannot be distinguished.
    var bars: [Int: (pale: [[PlotPoint]], full: [[PlotPoint]])] = [:]
    for (column, points) in columns.sorted(by: { $0.key < $1.key }) {
      let x = layout.left + (Double(column) + 0.5) * Self.columnWidth * scale
      for (point, isFull) in [(points.strongest, false), (points.weakest, true)] {
        let color = Int((point.sharpness * 16).rounded())
        let bar = [PlotPoint(x, box.bottom), PlotPoint(x, layout.y(point.intensity, on: panel.axis, in: box))]
        if isFull {
          bars[color, default: ([], [])].full.append(bar)
        } else {
          bars[color, default: ([], [])].pale.append(bar)
        }
      }
    }
    for (color, shapes) in bars.sorted(by: { $0.key < $1.key }) {
      let paint = PlotDrawing.Paint.color(Colormap.sharpness.color(at: Double(color) / 16))
      let width = (Self.columnWidth - 0.6) * scale
      drawing.stroke(shapes.pale, PlotDrawing.Stroke(paint: paint, width: width, opacity: 0.45))
      drawing.stroke(shapes.full, PlotDrawing.Stroke(paint: paint, width: width))
    }
  }

  /// Pixels across of a column of many transients.
  static let columnWidth = 2.0

  // MARK: Columns of continuous events

  /// How many columns of half a pixel the axis of time has.
  var columnCount: Int { max(1, Int(((layout.right - layout.left) * 2 / scale).rounded(.up))) }

  /// The strongest of some events in each column.
  func columns(of events: [PatternScore.Event]) -> [PatternScore.Point] {
    let step = (layout.right - layout.left) / Double(columnCount)
    return ScoreColumns(events, count: columnCount) { (layout.x($0) - layout.left) / step }.strongest
  }

  /// The middle of a column.
  func columnPlace(_ column: Int) -> Double {
    layout.left + (layout.right - layout.left) * (Double(column) + 0.5) / Double(columnCount)
  }
}
