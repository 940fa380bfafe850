internal import HapticModel

/// Scores: the events of one take, or those of several over one another.
extension PlotPainter {
  /// From how many points on shapes that are over one another are drawn as one.
  private static let maximumShapePointCount = 20_000
  /// From how many continuous events on they are drawn as one shape.
  private static let maximumShapeCount = 400
  /// Pixels between points of a curve below which the curve is drawn alone.
  private static let minimumControlPointSpacing = 12.0
  /// Pixels between transients below which they are drawn as columns.
  private static let minimumStemSpacing = 4.0

  /// The runs of places in a list that match, each as a line of points without those that no pixel
  /// shows.
  private static func polylines(
    in indices: Range<Int>, where matches: (Int) -> Bool, point: (Int) -> PlotPoint
  )
    -> [[PlotPoint]]
  {
    indices.runs(where: matches).map {
      LineSimplification.simplified($0.map(point), tolerance: 0.15)
    }
  }

  /// The part of a line by rising x that is within the panel, cut at its edges.
  func clippedToPanel(_ points: [PlotPoint]) -> [PlotPoint] {
    LineSimplification.clipped(points, to: layout.left...layout.right)
  }

  private func isVisible(_ event: EventPlot.Event) -> Bool {
    event.end >= plot.timeRange.lowerBound && event.onset <= plot.timeRange.upperBound
  }

  private func isTimeVisible(_ seconds: Double) -> Bool {
    (plot.timeRange.lowerBound - 1e-9...plot.timeRange.upperBound + 1e-9).contains(seconds)
  }

  mutating func drawIntensity() {
    guard plot.takes.count == 1, let score = plot.takes[0].eventPlot else {
      let values = plot.takes.map { take in columnValues(of: take).map(\.intensity) }
      drawAreas(
        values, baseline: box.bottom, tolerance: ColumnValue.intensityTolerance, isMirrored: false)
      if plot.takes.allSatisfy({ $0.eventPlot != nil }) {
        drawTransients()
      }
      return
    }
    let dense = denseEventPlot
    if let dense {
      drawIntensityEnvelope(of: dense)
    } else {
      drawContinuousEvents(of: score)
    }
    for curve in score.curves where curve.id == .hapticIntensityControl {
      drawCurve(curve)
    }
    if dense == nil {
      drawTransients()
    }
  }

  private mutating func drawContinuousEvents(of score: EventPlot) {
    let continuous = score.events.filter {
      $0.kind.isVibration && $0.points.count > 1 && isVisible($0)
    }
    let pointCount = continuous.reduce(0) { $0 + $1.points.count }
    guard continuous.count <= Self.maximumShapeCount, pointCount <= Self.maximumShapePointCount
    else {
      return drawMergedShape(of: continuous)
    }
    let opacity = max(0.2, 0.82 / Double(Self.maximumOverlap(of: continuous)).squareRoot())
    for event in continuous {
      let line = LineSimplification.decimated(
        clippedToPanel(event.points.map { point(atTime: $0.time, value: $0.intensity) }))
      fillToBaseline(line, colors: event.points.map { ($0.time, $0.sharpness) }, opacity: opacity)
    }
  }

  /// The most events that are over one another at any time.
  private static func maximumOverlap(of events: [EventPlot.Event]) -> Int {
    let ends = events.map(\.end).sorted()
    var ended = 0
    var most = 1
    for (started, event) in events.enumerated() {
      while ended < ends.count, ends[ended] <= event.onset + 1e-3 {
        ended += 1
      }
      most = max(most, started + 1 - ended)
    }
    return most
  }

  /// One shape for many events: as high as the strongest in each column of pixels, in its colour.
  private mutating func drawMergedShape(of events: [EventPlot.Event]) {
    let columns = strongestPoints(of: events)
    for run in columns.indices.runs(where: { columns[$0].intensity > 0 }) {
      let line = run.map { PlotPoint(columnX($0), y(of: columns[$0].intensity)) }
      let colors = run.map { (layout.time(atX: columnX($0)), columns[$0].sharpness) }
      fillToBaseline(
        LineSimplification.simplified(line, tolerance: 0.2), colors: colors, opacity: 0.82)
    }
  }

