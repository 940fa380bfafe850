internal import HapticModel

/// Draws transients as stems with heads, or as columns if they are too dense.
///
/// Arrows connect transients that two takes have at different times.
extension PlotPainter {
  /// The minimum distance between separate stems, in pixels.
  private static let minimumStemSpacingPixels = 4.0
  /// The maximum difference between the onsets of simultaneous transients, in seconds.
  private static let maximumSimultaneousOnsetSeconds = 0.000_5
  /// The maximum time shift between corresponding transients of two takes, in seconds.
  private static let maximumArrowShiftSeconds = 0.09

  /// Returns the visible transients of a take.
  ///
  /// In a terminal, only the strongest in each column is visible.
  private func transients(of eventPlot: EventPlot) -> [EventPlot.Point] {
    let transientEvents = eventPlot.events.filter {
      $0.kind.isTransient && isTimeVisible($0.onsetSeconds)
    }
    let transientPoints = transientEvents.compactMap(\.points.first)
    guard layout.usesTerminalCells else { return transientPoints }
    let pointsByColumn = transientPoints.map { point in
      (Int(layout.x(atTime: point.timeSeconds) / drawingScale), point)
    }
    let strongestByColumn = Dictionary(pointsByColumn) { $0.intensity >= $1.intensity ? $0 : $1 }
    return strongestByColumn.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Returns the scale of stems and heads for a number of transients.
  ///
  /// Returns nil if the transients are too dense to be drawn separately.
  func transientMarkerScale(count: Int) -> Double? {
    if layout.usesTerminalCells { return 1 }
    let stemSpacingPixels =
      (layout.panelRight - layout.panelLeft) / drawingScale / Double(max(1, count))
    return stemSpacingPixels < Self.minimumStemSpacingPixels
      ? nil : min(1, max(0.4, stemSpacingPixels / 12))
  }

  /// Returns groups of simultaneous transients of all takes, by ascending time.
  ///
  /// A group is indexed by take.
  private func transientGroups() -> [[EventPlot.Point?]] {
    let unsortedTransients = takes.enumerated().flatMap { index, take in
      (take.eventPlot.map { transients(of: $0) } ?? []).map { (take: index, point: $0) }
    }
    let sortedTransients = unsortedTransients.sorted {
      ($0.point.timeSeconds, $0.take) < ($1.point.timeSeconds, $1.take)
    }
    var simultaneousGroups: [[EventPlot.Point?]] = []
    var groupStartSeconds = -Double.infinity
    for (take, point) in sortedTransients {
      if point.timeSeconds - groupStartSeconds >= Self.maximumSimultaneousOnsetSeconds
        || simultaneousGroups[simultaneousGroups.count - 1][take] != nil
      {
        simultaneousGroups.append(Array(repeating: nil, count: takes.count))
        groupStartSeconds = point.timeSeconds
      }
      simultaneousGroups[simultaneousGroups.count - 1][take] = point
    }
    return simultaneousGroups
  }

  /// Draws the intensity of transients as stems with heads.
  mutating func drawTransients() {
    let groups = transientGroups()
    guard let markerScale = transientMarkerScale(count: groups.count) else {
      return drawTransientColumns(groups)
    }
    if takes.count == 2 {
      drawShifts(groups)
    }
    var occupiedPixels = Set<[Int]>()
    for group in groups {
      drawTransientGroup(group, markerScale: markerScale, occupied: &occupiedPixels)
    }
  }

  /// Draws the common stem and the heads of simultaneous transients.
  private mutating func drawTransientGroup(
    _ group: [EventPlot.Point?], markerScale: Double, occupied: inout Set<[Int]>
  ) {
    let presentPoints = group.compactMap(\.self)
    guard let weakestPoint = presentPoints.min(by: { $0.intensity < $1.intensity }),
      let strongestPoint = presentPoints.max(by: { $0.intensity < $1.intensity })
    else { return }
    let isOverlay = takes.count > 1
    let isInAllTakes = presentPoints.count == takes.count
    let intensityDifference = strongestPoint.intensity - weakestPoint.intensity
    let areIntensitiesEqual =
      isOverlay && isInAllTakes && intensityDifference < ColumnValue.maximumEqualIntensityDifference
    let stemFoot = PlotPoint(layout.x(atTime: weakestPoint.timeSeconds), currentPanelBox.bottom)
    let sharedPaint = transientPaint(weakestPoint, take: 0, isShared: true)
    if !isOverlay, weakestPoint.intensity <= 0 {
      // A transient silenced by its controls is a ring at the bottom.
      let ring = PlotDrawing.Stroke(paint: sharedPaint, widthPixels: 1.5 * drawingScale)
      drawing.drawDisc(
        center: stemFoot, radius: 4 * markerScale * drawingScale, paint: .role(.background),
        stroke: ring)
      return
    }
    let stemWidthPixels = max(1, 2.5 * markerScale)
    let stemTop = PlotPoint(stemFoot.x, y(of: strongestPoint.intensity))
    let sharedStemTop = PlotPoint(
      stemFoot.x, isInAllTakes ? y(of: weakestPoint.intensity) : currentPanelBox.bottom)
    drawing.drawLine(
      from: stemFoot, to: stemTop, role: .background, width: 2 * stemWidthPixels * drawingScale)
    if isInAllTakes {
      drawing.stroke(
        [[stemFoot, sharedStemTop]],
        .init(paint: sharedPaint, widthPixels: stemWidthPixels * drawingScale))
    }
    if isOverlay, !areIntensitiesEqual,
      let strongestTake = group.firstIndex(where: { $0 == strongestPoint })
    {
      drawing.stroke(
        [[sharedStemTop, stemTop]], stroke(ofTake: strongestTake, width: stemWidthPixels))
    }
    drawTransientHeads(
      of: group, value: \.intensity, areEqual: areIntensitiesEqual, radius: 5 * markerScale,
      occupied: &occupied)
  }

  /// Draws the sharpness of transients as heads, or as dots if they are too dense.
  mutating func drawTransientSharpness() {
    let groups = transientGroups()
    let isOverlay = takes.count > 1
    let markerScale = transientMarkerScale(count: groups.count)
    var occupiedPixels = Set<[Int]>()
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
        radius: markerScale.map { 4.5 * $0 }, occupied: &occupiedPixels)
    }
  }

  /// Returns the color of a transient: of its sharpness, or of its take in an overlay.
  private func transientPaint(
    _ point: EventPlot.Point, take: Int, isShared: Bool
  ) -> PlotDrawing.Paint {
    takes.count == 1
      ? .color(Colormap.sharpness.color(at: point.sharpness))
      : .role(isShared ? .sharedLine : .take(take))
  }

  /// Draws dense transients in columns of one pixel.
  ///
  /// A column shows the minimum intensity among all takes in gray and, above it, the maximum in the
  /// color of its take.
  private mutating func drawTransientColumns(_ groups: [[EventPlot.Point?]]) {
    var intensitiesByColumn: [Int: [Double]] = [:]
    for group in groups {
      for (take, point) in group.enumerated() {
        guard let point else { continue }
        let column = Int((layout.x(atTime: point.timeSeconds) - layout.panelLeft) / drawingScale)
        let maximum = max(intensitiesByColumn[column]?[take] ?? 0, point.intensity)
        intensitiesByColumn[column, default: group.map { _ in 0 }][take] = maximum
      }
    }
    var barsByRole: [PlotColorRole: [[PlotPoint]]] = [:]
    for (column, values) in intensitiesByColumn.sorted(by: { $0.key < $1.key }) {
      guard let minimum = values.min(), let maximum = values.max() else { continue }
      let x = layout.panelLeft + (Double(column) + 0.5) * drawingScale
      let foot = PlotPoint(x, y(of: 0))
      let sharedTop = PlotPoint(x, y(of: minimum))
      let top = PlotPoint(x, y(of: maximum))
      if minimum > 0 {
        barsByRole[.sharedLine, default: []].append([foot, sharedTop])
      }
      if maximum - minimum >= ColumnValue.maximumEqualIntensityDifference,
        let take = values.firstIndex(of: maximum)
      {
        barsByRole[.take(take), default: []].append([sharedTop, top])
      }
    }
    for role in [.sharedLine] + takes.indices.map(PlotColorRole.take) {
      drawing.stroke(
        barsByRole[role] ?? [], .init(paint: .role(role), widthPixels: 0.8 * drawingScale))
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

  /// Draws arrows between corresponding transients of the first and the second take.
  private mutating func drawShifts(_ groups: [[EventPlot.Point?]]) {
    let unmatchedGroups = groups.filter { $0.contains(nil) }
    var shiftCandidates = unmatchedGroups.compactMap { $0[1] }
    for first in unmatchedGroups.compactMap({ $0[0] }) {
      let nearestIndex = shiftCandidates.indices.min {
        abs(shiftCandidates[$0].timeSeconds - first.timeSeconds)
          < abs(shiftCandidates[$1].timeSeconds - first.timeSeconds)
      }
      guard let nearestIndex,
        abs(shiftCandidates[nearestIndex].timeSeconds - first.timeSeconds)
          < Self.maximumArrowShiftSeconds
      else { continue }
      let second = shiftCandidates.remove(at: nearestIndex)
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
