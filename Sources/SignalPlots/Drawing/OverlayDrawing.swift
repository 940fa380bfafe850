internal import HapticModel

/// Takes over one another: what all have is grey, what only one has is in its colour.
extension FigureDrawing {
  /// Draws how strong all takes are.
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

  /// Draws how sharp all takes are.
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
    let groups = transientGroups()
    let fineness = fineness(count: groups.count)
    var taken = Set<[Int]>()
    for group in groups {
      let tones = group.compactMap { $0?.sharpness }
      guard let low = tones.min(), let high = tones.max() else { continue }
      let isSame = tones.count == plot.takes.count && high - low < TakeReading.equalTone
      guard let fineness else {
        drawDots(of: group, areEqual: isSame, panel, in: box, taken: &taken)
        continue
      }
      drawHeads(of: group, areEqual: isSame, radius: 4.5 * fineness) { layout.y($0.sharpness, on: panel.axis, in: box) }
    }
  }

  private var equalStroke: PlotDrawing.Stroke {
    PlotDrawing.Stroke(
      paint: .role(plot.takes.count > 1 ? .equalLine : .ink), width: (plot.takes.count > 1 ? 1.5 : 1.25) * scale)
  }

  // MARK: Curves

  /// How strong and how sharp a take is in each column.
  private func readings(of take: PlotTake) -> [TakeReading] { take.readings(columns: columnCount, span: plot.span) }

  /// Curves of takes on one another: grey below all, and of two takes what one is above the other.
  ///
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
    if values.count == 2 {
      for take in 0...1 {
        drawing.fill(shapes(values[take], over: values[1 - take]), .role(.take(take)), opacity: Self.excessOpacity)
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
    let (groups, layout) = (transientGroups(), layout)
    guard let fineness = fineness(count: groups.count) else {
      drawTransientColumns(groups, panel, in: box)
      return
    }
    func y(_ point: PatternScore.Point) -> Double { layout.y(point.intensity, on: panel.axis, in: box) }
    if plot.takes.count == 2 { drawShifts(groups, panel, in: box) }
    for group in groups {
      let points = group.compactMap(\.self)
      guard let low = points.min(by: { $0.intensity < $1.intensity }),
        let high = points.max(by: { $0.intensity < $1.intensity })
      else { continue }
      let isTogether = points.count == plot.takes.count
      let isSame = isTogether && high.intensity - low.intensity < TakeReading.equalStrength
      let ground = PlotPoint(layout.x(low.time), box.bottom)
      let top = PlotPoint(ground.x, y(high))
      let shared = PlotPoint(ground.x, isTogether ? y(low) : box.bottom)
      let width = max(1, 2.5 * fineness) * scale
      drawing.line(ground, top, .paper, width: 2 * width)
      if isTogether { drawing.line(ground, shared, .equalLine, width: width) }
      if !isSame, let take = group.firstIndex(where: { $0 == high }) {
        var own = stroke(of: take)
        own.width = width
        drawing.stroke([[shared, top]], own)
      }
      drawHeads(of: group, areEqual: isSame, radius: 5 * fineness, y: y)
    }
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
      drawing.stroke(bars[role] ?? [], PlotDrawing.Stroke(paint: .role(role), width: 0.8 * scale))
    }
  }

  /// Dots in place of heads, one for each pixel.
  private mutating func drawDots(
    of group: [PatternScore.Point?], areEqual: Bool, _ panel: PlotPanel, in box: PlotBox, taken: inout Set<[Int]>
  ) {
    for (take, point) in group.enumerated() {
      guard let point else { continue }
      let place = PlotPoint(layout.x(point.time), layout.y(point.sharpness, on: panel.axis, in: box))
      let cell = [Int(place.x / scale), Int(place.y / scale), areEqual ? -1 : take]
      if taken.insert(cell).inserted {
        drawing.add(
          .disc(
            place, radius: 1.2 * scale, fill: PlotDrawing.Fill(paint: .role(areEqual ? .equalLine : .take(take))),
            stroke: nil))
      }
      if areEqual { return }
    }
  }

  /// The heads of transients at one time, or one grey head where they are equal.
  private mutating func drawHeads(
    of group: [PatternScore.Point?], areEqual: Bool, radius: Double, y: (PatternScore.Point) -> Double
  ) {
    for (take, point) in group.enumerated() {
      guard let point else { continue }
      let place = PlotPoint(layout.x(point.time), y(point))
      drawHead(at: place, of: areEqual ? 0 : take, paint: .role(areEqual ? .equalLine : .take(take)), radius: radius)
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
        PlotDrawing.Stroke(paint: .role(.muted), width: 1.25 * scale))
    }
  }
}