  private mutating func fillToBaseline(
    _ line: [PlotPoint], colors: [(time: Double, sharpness: Double)], opacity: Double
  ) {
    drawing.fill([closedToBaseline(line)], paint(forColors: colors), opacity: opacity)
  }

  /// A line with the ground below its ends; nothing of a single point.
  private func closedToBaseline(_ line: [PlotPoint]) -> [PlotPoint] {
    guard let first = line.first, let last = line.last, line.count > 1 else { return [] }
    return [PlotPoint(first.x, box.bottom)] + line + [PlotPoint(last.x, box.bottom)]
  }

  /// The colours of sharpness over time; one colour where it stays.
  private func paint(forColors colors: [(time: Double, sharpness: Double)]) -> PlotDrawing.Paint {
    let ramp = Colormap.sharpness
    guard let first = colors.first, let last = colors.last, last.time > first.time,
      colors.contains(where: { abs($0.sharpness - first.sharpness) > 1e-3 })
    else { return .color(ramp.color(at: colors.first?.sharpness ?? 0)) }
    let bends = LineSimplification.simplified(
      colors.map { PlotPoint($0.time, $0.sharpness) }, tolerance: 0.015)
    let length = last.time - first.time
    var stops: [PlotDrawing.GradientStop] = []
    for (from, to) in zip(bends, bends.dropFirst()) {
      // The scale is not a straight line of colour.
      let parts = max(1, Int((abs(to.y - from.y) * 8).rounded(.up)))
      for part in (stops.isEmpty ? 0 : 1)...parts {
        let share = Double(part) / Double(parts)
        let time = from.x + (to.x - from.x) * share
        let sharpness = from.y + (to.y - from.y) * share
        stops.append(
          PlotDrawing.GradientStop(
            offset: (time - first.time) / length, color: ramp.color(at: sharpness)))
      }
    }
    return .gradient(
      stops, from: PlotPoint(layout.x(atTime: first.time), 0),
      to: PlotPoint(layout.x(atTime: last.time), 0))
  }

  private mutating func drawCurve(_ curve: EventPlot.Curve) {
    let line = clippedToPanel(curve.points.map { point(atTime: $0.time, value: $0.value) })
    drawing.stroke(
      [LineSimplification.decimated(line)], .init(paint: .role(.ink), width: scale, opacity: 0.65))
    let handles = curve.controlPoints.filter { isTimeVisible($0.time) }
    // Where many are close, they would hide what the curve is about.
    guard Double(handles.count) * Self.minimumControlPointSpacing * scale <= box.width else {
      return
    }
    var taken = Set<[Int]>()
    for place in handles.map({ point(atTime: $0.time, value: $0.value) })
    where taken.insert([Int(place.x / (7 * scale)), Int(place.y / (7 * scale))]).inserted {
      drawControlPoint(at: place)
    }
  }

  /// How many columns of half a pixel the axis of time has.
  var columnCount: Int { max(1, Int(((layout.right - layout.left) * 2 / scale).rounded(.up))) }

  private func strongestPoints(of events: [EventPlot.Event]) -> [EventPlot.Point] {
    let step = (layout.right - layout.left) / Double(columnCount)
    return EventColumns.strongestPoints(of: events, count: columnCount) {
      (layout.x(atTime: $0) - layout.left) / step
    }
  }

  private func columnX(_ column: Int) -> Double {
    layout.left + (layout.right - layout.left) * (Double(column) + 0.5) / Double(columnCount)
  }

