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

  mutating func drawStrength(_ panel: PlotPanel, in box: PlotBox) {
    guard plot.takes.count == 1, let score = plot.takes[0].score else {
      drawStrengths(panel, in: box)
      return
    }
    if let dense = denseScore {
      drawStrengthEnvelope(of: dense, panel, in: box)
    } else {
      drawShapes(score, panel, in: box)
    }
    for curve in score.curves where curve.id == .hapticIntensityControl { draw(curve, panel, in: box) }
    if denseScore == nil { drawTransients(panel, in: box) }
  }

  /// The part of a line by rising x that is within the box, cut at its edges.
  func visible(_ points: [PlotPoint]) -> [PlotPoint] { PolylineThinning.cut(points, to: layout.left...layout.right) }

  private mutating func drawShapes(_ score: PatternScore, _ panel: PlotPanel, in box: PlotBox) {
    let continuous = score.events.filter {
      $0.kind.isVibration && $0.points.count > 1 && $0.end >= plot.span.lowerBound && $0.time <= plot.span.upperBound
    }
    let pointCount = continuous.reduce(0) { $0 + $1.points.count }
    guard continuous.count <= Self.maximumShapeCount, pointCount <= Self.maximumShapePointCount else {
      drawTogether(continuous, panel, in: box)
      return
    }
    let opacity = max(0.2, 0.82 / Double(Self.mostAtOnce(continuous)).squareRoot())
    for event in continuous {
      let line = visible(event.points.map { at($0.time, $0.intensity, panel, box) })
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
    for run in Self.runs(Array(columns(of: events).enumerated()), where: { $0.element.intensity > 0 }) {
      let line = run.map { PlotPoint(columnPlace($0.offset), layout.y($0.element.intensity, on: panel.axis, in: box)) }
      let colors = run.map { (layout.seconds(at: columnPlace($0.offset)), $0.element.sharpness) }
      fill(PolylineThinning.straightened(line, tolerance: 0.2), colors: colors, opacity: 0.82, in: box)
    }
  }

  mutating func fill(
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

  private mutating func draw(_ curve: PatternScore.Curve, _ panel: PlotPanel, in box: PlotBox) {
    let line = visible(curve.line.map { at($0.time, $0.value, panel, box) })
    drawing.stroke([PolylineThinning.thinned(line)], .init(paint: .role(.ink), width: scale, opacity: 0.65))
    let handles = curve.handles.filter { isShown($0.time) }
    // Where many are close, they would hide what the curve is about.
    guard Double(handles.count) * Self.leastHandleRoom * scale <= box.width else { return }
    var taken = Set<[Int]>()
    for handle in handles {
      let place = at(handle.time, handle.value, panel, box)
      let cell = [Int(place.x / (7 * scale)), Int(place.y / (7 * scale))]
      if taken.insert(cell).inserted { drawHandle(at: place) }
    }
  }

  func isShown(_ seconds: Double) -> Bool {
    (plot.span.lowerBound - 1e-9...plot.span.upperBound + 1e-9).contains(seconds)
  }

  // MARK: Transients

  func transients(of score: PatternScore) -> [PatternScore.Point] {
    let all = score.events.compactMap { event in
      event.kind.isTransient && isShown(event.time) ? event.points.first : nil
    }
    guard layout.isText else { return all }
    // Of characters, the strongest in each column.
    let columns = Dictionary(all.map { (Int(layout.x($0.time) / scale), $0) }) {
      $0.intensity >= $1.intensity ? $0 : $1
    }
    return columns.sorted { $0.key < $1.key }.map(\.value)
  }

  /// How fine stems and heads are, where many are close; nil where they are drawn as columns.
  func fineness(count: Int) -> Double? {
    if layout.isText { return 1 }
    let room = (layout.right - layout.left) / scale / Double(max(1, count))
    return room < Self.leastStemRoom ? nil : min(1, max(0.4, room / 12))
  }

  // MARK: Columns of continuous events

  /// How many columns of half a pixel the axis of time has.
  var columnCount: Int { max(1, Int(((layout.right - layout.left) * 2 / scale).rounded(.up))) }

  func columns(of events: [PatternScore.Event]) -> [PatternScore.Point] {
    let step = (layout.right - layout.left) / Double(columnCount)
    return ScoreColumns(events, count: columnCount) { (layout.x($0) - layout.left) / step }.strongest
  }

  func columnPlace(_ column: Int) -> Double {
    layout.left + (layout.right - layout.left) * (Double(column) + 0.5) / Double(columnCount)
  }
}

extension FigureDrawing {
  mutating func drawTone(_ panel: PlotPanel, in box: PlotBox) {
    guard plot.takes.count == 1, let score = plot.takes[0].score else {
      drawTones(panel, in: box)
      return
    }
    // The height of a line is its sharpness, so that one scale of colours fits all lines.
    let paint = Self.ramp(
      from: PlotPoint(0, layout.y(0, on: panel.axis, in: box)), to: PlotPoint(0, layout.y(1, on: panel.axis, in: box)))
    if let dense = denseScore { return drawToneEnvelope(of: dense, paint: paint, panel, in: box) }
    let lines = score.events.flatMap { event -> [[PlotPoint]] in
      guard event.kind.isVibration, event.end >= plot.span.lowerBound, event.time <= plot.span.upperBound else {
        return []
      }
      let points = event.points
      // A line reaches to where its event falls silent.
      let isSeen = points.indices.map { index in
        points[max(0, index - 1)...min(points.count - 1, index + 1)].contains {
          $0.intensity > TakeReading.leastStrength
        }
      }
      return Self.runs(Array(points.indices)) { isSeen[$0] }.map { run in
        let line = run.map { index in at(points[index].time, points[index].sharpness, panel, box) }
        return PolylineThinning.straightened(PolylineThinning.thinned(visible(line)), tolerance: 0.15)
      }
    }
    drawing.stroke(
      lines.count > Self.maximumShapeCount ? togetherTones(score, panel, in: box) : lines,
      .init(paint: paint, width: 2.5 * scale))
    drawToneHeads(panel, in: box)
  }

  /// The sharpness of the strongest of many events in each column.
  private func togetherTones(_ score: PatternScore, _ panel: PlotPanel, in box: PlotBox) -> [[PlotPoint]] {
    let strongest = columns(of: score.events.filter { $0.kind.isVibration })
    return Self.runs(Array(strongest.enumerated())) { $0.element.intensity > TakeReading.leastStrength }.map { run in
      PolylineThinning.straightened(
        run.map { PlotPoint(columnPlace($0.offset), layout.y($0.element.sharpness, on: panel.axis, in: box)) },
        tolerance: 0.15)
    }
  }

  static func runs<Element>(_ elements: [Element], where matches: (Element) -> Bool) -> [[Element]] {
    var runs: [[Element]] = []
    var isOpen = false
    for element in elements {
      guard matches(element) else {
        isOpen = false
        continue
      }
      if !isOpen { runs.append([]) }
      runs[runs.count - 1].append(element)
      isOpen = true
    }
    return runs
  }

  // MARK: Audio events

  /// The most audio events that are drawn; a lane with more is full anyway.
  private static let maximumAudioCount = 2_000

  mutating func drawAudio(of take: Int, _ panel: PlotPanel, in box: PlotBox) {
    let events = (plot.takes[take].score?.audioEvents ?? []).filter {
      $0.end >= plot.span.lowerBound && $0.time <= plot.span.upperBound
    }
    let step = max(1, events.count / Self.maximumAudioCount)
    var labelEnd = -Double.infinity
    for index in stride(from: 0, to: events.count, by: step) {
      let event = events[index]
      let line = visible(event.points.map { at($0.time, $0.intensity, panel, box) })
      let start = max(box.left, layout.x(event.time))
      if let first = line.first, let last = line.last, line.count > 1 {
        drawing.fill([[PlotPoint(first.x, box.bottom)] + line + [PlotPoint(last.x, box.bottom)]], .role(.signal))
      } else if isShown(event.time) {
        // A file of unknown length has a beginning only.
        let top = PlotPoint(start, layout.y(event.givenIntensity, on: panel.axis, in: box))
        drawing.line(PlotPoint(start, box.bottom), top, .edge, width: 2 * scale)
        drawHead(at: top, of: 0, paint: .role(.edge), radius: 4)
      }
      let label = layout.fitted(event.file ?? "tone", size: PlotLayout.labelSize, to: box.right - start - 6 * scale)
      if start > labelEnd, label.count > 1 {
        write(label, at: PlotPoint(start + 6 * scale, box.bottom - 6 * scale), role: .ink)
        labelEnd = start + layout.width(of: label, size: PlotLayout.labelSize) + 12 * scale
      }
    }
  }
}

/// Takes over one another: what all have is grey, what only one has is in its colour.
extension FigureDrawing {
  mutating func drawStrengths(_ panel: PlotPanel, in box: PlotBox) {
    let values = plot.takes.map { take in readings(of: take).map(\.strength) }
    let xs = values[0].indices.map(columnPlace)
    let layout = layout
    drawAreas(xs, values, ground: box.bottom, least: TakeReading.equalStrength, isMirrored: false) {
      layout.y($0, on: panel.axis, in: box)
    }
    guard plot.takes.allSatisfy({ $0.score != nil }) else { return }
    drawTransients(panel, in: box)
  }

  mutating func drawTones(_ panel: PlotPanel, in box: PlotBox) {
    let layout = layout
    let values = plot.takes.map { readings(of: $0).map(\.tone) }
    let xs = values[0].indices.map(columnPlace)
    let isEqual = xs.indices.map { index in
      let here = values.compactMap { $0[index] }
      guard here.count == values.count, let low = here.min(), let high = here.max() else { return false }
      return high - low < TakeReading.equalTone
    }
    for (take, tones) in values.enumerated() {
      for wantsEqual in take == 0 ? [true, false] : [false] {
        let lines = Self.runs(Array(xs.indices)) { tones[$0] != nil && isEqual[$0] == wantsEqual }.map { run in
          PolylineThinning.straightened(
            run.map { PlotPoint(xs[$0], layout.y(tones[$0] ?? 0, on: panel.axis, in: box)) }, tolerance: 0.15)
        }
        drawing.stroke(lines, wantsEqual ? equalStroke : stroke(of: take))
      }
    }
    guard plot.takes.allSatisfy({ $0.score != nil }) else { return }
    drawToneHeads(panel, in: box)
  }

  /// The sharpness of transients: heads, or dots where many are close, one for each pixel.
  mutating func drawToneHeads(_ panel: PlotPanel, in box: PlotBox) {
    let (groups, layout, isOne) = (transientGroups(), layout, plot.takes.count == 1)
    let fineness = fineness(count: groups.count)
    var taken = Set<[Int]>()
    for group in groups {
      let tones = group.compactMap { $0?.sharpness }
      let isSame =
        !isOne && tones.count == group.count && (tones.max() ?? 0) - (tones.min() ?? 0) < TakeReading.equalTone
      drawHeads(of: group, areEqual: isSame, radius: fineness.map { 4.5 * $0 }, taken: &taken) {
        isOne && $0.intensity <= 0 ? nil : layout.y($0.sharpness, on: panel.axis, in: box)
      }
    }
  }

  private var equalStroke: PlotDrawing.Stroke {
    .init(paint: .role(plot.takes.count > 1 ? .equalLine : .ink), width: (plot.takes.count > 1 ? 1.5 : 1.25) * scale)
  }

  // MARK: Curves

  private func readings(of take: PlotTake) -> [TakeReading] { take.readings(columns: columnCount, span: plot.span) }

  /// Curves of takes on one another: grey below all, and of two takes what one is above the other.
  /// - Parameter isMirrored: Whether what is above the ground is below it, too.
  mutating func drawAreas(
    _ xs: [Double], _ values: [[Double]], ground: Double, least: Double, isMirrored: Bool, y: (Double) -> Double
  ) {
    let sides = isMirrored ? [1.0, -1] : [1.0]
    func place(_ index: Int, _ value: Double, _ side: Double) -> PlotPoint {
      PlotPoint(xs[index], ground + (y(value) - ground) * side)
    }
    func shapes(_ top: [Double], over bottom: [Double]?) -> [[PlotPoint]] {
      let runs = Self.runs(Array(xs.indices)) { index in top[index] > (bottom.map { $0[index] + least / 2 } ?? 0.0005) }
      return sides.flatMap { side in
        runs.filter { $0.count > 1 }.map { run in
          func line(_ values: [Double]?) -> [PlotPoint] {
            PolylineThinning.straightened(run.map { place($0, values?[$0] ?? 0, side) }, tolerance: 0.15)
          }
          return line(top) + line(bottom).reversed()
        }
      }
    }
    let isOne = values.count == 1
    let both = xs.indices.map { index in values.map { $0[index] }.min() ?? 0 }
    drawing.fill(shapes(both, over: nil), .role(isOne ? .signal : .equal))
    if values.count == 2 || layout.isText && !isOne {
      for (take, own) in values.enumerated() {
        drawing.fill(shapes(own, over: both), .role(.take(take)), opacity: Self.excessOpacity)
      }
    }
    let differs = xs.indices.map { index in (values.map { $0[index] }.max() ?? 0) - both[index] > least }
    for (take, own) in values.enumerated() {
      for wantsEqual in take == 0 ? [true, false] : [false] {
        let runs = Self.runs(Array(xs.indices)) { index in
          // A line of a take reaches to where it meets the others,
          let isApart = differs[max(0, index - 1)...min(own.count - 1, index + 1)].contains(true)
          // and from the ground up to where it starts.
          let around = own[max(0, index - 1)...min(own.count - 1, index + 1)]
          return around.contains { $0 > 0.0005 } && (wantsEqual ? !differs[index] : isApart)
        }
        let lines = sides.flatMap { side in
          runs.map { run in PolylineThinning.straightened(run.map { place($0, own[$0], side) }, tolerance: 0.15) }
        }
        var own = wantsEqual ? equalStroke : stroke(of: take)
        if !wantsEqual { own.width = 1.75 * scale }
        drawing.stroke(lines, own)
      }
    }
  }

  // MARK: Transients

  /// Transients at one time are less than so many seconds apart.
  private static let togetherSeconds = 0.000_5
  /// Transients that belong together are less than so many seconds apart.
  private static let shiftSeconds = 0.09

  /// The transients of all takes by time; those at one time are in one group, at the place of their take.
  private func transientGroups() -> [[PatternScore.Point?]] {
    let all = plot.takes.enumerated().flatMap { take, each in
      (each.score.map { transients(of: $0) } ?? []).map { (take: take, point: $0) }
    }.sorted { ($0.point.time, $0.take) < ($1.point.time, $1.take) }
    var groups: [[PatternScore.Point?]] = []
    var start = -Double.infinity
    for (take, point) in all {
      if point.time - start >= Self.togetherSeconds || groups[groups.count - 1][take] != nil {
        groups.append(Array(repeating: nil, count: plot.takes.count))
        start = point.time
      }
      groups[groups.count - 1][take] = point
    }
    return groups
  }

  private mutating func drawTransients(_ panel: PlotPanel, in box: PlotBox) {
    let (groups, layout, isOne) = (transientGroups(), layout, plot.takes.count == 1)
    guard let fineness = fineness(count: groups.count) else {
      return drawTransientColumns(groups, panel, in: box)
    }
    func y(_ point: PatternScore.Point) -> Double { layout.y(point.intensity, on: panel.axis, in: box) }
    if plot.takes.count == 2 { drawShifts(groups, panel, in: box) }
    let width = max(1, 2.5 * fineness) * scale
    var taken = Set<[Int]>()
    for group in groups {
      let points = group.compactMap(\.self)
      guard let low = points.min(by: { $0.intensity < $1.intensity }),
        let high = points.max(by: { $0.intensity < $1.intensity })
      else { continue }
      let isTogether = points.count == plot.takes.count
      let isSame = !isOne && isTogether && high.intensity - low.intensity < TakeReading.equalStrength
      let ground = PlotPoint(layout.x(low.time), box.bottom)
      let paint = paint(of: low, 0, isShared: true)
      if isOne, low.intensity <= 0 {
        // What its controls silence is a ring on the ground.
        drawing.disc(
          ground, radius: 4 * fineness * scale, .role(.paper), stroke: .init(paint: paint, width: 1.5 * scale))
        continue
      }
      let top = PlotPoint(ground.x, y(high))
      let shared = PlotPoint(ground.x, isTogether ? y(low) : box.bottom)
      drawing.line(ground, top, .paper, width: 2 * width)
      if isTogether { drawing.stroke([[ground, shared]], .init(paint: paint, width: width)) }
      if !isOne, !isSame, let take = group.firstIndex(where: { $0 == high }) {
        var own = stroke(of: take)
        own.width = width
        drawing.stroke([[shared, top]], own)
      }
      drawHeads(of: group, areEqual: isSame, radius: 5 * fineness, taken: &taken) { y($0) }
    }
  }

  /// The colour of one take is that of its sharpness; of several, each has its own and one for what they share.
  private func paint(of point: PatternScore.Point, _ take: Int, isShared: Bool) -> PlotDrawing.Paint {
    plot.takes.count == 1
      ? .color(Colormap.sharpness.color(at: point.sharpness)) : .role(isShared ? .equalLine : .take(take))
  }

  /// Many transients: in each column of a pixel what all takes have at least, and what the strongest has more.
  private mutating func drawTransientColumns(_ groups: [[PatternScore.Point?]], _ panel: PlotPanel, in box: PlotBox) {
    var columns: [Int: [Double]] = [:]
    for group in groups {
      for (take, point) in group.enumerated() {
        guard let point else { continue }
        let column = Int((layout.x(point.time) - layout.left) / scale)
        var values = columns[column] ?? Array(repeating: 0, count: group.count)
        values[take] = max(values[take], point.intensity)
        columns[column] = values
      }
    }
    var bars: [PlotRole: [[PlotPoint]]] = [:]
    for (column, values) in columns.sorted(by: { $0.key < $1.key }) {
      guard let low = values.min(), let high = values.max() else { continue }
      let x = layout.left + (Double(column) + 0.5) * scale
      let heights = [0, low, high].map { PlotPoint(x, layout.y($0, on: panel.axis, in: box)) }
      if low > 0 { bars[.equalLine, default: []].append([heights[0], heights[1]]) }
      if high - low >= TakeReading.equalStrength, let take = values.firstIndex(of: high) {
        bars[.take(take), default: []].append([heights[1], heights[2]])
      }
    }
    for role in [.equalLine] + plot.takes.indices.map(PlotRole.take) {
      drawing.stroke(bars[role] ?? [], .init(paint: .role(role), width: 0.8 * scale))
    }
  }

  /// The heads of transients at one time, or one grey head where they are equal; without a radius dots, one for each
  /// pixel.
  private mutating func drawHeads(
    of group: [PatternScore.Point?], areEqual: Bool, radius: Double?, taken: inout Set<[Int]>,
    y: (PatternScore.Point) -> Double?
  ) {
    for (take, point) in group.enumerated() {
      guard let point, let y = y(point) else { continue }
      let (place, paint) = (PlotPoint(layout.x(point.time), y), paint(of: point, take, isShared: areEqual))
      if let radius {
        drawHead(at: place, of: areEqual ? 0 : take, paint: paint, radius: radius)
      } else if taken.insert([Int(place.x / scale), Int(place.y / scale), areEqual ? -1 : take]).inserted {
        drawing.disc(place, radius: 1.2 * scale, paint)
      }
      if areEqual { return }
    }
  }

  /// Arrows from a transient of the first take to the one of the second that belongs to it.
  private mutating func drawShifts(_ groups: [[PatternScore.Point?]], _ panel: PlotPanel, in box: PlotBox) {
    let alone = groups.filter { $0.contains(nil) }
    var others = alone.compactMap { $0[1] }
    for first in alone.compactMap({ $0[0] }) {
      let nearest = others.indices.min { abs(others[$0].time - first.time) < abs(others[$1].time - first.time) }
      guard let nearest, abs(others[nearest].time - first.time) < Self.shiftSeconds else { continue }
      let second = others.remove(at: nearest)
      let y = layout.y(min(first.intensity, second.intensity) * 0.5, on: panel.axis, in: box)
      let (from, to) = (PlotPoint(layout.x(first.time), y), PlotPoint(layout.x(second.time), y))
      guard abs(to.x - from.x) > 14 * scale else { continue }
      let tip = (to.x > from.x ? -4.0 : 4) * scale
      drawing.stroke(
        [[from, to], [PlotPoint(to.x + tip, y - 3 * scale), to, PlotPoint(to.x + tip, y + 3 * scale)]],
        .init(paint: .role(.muted), width: 1.25 * scale))
    }
  }
}
