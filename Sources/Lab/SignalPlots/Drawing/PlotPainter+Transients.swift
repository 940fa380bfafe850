internal import HapticModel

/// Draws transients: as stems with heads, or as columns if they are too dense. Arrows connect
/// transients that two takes have at different times.
extension PlotPainter {
  /// The minimum distance between stems that are drawn separately, in pixels.
  private static let minimumStemSpacingPixels = 4.0
  /// The maximum difference between the onsets of transients that count as simultaneous, in
  /// seconds.
  private static let maximumSimultaneousOnsetSeconds = 0.000_5
  /// The maximum time shift at which transients of two takes count as corresponding, in seconds.
  private static let maximumArrowShiftSeconds = 0.09

  /// Returns the visible transients of a take. In a terminal, only the strongest in each column.
  private func transients(of eventPlot: EventPlot) -> [EventPlot.Point] {
    let events = eventPlot.events.filter { $0.kind.isTransient && isTimeVisible($0.onsetSeconds) }
    let points = events.compactMap(\.points.first)
    guard layout.usesTerminalCells else { return points }
    let pointsByColumn = points.map { point in
      (Int(layout.x(atTime: point.timeSeconds) / drawingScale), point)
    }
    let strongest = Dictionary(pointsByColumn) { $0.intensity >= $1.intensity ? $0 : $1 }
    return strongest.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Returns the scale at which the stems and heads of a number of transients are drawn, or nil if
  /// the transients are too dense to be drawn separately.
  func markerScale(count: Int) -> Double? {
    if layout.usesTerminalCells { return 1 }
    let spacing = (layout.panelRight - layout.panelLeft) / drawingScale / Double(max(1, count))
    return spacing < Self.minimumStemSpacingPixels ? nil : min(1, max(0.4, spacing / 12))
  }

  /// Returns the transients of all takes by ascending time. Simultaneous transients form one group,
  /// indexed by take.
  private func transientGroups() -> [[EventPlot.Point?]] {
    let unsorted = takes.enumerated().flatMap { index, take in
      (take.eventPlot.map { transients(of: $0) } ?? []).map { (take: index, point: $0) }
    }
    let sorted = unsorted.sorted {
      ($0.point.timeSeconds, $0.take) < ($1.point.timeSeconds, $1.take)
    }
    var groups: [[EventPlot.Point?]] = []
    var groupStart = -Double.infinity
    for (take, point) in sorted {
      if point.timeSeconds - groupStart >= Self.maximumSimultaneousOnsetSeconds
        || groups[groups.count - 1][take] != nil
      {
        groups.append(Array(repeating: nil, count: takes.count))
        groupStart = point.timeSeconds
      }
      groups[groups.count - 1][take] = point
    }
    return groups
  }

  /// Draws the intensity of transients as stems with heads.
  mutating func drawTransients() {
    let groups = transientGroups()
    guard let markerScale = markerScale(count: groups.count) else {
      return drawTransientColumns(groups)
    }
    if takes.count == 2 {
      drawShifts(groups)
    }
    var occupied = Set<[Int]>()
    for group in groups {
      drawTransientGroup(group, markerScale: markerScale, occupied: &occupied)
    }
  }

  /// Draws the common stem and the heads of simultaneous transients.
  private mutating func drawTransientGroup(
    _ group: [EventPlot.Point?], markerScale: Double, occupied: inout Set<[Int]>
  ) {
    let points = group.compactMap(\.self)
    guard let weakest = points.min(by: { $0.intensity < $1.intensity }),
      let strongest = points.max(by: { $0.intensity < $1.intensity })
    else { return }
    let isOverlay = takes.count > 1
    let isInAllTakes = points.count == takes.count
    let difference = strongest.intensity - weakest.intensity
    let areEqual =
      isOverlay && isInAllTakes && difference < ColumnValue.maximumEqualIntensityDifference
    let foot = PlotPoint(layout.x(atTime: weakest.timeSeconds), currentPanelBox.bottom)
    let paint = transientPaint(weakest, take: 0, isShared: true)
    if !isOverlay, weakest.intensity <= 0 {
      // A transient silenced by its controls is a ring at the bottom.
      let ring = PlotDrawing.Stroke(paint: paint, widthPixels: 1.5 * drawingScale)
      drawing.drawDisc(
        center: foot, radius: 4 * markerScale * drawingScale, paint: .role(.background),
        stroke: ring)
      return
    }
    let width = max(1, 2.5 * markerScale)
    let top = PlotPoint(foot.x, y(of: strongest.intensity))
    let sharedTop = PlotPoint(
      foot.x, isInAllTakes ? y(of: weakest.intensity) : currentPanelBox.bottom)
    drawing.drawLine(from: foot, to: top, role: .background, width: 2 * width * drawingScale)
    if isInAllTakes {
      drawing.stroke([[foot, sharedTop]], .init(paint: paint, widthPixels: width * drawingScale))
    }
    if isOverlay, !areEqual, let take = group.firstIndex(where: { $0 == strongest }) {
      drawing.stroke([[sharedTop, top]], stroke(ofTake: take, width: width))
    }
    drawTransientHeads(
      of: group, value: \.intensity, areEqual: areEqual, radius: 5 * markerScale,
      occupied: &occupied)
  }

  /// Draws the sharpness of transients as heads, or as dots if they are too dense.
  mutating func drawTransientSharpness() {
    let groups = transientGroups()
    let isOverlay = takes.count > 1
    let markerScale = markerScale(count: groups.count)
    var occupied = Set<[Int]>()
    for group in groups {
      let sharpnesses = group.compactMap { $0?.sharpness }
      let difference = (sharpnesses.max() ?? 0) - (sharpnesses.min() ?? 0)
      let areEqual =
        isOverlay && sharpnesses.count == group.count
        && difference < ColumnValue.maximumEqualSharpnessDifference
      let shownPoints = group.map { point -> EventPlot.Point? in
        guard let point, isOverlay || point.intensity > 0 else { return nil }
        return point
      }
      drawTransientHeads(
        of: shownPoints, value: \.sharpness, areEqual: areEqual,
        radius: markerScale.map { 4.5 * $0 }, occupied: &occupied)
    }
  }

  /// Returns the color of a transient: the color of its sharpness, or the color of its take in an
  /// overlay.
  private func transientPaint(
    _ point: EventPlot.Point, take: Int, isShared: Bool
  ) -> PlotDrawing.Paint {
    takes.count == 1
      ? .color(Colormap.sharpness.color(at: point.sharpness))
      : .role(isShared ? .sharedLine : .take(take))
  }

  /// Draws dense transients in columns of one pixel: the minimum intensity among all takes in gray
  /// and, above it, the maximum in the color of its take.
  private mutating func drawTransientColumns(_ groups: [[EventPlot.Point?]]) {
    var columns: [Int: [Double]] = [:]
    for group in groups {
      for (take, point) in group.enumerated() {
        guard let point else { continue }
        let column = Int((layout.x(atTime: point.timeSeconds) - layout.panelLeft) / drawingScale)
        let maximum = max(columns[column]?[take] ?? 0, point.intensity)
        columns[column, default: group.map { _ in 0 }][take] = maximum
      }
    }
    var bars: [PlotRole: [[PlotPoint]]] = [:]
    for (column, values) in columns.sorted(by: { $0.key < $1.key }) {
      guard let minimum = values.min(), let maximum = values.max() else { continue }
      let x = layout.panelLeft + (Double(column) + 0.5) * drawingScale
      let foot = PlotPoint(x, y(of: 0))
      let sharedTop = PlotPoint(x, y(of: minimum))
      let top = PlotPoint(x, y(of: maximum))
      if minimum > 0 {
        bars[.sharedLine, default: []].append([foot, sharedTop])
      }
      if maximum - minimum >= ColumnValue.maximumEqualIntensityDifference,
        let take = values.firstIndex(of: maximum)
      {
        bars[.take(take), default: []].append([sharedTop, top])
      }
    }
    for role in [.sharedLine] + takes.indices.map(PlotRole.take) {
      drawing.stroke(bars[role] ?? [], .init(paint: .role(role), widthPixels: 0.8 * drawingScale))
    }
  }

  /// Draws the heads of simultaneous transients of several takes.
  ///
  /// - Parameters:
  ///   - group: The transients, indexed by take.
  ///   - value: Returns the value of a transient on the axis of the panel.
  ///   - areEqual: True to draw a single gray head for all takes.
  ///   - radius: The radius of a head in pixels at a drawing scale of 1; nil for dots, at most one
  ///     for each pixel.
  ///   - occupied: The pixels that have dots.
  private mutating func drawTransientHeads(
    of group: [EventPlot.Point?], value: (EventPlot.Point) -> Double, areEqual: Bool,
    radius: Double?, occupied: inout Set<[Int]>
  ) {
    for (take, transient) in group.enumerated() {
      guard let transient else { continue }
      let center = point(atTime: transient.timeSeconds, value: value(transient))
      let paint = transientPaint(transient, take: take, isShared: areEqual)
      let pixel = [
        Int(center.x / drawingScale), Int(center.y / drawingScale), areEqual ? -1 : take,
      ]
      if let radius {
        drawTransientHead(at: center, take: areEqual ? 0 : take, paint: paint, radius: radius)
      } else if occupied.insert(pixel).inserted {
        drawing.drawDisc(center: center, radius: 1.2 * drawingScale, paint: paint)
      }
      if areEqual { return }
    }
  }

  /// Draws arrows from the transients of the first take to the corresponding transients of the
  /// second.
  private mutating func drawShifts(_ groups: [[EventPlot.Point?]]) {
    let unmatchedGroups = groups.filter { $0.contains(nil) }
    var candidates = unmatchedGroups.compactMap { $0[1] }
    for first in unmatchedGroups.compactMap({ $0[0] }) {
      let nearestIndex = candidates.indices.min {
        abs(candidates[$0].timeSeconds - first.timeSeconds)
          < abs(candidates[$1].timeSeconds - first.timeSeconds)
      }
      guard let nearestIndex,
        abs(candidates[nearestIndex].timeSeconds - first.timeSeconds)
          < Self.maximumArrowShiftSeconds
      else { continue }
      let second = candidates.remove(at: nearestIndex)
      let y = y(of: min(first.intensity, second.intensity) * 0.5)
      let start = PlotPoint(layout.x(atTime: first.timeSeconds), y)
      let tip = PlotPoint(layout.x(atTime: second.timeSeconds), y)
      guard abs(tip.x - start.x) > 14 * drawingScale else { continue }
      let barbX = tip.x + (tip.x > start.x ? -4.0 : 4) * drawingScale
      let head = [
        PlotPoint(barbX, y - 3 * drawingScale), tip, PlotPoint(barbX, y + 3 * drawingScale),
      ]
      drawing.stroke(
        [[start, tip], head], .init(paint: .role(.muted), widthPixels: 1.25 * drawingScale))
    }
  }
}