  mutating func drawSharpness() {
    guard plot.takes.count == 1, let score = plot.takes[0].eventPlot else {
      drawSharpnessOverlay()
      if plot.takes.allSatisfy({ $0.eventPlot != nil }) {
        drawTransientSharpness()
      }
      return
    }
    // The height of a line is its sharpness, so that one scale of colours fits all lines.
    let paint = Self.sharpnessGradient(from: PlotPoint(0, y(of: 0)), to: PlotPoint(0, y(of: 1)))
    if let dense = denseEventPlot {
      return drawSharpnessEnvelope(of: dense, paint: paint)
    }
    var lines = score.events.filter { $0.kind.isVibration && isVisible($0) }.flatMap {
      event -> [[PlotPoint]] in
      let points = event.points
      // A line reaches to where its event falls silent.
      let runs = points.indices.runs { index in
        points[max(0, index - 1)...min(points.count - 1, index + 1)].contains {
          $0.intensity > ColumnValue.minimumVisibleIntensity
        }
      }
      return runs.map { run in
        let line = clippedToPanel(points[run].map { point(atTime: $0.time, value: $0.sharpness) })
        return LineSimplification.simplified(LineSimplification.decimated(line), tolerance: 0.15)
      }
    }
    if lines.count > Self.maximumShapeCount {
      // The sharpness of the strongest of many events in each column.
      let strongest = strongestPoints(of: score.events.filter { $0.kind.isVibration })
      lines = Self.polylines(
        in: strongest.indices,
        where: { strongest[$0].intensity > ColumnValue.minimumVisibleIntensity }
      ) {
        PlotPoint(columnX($0), y(of: strongest[$0].sharpness))
      }
    }
    drawing.stroke(lines, .init(paint: paint, width: 2.5 * scale))
    drawTransientSharpness()
  }

  /// What all takes have is grey, what only one has is in its colour.
  private mutating func drawSharpnessOverlay() {
    let values = plot.takes.map { columnValues(of: $0).map(\.sharpness) }
    let isEqual = values[0].indices.map { index in
      let here = values.compactMap { $0[index] }
      guard here.count == values.count, let low = here.min(), let high = here.max() else {
        return false
      }
      return high - low < ColumnValue.sharpnessTolerance
    }
    for (take, tones) in values.enumerated() {
      for wantsEqual in take == 0 ? [true, false] : [false] {
        let lines = Self.polylines(
          in: tones.indices, where: { tones[$0] != nil && isEqual[$0] == wantsEqual }
        ) {
          PlotPoint(columnX($0), y(of: tones[$0] ?? 0))
        }
        drawing.stroke(lines, wantsEqual ? sharedStroke : stroke(ofTake: take))
      }
    }
  }

  /// The sharpness of transients: heads, or dots where many are close, one for each pixel.
  private mutating func drawTransientSharpness() {
    let groups = transientGroups()
    let isOne = plot.takes.count == 1
    let fineness = markerScale(count: groups.count)
    var taken = Set<[Int]>()
    for group in groups {
      let tones = group.compactMap { $0?.sharpness }
      let isSame =
        !isOne && tones.count == group.count
        && (tones.max() ?? 0) - (tones.min() ?? 0) < ColumnValue.sharpnessTolerance
      let shown = group.map { point in point.flatMap { isOne && $0.intensity <= 0 ? nil : $0 } }
      drawTransientHeads(
        of: shown, value: \.sharpness, areEqual: isSame, radius: fineness.map { 4.5 * $0 },
        occupied: &taken)
    }
  }

  /// The most audio events that are drawn; a lane with more is full anyway.
  private static let maximumAudioEventCount = 2_000

  mutating func drawAudio(of take: Int) {
    let events = (plot.takes[take].eventPlot?.audioEvents ?? []).filter { isVisible($0) }
    let step = max(1, events.count / Self.maximumAudioEventCount)
    var labelEnd = -Double.infinity
    for event in stride(from: 0, to: events.count, by: step).map({ events[$0] }) {
      let line = clippedToPanel(event.points.map { point(atTime: $0.time, value: $0.intensity) })
      let start = max(box.left, layout.x(atTime: event.onset))
      if line.count > 1 {
        drawing.fill([closedToBaseline(line)], .role(.signal))
      } else if isTimeVisible(event.onset) {
        // A file of unknown length has a beginning only.
        let top = PlotPoint(start, y(of: event.nominalIntensity))
        drawing.drawLine(from: PlotPoint(start, box.bottom), to: top, role: .edge, width: 2 * scale)
        drawTransientHead(at: top, take: 0, paint: .role(.edge), radius: 4)
      }
      let label = layout.truncated(
        event.filePath ?? "tone", fontSize: PlotLayout.labelFontSize,
        width: box.right - start - 6 * scale)
      if start > labelEnd, label.count > 1 {
        drawLabel(label, at: PlotPoint(start + 6 * scale, box.bottom - 6 * scale), role: .ink)
        labelEnd = start + layout.width(of: label, fontSize: PlotLayout.labelFontSize) + 12 * scale
      }
    }
  }

  private func columnValues(of take: PlotTake) -> [ColumnValue] {
    take.columnValues(columnCount: columnCount, timeRange: plot.timeRange)
  }

  private var sharedStroke: PlotDrawing.Stroke {
    .init(
      paint: .role(plot.takes.count > 1 ? .sharedLine : .ink),
      width: (plot.takes.count > 1 ? 1.5 : 1.25) * scale)
  }

  /// What only one take has covers so much of what is behind it.
  private static let excessOpacity = 0.34

  /// Curves of takes on one another: grey below all, and of two takes what one is above the other.
  /// - Parameters:
  ///   - values: For each take the value in each column of the axis of time.
  ///   - isMirrored: Whether what is above the ground is below it, too.
  mutating func drawAreas(
    _ values: [[Double]], baseline ground: Double, tolerance least: Double, isMirrored: Bool
  ) {
    let sides = isMirrored ? [1.0, -1] : [1.0]
    let columns = values[0].indices
    func place(_ index: Int, _ value: Double, _ side: Double) -> PlotPoint {
      PlotPoint(columnX(index), ground + (y(of: value) - ground) * side)
    }
    func shapes(_ top: [Double], over bottom: [Double]?) -> [[PlotPoint]] {
      let runs = columns.runs { index in
        top[index] > (bottom.map { $0[index] + least / 2 } ?? 0.0005)
      }
      return sides.flatMap { side in
        runs.filter { $0.count > 1 }.map { run in
          func line(_ values: [Double]?) -> [PlotPoint] {
            LineSimplification.simplified(
              run.map { place($0, values?[$0] ?? 0, side) }, tolerance: 0.15)
          }
          return line(top) + line(bottom).reversed()
        }
      }
    }
    let isOne = values.count == 1
    let both = columns.map { index in values.map { $0[index] }.min() ?? 0 }
    drawing.fill(shapes(both, over: nil), .role(isOne ? .signal : .sharedArea))
    if values.count == 2 || layout.isTerminal && !isOne {
      for (take, own) in values.enumerated() {
        drawing.fill(shapes(own, over: both), .role(.take(take)), opacity: Self.excessOpacity)
      }
    }
    let differs = columns.map { index in (values.map { $0[index] }.max() ?? 0) - both[index] > least
    }
    for (take, own) in values.enumerated() {
      for wantsEqual in take == 0 ? [true, false] : [false] {
        let lines = sides.flatMap { side in
          Self.polylines(
            in: columns,
            where: { index in
              // A line of a take reaches to where it meets the others, and from the ground up to
              // where it starts.
              let around = max(0, index - 1)...min(own.count - 1, index + 1)
              return own[around].contains { $0 > 0.0005 }
                && (wantsEqual ? !differs[index] : differs[around].contains(true))
            }
          ) { place($0, own[$0], side) }
        }
        drawing.stroke(lines, wantsEqual ? sharedStroke : stroke(ofTake: take, width: 1.75))
      }
    }
  }

  /// Transients at one time are less than so many seconds apart.
  private static let simultaneitySeconds = 0.000_5
  /// Transients that belong together are less than so many seconds apart.
  private static let maximumShiftSeconds = 0.09

  private func transients(of score: EventPlot) -> [EventPlot.Point] {
    let all = score.events.filter { $0.kind.isTransient && isTimeVisible($0.onset) }.compactMap(
      \.points.first)
    guard layout.isTerminal else { return all }
    // Of characters, the strongest in each column.
    let columns = Dictionary(all.map { (Int(layout.x(atTime: $0.time) / scale), $0) }) {
      $0.intensity >= $1.intensity ? $0 : $1
    }
    return columns.sorted { $0.key < $1.key }.map(\.value)
  }

  /// How fine stems and heads are, where many are close; nil where they are drawn as columns.
  private func markerScale(count: Int) -> Double? {
    if layout.isTerminal { return 1 }
    let room = (layout.right - layout.left) / scale / Double(max(1, count))
    return room < Self.minimumStemSpacing ? nil : min(1, max(0.4, room / 12))
  }

  /// The transients of all takes by time; those at one time are in one group, at the place of their
  /// take.
  private func transientGroups() -> [[EventPlot.Point?]] {
    let all = plot.takes.enumerated().flatMap { take, each in
      (each.eventPlot.map { transients(of: $0) } ?? []).map { (take: take, point: $0) }
    }.sorted { ($0.point.time, $0.take) < ($1.point.time, $1.take) }
    var groups: [[EventPlot.Point?]] = []
    var start = -Double.infinity
    for (take, point) in all {
      if point.time - start >= Self.simultaneitySeconds || groups[groups.count - 1][take] != nil {
        groups.append(Array(repeating: nil, count: plot.takes.count))
        start = point.time
      }
      groups[groups.count - 1][take] = point
    }
    return groups
  }

  private mutating func drawTransients() {
    let groups = transientGroups()
    let isOne = plot.takes.count == 1
    guard let fineness = markerScale(count: groups.count) else {
      return drawTransientColumns(groups)
    }
    if plot.takes.count == 2 {
      drawShifts(groups)
    }
    let width = max(1, 2.5 * fineness)
    var taken = Set<[Int]>()
    for group in groups {
      let points = group.compactMap(\.self)
      guard let low = points.min(by: { $0.intensity < $1.intensity }),
        let high = points.max(by: { $0.intensity < $1.intensity })
      else { continue }
      let isTogether = points.count == plot.takes.count
      let isSame =
        !isOne && isTogether && high.intensity - low.intensity < ColumnValue.intensityTolerance
      let ground = PlotPoint(layout.x(atTime: low.time), box.bottom)
      let paint = transientPaint(low, take: 0, isShared: true)
      if isOne, low.intensity <= 0 {
        // What its controls silence is a ring on the ground.
        let ring = PlotDrawing.Stroke(paint: paint, width: 1.5 * scale)
        drawing.drawDisc(
          center: ground, radius: 4 * fineness * scale, paint: .role(.paper), stroke: ring)
        continue
      }
      let top = PlotPoint(ground.x, y(of: high.intensity))
      let shared = PlotPoint(ground.x, isTogether ? y(of: low.intensity) : box.bottom)
      drawing.drawLine(from: ground, to: top, role: .paper, width: 2 * width * scale)
      if isTogether {
        drawing.stroke([[ground, shared]], .init(paint: paint, width: width * scale))
      }
      if !isOne, !isSame, let take = group.firstIndex(where: { $0 == high }) {
        drawing.stroke([[shared, top]], stroke(ofTake: take, width: width))
      }
      drawTransientHeads(
        of: group, value: \.intensity, areEqual: isSame, radius: 5 * fineness, occupied: &taken)
    }
  }

  /// The colour of one take is that of its sharpness; of several, each has its own and one for what
  /// they share.
  private func transientPaint(_ point: EventPlot.Point, take: Int, isShared: Bool)
    -> PlotDrawing.Paint
  {
    plot.takes.count == 1
      ? .color(Colormap.sharpness.color(at: point.sharpness))
      : .role(isShared ? .sharedLine : .take(take))
  }

  /// Many transients: in each column of a pixel what all takes have at least, and what the
  /// strongest has more.
  private mutating func drawTransientColumns(_ groups: [[EventPlot.Point?]]) {
    var columns: [Int: [Double]] = [:]
    for group in groups {
      for (take, point) in group.enumerated() {
        guard let point else { continue }
        let column = Int((layout.x(atTime: point.time) - layout.left) / scale)
        columns[column, default: group.map { _ in 0 }][take] = max(
          columns[column]?[take] ?? 0, point.intensity)
      }
    }
    var bars: [PlotRole: [[PlotPoint]]] = [:]
    for (column, values) in columns.sorted(by: { $0.key < $1.key }) {
      guard let low = values.min(), let high = values.max() else { continue }
      let x = layout.left + (Double(column) + 0.5) * scale
      let heights = [0, low, high].map { PlotPoint(x, y(of: $0)) }
      if low > 0 {
        bars[.sharedLine, default: []].append([heights[0], heights[1]])
      }
      if high - low >= ColumnValue.intensityTolerance, let take = values.firstIndex(of: high) {
        bars[.take(take), default: []].append([heights[1], heights[2]])
      }
    }
    for role in [.sharedLine] + plot.takes.indices.map(PlotRole.take) {
      drawing.stroke(bars[role] ?? [], .init(paint: .role(role), width: 0.8 * scale))
    }
  }

  /// The heads of transients at one time, or one grey head where they are equal; without a radius
  /// dots, one for each pixel.
  private mutating func drawTransientHeads(
    of group: [EventPlot.Point?], value: (EventPlot.Point) -> Double, areEqual: Bool,
    radius: Double?,
    occupied taken: inout Set<[Int]>
  ) {
    for (take, point) in group.enumerated() {
      guard let point else { continue }
      let place = self.point(atTime: point.time, value: value(point))
      let paint = transientPaint(point, take: take, isShared: areEqual)
      if let radius {
        drawTransientHead(at: place, take: areEqual ? 0 : take, paint: paint, radius: radius)
      } else if taken.insert([Int(place.x / scale), Int(place.y / scale), areEqual ? -1 : take])
        .inserted
      {
        drawing.drawDisc(center: place, radius: 1.2 * scale, paint: paint)
      }
      if areEqual { return }
    }
  }

  /// Arrows from a transient of the first take to the one of the second that belongs to it.
  private mutating func drawShifts(_ groups: [[EventPlot.Point?]]) {
    let alone = groups.filter { $0.contains(nil) }
    var others = alone.compactMap { $0[1] }
    for first in alone.compactMap({ $0[0] }) {
      let nearest = others.indices.min {
        abs(others[$0].time - first.time) < abs(others[$1].time - first.time)
      }
      guard let nearest, abs(others[nearest].time - first.time) < Self.maximumShiftSeconds else {
        continue
      }
      let second = others.remove(at: nearest)
      let y = y(of: min(first.intensity, second.intensity) * 0.5)
      let from = PlotPoint(layout.x(atTime: first.time), y)
      let to = PlotPoint(layout.x(atTime: second.time), y)
      guard abs(to.x - from.x) > 14 * scale else { continue }
      let tip = (to.x > from.x ? -4.0 : 4) * scale
      let head = [PlotPoint(to.x + tip, y - 3 * scale), to, PlotPoint(to.x + tip, y + 3 * scale)]
      drawing.stroke([[from, to], head], .init(paint: .role(.muted), width: 1.25 * scale))
    }
  }
}

/// Many events of one take: what they reach in columns of time, as one shape.
extension PlotPainter {
  /// Where more events than this are in sight, their envelope is drawn.
  private static let maximumSeparateEventCount = 300
  /// Pixels across of a column.
  private static let envelopeColumnWidth = 3.0
  /// Columns without an event behind which a shape ends.
  private static let maximumGap = 8
  /// Columns to each side over which colours are averaged.
  private static let colorAveragingRadius = 6

  /// What the events in a column reach.
  private struct EnvelopeColumn {
    var minimumIntensity = Double.infinity
    var maximumIntensity = 0.0
    var minimumSharpness = 1.0
    var maximumSharpness = 0.0
    var sharpnessSum = 0.0
    var count = 0.0

    mutating func add(_ point: EventPlot.Point) {
      (minimumIntensity, maximumIntensity) = (
        min(minimumIntensity, point.intensity), max(maximumIntensity, point.intensity)
      )
      minimumSharpness = min(minimumSharpness, point.sharpness)
      maximumSharpness = max(maximumSharpness, point.sharpness)
      sharpnessSum += point.sharpness
      count += 1
    }
  }

  /// The score of a take with more events in sight than can be drawn one by one; nil for other
  /// plots.
  private var denseEventPlot: EventPlot? {
    guard !layout.isTerminal, plot.takes.count == 1, let score = plot.takes[0].eventPlot else {
      return nil
    }
    let lasting = score.events.count { $0.kind.isVibration && isVisible($0) }
    let transients = score.events.count { $0.kind.isTransient && isTimeVisible($0.onset) }
    return lasting + transients > Self.maximumSeparateEventCount
      || markerScale(count: transients) == nil
      ? score : nil
  }

  /// The columns in which events begin or last, with their places, in runs without long gaps.
  private func envelopeColumns(of score: EventPlot) -> [[(place: Double, column: EnvelopeColumn)]] {
    let width = Self.envelopeColumnWidth * scale
    let count = max(1, Int((layout.right - layout.left) / width))
    var columns = [EnvelopeColumn](repeating: EnvelopeColumn(), count: count)
    func column(_ seconds: Double) -> Int {
      Int(((layout.x(atTime: seconds) - layout.left) / width).rounded(.down))
    }
    for event in score.events
    where (event.kind.isVibration || event.kind.isTransient) && isVisible(event) {
      guard let strongest = event.points.max(by: { $0.intensity < $1.intensity }) else { continue }
      let first = max(0, column(event.onset))
      let last = min(count - 1, column(event.end))
      guard first <= last else { continue }
      if event.kind.isTransient || first == last {
        columns[first].add(strongest)
        continue
      }
      for point in event.points where (first...last).contains(column(point.time)) {
        columns[column(point.time)].add(point)
      }
    }
    var runs: [[(place: Double, column: EnvelopeColumn)]] = []
    var end = -Self.maximumGap - 1
    for (index, column) in columns.enumerated() where column.count > 0 {
      if index - end > Self.maximumGap {
        runs.append([])
      }
      // A run of one column is as wide as that.
      for side in runs[runs.count - 1].isEmpty ? [0.0, 1] : [1] {
        runs[runs.count - 1].append((layout.left + (Double(index) + side) * width, column))
      }
      end = index
    }
    return runs
  }

  /// The strongest in each column as a pale shape, the weakest as a full one, in the colour of the
  /// sharpness around.
  private mutating func drawIntensityEnvelope(of score: EventPlot) {
    for columns in envelopeColumns(of: score) {
      let colors = columns.indices.map { index -> (time: Double, sharpness: Double) in
        let near = columns[
          max(
            0, index - Self.colorAveragingRadius)...min(
              columns.count - 1, index + Self.colorAveragingRadius)]
        let sum = near.reduce((0, 0)) { ($0.0 + $1.column.sharpnessSum, $0.1 + $1.column.count) }
        return (layout.time(atX: columns[index].place), sum.0 / sum.1)
      }
      for (value, opacity) in [
        (\EnvelopeColumn.maximumIntensity, 0.45), (\.minimumIntensity, 0.82),
      ] {
        fillToBaseline(
          columns.map { PlotPoint($0.place, y(of: $0.column[keyPath: value])) }, colors: colors,
          opacity: opacity)
      }
    }
  }

  /// The band from the dullest to the sharpest in each column, and the line of their mean.
  private mutating func drawSharpnessEnvelope(of score: EventPlot, paint: PlotDrawing.Paint) {
    let runs = envelopeColumns(of: score)
    func lines(_ value: (EnvelopeColumn) -> Double) -> [[PlotPoint]] {
      runs.map { $0.map { PlotPoint($0.place, y(of: value($0.column))) } }
    }
    drawing.fill(
      zip(lines(\.maximumSharpness), lines(\.minimumSharpness)).map { $0 + $1.reversed() }, paint,
      opacity: 0.3)
    drawing.stroke(lines { $0.sharpnessSum / $0.count }, .init(paint: paint, width: 1.5 * scale))
  }
}
